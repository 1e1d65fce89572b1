/* test_mechanisms.c — runs of random mechanisms compared with Newton's and Euler's equations in maximal coordinates
 * (newton_euler.h).
 *
 * Both integrations have step errors below 1e-11. In the chosen spans, changes of the initial state grow by at most a
 * factor of 100. Therefore positions and velocities of all bodies must agree with a relative error of at most 1e-7.
 * This limit allows for errors that add up. HAMEL_TEST_LONG tests 200 mechanisms instead of 24. */
#include "tests/reference/mechanism_compare.h"
#include "tests/reference/random_mechanism.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const double STEP = 1e-12, SPAN = 1.0;
enum { SAMPLES = 5 };

static void compare(mechanism_kind kind, uint64_t seed) {
    static const char *const formulations[] = {"auto", "lagrange",       "gauss",   "maggi",
                                               "kane", "udwadia-kalaba", "hamilton"};
    static const char *const methods[] = {"auto", "adams", "erk"};
    const char *formulation = formulations[seed % 7], *method = methods[seed % 3];
    char what[120], *text = malloc(MECHANISM_TEXT);
    ne_system s;
    assert_non_null(text);
    mechanism_draw(&s, kind, seed);
    double span = mechanism_span(&s, SPAN);
    snprintf(what, sizeof what, "%s %llu by %s and %s over %g s", mechanism_names[kind], (unsigned long long)seed,
             formulation, method, span);
    mechanism_describe(&s, kind, seed, span, SAMPLES, formulation, method, text);
    if (getenv("HAMEL_SHOW_MECHANISMS")) print_message("%s\n%s\n", what, text);
    motion m = motion_of(text);
    assert_int_equal(m.row_count, SAMPLES);
    for (size_t row = 0; row < SAMPLES; row++) {
        if (!ne_advance(&s, motion_value(&m, row, 0), STEP)) fail_msg("%s: too many steps", what);
        mechanism_compare(what, "Newton and Euler", &m, row, &s);
    }
    motion_free(&m);
    free(text);
}

static void mechanisms_agree_with_newton_and_euler(void **state) {
    (void)state;
    uint64_t count = getenv("HAMEL_TEST_LONG") ? 25 : 3; /* number of mechanisms of each kind */
    for (uint64_t k = 0; k < count; k++)
        for (int kind = 0; kind < MECHANISM_KINDS; kind++)
            compare((mechanism_kind)kind, 1000 * (uint64_t)(kind + 1) + k);
}

/* Checks the reference integrator: a free body conserves energy and angular momentum, a pendulum conserves energy. */
static void the_reference_integration_conserves_energy(void **state) {
    (void)state;
    for (int kind = 0; kind < MECHANISM_KINDS; kind++) {
        ne_system s;
        if (kind == MECHANISM_FRICTION || kind == MECHANISM_IMPACT) continue;
        mechanism_draw(&s, (mechanism_kind)kind, 7);
        s.load_count = 0;
        for (size_t k = 0; k < s.spring_count; k++) s.springs[k].damping = 0;
        double before = ne_energy(&s);
        assert_true(ne_advance(&s, 1, STEP));
        assert_below(mechanism_names[kind], fabs(ne_energy(&s) - before), 1e-8 * fmax(1, fabs(before)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_integration_conserves_energy),
        cmocka_unit_test(mechanisms_agree_with_newton_and_euler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
