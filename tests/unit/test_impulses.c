/* test_impulses.c — engine/simulate, engine/analyze: percussions, simultaneous impulses, types of constraints,
 * theorems. */
#include "engine/analyze/impulses.h"
#include "engine/simulate/impact_record.h"
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Impulse equations of these well-conditioned systems have rounding errors of about 1e-15. States before the events are
 * exact, because no force acts. */
#define EXACT 1e-12

static const hamel_impact_theorem *theorem(const event_record *h, const char *name) {
    for (size_t k = 0; k < h->impact.theorem_count; k++)
        if (strcmp(h->theorems[k].name, name) == 0) return &h->theorems[k];
    return NULL;
}

/* The theorem applies, and its function has this value. */
static void assert_theorem(const event_record *h, const char *name, double actual) {
    const hamel_impact_theorem *t = theorem(h, name);
    if (!t) fail_msg("%s does not apply", name);
    assert_true(t->holds);
    assert_near(name, t->actual, actual, EXACT);
    if (t->alternatives == 0) assert_near(name, t->other, actual, EXACT);
}

static const hamel_impact_constraint *constraint(const event_record *h, const char *name) {
    for (size_t k = 0; k < h->impact.constraint_count; k++)
        if (strcmp(h->constraints[k].name, name) == 0) return &h->constraints[k];
    fail_msg("`%s` does not act", name);
    return NULL;
}

static void assert_energy(const event_record *h, double before, double after) {
    assert_true(h->impact.has_energy);
    assert_near("kinetic energy before", h->impact.kinetic_before, before, EXACT);
    assert_near("kinetic energy after", h->impact.kinetic_after, after, EXACT);
    assert_near("work", h->impact.work, after - before, EXACT);
}

/* --- percussions -------------------------------------------------------------------------------------------------- */

/* A free uniform bar of mass 2 and length 1 is struck by F = 3 perpendicular to it, at its end: y' = F/m, w = F (l/2)/I
 * with I = m l²/12, and T = F²/(2m) + (F l/2)²/(2I) = 2 F²/m. */
static void a_blow_moves_and_turns_a_free_bar(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [`x`, `y`, `th`], "
        "`bodies`: [{`name`: `bar`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `th`}, `inertia`: "
        "`2/12`}], `events`: [{`name`: `blow`, `when`: `t - 1`, "
        "`percussion`: {`at`: {`frame`: `bar`, `at`: [0.5, 0]}, `vector`: [0, 3]}}]",
        "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("x'", h->after[4], 0, EXACT);
    assert_near("y'", h->after[5], 1.5, EXACT);
    assert_near("th'", h->after[6], 9, EXACT);
    assert_energy(h, 0, 9);
    assert_int_equal(h->impact.constraint_count, 0);
    assert_theorem(h, "kelvin", 9);
    assert_theorem(h, "bertrand_delaunay", 9);
    assert_theorem(h, "robin", 9 - 18); /* K − P·v */
    assert_true(theorem(h, "kelvin")->other > 9);
    assert_true(theorem(h, "bertrand_delaunay")->other < 9);
    assert_true(theorem(h, "robin")->other > -9);
    record_free(r);
}

/* The bar turns about a fixed pivot at its end and is struck at the distance d from the pivot: w = F d/(m l²/3). The
 * impulse R of the pivot follows from the momentum of the centre of mass, m (l/2) w = F + R, so R = F (3d/(2l) − 1). It
 * vanishes at the centre of percussion, d = 2l/3. */
static void a_blow_at_the_centre_of_percussion_leaves_the_pivot_without_impulse(void **state) {
    (void)state;
    const double distances[] = {0.25, 2. / 3, 1};
    for (int k = 0; k < 3; k++) {
        char members[700];
        snprintf(members, sizeof members,
                 "`coordinates`: [{`name`: `x`, `initial`: 0.5}, `y`, `th`], "
                 "`bodies`: [{`name`: `bar`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `th`}, "
                 "`inertia`: `2/12`}], "
                 "`constraints`: [{`name`: `px`, `equation`: `x - cos(th)/2 = 0`}, "
                 "{`name`: `py`, `equation`: `y - sin(th)/2 = 0`}], "
                 "`events`: [{`name`: `blow`, `when`: `t - 1`, `percussion`: "
                 "{`at`: {`frame`: `bar`, `at`: [%.17g, 0]}, `vector`: [0, 3]}}]",
                 distances[k] - 0.5);
        record *r = record_run_well(members, "`stop`: 2, `samples`: 3");
        const event_record *h = &r->event_records[0];
        double w = 3 * distances[k] / (2. / 3);
        assert_near("th'", h->after[6], w, EXACT);
        assert_near("impulse of the pivot", constraint(h, "py")->impulse, 3 * (1.5 * distances[k] - 1), EXACT);
        assert_near("impulse along the bar", constraint(h, "px")->impulse, 0, EXACT);
        assert_int_equal(constraint(h, "py")->type, 1);
        assert_energy(h, 0, w * w / 3);
        assert_theorem(h, "bertrand_delaunay", w * w / 3);
        assert_true(theorem(h, "kelvin") == NULL); /* no other velocity gives the struck point the same velocity */
        record_free(r);
    }
}

