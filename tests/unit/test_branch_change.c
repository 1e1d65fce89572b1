/* test_branch_change.c — prescribed motion with kinks and jumps. Every formulation computes the same impacts, and the
 * energy balance includes their work. Jumps of positions and momenta are rejected. */
#include "engine/dynamics/branch_change.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const formulations[] = {"lagrange",     "udwadia-kalaba",  "gauss",    "maggi",    "kane",
                                           "gibbs-appell", "boltzmann-hamel", "hadamard", "voronets", "hamilton"};
enum { FORMULATIONS = sizeof formulations / sizeof *formulations };

/* --- a pendulum on a base with prescribed motion ------------------------------------------------------------------
 *
 * If the base moves by X(t), a pendulum of length 1 obeys θ'' = −g sin θ − X'' cos θ. At a kink of X, p = θ' + X'
 * cos θ is continuous, so θ' jumps by −cos θ ΔX'. The reference solution uses the classical Runge–Kutta method
 * between the kinks. */

typedef struct led {
    const char *X, *start; /* the expressions X(t) and X'(0+), the velocity immediately after t = 0 */
    size_t kinks;
    double kink[6];
    void (*motion)(size_t piece, double t, double *X1, double *X2); /* X', X'' */
} led;

static void twice(size_t piece, double t, double *X1, double *X2) {
    static const double rate[] = {0, 1, -3};
    (void)t;
    *X1 = rate[piece], *X2 = 0;
}

static void knots(size_t piece, double t, double *X1, double *X2) {
    static const double rate[] = {0.3 / 0.5, -0.2 / 0.7, 0.4 / 0.8, -0.7 / 0.7, 0};
    (void)t;
    *X1 = rate[piece], *X2 = 0;
}

static void folded(size_t piece, double t, double *X1, double *X2) {
    double sign = piece % 2 ? -1 : 1;
    *X1 = sign * 0.6 * cos(2 * t), *X2 = -sign * 1.2 * sin(2 * t);
}

static void wave(size_t piece, double t, double *X1, double *X2) {
    (void)t;
    *X1 = piece % 2 ? 0.5 : -0.5, *X2 = 0;
}

static void later(size_t piece, double t, double *X1, double *X2) {
    wave(piece + 1, t, X1, X2);
}

static void curved(size_t piece, double t, double *X1, double *X2) {
    *X1 = piece ? 2 * (t - 1) - 1 : 0, *X2 = piece ? 2 : 0;
}

static const led bases[] = {
    {"if(t < 1, 0, if(t < 2, t - 1, 1 - 3*(t - 2)))", "0", 2, {1, 2}, twice},
    {"max(0, min(t - 1, 1)) - 3*max(0, t - 2)", "0", 2, {1, 2}, twice},
    {"table(u, t)", "0.6", 4, {0.5, 1.2, 2, 2.7}, knots},
    {"0.3*abs(sin(2*t))", "0.6", 1, {1.57079632679489661923}, folded},
    {"if(t <= 1, 0, (t - 1)^2 - (t - 1))", "0", 1, {1}, curved},
    {"0.5*abs(mod(t + 0.3, 2) - 1) - 0.35", "-0.5", 3, {0.7, 1.7, 2.7}, wave},
    {"0.5*abs(t + 0.3 - 2*floor(t/2 + 0.65)) - 0.15", "0.5", 3, {0.7, 1.7, 2.7}, later},
};
enum { BASES = sizeof bases / sizeof *bases };

static void rates(const led *b, size_t piece, double t, const double y[2], double dy[2]) {
    double X1, X2;
    b->motion(piece, t, &X1, &X2);
    dy[0] = y[1];
    dy[1] = -9.81 * sin(y[0]) - X2 * cos(y[0]);
}

