/* analysis_process.c — limits and main loop of an analysis process; see analysis_process.h. */
#include "server/analysis_process.h"

#include "api/analyze.h"
#include "api/json/text.h"
#include "server/clock.h"
#include "server/metrics.h"

#include <errno.h>
#include <flint/flint.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A process is replaced when it has grown by GROWN_KIB or has served REQUESTS_MAX requests. With these bounds, forks
 * are rare. Measured: the structure and equations of an example in api/examples need 1 to 3 MiB, and a fork takes 1
 * ms. */
enum { GROWN_KIB = 32 * 1024, REQUESTS_MAX = 1000 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

extern char **environ;

/* This request makes the process load the tables of FLINT and the list of units. Once the filter of system calls is
 * installed, the process cannot open the file of units. */
static const char warm_up[] =
    "{\"system\": {\"hamel\": 1, \"coordinates\": [{\"name\": \"x\", \"unit\": \"m\"}, {\"name\": \"a\"}],"
    "\"kinetic_energy\": \"x'^2/2 + (a'^2 + 2*x'*a'*cos(a))/2\"}, \"analyses\": [\"structure\", \"equations\"]}";

void analysis_process_prepare(void *context) {
    const analysis_setup *setup = context;
    api_failure failure = {0};
    cJSON_Delete(api_analyze_request(warm_up, sizeof warm_up - 1, &setup->limits, NULL, &failure));
    api_failure_clear(&failure);
    if (setup->secrets) explicit_bzero(setup->secrets, setup->secret_bytes);
    for (char **entry = environ; entry && *entry; entry++) explicit_bzero(*entry, strlen(*entry));
}

static void *or_end(void *block) {
    if (!block) _exit(ANALYSIS_EXIT_NO_MEMORY);
    return block;
}

static void *process_allocate(size_t size) {
    return or_end(malloc(size));
}

static void *allocate_zeroed(size_t count, size_t size) {
    return or_end(calloc(count, size));
}

static void *reallocate(void *block, size_t size) {
    return or_end(realloc(block, size));
}

static void *reallocate_known(void *block, size_t old_size, size_t size) {
    (void)old_size;
    return reallocate(block, size);
}

static void free_known(void *block, size_t size) {
    (void)size;
    free(block);
}

/* Makes the libraries exit with ANALYSIS_EXIT_NO_MEMORY if memory is exhausted; by default they abort. */
static void end_without_memory(void) {
    mp_set_memory_functions(process_allocate, reallocate_known, free_known); /* also used by MPFR */
    __flint_set_memory_functions(process_allocate, allocate_zeroed, reallocate, free);
}

/* Lowers a limit to `most` or to its hard limit, whichever is lower. If `finally` is true, also lowers the hard
 * limit. */
static bool limit_to(__rlimit_resource_t resource, double most, bool finally) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return false;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || most < (double)limit.rlim_max ? (rlim_t)most : limit.rlim_max;
    if (finally) limit.rlim_max = limit.rlim_cur;
    return setrlimit(resource, &limit) == 0;
}

/* Raises the out-of-memory score of this process by half of the maximum (1000). If the machine runs out of memory, the
 * kernel therefore kills this process before the daemon. */
static void volunteer(void) {
    FILE *file = fopen("/proc/self/oom_score_adj", "w");
    if (!file) return;
    fputs("500", file);
    fclose(file);
}

static bool set_up(const analysis_setup *setup) {
    double data = metrics_memory_bytes(6) + setup->memory;
    volunteer();
    end_without_memory();
    bool limited = limit_to(RLIMIT_CORE, 0, true) && limit_to(RLIMIT_FSIZE, setup->memory, true) &&
                   (SANITIZED || limit_to(RLIMIT_DATA, data, true));
    return limited && seccomp_install_filter(&setup->filter);
}

static bool receive_all(int channel, void *to, size_t length) {
    size_t got = 0;
    while (got < length) {
        ssize_t n = recv(channel, (char *)to + got, length - got, MSG_WAITALL);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) got += (size_t)n;
    }
    return true;
}

static bool send_all(int channel, const void *from, size_t length) {
    size_t sent = 0;
    while (sent < length) {
        ssize_t n = send(channel, (const char *)from + sent, length - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) sent += (size_t)n;
    }
    return true;
}

/* Limits the processor time of the next analysis; beyond the limit SIGXCPU ends the process. The limit is one second
 * above the limit of the daemon, so the daemon normally ends the analysis and reports the reason. */
static bool limit_next_analysis(const analysis_setup *setup) {
    struct rusage used;
    if (setup->cpu_seconds <= 0 || getrusage(RUSAGE_SELF, &used) != 0) return true;
    double until = ceil(clock_used_seconds(&used) + setup->cpu_seconds + 1);
    return limit_to(RLIMIT_CPU, until, false);
}

static long peak_kib(void) {
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

/* Returns the text of the answer; the caller frees it. */
static char *analyze_request(const analysis_setup *setup, const char *body, size_t length, analysis_answer *answer) {
    api_failure failure = {0};
    cJSON *report = api_analyze_request(body, length, &setup->limits, NULL, &failure);
    const cJSON *shown = report ? report : failure.problem;
    bool starved = !report && (failure.http == 503 || !failure.problem);
    char *text = starved ? NULL : json_text(shown);
    *answer = (analysis_answer){.kind = report ? ANALYSIS_REPORT : ANALYSIS_REFUSED, .http = failure.http};
    cJSON_Delete(report);
    api_failure_clear(&failure);
    if (!text) {
        answer->kind = ANALYSIS_NO_MEMORY;
    } else if (strlen(text) > ANALYSIS_TEXT_MAX) {
        answer->kind = ANALYSIS_TOO_LONG;
        free(text);
        text = NULL;
    }
    answer->length = text ? strlen(text) : 0;
    return text;
}

int analysis_process_run(int channel, void *context) {
    const analysis_setup *setup = context;
    long first_peak = peak_kib();
    if (!set_up(setup)) return ANALYSIS_EXIT_SETUP;
    for (int served = 1;; served++) {
        analysis_request request;
        analysis_answer answer;
        if (!receive_all(channel, &request, sizeof request)) return ANALYSIS_EXIT_END;
        char *body = process_allocate(request.length + 1);
        if (!receive_all(channel, body, request.length) || !limit_next_analysis(setup)) return ANALYSIS_EXIT_SETUP;
        char *text = analyze_request(setup, body, request.length, &answer);
        free(body);
        answer.leaves = served == REQUESTS_MAX || peak_kib() - first_peak > GROWN_KIB;
        bool sent = send_all(channel, &answer, sizeof answer) && send_all(channel, text, answer.length);
        free(text);
        if (!sent || answer.leaves) return ANALYSIS_EXIT_END;
    }
}
