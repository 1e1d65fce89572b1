/* release.c — frees the caches that FLINT and MPFR keep for a thread (reusable numbers, constants). */
#include "engine/hamel.h"

#include <flint/flint.h>
#include <mpfr.h>

void hamel_release_thread(void) {
    flint_cleanup(); /* calls mpfr_free_cache only if FLINT has used MPFR; the second call is harmless */
    mpfr_free_cache();
}
