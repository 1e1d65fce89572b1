/* test_roots.c — engine/simulate/roots.c and roots_sides.c: event functions with known roots in the motion x = t. */
#include "engine/simulate/trajectory.h"
#include "tests/unit/fixture.h"
#include "tests/unit/polls.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct world {
    hamel_model *model;
    trajectory l;
    flag_poll poll;
    hamel_error error;
} world;

/* Opens a model with the motion x = t and the events in `list`. */
static void open(world *w, const char *list, double stop) {
    char members[1200], simulation[100];
    integrator_options options = {.tolerance_factor = 1, .poll = &w->poll.poll};
    snprintf(members, sizeof members,
             "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, `events`: [%s]", list);
    snprintf(simulation, sizeof simulation, "`stop`: %g, `rtol`: 1e-9, `atol`: 1e-12", stop);
    *w = (world){.model = fixture_model(members, simulation), .poll = flag_poll_of(false)};
    assert_int_equal(trajectory_create(&w->l, w->model, &w->error), HAMEL_OK);
    assert_int_equal(trajectory_evaluate(&w->l, 0, &w->error), HAMEL_OK);
    assert_int_equal(trajectory_start(&w->l, &options, &w->error), HAMEL_OK);
}

static void drop(world *w) {
    trajectory_free(&w->l);
    hamel_model_free(w->model);
    hamel_error_clear(&w->error);
}

/* Advances to the next root, which must be at `expected` and belong to event i. Then applies this event. */
static void expect(world *w, size_t i, double expected) {
    bool terminated;
    while (!w->l.event_pending && trajectory_reach(&w->l) < w->model->settings.stop)
        assert_int_equal(trajectory_step(&w->l, &w->error), HAMEL_OK);
    if (!w->l.event_pending) fail_msg("no root at %g", expected);
    assert_near("root", w->l.roots->t, expected, 1e-10);
    for (size_t k = 0; k < w->model->events.count; k++)
        if (w->l.roots->of[k].passed != (k == i)) fail_msg("event %zu is wrong at %g", k, expected);
    assert_int_equal(trajectory_apply_events(&w->l, NULL, NULL, &terminated, &w->error), HAMEL_OK);
}

static void expect_none(world *w) {
    while (!w->l.event_pending && trajectory_reach(&w->l) < w->model->settings.stop)
        assert_int_equal(trajectory_step(&w->l, &w->error), HAMEL_OK);
    if (w->l.event_pending) fail_msg("unexpected root at %g", w->l.roots->t);
}

static void roots_are_found_at_their_times_in_order(void **state) {
    (void)state;
    const double pi = acos(-1);
    world w;
    open(&w, "{`name`: `sine`, `when`: `sin(2*x + 1)`}, {`name`: `cube`, `when`: `x^3 - 8`}", 3.5);
    expect(&w, 0, (pi - 1) / 2);
    expect(&w, 1, 2);
    expect(&w, 0, pi - 0.5);
    expect_none(&w);
    drop(&w);
}

static void directions_select_roots(void **state) {
    (void)state;
    const double pi = acos(-1);
    world w;
    open(&w,
         "{`name`: `up`, `when`: `cos(x)`, `direction`: `rising`}, {`name`: `down`, `when`: `cos(x)`,"
         "`direction`: `falling`}",
         6);
    expect(&w, 1, pi / 2);
    expect(&w, 0, 3 * pi / 2);
    expect_none(&w);
    drop(&w);
}

/* The two roots are within the first step, because the integration of x = t is exact. */
static void two_roots_within_a_step_are_found(void **state) {
    (void)state;
    world w;
    open(&w, "{`name`: `dip`, `when`: `(x - 1)^2 - 1e-8`}", 3);
    expect(&w, 0, 1 - 1e-4);
    expect(&w, 0, 1 + 1e-4);
    expect_none(&w);
    drop(&w);
}

static void a_minimum_above_zero_is_not_a_root(void **state) {
    (void)state;
    world w;
    open(&w, "{`name`: `near`, `when`: `(x - 1)^2 + 1e-9`}, {`name`: `constant`, `when`: `1 + 0*x`}", 3);
    expect_none(&w);
    drop(&w);
}

/* If an event function starts at 0 and moves away, it has not crossed zero. */
static void a_root_at_the_start_does_not_count(void **state) {
    (void)state;
    const double pi = acos(-1);
    world w;
    open(&w, "{`name`: `zero`, `when`: `sin(x)`}", 4);
    assert_false(w.l.event_pending);
    assert_int_equal(w.l.roots->of[0].side, 1);
    expect(&w, 0, pi);
    expect_none(&w);
    drop(&w);
}

static void values_that_are_not_finite_are_an_error(void **state) {
    (void)state;
    world w;
    hamel_status status = HAMEL_OK;
    open(&w, "{`name`: `pole`, `when`: `1 + sqrt(1 - x)`}", 3);
    while (status == HAMEL_OK && trajectory_reach(&w.l) < 3) status = trajectory_step(&w.l, &w.error);
    assert_int_equal(status, HAMEL_NOT_FINITE);
    assert_int_equal(w.error.status, HAMEL_NOT_FINITE);
    assert_string_equal(w.error.faults[0].pointer, "/events/0");
    drop(&w);
}

/* The event function needs accelerations, and their computation reports the cancellation. */
static void cancellation_is_propagated(void **state) {
    (void)state;
    world w;
    hamel_status status;
    open(&w, "{`name`: `force`, `when`: `x'' + x - 2`}", 3);
    assert_int_equal(trajectory_step(&w.l, &w.error), HAMEL_OK);
    atomic_store(&w.poll.canceled, true);
    dynamics_limit(w.l.dynamics, &w.poll.poll, 0);
    roots_finding finding;
    roots_again(w.l.roots);
    status = roots_search(w.l.roots, w.l.integrator, &finding, &w.error);
    assert_int_equal(status, HAMEL_CANCELED);
    assert_int_equal(w.error.status, HAMEL_OK);
    drop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_found_at_their_times_in_order),
        cmocka_unit_test(directions_select_roots),
        cmocka_unit_test(two_roots_within_a_step_are_found),
        cmocka_unit_test(a_minimum_above_zero_is_not_a_root),
        cmocka_unit_test(a_root_at_the_start_does_not_count),
        cmocka_unit_test(values_that_are_not_finite_are_an_error),
        cmocka_unit_test(cancellation_is_propagated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