static void integrate(const led *b, size_t piece, double from, double to, double y[2]) {
    enum { STEPS = 2000 };
    double h = (to - from) / STEPS, k[4][2], z[2];
    for (int i = 0; i < STEPS; i++) {
        double t = from + h * i;
        rates(b, piece, t, y, k[0]);
        for (int j = 0; j < 2; j++) z[j] = y[j] + h / 2 * k[0][j];
        rates(b, piece, t + h / 2, z, k[1]);
        for (int j = 0; j < 2; j++) z[j] = y[j] + h / 2 * k[1][j];
        rates(b, piece, t + h / 2, z, k[2]);
        for (int j = 0; j < 2; j++) z[j] = y[j] + h * k[2][j];
        rates(b, piece, t + h, z, k[3]);
        for (int j = 0; j < 2; j++) y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

/* Computes θ and θ' at t = 3. The pendulum starts with θ' = 0. A kink at t = 0 causes no impact. */
static void expected(const led *b, double y[2]) {
    double t = 0, before, after, none;
    y[0] = 0.2, y[1] = 0;
    for (size_t piece = 0; piece <= b->kinks; piece++) {
        double end = piece < b->kinks ? b->kink[piece] : 3;
        integrate(b, piece, t, end, y);
        t = end;
        if (piece == b->kinks) return;
        b->motion(piece, t, &before, &none);
        b->motion(piece + 1, t, &after, &none);
        y[1] -= cos(y[0]) * (after - before);
    }
}

static void compare(const led *b, const char *system, const char *by, const char *method) {
    char simulation[200], what[300];
    double y[2];
    snprintf(simulation, sizeof simulation,
             "`stop`: 3, `samples`: 4, `rtol`: 1e-9, `atol`: 1e-11, `formulation`: `%s`, `method`: `%s`", by, method);
    snprintf(what, sizeof what, "%s, %s, %s", b->X, by, method);
    motion m = motion_run(system, simulation);
    expected(b, y);
    assert_near(what, motion_last(&m, "th"), y[0], 1e-7);
    assert_near(what, motion_last(&m, "th'"), y[1], 1e-7);
    assert_below(what, m.work_balance_error, 1e-6);
    motion_free(&m);
}

static const char table[] = "`tables`: {`u`: {`x`: [0, 0.5, 1.2, 2, 2.7], `y`: [0, 0.3, 0.1, 0.5, -0.2], "
                            "`outside`: `hold`}}, `gravity`: [0, -9.81], ";

static void a_kink_in_a_position_is_an_impact(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "adams"};
    for (size_t i = 0; i < BASES; i++)
        for (size_t f = 0; f < FORMULATIONS; f++) {
            char system[600];
            snprintf(system, sizeof system,
                     "%s`coordinates`: [{`name`: `th`, `initial`: 0.2}], "
                     "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`%s + sin(th)`, `-cos(th)`]}]",
                     table, bases[i].X);
            compare(&bases[i], system, formulations[f], methods[f % 3]);
        }
}

static void kinks_of_positions_and_jumps_of_velocities_in_constraints_are_impacts(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "adams"}, *const constraints[] = {"x = %s", "x' = der(%s)"};
    for (size_t i = 0; i < BASES; i++)
        for (size_t f = 0; f < 2 * FORMULATIONS; f++) {
            char system[900], equation[100];
            snprintf(equation, sizeof equation, constraints[f % 2], bases[i].X);
            snprintf(system, sizeof system,
                     "%s`coordinates`: [{`name`: `x`, `velocity`: %s}, {`name`: `th`, `initial`: 0.2}], "
                     "`particles`: [{`name`: `c`, `mass`: 5, `position`: [`x`, 0]}, "
                     "{`name`: `p`, `mass`: 1, `position`: [`x + sin(th)`, `-cos(th)`]}], "
                     "`constraints`: [{`name`: `drive`, `equation`: `%s`}]",
                     table, bases[i].start, equation);
            compare(&bases[i], system, formulations[f / 2], methods[f % 3]);
        }
}

