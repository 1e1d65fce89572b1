/* test_events.c — engine/simulate: roots of event functions, the actions of events, and the motion after them. */
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- bouncing -------------------------------------------------------------------------------------------------------- */

static char *ball(double restitution) {
    static char text[400];
    snprintf(text, sizeof text,
             "`parameters`: {`e`: %.17g, `g`: 9.81}, `coordinates`: [{`name`: `y`, `initial`: 1}], "
             "`kinetic_energy`: `y'^2/2`, `potential_energy`: `g*y`, "
             "`events`: [{`name`: `bounce`, `when`: `y`, `direction`: `falling`, `set`: {`y'`: `-e*y'`}}]",
             restitution);
    return text;
}

/* A ball falls from height 1. Bounce k = 0, 1, ... is at t0 (1 + 2e + ... + 2e^k), where t0 = sqrt(2/g), with speed g
 * t0 e^k. For heights above 1000 atol, the errors are about atol in position and atol / speed in time. */
static void bounces_come_at_the_times_of_the_closed_form(void **state) {
    (void)state;
    for (double e = 0.5; e < 0.95; e += 0.1) {
        record *r = record_run(ball(e), "`stop`: 30, `rtol`: 1e-12, `atol`: 1e-15");
        double fall = sqrt(2 / 9.81), t = fall, speed = 9.81 * fall;
        size_t k = 0;
        for (; k < r->count && k < RECORD_EVENTS && speed * speed / 19.62 > 1e-12; k++) {
            assert_near("time", r->event_records[k].t, t, 1e-9);
            assert_near("velocity before", r->event_records[k].before[2], -speed, 1e-9);
            assert_near("velocity after", r->event_records[k].after[2], e * speed, 1e-9);
            speed *= e;
            t += 2 * speed / 9.81;
        }
        assert_true(k > 15);
        assert_true(speed * speed / 19.62 <= 1e-12); /* all bounces above the height 1e-12 are found */
        assert_int_equal(r->status, HAMEL_INTEGRATION);
        assert_true(record_says(r, "Zeno"));
        assert_near("the end", r->summary.t, fall * (1 + 2 * e / (1 - e)), 1e-6);
        record_free(r);
    }
}

static void the_work_balance_includes_energy_lost_in_events(void **state) {
    (void)state;
    record *r = record_run_well(ball(0.9), "`stop`: 5");
    assert_true(r->count > 5);
    assert_true(r->summary.max_work_balance_error < 1e-7);
    record_free(r);
}

static void a_ball_in_a_box_bounces_off_every_wall(void **state) {
    (void)state;
    record *r =
        record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 3}, {`name`: `y`, `velocity`: 2}], "
                        "`kinetic_energy`: `(x'^2 + y'^2)/2`, "
                        "`events`: [{`name`: `side`, `when`: `1 - x^2`, `direction`: `falling`, `set`: {`x'`: `-x'`}}, "
                        "{`name`: `top`, `when`: `1 - y^2`, `direction`: `falling`, `set`: {`y'`: `-y'`}}]",
                        "`stop`: 100, `samples`: 101, `rtol`: 1e-10");
    /* The coordinates are the triangle wave of period 4 with slope ±1, evaluated at 3t and at 2t. */
    for (size_t i = 0; i < r->rows; i++)
        for (int k = 0; k < 2; k++) {
            double s = fmod((k ? 2 : 3) * r->values[i][0] + 1, 4), x = s < 2 ? s - 1 : 3 - s;
            assert_near("position", r->values[i][1 + k], x, 1e-7);
        }
    assert_int_equal(r->count, 150 + 100); /* x reverses at 3t = 1, 3, ..., 299; y at 2t = 1, 3, ..., 199 */
    record_free(r);
}

/* --- times ----------------------------------------------------------------------------------------------------------- */

static const char falling[] = "`coordinates`: [{`name`: `y`, `velocity`: 1}], `kinetic_energy`: `y'^2/2`, ";

