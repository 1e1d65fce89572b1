/* row_sink.h — results leave in one of several formats, each a kind: a table of functions in a file of its own,
 * registered once in row_sink.c. The same writers serve the daemon, stored jobs and the command line.
 *
 * Numbers are finite and written with up to 17 significant digits, so that they read back to the same double. */
#ifndef HAMEL_API_ROW_SINK_H
#define HAMEL_API_ROW_SINK_H

#include "engine/base/text_buffer.h"

#include <stdint.h>

/* Where bytes go. Returns false when nothing more can be taken (the client is gone, the disk is full). */
typedef struct byte_sink {
    void *context;
    bool (*write)(void *context, const char *bytes, size_t length);
} byte_sink;

/* A header, wherever it comes from (a run, or the store). */
typedef struct row_header {
    size_t column_count;
    const char *const *columns;
    size_t expected_rows; /* 0: not known. When known it must be exact: npy then sends rows as they come */
    const char *
        json; /* the header object as compact JSON text: columns, units, name, degrees_of_freedom, formulation, version */
} row_header;

typedef struct row_writer row_writer;

typedef struct row_format {
    const char *name;       /* "csv" */
    const char *media_type; /* "text/csv" */
    bool whole;             /* keeps all rows until the end */
    size_t writer_bytes;    /* size of the writer's own struct, which begins with a row_writer */
    bool (*begin)(row_writer *w, const row_header *header);
    bool (*row)(row_writer *w, const double *values, size_t count);
    bool (*event)(row_writer *w, const char *json);    /* an event object; may be NULL */
    bool (*progress)(row_writer *w, const char *json); /* may be NULL */
    bool (*summary)(row_writer *w, const char *json);  /* regular end */
    /* Writes the failure of a run; NULL if the format cannot, and the caller reports it. `summary` may be NULL. */
    bool (*problem)(row_writer *w, const char *json, const char *summary);
    bool (*heartbeat)(row_writer *w); /* keeps a quiet stream alive; may be NULL */
    void (*close)(row_writer *w);     /* frees what the writer holds; may be NULL */
} row_format;

struct row_writer {
    const row_format *format;
    byte_sink sink;
    text_buffer line; /* reused for each line */
    size_t column_count;

    /* Asked before a format keeps so many more bytes until the end, with the sink's context; NULL: it may. Set by the
     * caller after opening. False is a `reason` that may be gone later: then `refused` is set. */
    bool (*keep)(void *context, size_t bytes);
    bool refused;

    const char *reason; /* why a call returned false when it was not the sink that refused; else NULL */

    /* Of a format that numbers its objects (sse). The header, rows, events and the last word of a result always have the
     * same numbers, from 1; what comes and goes has none. Set by the caller after opening. */
    uint64_t seen; /* so many the reader has had: they are counted, and not written */
    bool interim;  /* the summary or problem is not the last word of the result */
};

/* By name ("csv") or media type; NULL when unknown. row_format_at enumerates; NULL past the end. */
const row_format *row_format_named(const char *name);
const row_format *row_format_at(size_t index);

/* The format an Accept header asks for (RFC 9110 12.5.1: q-values, wildcards, most specific first); `fallback` when it
 * is NULL or empty; NULL when nothing acceptable is offered. */
const row_format *row_format_accepted(const char *accept, const row_format *fallback);

row_writer *row_writer_open(const row_format *format, byte_sink sink); /* NULL without memory */
void row_writer_close(row_writer *w);

/* Each returns false when the sink refused the bytes, memory ran out, or the format cannot hold the result (json and
 * npy keep all rows: 64 MiB at most); w->reason tells the latter two. NULL members are skipped. Before the summary or
 * the problem, json and (without expected_rows) npy have sent nothing. */
bool row_writer_begin(row_writer *w, const row_header *header);
bool row_writer_row(row_writer *w, const double *values, size_t count);
bool row_writer_event(row_writer *w, const char *json);
bool row_writer_progress(row_writer *w, const char *json);
bool row_writer_summary(row_writer *w, const char *json);
/* `summary`: that of the failed run, written before the problem; NULL if the run never began. */
bool row_writer_problem(row_writer *w, const char *json, const char *summary);
bool row_writer_heartbeat(row_writer *w);

#endif
