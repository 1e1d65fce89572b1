/* analysis_process.h — the process that runs analyses, and its protocol with the daemon.
 *
 * FLINT, GMP and MPFR end the process if an allocation fails, and FLINT cannot be interrupted. So analyses for clients
 * run in a separate process. Its system calls are restricted to memory, its socket and little else (seccomp.h). Its
 * memory is limited, and so is the processor time of each analysis. The daemon can stop, resume and kill it.
 *
 *     daemon to process     analysis_request, then the body of the request
 *     process to daemon     analysis_answer, then its text
 *
 * It serves one request at a time. It ends when the socket is closed, and after an analysis that has used much memory,
 * so that the system gets the memory back. */
#pragma once

#include "api/simulate.h"
#include "server/seccomp.h"

#include <stdint.h>

/* Settings of all these processes. */
typedef struct analysis_setup {
    api_limits limits;
    double memory;      /* bytes that may be allocated beyond the size of a new process; ignored with sanitizers, whose
                            reserved address space would count */
    double cpu_seconds; /* processor time of one analysis; 0: no limit */
    seccomp_filter filter;
    void *secrets; /* memory to overwrite before the first analysis; NULL: nothing */
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
    int32_t leaves;  /* 1 if the process ends after this answer */
    int32_t unused;
} analysis_answer;

enum { ANALYSIS_TEXT_MAX = 64 * 1024 * 1024 };

/* Exit statuses. NO_MEMORY: memory was exhausted inside a library, and no answer could be sent. */
enum { ANALYSIS_EXIT_END = 0, ANALYSIS_EXIT_SETUP = 1, ANALYSIS_EXIT_NO_MEMORY = 3 };

/* Functions for spawner_work; the context is an analysis_setup. */
void analysis_process_prepare(void *setup);
int analysis_process_run(int channel, void *setup);
