/* row_writer.h — writes results in one of several formats. A format is a table of functions in its own file write_*.c,
 * listed in row_writer.c. The daemon, stored jobs and the command line use the same writers.
 *
 * Numbers are written with up to 17 significant digits, so that they read back to the same double. */
#pragma once

#include "engine/base/text_buffer.h"

#include <stdint.h>

/* The destination of the bytes. If the client has disconnected or the disk is full, `write` returns false. */
typedef struct byte_sink {
    void *context;
    bool (*write)(void *context, const char *bytes, size_t length);
} byte_sink;

/* The header of a run or of a stored result. */
typedef struct row_header {
    size_t column_count;
    const char *const *columns;
    size_t expected_rows; /* exact number of rows, so that npy can send rows immediately; 0 if unknown */
    const char *json;     /* the header object (schema Header of openapi.json) as compact JSON */
} row_header;

typedef struct row_writer row_writer;

/* Objects that are written between or after the rows. The summary is the last object of a run that has not failed. A
 * heartbeat keeps an idle stream open. */
typedef enum row_object { ROW_EVENT, ROW_PROGRESS, ROW_SUMMARY, ROW_HEARTBEAT } row_object;

typedef struct row_format {
    const char *name;       /* such as "csv" */
    const char *media_type; /* such as "text/csv" */
    bool whole;             /* the format keeps all rows until the end of the run */
    size_t writer_bytes;    /* size of the writer's struct, which begins with a row_writer */
    bool (*begin)(row_writer *w, const row_header *header);
    bool (*row)(row_writer *w, const double *values, size_t count);
    bool (*object)(row_writer *w, row_object kind, const char *json); /* NULL if the format has no objects */
    /* Writes the failure of a run; `summary` may be NULL. If the format contains only rows, this field is NULL, and the
     * caller must report the failure. */
    bool (*problem)(row_writer *w, const char *json, const char *summary);
    void (*close)(row_writer *w); /* frees the memory of the format; may be NULL */
} row_format;

struct row_writer {
    const row_format *format;
    byte_sink sink;
    text_buffer line; /* reused for each line */
    size_t column_count;

    /* The writer calls `keep` before it keeps `bytes` more bytes until the end of the run. `context` is the context of
     * the sink. The caller may set `keep` after opening. If `keep` returns false, the writer sets `reason` and
     * `refused`; a later run may succeed. */
    bool (*keep)(void *context, size_t bytes);
    bool refused;
    bool starved; /* true if memory could not be allocated */

    const char *reason; /* reason why a call returned false; NULL if the sink was the cause */

    /* Fields for the format sse, which numbers its objects. Header, rows, events and the final object have the numbers
     * 1, 2, ... in every request for the same result. Progress and interim objects have no number. The caller may set
     * `seen` and `interim` after opening. */
    uint64_t seen; /* the client has already received this many numbered objects; the writer skips them */
    bool interim;  /* the summary or problem is not the final object of the result */
};

/* Find a format by name ("csv") or media type, or by index. If the format does not exist, return NULL. */
const row_format *row_format_named(const char *name);
const row_format *row_format_at(size_t index);

/* Adds one field of a CSV line. If RFC 4180 requires quotes for `text`, adds them. */
void csv_add_field(text_buffer *line, const char *text);

row_writer *row_writer_open(const row_format *format, byte_sink sink); /* returns NULL if out of memory */
void row_writer_close(row_writer *w);

/* Write the header, a row, an object between the rows, or the failure of a run. If the sink refuses the bytes, return
 * false. If memory runs out or the result is too large, set w->reason and return false. row_writer_object ignores
 * objects that the format does not have. The format json keeps all rows, at most 64 MiB, and sends nothing before the
 * summary or problem. If expected_rows is 0, npy does the same. */
bool row_writer_begin(row_writer *w, const row_header *header);
bool row_writer_row(row_writer *w, const double *values, size_t count);
bool row_writer_object(row_writer *w, row_object kind, const char *json); /* `json` is NULL for a heartbeat */
/* Writes the summary of the failed run, then the problem. If the run did not begin, `summary` is NULL. */
bool row_writer_problem(row_writer *w, const char *json, const char *summary);