/* Two percussions on the coordinates of a double mass: momenta 4 and −1, one given at a point and one on a coordinate.
 * The rod keeps a' = b', so both move at 3/(1 + 2). */
static void percussions_act_on_coordinates_and_points_together(void **state) {
    (void)state;
    record *r = record_run_well("`parameters`: {`F`: 4}, `coordinates`: [`a`, {`name`: `b`, `initial`: 1}], "
                                "`particles`: [{`name`: `A`, `mass`: 1, `position`: [`a`, 0]}, {`name`: `B`, `mass`: "
                                "2, `position`: [`b`, 0]}], "
                                "`constraints`: [{`name`: `rod`, `equation`: `b - a = 1`}], "
                                "`events`: [{`name`: `blow`, `when`: `t - 1`, "
                                "`percussion`: [{`at`: `A`, `vector`: [`F`, 7]}, {`on`: `b`, `value`: `-t`}]}]",
                                "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("a'", h->after[3], 1, EXACT);
    assert_near("b'", h->after[4], 1, EXACT);
    assert_near("rod", constraint(h, "rod")->impulse, 3, EXACT); /* b: 2·1 = −1 + Λ */
    assert_near("a at the end", record_end(r)[1], 1, EXACT);
    assert_energy(h, 0, 1.5);
    record_free(r);
}

/* A system with a percussion −c x' at x = 1: v⁺ = v (1 − c/m), and x(T) = 1 + (T v − 1)(1 − c/m). */
static void sensitivities_follow_a_percussion(void **state) {
    (void)state;
    record *r =
        record_run_well("`parameters`: {`m`: 2, `c`: 0.5, `v`: 4}, `coordinates`: [{`name`: `x`, `velocity`: `v`}], "
                        "`kinetic_energy`: `m*x'^2/2`, "
                        "`events`: [{`name`: `drag`, `when`: `x - 1`, `direction`: `rising`, "
                        "`percussion`: {`on`: `x`, `value`: `-c*x'`}}]",
                        "`stop`: 2, `samples`: 2, `rtol`: 1e-10, `sensitivities`: [`m`, `c`, `v`]");
    const double *end = record_end(r);
    assert_near("x", end[1], 1 + 7 * 0.75, 1e-9);
    assert_near("dx/dm", end[3], 7 * 0.5 / 4, 1e-9);
    assert_near("dx'/dm", end[4], 4 * 0.5 / 4, 1e-9);
    assert_near("dx/dc", end[5], -7. / 2, 1e-9);
    assert_near("dx'/dc", end[6], -4. / 2, 1e-9);
    assert_near("dx/dv", end[7], 2 * 0.75, 1e-9);
    assert_near("dx'/dv", end[8], 0.75, 1e-9);
    record_free(r);
}

/* The coordinate is relative to a frame with the speed 3, so T = (q' + 3)²/2. A percussion 2 gives T⁺ − T⁻ = (2 + 3)²/2 −
 * 3²/2 = 8. The force moves the particle at the mean speed 4, and its work is 2·4. In q' alone, the work is only 2. */
static void work_includes_the_work_of_a_moving_frame(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [`q`], "
                                "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`q + 3*t`, 0]}], "
                                "`events`: [{`name`: `blow`, `when`: `t - 1`, `percussion`: {`on`: `q`, `value`: 2}}]",
                                "`stop`: 2, `samples`: 3");
    assert_energy(&r->event_records[0], 4.5, 12.5);
    assert_true(theorem(&r->event_records[0], "carnot_second") == NULL);
    record_free(r);
}

/* An explosion separates two particles that move at 5: x2' = 5 + J/m2, x1' = 5 − J/m1. Carnot's second theorem: the gain
 * J²/2 (1/m1 + 1/m2) is the energy of the gained velocities, whatever the common velocity is. */
