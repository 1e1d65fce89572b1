/* digest.c — see digest.h. */
#include "api/json/digest.h"

#include <nettle/sha2.h>

void api_digest(const char *bytes, size_t length, char hex[DIGEST_HEX + 1]) {
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, length, (const uint8_t *)bytes);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t k = 0; k < sizeof digest; k++) {
        hex[2 * k] = "0123456789abcdef"[digest[k] >> 4];
        hex[2 * k + 1] = "0123456789abcdef"[digest[k] & 15];
    }
    hex[DIGEST_HEX] = '\0';
}
