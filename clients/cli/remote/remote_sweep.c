/* remote_sweep.c — see remote_sweep.h. The server sends the table as NDJSON. The writer of local sweeps writes this
 * table to the output, without the columns for jobs. The values of the targets are computed from the sweep, not read
 * from the table of the server. */
#include "clients/cli/remote/remote_sweep.h"

#include "api/json/text.h"
#include "clients/cli/commands/simulation.h"
#include "clients/cli/commands/sweep_parts.h"
#include "clients/cli/remote/job_client.h"
#include "clients/cli/remote/remote.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TEXT_MOST = 16 * 1024 * 1024,
    ID_BYTES = 65,
    LOOK_FIRST_MS = 20,
    LOOK_LAST_MS = 1000,
    BEFORE_INPUTS = 3, /* columns before the inputs: member, job, name */
    BESIDE_OTHERS = 5  /* columns that are neither inputs nor collected: member, job, name, status, problem */
};

typedef struct remote_table {
    const cli_server *server;
    const sweep *sweep;
    table_form form;
    cli_output out;
    cJSON *header;
    const char **names; /* column names of the server's table; owned by `header` */
    size_t name_count;
    sweep_columns columns; /* columns of the table that is written */
    text_buffer collected; /* collected numbers of one row */
    member_problems problems;
    sweep_counts counts;
    size_t next; /* number of the next member; its row must come next */
    text_buffer line;
    bool ended;
    int status;         /* first local error, or CLI_OK */
    const char *broken; /* error in the server's table, or NULL */
} remote_table;

/* --- the table ---------------------------------------------------------------------------------------------------- */

static void write_line(remote_table *t) {
    if (t->line.failed)
        t->status = cli_say_no_memory();
    else if (t->line.length > 0 && fwrite(t->line.bytes, 1, t->line.length, t->out.file) != t->line.length)
        t->status = cli_say_errno(t->out.name);
    text_buffer_reset(&t->line);
}

/* Returns true if the columns of the server's table match the sweep. */
static bool columns_fit(const remote_table *t) {
    static const char *const first[BEFORE_INPUTS] = {"member", "job", "name"};
    size_t inputs = t->sweep->axis_count;
    bool fit = t->name_count >= BESIDE_OTHERS + inputs;
    for (size_t k = 0; k < BEFORE_INPUTS && fit; k++) fit = strcmp(t->names[k], first[k]) == 0;
    for (size_t k = 0; k < inputs && fit; k++) fit = strcmp(t->names[BEFORE_INPUTS + k], t->sweep->axes[k].target) == 0;
    return fit && strcmp(t->names[BEFORE_INPUTS + inputs], "status") == 0 &&
           strcmp(t->names[t->name_count - 1], "problem") == 0;
}

/* Takes ownership of `header`. */
static void take_header(remote_table *t, cJSON *header) {
    const cJSON *columns = json_at(header, "columns");
    const char *name = cJSON_GetStringValue(json_at(header, "name"));
    cJSON_Delete(t->header);
    free(t->names);
    t->header = header;
    t->name_count = 0;
    t->names = calloc((size_t)cJSON_GetArraySize(columns) + 1, sizeof *t->names);
    if (t->names == NULL) {
        t->status = cli_say_no_memory();
        return;
    }
    for (const cJSON *c = json_first_at(header, "columns"); cJSON_IsString(c); c = c->next)
        t->names[t->name_count++] = c->valuestring;
    if (t->next > 0 || !columns_fit(t)) {
        t->broken = "the columns of the batch's table differ from those of the sweep";
        return;
    }
    size_t inputs = t->sweep->axis_count;
    t->columns = (sweep_columns){.inputs = t->names + BEFORE_INPUTS,
                                 .input_count = inputs,
                                 .collected = t->names + BEFORE_INPUTS + inputs + 1,
                                 .collected_count = t->name_count - inputs - BESIDE_OTHERS};
    sweep_table_begin(&t->columns, t->form, name != NULL ? name : "", &t->line);
    write_line(t);
}

/* Sets *outcome from a status. Members canceled on the server count as failed. Returns false for an unknown status. */
static bool read_outcome(const char *status, hamel_outcome *outcome, const char **problem) {
    bool canceled = strcmp(status, "canceled") == 0;
    if (canceled) *problem = "the job was canceled on the server";
    for (int k = 0; k <= HAMEL_FAILED; k++) {
        *outcome = (hamel_outcome)k;
        if (strcmp(hamel_outcome_name(*outcome), canceled ? "failed" : status) == 0) return true;
    }
    return false;
}

