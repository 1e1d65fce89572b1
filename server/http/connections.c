/* sockets.c — see sockets.h. shutdown() instead of close(): the descriptor belongs to libmicrohttpd, which sees the
 * end of the connection and cleans up in its own thread. */
#include "server/http/sockets.h"

#include "server/stamp.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#define ROUND_SECONDS 0.1

/* A client that has only closed its sending half may still read; one that is gone looks the same until something is
 * sent. So after its end of file, silence of this length ends the stream. */
#define DOUBT_SECONDS 2.0

struct socket_entry {
    int descriptor;
    double deadline; /* 0: none */
    stream *watched;
    socket_entry *previous, *next;
};

struct sockets {
    pthread_mutex_t lock;
    pthread_cond_t closing_signal;
    pthread_t keeper;
    socket_entry *first;
    double stall_seconds;
    bool closing;
};

static bool client_gone(const socket_entry *entry) {
    struct pollfd look = {.fd = entry->descriptor, .events = POLLRDHUP};
    if (poll(&look, 1, 0) <= 0) return false;
    if (look.revents & (POLLHUP | POLLERR | POLLNVAL)) return true;
    return (look.revents & POLLRDHUP) && stream_quiet_seconds(entry->watched) > DOUBT_SECONDS;
}

static void look_after(sockets *set, socket_entry *entry, double now) {
    if (entry->watched) {
        stream_nudge(entry->watched);
        if (!client_gone(entry) && stream_stalled_seconds(entry->watched) < set->stall_seconds) return;
        stream_abandon(entry->watched);
        shutdown(entry->descriptor, SHUT_RDWR);
    } else if (entry->deadline > 0 && now > entry->deadline) {
        entry->deadline = 0;
        shutdown(entry->descriptor, SHUT_RDWR);
    }
}

static void *keep(void *context) {
    sockets *set = context;
    pthread_setname_np(pthread_self(), "hamel-keeper");
    pthread_mutex_lock(&set->lock);
    while (!set->closing) {
        double now = stamp_seconds();
        for (socket_entry *entry = set->first; entry; entry = entry->next) look_after(set, entry, now);
        struct timespec at = stamp_deadline(ROUND_SECONDS);
        pthread_cond_timedwait(&set->closing_signal, &set->lock, &at);
    }
    pthread_mutex_unlock(&set->lock);
    return NULL;
}

sockets *sockets_open(double stall_seconds) {
    sockets *set = calloc(1, sizeof *set);
    if (!set) return NULL;
    pthread_mutex_init(&set->lock, NULL);
    stamp_condition_init(&set->closing_signal);
    set->stall_seconds = stall_seconds;
    if (pthread_create(&set->keeper, NULL, keep, set) == 0) return set;
    pthread_mutex_destroy(&set->lock);
    pthread_cond_destroy(&set->closing_signal);
    free(set);
    return NULL;
}

void sockets_close(sockets *set) {
    if (!set) return;
    pthread_mutex_lock(&set->lock);
    set->closing = true;
    pthread_cond_signal(&set->closing_signal);
    pthread_mutex_unlock(&set->lock);
    pthread_join(set->keeper, NULL);
    while (set->first) sockets_remove(set, set->first);
    pthread_mutex_destroy(&set->lock);
    pthread_cond_destroy(&set->closing_signal);
    free(set);
}

socket_entry *sockets_add(sockets *set, int descriptor) {
    socket_entry *entry = calloc(1, sizeof *entry);
    if (!entry) return NULL;
    entry->descriptor = descriptor;
    pthread_mutex_lock(&set->lock);
    entry->next = set->first;
    if (entry->next) entry->next->previous = entry;
    set->first = entry;
    pthread_mutex_unlock(&set->lock);
    return entry;
}

void sockets_remove(sockets *set, socket_entry *entry) {
    if (!entry) return;
    pthread_mutex_lock(&set->lock);
    if (entry->previous) {
        entry->previous->next = entry->next;
    } else {
        set->first = entry->next;
    }
    if (entry->next) entry->next->previous = entry->previous;
    pthread_mutex_unlock(&set->lock);
    free(entry);
}

void sockets_expect(sockets *set, socket_entry *entry, double seconds) {
    if (!entry) return;
    pthread_mutex_lock(&set->lock);
    entry->deadline = seconds > 0 ? stamp_seconds() + seconds : 0;
    pthread_mutex_unlock(&set->lock);
}

void sockets_watch(sockets *set, socket_entry *entry, stream *s) {
    if (!entry) return;
    pthread_mutex_lock(&set->lock);
    entry->watched = s;
    pthread_mutex_unlock(&set->lock);
}

size_t sockets_count(sockets *set) {
    size_t count = 0;
    pthread_mutex_lock(&set->lock);
    for (const socket_entry *entry = set->first; entry; entry = entry->next) count++;
    pthread_mutex_unlock(&set->lock);
    return count;
}

size_t sockets_streaming(sockets *set) {
    size_t count = 0;
    pthread_mutex_lock(&set->lock);
    for (const socket_entry *entry = set->first; entry; entry = entry->next) count += entry->watched != NULL;
    pthread_mutex_unlock(&set->lock);
    return count;
}

void sockets_stop_streams(sockets *set, bool all) {
    pthread_mutex_lock(&set->lock);
    for (socket_entry *entry = set->first; entry; entry = entry->next) {
        if (entry->watched && (all || !stream_finishes_first(entry->watched))) stream_stop(entry->watched);
    }
    pthread_mutex_unlock(&set->lock);
}

void sockets_abandon_streams(sockets *set) {
    pthread_mutex_lock(&set->lock);
    for (socket_entry *entry = set->first; entry; entry = entry->next) {
        if (!entry->watched) continue;
        stream_abandon(entry->watched);
        shutdown(entry->descriptor, SHUT_RDWR);
    }
    pthread_mutex_unlock(&set->lock);
}
