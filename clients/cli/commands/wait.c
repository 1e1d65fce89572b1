/* wait.c — hamel wait: waits until jobs on a server have ended, and returns the exit code of their runs.
 *
 * The server sends changes as server-sent events (HTML standard, 9.2). If the stream ends before the job has ended, the
 * command requests the stream again. */
#include "clients/cli/commands/simulation.h"
#include "clients/cli/remote/job_client.h"
#include "clients/cli/remote/remote_problem.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Updates the progress bar from one line of the stream. The command requests the final state of the job after the end
 * of the stream. */
static bool take_event_line(void *context, const char *bytes, size_t length) {
    static const char data[] = "data: ";
    progress_bar *shown = context;
    if (length < sizeof data || memcmp(bytes, data, sizeof data - 1) != 0) return true;
    cJSON *change = json_parse(bytes + sizeof data - 1, length - (sizeof data - 1), NULL, NULL);
    if (change != NULL) progress_bar_show(shown, job_progress(change));
    cJSON_Delete(change);
    return true;
}

static int follow_events(const job_client *c, const char *id, progress_bar *shown) {
    char path[128];
    snprintf(path, sizeof path, "/v1/jobs/%s/events", id);
    exchange x = {.method = "GET",
                  .path = path,
                  .accept = "text/event-stream",
                  .lively = true,
                  .line = take_event_line,
                  .context = shown};
    bool good = exchange_run(&x, &c->server) && (x.streamed || x.status == 204);
    int status = good ? CLI_OK : exchange_failed(&x, &c->server);
    exchange_clear(&x);
    return status;
}

/* Prints the id and status of the job, then its warnings or errors as hamel run does. Returns the exit code. */
static int judge_job(const cJSON *job) {
    const char *id = json_text_at(job, "id");
    const cJSON *problem = json_at(job, "problem");
    printf("%s %s\n", id, json_text_at(job, "status"));
    fflush(stdout);
    if (strcmp(json_text_at(job, "status"), "canceled") == 0) return CLI_RUN_FAILED;
    if (!cJSON_IsObject(problem)) return cli_say_warnings(json_at(job, "summary"), id);
    api_failure failure = {0};
    remote_failure(&failure, problem, NULL, id);
    int status = cli_say_failure(&failure);
    api_failure_clear(&failure);
    return status;
}

static int wait_for_job(const job_client *c, const char *id, progress_bar *shown) {
    const struct timespec pause = {.tv_sec = 1};
    for (bool again = false;; again = true) {
        cJSON *job = NULL;
        int status = job_ask_one(c, "GET", id, "", &job);
        bool ended = status == CLI_OK && job_has_ended(job);
        if (ended) {
            progress_bar_erase(shown);
            status = judge_job(job);
        }
        cJSON_Delete(job);
        if (ended || status != CLI_OK) return status;
        if (again) nanosleep(&pause, NULL);
        status = follow_events(c, id, shown);
        progress_bar_erase(shown);
        if (status != CLI_OK) return status;
    }
}

static int wait_for_jobs(const cli_arguments *arguments) {
    job_client c;
    progress_bar shown;
    int status = job_client_open(&c, arguments, true);
    if (status != CLI_OK) return status;
    progress_bar_init(&shown, false);
    for (size_t k = 0; k < arguments->operand_count; k++) {
        int one = wait_for_job(&c, arguments->operands[k], &shown);
        if (status == CLI_OK) status = one;
    }
    return cli_finish_stdout(status);
}

const cli_command cli_wait = {
    .name = "wait",
    .synopsis = "JOB... [OPTIONS]",
    .summary = "wait until jobs on a server have ended; exit code as for hamel run",
    .about = "When a job has ended, its id and status are printed. The exit code is that of the first job that is not\n"
             "completed, or 4 if that job was canceled.\n\n"
             "Example:\n"
             "  hamel wait $(hamel submit a.json b.json) && echo all completed\n",
    .options = (const cli_option[]){JOB_OPTIONS, {0}},
    .operands = {1, SIZE_MAX},
    .run = wait_for_jobs,
};
