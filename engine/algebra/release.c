/* release.c — memory that FLINT and MPFR keep for each thread: numbers that have been freed, to be handed out again, and
 * constants. */
#include "engine/hamel.h"

#include <flint/flint.h>
#include <mpfr.h>

void hamel_release_thread(void) {
    flint_cleanup(); /* calls mpfr_free_cache if FLINT has used MPFR; once more does no harm */
    mpfr_free_cache();
}
