/* test_trajectory.c — engine/simulate/trajectory.c: states during and after steps, and the propagation of statuses. */
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

static const char pendulum[] =
    "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}], `kinetic_energy`: `(x'^2 + "
    "y'^2)/2`,"
    "`potential_energy`: `9.81*y`, `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}],"
    "`outputs`: [{`name`: `free`, `expression`: `gauss()`}]";

typedef struct world {
    hamel_model *model;
    trajectory l;
    flag_poll poll;
    hamel_error error;
} world;

/* Opens a model and evaluates its initial state, without starting the integration. */
static void open(world *w, const char *members, const char *simulation) {
    *w = (world){.model = fixture_model(members, simulation), .poll = flag_poll_of(false)};
    assert_int_equal(trajectory_create(&w->l, w->model, &w->error), HAMEL_OK);
    dynamics_limit(w->l.dynamics, &w->poll.poll, 0);
    assert_int_equal(trajectory_evaluate(&w->l, 0, &w->error), HAMEL_OK);
}

static hamel_status start(world *w) {
    integrator_options options = {.tolerance_factor = 1, .poll = &w->poll.poll};
    return trajectory_start(&w->l, &options, &w->error);
}

static void drop(world *w) {
    trajectory_free(&w->l);
    hamel_model_free(w->model);
    hamel_error_clear(&w->error);
}

/* Checks that position and velocity satisfy the constraint and the acceleration satisfies x x'' + y y'' = −v². */
static void assert_on_the_rod(const trajectory *l) {
    const double *q = l->q, *v = l->v, *a = l->a;
    assert_near("position", q[0] * q[0] + q[1] * q[1], 1, 1e-13);
    assert_near("velocity", q[0] * v[0] + q[1] * v[1], 0, 1e-13);
    assert_near("acceleration", q[0] * a[0] + q[1] * a[1], -(v[0] * v[0] + v[1] * v[1]), 1e-11);
}

static void states_within_each_step_are_on_the_constraints(void **state) {
    (void)state;
    static const char *const methods[] = {"erk", "adams", "bdf"};
    for (size_t k = 0; k < 3; k++) {
        world w;
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 2, `rtol`: 1e-8, `method`: `%s`", methods[k]);
        open(&w, pendulum, simulation);
        assert_int_equal(start(&w), HAMEL_OK);
        double energy = trajectory_jacobi(&w.l);
        while (trajectory_reach(&w.l) < 2) {
            assert_int_equal(trajectory_step(&w.l, &w.error), HAMEL_OK);
            double from = w.l.integrator->previous, to = trajectory_reach(&w.l);
            assert_true(from < to && to <= 2);
            for (int part = 1; part <= 4; part++) {
                assert_int_equal(trajectory_evaluate(&w.l, part == 4 ? to : from + part * (to - from) / 4, &w.error),
                                 HAMEL_OK);
                assert_on_the_rod(&w.l);
                assert_near("energy", trajectory_jacobi(&w.l), energy, 1e-6);
            }
        }
        assert_true(trajectory_reach(&w.l) == 2);
        drop(&w);
    }
}

static void evaluations_do_not_change_the_steps(void **state) {
    (void)state;
    world seldom, often;
    open(&seldom, pendulum, "`stop`: 1, `rtol`: 1e-7");
    open(&often, pendulum, "`stop`: 1, `rtol`: 1e-7");
    assert_int_equal(start(&seldom), HAMEL_OK);
    assert_int_equal(start(&often), HAMEL_OK);
    while (trajectory_reach(&seldom.l) < 1) {
        assert_int_equal(trajectory_step(&seldom.l, &seldom.error), HAMEL_OK);
        assert_int_equal(trajectory_step(&often.l, &often.error), HAMEL_OK);
        assert_true(trajectory_reach(&seldom.l) == trajectory_reach(&often.l));
        assert_int_equal(trajectory_evaluate(&often.l, trajectory_reach(&often.l), &often.error), HAMEL_OK);
    }
    assert_int_equal(trajectory_evaluate(&seldom.l, 1, &seldom.error), HAMEL_OK);
    assert_memory_equal(seldom.l.q, often.l.q, 4 * sizeof(double));
    drop(&seldom);
    drop(&often);
}

static void cancellation_is_propagated_without_an_error(void **state) {
    (void)state;
    world w;
    open(&w, pendulum, "`stop`: 2");
    assert_int_equal(start(&w), HAMEL_OK);
    assert_int_equal(trajectory_step(&w.l, &w.error), HAMEL_OK);
    atomic_store(&w.poll.canceled, true);
    assert_int_equal(trajectory_evaluate(&w.l, trajectory_reach(&w.l), &w.error), HAMEL_CANCELED);
    assert_int_equal(trajectory_step(&w.l, &w.error), HAMEL_CANCELED);
    assert_int_equal(w.error.status, HAMEL_OK);
    drop(&w);
}

/* Momenta are evaluated when the integration starts. A cancellation of this evaluation must not be reported as
 * exhausted memory. */
static void cancellation_at_the_start_is_propagated(void **state) {
    (void)state;
    static const char *const formulations[] = {"lagrange", "hamilton", "maggi"};
    for (size_t k = 0; k < 3; k++) {
        world w;
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 2, `formulation`: `%s`", formulations[k]);
        open(&w, pendulum, simulation);
        atomic_store(&w.poll.canceled, true);
        hamel_status status = start(&w);
        if (status == HAMEL_OK) status = trajectory_step(&w.l, &w.error);
        if (status != HAMEL_CANCELED) fail_msg("%s: status %d", formulations[k], (int)status);
        assert_int_equal(w.error.status, HAMEL_OK);
        drop(&w);
    }
}

static bool refuse(void *context, const hamel_event_record *record) {
    (void)record;
    ++*(int *)context;
    return false;
}

static void a_rejected_event_record_cancels_the_run(void **state) {
    (void)state;
    world w;
    int calls = 0;
    bool terminated;
    open(&w,
         "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`,"
         "`events`: [{`name`: `wall`, `when`: `x - 0.5`, `set`: {`x'`: `-x'`}}]",
         "`stop`: 2");
    assert_int_equal(start(&w), HAMEL_OK);
    while (!w.l.event_pending) assert_int_equal(trajectory_step(&w.l, &w.error), HAMEL_OK);
    assert_near("time", trajectory_reach(&w.l), 0.5, 1e-12);
    assert_int_equal(trajectory_apply_events(&w.l, refuse, &calls, &terminated, &w.error), HAMEL_CANCELED);
    assert_int_equal(calls, 1);
    assert_int_equal(w.error.status, HAMEL_OK);
    drop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_within_each_step_are_on_the_constraints),
        cmocka_unit_test(evaluations_do_not_change_the_steps),
        cmocka_unit_test(cancellation_is_propagated_without_an_error),
        cmocka_unit_test(cancellation_at_the_start_is_propagated),
        cmocka_unit_test(a_rejected_event_record_cancels_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
