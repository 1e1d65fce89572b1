/* remote_stream.h — forwards the NDJSON stream of a daemon to an observer: header, rows, events and progress, then the
 * summary or a problem. The command formats the output itself, so that local and remote runs have the same output. */
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

/* Sends the request `x`, which requests rows. If the observer has received the summary or problem, or has returned
 * false, returns true. If the response is not a stream (x->streamed is false), also returns true; the caller handles
 * that response. If the stream is incomplete, reports the reason and returns false. Call remote_stream_clear in both
 * cases. */
bool remote_stream_run(remote_stream *s, exchange *x, const cli_server *server);
void remote_stream_clear(remote_stream *s);

/* Forward a response that is a single document to the observer, as if the document were the end of a stream. */
void remote_stream_problem(remote_stream *s, const cJSON *problem);
void remote_stream_summary(remote_stream *s, const cJSON *summary);
