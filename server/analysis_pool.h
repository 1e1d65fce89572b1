/* analysis_pool.h — runs analyses in separate processes (analysis_process.h).
 *
 * A fixed number of processes wait for requests. A process may crash, or be killed because of its memory, its time
 * or a disconnected client. In each case only its current analysis ends, and a new process replaces it. An analysis
 * holds a CPU slot while its process computes; the process is suspended (SIGSTOP) while another thread has the slot.
 * Therefore `--workers` bounds the number of computing threads and processes, and token owners get equal shares for
 * analyses and runs.
 *
 * An owner gets a process only if more processes are free than this owner holds. So at least one process stays free
 * for other owners. */
#pragma once

#include "server/budget.h"
#include "server/log.h"
#include "server/spawner.h"

typedef struct analysis_pool analysis_pool;

/* Forks `count` processes. Returns NULL if out of memory. The spawner and the log must outlive the pool. */
analysis_pool *analysis_pool_open(spawner *s, size_t count, server_log *log);
void analysis_pool_close(analysis_pool *a); /* call after the last analysis_pool_make has returned */

typedef enum analysis_outcome {
    ANALYSIS_ANSWERED, /* `text` and `refused` are set */
    ANALYSIS_ENDED,    /* the budget was used up, or the request was canceled */
    ANALYSIS_OUT_OF_MEMORY,
    ANALYSIS_LONG,       /* the report is too long to be sent */
    ANALYSIS_CRASHED,    /* the process ended unexpectedly */
    ANALYSIS_UNAVAILABLE /* no process could be forked, or memory of the daemon is exhausted */
} analysis_outcome;

typedef struct analysis_result {
    char *text; /* JSON, to be freed by the caller; NULL unless ANALYSIS_ANSWERED */
    size_t length;
    int refused; /* HTTP status if the text is a problem document; 0 if it is the report */
} analysis_result;

/* Analyzes the body of a request. The budget must have an owner. Returns when the analysis or the budget has ended. */
analysis_outcome analysis_pool_make(analysis_pool *a, budget *b, const char *request_id, const char *body,
                                    size_t length, analysis_result *result);
