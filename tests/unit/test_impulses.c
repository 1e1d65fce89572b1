/* test_impulses.c — engine/simulate, engine/analyze: the types of constraints at impulses, energy losses, and
 * simultaneous contacts. */
#include "engine/analyze/impulses.h"
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- types of constraints
 * ------------------------------------------------------------------------------------------ */

/* Papastavridis, Analytical Mechanics, ch. 4, Table 1: 1 means that a constraint acts before, during or after the
 * impulse. (before, during, after) is (1, 1, 1), (0, 1, 1), (1, 1, 0) and (0, 1, 0) for the types 1 to 4. */
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
    assert_int_equal(record_constraint(h, "one")->type, 1);
    assert_int_equal(record_constraint(h, "two")->type, 2);
    assert_int_equal(record_constraint(h, "three")->type, 3);
    assert_int_equal(record_constraint(h, "d = 1")->type, 4);
    assert_int_equal(h->impact.velocity_count, 4);
    assert_int_equal(h->impact.equation_count, 4 + 2);
    assert_near("rate before", record_constraint(h, "d = 1")->before, 1, RECORD_EXACT);
    assert_near("rate after", record_constraint(h, "d = 1")->after, -0.5, RECORD_EXACT);
    /* the constraints `one` and `three` transmit the impulse of `two` to a and b */
    for (int k = 5; k < 8; k++) assert_near("stopped", h->after[k], 0, RECORD_EXACT);
    assert_near("impulse", record_constraint(h, "two")->impulse, -3, RECORD_EXACT);
    assert_true(record_theorem(h, "carnot_first") == NULL &&
                record_theorem(h, "carnot_third") == NULL); /* restitutions differ */
    record_free(r);
}

/* Two particles that are connected by a tie of length 2 move on a smooth table. At t = 0, the first particle is
 * stopped. Either the tie breaks at the same time (its type is 3), or it persists (type 1). During the impulse, the
 * tie lies along x and ensures x2'⁺ = x1'⁺ in both cases. */
static void a_tie_is_of_type_3_if_it_breaks_and_of_type_1_if_it_persists(void **state) {
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
        assert_near("x2'", h->after[7], 0, RECORD_EXACT);
        assert_near("y2'", h->after[8], 4, RECORD_EXACT);
        assert_int_equal(record_constraint(h, "tie")->type, breaks ? 3 : 1);
        assert_int_equal(record_constraint(h, "sx")->type, 2);
        assert_int_equal(h->impact.velocity_count + h->impact.constraint_count - h->impact.equation_count, breaks);
        assert_theorem(h, breaks ? "carnot_third" : "carnot_first", 9); /* 2 · 3²/2 */
        record_free(r);
    }
}

/* --- losses ------------------------------------------------------------------------------------------------------- */

/* A uniform bar of mass m and half-length b moves at u perpendicular to its length until a thread stops its left
 * end. The angular momentum about this end is conserved: m u b = (4/3) m b² w. Therefore w = 3u/(4b), and the speed
 * of the centre becomes 3u/4. The loss m u²/2 − (2/3) m b² w² = m u²/8 is the kinetic energy of the lost velocities
 * (Papastavridis, Analytical Mechanics, Intro. 4). */
static void a_bar_whose_end_is_stopped_loses_a_quarter_of_its_energy(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [`x`, {`name`: `y`, `velocity`: -4}, `ph`], "
        "`bodies`: [{`name`: `bar`, `mass`: 3, `position`: [`x`, `y`], `orientation`: {`angle`: `ph`}, "
        "`inertia`: `3*0.5^2/3`}], "
        "`constraints`: [{`name`: `left`, `equation`: `y - 0.5*sin(ph) = -4`, `active`: false}], "
        "`events`: [{`name`: `taut`, `when`: `t - 1`, `impulse`: {`constraint`: `left`}, `activate`: [`left`]}]",
        "`stop`: 1.1, `samples`: 3");
    const event_record *h = &r->event_records[0];
    assert_near("centre", h->after[5], -3, RECORD_EXACT);
    assert_near("rotation", h->after[6], -3 * 4 / (4 * 0.5), RECORD_EXACT);
    assert_impact_energy(h, 24, 24 - 6);
    assert_theorem(h, "carnot_first", 3 * 16. / 8);
    assert_theorem(h, "robin", 3 * 16. / 8);
    assert_near("impulse", record_constraint(h, "left")->impulse, 3 * 4 / 4., RECORD_EXACT);
    record_free(r);
}

