/* remote_stream.h — rows that come from a daemon as NDJSON, told to an observer as if the run were here: header, rows,
 * events and progress, then the summary or a problem. Formats are made on this side, so that they are the same as
 * those of a run in this process. */
#ifndef HAMEL_CLI_REMOTE_STREAM_H
#define HAMEL_CLI_REMOTE_STREAM_H

#include "api/simulate.h"
#include "clients/cli/exchange.h"

typedef struct remote_stream {
    const api_observer *observer; /* all of its callbacks are there */
    const char *file;             /* what messages name */
    const cJSON *tree;            /* the description as sent, or NULL: then faults come without their expressions */
    double *row;
    size_t row_capacity;
    char *summary;      /* of a run that failed: its problem follows; or NULL */
    bool ended;         /* summary or problem has been told */
    bool refused;       /* the observer wants no more */
    const char *broken; /* what is wrong with the stream, or NULL */
} remote_stream;

/* Runs `x`, which asks for rows. True when they have come and the observer has been told the end, or wants no more, or
 * `x` has been answered by something else than rows (x->streamed is false), which is the caller's to look at. False
 * after saying why there is no end; CLI_SERVER then. remote_stream_clear in both cases. */
bool remote_stream_run(remote_stream *s, exchange *x, const cli_place *place);
void remote_stream_clear(remote_stream *s);

/* For answers that are one document: as if the stream had ended with it. */
void remote_stream_problem(remote_stream *s, const cJSON *problem);
void remote_stream_summary(remote_stream *s, const cJSON *summary);

#endif
