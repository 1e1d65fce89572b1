/* http.h — the front of the daemon: sockets in, requests to handlers, replies out. */
#ifndef HAMEL_SERVER_HTTP_HTTP_H
#define HAMEL_SERVER_HTTP_HTTP_H

#include "api/simulate.h"
#include "server/access.h"
#include "server/analysis_pool.h"
#include "server/budget.h"
#include "server/config.h"
#include "server/cpu_slots.h"
#include "server/http/address_limits.h"
#include "server/jobs/store.h"
#include "server/jobs/workers.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/model_cache.h"
#include "server/tls.h"

typedef struct http_server http_server;

/* What handlers may use. All outlive the server. */
typedef struct http_services {
    const server_config *config;
    server_log *log;
    store *store;
    workers *workers;
    cpu_slots *slots;
    metrics *metrics;
    access_list *access;
    model_cache *models;
    tls_server *tls;         /* NULL: plain HTTP */
    analysis_pool *analyses; /* NULL: made in this process */
    api_limits limits;
    budget_limits budget; /* of each request */
} http_services;

/* Listens and serves until http_stop. NULL with a message when it cannot. */
http_server *http_start(const http_services *services, char *message, size_t room);
unsigned http_port(const http_server *server);
address_limits *http_addresses(const http_server *server); /* for its own thread */

typedef struct http_load {
    size_t connections, streams, followers;
} http_load;
http_load http_load_of(const http_server *server);
bool http_draining(const http_server *server);

/* Ends in order: no new connections; what waits for jobs is told to stop and says so to its client, and what exists
 * only here (live runs, checks, analyses, results under way) after `patience` seconds; what is not done after `seconds`
 * is cut off. Returns when all is closed. */
void http_stop(http_server *server, double seconds, double patience);

#endif
