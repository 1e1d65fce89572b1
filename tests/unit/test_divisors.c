/* test_divisors.c — engine/equations/divisors.c: generated C must stop where a divisor of its equations vanishes.
 *
 * The reference is the C generated for Lagrange's equations of the same system. These equations contain no
 * divisions. */
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
    double zero;         /* time at which the divisor vanishes; HUGE_VAL if it does not vanish before `stop` */
    const char *divisor; /* the divisor as a comment of the generated C names it; NULL if the code has no divisor */
} passage;

#define BLADE(quasi, start, rate, rows)                                                                          \
    "{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: `" rate                \
    "`}, {`name`: `th`, `initial`: " start ", `velocity`: 1}], `kinetic_energy`: `(x'^2 + y'^2 + 0.5*th'^2)/2`," \
    "`potential_energy`: `0.3*x + 0.2*y`," quasi "`constraints`: [" rows                                         \
    "], `simulation`: {`stop`: 1, `initialization`: `project`}}"

static const passage passages[] = {
    /* a blade that rotates by 90 degrees, first with the quasi-velocities x' and th', then with 2 x' and th' + x' */
    {BLADE("`quasi_velocities`: [{`name`: `u`, `definition`: `x'`}, {`name`: `r`, `definition`: `th'`}],", "0", "0",
           "{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}"),
     2.5, M_PI / 2, "cos(th), in y' (constraint edge)"},
    {BLADE("`quasi_velocities`: [{`name`: `u`, `definition`: `2*x'`}, {`name`: `r`, `definition`: `th' + x'`}],", "0",
           "0", "{`name`: `edge`, `equation`: `3*x'*sin(th) = 3*y'*cos(th)`}"),
     2.5, M_PI / 2, "cos(th), in y' (constraint edge)"},
    /* the same blade without declared quasi-velocities, so the engine selects a quasi-velocity that needs no
     * division */
    {BLADE("", "0", "0", "{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}"), 2.5, HUGE_VAL, NULL},
    /* a wheel that rolls: x' determines its angular rate */
    {"{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 0.5}, `y`, {`name`: `th`, `velocity`: 1}, {`name`: `p`, "
     "`velocity`: 1}], `quasi_velocities`: [{`name`: `u`, `definition`: `x'`}, {`name`: `r`, `definition`: `th'`}],"
     "`kinetic_energy`: `x'^2 + y'^2 + th'^2 + 0.1*p'^2`, `potential_energy`: `0.3*y + 0.1*cos(p)`, `constraints`: ["
     "{`name`: `cx`, `equation`: `x' = 0.5*p'*cos(th)`}, {`name`: `cy`, `equation`: `y' = 0.5*p'*sin(th)`}],"
     "`simulation`: {`stop`: 1}}",
     2.5, M_PI / 2, "cos(th)"},
    /* a spherical pendulum that crosses the equator: the derivative of z² = 1 − x² − y² determines z' */
    {"{`hamel`: 1, `coordinates`: [{`name`: `x`, `initial`: 0.6, `velocity`: 0.8}, {`name`: `y`, `velocity`: 0.2},"
     "{`name`: `z`, `initial`: -0.8, `velocity`: 0.6}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
     "`potential_energy`: `0.1*z`, `constraints`: [{`name`: `sphere`, `equation`: `x^2 + y^2 + z^2 = 1`}],"
     "`simulation`: {`stop`: 1}}",
     1.6, 0.955, "z, in z' (constraint sphere)"},
    /* the first blade again, starting where the divisor is negative */
    {BLADE("`quasi_velocities`: [{`name`: `u`, `definition`: `x'`}, {`name`: `r`, `definition`: `th'`}],", "2.5",
           "tan(2.5)", "{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}"),
     3.5, 1.5 * M_PI - 2.5, "cos(th), in y' (constraint edge)"},
    /* a blade whose rotation is prescribed in time */
    {"{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
     "`quasi_velocities`: [{`name`: `u`, `definition`: `x'`}], `potential_energy`: `0.2*y`, `constraints`: ["
     "{`name`: `edge`, `equation`: `x'*sin(t) = y'*cos(t)`}], `simulation`: {`stop`: 1}}",
     2.5, M_PI / 2, "cos(t), in y' (constraint edge)"},
    /* a crank that drives a longer rocker back and forth: the divisor has no zero */
    {"{`hamel`: 1, `coordinates`: [{`name`: `a`, `velocity`: 0.8}, {`name`: `b`, `velocity`: 1}],"
     "`kinetic_energy`: `(a'^2 + b'^2)/2`, `potential_energy`: `0.1*sin(b)`, `constraints`: ["
     "{`name`: `loop`, `equation`: `sin(a) = 0.8*sin(b)`}], `simulation`: {`stop`: 1}}",
     9, HUGE_VAL, "cos(a), in a' (constraint loop)"},
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
    return text;
}

static void restart(integration *i) {
    memcpy(i->state, i->e.model->q0, i->n * sizeof *i->state);
    i->c.velocities(0, i->state, i->e.model->v0, i->state + i->n);
}

static void end(integration *i) {
    program_of_c_close(&i->c);
    written_close(&i->e);
}

/* Integrates one step with the classical Runge–Kutta method. w has at most n components. Returns the status of
 * `rates`. */
