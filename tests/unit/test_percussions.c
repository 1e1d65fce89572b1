/* test_percussions.c — engine/mechanics/percussions.c, engine/simulate: percussions, which are given impulses, and
 * the extremum theorems about them. */
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

/* --- percussions -------------------------------------------------------------------------------------------------- */

/* A free uniform bar of mass m = 2 and length l = 1 is struck at its end by F = 3, perpendicular to the bar. With I
 * = m l²/12, y' = F/m and w = F (l/2)/I. The kinetic energy is F²/(2m) + (F l/2)²/(2I) = 2 F²/m. */
static void a_percussion_moves_and_rotates_a_free_bar(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [`x`, `y`, `th`], "
        "`bodies`: [{`name`: `bar`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `th`}, `inertia`: "
        "`2/12`}], `events`: [{`name`: `blow`, `when`: `t - 1`, "
        "`percussion`: {`at`: {`frame`: `bar`, `at`: [0.5, 0]}, `vector`: [0, 3]}}]",
        "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("x'", h->after[4], 0, RECORD_EXACT);
    assert_near("y'", h->after[5], 1.5, RECORD_EXACT);
    assert_near("th'", h->after[6], 9, RECORD_EXACT);
    assert_impact_energy(h, 0, 9);
    assert_int_equal(h->impact.constraint_count, 0);
    assert_theorem(h, "kelvin", 9);
    assert_theorem(h, "bertrand_delaunay", 9);
    assert_theorem(h, "robin", 9 - 18); /* K − P·v */
    assert_true(record_theorem(h, "kelvin")->other > 9);
    assert_true(record_theorem(h, "bertrand_delaunay")->other < 9);
    assert_true(record_theorem(h, "robin")->other > -9);
    record_free(r);
}

/* A bar with a fixed pivot at its end is struck at the distance d from the pivot, so w = F d/(m l²/3). The impulse R
 * of the pivot follows from the momentum of the centre of mass, m (l/2) w = F + R. Therefore R = F (3d/(2l) − 1),
 * which vanishes at the centre of percussion, d = 2l/3. */
static void a_percussion_at_the_centre_of_percussion_causes_no_impulse_at_the_pivot(void **state) {
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
        assert_near("th'", h->after[6], w, RECORD_EXACT);
        assert_near("impulse of the pivot", record_constraint(h, "py")->impulse, 3 * (1.5 * distances[k] - 1),
                    RECORD_EXACT);
        assert_near("impulse along the bar", record_constraint(h, "px")->impulse, 0, RECORD_EXACT);
        assert_int_equal(record_constraint(h, "py")->type, 1);
        assert_impact_energy(h, 0, w * w / 3);
        assert_theorem(h, "bertrand_delaunay", w * w / 3);
        /* Kelvin's theorem compares motions with the same velocity of the struck point; there is only one */
        assert_true(record_theorem(h, "kelvin") == NULL);
        record_free(r);
    }
}

/* Two particles on a line are joined by a rod, so a' = b'. At the same time, the percussion 4 acts at the first
 * particle, and the percussion −1 acts on the coordinate of the second. Both particles then move at 3/(1 + 2). */
