/* test_differences.c — engine/analyze/differences.c: errors in any part of the derivation are found.
 *
 * After a model has been compiled, each test changes one part of its description by a tenth of a percent. The model
 * then differs from the description as if the derivation contained an error. */
#include "engine/analyze/analysis_int.h"
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const everything =
    "`parameters`: {`m`: 1.5, `k`: 3}, `coordinates`: [{`name`: `x`, `initial`: 0.8, `velocity`: 0.3}, {`name`: `y`,"
    "`initial`: -0.4}, {`name`: `phi`, `initial`: 0.2, `velocity`: 1}, `z`, {`name`: `w`, `initial`: 0.5}, `s`],"
    "`quasi_velocities`: [{`name`: `u`, `definition`: `x'*cos(phi) + y'*sin(phi)`}],"
    "`kinetic_energy`: `(1 + 0.3*sin(t))*m*(x'^2 + y'^2)/2 + (2 + x^2)*phi'^2/2 + z'^2*(1 + w^2)/2 + w'^2 + x'*s' + "
    "s'^2`,"
    "`potential_energy`: `k*x^2/2 + cos(y - phi) + exp(z/3)`, `dissipation`: `0.2*x'^2 + 0.1*phi'^2*z'^2`,"
    "`generalized_forces`: {`x`: `sin(2*t)*y`, `u`: `0.4*phi' - 0.1*lambda(rod)`},"
    "`particles`: [{`name`: `P`, `mass`: 0.7, `position`: [`x + cos(phi)`, `y + sin(phi)`]}], `gravity`: [0, -9.81],"
    "`loads`: [{`on`: `P`, `force`: [`2*t`, `w`]}],"
    "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(phi) = y'*cos(phi) + 0.1*t`},"
    "{`name`: `rod`, `equation`: `z^2 + w^2 = 0.25*(1 + 0.1*t)^2`}, {`name`: `drive`, `equation`: `s'' + 0.3*x'' = "
    "cos(t)*w`}]";

/* P slides with regularized friction on a moving wire. */
static const char *const rubbing =
    "`coordinates`: [{`name`: `x`, `initial`: 0.5, `velocity`: 1}, {`name`: `y`, `initial`: 0.25, `velocity`: 1}],"
    "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}], `gravity`: [0, -9.81],"
    "`constraints`: [{`name`: `wire`, `equation`: `y = x^2 + 0.1*sin(t)`, `friction`: {`coefficient`: 0.3,"
    "`regularization`: 0.05}}]";

typedef struct checked {
    fixture f;
    arena memory;
    analysis a;
    hamel_limits limits;
} checked;

static void open_analysis(checked *c, const char *members) {
    *c = (checked){.limits = hamel_limits_default()};
    arena_init(&c->memory, 0);
    c->a.memory = &c->memory;
    c->a.error = &c->f.error;
    c->a.request = (analysis_request){&c->f.description, &c->limits, NULL, &c->f.error, false};
    fixture_read(&c->f, members, "`stop`: 1, `initialization`: `project`");
    hamel_status status = analysis_open(&c->a);
    if (status != HAMEL_OK) fail_msg("%s", c->f.error.count ? c->f.error.faults[0].message : "no fault");
}

static void close_analysis(checked *c) {
    hamel_model_free(c->a.model);
    arena_free(&c->memory);
    fixture_close(&c->f);
}

static hamel_difference_check compare(checked *c) {
    enum { STATES = 3 };
    sample drawn[STATES] = {{0}};
    const sample *states[STATES];
    hamel_difference_check out;
    sampler *s = sampler_create(&c->a, 1);
    assert_non_null(s);
    for (size_t k = 0; k < STATES; k++) {
        assert_true(sample_allocate(&c->a, &drawn[k]) && sampler_draw(s, &drawn[k]));
        states[k] = &drawn[k];
    }
    sampler_free(s);
    assert_int_equal(differences_compare(&c->a, states, STATES, &out), HAMEL_OK);
    return out;
}

static graph_node lost(graph *g, graph_node node) {
    return graph_mul(g, graph_number(g, 1.001), node);
}

/* Changes part number `part` of the description. Returns the place that the report must name, or NULL if there is no
 * part with this number. */
static const char *change(hamel_system *s, int part) {
    graph *g = s->graph;
    switch (part) {
    case 0: s->kinetic[0] = lost(g, s->kinetic[0]); return "motion";
    case 1: s->potential[0] = lost(g, s->potential[0]); return "motion";
    case 2: s->dissipation = lost(g, s->dissipation); return "motion";
    case 3: s->constraints[0].equation = lost(g, s->constraints[0].equation); return "constraints";
    case 4: s->constraints[1].equation = lost(g, s->constraints[1].equation); return "constraints";
    case 5: s->constraints[2].equation = lost(g, s->constraints[2].equation); return "constraints";
    default: break;
    }
    size_t work = (size_t)part - 6;
    if (work >= s->work_count) return NULL;
    s->works[work].force = lost(g, s->works[work].force);
    return "motion";
}

