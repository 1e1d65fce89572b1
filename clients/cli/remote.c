/* remote.c — a run on a daemon (POST /v1/simulations), told to an observer as if it happened here; an analysis
 * (POST /v1/analyses), whose one document is told as the summary.
 *
 * The answer is asked for as NDJSON and taken apart line by line while it comes: header, rows, progress, then the
 * summary or a problem. Formats are made on this side, so that they are the same as those of a run in this process.
 * An answer of another kind than a stream is a problem document or somebody else's page. Lines and documents are
 * bounded and go through the strict JSON scan: a server is not trusted more than a file. */
#include "clients/cli/simulation.h"

#include "api/analyze.h"
#include "api/json_text.h"
#include "api/read_system.h"
#include "clients/cli/remote_problem.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_MAX_BYTES = 16 * 1024 * 1024, CONNECT_SECONDS = 10, QUIET_SECONDS = 60 };

typedef struct stream {
    CURL *curl;
    const api_observer *observer;
    const cli_input *input;
    cJSON *tree;                          /* the description as sent */
    const api_analysis_options *analyses; /* asked for instead of a run, or NULL */
    text_buffer line;                     /* of the stream; the whole body of any other answer */
    double *row;
    size_t row_capacity;
    bool streaming, known; /* whether the answer is a stream is known with its first bytes */
    bool ended;            /* summary or problem has come */
    bool refused;          /* the observer wants no more */
    const char *broken;    /* what is wrong with the answer, or NULL */
} stream;

static void tell_problem(stream *s, const cJSON *problem) {
    api_failure failure = {0};
    remote_failure(&failure, problem, s->tree, s->input->file);
    char *json = json_text(problem);
    s->ended = true;
    (void)s->observer->problem(s->observer->context, json != NULL ? json : "{}", &failure, NULL);
    free(json);
    api_failure_clear(&failure);
}

static void take_header(stream *s, const cJSON *header) {
    const cJSON *columns = cJSON_GetObjectItemCaseSensitive(header, "columns");
    size_t count = cJSON_IsArray(columns) ? (size_t)cJSON_GetArraySize(columns) : 0;
    const char **names = calloc(count + 1, sizeof *names);
    double *row = calloc(count + 1, sizeof *row);
    char *json = json_text(header);
    size_t k = 0;
    for (const cJSON *c = columns != NULL ? columns->child : NULL; c != NULL && names != NULL; c = c->next) {
        if (cJSON_IsString(c)) names[k++] = c->valuestring;
    }
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

static void take_row(stream *s, const cJSON *values) {
    size_t count = 0;
    for (const cJSON *v = values->child; v != NULL; v = v->next) {
        if (!cJSON_IsNumber(v) || count == s->row_capacity) {
            s->broken = "a row of the stream cannot be read";
            return;
        }
        s->row[count++] = v->valuedouble;
    }
    if (count != s->row_capacity || s->row == NULL) {
        s->broken = "a row of the stream has not as many values as the header has columns";
        return;
    }
    s->refused = !s->observer->row(s->observer->context, s->row, count);
}

static void take_event(stream *s, const cJSON *event) {
    char *json = json_text(event);
    s->refused = json == NULL || !s->observer->event(s->observer->context, json);
    free(json);
}

static void take_progress(stream *s, const cJSON *progress) {
    const cJSON *fraction = cJSON_GetObjectItemCaseSensitive(progress, "fraction");
    if (!cJSON_IsNumber(fraction)) return; /* a sign of life */
    double f = fraction->valuedouble;
    char *json = json_text(progress);
    if (json != NULL) s->refused = !s->observer->progress(s->observer->context, json, f < 0 ? 0 : f > 1 ? 1 : f);
    free(json);
}

static void take_summary(stream *s, const cJSON *summary) {
    char *json = json_text(summary);
    s->ended = true;
    s->refused = json == NULL || !s->observer->summary(s->observer->context, json, NULL);
    free(json);
}

static void take_line(stream *s) {
    if (s->line.length == 0) return;
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *object = json_parse(s->line.bytes, s->line.length, &limits, &fault);
    const cJSON *member = cJSON_IsObject(object) ? object->child : NULL;
    const char *kind = member != NULL ? member->string : "";
    if (member == NULL) {
        s->broken = "a line of the stream is no JSON object";
    } else if (strcmp(kind, "row") == 0) {
        take_row(s, member);
    } else if (strcmp(kind, "header") == 0) {
        take_header(s, member);
    } else if (strcmp(kind, "event") == 0) {
        take_event(s, member);
    } else if (strcmp(kind, "progress") == 0) {
        take_progress(s, member);
    } else if (strcmp(kind, "summary") == 0) {
        take_summary(s, member);
    } else if (strcmp(kind, "problem") == 0) {
        tell_problem(s, member);
    }
    cJSON_Delete(object);
}

/* libcurl's write callback: fewer bytes returned than given end the transfer. */
static size_t take_bytes(char *bytes, size_t one, size_t length, void *context) {
    stream *s = context;
    (void)one;
    if (!s->known) {
        long http = 0;
        const char *type = NULL;
        curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &http);
        curl_easy_getinfo(s->curl, CURLINFO_CONTENT_TYPE, &type);
        s->streaming = http == 200 && type != NULL && strncasecmp(type, "application/x-ndjson", 20) == 0;
        s->known = true;
    }
    size_t at = 0;
    while (at < length && !s->refused && s->broken == NULL) {
        const char *end = s->streaming ? memchr(bytes + at, '\n', length - at) : NULL;
        size_t piece = end != NULL ? (size_t)(end - bytes) - at : length - at;
        text_buffer_add(&s->line, bytes + at, piece);
        at += piece + (end != NULL);
        if (s->line.failed) {
            s->broken = "the answer is too long";
        } else if (end != NULL) {
            take_line(s);
            text_buffer_reset(&s->line);
        }
    }
    return at == length && !s->refused && s->broken == NULL ? length : 0;
}

