/* motion.c — runs a description and stores the output rows. */
#include "tests/unit/motion.h"

#include "api/simulate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_SIZE = 16384 };

static bool keep_header(void *context, const row_header *header) {
    motion *m = context;
    m->columns = calloc(header->column_count, sizeof *m->columns);
    if (m->columns == NULL) return false;
    for (size_t i = 0; i < header->column_count; i++) {
        m->columns[i] = strdup(header->columns[i]);
        if (m->columns[i] == NULL) return false;
        m->column_count = i + 1;
    }
    return true;
}

static bool keep_row(void *context, const double *values, size_t count) {
    motion *m = context;
    if (m->row_count == m->capacity) {
        size_t capacity = 2 * m->capacity + 64;
        double *grown = realloc(m->values, capacity * count * sizeof *grown);
        if (grown == NULL) return false;
        m->values = grown;
        m->capacity = capacity;
    }
    memcpy(m->values + m->row_count * count, values, count * sizeof *values);
    m->row_count++;
    return true;
}

static bool keep_summary(void *context, const char *json, const hamel_summary *s) {
    motion *m = context;
    if (!s->passed || s->outcome != HAMEL_COMPLETED) snprintf(m->failure, sizeof m->failure, "%.900s", json);
    m->steps = (double)s->steps;
    m->redundant_count = s->redundant_count;
    m->rank_changes = s->rank_changes;
    m->event_records = (double)(s->events + s->branch_changes);
    m->work_balance_error = s->max_work_balance_error;
    for (size_t i = 0; i < s->residual_count; i++) {
        m->position_residual = fmax(m->position_residual, s->residuals[i].position);
        m->velocity_residual = fmax(m->velocity_residual, s->residuals[i].velocity);
    }
    if (s->error_estimate != NULL) {
        m->error_estimate = calloc(s->column_count, sizeof *m->error_estimate);
        if (m->error_estimate == NULL) return false;
        memcpy(m->error_estimate, s->error_estimate, s->column_count * sizeof *m->error_estimate);
    }
    return true;
}

static bool keep_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    (void)failure;
    (void)summary_json;
    motion *m = context;
    snprintf(m->failure, sizeof m->failure, "%.900s", json);
    return true;
}

void motion_free(motion *m) {
    for (size_t i = 0; i < m->column_count; i++) free(m->columns[i]);
    free(m->columns);
    free(m->values);
    free(m->error_estimate);
    *m = (motion){0};
}

static void describe(char text[TEXT_SIZE], const char *system, const char *simulation) {
    int length = snprintf(text, TEXT_SIZE, "{`hamel`: 1, %s, `simulation`: {%s}}", system, simulation);
    assert_in_range(length, 1, TEXT_SIZE - 1);
    for (char *p = text; *p != '\0'; p++) {
        if (*p == '`') *p = '"';
    }
}

motion motion_run(const char *system, const char *simulation) {
    char text[TEXT_SIZE];
    describe(text, system, simulation);
    return motion_of(text);
}

motion motion_of(const char *text) {
    motion m = {0};
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model = api_prepare(text, strlen(text), NULL, 0, &limits, NULL, "test", &failure);
    if (model == NULL) {
        snprintf(m.failure, sizeof m.failure, "%s", failure.text != NULL ? failure.text : "no model");
    } else {
        api_observer observer = {
            .context = &m, .header = keep_header, .row = keep_row, .summary = keep_summary, .problem = keep_problem};
        hamel_status status = api_run(model, NULL, &observer, "test");
        if (status != HAMEL_OK && m.failure[0] == '\0') snprintf(m.failure, sizeof m.failure, "status %d", (int)status);
        hamel_model_free(model);
    }
    api_failure_clear(&failure);
    if (m.failure[0] != '\0') {
        char reason[sizeof m.failure];
        memcpy(reason, m.failure, sizeof reason);
        motion_free(&m);
        fail_msg("%s", reason);
    }
    return m;
}

size_t motion_column(const motion *m, const char *name) {
    for (size_t i = 0; i < m->column_count; i++) {
        if (strcmp(m->columns[i], name) == 0) return i;
    }
    fail_msg("no column %s", name);
    return 0;
}

double motion_last(const motion *m, const char *name) {
    return motion_value(m, m->row_count - 1, motion_column(m, name));
}

double motion_distance(const motion *m, const char *name, double (*f)(double t, const double *p), const double *p) {
    size_t column = motion_column(m, name);
    double largest = 0;
    for (size_t i = 0; i < m->row_count; i++) {
        largest = fmax(largest, fabs(motion_value(m, i, column) - f(motion_value(m, i, 0), p)));
    }
    return largest;
}

double motion_drift(const motion *m, const char *name) {
    size_t column = motion_column(m, name);
    double largest = 0;
    for (size_t i = 0; i < m->row_count; i++) {
        largest = fmax(largest, fabs(motion_value(m, i, column) - motion_value(m, 0, column)));
    }
    return largest;
}

double motion_difference(const motion *a, const motion *b) {
    assert_int_equal(a->row_count, b->row_count);
    double largest = 0;
    for (size_t k = 0; k < a->column_count; k++) {
        for (size_t j = 0; j < b->column_count; j++) {
            if (strcmp(a->columns[k], b->columns[j]) != 0) continue;
            for (size_t i = 0; i < a->row_count; i++) {
                largest = fmax(largest, fabs(motion_value(a, i, k) - motion_value(b, i, j)));
            }
        }
    }
    return largest;
}

void assert_below(const char *what, double value, double bound) {
    if (!(value <= bound)) fail_msg("%s: %.3e is above %.1e", what, value, bound);
}

void assert_formulations_agree(const char *system, const char *simulation, double work, double difference) {
    const char *name;
    motion first = {0};
    for (size_t i = 0; (name = hamel_formulation_name(i)); i++) {
        char with_formulation[400];
        snprintf(with_formulation, sizeof with_formulation, "`formulation`: `%s`, %s", name, simulation);
        motion m = motion_run(system, with_formulation);
        assert_below("work balance", m.work_balance_error, work);
        if (i == 0) {
            first = m;
            continue;
        }
        assert_below(name, motion_difference(&first, &m), difference);
        motion_free(&m);
    }
    motion_free(&first);
}
