/* digest.h — SHA-256 in hexadecimal: the name of a description, the seal of a file. */
#ifndef HAMEL_API_DIGEST_H
#define HAMEL_API_DIGEST_H

#include <stddef.h>

enum { DIGEST_HEX = 64 };

/* hex: 64 digits in lower case and a NUL. */
void api_digest(const char *bytes, size_t length, char hex[DIGEST_HEX + 1]);

#endif
