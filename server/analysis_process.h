/* analysis_process.h — the process that makes the analyses of strangers, and what it exchanges with the daemon.
 *
 * FLINT, GMP and MPFR end the process when an allocation fails, and FLINT cannot be interrupted. So symbolic work of
 * strangers is done here: the process has system calls for memory, its socket and little else (confine.h), a limit on
 * memory, and a limit on processor time for each analysis. The daemon can stop it, resume it and kill it.
 *
 *     daemon to process     analysis_request, then the body of the request
 *     process to daemon     analysis_answer, then its text
 *
 * One at a time. The process ends when the socket does, and after an analysis that took much memory, so that the system
 * has it back. */
#ifndef HAMEL_SERVER_ANALYSIS_PROCESS_H
#define HAMEL_SERVER_ANALYSIS_PROCESS_H

#include "api/simulate.h"
#include "server/confine.h"

#include <stdint.h>

/* What all these processes have from the daemon. */
typedef struct analysis_setup {
    api_limits limits;
    double memory;      /* bytes that may be allocated beyond what a new process has; not with sanitizers, which
                            reserve address space that this limit would count */
    double cpu_seconds; /* of one analysis; 0: no limit */
    confine_filter filter;
    void *secrets; /* overwritten before anything is analysed; NULL: none */
    size_t secret_bytes;
} analysis_setup;

typedef struct analysis_request {
    uint64_t length;
} analysis_request;

typedef enum analysis_kind {
    ANALYSIS_REPORT,   /* text: the JSON to answer with */
    ANALYSIS_REFUSED,  /* text: a problem document */
    ANALYSIS_TOO_LONG, /* the report has more than ANALYSIS_TEXT_MAX bytes */
    ANALYSIS_NO_MEMORY
} analysis_kind;

typedef struct analysis_answer {
    uint64_t length; /* of the text */
    int32_t kind;    /* an analysis_kind */
    int32_t http;    /* status of a refusal */
    int32_t leaves;  /* 1: the process ends now */
    int32_t unused;
} analysis_answer;

enum { ANALYSIS_TEXT_MAX = 64 * 1024 * 1024 };

/* Its exit status. Memory can also end inside a library, where nothing can be sent. */
enum { ANALYSIS_EXIT_END = 0, ANALYSIS_EXIT_SETUP = 1, ANALYSIS_EXIT_NO_MEMORY = 3 };

/* For spawner_work, with a setup as the context. */
void analysis_process_prepare(void *setup);
int analysis_process_run(int channel, void *setup);

#endif