static void an_output_row_at_an_event_time_has_the_values_after_it(void **state) {
    (void)state;
    char members[400];
    snprintf(members, sizeof members, "%s`events`: [{`name`: `kick`, `when`: `t - 0.3`, `set`: {`y'`: 5}}]", falling);
    record *r = record_run_well(members, "`stop`: 1, `samples`: 11");
    assert_int_equal(r->count, 1);
    assert_true(r->event_records[0].t == 0.3);
    assert_int_equal(r->event_records[0].rows, 3);
    assert_true(fabs(r->values[3][2] - 5) < 1e-12);
    assert_near("end", r->values[10][1], 0.3 + 5 * 0.7, 1e-9);
    record_free(r);
}

static void a_jump_across_zero_is_a_crossing(void **state) {
    (void)state;
    char members[500];
    snprintf(members, sizeof members,
             "%s`events`: [{`name`: `late`, `when`: `y' - 3`, `direction`: `rising`, `terminate`: true}, "
             "{`name`: `kick`, `when`: `t - 0.5`, `set`: {`y'`: 5}}, "
             "{`name`: `wrong_way`, `when`: `y' - 3`, `direction`: `falling`}]",
             falling);
    record *r = record_run_well(members, "`stop`: 1, `samples`: 11");
    assert_int_equal(r->count, 2);
    assert_string_equal(r->event_records[1].name, "late");
    assert_true(r->event_records[1].t == 0.5);
    assert_near("before", r->event_records[1].before[2], 5, 0);
    assert_true(r->summary.t == 0.5);
    assert_int_equal(r->rows, 6);
    record_free(r);
}

static void output_times_do_not_influence_events(void **state) {
    (void)state;
    record *few = record_run_well(ball(0.8), "`stop`: 3.5, `samples`: 8"),
           *many = record_run_well(ball(0.8), "`stop`: 3.5, `samples`: 701");
    assert_int_equal(few->count, many->count);
    for (size_t k = 0; k < few->count; k++) assert_true(few->event_records[k].t == many->event_records[k].t);
    for (size_t i = 0; i < few->rows; i++)
        assert_memory_equal(few->values[i], many->values[100 * i], 3 * sizeof(double));
    assert_true(few->summary.steps == many->summary.steps);
    record_free(few);
    record_free(many);
}

static void an_event_may_end_the_run_with_a_last_row(void **state) {
    (void)state;
    char members[400];
    snprintf(members, sizeof members,
             "%s`events`: [{`name`: `there`, `when`: `y - 0.55`, `terminate`: true}], "
             "`checks`: [{`expression`: `y`, `equals`: 0.55, `tolerance`: 1e-9}]",
             falling);
    record *r = record_run_well(members, "`stop`: 2, `samples`: 21");
    assert_int_equal(r->summary.outcome, HAMEL_TERMINATED);
    assert_true(r->summary.passed);
    assert_int_equal(r->rows, 7);
    assert_near("time", r->values[6][0], 0.55, 1e-9);
    assert_true(r->summary.t == r->values[6][0]);
    assert_true(r->summary.events == 1);
    record_free(r);
}

static void a_start_on_the_zero_is_not_a_crossing(void **state) {
    (void)state;
    record *r =
        record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
                        "`potential_energy`: `x^2/2`, `events`: [{`name`: `turn`, `when`: `x`, `direction`: `rising`}]",
                        "`stop`: 20, `rtol`: 1e-10, `atol`: 1e-12");
    assert_int_equal(r->count, 3);
    for (size_t k = 0; k < r->count; k++)
        assert_near("period", r->event_records[k].t, 2 * 3.14159265358979 * (double)(k + 1), 1e-8);
    record_free(r);
}

static void directions_are_distinguished(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
        "`potential_energy`: `x^2/2`, `events`: [{`name`: `up`, `when`: `x - 0.5`, `direction`: `rising`}, "
        "{`name`: `down`, `when`: `x - 0.5`, `direction`: `falling`}, {`name`: `any`, `when`: `x - 0.5`}]",
        "`stop`: 6, `rtol`: 1e-10, `atol`: 1e-12");
    const char *names[] = {"up", "any", "down", "any"};
    assert_int_equal(r->count, 4);
    for (size_t k = 0; k < 4; k++) {
        assert_string_equal(r->event_records[k].name, names[k]);
        assert_near("time", r->event_records[k].t, 3.14159265358979 * (k < 2 ? 1. / 6 : 5. / 6), 1e-8);
    }
    record_free(r);
}

/* The integrator takes one long step along a parabola. The event function is positive only near the vertex, for the
 * time 2 sqrt(2·1e-6/10) = 9e-4. */
