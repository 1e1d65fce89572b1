/* remote_stream.h — forwards the NDJSON stream of a daemon to an observer: header, rows, events and progress, then the
 * summary or a problem. The command formats the output itself, so that local and remote runs print the same. */
#pragma once

#include "api/simulate.h"
#include "clients/cli/remote/exchange.h"

typedef struct remote_stream {
    const api_observer *observer; /* must set all callbacks */
    const char *file;             /* name in messages */
    const cJSON *tree;            /* description that was sent, for the expressions of errors; may be NULL */
    double *row;
    size_t row_capacity;
    char *summary;      /* summary of a failed run, kept until its problem arrives; NULL otherwise */
    bool ended;         /* the observer has received the summary or problem */
    bool refused;       /* the observer has returned false */
    const char *broken; /* error in the stream, or NULL */
} remote_stream;

/* Runs the request `x` for rows. Returns true if the observer has received the summary or problem, or has returned
 * false. Also returns true if the response is not a stream (x->streamed is false); the caller handles that response.
 * Returns false after reporting why the stream is incomplete. Call remote_stream_clear in both cases. */
bool remote_stream_run(remote_stream *s, exchange *x, const cli_server *server);
void remote_stream_clear(remote_stream *s);

/* Forward a response that is one document to the observer, as the end of a stream. */
void remote_stream_problem(remote_stream *s, const cJSON *problem);
void remote_stream_summary(remote_stream *s, const cJSON *summary);