static void percussions_act_at_points_and_on_coordinates_at_the_same_time(void **state) {
    (void)state;
    record *r = record_run_well("`parameters`: {`F`: 4}, `coordinates`: [`a`, {`name`: `b`, `initial`: 1}], "
                                "`particles`: [{`name`: `A`, `mass`: 1, `position`: [`a`, 0]}, {`name`: `B`, `mass`: "
                                "2, `position`: [`b`, 0]}], "
                                "`constraints`: [{`name`: `rod`, `equation`: `b - a = 1`}], "
                                "`events`: [{`name`: `blow`, `when`: `t - 1`, "
                                "`percussion`: [{`at`: `A`, `vector`: [`F`, 7]}, {`on`: `b`, `value`: `-t`}]}]",
                                "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("a'", h->after[3], 1, RECORD_EXACT);
    assert_near("b'", h->after[4], 1, RECORD_EXACT);
    assert_near("rod", record_constraint(h, "rod")->impulse, 3, RECORD_EXACT); /* momentum of b: 2·1 = −1 + Λ */
    assert_near("a at the end", record_end(r)[1], 1, RECORD_EXACT);
    assert_impact_energy(h, 0, 1.5);
    record_free(r);
}

/* The percussion −c x' acts at x = 1: v⁺ = v (1 − c/m). At the time T, x(T) = 1 + (T v − 1)(1 − c/m). */
static void sensitivities_continue_after_a_percussion(void **state) {
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

/* The coordinate q is relative to a frame that moves at the speed 3, so T = (q' + 3)²/2. The percussion 2 gives T⁺ −
 * T⁻ = (2 + 3)²/2 − 3²/2 = 8. The mean speed of the particle is 4 during the percussion, so the work is 2·4. The
 * product with the mean of q' alone is only 2. */
static void work_of_a_percussion_includes_the_velocity_of_a_moving_frame(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [`q`], "
                                "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`q + 3*t`, 0]}], "
                                "`events`: [{`name`: `blow`, `when`: `t - 1`, `percussion`: {`on`: `q`, `value`: 2}}]",
                                "`stop`: 2, `samples`: 3");
    assert_impact_energy(&r->event_records[0], 4.5, 12.5);
    assert_true(record_theorem(&r->event_records[0], "carnot_second") == NULL);
    record_free(r);
}

/* An explosion separates two particles that move at 5: x2' = 5 + J/m2 and x1' = 5 − J/m1. By Carnot's second
 * theorem, the gain of kinetic energy is the energy of the gained velocities, J²/2 (1/m1 + 1/m2). It does not depend
 * on the initial velocity. */
static void an_explosion_gains_the_energy_of_the_gained_velocities(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x1`, `velocity`: 5}, {`name`: `x2`, `velocity`: 5}], "
        "`kinetic_energy`: `(x1'^2 + 4*x2'^2)/2`, `constraints`: [{`name`: `joined`, `equation`: `x1 = x2`}], "
        "`events`: [{`name`: `explosion`, `when`: `t - 1`, `deactivate`: [`joined`], "
        "`percussion`: [{`on`: `x1`, `value`: -2}, {`on`: `x2`, `value`: 2}]}]",
        "`stop`: 2, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("x1'", h->after[3], 3, RECORD_EXACT);
    assert_near("x2'", h->after[4], 5.5, RECORD_EXACT);
    assert_impact_energy(h, 62.5, 65);
    assert_theorem(h, "carnot_second", 2.5);
    record_free(r);
}

/* L = T2 + T1 + T0 − V with T2 = x'²/2 + y'² and T1 = 3 x' y − 3 x y'. At x' = 2, the percussion 2 on x changes T2
 * by 2·2 + 2²/2. The reported energy T2 − T0 + V contains the constant −5, which does not affect the theorems. */
static void percussions_change_the_quadratic_part_of_a_lagrangian(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 2}, `y`], "
                                "`lagrangian`: `x'^2/2 + y'^2 + 3*x'*y - 3*x*y' + 5`, "
                                "`events`: [{`name`: `blow`, `when`: `t`, `direction`: `rising`, "
                                "`percussion`: {`on`: `x`, `value`: 2}}]",
                                "`stop`: 0.1, `samples`: 2");
    const event_record *h = &r->event_records[0];
    assert_impact_energy(h, 2 - 5, 8 - 5);
    assert_theorem(h, "bertrand_delaunay", 8);
    record_free(r);
}

/* Nine formulations with different variables must give the same motion after a percussion. */
static void nine_formulations_give_the_same_motion_after_a_percussion(void **state) {
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
        /* the tangential component 4 of the percussion gives P the rate 4/2; P then rotates for 1 s */
        assert_near(formulations[k], record_end(r)[1], cos(2), 1e-8);
        assert_near(formulations[k], record_end(r)[2], sin(2), 1e-8);
        assert_near(formulations[k], record_end(r)[3], 5, 1e-8);
        assert_near("rod", fabs(r->event_records[0].constraints[0].impulse), 1.5, RECORD_EXACT);
        record_free(r);
    }
}

/* A percussion acts on a moving system. The function of Bertrand's theorem is the energy after the percussion. The
 * function of Kelvin's theorem is the energy of the change of the velocities. */
static void extremum_theorems_hold_for_moving_systems(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: 2}, {`name`: `z`, `velocity`: -1}], "
        "`kinetic_energy`: `(x'^2 + 2*y'^2 + 3*z'^2)/2 + x'*y'/2`, `constraints`: [{`name`: `c`, `equation`: `x + z = "
        "0`}], "
        "`events`: [{`name`: `blow`, `when`: `t`, `direction`: `rising`, `percussion`: {`on`: `x`, `value`: 7}}]",
        "`stop`: 1, `samples`: 2");
    const event_record *h = &r->event_records[0];
    /* with z' = −x', T = 2 x'² + y'² + x' y'/2; the momenta 4 x' + y'/2 and x'/2 + 2 y' change by 7 and 0 */
    double dx = 7 / (4 - 0.125), dy = -dx / 4;
    assert_near("x'", h->after[4], 1 + dx, RECORD_EXACT);
    assert_near("y'", h->after[5], 2 + dy, RECORD_EXACT);
    double K = 2 * dx * dx + dy * dy + dx * dy / 2, u = 1 + dx, v = 2 + dy;
    assert_theorem(h, "kelvin", K);
    assert_theorem(h, "robin", K - 7 * dx);
    assert_theorem(h, "bertrand_delaunay", 2 * u * u + v * v + u * v / 2);
    record_free(r);
}

/* Records an impact with a given change of velocities, which may violate the equations of the impact. Returns the
 * number of theorems that do not hold. *theorems is the number of theorems that apply. */
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

/* The percussion 6 on x gives the mass 2 the velocity 3. If y changes too, the functions of Kelvin and Robin exceed
 * their minima. If x' is only half as large, additional constraints increase the energy, contrary to the theorem of
 * Bertrand and Delaunay. The wall x = 0 stops the mass 2 and must not change its velocity along y. */
static void extremum_theorems_fail_for_wrong_velocities(void **state) {
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
    /* Carnot's second theorem applies too, because the power of the percussion is 0 before it */
    assert_int_equal(theorems, 4);
    assert_int_equal(count_failures(blow, momentum, aside, &theorems), 2); /* Kelvin, Robin */
    assert_int_equal(count_failures(blow, momentum, slow, &theorems), 2);  /* Bertrand and Delaunay, Robin */
    assert_int_equal(count_failures(wall, none, stop, &theorems), 0);
    assert_int_equal(theorems, 2);
    assert_int_equal(count_failures(wall, none, turned, &theorems), 2); /* Carnot, Robin */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percussion_moves_and_rotates_a_free_bar),
        cmocka_unit_test(a_percussion_at_the_centre_of_percussion_causes_no_impulse_at_the_pivot),
        cmocka_unit_test(percussions_act_at_points_and_on_coordinates_at_the_same_time),
        cmocka_unit_test(sensitivities_continue_after_a_percussion),
        cmocka_unit_test(work_of_a_percussion_includes_the_velocity_of_a_moving_frame),
        cmocka_unit_test(an_explosion_gains_the_energy_of_the_gained_velocities),
        cmocka_unit_test(percussions_change_the_quadratic_part_of_a_lagrangian),
        cmocka_unit_test(nine_formulations_give_the_same_motion_after_a_percussion),
        cmocka_unit_test(extremum_theorems_hold_for_moving_systems),
        cmocka_unit_test(extremum_theorems_fail_for_wrong_velocities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