static void an_explosion_gains_the_energy_of_the_gained_velocities(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x1`, `velocity`: 5}, {`name`: `x2`, `velocity`: 5}], "
        "`kinetic_energy`: `(x1'^2 + 4*x2'^2)/2`, `constraints`: [{`name`: `joined`, `equation`: `x1 = x2`}], "
        "`events`: [{`name`: `explosion`, `when`: `t - 1`, `deactivate`: [`joined`], "
        "`percussion`: [{`on`: `x1`, `value`: -2}, {`on`: `x2`, `value`: 2}]}]",
        "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("x1'", h->after[3], 3, EXACT);
    assert_near("x2'", h->after[4], 5.5, EXACT);
    assert_energy(h, 62.5, 65);
    assert_theorem(h, "carnot_second", 2.5);
    record_free(r);
}

/* L = T2 + T1 + T0 − V with T2 = x'²/2 + y'², T1 = 3 x' y - 3 x y'. The percussion 2 on x changes T2 by 2·2 + 2²/2 at x' = 2. The
 * energy T2 − T0 + V contains constants, which do not affect the theorems. */
static void a_lagrangian_gives_the_change_of_t2(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 2}, `y`], "
                                "`lagrangian`: `x'^2/2 + y'^2 + 3*x'*y - 3*x*y' + 5`, "
                                "`events`: [{`name`: `blow`, `when`: `t`, `direction`: `rising`, "
                                "`percussion`: {`on`: `x`, `value`: 2}}]",
                                "`stop`: 0.1, `samples`: 2");
    const event_record *h = &r->event_records[0];
    assert_energy(h, 2 - 5, 8 - 5);
    assert_theorem(h, "bertrand_delaunay", 8);
    record_free(r);
}

/* The percussion acts on the same bodies in every formulation, whatever its variables are. */
static void all_formulations_follow_a_percussion(void **state) {
    (void)state;
    static const char *const formulations[] = {"lagrange",     "udwadia-kalaba", "gauss",    "maggi", "boltzmann-hamel",
                                               "gibbs-appell", "kane",           "hamilton", "routh"};
    for (size_t k = 0; k < sizeof formulations / sizeof *formulations; k++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation,
                 "`stop`: 2, `samples`: 2, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `%s`", formulations[k]);
        record *r = record_run_well("`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, `z`], "
                                    "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}, {`name`: `Q`, "
                                    "`mass`: 1, `position`: [`z`, 0]}], "
                                    "`constraints`: [{`name`: `circle`, `equation`: `x^2 + y^2 = 1`}], "
                                    "`events`: [{`name`: `blow`, `when`: `t - 1`, "
                                    "`percussion`: [{`at`: `P`, `vector`: [3, 4]}, {`on`: `z`, `value`: 5}]}]",
                                    simulation);
        /* P gets the tangential part of the percussion, 4/2, and turns at this rate for 1 s */
        assert_near(formulations[k], record_end(r)[1], cos(2), 1e-8);
        assert_near(formulations[k], record_end(r)[2], sin(2), 1e-8);
        assert_near(formulations[k], record_end(r)[3], 5, 1e-8);
        assert_near("rod", fabs(r->event_records[0].constraints[0].impulse), 1.5, EXACT);
        record_free(r);
    }
}

/* --- types and counts --------------------------------------------------------------------------------------------- */

/* Papastavridis, Analytical Mechanics, ch. 4, Table 1: (before, during, after) is (1, 1, 1), (0, 1, 1), (1, 1, 0) and
 * (0, 1, 0) for the types 1 to 4. */
static void constraints_have_the_types_of_table_1(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `a`, `velocity`: 1}, {`name`: `b`, `velocity`: 1}, {`name`: `c`, `velocity`: 1}, "
        "{`name`: `d`, `velocity`: 1}], `kinetic_energy`: `(a'^2 + b'^2 + c'^2 + d'^2)/2`, "
        "`constraints`: [{`name`: `one`, `equation`: `a = b`}, {`name`: `three`, `equation`: `b = c`}, "
        "{`name`: `two`, `equation`: `c = 1`, `active`: false}, {`name`: `unused`, `equation`: `d = 1`, `active`: "
        "false}], "
        "`events`: [{`name`: `shock`, `when`: `t - 1`, `activate`: [`two`], `deactivate`: [`three`], "
        "`impulse`: [{`constraint`: `two`}, {`constraint`: `three`}, {`constraint`: `d = 1`, `restitution`: 0.5}]}, "
        "{`name`: `never`, `when`: `t - 9`, `activate`: [`unused`]}]",
        "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_int_equal(h->impact.constraint_count, 4);
    assert_int_equal(constraint(h, "one")->type, 1);
    assert_int_equal(constraint(h, "two")->type, 2);
    assert_int_equal(constraint(h, "three")->type, 3);
    assert_int_equal(constraint(h, "d = 1")->type, 4);
    assert_int_equal(h->impact.velocity_count, 4);
    assert_int_equal(h->impact.equation_count, 4 + 2);
    assert_near("rate before", constraint(h, "d = 1")->before, 1, EXACT);
    assert_near("rate after", constraint(h, "d = 1")->after, -0.5, EXACT);
    /* the ties transmit the impulse of the stop to a and b */
    for (int k = 5; k < 8; k++) assert_near("stopped", h->after[k], 0, EXACT);
    assert_near("impulse", constraint(h, "two")->impulse, -3, EXACT);
    assert_true(theorem(h, "carnot_first") == NULL && theorem(h, "carnot_third") == NULL); /* restitutions differ */
    record_free(r);
}