static void write_table_row(remote_table *t, sweep_cells *cells) {
    cJSON *assignments = sweep_assignments_json(t->sweep, cells->member);
    cells->assignments = assignments;
    if (assignments == NULL) {
        t->status = cli_say_no_memory();
        return;
    }
    sweep_table_row(&t->columns, t->form, cells, &t->line);
    write_line(t);
    if (cells->problem[0] != '\0') member_problems_say(&t->problems, cells->member, assignments, cells->problem);
    cJSON_Delete(assignments);
}

static void take_table_row(remote_table *t, const cJSON *row) {
    const cJSON *status = cJSON_GetArrayItem(row, (int)(BEFORE_INPUTS + t->sweep->axis_count));
    const cJSON *cell = status != NULL ? status->next : NULL;
    bool fits = t->header != NULL && (size_t)cJSON_GetArraySize(row) == t->name_count && cJSON_IsString(status) &&
                t->next < t->sweep->count && cJSON_IsNumber(row->child) &&
                !(row->child->valuedouble < (double)t->next) && !(row->child->valuedouble > (double)t->next);
    text_buffer_reset(&t->collected);
    for (size_t k = 0; fits && k < t->columns.collected_count; k++, cell = cell->next) {
        fits = cJSON_IsNumber(cell) || cJSON_IsNull(cell);
        if (k > 0) text_buffer_put(&t->collected, ',');
        json_text_number(&t->collected, cJSON_IsNumber(cell) ? cell->valuedouble : (double)NAN);
    }
    const char *problem = fits ? cJSON_GetStringValue(cell) : NULL;
    hamel_outcome outcome;
    if (problem == NULL || !read_outcome(status->valuestring, &outcome, &problem)) {
        t->broken = "a row of the batch's table cannot be read";
        return;
    }
    sweep_cells cells = {.member = t->next++,
                         .status = hamel_outcome_name(outcome),
                         .collected = t->collected.bytes != NULL ? t->collected.bytes : "",
                         .problem = problem};
    t->line.failed = t->line.failed || t->collected.failed;
    t->counts.outcomes[outcome]++;
    write_table_row(t, &cells);
}

static void take_end(remote_table *t) {
    if (t->next < t->sweep->count) return; /* the caller reports that rows are missing */
    sweep_run_end(&t->counts, t->form, &t->line);
    write_line(t);
    t->ended = true;
}

static bool take_table_line(void *context, const char *bytes, size_t length) {
    remote_table *t = context;
    cJSON *object = length > 0 ? json_parse(bytes, length, NULL, NULL) : NULL;
    const char *kind = cJSON_IsObject(object) && object->child != NULL ? object->child->string : "";
    bool last = strcmp(kind, "summary") == 0;
    if (strcmp(kind, "row") == 0)
        take_table_row(t, object->child);
    else if (strcmp(kind, "header") == 0)
        take_header(t, cJSON_DetachItemFromObjectCaseSensitive(object, "header"));
    else if (last)
        take_end(t);
    else
        t->broken = "a line of the batch's table cannot be read";
    cJSON_Delete(object);
    return t->broken == NULL && t->status == CLI_OK && !last;
}

static int fetch_table(remote_table *t, const char *id) {
    char path[128];
    snprintf(path, sizeof path, "/v1/batches/%s/results", id);
    exchange x = {
        .method = "GET", .path = path, .accept = "application/x-ndjson", .line = take_table_line, .context = t};
    text_buffer_init(&t->line, TEXT_MOST);
    text_buffer_init(&t->collected, TEXT_MOST);
    bool whole = exchange_run(&x, t->server);
    int status = t->status;
    if (status == CLI_OK && !t->ended) {
        status = CLI_SERVER;
        if (t->broken != NULL)
            cli_say("%.200s: %s", t->server->url, t->broken);
        else if (whole && x.streamed)
            cli_say("%.200s: the table of batch %s ended before its last row", t->server->url, id);
        else
            (void)exchange_failed(&x, t->server);
    }
    exchange_clear(&x);
    text_buffer_free(&t->line);
    cJSON_Delete(t->header);
    free(t->names);
    text_buffer_free(&t->collected);
    return status == CLI_OK && !sweep_counts_all_ended(&t->counts) ? CLI_RUN_FAILED : status;
}

