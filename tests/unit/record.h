/* record.h — runs a description and keeps its rows, events and errors. */
#pragma once

#include "engine/simulate/impact.h"
#include "tests/unit/fixture.h"

enum { RECORD_ROWS = 4000, RECORD_COLUMNS = 16, RECORD_EVENTS = 400, RECORD_IMPULSES = 4 };

/* Tolerance of velocities and impulses at events. The rounding errors of well-conditioned impulse equations are
 * about 1e-15. If no force acts, the velocities before an event are the initial velocities, without integration
 * errors. */
#define RECORD_EXACT 1e-12

typedef struct event_record {
    char name[32];
    double t, before[RECORD_COLUMNS], after[RECORD_COLUMNS], impulses[RECORD_IMPULSES]; /* NAN if not reported */
    /* number of rows before the event */
    size_t rows;
    hamel_impact impact; /* valid pointers: `constraints`, `theorems`, and the names of constraints */
    hamel_impact_constraint constraints[RECORD_IMPULSES + 4];
    char constraint_names[RECORD_IMPULSES + 4][24];
    hamel_impact_theorem theorems[HAMEL_IMPACT_THEOREMS];
} event_record;

typedef struct record {
    hamel_summary summary;
    hamel_error error;
    hamel_status status;
    size_t columns, rows, count; /* `count` includes events that are not stored */
    double values[RECORD_ROWS][RECORD_COLUMNS];
    event_record event_records[RECORD_EVENTS];
} record;

/* Runs a description. The arguments have the same meaning as those of fixture_model. The names in the returned summary
 * are invalid, because the model is freed. Free the result with record_free. */
record *record_run(const char *members, const char *simulation);
record *record_run_well(const char *members, const char *simulation); /* like record_run; an error fails the test */
void record_free(record *r);

hamel_sink record_sink(record *r);                   /* a sink that stores rows and events in *r */
bool record_says(const record *r, const char *text); /* true if an error or its suggestion contains the text */
bool record_warns(const record *r, const char *text);
const double *record_end(const record *r); /* returns the last row */

/* Functions for the impulses at an event. record_theorem returns NULL if the theorem does not apply.
 * record_constraint fails the test if the constraint does not act during the impulses. assert_theorem checks that
 * the theorem applies and holds, and that the value of its function is `actual`. assert_impact_energy checks the
 * kinetic energies before and after the impulses, and that the reported work is their difference. */
const hamel_impact_theorem *record_theorem(const event_record *h, const char *name);
const hamel_impact_constraint *record_constraint(const event_record *h, const char *name);
void assert_theorem(const event_record *h, const char *name, double actual);
void assert_impact_energy(const event_record *h, double before, double after);
