/* fixture.c — descriptions, systems and models for unit tests. */
#include "tests/unit/fixture.h"

#include "api/json/strict_json.h"
#include "api/read/read_system.h"
#include "engine/mechanics/formulation.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fail_with(const hamel_error *error, const char *what) {
    char reason[600];
    const hamel_fault *first = error->count > 0 ? &error->faults[0] : NULL;
    snprintf(reason, sizeof reason, "%s: %s at %s", what, first ? first->message : "no fault",
             first ? first->pointer : "");
    fail_msg("%s", reason);
}

void fixture_read(fixture *f, const char *members, const char *simulation) {
    size_t size = strlen(members) + strlen(simulation) + 100;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "{`hamel`: 1, %s, `simulation`: {%s}}", members, simulation);
    for (char *p = text; *p; p++)
        if (*p == '`') *p = '"';
    *f = (fixture){.limits = hamel_limits_default()};
    arena_init(&f->text_memory, 0);
    arena_init(&f->memory, 0);
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *tree = json_parse(text, strlen(text), &limits, &fault);
    free(text);
    if (!tree) fail_msg("line %zu, column %zu: %s", fault.line, fault.column, fault.message);
    hamel_status status = api_read_system(&f->description, tree, false, &f->text_memory, &f->error);
    cJSON_Delete(tree);
    if (status != HAMEL_OK) fail_with(&f->error, "reading");
}

void fixture_close(fixture *f) {
    hamel_error_clear(&f->error);
    arena_free(&f->memory);
    arena_free(&f->text_memory);
}

hamel_status fixture_bind(fixture *f) {
    return system_create(&f->system, &f->memory, &f->memory, &f->description, &f->limits, f->poll, &f->error);
}

void fixture_open(fixture *f, const char *members) {
    fixture_read(f, members, "`stop`: 1");
    if (fixture_bind(f) != HAMEL_OK) fail_with(&f->error, "binding");
}

void fixture_derive(fixture *f, const char *members) {
    fixture_open(f, members);
    f->equations =
        (hamel_equations){.system = f->system, .n = f->system->coordinate_count, .m = f->system->constraint_count};
    if (formulation_lagrange.derive(&f->equations) != HAMEL_OK) fail_with(&f->error, "deriving");
}

typedef hamel_status create_function(hamel_model **, const hamel_description *, const hamel_limits *, hamel_poll *,
                                     hamel_error *);

static hamel_model *model_by(create_function *create, const char *members, const char *simulation) {
    fixture f;
    hamel_model *model = NULL;
    fixture_read(&f, members, simulation);
    hamel_status status = create(&model, &f.description, NULL, NULL, &f.error);
    if (status != HAMEL_OK) fail_with(&f.error, "model");
    fixture_close(&f);
    return model;
}

hamel_model *fixture_model(const char *members, const char *simulation) {
    return model_by(hamel_model_create, members, simulation);
}

hamel_model *fixture_analysis_model(const char *members, const char *simulation) {
    return model_by(model_derive, members, simulation);
}

hamel_report *fixture_report(const char *members) {
    fixture f;
    hamel_report *report = NULL;
    fixture_read(&f, members, "`stop`: 1");
    hamel_status status = hamel_analyze(&report, &f.description, NULL, NULL, &f.error);
    if (status != HAMEL_OK) fail_msg("analysis: %s", f.error.count ? f.error.faults[0].message : "no fault");
    fixture_close(&f);
    return report;
}

graph_node fixture_node(fixture *f, const char *text) {
    hamel_expression e = {.pointer = "/test", .text = text};
    graph_node node = system_bind(f->system, &e, PLACE_DEFINITION, NULL, SYNTAX_EXPRESSION, NULL);
    if (node < 0) fail_with(&f->error, text);
    return node;
}

