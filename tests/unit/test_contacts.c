/* test_contacts.c — contacts that are closed at the start, events at contacts, simultaneous impulses. */
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* --- contacts ---------------------------------------------------------------------------------------------------------- */

/* Runs a ball that starts at height y above a floor with x' = 1 and the vertical velocity `velocity`. */
static record *ball(const char *y, const char *velocity, const char *event, const char *more) {
    char text[900];
    snprintf(text, sizeof text,
             "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `initial`: `%s`, `velocity`: `%s`}], "
             "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}], `gravity`: [0, -9.81], "
             "`events`: [{`name`: `b`, %s}]%s",
             y, velocity, event, more);
    return record_run(text, "`stop`: 0.15, `samples`: 2");
}

#define BOUNCE(e) "`when`: `y`, `direction`: `falling`, `impulse`: {`constraint`: `y`, `restitution`: " e "}"
#define LAND "`when`: `y`, `direction`: `falling`, `impulse`: {`constraint`: `floor`}, `activate`: [`floor`]"
#define FLOOR ", `constraints`: [{`name`: `floor`, `equation`: `y = 0`, `active`: false}]"

static void a_ball_on_the_floor_with_a_downward_velocity_bounces(void **state) {
    (void)state;
    static const char *const events[] = {BOUNCE("0.8"), "`when`: `y`, `direction`: `falling`, `set`: {`y'`: `-0.8*y'`}",
                                         "`when`: `y`, `direction`: `falling`, `set`: {`y`: 0, `y'`: `-0.8*y'`}",
                                         "`when`: `-3*y`, `direction`: `rising`, "
                                         "`impulse`: {`constraint`: `y = 0`, `restitution`: 0.8}",
                                         BOUNCE("0.8") "}, {`name`: `again`, " BOUNCE("0.8")};
    static const char *const heights[] = {"0", "1e-17", "-1e-17", "0.1 + 0.2 - 0.3", "0.3 - 0.1 - 0.2", "-1e-12"};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 6; k++) {
            record *r = ball(heights[k], "-1", events[i], "");
            assert_int_equal(r->status, HAMEL_OK);
            assert_int_equal(r->count, 1);
            assert_true(r->event_records[0].t == 0 && r->event_records[0].rows == 0);
            assert_near("first row", r->values[0][4], 0.8, 1e-12);
            assert_near("y", record_end(r)[2], 0.8 * 0.15 - 9.81 * 0.15 * 0.15 / 2, 1e-9);
            record_free(r);
        }
}

static void a_ball_at_rest_on_the_floor_needs_a_constraint(void **state) {
    (void)state;
    static const char *const bounces[] = {BOUNCE("0"), BOUNCE("0.5"), BOUNCE("1"),
                                          "`when`: `y`, `direction`: `falling`, `set`: {`y'`: `-0.5*y'`}"};
    for (size_t i = 0; i < 4; i++) {
        record *r = ball("0", "0", bounces[i], "");
        assert_int_equal(r->status, HAMEL_INTEGRATION);
        assert_true(record_says(r, "leaves its contact closed, at rest and under load"));
        assert_true(record_says(r, "activate"));
        assert_string_equal(r->error.faults[0].pointer, "/events/0");
        record_free(r);
    }
    record *r = ball("0", "-1", BOUNCE("0"), ""); /* the impact does not activate a constraint */
    assert_true(record_says(r, "leaves its contact closed, at rest and under load"));
    record_free(r);
    static const char *const velocities[] = {"0", "-1"};
    for (size_t i = 0; i < 2; i++) {
        r = ball("0", velocities[i], LAND, FLOOR ", `outputs`: {`N`: `lambda(floor)`}");
        assert_int_equal(r->status, HAMEL_OK);
        assert_near("x", record_end(r)[1], 0.15, 1e-12);
        assert_near("y", record_end(r)[2], 0, 1e-15);
        assert_near("weight", record_end(r)[5], 19.62, 1e-12);
        record_free(r);
    }
}

