/* jobs.c — hamel jobs, status and cancel: the jobs of a server, seen and ended. As text a line (or a few) for each; as
 * JSON the server's documents, one a line. */
#include "clients/cli/job_client.h"

#include "api/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 50, PAGE = 500, QUERY_MAX_BYTES = 1024 };

/* *json: documents are asked for. CLI_USAGE after saying that --format is neither. */
static int read_format(const cli_arguments *arguments, bool *json) {
    const char *format = cli_option_value(arguments, "format");
    *json = format != NULL && strcmp(format, "json") == 0;
    if (format == NULL || *json || strcmp(format, "text") == 0) return CLI_OK;
    cli_say("unknown format `%s`: text or json", format);
    return CLI_USAGE;
}

static int print_document(const cJSON *job) {
    char *text = json_text(job);
    if (text != NULL) puts(text);
    if (text == NULL) cli_say("memory could not be allocated");
    free(text);
    return text != NULL ? CLI_OK : CLI_IO;
}

/* Texts of a server end where a terminal would take them for more than text. */
static int printable(const char *text) {
    int length = 0;
    while (text[length] != '\0' && (unsigned char)text[length] >= 0x20 && text[length] != 0x7f) length++;
    return length;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static void print_line(const cJSON *job) {
    const char *name = job_text(job, "name");
    printf("%-32s  %-10s  %3d %%  %.19sZ  %.*s\n", job_text(job, "id"), job_text(job, "status"),
           (int)(100 * job_progress(job)), job_text(job, "created"), printable(name), name);
}

static int read_limit(const cli_arguments *arguments, size_t *limit) {
    const char *text = cli_option_value(arguments, "limit");
    char *end = NULL;
    unsigned long value = text != NULL ? strtoul(text, &end, 10) : LISTED;
    *limit = value;
    if (text == NULL || (*end == '\0' && text[0] >= '0' && text[0] <= '9' && value > 0)) return CLI_OK;
    cli_say("--limit is a number from 1, not `%s`", text);
    return CLI_USAGE;
}

static int ask_page(const job_client *c, size_t count, const char *cursor, cJSON **page) {
    static const char *const filters[] = {"status", "name", "batch"};
    text_buffer query;
    char limit[24];
    text_buffer_init(&query, QUERY_MAX_BYTES);
    snprintf(limit, sizeof limit, "%zu", count < PAGE ? count : PAGE);
    job_query_add(&query, "limit", limit);
    for (size_t k = 0; k < sizeof filters / sizeof filters[0]; k++) {
        job_query_add(&query, filters[k], cli_option_value(c->arguments, filters[k]));
    }
    job_query_add(&query, "cursor", cursor[0] != '\0' ? cursor : NULL);
    int status = CLI_USAGE;
    if (query.failed) {
        cli_say("the request is too long");
    } else {
        status = job_ask(c, "GET", query.bytes, page);
    }
    text_buffer_free(&query);
    return status;
}

/* Page by page; each says where the next begins. */
static int list_jobs(const cli_arguments *arguments) {
    job_client c;
    bool json = false;
    size_t left = 0;
    char cursor[128] = "";
    int status = job_client_open(&c, arguments, false);
    if (status == CLI_OK) status = read_format(arguments, &json);
    if (status == CLI_OK) status = read_limit(arguments, &left);
    while (status == CLI_OK && left > 0) {
        cJSON *page = NULL;
        status = ask_page(&c, left, cursor, &page);
        const cJSON *items = cJSON_GetObjectItemCaseSensitive(page, "items");
        const cJSON *job = items != NULL ? items->child : NULL;
        for (; job != NULL && left > 0 && status == CLI_OK; job = job->next, left--) {
            if (json) status = print_document(job);
            if (!json) print_line(job);
        }
        snprintf(cursor, sizeof cursor, "%s", job_text(page, "next"));
        cJSON_Delete(page);
        if (cursor[0] == '\0') break;
    }
    int written = cli_flush_stdout();
    return status != CLI_OK ? status : written;
}

static const cli_option list_options[] = {
    {"status", "NAME", NULL, "only those queued, running, completed, incomplete, failed or canceled"},
    {"name", "TEXT", NULL, "only those of systems with this name"},
    {"batch", "ID", NULL, "only the members of a batch"},
    {"limit", "N", NULL, "no more than that; default: 50"},
    {"format", "NAME", NULL, "text (default) or json, a document a line"},
    JOB_OPTIONS,
    {0},
};

const cli_command cli_jobs = {
    .name = "jobs",
    .synopsis = "[OPTIONS]",
    .summary = "list the jobs of a server, the newest first",
    .about = "A line has id, status, progress, time of submission and name.\n\n"
             "Examples:\n"
             "  hamel jobs --server http://127.0.0.1:8080\n"
             "  hamel jobs --status failed --format json\n",
    .options = list_options,
    .run = list_jobs,
};

/* ---- status ----------------------------------------------------------------------------------------------------- */

static void print_field(const char *label, const char *text) {
    if (text[0] != '\0') printf("  %-10s  %.*s\n", label, printable(text), text);
}

static void print_job(const cJSON *job) {
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(job, "problem");
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(job, "summary"), "rows");
    printf("%s\n", job_text(job, "id"));
    print_field("name", job_text(job, "name"));
    print_field("status", job_text(job, "status"));
    printf("  %-10s  %d %%\n", "progress", (int)(100 * job_progress(job)));
    if (cJSON_IsNumber(rows)) printf("  %-10s  %.0f\n", "rows", rows->valuedouble);
    print_field("created", job_text(job, "created"));
    print_field("started", job_text(job, "started"));
    print_field("finished", job_text(job, "finished"));
    print_field("batch", job_text(job, "batch"));
    print_field("problem", job_text(problem, job_text(problem, "detail")[0] != '\0' ? "detail" : "title"));
}

