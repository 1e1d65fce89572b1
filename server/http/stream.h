/* stream.h — bytes on their way from a thread that computes to a client that reads.
 *
 * One ring of fixed size between a producer (a thread of the pool) and the reader (the thread of the HTTP daemon). A
 * full ring holds the producer up, so a run is never further ahead of its client than the ring is long; an empty one
 * suspends the connection until there is something again.
 *
 *     waiting ──stream_begin──> flowing ──stream_end──> ended        (the reader takes what is left)
 *        └───────────┴──stream_abandon──> gone: the producer's writes fail and its `cancel` is set
 *
 * A stream is shared by the request, the response and the producer; each holds it and lets go of it once. */
#ifndef HAMEL_SERVER_HTTP_STREAM_H
#define HAMEL_SERVER_HTTP_STREAM_H

#include "server/budget.h"
#include "server/http/answers.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct stream stream;

enum { STREAM_RING_BYTES = 256 * 1024 };

/* One reference, the caller's. NULL without memory. Its budget is yet to be opened. What `answers` names outlives it. */
stream *stream_open(answers_share answers);
stream *stream_hold(stream *s);
void stream_release(stream *s);

/* Becomes true when the client is gone or the daemon ends: the producer stops at its next chance. */
const atomic_bool *stream_cancel_flag(const stream *s);

/* The producer's side. stream_write waits while the ring is full (giving up the thread's CPU slot) and returns false
 * when the client is gone. */
bool stream_begin(stream *s, bool coded); /* makes the ring; coded: with gzip. False without memory */
bool stream_write(void *context, const char *bytes, size_t length);
bool stream_flush(stream *s); /* what is written can now be read: a coding holds bytes back. False as stream_write */
void stream_end(stream *s, bool whole); /* not whole: the client sees a broken response, not a short one */
budget *stream_budget(stream *s);       /* of the producer */

/* A producer that must not wait: bytes that find no room in the ring are kept behind it, charged to the answers, and
 * stream_write returns false if these leave no room either. It writes while stream_has_room. `wake` is called, under
 * the stream's lock, when there is room again (`reader`) and when the stream is canceled; NULL: nobody any longer. */
typedef void stream_wake(void *context, bool reader);
void stream_never_wait(stream *s, stream_wake *wake, void *context);
void stream_may_wait(stream *s);
bool stream_has_room(stream *s); /* half the ring is free, or the answer has not begun */

/* Memory of the producer that lasts until the answer has been read; given back at the end of the stream. */
bool stream_charge(stream *s, size_t bytes);

double stream_quiet_seconds(stream *s); /* since the last write, or the opening */

/* The reader's side: a MHD_ContentReaderCallback, with the stream as context, on the connection it was attached to. */
void stream_attach(stream *s, struct MHD_Connection *connection);
ssize_t stream_read(void *context, uint64_t position, char *buffer, size_t room);

/* From any thread. */
void stream_finish_first(stream *s); /* what it carries can be had only here and now: see http_stop */
bool stream_finishes_first(const stream *s);
void stream_stop(stream *s); /* the daemon ends: cancels the producer, which may still write its last words */
bool stream_stopped(const stream *s);
void stream_abandon(stream *s); /* the client is gone; also wakes a suspended connection, so that it is closed */
void stream_nudge(stream *s);   /* sends what has been held back to make larger packets */
double stream_stalled_seconds(stream *s); /* how long bytes have been waiting for the reader; 0 when none do */

#endif