/* Two tied particles on a smooth table rotate about the first at the rate w. The first is seized while the tie breaks
 * (types 2 and 3), or the tie holds (types 2 and 1). At the seizure, the tie along x ensures x2'⁺ = x1'⁺. */
static void a_tie_that_breaks_while_a_particle_is_seized_is_of_type_3(void **state) {
    (void)state;
    const char *format =
        "`coordinates`: [{`name`: `x1`, `velocity`: 3}, `y1`, {`name`: `x2`, `initial`: 2, `velocity`: 3}, "
        "{`name`: `y2`, `velocity`: 4}], `kinetic_energy`: `(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2`, "
        "`constraints`: [{`name`: `tie`, `equation`: `(x2 - x1)^2 + (y2 - y1)^2 = 4`}, "
        "{`name`: `sx`, `equation`: `x1 = 0`, `active`: false}, {`name`: `sy`, `equation`: `y1 = 0`, `active`: "
        "false}], "
        "`events`: [{`name`: `seized`, `when`: `t`, `direction`: `rising`, `activate`: [`sx`, `sy`], %s"
        "`impulse`: [{`constraint`: `sx`}, {`constraint`: `sy`}%s]}]";
    for (int breaks = 0; breaks < 2; breaks++) {
        char members[900];
        snprintf(members, sizeof members, format, breaks ? "`deactivate`: [`tie`], " : "",
                 breaks ? ", {`constraint`: `tie`}" : "");
        record *r = record_run_well(members, "`stop`: 0.1, `samples`: 3");
        const event_record *h = &r->event_records[0];
        assert_near("x2'", h->after[7], 0, EXACT);
        assert_near("y2'", h->after[8], 4, EXACT);
        assert_int_equal(constraint(h, "tie")->type, breaks ? 3 : 1);
        assert_int_equal(constraint(h, "sx")->type, 2);
        assert_int_equal(h->impact.velocity_count + h->impact.constraint_count - h->impact.equation_count, breaks);
        assert_theorem(h, breaks ? "carnot_third" : "carnot_first", 9); /* 2 · 3²/2 */
        record_free(r);
    }
}

/* --- losses ------------------------------------------------------------------------------------------------------- */

/* A uniform bar of mass m and half-length b moves perpendicular to itself at u. A thread stops its left end. The moment of
 * momentum about this end is kept, m u b = (4/3) m b² w, so w = 3u/(4b) and the centre keeps 3u/4. The loss is m u²/2 −
 * (2/3) m b² w² = m u²/8, the energy of the lost velocities (Papastavridis, Analytical Mechanics, Intro. 4). */
static void a_suddenly_arrested_bar_loses_an_eighth_of_m_u_squared(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [`x`, {`name`: `y`, `velocity`: -4}, `ph`], "
        "`bodies`: [{`name`: `bar`, `mass`: 3, `position`: [`x`, `y`], `orientation`: {`angle`: `ph`}, "
        "`inertia`: `3*0.5^2/3`}], "
        "`constraints`: [{`name`: `left`, `equation`: `y - 0.5*sin(ph) = -4`, `active`: false}], "
        "`events`: [{`name`: `taut`, `when`: `t - 1`, `impulse`: {`constraint`: `left`}, `activate`: [`left`]}]",
        "`stop`: 1.1, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("centre", h->after[5], -3, EXACT);
    assert_near("rotation", h->after[6], -3 * 4 / (4 * 0.5), EXACT);
    assert_energy(h, 24, 24 - 6);
    assert_theorem(h, "carnot_first", 3 * 16. / 8);
    assert_theorem(h, "robin", 3 * 16. / 8);
    assert_near("impulse", constraint(h, "left")->impulse, 3 * 4 / 4., EXACT);
    record_free(r);
}

/* With the restitution e, the end rebounds at e u, and the loss is (1 − e)/(1 + e) times the energy of the lost velocities.
 * The impulse is (1 + e) m u/4, so the loss is (1 − e²) m u²/8. */
