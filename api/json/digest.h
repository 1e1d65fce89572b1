/* digest.h — SHA-256 in hexadecimal, which identifies descriptions and detects damaged parts of a sweep. */
#pragma once

#include <stddef.h>

enum { DIGEST_HEX = 64 };

/* Writes 64 lower-case digits and a NUL to `hex`. */
void api_digest(const char *bytes, size_t length, char hex[DIGEST_HEX + 1]);