static int step(integration *i, double t, double h) {
    double k[4][2 * MOST] = {{0}}, at[2 * MOST], lambda[MOST];
    for (int s = 0; s < 4; s++) {
        double part = s == 0 ? 0 : s < 3 ? h / 2 : h;
        for (size_t j = 0; j < 2 * i->n; j++) at[j] = i->state[j] + (s ? part * k[s - 1][j] : 0);
        int status = i->c.rates(t + part, at, at + i->n, k[s], k[s] + i->n, lambda);
        if (status) return status;
    }
    for (size_t j = 0; j < 2 * i->n; j++) i->state[j] += h / 6 * (k[0][j] + 2 * (k[1][j] + k[2][j]) + k[3][j]);
    return 0;
}

/* Integrates *truth and *other with the step h and compares them. Before the zero of the divisor, they differ by at
 * most 2e-6 (measured). A step across the zero must fail. Without the sign test of the divisor, the step succeeds, and
 * the final differences are 1e-4 to 0.05 (measured). */
static void follow(const passage *p, const char *as, integration *truth, integration *other, double h) {
    int status = 0;
    double t = 0, worst = 0;
    restart(truth);
    restart(other);
    for (; t < p->stop; t += h) {
        assert_int_equal(step(truth, t, h), 0);
        status = step(other, t, h);
        if (status) break;
        for (size_t j = 0; j < truth->n; j++) worst = fmax(worst, fabs(truth->state[j] - other->state[j]));
    }
    bool right = p->zero < p->stop ? status == 2 && fabs(t - p->zero) < h + 1e-3 : status == 0;
    if (!right || !(worst < 1e-5)) fail_msg("%s in steps of %g: status %d at %g, off by %g", as, h, status, t, worst);
}

/* The step sizes are chosen so that some steps end close to the zero of the divisor and some steps cross this zero. */
static void generated_c_stops_at_the_zero_of_a_divisor(void **state) {
    static const double steps[] = {1e-3, 1.3e-3, 0.0171};
    (void)state;
    for (size_t k = 0; k < PASSAGES; k++) {
        const passage *p = &passages[k];
        integration truth, other;
        free(begin(&truth, p->description, "lagrange"));
        for (size_t f = 0; f < sizeof formulations / sizeof *formulations; f++) {
            char *text = begin(&other, p->description, formulations[f]);
            if (p->divisor && !strstr(text, p->divisor)) fail_msg("no divisor %s in\n%s", p->divisor, text);
            if (!p->divisor) assert_null(strstr(text, "Divisors"));
            for (size_t s = 0; s < 3; s++) follow(p, formulations[f], &truth, &other, steps[s]);
            free(text);
            end(&other);
        }
        end(&truth);
    }
}

/* Three of the passages: a blade that rotates, a blade that starts where the divisor is negative, and a blade whose
 * angle is prescribed. Hadamard's, Voronets' and Chaplygin's equations solve the constraints of these systems for
 * y', and so do the other formulations with the declared quasi-velocities. */
static void solved_forms_stop_at_the_zero_of_a_divisor(void **state) {
    static const char *const solved_forms[] = {"hadamard", "voronets", "chaplygin"};
    static const size_t blades[] = {0, 5, 6};
    (void)state;
    for (size_t k = 0; k < 9; k++) {
        const passage *p = &passages[blades[k / 3]];
        integration truth, other;
        free(begin(&truth, p->description, "lagrange"));
        char *text = begin(&other, p->description, solved_forms[k % 3]);
        if (!strstr(text, p->divisor)) fail_msg("no divisor %s in\n%s", p->divisor, text);
        follow(p, solved_forms[k % 3], &truth, &other, 1.3e-3);
        free(text);
        end(&other);
        end(&truth);
    }
}

/* Writes the equations with the work budget 0 for simplification, so that no terms cancel. */
static void unsimplified_equations_have_their_divisors(void **state) {
    integration truth, other = {.n = 3};
    bool simplified;
    (void)state;
    free(begin(&truth, passages[0].description, "lagrange"));
    written_open(&other.e, passages[0].description, "kane");
    char *text = written_equations_within(&other.e, HAMEL_NOTATION_C, 0, &simplified);
    assert_false(simplified);
    program_of_c_open(&other.c, text);
    free(text);
    follow(&passages[0], "kane", &truth, &other, 1e-3);
    end(&other);
    end(&truth);
}

/* If the blade points along y, u = x' does not determine y'. */
static void a_start_at_the_zero_is_rejected(void **state) {
    written_example e;
    hamel_written *written = NULL;
    hamel_error error = {0};
    (void)state;
    written_open(&e,
                 "{`hamel`: 1, `coordinates`: [`x`, {`name`: `y`, `velocity`: 1}, {`name`: `th`, `initial`: `pi/2`}],"
                 "`kinetic_energy`: `x'^2 + y'^2 + th'^2`, `quasi_velocities`: [{`name`: `u`, `definition`: `x'`}],"
                 "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}], `simulation`: {`stop`: 1}}",
                 "kane");
    hamel_status status =
        hamel_write_equations(&written, &e.description.description, HAMEL_NOTATION_C, NULL, NULL, &error);
    assert_int_equal(status, HAMEL_INVALID);
    assert_null(written);
    assert_non_null(strstr(error.faults[0].message, "the initial state is singular"));
    hamel_error_clear(&error);
    written_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(generated_c_stops_at_the_zero_of_a_divisor),
                                       cmocka_unit_test(solved_forms_stop_at_the_zero_of_a_divisor),
                                       cmocka_unit_test(unsimplified_equations_have_their_divisors),
                                       cmocka_unit_test(a_start_at_the_zero_is_rejected)};
    return cmocka_run_group_tests_name("divisors", tests, NULL, NULL);
}