/* --- other systems ------------------------------------------------------------------------------------------------------- */

/* The velocity of the base jumps by (1, −2). The angular momentum of a rod about its end is p = I θ' + m l (X' cos θ +
 * Y' sin θ). */
static void a_base_that_jumps_in_both_directions_strikes_the_body(void **state) {
    (void)state;
    static const char body[] =
        "`coordinates`: [{`name`: `th`, `initial`: 0.7, `velocity`: 0.4}], "
        "`bodies`: [{`name`: `rod`, `mass`: 2, `inertia`: 0.6, `position`: [`max(0, t - 1) + sin(th)`, "
        "`-2*max(0, t - 1) - cos(th)`], `orientation`: {`angle`: `th`}}]";
    const double th = 0.7 + 0.4, rate = 0.4 - 2 * (cos(th) - 2 * sin(th)) / 2.6;
    for (size_t f = 0; f < FORMULATIONS; f++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 1, `samples`: 3, `rtol`: 1e-10, `formulation`: `%s`",
                 formulations[f]);
        motion m = motion_run(body, simulation);
        assert_near(formulations[f], motion_last(&m, "th"), th, 1e-9);
        assert_near(formulations[f], motion_last(&m, "th'"), rate, 1e-8);
        motion_free(&m);
    }
}

/* A mass that triples at t = 1 keeps its momentum. If the prescribed x' of a relativistic particle (c = 1) jumps from 0
 * to 0.6, p_y = y'/√(1 − x'² − y'²) = 0.75 is constant. */
static void momenta_are_continuous_when_masses_jump_and_when_not_linear_in_velocity(void **state) {
    (void)state;
    static const char *const exact[] = {"lagrange", "udwadia-kalaba", "gauss", "maggi", "boltzmann-hamel", "hamilton"};
    for (size_t f = 0; f < sizeof exact / sizeof *exact; f++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 3, `samples`: 4, `rtol`: 1e-10, `formulation`: `%s`",
                 exact[f]);
        motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 1.5}], "
                              "`kinetic_energy`: `if(t < 1, 1, 3)*x'^2/2`",
                              simulation);
        assert_near(exact[f], motion_last(&m, "x'"), 0.5, 1e-9);
        assert_near(exact[f], motion_last(&m, "x"), 2.5, 1e-9);
        assert_below(exact[f], m.work_balance_error, 1e-8);
        motion_free(&m);
        if (f == 3 || f == 4) continue;
        m = motion_run("`coordinates`: [`x`, {`name`: `y`, `velocity`: 0.6}], `lagrangian`: `-sqrt(1 - x'^2 - y'^2)`, "
                       "`constraints`: [{`name`: `drive`, `equation`: `x' = if(t < 1, 0, 0.6)`}]",
                       simulation);
        assert_near(exact[f], motion_last(&m, "y'"), 0.75 * 0.8 / 1.25, 1e-8);
        assert_below(exact[f], m.work_balance_error, 1e-8);
        motion_free(&m);
    }
}

/* The base of a double pendulum moves as a table prescribes. The table is part of the positions in the first
 * description, and part of a constraint in the second. The event coincides with a kink. */
