/* connections.c — registry and watchdog of connections; see connections.h. Connections are ended by shutdown() and not
 * by close(), because the descriptor belongs to libmicrohttpd. The library then detects the end of the connection and
 * cleans up on its own thread. */
#include "server/http/connections.h"

#include "server/clock.h"
#include "server/periodic.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#define ROUND_SECONDS 0.1

/* A client that has only closed its sending half may still read. Such a client cannot be distinguished from a vanished
 * client until something is sent. So after an end of file the stream is canceled if nothing has been written for
 * DOUBT_SECONDS. A larger value lets a run compute for longer after its client has vanished. A smaller value cancels
 * runs that write less often and whose client still reads. */
#define DOUBT_SECONDS 2.0

struct connection_entry {
    int descriptor;
    double deadline; /* 0: no deadline */
    stream *watched;
    connection_entry *previous, *next;
};

struct connections {
    pthread_mutex_t lock;
    periodic *watchdog;
    connection_entry *first;
    double stall_seconds;
};

static bool client_gone(const connection_entry *entry) {
    struct pollfd look = {.fd = entry->descriptor, .events = POLLRDHUP};
    if (poll(&look, 1, 0) <= 0) return false;
    if (look.revents & (POLLHUP | POLLERR | POLLNVAL)) return true;
    return (look.revents & POLLRDHUP) && stream_quiet_seconds(entry->watched) > DOUBT_SECONDS;
}

static void watch_connection(connections *set, connection_entry *entry, double now) {
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

static double watch_connections(void *context) {
    connections *set = context;
    double now = clock_seconds();
    pthread_mutex_lock(&set->lock);
    for (connection_entry *entry = set->first; entry; entry = entry->next) watch_connection(set, entry, now);
    pthread_mutex_unlock(&set->lock);
    return ROUND_SECONDS;
}

connections *connections_open(double stall_seconds) {
    connections *set = calloc(1, sizeof *set);
    if (!set) return NULL;
    pthread_mutex_init(&set->lock, NULL);
    set->stall_seconds = stall_seconds;
    set->watchdog = periodic_start("hamel-watchdog", 0, watch_connections, set);
    if (set->watchdog) return set;
    pthread_mutex_destroy(&set->lock);
    free(set);
    return NULL;
}

void connections_close(connections *set) {
    if (!set) return;
    periodic_stop(set->watchdog);
    while (set->first) connections_remove(set, set->first);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

connection_entry *connections_add(connections *set, int descriptor) {
    connection_entry *entry = calloc(1, sizeof *entry);
    if (!entry) return NULL;
    entry->descriptor = descriptor;
    pthread_mutex_lock(&set->lock);
    entry->next = set->first;
    if (entry->next) entry->next->previous = entry;
    set->first = entry;
    pthread_mutex_unlock(&set->lock);
    return entry;
}

void connections_remove(connections *set, connection_entry *entry) {
    if (!entry) return;
    pthread_mutex_lock(&set->lock);
    *(entry->previous ? &entry->previous->next : &set->first) = entry->next;
    if (entry->next) entry->next->previous = entry->previous;
    pthread_mutex_unlock(&set->lock);
    free(entry);
}

void connections_set_deadline(connections *set, connection_entry *entry, double seconds) {
    if (!entry) return;
    pthread_mutex_lock(&set->lock);
    entry->deadline = seconds > 0 ? clock_seconds() + seconds : 0;
    pthread_mutex_unlock(&set->lock);
}

void connections_set_stream(connections *set, connection_entry *entry, stream *s) {
    if (!entry) return;
    pthread_mutex_lock(&set->lock);
    entry->watched = s;
    pthread_mutex_unlock(&set->lock);
}

size_t connections_count(connections *set, bool streaming) {
    size_t count = 0;
    pthread_mutex_lock(&set->lock);
    for (const connection_entry *entry = set->first; entry; entry = entry->next) count += !streaming || entry->watched;
    pthread_mutex_unlock(&set->lock);
    return count;
}

void connections_stop_streams(connections *set, bool all) {
    pthread_mutex_lock(&set->lock);
    for (connection_entry *entry = set->first; entry; entry = entry->next)
        if (entry->watched && (all || !stream_finishes_first(entry->watched))) stream_stop(entry->watched);
    pthread_mutex_unlock(&set->lock);
}

void connections_abandon_streams(connections *set) {
    pthread_mutex_lock(&set->lock);
    for (connection_entry *entry = set->first; entry; entry = entry->next) {
        if (!entry->watched) continue;
        stream_abandon(entry->watched);
        shutdown(entry->descriptor, SHUT_RDWR);
    }
    pthread_mutex_unlock(&set->lock);
}
