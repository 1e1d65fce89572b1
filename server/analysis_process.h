/* analysis_process.h — the process that runs analyses, and its protocol with the daemon.
 *
 * FLINT, GMP and MPFR end the process if an allocation fails, and FLINT cannot be interrupted. So analyses for clients
 * run in a separate process. A filter restricts this process to system calls for memory, open descriptors, signals and
 * time (seccomp.h). The memory of the process and the processor time of each analysis are limited. The daemon can stop,
 * resume and kill the process.
 *
 *     daemon to process     analysis_request, then the body of the request
 *     process to daemon     analysis_answer, then its text
 *
 * The process serves one request at a time. The process exits when the socket is closed. The process also exits after
 * an analysis that has used much memory, to return this memory to the system. */
#pragma once

#include "api/simulate.h"
#include "server/seccomp.h"

#include <stdint.h>

/* Settings of all analysis processes. */
typedef struct analysis_setup {
    api_limits limits;
    double memory;      /* allocation limit in bytes beyond the size of a new process; without effect with sanitizers */
    double cpu_seconds; /* processor time of one analysis; 0: no limit */
    seccomp_filter filter;
    void *secrets; /* memory that is overwritten before the first analysis; NULL if there is none */
    size_t secret_bytes;
} analysis_setup;

typedef struct analysis_request {
    uint64_t length;
} analysis_request;

typedef enum analysis_kind {
    ANALYSIS_REPORT,   /* the text is the report */
    ANALYSIS_REFUSED,  /* the text is a problem document */
    ANALYSIS_TOO_LONG, /* the report has more than ANALYSIS_TEXT_MAX bytes */
    ANALYSIS_NO_MEMORY
} analysis_kind;

typedef struct analysis_answer {
    uint64_t length; /* length of the text */
    int32_t kind;    /* analysis_kind */
    int32_t http;    /* HTTP status of ANALYSIS_REFUSED */
    int32_t leaves;  /* 1 if the process exits after this answer */
    int32_t unused;
} analysis_answer;

enum { ANALYSIS_TEXT_MAX = 64 * 1024 * 1024 };

/* Exit statuses. If a library runs out of memory, the process cannot send an answer and exits with
 * ANALYSIS_EXIT_NO_MEMORY. */
enum { ANALYSIS_EXIT_END = 0, ANALYSIS_EXIT_SETUP = 1, ANALYSIS_EXIT_NO_MEMORY = 3 };

/* The functions `prepare` and `run` of a spawner_work. The context is an analysis_setup. */
void analysis_process_prepare(void *setup);
int analysis_process_run(int channel, void *setup);