/* On a smooth plane inclined by 0.5 rad, the acceleration is g sin 0.5. */
static void a_ball_at_rest_on_an_inclined_plane_needs_a_constraint(void **state) {
    (void)state;
#define PLANE "x*sin(0.5) + y*cos(0.5)"
    record *r = ball(
        "0", "-tan(0.5)",
        "`when`: `" PLANE "`, `direction`: `falling`, `impulse`: {`constraint`: `" PLANE "`, `restitution`: 0.5}", "");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "under load"));
    record_free(r);
    r = ball("0", "-tan(0.5)",
             "`when`: `" PLANE "`, `direction`: `falling`, `impulse`: {`constraint`: `plane`}, `activate`: [`plane`]",
             ", `constraints`: [{`name`: `plane`, `equation`: `" PLANE "`, `active`: false}]");
    assert_int_equal(r->status, HAMEL_OK);
    double way = 0.15 / cos(0.5) + 9.81 * sin(0.5) * 0.15 * 0.15 / 2;
    assert_near("x", record_end(r)[1], way * cos(0.5), 1e-9);
    record_free(r);
}

static void without_a_direction_a_contact_at_zero_may_only_open(void **state) {
    (void)state;
    record *r = ball("0", "1", "`when`: `y`, `set`: {`y'`: `-y'`}", "");
    assert_int_equal(r->status, HAMEL_OK);
    assert_int_equal(r->count, 0);
    assert_true(record_warns(r, "is 0 at the start and the event has no direction"));
    record_free(r);
    r = ball("0", "-1", "`when`: `y`, `set`: {`y'`: `-y'`}", "");
    assert_int_equal(r->status, HAMEL_INVALID);
    assert_true(record_says(r, "give the event a direction"));
    record_free(r);
    /* the error is also reported at a later time, after another event */
    r = record_run("`coordinates`: [{`name`: `x0`, `velocity`: 1}, {`name`: `x1`, `initial`: 1.5}, "
                   "{`name`: `x2`, `initial`: 2.5}], `kinetic_energy`: `(x0'^2 + x1'^2 + x2'^2)/2`, "
                   "`events`: [{`name`: `h1`, `when`: `x1 - x0 - 1`, `direction`: `both`, "
                   "`impulse`: {`constraint`: `x1 - x0 = 1`, `restitution`: 1}}, "
                   "{`name`: `h2`, `when`: `x2 - x1 - 1`, `direction`: `both`, "
                   "`impulse`: {`constraint`: `x2 - x1 = 1`, `restitution`: 1}}]",
                   "`stop`: 3, `samples`: 4");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "`h2` leaves 0"));
    record_free(r);
}

/* The ball starts at y = 0, beyond the zero of its event function y − 0.1, which contains a wrong radius. */
static void a_penetrating_contact_is_reported(void **state) {
    (void)state;
    record *r = ball(
        "0", "0", "`when`: `y - 0.1`, `direction`: `falling`, `impulse`: {`constraint`: `y`, `restitution`: 0.5}", "");
    assert_int_equal(r->status, HAMEL_OK);
    assert_true(record_warns(r, "`b` has already crossed the zero at which its contact closes"));
    record_free(r);
    r = ball("0.2", "0",
             "`when`: `y - 0.1`, `direction`: `falling`, `impulse`: {`constraint`: `y`, `restitution`: 0.5}", "");
    assert_int_equal(r->summary.warning_count, 0);
    record_free(r);
    r = ball("0", "0", "`when`: `y - 0.1`, `direction`: `falling`, `set`: {`y'`: `y'/2`}", ""); /* a membrane */
    assert_int_equal(r->summary.warning_count, 0);
    record_free(r);
}

static void two_walls_act_at_the_same_time(void **state) {
    (void)state;
    for (int flight = 0; flight < 2; flight++)
        for (int swap = 0; swap < 2; swap++) {
            char text[800];
            static const char *const walls[] = {"{`name`: `left`, `when`: `x`, `direction`: `falling`, "
                                                "`impulse`: {`constraint`: `x`, `restitution`: 0.5}}",
                                                "{`name`: `low`, `when`: `y`, `direction`: `falling`, "
                                                "`impulse`: {`constraint`: `y`, `restitution`: 0.8}}"};
            snprintf(text, sizeof text,
                     "`coordinates`: [{`name`: `x`, `initial`: %d, `velocity`: -1}, "
                     "{`name`: `y`, `initial`: %d, `velocity`: -2}], `kinetic_energy`: `(x'^2 + y'^2)/2`, "
                     "`events`: [%s, %s]",
                     flight, 2 * flight, walls[swap], walls[!swap]);
            record *r = record_run_well(text, "`stop`: 2, `samples`: 3");
            assert_int_equal(r->count, 2);
            assert_near("x'", record_end(r)[3], 0.5, 1e-12);
            assert_near("y'", record_end(r)[4], 1.6, 1e-12);
            record_free(r);
        }
}

