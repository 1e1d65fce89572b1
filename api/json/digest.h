/* digest.h — SHA-256 in hexadecimal: names a description, and protects a part of a sweep against damage. */
#pragma once

#include <stddef.h>

enum { DIGEST_HEX = 64 };

/* Writes 64 lower-case digits and a NUL to `hex`. */
void api_digest(const char *bytes, size_t length, char hex[DIGEST_HEX + 1]);
