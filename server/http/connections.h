/* connections.h — the registry of open connections, and the watchdog that checks them ten times a second.
 *
 * The timeout of libmicrohttpd starts again with every byte. So a client that sends single bytes can keep a request
 * open forever. Suspended connections have no timeout. Therefore the watchdog
 *   - closes a connection whose request is not complete by its deadline,
 *   - closes a stream whose client reads nothing for `stall_seconds`,
 *   - detects clients that disconnect while their connection is suspended, and cancels their runs.
 *
 * Lock order: the registry's lock first, then a stream's lock. */
#pragma once

#include "server/http/stream.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct connections connections;
typedef struct connection_entry connection_entry;

connections *connections_open(double stall_seconds); /* starts the watchdog; NULL on failure */
void connections_close(connections *set);

connection_entry *connections_add(connections *set, int descriptor); /* NULL if out of memory */
void connections_remove(connections *set, connection_entry *entry);  /* call before closing the descriptor */

/* Sets the deadline of the current request to `seconds` from now; 0 means no deadline. */
void connections_set_deadline(connections *set, connection_entry *entry, double seconds);

/* Sets the stream that the connection reads or waits for, or NULL if there is no stream. The caller must set NULL
 * before it releases the stream. */
void connections_set_stream(connections *set, connection_entry *entry, stream *s);

size_t connections_count(connections *set, bool streaming); /* if `streaming`, counts connections with a stream only */
void connections_stop_streams(connections *set, bool all);  /* if `all` is false, skips those of stream_finish_first */
void connections_abandon_streams(connections *set);
