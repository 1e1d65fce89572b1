/* wait.c — hamel wait: until jobs on a server have ended; the exit code is that of their runs.
 *
 * Changes come as server-sent events (HTML standard, 9.2). A stream that ends without the job's end is asked for
 * again. */
#include "clients/cli/bar.h"
#include "clients/cli/job_client.h"
#include "clients/cli/judge.h"
#include "clients/cli/remote_problem.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* One line of the stream: only what moves the bar is of interest; the job itself is looked at when the stream ends. */
static bool take_line(void *context, const char *bytes, size_t length) {
    static const char data[] = "data: ";
    bar *shown = context;
    if (length < sizeof data || memcmp(bytes, data, sizeof data - 1) != 0) return true;
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *change = json_parse(bytes + sizeof data - 1, length - (sizeof data - 1), &limits, &fault);
    if (change != NULL) bar_show(shown, job_progress(change));
    cJSON_Delete(change);
    return true;
}

static int follow_events(const job_client *c, const char *id, bar *shown) {
    char path[128];
    snprintf(path, sizeof path, "/v1/jobs/%s/events", id);
    exchange x = {.method = "GET",
                  .path = path,
                  .accept = "text/event-stream",
                  .lively = true,
                  .line = take_line,
                  .context = shown};
    bool good = exchange_run(&x, &c->place) && (x.streamed || x.status == 204);
    int status = good ? CLI_OK : exchange_failed(&x, &c->place);
    exchange_clear(&x);
    return status;
}

/* What has become of it, as hamel run says it. */
static int judge_job(const cJSON *job) {
    const char *id = job_text(job, "id");
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(job, "problem");
    printf("%s %s\n", id, job_text(job, "status"));
    fflush(stdout);
    if (strcmp(job_text(job, "status"), "canceled") == 0) return CLI_RUN_FAILED;
    if (!cJSON_IsObject(problem)) return judge_summary(cJSON_GetObjectItemCaseSensitive(job, "summary"), id);
    api_failure failure = {0};
    remote_failure(&failure, problem, NULL, id);
    int status = cli_say_failure(&failure);
    api_failure_clear(&failure);
    return status;
}

static int wait_for_job(const job_client *c, const char *id, bar *shown) {
    const struct timespec pause = {.tv_sec = 1};
    for (bool again = false;; again = true) {
        cJSON *job = NULL;
        int status = job_ask_one(c, "GET", id, "", &job);
        bool ended = status == CLI_OK && job_has_ended(job);
        if (ended) {
            bar_erase(shown);
            status = judge_job(job);
        }
        cJSON_Delete(job);
        if (ended || status != CLI_OK) return status;
        if (again) nanosleep(&pause, NULL);
        status = follow_events(c, id, shown);
        bar_erase(shown);
        if (status != CLI_OK) return status;
    }
}

static int wait_for_jobs(const cli_arguments *arguments) {
    job_client c;
    bar shown;
    int status = job_client_open(&c, arguments, true);
    if (status != CLI_OK) return status;
    bar_init(&shown, false);
    for (size_t k = 0; k < arguments->operand_count; k++) {
        int one = wait_for_job(&c, arguments->operands[k], &shown);
        if (status == CLI_OK) status = one;
    }
    int written = cli_flush_stdout();
    return status != CLI_OK ? status : written;
}

static const cli_option options[] = {JOB_OPTIONS, {0}};

const cli_command cli_wait = {
    .name = "wait",
    .synopsis = "JOB... [OPTIONS]",
    .summary = "wait until jobs on a server have ended; exit code as from hamel run",
    .about =
        "A line for each job that has ended has its id and status. The first job that was not completed gives the\n"
        "exit code; 4 when it was canceled.\n\n"
        "Example:\n"
        "  hamel wait $(hamel submit a.json b.json) && echo all completed\n",
    .options = options,
    .operands_min = 1,
    .operands_max = (size_t)-1,
    .run = wait_for_jobs,
};