/* An analysis is asked for with the description below a key of its own, where this side has none. */
static void move_pointers(cJSON *problem) {
    static const char prefix[] = "/system";
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    for (const cJSON *e = errors != NULL ? errors->child : NULL; e != NULL; e = e->next) {
        const cJSON *pointer = cJSON_GetObjectItemCaseSensitive(e, "pointer");
        if (!cJSON_IsString(pointer) || strncmp(pointer->valuestring, prefix, sizeof prefix - 1) != 0) continue;
        char *text = pointer->valuestring;
        memmove(text, text + sizeof prefix - 1, strlen(text) - (sizeof prefix - 1) + 1);
    }
}

/* An answer that was no stream. Faults of the description are told as such; the rest is the server's. */
static int take_answer(stream *s, const cli_place *place) {
    long http = 0;
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &http);
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *problem = s->line.length > 0 ? json_parse(s->line.bytes, s->line.length, &limits, &fault) : NULL;
    int status = CLI_OK;
    if (s->analyses != NULL && http == 200 && cJSON_IsObject(problem)) {
        take_summary(s, problem);
    } else if (remote_problem_is_of_description(problem)) {
        if (s->analyses != NULL) move_pointers(problem);
        tell_problem(s, problem);
    } else {
        const cJSON *detail = cJSON_GetObjectItemCaseSensitive(problem, "detail");
        if (!cJSON_IsString(detail)) detail = cJSON_GetObjectItemCaseSensitive(problem, "title");
        cli_say("%s: HTTP status %ld%s%s", place->server, http, cJSON_IsString(detail) ? ": " : "",
                cJSON_IsString(detail) ? detail->valuestring : ", which is no answer of hameld");
        status = CLI_SERVER;
    }
    cJSON_Delete(problem);
    return status;
}

static struct curl_slist *headers_of(const cli_place *place, const char *accept) {
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *longer = list != NULL ? curl_slist_append(list, accept) : NULL;
    if (longer != NULL && place->token != NULL && place->token[0] != '\0') {
        char bearer[4096];
        int length = snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", place->token);
        longer = length > 0 && (size_t)length < sizeof bearer ? curl_slist_append(list, bearer) : NULL;
    }
    if (longer == NULL) curl_slist_free_all(list);
    return longer;
}