static void a_derivation_without_error_agrees(void **state) {
    (void)state;
    static const char *const members[] = {everything, rubbing};
    for (int k = 0; k < 2; k++) {
        checked c;
        open_analysis(&c, members[k]);
        hamel_difference_check d = compare(&c);
        assert_true(d.agree);
        assert_int_equal(d.undecided, 0);
        assert_true(d.decided >= 3 * (c.a.n + c.a.m));
        assert_true(d.motion < 1e-8 && d.gradients < 1e-9 &&
                    d.rates < 1e-8); /* second-order differences have at least 8 correct digits */
        close_analysis(&c);
    }
}

static void an_error_in_any_part_is_found(void **state) {
    (void)state;
    int found = 0;
    for (const char *where = "";; found++) {
        checked c;
        open_analysis(&c, everything);
        if (!(where = change(c.a.system, found))) {
            close_analysis(&c);
            break;
        }
        hamel_difference_check d = compare(&c);
        assert_false(d.agree);
        assert_non_null(d.worst);
        assert_true(d.largest > 1e-5 && d.largest < 1e-2);
        if (strcmp(where, "motion") == 0)
            assert_true(d.motion == d.largest && d.gradients < 1e-9 && d.rates < 1e-8);
        else
            assert_true(d.gradients > 1e-5 && d.rates > 1e-5 && d.motion < 1e-8);
        close_analysis(&c);
    }
    assert_true(found >= 10); /* one error for each part listed in change() and for each force */
}

static void an_error_in_friction_is_found(void **state) {
    (void)state;
    checked c;
    open_analysis(&c, rubbing);
    system_friction *f = &c.a.system->frictions[0];
    f->coefficient = lost(c.a.system->graph, f->coefficient);
    hamel_difference_check d = compare(&c);
    assert_false(d.agree);
    assert_true(d.motion > 1e-5);
    close_analysis(&c);
}

/* Replaces the compiled dynamics by the dynamics of a falsified description. All formulations of the falsified
 * description agree. Only the comparison with differences of the original functions can detect the error. */
static void errors_on_which_all_formulations_agree_are_found(void **state) {
    (void)state;
    static const char *const bead =
        "`coordinates`: [{`name`: `x`, `initial`: 0.5, `velocity`: 1}, {`name`: `y`, `initial`: 0.25, `velocity`: 1}],"
        "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}], `gravity`: [0, -9.81],"
        "`generalized_forces`: {`x`: `%s*y`}, `constraints`: [{`name`: `wire`, `equation`: `y = %s*x^2`,"
        "`friction`: {`coefficient`: %s}}]";
    static const struct {
        const char *force, *slope, *friction;
        bool gradients; /* the gradients of the constraint are falsified */
    } falsified[] = {{"2.002", "1", "0.3", false}, {"2", "1.001", "0.3", true}, {"2", "1", "0.3003", false}};
    for (size_t k = 0; k < sizeof falsified / sizeof *falsified; k++) {
        char given[600], false_one[600];
        checked c, other;
        hamel_verification *v = NULL;
        (void)snprintf(given, sizeof given, bead, "2", "1", "0.3");
        (void)snprintf(false_one, sizeof false_one, bead, falsified[k].force, falsified[k].slope,
                       falsified[k].friction);
        open_analysis(&c, given);
        open_analysis(&other, false_one);
        assert_int_equal(hamel_verify(&v, &other.f.description, NULL, NULL, &other.f.error), HAMEL_OK);
        assert_true(v->agree && v->compared_count > 3);
        hamel_verification_free(v);
        model_dynamics own = c.a.model->dynamics;
        assert_true(compare(&c).agree);
        c.a.model->dynamics = other.a.model->dynamics;
        hamel_difference_check d = compare(&c);
        c.a.model->dynamics = own;
        assert_false(d.agree);
        assert_true((falsified[k].gradients ? d.gradients : d.motion) > 1e-5);
        close_analysis(&other);
        close_analysis(&c);
    }
}

/* |x| has no derivative at 0. Near the kink, the check must use differences on one side of the kink. At the kink, the
 * check must remain undecided. */
static void kinks_are_not_reported_as_differences(void **state) {
    (void)state;
    checked c;
    open_analysis(&c, "`coordinates`: [`x`, {`name`: `y`, `initial`: 0.1}], `kinetic_energy`: `x'^2 + y'^2`,"
                      "`potential_energy`: `abs(x) + abs(y - 0.3)*x^2`");
    sample drawn = {0};
    const sample *states[] = {&drawn};
    hamel_difference_check d = compare(&c);
    assert_true(d.agree);
    sampler *s = sampler_create(&c.a, 1);
    assert_true(sample_allocate(&c.a, &drawn) && sampler_draw(s, &drawn));
    sampler_free(s);
    drawn.q[0] = 0;
    assert_int_equal(differences_compare(&c.a, states, 1, &d), HAMEL_OK);
    assert_true(d.agree);
    close_analysis(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_derivation_without_error_agrees),
        cmocka_unit_test(an_error_in_any_part_is_found),
        cmocka_unit_test(an_error_in_friction_is_found),
        cmocka_unit_test(errors_on_which_all_formulations_agree_are_found),
        cmocka_unit_test(kinks_are_not_reported_as_differences),
    };
    return cmocka_run_group_tests_name("differences", tests, NULL, NULL);
}
