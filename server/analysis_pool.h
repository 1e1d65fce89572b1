/* analysis_pool.h — analyses of strangers, made by processes of their own (analysis_process.h).
 *
 * A fixed number of processes wait for work. Whatever ends one of them, or has it ended (a crash, memory, time, a client
 * that is gone), ends one analysis: a new process takes its place. An analysis holds a CPU slot while its process
 * computes, and the process is stopped while another has the slot. So `--workers` bounds what computes, and tokens
 * have equal shares, whether they analyse or run.
 *
 * A token that holds as many processes as are free gets no more, so that others find one. */
#ifndef HAMEL_SERVER_ANALYSIS_POOL_H
#define HAMEL_SERVER_ANALYSIS_POOL_H

#include "server/budget.h"
#include "server/log.h"
#include "server/spawner.h"

typedef struct analysis_pool analysis_pool;

/* Forks `count` processes. NULL without memory. The spawner and the log outlive it. */
analysis_pool *analysis_pool_open(spawner *s, size_t count, server_log *log);
void analysis_pool_close(analysis_pool *a); /* after the last analysis_pool_make has returned */

typedef enum analysis_outcome {
    ANALYSIS_ANSWERED, /* the text and its status */
    ANALYSIS_ENDED,    /* the budget's answer was no longer HAMEL_OK */
    ANALYSIS_OUT_OF_MEMORY,
    ANALYSIS_LONG,       /* the report is too long to be sent */
    ANALYSIS_CRASHED,    /* its process ended by itself */
    ANALYSIS_UNAVAILABLE /* the system has no process left, or the daemon no memory */
} analysis_outcome;

typedef struct analysis_result {
    char *text; /* JSON; free() it; NULL unless answered */
    size_t length;
    int refused; /* status of the problem document that the text is; 0: it is the report */
} analysis_result;

/* Has the body of a request analysed, within a budget that has a holder. Waits for a process and for a CPU slot, and for
 * its end. */
analysis_outcome analysis_pool_make(analysis_pool *a, budget *b, const char *request_id, const char *body,
                                    size_t length, analysis_result *result);

#endif
