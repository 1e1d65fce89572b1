/* http.h — HTTP server: connections, dispatch of requests to handlers, replies. */
#pragma once

#include "server/http/address_limits.h"
#include "server/services.h"

typedef struct http_server http_server;

/* Listens and serves until http_stop. On failure returns NULL with a message. */
http_server *http_start(const daemon_services *services, char *message, size_t room);
unsigned http_port(const http_server *server);
address_limits *http_addresses(const http_server *server); /* use on the HTTP thread only */

typedef struct http_load {
    size_t connections, streams, followers;
} http_load;
http_load http_load_of(const http_server *server);
bool http_draining(const http_server *server);

/* Shuts down: refuses new connections and ends responses that wait for jobs. After `patience` seconds the server
 * cancels work that cannot be resumed elsewhere (live runs, checks, analyses, responses with results). After `seconds`
 * the server closes the remaining connections. Returns when all connections are closed. */
void http_stop(http_server *server, double seconds, double patience);