static void restitution_reduces_the_loss(void **state) {
    (void)state;
    for (double e = 0; e <= 1; e += 0.25) {
        char members[500];
        snprintf(members, sizeof members,
                 "`coordinates`: [{`name`: `y`, `velocity`: -4}, `ph`], `kinetic_energy`: `3*(y'^2 + ph'^2/12)/2`, "
                 "`events`: [{`name`: `hit`, `when`: `t - 1`, "
                 "`impulse`: {`constraint`: `y - 0.5*sin(ph) = -4`, `restitution`: %.17g}}]",
                 e);
        record *r = record_run_well(members, "`stop`: 1.1, `samples`: 3");
        const event_record *h = &r->event_records[0];
        assert_near("impulse", h->impulses[0], (1 + e) * 3, EXACT);
        assert_theorem(h, "carnot_third", (1 - e * e) * 6);
        assert_energy(h, 24, 24 - (1 - e * e) * 6);
        assert_int_equal(h->constraints[0].type, 4);
        record_free(r);
    }
}

/* --- several contacts at one instant ---------------------------------------------------------------------------------- */

enum { BLOCK = 900 };
/* A block of mass 2, half-width 0.5 and moment of inertia I falls at 4 on two corners and rotates at w. */
static void write_block(char members[BLOCK], double I, double w, const double *e, bool simultaneous) {
    static const char *const corners[] = {"y - 0.5*sin(th)", "y + 0.5*sin(th)"};
    int at = snprintf(members, BLOCK,
                      "`coordinates`: [{`name`: `y`, `velocity`: -4}, {`name`: `th`, `velocity`: %.17g}], "
                      "`kinetic_energy`: `(2*y'^2 + %.17g*th'^2)/2`, `events`: [",
                      w, I);
    if (simultaneous)
        snprintf(members + at, BLOCK - (size_t)at,
                 "{`name`: `lands`, `when`: `y`, `direction`: `falling`, `impulse`: [{`constraint`: `%s`, "
                 "`restitution`: %.17g}, {`constraint`: `%s`, `restitution`: %.17g}]}]",
                 corners[0], e[0], corners[1], e[1]);
    else
        snprintf(members + at, BLOCK - (size_t)at,
                 "{`name`: `left`, `when`: `%s`, `direction`: `falling`, `impulse`: {`constraint`: `%s`, "
                 "`restitution`: %.17g}}, {`name`: `right`, `when`: `%s`, `direction`: `falling`, `impulse`: "
                 "{`constraint`: `%s`, `restitution`: %.17g}}]",
                 corners[0], corners[0], e[0], corners[1], corners[1], e[1]);
}

/* Both corners obey v⁺ = −e v⁻, so y'⁺ = −e y'⁻ and th'⁺ = −e th'⁻. The impulses follow from the momenta: the sum is m
 * (1 + e) 4, and the difference is I (1 + e)(−w)/0.5. */
static void a_block_on_two_corners_reverses_both_velocities(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double e[] = {0.5 * k, 0.5 * k}, w = 2, I = 0.3;
        char members[BLOCK];
        write_block(members, I, w, e, true);
        record *r = record_run_well(members, "`stop`: 0.1, `samples`: 2");
        const event_record *h = &r->event_records[0];
        assert_int_equal(r->count, 1);
        assert_near("y'", h->after[3], e[0] * 4, EXACT);
        assert_near("th'", h->after[4], -e[0] * w, EXACT);
        double sum = 2 * (1 + e[0]) * 4, difference = -I * (1 + e[0]) * w / 0.5; /* right minus left */
        assert_near("left", h->impulses[0], (sum - difference) / 2, EXACT);
        assert_near("right", h->impulses[1], (sum + difference) / 2, EXACT);
        double energy = (2 * 16 + I * w * w) / 2;
        assert_energy(h, energy, e[0] * e[0] * energy);
        assert_theorem(h, "carnot_third", (1 - e[0] * e[0]) * energy);
        record_free(r);
    }
}

/* The reference follows the impacts one after the other, as two declared events do. With I = m b²/3 each impact on one
 * corner presses the other corner down. */
static void successive_impacts_differ_from_simultaneous_impulses(void **state) {
    (void)state;
    const double I = 2 * 0.25 / 3, e[] = {0.5, 0.5};
    char members[BLOCK];
    double y = -4, w = 0;
    for (int k = 0; k < 1000; k++) {
        double arm = k % 2 ? 0.5 : -0.5, speed = y + arm * w;
        if (speed >= 0) continue;
        double J = -1.5 * speed / (1 / 2. + arm * arm / I);
        y += J / 2;
        w += J * arm / I;
    }
    write_block(members, I, 0, e, false);
    record *r = record_run_well(members, "`stop`: 0.1, `samples`: 2");
    assert_near("y'", record_end(r)[3], y, 1e-9); /* the last impacts are below the tolerances of the run */
    assert_near("th'", record_end(r)[4], w, 1e-9);
    assert_true(fabs(y - 2) > 0.1); /* simultaneous impulses give e·4 = 2 */
    record_free(r);
}

