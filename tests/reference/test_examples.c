/* test_examples.c — every example passes its own checks and invariants, and all its formulations agree.
 *
 * Each example is run with its own method and with BDF, which uses another integration formula and another projection
 * onto the constraints. Examples that support the formulations voronets and chaplygin are also run in them,
 * because these formulations choose new dependent velocities during a run. The examples embedded in the programs are run through the two
 * functions that the daemon and the command line call. Each test has the name of its example. If a check fails, the test
 * prints the check and its error. */
#include "api/analyze.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct outcome {
    size_t checks, rows;
    bool passed;
    char report[2000]; /* the failed checks */
} outcome;

static void note(outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(outcome *o, const char *format, ...) {
    size_t used = strlen(o->report);
    va_list list;
    va_start(list, format);
    vsnprintf(o->report + used, sizeof o->report - used, format, list);
    va_end(list);
}

static bool on_row(void *context, const double *values, size_t count) {
    (void)values;
    (void)count;
    ((outcome *)context)->rows++;
    return true;
}

static bool on_summary(void *context, const char *json, const hamel_summary *s) {
    (void)json;
    outcome *o = context;
    o->passed = s->passed;
    o->checks = s->check_count + s->invariant_count;
    if (s->outcome != HAMEL_COMPLETED) note(o, "%s at t = %g; ", hamel_outcome_name(s->outcome), s->t);
    for (size_t i = 0; i < s->check_count; i++) {
        if (!s->checks[i].passed) note(o, "check \"%s\": %.12g; ", s->checks[i].name, s->checks[i].value);
    }
    for (size_t i = 0; i < s->invariant_count; i++) {
        const hamel_invariant_result *r = &s->invariants[i];
        if (!r->passed) note(o, "invariant \"%s\": drift %.2e; ", r->name, r->max_drift);
    }
    return true;
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    (void)failure;
    (void)summary_json;
    note(context, "%s", json);
    return true;
}

static void check(const api_example *example, const char *const *assignments, size_t count) {
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    outcome o = {0};
    hamel_model *model =
        api_prepare(example->json, example->length, assignments, count, &limits, NULL, example->name, &failure);
    if (model == NULL && failure.text != NULL && strstr(failure.text, "does not support this system") != NULL) {
        api_failure_clear(&failure);
        return;
    }
    if (model == NULL) {
        note(&o, "%s", failure.text != NULL ? failure.text : "no model");
    } else {
        api_observer observer = {.context = &o, .row = on_row, .summary = on_summary, .problem = on_problem};
        if (api_run(model, NULL, &observer, example->name) != HAMEL_OK) note(&o, "; the run failed");
        hamel_model_free(model);
    }
    api_failure_clear(&failure);
    if (!o.passed) fail_msg("%s", o.report);
    assert_true(o.checks > 0);
    assert_true(o.rows > 1);
}

static void passes_its_own_checks(void **state) {
    check(api_example_at(*(const size_t *)*state), NULL, 0);
}

static void passes_its_own_checks_by_bdf(void **state) {
    static const char *const method = "simulation.method=bdf";
    check(api_example_at(*(const size_t *)*state), &method, 1);
}

static void passes_its_own_checks_if_voronets_equations_apply(void **state) {
    static const char *const formulation = "simulation.formulation=voronets";
    check(api_example_at(*(const size_t *)*state), &formulation, 1);
}

static void passes_its_own_checks_if_chaplygins_equations_apply(void **state) {
    static const char *const formulation = "simulation.formulation=chaplygin";
    check(api_example_at(*(const size_t *)*state), &formulation, 1);
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool is_compared(const cJSON *verification, const char *formulation) {
    const cJSON *name, *names = cJSON_GetObjectItemCaseSensitive(verification, "formulations");
    cJSON_ArrayForEach(name, names) if (strcmp(name->valuestring, formulation) == 0) return true;
    return false;
}

/* The analysis must compare Hadamard's equations for every example. It must compare Voronets' equations exactly if it
 * compares those of Boltzmann and Hamel. */
static void every_formulation_agrees(void **state) {
    const api_example *example = api_example_at(*(const size_t *)*state);
    api_limits limits = api_limits_default();
    const api_analysis_options asked = api_analysis_default(API_VERIFICATION);
    api_failure failure = {0};
    outcome o = {0};
    cJSON *answer =
        api_analyze(example->json, example->length, NULL, 0, &asked, &limits, NULL, example->name, &failure);
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(answer, "verification");
    char *text = cJSON_PrintUnformatted(v);
    bool good = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(v, "agree")) && number_of(v, "states") == 100 &&
                number_of(v, "max_relative_difference") <= 1e-9 && is_compared(v, "hadamard") &&
                is_compared(v, "voronets") == is_compared(v, "boltzmann-hamel");
    if (!good) note(&o, "%s", text != NULL ? text : failure.text != NULL ? failure.text : "no answer");
    free(text);
    cJSON_Delete(answer);
    api_failure_clear(&failure);
    if (!good) fail_msg("%s", o.report);
}

static int run_for_each(const char *group, CMUnitTestFunction function) {
    size_t count = 0;
    while (api_example_at(count) != NULL) count++;
    if (count == 0) return 1;
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    size_t *indices = calloc(count, sizeof *indices);
    int failed = 1;
    if (tests != NULL && indices != NULL) {
        for (size_t i = 0; i < count; i++) {
            indices[i] = i;
            tests[i].name = api_example_at(i)->name;
            tests[i].test_func = function;
            tests[i].initial_state = &indices[i];
        }
        failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    }
    free(indices);
    free(tests);
    return failed;
}

int main(void) {
    int checks = run_for_each("examples", passes_its_own_checks);
    int bdf = run_for_each("examples by bdf", passes_its_own_checks_by_bdf);
    int formulations = run_for_each("formulations", every_formulation_agrees);
    int voronets =
        run_for_each("examples in the formulation voronets", passes_its_own_checks_if_voronets_equations_apply);
    int chaplygin =
        run_for_each("examples in the formulation chaplygin", passes_its_own_checks_if_chaplygins_equations_apply);
    return checks || bdf || formulations || voronets || chaplygin;
}
