/* record.h — a run with its rows, events and errors, for tests of what happens in it. */
#pragma once

#include "tests/unit/fixture.h"

enum { RECORD_ROWS = 4000, RECORD_COLUMNS = 16, RECORD_EVENTS = 400, RECORD_IMPULSES = 4 };

typedef struct event_record {
    char name[32];
    double t, before[RECORD_COLUMNS], after[RECORD_COLUMNS], impulses[RECORD_IMPULSES]; /* NAN: none */
    size_t rows;                                                                        /* that came before it */
} event_record;

typedef struct record {
    hamel_summary summary;
    hamel_error error;
    hamel_status status;
    size_t columns, rows, count; /* of event_records, also those not kept */
    double values[RECORD_ROWS][RECORD_COLUMNS];
    event_record event_records[RECORD_EVENTS];
} record;

/* Runs a description as fixture_model takes it. Names in the summary must not be looked at; free with record_free. */
record *record_run(const char *members, const char *simulation);
record *record_run_well(const char *members, const char *simulation); /* an error fails the test */
void record_free(record *r);

hamel_sink record_sink(record *r);                   /* for runs of the test's own */
bool record_says(const record *r, const char *text); /* an error or its suggestion contains the text */
bool record_warns(const record *r, const char *text);
const double *record_end(const record *r); /* the last row */