/* --- forces and other events ------------------------------------------------------------------------------------------- */

static void a_force_that_starts_to_press_is_detected(void **state) {
    (void)state;
    record *r =
        record_run("`coordinates`: [`y`], `kinetic_energy`: `y'^2/2`, "
                   "`generalized_forces`: {`y`: `if(t < 1, 0, -1)`}, `events`: [{`name`: `b`, " BOUNCE("1") "}]",
                   "`stop`: 2");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "at t = 1 the event `b` leaves its contact closed"));
    record_free(r);
    r = record_run_well("`coordinates`: [`y`], `kinetic_energy`: `y'^2/2`, "
                        "`generalized_forces`: {`y`: `if(t < 1, 0, -1)`}, `events`: [{`name`: `b`, " LAND "}]" FLOOR,
                        "`stop`: 2");
    assert_int_equal(r->count, 1);
    assert_near("y", record_end(r)[1], 0, 1e-15);
    record_free(r);
    r = record_run_well("`coordinates`: [`y`], `kinetic_energy`: `y'^2/2`, "
                        "`generalized_forces`: {`y`: `if(t < 1, 0, 1)`}, `events`: [{`name`: `b`, " BOUNCE("1") "}]",
                        "`stop`: 2");
    assert_near("lifted", record_end(r)[1], 0.5, 1e-9);
    assert_int_equal(r->count, 0);
    record_free(r);
}

/* The event `b` closes the contact. It must not close the contact again when the event `open` opens it. */
static void a_trapdoor_opens(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [`y`], `kinetic_energy`: `y'^2/2`, `generalized_forces`: {`y`: -1}, "
                                "`events`: [{`name`: `b`, " LAND "}, "
                                "{`name`: `open`, `when`: `t - 1`, `deactivate`: [`floor`]}]" FLOOR,
                                "`stop`: 2, `samples`: 2");
    assert_int_equal(r->count, 2);
    assert_near("y", record_end(r)[1], -0.5, 1e-9);
    record_free(r);
}

static void events_that_do_not_stop_their_function_happen_once(void **state) {
    (void)state;
    static const char coordinates[] = "`coordinates`: [{`name`: `y`, `velocity`: -1}], `kinetic_energy`: `y'^2/2`, ";
    char text[500];
    snprintf(text, sizeof text,
             "%s`events`: [{`name`: `membrane`, `when`: `y`, `direction`: `falling`, `set`: {`y'`: `y'/2`}}]",
             coordinates);
    record *r = record_run_well(text, "`stop`: 2, `samples`: 2");
    assert_int_equal(r->count, 1);
    assert_near("y", record_end(r)[1], -1, 1e-9);
    record_free(r);
    snprintf(text, sizeof text, "%s`events`: [{`name`: `kick`, `when`: `t`, `set`: {`y'`: 3}}]", coordinates);
    r = record_run_well(text, "`stop`: 2, `samples`: 2");
    assert_int_equal(r->count, 1);
    assert_near("y", record_end(r)[1], 6, 1e-9);
    record_free(r);
    /* two events at each bounce: `b` reverses y', and `note` increases x' */
    r = ball("0", "-0.3",
             BOUNCE("1") "}, {`name`: `note`, `when`: `y`, `direction`: `falling`, `set`: {`x'`: `x' + 1`}", "");
    assert_int_equal(r->status, HAMEL_OK);
    assert_int_equal(r->count, 6);
    assert_near("x'", record_end(r)[3], 4, 1e-12);
    record_free(r);
}

static void an_event_that_only_ends_the_run_needs_a_crossing(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, "
                                "`potential_energy`: `x^2/2`, "
                                "`events`: [{`name`: `turn`, `when`: `x`, `direction`: `rising`, `terminate`: true}]",
                                "`stop`: 20, `rtol`: 1e-9");
    assert_near("period", r->summary.t, 2 * 3.14159265358979, 1e-7);
    assert_true(record_warns(r, "`turn` is 0 at the start: that is not a crossing"));
    record_free(r);
}

/* --- simultaneous impulses ---------------------------------------------------------------------------------------- */

/* The first of three balls of mass 1 hits the second, which touches the third. Both impulses have the restitution e and
 * act simultaneously: v1 + v2 + v3 = 1, v2 - v1 = e, v3 - v2 = 0. */