/* Two touching balls hit a wall at the speed 3. The first has the restitution e with the wall. The rate of the contact
 * between the balls is 0 before the impact, so they leave together at 3e. If the impacts follow each other, they
 * separate: the second ball, lighter by 3, gets the larger speed. */
static void two_touching_balls_leave_a_wall_together(void **state) {
    (void)state;
    const char *format =
        "`coordinates`: [{`name`: `x1`, `velocity`: -3}, {`name`: `x2`, `initial`: 1, `velocity`: -3}], "
        "`kinetic_energy`: `(3*x1'^2 + x2'^2)/2`, `events`: [%s]";
    const char *wall = "{`constraint`: `x1`, `restitution`: 0.8}",
               *balls = "{`constraint`: `x2 - x1 - 1`, `restitution`: 1}";
    char events[600], members[900];
    snprintf(events, sizeof events, "{`name`: `hit`, `when`: `x1`, `direction`: `falling`, `impulse`: [%s, %s]}", wall,
             balls);
    snprintf(members, sizeof members, format, events);
    record *r = record_run_well(members, "`stop`: 1, `samples`: 2");
    assert_near("x1'", record_end(r)[3], 2.4, EXACT);
    assert_near("x2'", record_end(r)[4], 2.4, EXACT);
    assert_near("wall", r->event_records[0].impulses[0], 4 * 1.8 * 3, EXACT);
    assert_near("balls", r->event_records[0].impulses[1], 1.8 * 3, EXACT);
    assert_theorem(&r->event_records[0], "carnot_third", (1 - 0.64) * 18);
    record_free(r);
    snprintf(events, sizeof events,
             "{`name`: `hit`, `when`: `x1`, `direction`: `falling`, `impulse`: %s}, "
             "{`name`: `touch`, `when`: `x2 - x1 - 1`, `direction`: `falling`, `impulse`: %s}",
             wall, balls);
    snprintf(members, sizeof members, format, events);
    r = record_run_well(members, "`stop`: 1, `samples`: 2");
    /* 2.4 and −3 collide elastically with masses 3 and 1: the mean velocity is 1.05. The first ball then moves at −0.3 and
     * hits the wall again. */
    assert_near("x1'", record_end(r)[3], -0.8 * (2 * 1.05 - 2.4), EXACT);
    assert_near("x2'", record_end(r)[4], 2 * 1.05 + 3, EXACT);
    record_free(r);
}

static char *legs(double e) {
    static char members[600];
    snprintf(members, sizeof members,
             "`coordinates`: [{`name`: `y`, `velocity`: -4}, `th`], `kinetic_energy`: `(3*y'^2 + th'^2)/2`, "
             "`events`: [{`name`: `lands`, `when`: `y`, `direction`: `falling`, `impulse`: [{`constraint`: `y - th`, "
             "`restitution`: 0.5}, {`constraint`: `y`, `restitution`: %.17g}, {`constraint`: `y + th`, `restitution`: "
             "0.5}]}]",
             e);
    return members;
}

/* On three legs in a row, one impulse is redundant. The sum of the impulses is m (1 + e) u, and the impulses of least norm
 * are equal. */
static void redundant_contacts_have_impulses_of_least_norm(void **state) {
    (void)state;
    record *r = record_run_well(legs(0.5), "`stop`: 0.1, `samples`: 2");
    const event_record *h = &r->event_records[0];
    assert_near("y'", h->after[3], 2, EXACT);
    assert_near("th'", h->after[4], 0, EXACT);
    assert_int_equal(h->impact.redundant, 1);
    for (size_t k = 0; k < 3; k++) {
        assert_near("impulse", h->impulses[k], 3 * 1.5 * 4 / 3, EXACT);
        assert_false(h->constraints[k].unique);
    }
    assert_theorem(h, "carnot_third", (1 - 0.25) * 24);
    record_free(r);
}

static void restitutions_of_redundant_contacts_must_agree(void **state) {
    (void)state;
    record *r = record_run(legs(0.7), "`stop`: 0.1, `samples`: 2");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "`y - th`, `y` and `y + th`") || record_says(r, "`y - th`, `y`, `y + th`"));
    record_free(r);
}

/* --- hypotheses --------------------------------------------------------------------------------------------------- */

/* A wall that moves at 2 does work on the ball, so Carnot's theorems do not apply: the ball at rest gets 2 (1 + e). */
static void a_moving_constraint_excludes_carnots_theorems(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `initial`: 2}], `kinetic_energy`: `x'^2/2`, "
                                "`events`: [{`name`: `hit`, `when`: `x - 2*t`, `direction`: `falling`, "
                                "`impulse`: {`constraint`: `x = 2*t`, `restitution`: 0.5}}]",
                                "`stop`: 2, `samples`: 2");
    const event_record *h = &r->event_records[0];
    assert_near("x'", h->after[2], 3, EXACT);
    assert_energy(h, 0, 4.5);
    assert_int_equal(h->impact.theorem_count, 0);
    record_free(r);
}