/* Asks for each job that is given and prints the answer; the first that failed gives the exit code. */
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
        if (one == CLI_OK && json && job != NULL) one = print_document(job);
        if (one == CLI_OK && !json && job != NULL) print(job);
        cJSON_Delete(job);
        if (status == CLI_OK) status = one;
    }
    int written = cli_flush_stdout();
    return status != CLI_OK ? status : written;
}

static int show_status(const cli_arguments *arguments) {
    return for_each_job(arguments, "GET", "", print_job);
}

static const cli_option status_options[] = {
    {"format", "NAME", NULL, "text (default) or json, a document a line"},
    JOB_OPTIONS,
    {0},
};

const cli_command cli_status = {
    .name = "status",
    .synopsis = "JOB... [OPTIONS]",
    .summary = "tell how jobs on a server stand",
    .about = "JOB is an id, as hamel submit and hamel jobs print it.\n\n"
             "Example:\n"
             "  hamel status $job --format json\n",
    .options = status_options,
    .operands_min = 1,
    .operands_max = (size_t)-1,
    .run = show_status,
};

/* ---- cancel ----------------------------------------------------------------------------------------------------- */

static void print_state(const cJSON *job) {
    printf("%s %s\n", job_text(job, "id"), job_text(job, "status"));
}

static int cancel(const cli_arguments *arguments) {
    if (cli_option_value(arguments, "forget") != NULL) return for_each_job(arguments, "DELETE", "", print_state);
    return for_each_job(arguments, "POST", "/cancel", print_state);
}

static const cli_option cancel_options[] = {
    {"forget", NULL, NULL, "delete them, with their rows, also those that have ended"},
    {"format", "NAME", NULL, "text (default) or json, a document a line"},
    JOB_OPTIONS,
    {0},
};

const cli_command cli_cancel = {
    .name = "cancel",
    .synopsis = "JOB... [OPTIONS]",
    .summary = "end jobs on a server, or forget them",
    .about =
        "A job that has ended stays as it is. A line has the id and the status; a job that is forgotten has none.\n\n"
        "Examples:\n"
        "  hamel cancel $job\n"
        "  hamel cancel $job --forget\n",
    .options = cancel_options,
    .operands_min = 1,
    .operands_max = (size_t)-1,
    .run = cancel,
};