static void a_double_crossing_within_a_step_is_found(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `y`, `velocity`: 10}], `kinetic_energy`: `y'^2/2`, "
                                "`potential_energy`: `10*y`, `events`: [{`name`: `bar`, `when`: `y - (5 - 1e-6)`}]",
                                "`stop`: 2, `rtol`: 1e-10, `atol`: 1e-12");
    assert_int_equal(r->count, 2);
    assert_near("up", r->event_records[0].t, 1 - sqrt(2e-7), 1e-7);
    assert_near("down", r->event_records[1].t, 1 + sqrt(2e-7), 1e-7);
    record_free(r);
}

static void many_events_cost_in_proportion(void **state) {
    (void)state;
    record *r =
        record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
                        "`events`: [{`name`: `wall`, `when`: `1 - x^2`, `direction`: `falling`, `set`: {`x'`: `-x'`}}]",
                        "`stop`: 20000, `samples`: 2, `max_steps`: 1e6");
    assert_int_equal(r->count, 10000);
    assert_true(r->summary.steps < 10000 * 40);
    assert_near("x", r->values[1][1], 0, 1e-5);
    record_free(r);
}

/* --- values ---------------------------------------------------------------------------------------------------------- */

static void all_new_values_are_computed_from_the_old_ones(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 2}, {`name`: `y`, `initial`: 3, `velocity`: 4}], "
        "`kinetic_energy`: `(x'^2 + y'^2)/2`, "
        "`events`: [{`name`: `swap`, `when`: `t - 1`, `set`: {`x`: `y`, `y`: `x`, `x'`: `y'`, `y'`: `x' + x''`}}]",
        "`stop`: 2, `samples`: 3");
    const double after[] = {1, 7, 3, 4, 2};
    for (size_t i = 0; i < 5; i++) assert_near("after", r->event_records[0].after[i], after[i], 1e-12);
    record_free(r);
}

static void values_that_violate_a_constraint_are_rejected(void **state) {
    (void)state;
    record *r = record_run("`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`, "
                           "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}], "
                           "`events`: [{`name`: `jump`, `when`: `t - 1`, `set`: {`y`: 1}}]",
                           "`stop`: 2");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "violate the constraint `rod` by 1"));
    assert_string_equal(r->error.faults[0].pointer, "/events/0");
    record_free(r);
}

/* --- constraints that become active and inactive ------------------------------------------------------------------ */

/* A stone falls from (0.6, 0) next to the pivot until its string of length 1 is taut at (0.6, -0.8). The string removes
 * the radial component of the velocity. Then the stone swings with the remaining energy. */
static const char string[] =
    "`coordinates`: [{`name`: `x`, `initial`: 0.6}, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`, "
    "`potential_energy`: `10*y`, `constraints`: [{`name`: `string`, `equation`: `x^2 + y^2 = 1`, `active`: false}], "
    "`events`: [{`name`: `taut`, `when`: `x^2 + y^2 - 1`, `direction`: `rising`, "
    "`impulse`: {`constraint`: `string`, `restitution`: 0}, `activate`: [`string`]}, "
    "{`name`: `cut`, `when`: `y'`, `direction`: `rising`, `deactivate`: [`string`]}], "
    "`outputs`: {`E`: `energy()`, `tension`: `-2*lambda(string)`}";

static void a_string_becomes_taut_and_is_cut(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (int k = 0; k < 3; k++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 1, `rtol`: 1e-10, `atol`: 1e-12, `method`: `%s`", methods[k]);
        record *r = record_run_well(string, simulation);
        assert_int_equal(r->count, 2);
        const event_record *taut = &r->event_records[0], *cut = &r->event_records[1];
        assert_near("time", taut->t, 0.4, 1e-9);
        assert_near("radial impulse", taut->impulses[0], -4 * 0.8 / 2, 1e-8); /* 2 r Λ = -(radial speed 3.2), r = 1 */
        /* tangential component 4·0.6 along (-0.8, -0.6) */
        assert_near("x'", taut->after[3], -4 * 0.6 * 0.8, 1e-8);
        assert_near("y'", taut->after[4], -4 * 0.6 * 0.6, 1e-8);
        assert_near("energy", taut->after[5], -8 + 0.5 * 2.4 * 2.4, 1e-8);
        assert_near("no tension before", taut->before[6], 0, 0);
        assert_near("tension", taut->after[6], 2.4 * 2.4 + 8, 1e-7); /* v²/l + g cos */
        assert_near("lowest point", cut->before[2], -1, 1e-8);
        assert_near("speed there", cut->before[3], -sqrt(2.4 * 2.4 + 4), 1e-7);
        assert_near("no tension after", cut->after[6], 0, 0);
        double dt = 1 - cut->t; /* free flight again */
        const double *end = r->values[r->rows - 1];
        assert_near("x", end[1], cut->after[1] + dt * cut->after[3], 1e-7);
        assert_near("y", end[2], -1 - 5 * dt * dt, 1e-7);
        assert_int_equal(r->summary.rank_changes, 0);
        assert_int_equal(r->summary.redundant_count, 0); /* inactive constraints are not redundant */
        assert_null(r->summary.redundancy);
        record_free(r);
    }
}