/* The bar of the pivot test is in motion, at w = 2, when it is struck. Bertrand's theorem compares T after the blow. Kelvin's
 * theorem is about the change of the velocities. A coordinate that is not struck is free to vary. */
static void extrema_hold_for_systems_in_motion(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: 2}, {`name`: `z`, `velocity`: -1}], "
        "`kinetic_energy`: `(x'^2 + 2*y'^2 + 3*z'^2)/2 + x'*y'/2`, `constraints`: [{`name`: `c`, `equation`: `x + z = "
        "0`}], "
        "`events`: [{`name`: `blow`, `when`: `t`, `direction`: `rising`, `percussion`: {`on`: `x`, `value`: 7}}]",
        "`stop`: 1, `samples`: 2");
    const event_record *h = &r->event_records[0];
    /* with z' = −x': T = 2 x'² + y'² + x' y'/2; momenta 4 x' + y'/2 and x'/2 + 2 y' change by 7 and 0 */
    double dx = 7 / (4 - 0.125), dy = -dx / 4;
    assert_near("x'", h->after[4], 1 + dx, EXACT);
    assert_near("y'", h->after[5], 2 + dy, EXACT);
    double K = 2 * dx * dx + dy * dy + dx * dy / 2, u = 1 + dx, v = 2 + dy;
    assert_theorem(h, "kelvin", K);
    assert_theorem(h, "robin", K - 7 * dx);
    assert_theorem(h, "bertrand_delaunay", 2 * u * u + v * v + u * v / 2);
    record_free(r);
}

/* Notes a change of velocities that need not be the solution, and counts the theorems that fail. */
static size_t count_failures(const char *members, const double *momentum, const double *change, size_t *theorems) {
    hamel_model *model = fixture_model(members, "`stop`: 1");
    dynamics *k = dynamics_create(model);
    arena memory;
    double multipliers[2] = {0}, restitution = 0, values[8] = {0};
    bool active[2] = {true, true};
    arena_init(&memory, 0);
    impact_record *r = impact_record_create(model, &memory);
    assert_true(k && r);
    assert_int_equal(dynamics_select(k, active), HAMEL_OK);
    assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, NULL), HAMEL_OK);
    const model_event *event = &model->events.list[0];
    for (size_t i = 0; i < event->momentum_count; i++)
        values[event->at_momentum + i] = momentum[event->momentum_columns[i]];
    impact_record_begin(r, model->active);
    impact_data data = {model->v0, change, momentum, &restitution, multipliers};
    assert_int_equal(impact_record_note(r, k, event, values, &data), HAMEL_OK);
    size_t failures = 0;
    for (size_t i = 0; i < r->impact.theorem_count; i++) failures += !r->theorems[i].holds;
    *theorems = r->impact.theorem_count;
    arena_free(&memory);
    dynamics_free(k);
    hamel_model_free(model);
    return failures;
}

/* A percussion 6 on x gives the mass 2 the velocity 3. Kelvin's and Robin's functions increase if y changes too or if x
 * changes by less. With half the velocity, an additional constraint gives more energy. The wall x = 0 stops the mass 2,
 * and keeps the velocity along the wall. */
static void theorems_fail_for_wrong_velocities(void **state) {
    (void)state;
    const char *blow = "`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`, "
                       "`events`: [{`name`: `blow`, `when`: `t`, `percussion`: {`on`: `x`, `value`: 6}}]";
    const char *wall = "`coordinates`: [{`name`: `x`, `velocity`: -4}, {`name`: `y`, `velocity`: 3}], "
                       "`kinetic_energy`: `x'^2 + y'^2`, "
                       "`events`: [{`name`: `hit`, `when`: `t`, `impulse`: {`constraint`: `x = 0`}}]";
    const double momentum[] = {6, 0, 0}, right[] = {3, 0, 0}, aside[] = {3, 0.1, 0}, slow[] = {1.5, 0, 0};
    const double none[] = {0, 0}, stop[] = {4, 0}, turned[] = {4, 0.1};
    size_t theorems;
    assert_int_equal(count_failures(blow, momentum, right, &theorems), 0);
    assert_int_equal(theorems, 4); /* the system is at rest, so the percussion has no power before */
    assert_int_equal(count_failures(blow, momentum, aside, &theorems), 2); /* Kelvin, Robin */
    assert_int_equal(count_failures(blow, momentum, slow, &theorems), 2);  /* Bertrand and Delaunay, Robin */
    assert_int_equal(count_failures(wall, none, stop, &theorems), 0);
    assert_int_equal(theorems, 2);
    assert_int_equal(count_failures(wall, none, turned, &theorems), 2); /* Carnot, Robin */
}

