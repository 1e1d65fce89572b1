/* test_simbody.c — compares random trees of bodies, described by the angles of frames, with Simbody. Part of `make
 * test-long`. */
#include "tests/reference/mechanism_compare.h"
#include "tests/reference/random_mechanism.h"
#include "tests/simbody/simbody_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TREES = 20, SAMPLES = 5 };

static void compare(uint64_t seed) {
    char what[80], *text = malloc(MECHANISM_TEXT);
    double times[SAMPLES];
    ne_system start, states[SAMPLES];
    assert_non_null(text);
    mechanism_draw(&start, MECHANISM_FRAMES, seed);
    start.load_count = 0;
    double span = mechanism_span(&start, 1);
    snprintf(what, sizeof what, "tree %llu over %g s", (unsigned long long)seed, span);
    mechanism_describe(&start, MECHANISM_FRAMES, seed, span, SAMPLES, "auto", "auto", text);
    motion m = motion_of(text);
    assert_int_equal(m.row_count, SAMPLES);
    for (size_t row = 0; row < SAMPLES; row++) times[row] = motion_value(&m, row, 0);
    assert_true(simbody_advance(&start, times, SAMPLES, 1e-10, states));
    for (size_t row = 0; row < SAMPLES; row++) mechanism_compare(what, "Simbody", &m, row, &states[row]);
    motion_free(&m);
    free(text);
}

static void trees_agree_with_simbody(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= TREES; seed++) compare(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_agree_with_simbody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