/* A weight swings up on a string that is active from the start, so the function of the event `taut` stays 0. The string
 * becomes slack at the angle α above the pivot, where v² = g l sin α. By the energy, 3.4 g l - 2 g l (1 + sin α) = g l
 * sin α, so sin α = 1.4/3. After 4 v cos α/g, the parabola of free flight meets the circle again. The coefficients of
 * t³ and t⁴ in x² + y² - l² give this time, because the lower coefficients vanish. */
static void a_taut_string_becomes_slack_and_taut_again(void **state) {
    (void)state;
    const double g = 9.81, sine = 1.4 / 3, cosine = sqrt(1 - sine * sine), v = sqrt(g * sine);
    const char *methods[] = {"adams", "bdf", "erk"};
    for (size_t i = 0; i < 3; i++) {
        char simulation[80];
        snprintf(simulation, sizeof simulation, "`stop`: 2, `rtol`: 1e-9, `atol`: 1e-11, `method`: `%s`", methods[i]);
        record *r = record_run_well(
            "`coordinates`: [{`name`: `x`, `velocity`: `sqrt(3.4*9.81)`}, {`name`: `y`, `initial`: -1}],"
            "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
            "`constraints`: [{`name`: `string`, `equation`: `x^2 + y^2 = 1`}],"
            "`events`: [{`name`: `slack`, `when`: `lambda(string)`, `direction`: `rising`,"
            "            `deactivate`: [`string`]},"
            "           {`name`: `taut`, `when`: `x^2 + y^2 - 1`, `direction`: `rising`,"
            "            `impulse`: {`constraint`: `string`, `restitution`: 0}, `activate`: [`string`]}]",
            simulation);
        assert_int_equal(r->count, 2);
        assert_string_equal(r->event_records[0].name, "slack");
        assert_near("height at which the string becomes slack", r->event_records[0].after[2], sine, 1e-7);
        assert_string_equal(r->event_records[1].name, "taut");
        assert_near("time of flight", r->event_records[1].t - r->event_records[0].t, 4 * v * cosine / g, 1e-7);
        record_free(r);
    }
}

static void activation_needs_positions_and_velocities(void **state) {
    (void)state;
    record *r = record_run("`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
                           "`constraints`: [{`name`: `wall`, `equation`: `x = 1`, `active`: false}], "
                           "`events`: [{`name`: `early`, `when`: `t - 0.5`, `activate`: [`wall`]}]",
                           "`stop`: 2");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "cannot activate `wall`: its equation is off by -0.5"));
    record_free(r);
    r = record_run("`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
                   "`constraints`: [{`name`: `wall`, `equation`: `x = 1`, `active`: false}], "
                   "`events`: [{`name`: `hit`, `when`: `x - 1`, `activate`: [`wall`]}]",
                   "`stop`: 2");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "the velocities violate it by 1"));
    assert_true(record_says(r, "restitution 0"));
    record_free(r);
}

