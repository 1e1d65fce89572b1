/* http.h — HTTP server: connections, dispatch of requests to handlers, replies. */
#pragma once

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

/* Services used by handlers. All must outlive the server. */
typedef struct http_services {
    const server_config *config;
    server_log *log;
    store *store;
    workers *workers;
    cpu_slots *slots;
    metrics *metrics;
    access_list *access;
    model_cache *models;
    tls_server *tls;         /* NULL for plain HTTP */
    analysis_pool *analyses; /* NULL if analyses run in this process */
    api_limits limits;
    budget_limits budget; /* limits of each request */
} http_services;

/* Listens and serves until http_stop. On failure returns NULL with a message. */
http_server *http_start(const http_services *services, char *message, size_t room);
unsigned http_port(const http_server *server);
address_limits *http_addresses(const http_server *server); /* use on the HTTP thread only */

typedef struct http_load {
    size_t connections, streams, followers;
} http_load;
http_load http_load_of(const http_server *server);
bool http_draining(const http_server *server);

/* Shuts down: refuses new connections and stops answers that wait for jobs. After `patience` seconds it cancels work
 * that cannot be resumed elsewhere (live runs, checks, analyses, results being sent). After `seconds` it closes the
 * remaining connections. Returns when all connections are closed. */
void http_stop(http_server *server, double seconds, double patience);