static void energies_and_constraints_give_the_same_motion_of_several_bodies(void **state) {
    (void)state;
    static const char simulation[] = "`stop`: 2, `samples`: 5, `rtol`: 1e-10, `atol`: 1e-12";
    static const char energies[] =
        "`tables`: {`u`: {`x`: [0, 0.5, 1, 2], `y`: [0, 0.5, 0.2, 0.6]}}, `gravity`: [0, 0, -9.81], "
        "`coordinates`: [{`name`: `a`, `initial`: 0.5}, {`name`: `b`, `initial`: 1.1}], "
        "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`table(u, t) + sin(a)`, 0, `-cos(a)`]}, "
        "{`name`: `q`, `mass`: 2, `position`: [`table(u, t) + sin(a)`, `sin(b)`, `-cos(a) - cos(b)`]}], "
        "`events`: [{`name`: `kick`, `when`: `t - 1`, `set`: {`b'`: `b' + 1`}}]";
    static const char constraints[] =
        "`tables`: {`u`: {`x`: [0, 0.5, 1, 2], `y`: [0, 0.5, 0.2, 0.6]}}, `gravity`: [0, 0, -9.81], "
        "`coordinates`: [{`name`: `a`, `initial`: 0.5}, {`name`: `b`, `initial`: 1.1}, {`name`: `x`, `velocity`: 1}], "
        "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`x + sin(a)`, 0, `-cos(a)`]}, "
        "{`name`: `q`, `mass`: 2, `position`: [`x + sin(a)`, `sin(b)`, `-cos(a) - cos(b)`]}], "
        "`constraints`: [{`name`: `drive`, `equation`: `x = table(u, t)`}], "
        "`events`: [{`name`: `kick`, `when`: `t - 1`, `set`: {`b'`: `b' + 1`}}]";
    motion first = motion_run(energies, simulation);
    for (size_t f = 0; f < 2 * FORMULATIONS; f++) {
        char by[150];
        snprintf(by, sizeof by, "%s, `formulation`: `%s`", simulation, formulations[f / 2]);
        motion m = motion_run(f % 2 ? constraints : energies, by);
        assert_below(by, fabs(motion_last(&m, "a'") - motion_last(&first, "a'")), 1e-7);
        assert_below(by, fabs(motion_last(&m, "b'") - motion_last(&first, "b'")), 1e-7);
        assert_below(by, m.work_balance_error, 1e-7);
        motion_free(&m);
    }
    motion_free(&first);
}

/* The prescribed velocity may depend on the position, as on successive conveyor belts. The momentum p = θ' + x' cos θ
 * of the pendulum is continuous and x' jumps by 1, so θ' jumps by −cos θ. */
static void a_prescribed_velocity_may_jump_at_a_position(void **state) {
    (void)state;
    static const char by_place[] = "`coordinates`: [{`name`: `x`, `velocity`: 1}, `th`], "
                                   "`kinetic_energy`: `x'^2 + (th'^2 + 2*x'*th'*cos(th) + x'^2)/2`, "
                                   "`constraints`: [{`name`: `belt`, `equation`: `x' = if(x < 1, 1, 2)`}]";
    for (size_t f = 0; f < FORMULATIONS; f++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 1.5, `samples`: 2, `rtol`: 1e-10, `formulation`: `%s`",
                 formulations[f]);
        if (strcmp(formulations[f], "kane") == 0) continue; /* Kane's equations require bodies or particles */
        motion m = motion_run(by_place, simulation);
        assert_near(formulations[f], motion_last(&m, "x"), 2, 1e-8);
        assert_near(formulations[f], motion_last(&m, "th"), -0.5, 1e-8); /* without gravity, θ' stays −1 */
        assert_below(formulations[f], m.work_balance_error, 1e-8);
        motion_free(&m);
    }
}

/* --- rejected systems ------------------------------------------------------------------------------------------------------ */

static hamel_status status_of(const char *members, const char *simulation, char *said, size_t size) {
    hamel_model *model = fixture_model(members, simulation);
    hamel_summary s;
    hamel_error error = {0};
    hamel_status status = hamel_run(model, NULL, NULL, &s, &error);
    snprintf(said, size, "%s", error.count ? error.faults[0].message : "");
    hamel_summary_free(&s);
    hamel_error_clear(&error);
    hamel_model_free(model);
    return status;
}

#define MASS_AT(x, more)                                                          \
    "`coordinates`: [{`name`: `th`, `initial`: 1}], `gravity`: [0, -9.81], " more \
    "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`" x " + sin(th)`, `-cos(th)`]}]"