static void an_impulse_respects_the_active_constraints(void **state) {
    (void)state;
    /* Two masses, 1 and 3, are connected by a rigid rod. The first mass hits a wall, and both masses reverse
     * together. */
    record *r = record_run_well(
        "`coordinates`: [{`name`: `a`, `velocity`: 1}, {`name`: `b`, `initial`: -1, `velocity`: 1}], "
        "`kinetic_energy`: `(a'^2 + 3*b'^2)/2`, "
        "`constraints`: [{`name`: `rod`, `equation`: `a - b = 1`}], "
        "`events`: [{`name`: `hit`, `when`: `a - 0.5`, `impulse`: {`constraint`: `a = 0.5`, `restitution`: 0.5}}]",
        "`stop`: 1");
    assert_int_equal(r->count, 1);
    assert_near("a'", r->event_records[0].after[3], -0.5, 1e-12);
    assert_near("b'", r->event_records[0].after[4], -0.5, 1e-12);
    assert_near("impulse", r->event_records[0].impulses[0], -4 * 1.5,
                1e-12); /* the total mass 4 times the velocity change */
    record_free(r);
}

/* --- nonsmooth operators --------------------------------------------------------------------------------------------- */

static void a_force_that_jumps_in_time_is_integrated_exactly(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, "
                                "`generalized_forces`: {`x`: `if(t < 1, 2, 0) + floor(t/2) + mod(t, 3)`}",
                                "`stop`: 4, `samples`: 2, `rtol`: 1e-9, `atol`: 1e-12");
    /* v = 2 + (4 - 2) + (9/2 + 1/2); x = 2 (1/2 + 3) + 2 + (27/6 + 9/2 + 1/6) */
    assert_near("v", r->values[1][2], 9, 1e-11);
    assert_near("x", r->values[1][1], 7 + 2 + 27. / 6 + 4.5 + 1. / 6, 1e-11);
    assert_true(r->summary.branch_changes == 4); /* at t = 1, 2, 3, and 4, the end of the run */
    assert_int_equal(r->count, 0);
    record_free(r);
}

/* A mass on a bilinear spring alternates between half periods at 1 and 2 rad/s. */
static void a_kink_in_a_spring_is_detected_in_every_notation(void **state) {
    (void)state;
    static const char *const springs[] = {"if(x < 0, -4*x, -x)", "-x - 3*min(x, 0)", "-4*x + 3*max(0, x)",
                                          "-2.5*x + 1.5*abs(x)", "-x*(2.5 - 1.5*sign(x))"};
    const double pi = 3.14159265358979323846;
    for (size_t k = 0; k < sizeof springs / sizeof *springs; k++) {
        for (int bdf = 0; bdf < 2; bdf++) {
            char members[300], simulation[200];
            snprintf(members, sizeof members,
                     "`coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2/2`, "
                     "`generalized_forces`: {`x`: `%s`}",
                     springs[k]);
            snprintf(simulation, sizeof simulation,
                     "`stop`: %.17g, `samples`: 2, `rtol`: 1e-9, `atol`: 1e-11, `method`: `%s`", 10 * 1.5 * pi,
                     bdf ? "bdf" : "adams");
            record *r = record_run_well(members, simulation);
            assert_near(springs[k], r->values[1][1], 1, 1e-7);
            assert_near(springs[k], r->values[1][2], 0, 1e-6);
            assert_true(r->summary.branch_changes == 20);
            record_free(r);
        }
    }
}

static void the_knots_of_a_linear_table_are_kinks(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, "
                                "`tables`: {`f`: {`x`: [0, 1, 2, 3], `y`: [0, 5, 0, 1]}}, "
                                "`generalized_forces`: {`x`: `table(f, t)`}",
                                "`stop`: 3, `samples`: 4, `rtol`: 1e-9, `atol`: 1e-12");
    assert_near("v(1)", r->values[1][2], 2.5, 1e-11); /* the integral of a triangular function */
    assert_near("v(2)", r->values[2][2], 5, 1e-11);
    assert_near("v(3)", r->values[3][2], 5.5, 1e-11);
    assert_near("x(1)", r->values[1][1], 5. / 6, 1e-11);
    assert_true(r->summary.branch_changes == 2);
    record_free(r);
}

