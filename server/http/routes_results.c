/* routes_results.c — GET /v1/jobs/{id}/results: returns stored rows in any format, and live rows with follow=true.
 *
 * Rows are read chunk by chunk and written to the ring of a stream, as for a live run. The response is a follower, so
 * it uses no thread while there is nothing to send or the client is slow. A format that is sent as a whole takes a run
 * slot when all rows are stored. The response keeps the slot until the client has read all rows. Without `follow`, the
 * results of a running job are the stored rows and a summary with status `running`. */
#include "api/json/text.h"
#include "server/clock.h"
#include "server/http/accept.h"
#include "server/http/job_json.h"
#include "server/http/response.h"
#include "server/http/routes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_SECONDS 5.0
#define LOOK_SECONDS 1.0 /* interval between checks for a due heartbeat, which is delayed by at most 20 % */

typedef struct row_filter {
    double from, to; /* infinite if not specified by the client */
    int64_t every;
    bool follow;
    const char *columns; /* comma-separated names, or NULL for all columns; valid while this handler owns the request */
} row_filter;

typedef enum results_phase { BEFORE_ROWS, ROWS } results_phase;

typedef struct results {
    request *r; /* NULL once the reply is a stream */
    const daemon_services *services;
    stream *stream;
    const row_format *format;
    row_writer *writer;
    row_filter filter;
    job job;
    cJSON *header;      /* stored header, reduced to the chosen columns */
    const char **names; /* names of the chosen columns; the strings belong to `header` */
    size_t *chosen;     /* positions of the chosen columns in a stored row */
    size_t count, stored_count;
    double *row;
    int64_t next; /* number of the next row to read */
    int64_t next_event;
    job_event event;  /* event number next_event; `json` is NULL if the event has not been read yet */
    bool events_read; /* all stored events of the current chunk have been read */
    bool has_events;  /* the format can contain events */
    bool past_end;    /* a row after `to` has been read, so no more rows are read */
    results_phase phase;
} results;

static bool parse_real(const char *text, double *out) {
    char *end;
    if (!text) return true;
    if (!*text || isspace((unsigned char)*text)) return false;
    double value = strtod(text, &end);
    if (*end || !isfinite(value)) return false;
    *out = value;
    return true;
}