/* With the restitution e, the end rebounds at e u, and the impulse is (1 + e) m u/4. The loss is (1 − e)/(1 + e)
 * times the kinetic energy of the lost velocities, which is (1 − e²) m u²/8. */
static void restitution_reduces_the_loss_of_kinetic_energy(void **state) {
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
        assert_near("impulse", h->impulses[0], (1 + e) * 3, RECORD_EXACT);
        assert_theorem(h, "carnot_third", (1 - e * e) * 6);
        assert_impact_energy(h, 24, 24 - (1 - e * e) * 6);
        assert_int_equal(h->constraints[0].type, 4);
        record_free(r);
    }
}

/* --- several contacts at one instant ---------------------------------------------------------------------------------- */

enum { BLOCK = 900 };
/* A block of mass 2, half-width 0.5 and moment of inertia I lands on two corners. It falls at the speed 4 and
 * rotates at the rate w. Writes one event for both corners if `simultaneous` is true, otherwise one event for each
 * corner. e contains the restitutions of the left and the right corner. */
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

/* Both corners satisfy v⁺ = −e v⁻, so y'⁺ = −e y'⁻ and th'⁺ = −e th'⁻. The impulses follow from the changes of the
 * momenta: the sum is m (1 + e) 4, and the right impulse minus the left one is −I (1 + e) w/0.5. */
static void simultaneous_impulses_at_two_corners_reverse_both_velocities_of_a_block(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double e[] = {0.5 * k, 0.5 * k}, w = 2, I = 0.3;
        char members[BLOCK];
        write_block(members, I, w, e, true);
        record *r = record_run_well(members, "`stop`: 0.1, `samples`: 2");
        const event_record *h = &r->event_records[0];
        assert_int_equal(r->count, 1);
        assert_near("y'", h->after[3], e[0] * 4, RECORD_EXACT);
        assert_near("th'", h->after[4], -e[0] * w, RECORD_EXACT);
        double sum = 2 * (1 + e[0]) * 4, difference = -I * (1 + e[0]) * w / 0.5; /* right minus left */
        assert_near("left", h->impulses[0], (sum - difference) / 2, RECORD_EXACT);
        assert_near("right", h->impulses[1], (sum + difference) / 2, RECORD_EXACT);
        double energy = (2 * 16 + I * w * w) / 2;
        assert_impact_energy(h, energy, e[0] * e[0] * energy);
        assert_theorem(h, "carnot_third", (1 - e[0] * e[0]) * energy);
        record_free(r);
    }
}

/* The test computes the impacts one after the other, as a run does with one event for each corner. If I = m b²/3, an
 * impact at one corner moves the other corner down, so many impacts follow. */
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
    /* the run cannot resolve the last impacts, whose changes are below its tolerances */
    assert_near("y'", record_end(r)[3], y, 1e-9);
    assert_near("th'", record_end(r)[4], w, 1e-9);
    assert_true(fabs(y - 2) > 0.1); /* simultaneous impulses would give the speed e·4 = 2 */
    record_free(r);
}

/* Two balls of the masses 3 and 1 touch each other and move towards a wall at the speed 3. The restitution at the
 * wall is e = 0.8. The distance rate of the balls is 0 before a simultaneous impulse and remains 0, so both leave at
 * 3e. If the impacts follow each other, the lighter ball gets the larger speed. */