static int transfer(stream *s, const cli_place *place, const char *body) {
    char url[4096];
    size_t length = strlen(place->server);
    while (length > 0 && place->server[length - 1] == '/') length--;
    if (length + 32 > sizeof url) {
        cli_say("%.60s...: the address is too long", place->server);
        return CLI_SERVER;
    }
    snprintf(url, sizeof url, "%.*s/v1/%s", (int)length, place->server,
             s->analyses != NULL ? "analyses" : "simulations");
    struct curl_slist *headers =
        headers_of(place, s->analyses != NULL ? "Accept: application/json" : "Accept: application/x-ndjson");
    if (headers == NULL) {
        cli_say("memory could not be allocated");
        return CLI_IO;
    }
    char reason[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(s->curl, CURLOPT_URL, url);
    curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(s->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(s->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    if (s->analyses == NULL) { /* the daemon gives a sign of life every ten seconds, however long a run takes */
        curl_easy_setopt(s->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(s->curl, CURLOPT_LOW_SPEED_TIME, (long)QUIET_SECONDS);
    }
    curl_easy_setopt(s->curl, CURLOPT_NOSIGNAL, 1L);
    CURLcode code = curl_easy_perform(s->curl);
    curl_slist_free_all(headers);
    if (s->refused || s->ended) return CLI_OK;
    if (s->broken != NULL) {
        cli_say("%s: %s", place->server, s->broken);
    } else if (code != CURLE_OK) {
        cli_say("%s: %s", place->server, reason[0] != '\0' ? reason : curl_easy_strerror(code));
    } else if (!s->streaming) {
        return take_answer(s, place);
    } else {
        cli_say("%s: the stream ended before the run did", place->server);
    }
    return CLI_SERVER;
}

/* The description with the assignments applied. A fault is told to the observer; NULL then. */
static cJSON *read_tree(const cli_input *input, const cli_arguments *arguments, const api_observer *observer) {
    json_limits limits = json_limits_default();
    json_fault fault;
    api_failure failure = {0};
    hamel_error error = {0};
    cJSON *tree = json_parse(input->bytes, input->length, &limits, &fault);
    if (tree == NULL) remote_failure_of_json(&failure, &fault, input->file);
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; tree != NULL && k < arguments->assignment_count; k++) {
        hamel_status one = api_override(tree, arguments->assignments[k], &error);
        if (status == HAMEL_OK) status = one;
    }
    if (status != HAMEL_OK) {
        failure = (api_failure){.exit_code = api_status_exit(status), .text = api_error_text(&error, input->file)};
        cJSON_Delete(tree);
        tree = NULL;
    }
    if (tree == NULL) (void)observer->problem(observer->context, "{}", &failure, NULL);
    api_failure_clear(&failure);
    hamel_error_clear(&error);
    return tree;
}

/* The body of the request; free() it. */
static char *body_of(const stream *s) {
    if (s->analyses == NULL) return json_text(s->tree);
    cJSON *request = api_analysis_request(s->analyses, s->tree);
    char *body = json_text(request);
    cJSON_Delete(request);
    return body;
}

static int ask(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
               const api_observer *observer, const api_analysis_options *analyses) {
    cJSON *tree = read_tree(input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* told */
    stream s = {.observer = observer, .input = input, .tree = tree, .analyses = analyses, .curl = curl_easy_init()};
    char *body = body_of(&s);
    text_buffer_init(&s.line, LINE_MAX_BYTES);
    int status = CLI_IO;
    if (body != NULL && s.curl != NULL) {
        status = transfer(&s, place, body);
    } else {
        cli_say("memory could not be allocated");
    }
    curl_easy_cleanup(s.curl);
    text_buffer_free(&s.line);
    free(s.row);
    free(body);
    cJSON_Delete(tree);
    return status;
}

int cli_simulate_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                        const api_observer *observer) {
    return ask(place, input, arguments, observer, NULL);
}

int cli_analyze_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                       const api_analysis_options *options, const api_observer *observer) {
    return ask(place, input, arguments, observer, options);
}
