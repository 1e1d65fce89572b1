/* services.h — services that request handlers and workers use; main.c opens and closes them. */
#pragma once

#include "api/simulate.h"
#include "server/access.h"
#include "server/analysis_pool.h"
#include "server/budget.h"
#include "server/config.h"
#include "server/cpu_slots.h"
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/model_cache.h"
#include "server/tls.h"

typedef struct workers workers;

typedef struct daemon_services {
    const server_config *config;
    server_log *log;
    store *store;
    workers *workers; /* see jobs/workers.h */
    cpu_slots *slots;
    metrics *metrics;
    access_list *access;
    model_cache *models;
    tls_server *tls;         /* NULL for plain HTTP */
    analysis_pool *analyses; /* NULL if analyses run in this process */
    api_limits limits;
    budget_limits budget; /* limits of each request or job */
} daemon_services;