static void impulses_of_a_list_act_simultaneously(void **state) {
    (void)state;
    static const char *const formulations[] = {"lagrange", "udwadia-kalaba", "gauss", "maggi", "kane", "hamilton"};
    for (size_t k = 0; k < 6; k++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 1, `samples`: 2, `formulation`: `%s`", formulations[k]);
        record *r = record_run_well(
            "`coordinates`: [{`name`: `x`, `initial`: -1, `velocity`: 1}, {`name`: `y`, `initial`: 0.5}, "
            "{`name`: `z`, `initial`: 1.5}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, "
            "`constraints`: [{`name`: `second`, `equation`: `z - y = 1`, `active`: false}], "
            "`events`: [{`name`: `hit`, `when`: `y - x - 1`, `direction`: `falling`, "
            "`impulse`: [{`constraint`: `y - x = 1`, `restitution`: 0.7}, {`constraint`: `second`, `restitution`: "
            "0.7}]}]",
            simulation);
        assert_int_equal(r->count, 1);
        assert_near("x'", record_end(r)[4], (1 - 2 * 0.7) / 3, 1e-12);
        assert_near("y'", record_end(r)[5], (1 + 0.7) / 3, 1e-12);
        assert_near("z'", record_end(r)[6], (1 + 0.7) / 3, 1e-12);
        assert_near("first impulse", r->event_records[0].impulses[0], 2 * (1 + 0.7) / 3, 1e-12);
        assert_near("second impulse", r->event_records[0].impulses[1], (1 + 0.7) / 3, 1e-12);
        record_free(r);
    }
}

/* A block with half sides 1 and 0.5 lands flat on two corners. With simultaneous impulses, the block rebounds with the
 * restitution e and does not rotate. With successive impulses, it rotates. */
static void a_block_lands_on_two_corners(void **state) {
    (void)state;
#define LEFT "`constraint`: `y - sin(p) - 0.5*cos(p)`, `restitution`: `e`"
#define RIGHT "`constraint`: `y + sin(p) - 0.5*cos(p)`, `restitution`: `e`"
#define BLOCK                                                                                        \
    "`parameters`: {`e`: 0.6}, `coordinates`: [{`name`: `y`, `initial`: %s, `velocity`: -1}, `p`], " \
    "`kinetic_energy`: `y'^2 + (1 + 0.25)*p'^2/3`, "                                                 \
    "`events`: [{`name`: `land`, `when`: `y - sin(p) - 0.5*cos(p)`, `direction`: `falling`, "        \
    "`impulse`: [{" LEFT "}, {" RIGHT "}]}]"
    static const char *const heights[] = {"0.5", "1.25"};
    for (size_t k = 0; k < 2; k++) {
        char text[900];
        snprintf(text, sizeof text, BLOCK, heights[k]);
        record *r = record_run_well(text, "`stop`: 2, `samples`: 2, `sensitivities`: [`e`]");
        const double *end = record_end(r);
        assert_int_equal(r->count, 1);
        assert_near("y'", end[3], 0.6, 1e-12);
        assert_near("p'", end[4], 0, 1e-12);
        assert_near("d(y')/d(e)", end[7], 1, 1e-9);
        assert_near("d(p')/d(e)", end[8], 0, 1e-9);
        assert_near("half of the momentum change", r->event_records[0].impulses[1], 1.6, 1e-12);
        record_free(r);
    }
}

/* A double pendulum of two bars strikes a rough floor. If the tangential velocity is zero after the impact, Newton's
 * restitution e for the normal velocity adds energy for e = 0.5 and 0.7 (Kane & Levinson, Dynamics (1985), 5.8). */
static void impulses_that_add_energy_are_rejected(void **state) {
    (void)state;
    static const double restitutions[] = {0, 0.5, 0.7, 1};
    for (size_t k = 0; k < 4; k++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "`parameters`: {`a`: `pi/9`, `b`: `pi/6`, `h`: `cos(a) + cos(b)`}, "
            "`coordinates`: [{`name`: `p`, `initial`: `a`, `velocity`: -0.1}, "
            "{`name`: `q`, `initial`: `b`, `velocity`: -0.2}], "
            "`kinetic_energy`: `p'^2/6 + (p'^2 + q'^2/3 + p'*q'*cos(p - q))/2`, "
            "`events`: [{`name`: `hit`, `when`: `h - cos(p) - cos(q)`, `direction`: `falling`, "
            "`impulse`: [{`constraint`: `cos(p) + cos(q)`, `restitution`: %g}, {`constraint`: `sin(p) + sin(q)`}]}]",
            restitutions[k]);
        record *r = record_run(text, "`stop`: 0.01");
        assert_int_equal(r->status, k == 0 ? HAMEL_OK : HAMEL_INTEGRATION);
        assert_int_equal(record_says(r, "add the energy"), k > 0);
        record_free(r);
    }
}

