/* sockets.h — every open socket, and the keeper that looks after them ten times a second.
 *
 * libmicrohttpd's own timeout counts from the last byte, so one byte now and then keeps a request open for ever, and
 * it does not look at suspended connections at all. The keeper therefore
 *   - closes a connection whose request is not complete by its deadline,
 *   - closes a stream whose reader has taken nothing for the stall limit,
 *   - notices clients that went away while their connection was suspended, and cancels their runs.
 *
 * Lock order: the registry's lock first, a stream's lock after it. */
#ifndef HAMEL_SERVER_HTTP_SOCKETS_H
#define HAMEL_SERVER_HTTP_SOCKETS_H

#include "server/http/stream.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sockets sockets;
typedef struct socket_entry socket_entry;

sockets *sockets_open(double stall_seconds); /* starts the keeper; NULL when it cannot */
void sockets_close(sockets *set);

socket_entry *sockets_add(sockets *set, int descriptor); /* NULL without memory */
void sockets_remove(sockets *set, socket_entry *entry);  /* before the descriptor is closed */

/* The request under way must be complete in so many seconds; 0: no deadline. */
void sockets_expect(sockets *set, socket_entry *entry, double seconds);

/* The stream that the connection waits for or reads, or NULL. Borrowed: withdrawn before it is released. */
void sockets_watch(sockets *set, socket_entry *entry, stream *s);

size_t sockets_count(sockets *set);
size_t sockets_streaming(sockets *set);            /* connections with a stream */
void sockets_stop_streams(sockets *set, bool all); /* or only those that need not finish first */
void sockets_abandon_streams(sockets *set);

#endif
