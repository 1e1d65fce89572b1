/* test_divisors.c — engine/equations/divisors.c: C that is integrated past the zero of what its equations divide by.
 *
 * The truth is the C of Lagrange's equations, which divide by nothing: an independent way through the same state. */
#include "tests/unit/fixture.h"
#include "tests/unit/written_c.h"
#include "tests/unit/written_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8 };

static const char *const formulations[] = {"maggi", "kane", "gibbs-appell", "boltzmann-hamel"};

typedef struct passage {
    const char *description;
    double stop;
    double zero;         /* when the divisor vanishes; HUGE_VAL: never before `stop` */
    const char *divisor; /* in the comment; NULL: there is none */
} passage;

#define BLADE(quasi, start, rows)                                                                               \
    "{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: " start               \
    "}, {`name`: `th`, `initial`: " start ", `velocity`: 1}], `kinetic_energy`: `(x'^2 + y'^2 + 0.5*th'^2)/2`," \
    "`potential_energy`: `0.3*x + 0.2*y`," quasi "`constraints`: [" rows                                        \
    "], `simulation`: {`stop`: 1, `initialization`: `project`}}"

static const passage passages[] = {
    /* a blade that turns by 90 degrees, in the velocity of x and in a mixture */
    {BLADE("`quasi_velocities`: [{`name`: `u`, `definition`: `x'`}, {`name`: `r`, `definition`: `th'`}],", "0",
           "{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}"),
     2.5, M_PI / 2, "cos(th), of y' (constraint edge)"},
    {BLADE("`quasi_velocities`: [{`name`: `u`, `definition`: `2*x'`}, {`name`: `r`, `definition`: `th' + x'`}],", "0",
           "{`name`: `edge`, `equation`: `3*x'*sin(th) = 3*y'*cos(th)`}"),
     2.5, M_PI / 2, "cos(th), of y' (constraint edge)"},
    /* the same blade in the velocity along it divides by nothing */
    {BLADE("", "0", "{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}"), 2.5, HUGE_VAL, NULL},
    /* a wheel whose rate is solved for by the rate of x */
    {"{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 0.5}, `y`, {`name`: `th`, `velocity`: 1}, {`name`: `p`, "
     "`velocity`: 1}], `quasi_velocities`: [{`name`: `u`, `definition`: `x'`}, {`name`: `r`, `definition`: `th'`}],"
     "`kinetic_energy`: `x'^2 + y'^2 + th'^2 + 0.1*p'^2`, `potential_energy`: `0.3*y + 0.1*cos(p)`, `constraints`: ["
     "{`name`: `cx`, `equation`: `x' = 0.5*p'*cos(th)`}, {`name`: `cy`, `equation`: `y' = 0.5*p'*sin(th)`}],"
     "`simulation`: {`stop`: 1}}",
     2.5, M_PI / 2, "cos(th)"},
    /* a pendulum on a sphere, over the equator: z² = 1 − x² − y² gives z' */
    {"{`hamel`: 1, `coordinates`: [{`name`: `x`, `initial`: 0.6, `velocity`: 0.8}, {`name`: `y`, `velocity`: 0.2},"
     "{`name`: `z`, `initial`: -0.8, `velocity`: 0.6}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
     "`potential_energy`: `0.1*z`, `constraints`: [{`name`: `sphere`, `equation`: `x^2 + y^2 + z^2 = 1`}],"
     "`simulation`: {`stop`: 1}}",
     1.6, 0.955, "z, of z' (constraint sphere)"},
    /* a crank that turns a longer rocker to and fro: the divisor stays away from 0 */
    {"{`hamel`: 1, `coordinates`: [{`name`: `a`, `velocity`: 0.8}, {`name`: `b`, `velocity`: 1}],"
     "`kinetic_energy`: `(a'^2 + b'^2)/2`, `potential_energy`: `0.1*sin(b)`, `constraints`: ["
     "{`name`: `loop`, `equation`: `sin(a) = 0.8*sin(b)`}], `simulation`: {`stop`: 1}}",
     9, HUGE_VAL, "cos(a), of a' (constraint loop)"},
};
enum { PASSAGES = sizeof passages / sizeof *passages };

typedef struct integration {
    written_example e;
    program_of_c c;
    size_t n;
    double state[2 * MOST];
} integration;

static char *begin(integration *i, const char *description, const char *as) {
    written_open(&i->e, description, as);
    i->n = i->e.model->n;
    assert_true(i->n <= MOST);
    char *text = written_equations(&i->e, HAMEL_NOTATION_C);
    program_of_c_open(&i->c, text);
    memcpy(i->state, i->e.model->q0, i->n * sizeof *i->state);
    i->c.velocities(0, i->state, i->e.model->v0, i->state + i->n);
    return text;
}

static void end(integration *i) {
    program_of_c_close(&i->c);
    written_close(&i->e);
}

/* The classical Runge–Kutta method; w has n numbers at most. Returns the status of `rates`. */
static int step(integration *i, double h) {
    double k[4][2 * MOST] = {{0}}, at[2 * MOST], lambda[MOST];
    for (int s = 0; s < 4; s++) {
        for (size_t j = 0; j < 2 * i->n; j++) at[j] = i->state[j] + (s ? (s < 3 ? h / 2 : h) * k[s - 1][j] : 0);
        int status = i->c.rates(0, at, at + i->n, k[s], k[s] + i->n, lambda);
        if (status) return status;
    }
    for (size_t j = 0; j < 2 * i->n; j++) i->state[j] += h / 6 * (k[0][j] + 2 * (k[1][j] + k[2][j]) + k[3][j]);
    return 0;
}

/* Up to the zero positions are right to what steps next to it resolve, 2e-6 at worst here; beyond it no step succeeds.
 * Without the divisors' signs, steps across it succeed and positions are off by 1e-4 to 0.05 at the end. */
static void follow(const passage *p, const char *as, double h) {
    integration truth, other;
    free(begin(&truth, p->description, "lagrange"));
    char *text = begin(&other, p->description, as);
    int status = 0;
    double t = 0, worst = 0;
    if (p->divisor && !strstr(text, p->divisor)) fail_msg("%s: no divisor %s in\n%s", as, p->divisor, text);
    if (!p->divisor) assert_null(strstr(text, "Divisors"));
    for (; t < p->stop; t += h) {
        assert_int_equal(step(&truth, h), 0);
        status = step(&other, h);
        if (status) break;
        for (size_t j = 0; j < truth.n; j++) worst = fmax(worst, fabs(truth.state[j] - other.state[j]));
    }
    bool right = p->zero < p->stop ? status == 2 && fabs(t - p->zero) < h + 1e-3 : status == 0;
    if (!right || !(worst < 1e-5)) fail_msg("%s in steps of %g: status %d at %g, off by %g", as, h, status, t, worst);
    free(text);
    end(&truth);
    end(&other);
}

/* Of several steps some end next to the zero and some leap over it. */
static void c_stops_at_the_zero_of_a_divisor(void **state) {
    static const double steps[] = {1e-3, 1.3e-3, 0.0171};
    (void)state;
    for (size_t k = 0; k < PASSAGES; k++)
        for (size_t f = 0; f < 4; f++)
            for (size_t s = 0; s < 3; s++) follow(&passages[k], formulations[f], steps[s]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(c_stops_at_the_zero_of_a_divisor)};
    return cmocka_run_group_tests_name("divisors", tests, NULL, NULL);
}
