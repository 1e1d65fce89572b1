/* stream.c — ring buffer between a producer and a client; see stream.h.
 *
 * Resuming a connection wakes the HTTP thread. If the last resume was at least PAUSE_SECONDS ago, a write resumes
 * the connection immediately. After a more recent resume, bytes are held back until there are ENOUGH_BYTES, or until
 * the next stream_nudge (every tenth of a second). A blocked producer continues when half the ring is free.
 *
 * Lock order: a stream's lock first, then the locks inside libmicrohttpd (resume and suspend only). */
#include "server/http/stream.h"

#include "server/clock.h"
#include "server/http/gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH_BYTES = 16 * 1024, KEPT_MAX = 256 * 1024 * 1024 };
#define PAUSE_SECONDS 0.01
/* Shortest interval between flushes of gzip. Each flush adds an empty block of about 5 bytes and worsens the
 * compression. A delay of 0.1 s is barely visible. */
#define CODED_SECONDS 0.1

struct stream {
    atomic_uint references;
    atomic_bool cancel, stopped, finishes_first;
    budget budget;     /* only the producer's thread uses this member and the next two members */
    gzip *coding;      /* NULL if not used */
    double last_flush; /* time of the last flush of gzip */

    pthread_mutex_t lock;
    pthread_cond_t room;
    char *ring;
    size_t first, count;
    bool never_waits; /* the producer must not block; bytes that do not fit in the ring are in `kept` */
    text_buffer kept;
    size_t kept_read;      /* bytes of `kept` already read */
    answers_share answers; /* charged bytes: in `kept` and in the producer's memory */
    stream_wake *wake;     /* NULL if not used */
    void *wake_context;
    bool ended, whole, gone;
    bool suspended;                    /* the reader has suspended the connection because the ring was empty */
    struct MHD_Connection *connection; /* set while a response reads from this stream */
    double last_write, last_read, last_resume;
};

stream *stream_open(answers_share answers) {
    stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    atomic_init(&s->references, 1);
    atomic_init(&s->cancel, false);
    atomic_init(&s->stopped, false);
    atomic_init(&s->finishes_first, false);
    s->answers = answers;
    text_buffer_init(&s->kept, KEPT_MAX);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->room, NULL);
    s->last_write = s->last_read = clock_seconds();
    return s;
}

stream *stream_hold(stream *s) {
    atomic_fetch_add(&s->references, 1);
    return s;
}

void stream_release(stream *s) {
    if (!s || atomic_fetch_sub(&s->references, 1) != 1) return;
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->room);
    gzip_close(s->coding);
    text_buffer_free(&s->kept);
    answers_leave(&s->answers);
    free(s->ring);
    free(s);
}

const atomic_bool *stream_cancel_flag(const stream *s) {
    return &s->cancel;
}

budget *stream_budget(stream *s) {
    return &s->budget;
}

bool stream_begin(stream *s, bool coded) {
    s->ring = malloc(STREAM_RING_BYTES);
    if (coded) s->coding = gzip_open();
    return s->ring != NULL && (!coded || s->coding);
}

void stream_never_wait(stream *s, stream_wake *wake, void *context) {
    pthread_mutex_lock(&s->lock);
    s->never_waits = true;
    s->wake = wake;
    s->wake_context = context;
    pthread_mutex_unlock(&s->lock);
}

void stream_may_wait(stream *s) {
    pthread_mutex_lock(&s->lock);
    s->never_waits = false;
    s->wake = NULL;
    pthread_mutex_unlock(&s->lock);
}

bool stream_charge(stream *s, size_t bytes) {
    pthread_mutex_lock(&s->lock);
    bool taken = answers_take(&s->answers, bytes);
    pthread_mutex_unlock(&s->lock);
    return taken;
}

/* Resumes the connection if it is suspended. The caller holds the lock. */
static void resume(stream *s) {
    if (!s->suspended) return;
    s->suspended = false;
    s->last_resume = clock_seconds();
    MHD_resume_connection(s->connection);
}

static size_t unread(const stream *s) {
    return s->count + (s->kept.length - s->kept_read);
}

static size_t put_ring(stream *s, const char *bytes, size_t length) {
    size_t room = s->kept.length > 0 ? 0 : STREAM_RING_BYTES - s->count; /* the bytes in `kept` precede new bytes */
    size_t n = length < room ? length : room;
    size_t at = (s->first + s->count) % STREAM_RING_BYTES;
    size_t before_wrap = STREAM_RING_BYTES - at < n ? STREAM_RING_BYTES - at : n;
    memcpy(s->ring + at, bytes, before_wrap);
    memcpy(s->ring, bytes + before_wrap, n - before_wrap);
    if (s->count == 0 && n > 0) s->last_read = clock_seconds(); /* the client had nothing to read before */
    s->count += n;
    return n;
}

static void wait_for_room(stream *s) {
    bool computing = s->budget.slot.held;
    resume(s);
    if (computing) budget_release_slot(&s->budget);
    while (s->count > STREAM_RING_BYTES / 2 && !s->gone) pthread_cond_wait(&s->room, &s->lock);
    if (!computing) return;
    pthread_mutex_unlock(&s->lock); /* the reader needs the lock during the wait */
    budget_take_slot(&s->budget);
    pthread_mutex_lock(&s->lock);
}

/* Keeps bytes that do not fit in the ring. If the budget or memory is exhausted, truncates the response. */
static void keep_unread(stream *s, const char *bytes, size_t length) {
    if (answers_take(&s->answers, length))
        text_buffer_add(&s->kept, bytes, length);
    else
        s->gone = true;
    s->gone = s->gone || s->kept.failed;
}

