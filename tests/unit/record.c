/* record.c — runs a description and stores its rows, events and errors. */
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool take_header(void *context, const hamel_header *header) {
    ((record *)context)->columns = header->column_count;
    return header->column_count <= RECORD_COLUMNS;
}

static bool take_row(void *context, const double *values, size_t count) {
    record *r = context;
    if (r->rows < RECORD_ROWS) memcpy(r->values[r->rows], values, count * sizeof *values);
    r->rows++;
    return true;
}

static void take_impact(event_record *h, const hamel_impact *impact) {
    h->impact = *impact;
    h->impact.constraints = h->constraints;
    h->impact.theorems = h->theorems;
    for (size_t k = 0; k < impact->constraint_count && k < RECORD_IMPULSES + 4; k++) {
        h->constraints[k] = impact->constraints[k];
        snprintf(h->constraint_names[k], sizeof h->constraint_names[k], "%s", impact->constraints[k].name);
        h->constraints[k].name = h->constraint_names[k];
    }
    memcpy(h->theorems, impact->theorems, impact->theorem_count * sizeof *h->theorems);
}

static bool take_event(void *context, const hamel_event_record *event) {
    record *r = context;
    if (r->count < RECORD_EVENTS) {
        event_record *h = &r->event_records[r->count];
        snprintf(h->name, sizeof h->name, "%s", event->name);
        h->t = event->t;
        h->rows = r->rows;
        if (event->impact) take_impact(h, event->impact);
        for (size_t k = 0; k < RECORD_IMPULSES; k++)
            h->impulses[k] = event->impact && k < event->impact->impulse_count ? event->impact->impulses[k] : NAN;
        memcpy(h->before, event->before, event->count * sizeof *event->before);
        memcpy(h->after, event->after, event->count * sizeof *event->after);
    }
    r->count++;
    return true;
}

hamel_sink record_sink(record *r) {
    return (hamel_sink){.context = r, .header = take_header, .row = take_row, .event = take_event};
}

record *record_run(const char *members, const char *simulation) {
    record *r = calloc(1, sizeof *r);
    hamel_model *model = fixture_model(members, simulation);
    assert_non_null(r);
    hamel_sink sink = record_sink(r);
    r->status = hamel_run(model, NULL, &sink, &r->summary, &r->error);
    hamel_model_free(model);
    return r;
}

record *record_run_well(const char *members, const char *simulation) {
    record *r = record_run(members, simulation);
    if (r->status != HAMEL_OK) fail_msg("%s", r->error.count > 0 ? r->error.faults[0].message : "no fault");
    return r;
}

void record_free(record *r) {
    hamel_summary_free(&r->summary);
    hamel_error_clear(&r->error);
    free(r);
}

bool record_says(const record *r, const char *text) {
    for (size_t i = 0; i < r->error.count; i++) {
        const hamel_fault *f = &r->error.faults[i];
        if (strstr(f->message, text) || (f->suggestion && strstr(f->suggestion, text))) return true;
    }
    return false;
}

bool record_warns(const record *r, const char *text) {
    for (size_t i = 0; i < r->summary.warning_count; i++)
        if (strstr(r->summary.warnings[i], text)) return true;
    return false;
}

const double *record_end(const record *r) {
    assert_true(r->rows > 0 && r->rows <= RECORD_ROWS);
    return r->values[r->rows - 1];
}

const hamel_impact_theorem *record_theorem(const event_record *h, const char *name) {
    for (size_t k = 0; k < h->impact.theorem_count; k++)
        if (strcmp(h->theorems[k].name, name) == 0) return &h->theorems[k];
    return NULL;
}

void assert_theorem(const event_record *h, const char *name, double actual) {
    const hamel_impact_theorem *t = record_theorem(h, name);
    if (!t) fail_msg("%s does not apply", name);
    assert_true(t->holds);
    assert_near(name, t->actual, actual, RECORD_EXACT);
    if (t->alternatives == 0) assert_near(name, t->other, actual, RECORD_EXACT);
}

const hamel_impact_constraint *record_constraint(const event_record *h, const char *name) {
    for (size_t k = 0; k < h->impact.constraint_count; k++)
        if (strcmp(h->constraints[k].name, name) == 0) return &h->constraints[k];
    fail_msg("`%s` does not act", name);
    return NULL;
}

void assert_impact_energy(const event_record *h, double before, double after) {
    assert_true(h->impact.has_energy);
    assert_near("kinetic energy before", h->impact.kinetic_before, before, RECORD_EXACT);
    assert_near("kinetic energy after", h->impact.kinetic_after, after, RECORD_EXACT);
    assert_near("work", h->impact.work, after - before, RECORD_EXACT);
}