/* A moving wall may add energy. A restitution above 1 always adds energy. If the restitution is constant, the warning
 * appears when the description is read, otherwise at the impact. */
static void moving_walls_and_large_restitutions_add_energy(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2/2`, "
                                "`events`: [{`name`: `bat`, `when`: `x - t`, `direction`: `falling`, "
                                "`impulse`: {`constraint`: `x = t`, `restitution`: 1}}]",
                                "`stop`: 2, `samples`: 2");
    assert_near("x'", record_end(r)[2], 2, 1e-12);
    assert_int_equal(r->summary.warning_count, 0);
    record_free(r);
    r = ball("1e-3", "-1", BOUNCE("`1 + x'^2/2`"), "");
    assert_int_equal(r->status, HAMEL_OK);
    assert_true(record_warns(r, "the event `b` adds energy"));
    record_free(r);
}

/* --- sensitivities ----------------------------------------------------------------------------------------------------- */

static void impacts_at_the_start_have_derivatives(void **state) {
    (void)state;
    static const char text[] =
        "`parameters`: {`e`: 0.8, `u`: 1, `h`: 0, `d`: 1}, "
        "`coordinates`: [{`name`: `x`, `initial`: `h`, `velocity`: `u`}, {`name`: `y`, `initial`: 1}, "
        "{`name`: `z`, `initial`: `1 + d`}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, "
        "`events`: [{`name`: `h1`, `when`: `y - x - 1`, `direction`: `falling`, "
        "`impulse`: {`constraint`: `y - x`, `restitution`: `e`}}, {`name`: `h2`, `when`: `z - y - 1`, "
        "`direction`: `falling`, `impulse`: {`constraint`: `z - y`, `restitution`: 1}}]";
    record *r = record_run_well(text, "`stop`: 2, `samples`: 2, `sensitivities`: [`e`, `u`], `record`: "
                                      "[`t`, `z`, `d(z)/d(e)`, `d(z)/d(u)`, `d(x)/d(e)`]");
    const double *end = record_end(r); /* z' = (1 + e)/2 u; x' = (1 - e)^2/4 u after the second impact */
    assert_near("z", end[1], 2 + 1.8, 1e-9);
    assert_near("d(x)/d(e)", end[2], -0.2, 1e-9);
    assert_near("d(z)/d(e)", end[3], 1, 1e-9);
    assert_near("d(z)/d(u)", end[4], 1.8, 1e-9);
    record_free(r);
    r = record_run(text, "`stop`: 2, `sensitivities`: [`h`]");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(
        record_says(r, "happens at the start because its function is 0 there, and an input changes that value"));
    record_free(r);
    r = record_run(text, "`stop`: 2, `sensitivities`: [`d`]");
    assert_int_equal(r->status, HAMEL_INTEGRATION);
    assert_true(record_says(r, "their order matters"));
    record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_on_the_floor_with_a_downward_velocity_bounces),
        cmocka_unit_test(a_ball_at_rest_on_the_floor_needs_a_constraint),
        cmocka_unit_test(a_ball_at_rest_on_an_inclined_plane_needs_a_constraint),
        cmocka_unit_test(without_a_direction_a_contact_at_zero_may_only_open),
        cmocka_unit_test(a_penetrating_contact_is_reported),
        cmocka_unit_test(two_walls_act_at_the_same_time),
        cmocka_unit_test(a_force_that_starts_to_press_is_detected),
        cmocka_unit_test(a_trapdoor_opens),
        cmocka_unit_test(events_that_do_not_stop_their_function_happen_once),
        cmocka_unit_test(an_event_that_only_ends_the_run_needs_a_crossing),
        cmocka_unit_test(impulses_of_a_list_act_simultaneously),
        cmocka_unit_test(a_block_lands_on_two_corners),
        cmocka_unit_test(impulses_that_add_energy_are_rejected),
        cmocka_unit_test(moving_walls_and_large_restitutions_add_energy),
        cmocka_unit_test(impacts_at_the_start_have_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