static void two_touching_balls_separate_only_after_successive_impacts(void **state) {
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
    assert_near("x1'", record_end(r)[3], 2.4, RECORD_EXACT);
    assert_near("x2'", record_end(r)[4], 2.4, RECORD_EXACT);
    assert_near("wall", r->event_records[0].impulses[0], 4 * 1.8 * 3, RECORD_EXACT);
    assert_near("balls", r->event_records[0].impulses[1], 1.8 * 3, RECORD_EXACT);
    assert_theorem(&r->event_records[0], "carnot_third", (1 - 0.64) * 18);
    record_free(r);
    snprintf(events, sizeof events,
             "{`name`: `hit`, `when`: `x1`, `direction`: `falling`, `impulse`: %s}, "
             "{`name`: `touch`, `when`: `x2 - x1 - 1`, `direction`: `falling`, `impulse`: %s}",
             wall, balls);
    snprintf(members, sizeof members, format, events);
    r = record_run_well(members, "`stop`: 1, `samples`: 2");
    /* the balls collide elastically at the velocities 2.4 and −3, and the centre of mass has the velocity 1.05; the
     * first ball then moves at −0.3 and hits the wall again */
    assert_near("x1'", record_end(r)[3], -0.8 * (2 * 1.05 - 2.4), RECORD_EXACT);
    assert_near("x2'", record_end(r)[4], 2 * 1.05 + 3, RECORD_EXACT);
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

/* A body of mass m lands at the speed u on three legs in a row. One of the three contact constraints is redundant.
 * The impulses have the sum m (1 + e) u, and those of least norm are equal. */
static void redundant_contacts_have_impulses_of_least_norm(void **state) {
    (void)state;
    record *r = record_run_well(legs(0.5), "`stop`: 0.1, `samples`: 2");
    const event_record *h = &r->event_records[0];
    assert_near("y'", h->after[3], 2, RECORD_EXACT);
    assert_near("th'", h->after[4], 0, RECORD_EXACT);
    assert_int_equal(h->impact.redundant, 1);
    for (size_t k = 0; k < 3; k++) {
        assert_near("impulse", h->impulses[k], 3 * 1.5 * 4 / 3, RECORD_EXACT);
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

/* A wall moves at 2 and hits a ball at rest, which gets the velocity 2 (1 + e). The wall does work, so Carnot's
 * theorems do not apply. */
static void theorems_of_carnot_do_not_apply_to_a_moving_constraint(void **state) {
    (void)state;
    record *r = record_run_well("`coordinates`: [{`name`: `x`, `initial`: 2}], `kinetic_energy`: `x'^2/2`, "
                                "`events`: [{`name`: `hit`, `when`: `x - 2*t`, `direction`: `falling`, "
                                "`impulse`: {`constraint`: `x = 2*t`, `restitution`: 0.5}}]",
                                "`stop`: 2, `samples`: 2");
    const event_record *h = &r->event_records[0];
    assert_near("x'", h->after[2], 3, RECORD_EXACT);
    assert_impact_energy(h, 0, 4.5);
    assert_int_equal(h->impact.theorem_count, 0);
    record_free(r);
}

/* --- analysis without a run --------------------------------------------------------------------------------------- */

/* At the event `shock`, the constraints have all four types of Table 1. The constraint `late` acts at `shock` only
 * if the event `joins` occurs earlier, so its type is not certain. */
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
    assert_int_equal(s->constraint_count, 4); /* all four constraints may be active, depending on earlier events */
    assert_int_equal(s->theorems.count, 4);
    hamel_shocks_free(found);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_have_the_types_of_table_1),
        cmocka_unit_test(a_tie_is_of_type_3_if_it_breaks_and_of_type_1_if_it_persists),
        cmocka_unit_test(a_bar_whose_end_is_stopped_loses_a_quarter_of_its_energy),
        cmocka_unit_test(restitution_reduces_the_loss_of_kinetic_energy),
        cmocka_unit_test(simultaneous_impulses_at_two_corners_reverse_both_velocities_of_a_block),
        cmocka_unit_test(successive_impacts_differ_from_simultaneous_impulses),
        cmocka_unit_test(two_touching_balls_separate_only_after_successive_impacts),
        cmocka_unit_test(redundant_contacts_have_impulses_of_least_norm),
        cmocka_unit_test(restitutions_of_redundant_contacts_must_agree),
        cmocka_unit_test(theorems_of_carnot_do_not_apply_to_a_moving_constraint),
        cmocka_unit_test(an_analysis_lists_the_types_without_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