double fixture_value(const graph *g, graph_node node, const program_inputs *in) {
    assert_true(node >= 0);
    double *values = malloc(((size_t)node + 1) * sizeof *values);
    assert_non_null(values);
    for (graph_node i = 0; i <= node; i++) {
        const graph_cell *cell = graph_at(g, i);
        double x[3] = {0, 0, 0};
        if (cell->op == GRAPH_IS_NUMBER) {
            values[i] = cell->as.number;
        } else if (cell->op == GRAPH_IS_SYMBOL) {
            const double *array = in->values[cell->kind];
            values[i] = array ? array[cell->as.index] : 0;
        } else {
            for (int k = 0; k < graph_op_get((graph_op)cell->op)->arity; k++) x[k] = values[cell->as.operand[k]];
            values[i] = cell->op == GRAPH_TABLE ? table_value(graph_tables(g)[(size_t)x[1]], x[0], (int)x[2])
                                                : graph_op_value((graph_op)cell->op, x[0], x[1], x[2]);
        }
    }
    double result = values[node];
    free(values);
    return result;
}

fixture_point fixture_point_anywhere(uint64_t *seed) {
    fixture_point p = {.t = random_between(seed, -1, 1)};
    random_fill(seed, p.q, FIXTURE_MOST, -2, 2);
    random_fill(seed, p.v, FIXTURE_MOST, -2, 2);
    random_fill(seed, p.a, FIXTURE_MOST, -3, 3);
    random_fill(seed, p.lambda, FIXTURE_MOST, -3, 3);
    return p;
}

double fixture_value_at(const fixture *f, graph_node node, const fixture_point *p) {
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = f->system->parameter_values;
    in.values[SYMBOL_TIME] = &p->t;
    in.values[SYMBOL_COORDINATE] = p->q;
    in.values[SYMBOL_VELOCITY] = p->v;
    in.values[SYMBOL_ACCELERATION] = p->a;
    in.values[SYMBOL_MULTIPLIER] = p->lambda;
    return fixture_value(f->system->graph, node, &in);
}

double fixture_entry_at(const fixture *f, const matrix_pattern *m, int row, int column, const fixture_point *p) {
    for (size_t k = 0; k < m->count; k++)
        if (m->entries[k].row == row && m->entries[k].column == column)
            return fixture_value_at(f, m->entries[k].node, p);
    return 0;
}

void assert_same(const fixture *f, const char *what, graph_node found, graph_node expected) {
    enum { ROUNDS = 8 };
    uint64_t seed = 21;
    assert_true(found >= 0 && expected >= 0);
    for (int round = 0; round < ROUNDS; round++) {
        fixture_point p = fixture_point_anywhere(&seed);
        assert_near(what, fixture_value_at(f, found, &p), fixture_value_at(f, expected, &p), 1e-12);
    }
}

void assert_fault(const char *members, const char *text) {
    fixture f;
    fixture_read(&f, members, "`stop`: 1");
    assert_int_not_equal(fixture_bind(&f), HAMEL_OK);
    if (!fixture_says(&f, text)) fail_msg("no `%s`; first: %s", text, f.error.faults[0].message);
    if (f.error.count != 1) fail_msg("%zu errors instead of one; second: %s", f.error.count, f.error.faults[1].message);
    fixture_close(&f);
}

bool fixture_says(const fixture *f, const char *text) {
    for (size_t i = 0; i < f->error.count; i++) {
        if (strstr(f->error.faults[i].message, text)) return true;
        if (f->error.faults[i].suggestion && strstr(f->error.faults[i].suggestion, text)) return true;
    }
    return false;
}

void assert_near(const char *what, double x, double y, double bound) {
    double size = fmax(1, fmax(fabs(x), fabs(y)));
    if (!isfinite(x) || !isfinite(y) || !(fabs(x - y) <= bound * size))
        fail_msg("%s: %.17g and %.17g differ by %.3g", what, x, y, fabs(x - y));
}

void assert_run_fault(const char *members, const char *text) {
    fixture f;
    hamel_model *model = NULL;
    hamel_summary summary = {0};
    fixture_read(&f, members, "`stop`: 1");
    hamel_status status = hamel_model_create(&model, &f.description, NULL, NULL, &f.error);
    if (status == HAMEL_OK) {
        status = hamel_run(model, NULL, NULL, &summary, &f.error);
        hamel_summary_free(&summary);
        hamel_model_free(model);
    }
    if (status == HAMEL_OK || !fixture_says(&f, text))
        fail_msg("expected `%s`, found `%s`", text, f.error.count ? f.error.faults[0].message : "no error");
    fixture_close(&f);
}