/* Coulomb friction reduces the amplitude by 2 in each half period until the mass on the spring sticks. */
static void sticking_of_friction_written_with_sign_ends_the_run(void **state) {
    (void)state;
    const char *members = "`coordinates`: [{`name`: `x`, `initial`: 10.5}], `kinetic_energy`: `x'^2/2`, "
                          "`potential_energy`: `x^2/2`, `generalized_forces`: {`x`: `-sign(x')`}";
    const double pi = 3.14159265358979323846;
    record *r = record_run(members, "`stop`: 20, `times`: [3.14159265358979323846, 9.42477796076938], `rtol`: 1e-9");
    assert_near("after one half period", r->values[0][1], -8.5, 1e-7);
    assert_near("after three half periods", r->values[1][1], -4.5, 1e-7);
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_near("the end", r->summary.t, 5 * pi, 1e-7);
    assert_true(record_says(r, "`sign(x')` changes too often"));
    record_free(r);
    r = record_run_well("`coordinates`: [{`name`: `x`, `initial`: 10.5}], `kinetic_energy`: `x'^2/2`, "
                        "`potential_energy`: `x^2/2`, `generalized_forces`: {`x`: `-x'/sqrt(x'^2 + 1e-8)`}",
                        "`stop`: 20, `samples`: 2, `rtol`: 1e-7");
    assert_near("position at which the mass creeps", r->values[1][1], -0.5, 1e-2);
    record_free(r);
}

static void branches_are_updated_after_a_jump(void **state) {
    (void)state;
    /* The force has the sign of x', which the event reverses. */
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
                                "`generalized_forces`: {`x`: `sign(x')`}, "
                                "`events`: [{`name`: `turn`, `when`: `t - 1`, `set`: {`x'`: `-x'`}}]",
                                "`stop`: 2, `samples`: 3");
    assert_near("before", r->event_records[0].before[2], 2, 1e-9);
    assert_near("end", r->values[2][2], -3, 1e-8);
    assert_near("end", r->values[2][1], 1.5 - 2.5, 1e-8);
    record_free(r);
}

/* A double pendulum in Cartesian coordinates has its rods as constraints, and its lower mass hits a wall at x = 0.3.
 * The rods have the directions u1 and u2. With p1 ⊥ u1 and p2 ⊥ u2, the velocities are v1 = a p1 and v2 = a p1 + b p2.
 * Newton's rule x2'⁺ = −e x2'⁻ and the momentum that the wall does not change determine a⁺ and b⁺. */
static void a_double_pendulum_that_hits_a_wall_keeps_its_rods(void **state) {
    (void)state;
    const double e = 0.6;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (int k = 0; k < 3; k++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 1.2, `rtol`: 1e-10, `atol`: 1e-12, `method`: `%s`",
                 methods[k]);
        record *r =
            record_run_well("`coordinates`: [{`name`: `x1`, `initial`: -0.6}, {`name`: `y1`, `initial`: -0.8}, "
                            "{`name`: `x2`, `initial`: -1.4}, {`name`: `y2`, `initial`: -1.4}], "
                            "`particles`: [{`name`: `A`, `mass`: 2, `position`: [`x1`, `y1`]}, "
                            "{`name`: `B`, `mass`: 1, `position`: [`x2`, `y2`]}], `gravity`: [0, -9.81], "
                            "`constraints`: [{`name`: `upper`, `equation`: `x1^2 + y1^2 = 1`}, "
                            "{`name`: `lower`, `equation`: `(x2-x1)^2 + (y2-y1)^2 = 1`}], "
                            "`events`: [{`name`: `wall`, `when`: `0.3 - x2`, `direction`: `falling`, "
                            "`impulse`: {`constraint`: `x2 = 0.3`, `restitution`: 0.6}}], `outputs`: {`E`: `energy()`}",
                            simulation);
        assert_true(r->count >= 1);
        const event_record *h = &r->event_records[0];
        const double *x = h->before + 1, *v = h->before + 5, *after = h->after + 5;
        double p1[2] = {-x[1], x[0]}, p2[2] = {-(x[3] - x[1]), x[2] - x[0]}, c = p1[0] * p2[0] + p1[1] * p2[1];
        double a = v[0] * p1[0] + v[1] * p1[1], b = (v[2] - v[0]) * p2[0] + (v[3] - v[1]) * p2[1];
        /* T = (3 a² + 2 c a b + b²)/2; an impulse S along x2 gives 3 Δa + c Δb = S p1x, c Δa + Δb = S p2x */
        double determinant = 3 - c * c, da = (p1[0] - c * p2[0]) / determinant,
               db = (3 * p2[0] - c * p1[0]) / determinant;
        double S = -(1 + e) * v[2] / (da * p1[0] + db * p2[0]);
        double a1 = a + S * da, b1 = b + S * db;
        assert_near("restitution", after[2], -e * v[2], 1e-9);
        assert_near("x1'", after[0], a1 * p1[0], 1e-8);
        assert_near("y1'", after[1], a1 * p1[1], 1e-8);
        assert_near("y2'", after[3], a1 * p1[1] + b1 * p2[1], 1e-8);
        assert_near("impulse", h->impulses[0], S, 1e-8);
        /* The work of the impulse is S (v⁻ + v⁺)/2, where v is the velocity of the mass that hits the wall
         * (Papastavridis A89). */
        assert_near("energy", h->after[9] - h->before[9], S * (v[2] + after[2]) / 2, 1e-8);
        for (size_t c1 = 0; c1 < r->summary.residual_count; c1++) {
            assert_true(r->summary.residuals[c1].position < 1e-9);
            assert_true(r->summary.residuals[c1].velocity < 1e-9);
        }
        assert_int_equal(r->summary.residual_count, 2); /* the wall is not a constraint */
        record_free(r);
    }
}

