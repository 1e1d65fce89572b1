/* jobs.c — hamel jobs, status and cancel: lists, shows and cancels jobs on a server. The output is text, with one or
 * more lines for each job, or JSON, with one document per line. */
#include "clients/cli/remote/job_client.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 50, PAGE = 500, COUNT_MOST = 1000000000, QUERY_MAX_BYTES = 1024 };

static int read_format(const cli_arguments *arguments, bool *json) {
    static const char *const formats[] = {"text", "json"};
    size_t format;
    int status = cli_option_choice(arguments, "format", formats, 2, &format);
    *json = format == 1;
    return status;
}

/* Returns the length of a text from a server up to its first control character. Control characters could alter the
 * terminal. */
static int printable(const char *text) {
    int length = 0;
    while (text[length] != '\0' && (unsigned char)text[length] >= 0x20 && text[length] != 0x7f) length++;
    return length;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static void print_line(const cJSON *job) {
    const char *name = json_text_at(job, "name");
    printf("%-32s  %-10s  %3d %%  %.19sZ  %.*s\n", json_text_at(job, "id"), json_text_at(job, "status"),
           (int)(100 * job_progress(job)), json_text_at(job, "created"), printable(name), name);
}

static int ask_page(const job_client *c, size_t count, const char *cursor, cJSON **page) {
    static const char *const filters[] = {"status", "name", "batch"};
    text_buffer query;
    char limit[24];
    text_buffer_init(&query, QUERY_MAX_BYTES);
    snprintf(limit, sizeof limit, "%zu", count < PAGE ? count : PAGE);
    job_query_add(&query, "limit", limit);
    for (size_t k = 0; k < sizeof filters / sizeof filters[0]; k++)
        job_query_add(&query, filters[k], cli_option_value(c->arguments, filters[k]));
    job_query_add(&query, "cursor", cursor[0] != '\0' ? cursor : NULL);
    if (query.failed) cli_say("the query is too long; shorten the options");
    int status = query.failed ? CLI_USAGE : job_ask(c, "GET", query.bytes, page);
    text_buffer_free(&query);
    return status;
}

/* Requests the list page by page. Each page contains the cursor for the request of the next page. */
static int list_jobs(const cli_arguments *arguments) {
    job_client c;
    bool json = false;
    size_t left = LISTED;
    char cursor[128] = "";
    int status = job_client_open(&c, arguments, false);
    if (status == CLI_OK) status = read_format(arguments, &json);
    if (status == CLI_OK) status = cli_option_whole(arguments, "limit", 1, COUNT_MOST, &left);
    while (status == CLI_OK && left > 0) {
        cJSON *page = NULL;
        status = ask_page(&c, left, cursor, &page);
        const cJSON *job = json_first_at(page, "items");
        for (; job != NULL && left > 0 && status == CLI_OK; job = job->next, left--) {
            if (json) status = cli_print_json(job);
            if (!json) print_line(job);
        }
        snprintf(cursor, sizeof cursor, "%s", json_text_at(page, "next"));
        cJSON_Delete(page);
        if (cursor[0] == '\0') break;
    }
    return cli_finish_stdout(status);
}

const cli_command cli_jobs = {
    .name = "jobs",
    .synopsis = "[OPTIONS]",
    .summary = "list the jobs of a server, newest first",
    .about = "Each line contains the id, status, progress, time of submission and name of a job.\n\n"
             "Examples:\n"
             "  hamel jobs --server http://127.0.0.1:8080\n"
             "  hamel jobs --status failed --format json\n",
    .options =
        (const cli_option[]){
            {"status", "NAME", NULL, "list only queued, running, completed, incomplete, failed or canceled jobs"},
            {"name", "TEXT", NULL, "list only jobs of systems with this name"},
            {"batch", "ID", NULL, "list only the members of this batch"},
            {"limit", "N", NULL, "list at most N jobs (50)"},
            {"format", "NAME", NULL, "print text, or json with one document per line (text)"},
            JOB_OPTIONS,
            {0},
        },
    .run = list_jobs,
};

/* --- status ------------------------------------------------------------------------------------------------------- */

static void print_field(const char *label, const char *text) {
    if (text[0] != '\0') printf("  %-10s  %.*s\n", label, printable(text), text);
}

static void print_job(const cJSON *job) {
    static const char *const keys[] = {"created", "started", "finished", "batch"};
    const cJSON *problem = json_at(job, "problem");
    const cJSON *rows = json_at(json_at(job, "summary"), "rows");
    printf("%s\n", json_text_at(job, "id"));
    print_field("name", json_text_at(job, "name"));
    print_field("status", json_text_at(job, "status"));
    printf("  %-10s  %d %%\n", "progress", (int)(100 * job_progress(job)));
    if (cJSON_IsNumber(rows)) printf("  %-10s  %.0f\n", "rows", rows->valuedouble);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) print_field(keys[k], json_text_at(job, keys[k]));
    print_field("problem", json_text_at(problem, json_text_at(problem, "detail")[0] != '\0' ? "detail" : "title"));
}