/* --- the batch ---------------------------------------------------------------------------------------------------- */

/* Reads whether the batch has ended, and the part of its members that have ended. */
static bool look_at(const exchange *x, size_t members, double *part) {
    cJSON *batch = exchange_json(x);
    bool ended = strcmp(json_text_at(batch, "status"), "ended") == 0;
    const cJSON *counts = json_at(batch, "counts");
    double left = json_number_at(counts, "queued") + json_number_at(counts, "running"), all = (double)members;
    if (left >= 0 && left <= all) *part = (all - left) / all;
    cJSON_Delete(batch);
    return ended;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Polls the batch, at increasing intervals, but when it ends at the latest if its members continue to end as fast as
 * so far. */
static int wait_for_batch(const cli_server *server, const char *id, size_t members, progress_bar *shown) {
    char path[128];
    snprintf(path, sizeof path, "/v1/batches/%s", id);
    double began = seconds_now(), part = 0;
    for (double pause = LOOK_FIRST_MS;; pause = fmin(1.5 * pause, LOOK_LAST_MS)) {
        exchange x = {.method = "GET", .path = path, .accept = "application/json", .lively = true};
        bool good = exchange_run(&x, server) && x.status == 200;
        bool ended = good && look_at(&x, members, &part);
        if (good) progress_bar_show(shown, part);
        if (ended || !good) progress_bar_erase(shown);
        int status = good ? CLI_OK : exchange_failed(&x, server);
        exchange_clear(&x);
        if (!good) cli_say("batch %s may still be running on the server", id);
        if (ended || !good) return status;
        double left = part > 0 ? 1e3 * (seconds_now() - began) * (1 - part) / part : pause;
        double wait = fmax(fmin(pause, left), LOOK_FIRST_MS);
        nanosleep(&(struct timespec){.tv_sec = (time_t)(wait / 1e3), .tv_nsec = (long)(fmod(wait, 1e3) * 1e6)}, NULL);
    }
}

typedef struct submission {
    const cli_server *server;
    const cJSON *tree;
    const char *file;
    char id[ID_BYTES];
} submission;

static int submit(void *context, const api_observer *observer) {
    submission *s = context;
    char *body = json_text(s->tree);
    if (body == NULL) return cli_say_no_memory();
    exchange x = exchange_post("/v1/batches", body);
    bool whole = exchange_run(&x, s->server);
    cJSON *batch = whole && x.status == 201 ? exchange_json(&x) : NULL;
    snprintf(s->id, sizeof s->id, "%s", json_text_at(batch, "id"));
    int status = s->id[0] != '\0' ? CLI_OK : remote_refusal(&x, s->server, observer, s->file, s->tree);
    cJSON_Delete(batch);
    exchange_clear(&x);
    free(body);
    return status;
}

static int run_batch(const cli_server *server, const api_sweep *s, const char *file, table_form form,
                     const char *output) {
    api_observer silent = {0};
    submission sent = {.server = server, .tree = s->tree, .file = file};
    remote_table table = {.server = server, .sweep = &s->sweep, .form = form, .problems = {.file = file}};
    progress_bar shown;
    int status = cli_observe(&silent, submit, &sent);
    if (status != CLI_OK) return status;
    progress_bar_init(&shown, output == NULL);
    status = wait_for_batch(server, sent.id, s->sweep.count, &shown);
    if (status != CLI_OK) return status;
    status = cli_output_open(&table.out, output, output != NULL);
    return status == CLI_OK ? cli_output_close(&table.out, fetch_table(&table, sent.id)) : status;
}

int cli_sweep_remote(const cli_server *server, const cli_input *input, const cli_arguments *arguments, table_form form,
                     const char *output) {
    api_sweep s;
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    int status;
    if (api_sweep_open(&s, input->bytes, input->length, (const char *const *)arguments->assignments,
                       arguments->assignment_count, &limits, SIZE_MAX, input->file, &failure)) {
        status = run_batch(server, &s, input->file, form, output);
        api_sweep_close(&s);
    } else {
        status = cli_say_failure(&failure);
    }
    api_failure_clear(&failure);
    return status;
}