/* --- analysis without a run --------------------------------------------------------------------------------------- */

/* The event `shock` has all four types, as in the test of Table 1. The constraint `late` is active at the event only if
 * the event `joins` has happened before. */
static void an_analysis_lists_the_types_without_a_run(void **state) {
    (void)state;
    fixture f;
    hamel_shocks *found = NULL;
    fixture_read(&f,
                 "`coordinates`: [`a`, `b`, `c`, `d`], `kinetic_energy`: `(a'^2 + b'^2 + c'^2 + d'^2)/2`, "
                 "`constraints`: [{`name`: `one`, `equation`: `a = b`}, {`name`: `three`, `equation`: `b = c`}, "
                 "{`name`: `two`, `equation`: `c = 1`, `active`: false}, {`name`: `late`, `equation`: `d = 1`, "
                 "`active`: false}], "
                 "`events`: [{`name`: `shock`, `when`: `t - 1`, `activate`: [`two`], `deactivate`: [`three`], "
                 "`impulse`: [{`constraint`: `two`}, {`constraint`: `three`}, {`constraint`: `d = 2`}]}, "
                 "{`name`: `joins`, `when`: `d - 1`, `activate`: [`late`]}, "
                 "{`name`: `blow`, `when`: `t - 3`, `percussion`: {`on`: `a`, `value`: 2}}]",
                 "`stop`: 2");
    assert_int_equal(hamel_find_shocks(&found, &f.description, NULL, NULL, &f.error), HAMEL_OK);
    assert_int_equal(found->count, 2);
    static const char *const names[] = {"one", "three", "two", "late", "d = 2"};
    static const int types[] = {1, 3, 2, 1, 4};
    const hamel_shock *s = &found->items[0];
    assert_string_equal(s->event, "shock");
    assert_int_equal(s->constraint_count, 5);
    for (size_t k = 0; k < 5; k++) {
        assert_string_equal(s->constraints[k].name, names[k]);
        assert_int_equal(s->constraints[k].type_count, 1);
        assert_int_equal(s->constraints[k].types[0], types[k]);
        assert_int_equal(s->constraints[k].certain, k != 3);
    }
    assert_int_equal(s->velocities, 4);
    assert_int_equal(s->impulses, 4);
    assert_int_equal(s->equations, 6);
    assert_int_equal(s->theorems.count, 2);
    assert_string_equal(s->theorems.items[0], "carnot_third");
    assert_string_equal(s->excluded[0].reason, "`d = 2` does not persist");
    s = &found->items[1];
    assert_int_equal(s->percussion_count, 1);
    assert_int_equal(s->constraint_count, 4); /* `three` and `two` may have changed before */
    assert_int_equal(s->theorems.count, 4);
    hamel_shocks_free(found);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blow_moves_and_turns_a_free_bar),
        cmocka_unit_test(a_blow_at_the_centre_of_percussion_leaves_the_pivot_without_impulse),
        cmocka_unit_test(percussions_act_on_coordinates_and_points_together),
        cmocka_unit_test(sensitivities_follow_a_percussion),
        cmocka_unit_test(work_includes_the_work_of_a_moving_frame),
        cmocka_unit_test(an_explosion_gains_the_energy_of_the_gained_velocities),
        cmocka_unit_test(a_lagrangian_gives_the_change_of_t2),
        cmocka_unit_test(all_formulations_follow_a_percussion),
        cmocka_unit_test(constraints_have_the_types_of_table_1),
        cmocka_unit_test(a_tie_that_breaks_while_a_particle_is_seized_is_of_type_3),
        cmocka_unit_test(a_suddenly_arrested_bar_loses_an_eighth_of_m_u_squared),
        cmocka_unit_test(restitution_reduces_the_loss),
        cmocka_unit_test(a_block_on_two_corners_reverses_both_velocities),
        cmocka_unit_test(successive_impacts_differ_from_simultaneous_impulses),
        cmocka_unit_test(two_touching_balls_leave_a_wall_together),
        cmocka_unit_test(redundant_contacts_have_impulses_of_least_norm),
        cmocka_unit_test(restitutions_of_redundant_contacts_must_agree),
        cmocka_unit_test(a_moving_constraint_excludes_carnots_theorems),
        cmocka_unit_test(extrema_hold_for_systems_in_motion),
        cmocka_unit_test(theorems_fail_for_wrong_velocities),
        cmocka_unit_test(an_analysis_lists_the_types_without_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