static bool write_plain(void *context, const char *bytes, size_t length) {
    stream *s = context;
    pthread_mutex_lock(&s->lock);
    for (size_t done = 0; !s->gone; wait_for_room(s)) {
        done += put_ring(s, bytes + done, length - done);
        if (done < length && s->never_waits) keep_unread(s, bytes + done, length - done);
        if (done == length || s->never_waits) break;
    }
    double now = clock_seconds();
    s->last_write = now;
    if (s->count >= ENOUGH_BYTES || now - s->last_resume >= PAUSE_SECONDS) resume(s);
    bool gone = s->gone;
    pthread_mutex_unlock(&s->lock);
    return !gone;
}

bool stream_flush(stream *s) {
    s->last_flush = clock_seconds();
    return !s->coding || gzip_flush(s->coding, (byte_sink){s, write_plain});
}

bool stream_write(void *context, const char *bytes, size_t length) {
    stream *s = context;
    if (!s->coding) return write_plain(s, bytes, length);
    if (!gzip_write(s->coding, bytes, length, (byte_sink){s, write_plain})) return false;
    return clock_seconds() - s->last_flush < CODED_SECONDS || stream_flush(s);
}

void stream_end(stream *s, bool whole) {
    if (s->coding && whole) whole = gzip_end(s->coding, (byte_sink){s, write_plain});
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    s->whole = whole;
    resume(s);
    pthread_mutex_unlock(&s->lock);
}

double stream_quiet_seconds(stream *s) {
    pthread_mutex_lock(&s->lock);
    double quiet = clock_seconds() - s->last_write;
    pthread_mutex_unlock(&s->lock);
    return quiet;
}

void stream_attach(stream *s, struct MHD_Connection *connection) {
    pthread_mutex_lock(&s->lock);
    s->connection = connection;
    pthread_mutex_unlock(&s->lock);
}

static size_t get_kept(stream *s, char *buffer, size_t room) {
    size_t left = s->kept.length - s->kept_read, n = left < room ? left : room;
    memcpy(buffer, s->kept.bytes + s->kept_read, n);
    s->kept_read += n;
    if (s->kept_read < s->kept.length) return n;
    answers_give_back(&s->answers, s->kept.length);
    text_buffer_free(&s->kept);
    text_buffer_init(&s->kept, KEPT_MAX);
    s->kept_read = 0;
    return n;
}

static size_t get_ring(stream *s, char *buffer, size_t room) {
    size_t n = s->count < room ? s->count : room;
    size_t before_wrap = STREAM_RING_BYTES - s->first < n ? STREAM_RING_BYTES - s->first : n;
    memcpy(buffer, s->ring + s->first, before_wrap);
    memcpy(buffer + before_wrap, s->ring, n - before_wrap);
    s->count -= n;
    /* An empty ring restarts at 0, so that short streams use few pages of the ring. */
    s->first = s->count == 0 ? 0 : (s->first + n) % STREAM_RING_BYTES;
    return n;
}

static size_t get(stream *s, char *buffer, size_t room) {
    size_t n = s->count > 0 ? get_ring(s, buffer, room) : get_kept(s, buffer, room);
    s->last_read = clock_seconds();
    if (unread(s) > STREAM_RING_BYTES / 2) return n;
    pthread_cond_signal(&s->room);
    if (s->wake) s->wake(s->wake_context, true);
    return n;
}

bool stream_has_room(stream *s) {
    pthread_mutex_lock(&s->lock);
    bool room = unread(s) <= STREAM_RING_BYTES / 2;
    pthread_mutex_unlock(&s->lock);
    return room;
}

ssize_t stream_read(void *context, uint64_t position, char *buffer, size_t room) {
    (void)position; /* libmicrohttpd reads the bytes in sequence */
    stream *s = context;
    ssize_t result = 0;
    pthread_mutex_lock(&s->lock);
    if (s->gone) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (unread(s) > 0) {
        result = (ssize_t)get(s, buffer, room);
    } else if (s->ended) {
        result = s->whole ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
    } else {
        /* Returning 0 without suspending would make the HTTP thread busy-wait. */
        s->suspended = true;
        MHD_suspend_connection(s->connection);
    }
    pthread_mutex_unlock(&s->lock);
    return result;
}

void stream_finish_first(stream *s) {
    atomic_store(&s->finishes_first, true);
}

bool stream_finishes_first(const stream *s) {
    return atomic_load(&s->finishes_first);
}

/* Wakes all waiters after the cancel flag has been set. The caller holds the lock. */
static void wake_canceled(stream *s) {
    pthread_cond_broadcast(&s->room);
    if (s->wake) s->wake(s->wake_context, false);
}

void stream_stop(stream *s) {
    bool first = !atomic_exchange(&s->stopped, true);
    atomic_store(&s->cancel, true);
    if (!first) return;
    pthread_mutex_lock(&s->lock);
    wake_canceled(s);
    pthread_mutex_unlock(&s->lock);
}

bool stream_stopped(const stream *s) {
    return atomic_load(&s->stopped);
}

void stream_abandon(stream *s) {
    atomic_store(&s->cancel, true);
    pthread_mutex_lock(&s->lock);
    s->gone = true;
    resume(s);
    wake_canceled(s);
    pthread_mutex_unlock(&s->lock);
}

void stream_nudge(stream *s) {
    pthread_mutex_lock(&s->lock);
    if (unread(s) > 0) resume(s);
    pthread_mutex_unlock(&s->lock);
}

double stream_stalled_seconds(stream *s) {
    pthread_mutex_lock(&s->lock);
    double stalled = unread(s) > 0 && !s->gone ? clock_seconds() - s->last_read : 0;
    pthread_mutex_unlock(&s->lock);
    return stalled;
}