static bool parse_truth(const char *text, bool *out) {
    *out = text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
    return !text || *out || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static const char *parse_filter(const request *r, row_filter *filter) {
    const char *every = request_query(r, "every");
    double step = 1;
    *filter = (row_filter){.from = -INFINITY, .to = INFINITY, .every = 1, .columns = request_query(r, "columns")};
    if (!parse_real(request_query(r, "from"), &filter->from)) return "from must be a time";
    if (!parse_real(request_query(r, "to"), &filter->to)) return "to must be a time";
    if (!parse_real(every, &step) || step < 1 || step > 1e15 || step != floor(step))
        return "every must be a positive integer";
    if (!parse_truth(request_query(r, "follow"), &filter->follow)) return "follow must be true or false";
    filter->every = (int64_t)step;
    return NULL;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

/* Returns the position of a column in the header, or -1 if the header has no such column. */
static int find_column(const cJSON *columns, const char *name, size_t length) {
    int at = 0;
    for (const cJSON *c = columns->child; c; c = c->next, at++) {
        if (cJSON_IsString(c) && strlen(c->valuestring) == length && memcmp(c->valuestring, name, length) == 0)
            return at;
    }
    return -1;
}

static bool is_chosen(const results *x, size_t column) {
    for (size_t i = 0; i < x->count; i++)
        if (x->chosen[i] == column) return true;
    return false;
}

/* Fills x->chosen from the requested list. A name may contain commas (J[1,2]), so the longest candidate is tried first.
 * If a name is unknown or occurs twice, returns false with the name in *at_fault and the reason in *what. */
static bool choose_result_columns(results *x, const cJSON *columns, const char **at_fault, const char **what) {
    const char *at = x->filter.columns;
    x->count = 0;
    if (!at) {
        for (; x->count < x->stored_count; x->count++) x->chosen[x->count] = x->count;
        return true;
    }
    while (*at) {
        int found = -1;
        size_t length = strlen(at);
        for (;;) {
            found = find_column(columns, at, length);
            if (found >= 0) break;
            while (length > 0 && at[--length] != ',') {
            }
            if (length == 0) break;
        }
        if (found < 0 || is_chosen(x, (size_t)found)) {
            *at_fault = at;
            *what = found < 0 ? "unknown column" : "duplicate column";
            return false;
        }
        x->chosen[x->count++] = (size_t)found;
        at += length;
        if (*at == ',') at++;
    }
    return x->count > 0;
}

/* Reduces a list of the header (`columns` or `units`) to the chosen columns. */
static bool cut_list(cJSON *header, const char *key, const results *x) {
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(header, key);
    if (!cJSON_IsArray(old) || (size_t)cJSON_GetArraySize(old) != x->stored_count) return true;
    const cJSON **items = calloc(x->stored_count, sizeof *items);
    cJSON *list = cJSON_CreateArray();
    bool good = items && list;
    size_t n = 0;
    for (const cJSON *c = old->child; good && c; c = c->next) items[n++] = c;
    for (size_t i = 0; good && i < x->count; i++) {
        cJSON *copy = cJSON_Duplicate(items[x->chosen[i]], 1);
        good = copy && cJSON_AddItemToArray(list, copy);
        if (!good) cJSON_Delete(copy);
    }
    free(items);
    if (good && cJSON_ReplaceItemInObjectCaseSensitive(header, key, list)) return true;
    cJSON_Delete(list);
    return false;
}

/* Reads the stored header and chooses columns. Returns REPLY_STREAMED on success; on failure replies and returns
 * REPLY_READY. */
static handled prepare_columns(results *x) {
    x->header = json_parse_trusted(x->job.header);
    const cJSON *columns = x->header ? cJSON_GetObjectItemCaseSensitive(x->header, "columns") : NULL;
    if (!json_is_texts(columns) || !columns->child)
        return reply_problem(x->r, 500, "storage", "Storage failed", "the stored header of this job cannot be read");
    x->stored_count = (size_t)cJSON_GetArraySize(columns);
    x->chosen = calloc(x->stored_count, sizeof *x->chosen);
    x->names = calloc(x->stored_count, sizeof *x->names);
    x->row = calloc(x->stored_count, sizeof *x->row);
    if (!x->chosen || !x->names || !x->row) return reply_no_memory(x->r);
    const char *at_fault = "", *what = "unknown column";
    if (!choose_result_columns(x, columns, &at_fault, &what)) {
        return reply_parameter(x->r, "columns: %s '%.*s'", what, (int)strcspn(at_fault, ","), at_fault);
    }
    bool timed = strcmp(columns->child->valuestring, "t") == 0;
    if (!timed && (isfinite(x->filter.from) || isfinite(x->filter.to))) {
        return reply_parameter(x->r, "from and to require a column t in the result");
    }
    if (!cut_list(x->header, "columns", x) || !cut_list(x->header, "units", x)) return reply_no_memory(x->r);
    size_t n = 0;
    columns = cJSON_GetObjectItemCaseSensitive(x->header, "columns");
    for (const cJSON *c = columns->child; c; c = c->next) x->names[n++] = c->valuestring;
    return REPLY_STREAMED;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static bool write_result(void *context, const char *bytes, size_t length) {
    results *x = context;
    if (x->r) {
        if (!request_stream(x->r, x->format->media_type)) return false;
        x->r = NULL;
    }
    return stream_write(x->stream, bytes, length);
}

static bool keep_rows(void *context, size_t bytes) {
    const results *x = context;
    return stream_charge(x->stream, bytes);
}

static bool begin_rows(results *x) {
    char *json = json_text(x->header);
    bool begun =
        json && row_writer_begin(x->writer, &(row_header){.column_count = x->count, .columns = x->names, .json = json});
    free(json);
    return begun;
}

/* Returns true if the time of an event is within the requested range. */
static bool is_wanted(const results *x, const char *json) {
    cJSON *tree = json_parse_trusted(json);
    const cJSON *t = cJSON_GetObjectItemCaseSensitive(tree, "t");
    bool wanted = cJSON_IsNumber(t) && t->valuedouble >= x->filter.from && t->valuedouble <= x->filter.to;
    cJSON_Delete(tree);
    return wanted;
}

/* Writes the events that precede a row. */
static bool write_events(results *x, int64_t row) {
    for (;;) {
        if (!x->event.json && !x->events_read) {
            x->events_read =
                STORE_CALL(x->services->store, event_at, x->job.number, x->next_event, &x->event) != STORE_OK;
        }
        if (!x->event.json) return true;
        if (x->event.row > row) return true;
        bool written = !is_wanted(x, x->event.json) || row_writer_object(x->writer, ROW_EVENT, x->event.json);
        free(x->event.json);
        x->event.json = NULL;
        x->next_event++;
        if (!written) return false;
    }
}

/* Writes the rows of a chunk. If the ring is full before the end of the chunk, returns STORE_EXISTS. */
static store_status write_chunk(results *x, const row_chunk *chunk) {
    x->events_read = false; /* events are stored together with rows, so this chunk may have new events */
    for (int64_t i = x->next - chunk->first; i < chunk->rows && !x->past_end; i++, x->next++) {
        const double *values = chunk->values + (size_t)i * chunk->columns;
        if (!x->format->whole && !stream_has_room(x->stream)) return STORE_EXISTS;
        if (values[0] > x->filter.to) x->past_end = isfinite(x->filter.to);
        if (!x->past_end && x->has_events && !write_events(x, x->next)) return STORE_FAILED;
        if (values[0] < x->filter.from || x->past_end || (chunk->first + i) % x->filter.every != 0) continue;
        for (size_t k = 0; k < x->count; k++) x->row[k] = values[x->chosen[k]];
        if (!row_writer_row(x->writer, x->row, x->count)) return STORE_FAILED;
    }
    return STORE_OK;
}

/* Writes stored rows. Returns STORE_ABSENT if all rows have been written, and STORE_EXISTS if the ring is full. */
static store_status write_stored(results *x) {
    while (!x->past_end && !atomic_load(stream_cancel_flag(x->stream))) {
        row_chunk chunk;
        store_status status = STORE_CALL(x->services->store, chunk_at, x->job.number, x->next, &chunk);
        if (status != STORE_OK) return status;
        status = chunk.columns == x->stored_count ? write_chunk(x, &chunk) : STORE_FAILED;
        row_chunk_clear(&chunk);
        if (status != STORE_OK) return status;
    }
    return STORE_ABSENT;
}

static bool write_progress(results *x) {
    char json[64];
    if (stream_quiet_seconds(x->stream) < HEARTBEAT_SECONDS) return true;
    snprintf(json, sizeof json, "{\"fraction\":%.4f}", x->job.progress);
    return row_writer_object(x->writer, ROW_PROGRESS, json) &&
           (x->r || row_writer_object(x->writer, ROW_HEARTBEAT, NULL));
}

/* Returns true if more rows may be stored later. The job is read before its rows. If the job has ended, all its rows
 * are therefore stored. */
static bool goes_on(const results *x) {
    return x->filter.follow && !x->past_end && !job_ended(x->job.status);
}

static follow_wait for_change(const results *x) {
    double now = clock_seconds();
    return (follow_wait){
        .number = x->job.number, .revision = x->job.revision, .from = now, .until = now + LOOK_SECONDS};
}

/* ---- end -------------------------------------------------------------------------------------------------------- */

/* Writes the summary or the problem at the end of the response. Returns true if the body is complete. */
static bool write_end(results *x) {
    static const char canceled[] =
        "{\"type\":\"/problems/canceled\",\"title\":\"the run was canceled\",\"status\":409}";
    char json[160];
    x->events_read = false;
    x->writer->interim = !job_ended(x->job.status);
    if (x->has_events && !write_events(x, INT64_MAX)) return false;
    if (x->job.problem || x->job.status == JOB_CANCELED) {
        const char *problem = x->job.problem ? x->job.problem : canceled;
        /* The rows of a canceled or failed run are valid, so formats that cannot contain a problem end normally. */
        return x->format->problem ? row_writer_problem(x->writer, problem, x->job.summary) : true;
    }
    if (x->job.summary) return row_writer_object(x->writer, ROW_SUMMARY, x->job.summary);
    snprintf(json, sizeof json, "{\"status\":\"%s\",\"rows\":%lld,\"progress\":%.4f}", job_status_name(x->job.status),
             (long long)x->next, x->job.progress);
    return row_writer_object(x->writer, ROW_SUMMARY, json);
}

static handled reply_cut(results *x) {
    if (x->writer->refused) return reply_answers_full(x->r);
    if (x->writer->starved) return reply_no_memory(x->r);
    if (x->writer->reason) {
        return reply_problem(x->r, 413, "result-too-large", "The result does not fit this format", "%s",
                             x->writer->reason);
    }
    x->r->reply.retry_after = 5;
    return reply_problem(x->r, 503, "interrupted", "Interrupted",
                         "the stored rows could not be read completely; retry shortly");
}

/* Ends the response. If nothing has been sent yet, replies to the request instead. */
static void end_rows(results *x, bool whole) {
    bool stopped = !whole && stream_stopped(x->stream);
    if (whole) {
        whole = write_end(x);
    } else if (stopped && !x->r && x->format->problem) {
        x->writer->interim = true;
        whole = row_writer_problem(
            x->writer,
            PROBLEM_JSON("shutting-down", "Shutting down", "503", "the server is shutting down; retry later"), NULL);
    }
    if (!x->r) {
        stream_end(x->stream, whole);
        return;
    }
    if (!whole) {
        reply_cut(x);
    } else if (x->writer->seen) { /* the client has received everything; 204 prevents a browser from reconnecting */
        reply_static(x->r, 204, NULL, NULL, 0);
    } else {
        reply_static(x->r, 200, x->format->media_type, NULL, 0);
    }
    request_reply(x->r);
}

/* ---- before the rows -------------------------------------------------------------------------------------------- */

/* Replies for a job without a header: its run has not begun, or it ended before its first row. */
static handled reply_without_rows(results *x) {
    if (x->job.problem) {
        cJSON *problem = json_parse_trusted(x->job.problem);
        const cJSON *status = problem ? cJSON_GetObjectItemCaseSensitive(problem, "status") : NULL;
        int http =
            cJSON_IsNumber(status) && status->valueint >= 400 && status->valueint <= 599 ? status->valueint : 500;
        return reply_problem_tree(x->r, http, problem);
    }
    if (!job_ended(x->job.status)) x->r->reply.retry_after = 1;
    return reply_problem(x->r, 409, "no-results", "No results", "the job is %s and has no rows",
                         job_status_name(x->job.status));
}

/* Returns the number of objects that the client has already received (Last-Event-ID), or 0 if the format is not SSE. */
static uint64_t resumed(const results *x) {
    return x->format == row_format_named("sse") ? (uint64_t)request_last_event(x->r) : 0;
}

/* Opens the writer of rows. Returns REPLY_STREAMED on success; on failure replies and returns REPLY_READY. */
static handled prepare_results(results *x) {
    if (!x->job.header) return reply_without_rows(x);
    handled early = prepare_columns(x);
    if (early == REPLY_READY) return early;
    if (isfinite(x->filter.from) &&
        STORE_CALL(x->services->store, row_at_time, x->job.number, x->filter.from, &x->next) != STORE_OK) {
        x->next = 0;
    }
    x->has_events = x->format->problem != NULL;
    x->writer = row_writer_open(x->format, (byte_sink){x, write_result});
    if (!x->writer) return reply_no_memory(x->r);
    x->writer->seen = resumed(x);
    x->writer->keep = keep_rows;
    return REPLY_STREAMED;
}

static void close_results(results *x) {
    row_writer_close(x->writer);
    cJSON_Delete(x->header);
    free(x->names);
    free(x->chosen);
    free(x->row);
    free(x->event.json);
    job_clear(&x->job);
    stream_release(x->stream);
    free(x);
}

/* Writes the whole result. The caller holds a run slot. */
static void write_whole(void *context) {
    results *x = context;
    end_rows(x, begin_rows(x) && write_stored(x) == STORE_ABSENT && !atomic_load(stream_cancel_flag(x->stream)));
    close_results(x);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static const follow_wait ended = {.ended = true};

static follow_wait reply_early(results *x) {
    request_reply(x->r);
    close_results(x);
    return ended;
}

/* Returns true if rows can be written. If rows cannot be written yet, sets *wait. */
static bool begin_results(results *x, follow_wait *wait) {
    bool canceled = atomic_load(stream_cancel_flag(x->stream));
    bool waits = x->format->whole || !x->job.header; /* waits for the end of the job, or only for its header */
    if (waits && goes_on(x) && !canceled) {
        *wait = for_change(x);
        return false;
    }
    handled early = REPLY_READY;
    if (waits && goes_on(x)) {
        x->r->reply.retry_after = 5;
        reply_problem(x->r, 503, "shutting-down", "Shutting down",
                      "the server is shutting down before the run begins; retry later");
    } else {
        early = prepare_results(x);
    }
    if (early == REPLY_STREAMED && x->format->whole) {
        *wait = ended;
        if (!request_run(x->r, write_whole, x)) *wait = reply_early(x);
        return false;
    }
    if (early == REPLY_READY) *wait = reply_early(x);
    return early == REPLY_STREAMED;
}

static follow_wait results_step(void *context) {
    results *x = context;
    follow_wait wait;
    bool found = job_reread(x->services->store, &x->job);
    if (x->phase == BEFORE_ROWS) {
        if (!found) {
            reply_problem(x->r, 404, "no-such-job", "No such job", "the job was deleted");
            return reply_early(x);
        }
        if (!begin_results(x, &wait)) return wait;
        x->phase = ROWS;
        found = begin_rows(x);
    }
    store_status written = found ? write_stored(x) : STORE_FAILED;
    bool canceled = atomic_load(stream_cancel_flag(x->stream));
    if (written == STORE_EXISTS && !canceled) return (follow_wait){.reader = true, .until = INFINITY};
    bool good = written == STORE_ABSENT && !canceled;
    if (good && goes_on(x) && write_progress(x) && (x->r || stream_flush(x->stream))) return for_change(x);
    end_rows(x, good && !goes_on(x));
    close_results(x);
    return ended;
}

/* Returns true if the client has this result in its cache. The result of an ended job depends only on the URL and the
 * format. */
static bool known_to_client(const results *x) {
    reply *a = &x->r->reply;
    if (!job_ended(x->job.status) || resumed(x) > 0) return false;
    snprintf(a->etag, sizeof a->etag, "\"%llx-%llx-%.10s\"", (unsigned long long)x->job.number,
             (unsigned long long)x->job.revision, x->format->name);
    return etag_matches(request_header(x->r, "If-None-Match"), a->etag);
}

const row_format *request_row_format(request *r) {
    const row_format *format = accept_row_format(request_header(r, "Accept"), row_format_named("ndjson"));
    if (!format) {
        reply_problem(r, 406, "not-acceptable", "Not acceptable",
                      "available formats: application/x-ndjson, text/event-stream, text/csv, application/json or "
                      "application/x-npy");
    }
    return format;
}

handled jobs_get_results(request *r) {
    row_filter filter;
    const char *fault = parse_filter(r, &filter);
    if (fault) return reply_parameter(r, "%s", fault);
    const row_format *format = request_row_format(r);
    if (!format) return REPLY_READY;
    results *x = calloc(1, sizeof *x);
    if (!x) return reply_no_memory(r);
    *x = (results){
        .r = r, .services = r->services, .stream = stream_hold(r->stream), .format = format, .filter = filter};
    if (!filter.follow) stream_finish_first(r->stream);
    handled replied = REPLY_STREAMED;
    if (!request_job(r, &x->job)) {
        replied = REPLY_READY;
    } else if (known_to_client(x)) {
        replied = reply_static(r, 304, NULL, NULL, 0);
    } else if (!request_follow(r, results_step, x)) {
        replied = reply_no_memory(r);
    }
    if (replied == REPLY_READY) close_results(x);
    return replied;
}
