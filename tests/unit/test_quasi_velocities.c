/* test_quasi_velocities.c — engine/solve/frame.c and quasi_velocities.c: the way from u to q' and back, small changes, what
 * is chosen anew along a motion and what cannot be. */
#include "engine/solve/variables.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Three coordinates, a moving holonomic, a velocity constraint that is not linear, one quasi-velocity: freedom 1. */
static const char curved[] =
    "`coordinates`: [{`name`: `x`, `initial`: 0.4, `velocity`: 0.7}, {`name`: `y`, `initial`: 0.2},"
    "  {`name`: `z`, `initial`: 1, `velocity`: 0.6}], `kinetic_energy`: `x'^2 + y'^2 + z'^2/2`,"
    "`quasi_velocities`: [{`name`: `u`, `definition`: `x'*cos(y) + z*y' + t`}],"
    "`constraints`: [{`name`: `h`, `equation`: `y = x^2/2 + 0.12*(1 + t)`},"
    "  {`name`: `c`, `equation`: `x'^2 + y'^2 = (1 + 0.1*x)*z'^2 + 0.05*t`}]";

typedef struct place {
    hamel_model *model;
    kinetics *k;
    variables *x;
    double q[3], v[3], w[3];
} place;

static void take(place *p, const char *system) {
    double worst;
    p->model = fixture_model(system, "`stop`: 1, `formulation`: `maggi`");
    p->k = kinetics_create(p->model);
    assert_non_null(p->k);
    memcpy(p->q, p->model->q0, sizeof p->q);
    memcpy(p->v, p->model->v0, sizeof p->v);
    assert_int_equal(kinetics_project(p->k, 0, p->q, p->v, &worst, NULL), HAMEL_OK);
    p->x = variables_create(p->k, 0, p->q, p->v, NULL);
    assert_non_null(p->x);
    assert_int_equal(variables_from_velocities(p->x, 0, p->q, p->v, p->w), HAMEL_OK);
}

static void leave(place *p) {
    variables_free(p->x);
    kinetics_free(p->k);
    hamel_model_free(p->model);
}

static void velocities_follow_from_quasi_velocities(void **state) {
    (void)state;
    place p;
    take(&p, curved);
    assert_int_equal(variables_count(p.x), 1);
    assert_near("u", p.w[0], p.v[0] * cos(p.q[1]) + p.q[2] * p.v[1], 1e-14);
    double guess[3] = {p.v[0] + 0.05, p.v[1] - 0.05, p.v[2] + 0.1};
    assert_int_equal(variables_velocities(p.x, 0, p.q, p.w, guess, NULL), HAMEL_OK);
    for (size_t i = 0; i < 3; i++) assert_near("velocity", guess[i], p.v[i], 1e-13);
    leave(&p);
}

/* Against differences of the maps themselves; their error is of the order of the step. */
static void small_changes_are_the_derivatives_of_the_maps(void **state) {
    (void)state;
    place p;
    const double dq[3] = {0.3, -0.7, 0.4}, dw[1] = {0.9}, step = 1e-7;
    double dv[3], back[1], q[3], w[1], v[3];
    take(&p, curved);
    assert_int_equal(variables_velocities(p.x, 0, p.q, p.w, p.v, NULL), HAMEL_OK);
    assert_int_equal(variables_velocity_change(p.x, dq, dw, dv), HAMEL_OK);
    assert_int_equal(variables_change(p.x, dq, dv, back), HAMEL_OK);
    assert_near("there and back", back[0], dw[0], 1e-13);
    for (size_t i = 0; i < 3; i++) q[i] = p.q[i] + step * dq[i];
    w[0] = p.w[0] + step * dw[0];
    memcpy(v, p.v, sizeof v);
    assert_int_equal(variables_velocities(p.x, 0, q, w, v, NULL), HAMEL_OK);
    for (size_t i = 0; i < 3; i++) assert_near("difference", (v[i] - p.v[i]) / step, dv[i], 1e-5);
    leave(&p);
}

/* A rod that turns all round: each coordinate's velocity is of no use twice a turn. */
static const char turning[] = "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 3}],"
                              "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `y`,"
                              "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]";

static void completing_velocities_are_chosen_anew_along_the_motion(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (size_t k = 0; k < 3; k++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 10, `rtol`: 1e-9, `method`: `%s`, `formulation`: `%s`",
                 methods[k], "lagrange");
        motion expected = motion_run(turning, simulation);
        snprintf(simulation, sizeof simulation, "`stop`: 10, `rtol`: 1e-9, `method`: `%s`, `formulation`: `%s`",
                 methods[k], "maggi");
        motion found = motion_run(turning, simulation);
        assert_below(methods[k], motion_difference(&found, &expected), 1e-5);
        assert_below("rod", found.position_residual, 1e-12);
        motion_free(&expected);
        motion_free(&found);
    }
}

static void quasi_velocities_of_the_user_that_fail_are_named(void **state) {
    (void)state;
    fixture f;
    hamel_model *model = NULL;
    hamel_summary summary;
    char members[600];
    snprintf(members, sizeof members, "%s, `quasi_velocities`: [{`name`: `up`, `definition`: `y'`}]", turning);
    fixture_read(&f, members, "`stop`: 10, `formulation`: `maggi`");
    assert_int_equal(hamel_model_create(&model, &f.description, NULL, NULL, &f.error), HAMEL_OK);
    assert_int_equal(hamel_run(model, NULL, NULL, &summary, &f.error), HAMEL_INTEGRATION);
    assert_true(fixture_says(&f, "the quasi-velocities `up` no longer determine the velocities"));
    assert_true(fixture_says(&f, "others are chosen along the motion"));
    hamel_summary_free(&summary);
    hamel_model_free(model);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_follow_from_quasi_velocities),
        cmocka_unit_test(small_changes_are_the_derivatives_of_the_maps),
        cmocka_unit_test(completing_velocities_are_chosen_anew_along_the_motion),
        cmocka_unit_test(quasi_velocities_of_the_user_that_fail_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