static void jumps_of_positions_and_momenta_are_rejected(void **state) {
    (void)state;
    static const struct {
        const char *members;
        hamel_status status;
        const char *said;
    } cases[] = {
        {MASS_AT("if(t < 1, 0, 0.5)", ""), HAMEL_INVALID, "at t = 1 the position of a mass jumps by 0.5"},
        {MASS_AT("0.1*floor(t/0.7)", ""), HAMEL_INVALID, "at t = 0.7 the position of a mass jumps by 0.1"},
        {MASS_AT("0.2*sign(sin(3*t))", ""), HAMEL_INVALID, "at t = 1.04719755 the position of a mass jumps by -0.4"},
        {MASS_AT("mod(t, 0.3)", ""), HAMEL_INVALID, "at t = 0.3 the position of a mass jumps by -0.3"},
        {MASS_AT("0.1*der(table(u, t))", "`tables`: {`u`: {`x`: [0, 1, 9], `y`: [0, 1, 1]}}, "), HAMEL_INVALID,
         "at t = 1 the position of a mass jumps by -0.1"},
        {MASS_AT("if(t < 1, 0, 0.5*cos(th))", ""), HAMEL_INTEGRATION, "at t = 1 the position of a mass jumps by "},
        {MASS_AT("if(th < -0.2, 0.5, 0)", ""), HAMEL_INTEGRATION, "the position of a mass jumps by 0.5"},
        {MASS_AT("table(u, th)", "`tables`: {`u`: {`x`: [-5, 0, 5], `y`: [-5, 0, 9]}}, "), HAMEL_INTEGRATION,
         "momenta or the energy"},
        {"`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `constraints`: [{`name`: `c`, `equation`: `x = if(t<1, 0, "
         "1)`}]",
         HAMEL_INVALID, "at t = 1 the equation of `c` jumps by -1"},
        {"`coordinates`: [`x`], `kinetic_energy`: `x'^2`, "
         "`constraints`: [{`name`: `c`, `equation`: `x'' = der(if(t<1, 0, 1))`}]",
         HAMEL_INVALID, "at t = 1 the operand of der() jumps by 1"},
        {"`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, `potential_energy`: `if(x<1, 0, "
         "0.2)`",
         HAMEL_INTEGRATION, "at t = 1 the momenta or the energy jump (the energy by 0.2)"},
        {"`coordinates`: [`x`], `bodies`: [{`name`: `b`, `mass`: 1, `inertia`: 1, `position`: [`x`, "
         "0], "
         "`orientation`: {`angle`: `if(t < 1, 0, 1)`}}]",
         HAMEL_INVALID, "at t = 1 an orientation jumps by "},
        {"`coordinates`: [`x`, {`name`: `y`, `velocity`: 1}], `particles`: [{`name`: `p`, `mass`: 1, "
         "`position`: [`x`, `y`]}], `constraints`: [{`name`: `wall`, `equation`: `x = max(0, t - 1)`, "
         "`friction`: {`coefficient`: 0.3, `on`: `p`}}]",
         HAMEL_INTEGRATION, "at t = 1 velocities jump, but no impact law is defined for friction"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[400];
        hamel_status status = status_of(cases[i].members, "`stop`: 3, `samples`: 4", said, sizeof said);
        if (status != cases[i].status || !strstr(said, cases[i].said))
            fail_msg("%s: status %d: %s", cases[i].members, (int)status, said);
    }
}

static void systems_without_a_jump_at_a_branch_are_accepted(void **state) {
    (void)state;
    static const char *const cases[] = {
        MASS_AT("if(t < 1, 0, t - 1)", ""),                         /* a kink, without a jump */
        MASS_AT("if(t < 4, 0, 0.5)", ""),                           /* a jump after the end of the run */
        MASS_AT("mod(t, 1)*(1 - mod(t, 1))", ""),                   /* a branch with the value 0 on both sides */
        MASS_AT("0", "`outputs`: {`o`: `der(if(t < 1, 0, 1))`}, "), /* used only in an output */
        ("`coordinates`: [`x`], `bodies`: [{`name`: `b`, `mass`: 1, `inertia`: 1, `position`: [`x`, 0], "
         "`orientation`: {`angle`: `mod(3*t, 2*pi)`}}]"), /* the angle jumps by a full turn */
        "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, `potential_energy`: `abs(x - 1)`",
        "`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, `potential_energy`: `(x - if(t < 1, 0, 0.5))^2`",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        motion m = motion_run(cases[i], "`stop`: 3, `samples`: 4");
        assert_below(cases[i], m.work_balance_error, 1e-4);
        motion_free(&m);
    }
}

/* A run that starts at a kink starts with the velocity after the kink, without an impact. */
static void a_run_that_starts_at_a_kink_has_no_impact(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [`th`], `particles`: [{`name`: `p`, `mass`: 1, "
                          "`position`: [`abs(sin(t)) + th`, 0]}]",
                          "`stop`: 1, `samples`: 2");
    assert_near("th'", motion_last(&m, "th'"), 1 - cos(1), 1e-6); /* X' + θ' = 1 is conserved */
    motion_free(&m);
    m = motion_run("`parameters`: {`o`: `pi`}, `coordinates`: [`th`], `particles`: [{`name`: `p`, `mass`: 1, "
                   "`position`: [`abs(sin(t + o)) + th`, 0]}]",
                   "`stop`: 1, `samples`: 2");
    assert_near("th'", motion_last(&m, "th'"), 1 - cos(1), 1e-6);
    motion_free(&m);
}

/* A bead on a wire with a corner of slope 1/3 keeps the component of its momentum along the new direction: x' = 1/(1
 * + 1/9). */
static void a_corner_of_a_constraint_is_an_impact_with_a_warning(void **state) {
    (void)state;
    static const char wire[] = "`tables`: {`u`: {`x`: [-10, 1, 10], `y`: [0, 0, 3]}}, "
                               "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `particles`: [{`name`: `p`, "
                               "`mass`: 1, `position`: [`x`, `y`]}], `constraints`: [{`name`: `wire`, "
                               "`equation`: `y = table(u, x)`}]";
    for (size_t f = 0; f < FORMULATIONS; f++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 2, `samples`: 3, `formulation`: `%s`", formulations[f]);
        motion m = motion_run(wire, simulation);
        assert_near(formulations[f], motion_last(&m, "x'"), 0.9, 1e-9);
        assert_below(formulations[f], m.work_balance_error, 1e-9);
        motion_free(&m);
    }
    hamel_model *model = fixture_model(wire, "`stop`: 2, `samples`: 3");
    hamel_summary s;
    hamel_error error = {0};
    assert_int_equal(hamel_run(model, NULL, NULL, &s, &error), HAMEL_OK);
    assert_int_equal(s.warning_count, 1);
    assert_non_null(strstr(s.warnings[0], "at t = 1 the direction of the constraint `wire` jumps"));
    hamel_summary_free(&s);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kink_in_a_position_is_an_impact),
        cmocka_unit_test(kinks_of_positions_and_jumps_of_velocities_in_constraints_are_impacts),
        cmocka_unit_test(a_base_that_jumps_in_both_directions_strikes_the_body),
        cmocka_unit_test(momenta_are_continuous_when_masses_jump_and_when_not_linear_in_velocity),
        cmocka_unit_test(energies_and_constraints_give_the_same_motion_of_several_bodies),
        cmocka_unit_test(a_prescribed_velocity_may_jump_at_a_position),
        cmocka_unit_test(jumps_of_positions_and_momenta_are_rejected),
        cmocka_unit_test(systems_without_a_jump_at_a_branch_are_accepted),
        cmocka_unit_test(a_corner_of_a_constraint_is_an_impact_with_a_warning),
        cmocka_unit_test(a_run_that_starts_at_a_kink_has_no_impact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