static void the_error_of_event_times_is_estimated(void **state) {
    (void)state;
    /* x = sin t crosses 0.5 at t = π/6, and the run ends at t = 5π/6. */
    const double pi = 3.14159265358979323846;
    hamel_model *model = fixture_model(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
        "`potential_energy`: `x^2/2`, `events`: [{`name`: `up`, `when`: `x - 0.5`, `direction`: `rising`}, "
        "{`name`: `down`, `when`: `x - 0.5`, `direction`: `falling`, `terminate`: true}]",
        "`stop`: 6, `rtol`: 1e-5, `atol`: 1e-7, `certify`: true");
    record *r = calloc(1, sizeof *r);
    hamel_sink sink = record_sink(r);
    assert_non_null(r);
    assert_int_equal(hamel_run(model, NULL, &sink, &r->summary, &r->error), HAMEL_OK);
    double error = fmax(fabs(r->event_records[0].t - pi / 6), fabs(r->event_records[1].t - 5 * pi / 6));
    assert_true(error > 0);
    /* the second trajectory is much more accurate, so the estimate is close to the error */
    assert_true(r->summary.error_estimate[0] > 0.5 * error);
    assert_true(r->summary.error_estimate[0] < 2 * error);
    assert_true(r->summary.outcome == HAMEL_TERMINATED);
    hamel_model_free(model);
    record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounces_come_at_the_times_of_the_closed_form),
        cmocka_unit_test(the_work_balance_includes_energy_lost_in_events),
        cmocka_unit_test(a_ball_in_a_box_bounces_off_every_wall),
        cmocka_unit_test(an_output_row_at_an_event_time_has_the_values_after_it),
        cmocka_unit_test(a_jump_across_zero_is_a_crossing),
        cmocka_unit_test(output_times_do_not_influence_events),
        cmocka_unit_test(an_event_may_end_the_run_with_a_last_row),
        cmocka_unit_test(a_start_on_the_zero_is_not_a_crossing),
        cmocka_unit_test(directions_are_distinguished),
        cmocka_unit_test(a_double_crossing_within_a_step_is_found),
        cmocka_unit_test(many_events_cost_in_proportion),
        cmocka_unit_test(all_new_values_are_computed_from_the_old_ones),
        cmocka_unit_test(values_that_violate_a_constraint_are_rejected),
        cmocka_unit_test(a_string_becomes_taut_and_is_cut),
        cmocka_unit_test(a_taut_string_becomes_slack_and_taut_again),
        cmocka_unit_test(activation_needs_positions_and_velocities),
        cmocka_unit_test(an_impulse_respects_the_active_constraints),
        cmocka_unit_test(a_force_that_jumps_in_time_is_integrated_exactly),
        cmocka_unit_test(a_kink_in_a_spring_is_detected_in_every_notation),
        cmocka_unit_test(the_knots_of_a_linear_table_are_kinks),
        cmocka_unit_test(sticking_of_friction_written_with_sign_ends_the_run),
        cmocka_unit_test(branches_are_updated_after_a_jump),
        cmocka_unit_test(the_error_of_event_times_is_estimated),
        cmocka_unit_test(a_double_pendulum_that_hits_a_wall_keeps_its_rods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
