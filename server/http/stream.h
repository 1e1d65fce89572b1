/* stream.h — transfer of bytes from a computing thread to a client.
 *
 * A ring buffer of fixed size connects a producer (a thread of the pool) and the reader (the HTTP thread). A full ring
 * blocks the producer, so a run never produces more unread bytes than fit in the ring. While the ring is empty, the
 * connection is suspended.
 *
 *     waiting ──stream_begin──> flowing ──stream_end──> ended        (the reader reads the rest)
 *        └───────────┴──stream_abandon──> gone: writes of the producer fail, and its cancel flag is set
 *
 * The request, the response and the producer share a stream. Each of them holds a reference and releases it once. */
#pragma once

#include "server/budget.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct stream stream;

enum { STREAM_RING_BYTES = 256 * 1024 };

/* Returns one reference, or NULL if out of memory. The caller must open the budget of the stream. The objects in
 * `answers` must outlive the stream. */
stream *stream_open(answers_share answers);
stream *stream_hold(stream *s);
void stream_release(stream *s);

/* Returns a flag that becomes true when the client disconnects or the daemon shuts down; the producer polls it. */
const atomic_bool *stream_cancel_flag(const stream *s);

/* Functions for the producer. While the ring is full, stream_write blocks and releases the thread's CPU slot.
 * stream_write returns false if the client has disconnected. */
bool stream_begin(stream *s, bool coded); /* allocates the ring; false if out of memory; `coded` selects gzip */
bool stream_write(void *context, const char *bytes, size_t length);
bool stream_flush(stream *s); /* sends the bytes that gzip holds back; returns false if the client has disconnected */
void stream_end(stream *s, bool whole); /* if `whole` is false, the client gets a transfer error */
budget *stream_budget(stream *s);       /* budget of the producer */

/* Functions for a producer that must not block. Bytes that do not fit in the ring are kept in memory and charged to
 * `answers`; if memory or `answers` is exhausted, stream_write returns false. Write while stream_has_room is true.
 * `wake` is called under the stream's lock when there is space again (`reader` is true) and when the stream is
 * canceled. If `wake` is NULL, no function is called. */
typedef void stream_wake(void *context, bool reader);
void stream_never_wait(stream *s, stream_wake *wake, void *context);
void stream_may_wait(stream *s);
bool stream_has_room(stream *s); /* returns true if half the ring is free */

/* Charges memory of the producer to `answers` until the stream is freed. Returns false if the budget is used up. */
bool stream_charge(stream *s, size_t bytes);

double stream_quiet_seconds(stream *s); /* time since the last write, or since stream_open */

/* Functions for the reader. stream_read is an MHD_ContentReaderCallback; its context is the stream. */
void stream_attach(stream *s, struct MHD_Connection *connection);
ssize_t stream_read(void *context, uint64_t position, char *buffer, size_t room);

/* Functions that any thread may call. */
void stream_finish_first(stream *s); /* marks a response that cannot be repeated; see http_stop */
bool stream_finishes_first(const stream *s);
void stream_stop(stream *s); /* at shutdown: cancels the producer, which may still write a final problem */
bool stream_stopped(const stream *s);
void stream_abandon(stream *s); /* after a disconnect: resumes the suspended connection, so that it can be closed */
void stream_nudge(stream *s);   /* sends bytes that were held back for larger packets */
double
stream_stalled_seconds(stream *s); /* returns the time for which bytes have waited for the reader; 0 if no bytes wait */