/* Sends a request for each job in the arguments, and prints each response. Returns the exit code of the first
 * failure. */
static int for_each_job(const cli_arguments *arguments, const char *method, const char *rest,
                        void (*print)(const cJSON *job)) {
    job_client c;
    bool json = false;
    int status = job_client_open(&c, arguments, true);
    if (status == CLI_OK) status = read_format(arguments, &json);
    if (status != CLI_OK) return status;
    for (size_t k = 0; k < arguments->operand_count; k++) {
        cJSON *job = NULL;
        int one = job_ask_one(&c, method, arguments->operands[k], rest, &job);
        if (one == CLI_OK && json && job != NULL) one = cli_print_json(job);
        if (one == CLI_OK && !json && job != NULL) print(job);
        cJSON_Delete(job);
        if (status == CLI_OK) status = one;
    }
    return cli_finish_stdout(status);
}

static int show_status(const cli_arguments *arguments) {
    return for_each_job(arguments, "GET", "", print_job);
}

const cli_command cli_status = {
    .name = "status",
    .synopsis = "JOB... [OPTIONS]",
    .summary = "show the status of jobs on a server",
    .about = "JOB is an id printed by hamel submit or hamel jobs.\n\n"
             "Example:\n"
             "  hamel status $job --format json\n",
    .options =
        (const cli_option[]){
            {"format", "NAME", NULL, "print text, or json with one document per line (text)"},
            JOB_OPTIONS,
            {0},
        },
    .operands = {1, SIZE_MAX},
    .run = show_status,
};

/* --- cancel ------------------------------------------------------------------------------------------------------- */

static void print_state(const cJSON *job) {
    printf("%s %s\n", json_text_at(job, "id"), json_text_at(job, "status"));
}

static int cancel(const cli_arguments *arguments) {
    if (cli_option_value(arguments, "forget") != NULL) return for_each_job(arguments, "DELETE", "", print_state);
    return for_each_job(arguments, "POST", "/cancel", print_state);
}

const cli_command cli_cancel = {
    .name = "cancel",
    .synopsis = "JOB... [OPTIONS]",
    .summary = "cancel jobs on a server, or delete them with --forget",
    .about = "A job that has ended keeps its status. Each line contains the id and status of a job.\n"
             "Deleted jobs are not printed.\n\n"
             "Examples:\n"
             "  hamel cancel $job\n"
             "  hamel cancel $job --forget\n",
    .options =
        (const cli_option[]){
            {"forget", NULL, NULL, "delete the jobs and their rows, even if the jobs have ended"},
            {"format", "NAME", NULL, "print text, or json with one document per line (text)"},
            JOB_OPTIONS,
            {0},
        },
    .operands = {1, SIZE_MAX},
    .run = cancel,
};
