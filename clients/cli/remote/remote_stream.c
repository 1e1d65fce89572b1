/* remote_stream.c — see remote_stream.h. exchange.c limits the length of lines; json_parse checks each line. */
#include "clients/cli/remote/remote_stream.h"

#include "api/json/text.h"
#include "clients/cli/remote/remote_problem.h"

#include <stdlib.h>
#include <string.h>

void remote_stream_problem(remote_stream *s, const cJSON *problem) {
    api_failure failure = {0};
    remote_failure(&failure, problem, s->tree, s->file);
    char *json = json_text(problem);
    s->ended = true;
    (void)s->observer->problem(s->observer->context, json != NULL ? json : "{}", &failure, s->summary);
    free(json);
    api_failure_clear(&failure);
}

static void take_stream_header(remote_stream *s, const cJSON *header) {
    const cJSON *columns = json_at(header, "columns");
    size_t count = cJSON_IsArray(columns) ? (size_t)cJSON_GetArraySize(columns) : 0;
    const char **names = calloc(count + 1, sizeof *names);
    double *row = calloc(count + 1, sizeof *row);
    char *json = json_text(header);
    size_t k = 0;
    for (const cJSON *c = columns != NULL ? columns->child : NULL; c != NULL && names != NULL; c = c->next)
        if (cJSON_IsString(c)) names[k++] = c->valuestring;
    if (names == NULL || row == NULL || json == NULL || s->row != NULL || k != count || count == 0) {
        s->broken = "the header of the stream cannot be read";
        free(row);
    } else {
        s->row = row;
        s->row_capacity = count;
        row_header rows = {.column_count = count, .columns = names, .json = json};
        s->refused = !s->observer->header(s->observer->context, &rows);
    }
    free(json);
    free(names);
}

static void take_stream_row(remote_stream *s, const cJSON *values) {
    size_t count = 0;
    for (const cJSON *v = values->child; v != NULL; v = v->next) {
        if (!cJSON_IsNumber(v) || count == s->row_capacity) {
            s->broken = "a row of the stream cannot be read";
            return;
        }
        s->row[count++] = v->valuedouble;
    }
    if (count != s->row_capacity || s->row == NULL) {
        s->broken = "a row of the stream and its header have different lengths";
        return;
    }
    s->refused = !s->observer->row(s->observer->context, s->row, count);
}

static void take_event(remote_stream *s, const cJSON *event) {
    if (s->observer->event == NULL) return;
    char *json = json_text(event);
    s->refused = json == NULL || !s->observer->event(s->observer->context, json);
    free(json);
}

static void take_progress(remote_stream *s, const cJSON *progress) {
    const cJSON *fraction = json_at(progress, "fraction");
    if (!cJSON_IsNumber(fraction)) return; /* a heartbeat */
    double f = fraction->valuedouble;
    char *json = json_text(progress);
    if (json != NULL) s->refused = !s->observer->progress(s->observer->context, json, f < 0 ? 0 : f > 1 ? 1 : f);
    free(json);
}

void remote_stream_summary(remote_stream *s, const cJSON *summary) {
    const cJSON *status = json_at(summary, "status");
    char *json = json_text(summary);
    if (cJSON_IsString(status) && strcmp(status->valuestring, "failed") == 0) {
        free(s->summary);
        s->summary = json;
        return;
    }
    s->ended = true;
    s->refused = json == NULL || !s->observer->summary(s->observer->context, json, NULL);
    free(json);
}

static bool take_stream_line(void *context, const char *bytes, size_t length) {
    remote_stream *s = context;
    if (length == 0) return true;
    cJSON *object = json_parse(bytes, length, NULL, NULL);
    const cJSON *member = cJSON_IsObject(object) ? object->child : NULL;
    const char *kind = member != NULL ? member->string : "";
    if (member == NULL)
        s->broken = "a line of the stream is not a JSON object";
    else if (strcmp(kind, "row") == 0)
        take_stream_row(s, member);
    else if (strcmp(kind, "header") == 0)
        take_stream_header(s, member);
    else if (strcmp(kind, "event") == 0)
        take_event(s, member);
    else if (strcmp(kind, "progress") == 0)
        take_progress(s, member);
    else if (strcmp(kind, "summary") == 0)
        remote_stream_summary(s, member);
    else if (strcmp(kind, "problem") == 0)
        remote_stream_problem(s, member);
    cJSON_Delete(object);
    return !s->refused && s->broken == NULL;
}

bool remote_stream_run(remote_stream *s, exchange *x, const cli_server *server) {
    x->accept = "application/x-ndjson";
    x->line = take_stream_line;
    x->context = s;
    bool whole = exchange_run(x, server);
    if (s->refused || s->ended) return true;
    if (s->broken != NULL)
        cli_say("%.200s: %s", server->url, s->broken);
    else if (!whole)
        (void)exchange_failed(x, server);
    else if (x->streamed)
        cli_say("%.200s: the stream ended before the end of the run; run the command again", server->url);
    else
        return true;
    return false;
}

void remote_stream_clear(remote_stream *s) {
    free(s->row);
    free(s->summary);
    s->row = NULL;
    s->summary = NULL;
}
