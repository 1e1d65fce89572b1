/* problem.c — writes errors as problem documents (RFC 9457) and as text for a terminal. Maps a status to an HTTP status
 * and to an exit code. */
#include "api/problem.h"

#include "api/json/builder.h"
#include "engine/base/text_buffer.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_INVALID = 3,
    EXIT_RUN = 4,
    /* Largest number of columns quoted from a long expression. With indentation, they fit a terminal of 120 columns. */
    SHOWN_COLUMNS = 100,
    TEXT_MAX = 4 * 1024 * 1024
};

const char api_problem_no_memory[] =
    "{\"type\":\"/problems/out-of-memory\",\"title\":\"memory could not be allocated\","
    "\"status\":503,\"detail\":\"retry later\"}";

typedef struct meaning {
    int http, exit_code;
} meaning;

static meaning meaning_of(hamel_status status) {
    switch (status) {
    case HAMEL_OK: return (meaning){200, 0};
    case HAMEL_INVALID:
    case HAMEL_INCONSISTENT:
    case HAMEL_INCOMPATIBLE:
    case HAMEL_SINGULAR:
    case HAMEL_UNSUPPORTED:
    case HAMEL_LIMIT: return (meaning){422, EXIT_INVALID};
    case HAMEL_NOT_FINITE:
    case HAMEL_INTEGRATION: return (meaning){422, EXIT_RUN};
    case HAMEL_CANCELED:
    case HAMEL_NO_MEMORY: return (meaning){503, EXIT_RUN};
    case HAMEL_INTERNAL: break;
    }
    return (meaning){500, EXIT_RUN};
}

int api_status_http(hamel_status status) {
    return meaning_of(status).http;
}

int api_status_exit(hamel_status status) {
    return meaning_of(status).exit_code;
}

cJSON *api_problem_plain(int http, const char *slug, const char *title, const char *detail, const char *instance) {
    char type[128];
    json_builder b = {0};
    cJSON *problem = json_kept(&b, cJSON_CreateObject());
    snprintf(type, sizeof type, "/problems/%s", slug);
    json_add_text(&b, problem, "type", type);
    json_add_text(&b, problem, "title", title);
    json_add_number(&b, problem, "status", http);
    if (detail != NULL) json_add_text(&b, problem, "detail", detail);
    if (instance != NULL) json_add_text(&b, problem, "instance", instance);
    return json_finished(&b, problem);
}

static void add_errors(json_builder *b, cJSON *problem, const hamel_error *error) {
    cJSON *list = json_add_list(b, problem, "errors");
    for (size_t k = 0; k < error->count && !b->failed; k++) {
        const hamel_fault *f = &error->faults[k];
        cJSON *item = json_append(b, list, cJSON_CreateObject());
        json_add_text(b, item, "pointer", f->pointer);
        json_add_text(b, item, "message", f->message);
        if (f->column > 0) json_add_number(b, item, "column", f->column);
        if (f->suggestion != NULL) json_add_text(b, item, "suggestion", f->suggestion);
    }
    if (error->omitted > 0) json_add_number(b, problem, "omitted", (double)error->omitted);
}

/* Sets the member `detail` to one line: the first error and, if there are several errors, their number. Returns false
 * if memory could not be allocated. */
static bool set_detail(cJSON *problem) {
    const cJSON *errors = json_at(problem, "errors");
    assert(cJSON_IsArray(errors));
    const cJSON *first = errors->child;
    double all = cJSON_GetArraySize(errors) + json_number_at(problem, "omitted");
    text_buffer detail;
    text_buffer_init(&detail, TEXT_MAX);
    if (all > 1) text_buffer_printf(&detail, "%.0f errors; the first: ", all);
    if (json_text_at(first, "pointer")[0] != '\0') text_buffer_printf(&detail, "%s: ", json_text_at(first, "pointer"));
    text_buffer_puts(&detail, first != NULL ? json_text_at(first, "message") : json_text_at(problem, "title"));
    cJSON *item = json_at(problem, "detail");
    bool made = !detail.failed && cJSON_SetValuestring(item, detail.bytes != NULL ? detail.bytes : "") != NULL;
    text_buffer_free(&detail);
    return made;
}

cJSON *api_problem(const hamel_error *error, const char *instance) {
    hamel_status status = error->status != HAMEL_OK ? error->status : HAMEL_INTERNAL;
    json_builder b = {0};
    cJSON *problem = json_kept(&b, api_problem_plain(api_status_http(status), hamel_status_slug(status),
                                                     hamel_status_meaning(status), "", instance));
    add_errors(&b, problem, error);
    if (!b.failed && !set_detail(problem)) b.failed = true;
    return json_finished(&b, problem);
}

void api_problem_rebase(cJSON *problem, const char *from, const char *to) {
    const cJSON *errors = json_at(problem, "errors");
    size_t length = strlen(from);
    if (!cJSON_IsArray(errors)) return;
    for (const cJSON *e = errors->child; e != NULL; e = e->next) {
        cJSON *pointer = json_at(e, "pointer");
        if (!cJSON_IsString(pointer) || strncmp(pointer->valuestring, from, length) != 0) continue;
        text_buffer moved;
        text_buffer_init(&moved, TEXT_MAX);
        text_buffer_printf(&moved, "%s%s", to, pointer->valuestring + length);
        if (!moved.failed) (void)cJSON_SetValuestring(pointer, moved.bytes);
        text_buffer_free(&moved);
    }
    (void)set_detail(problem);
}

cJSON *api_problem_json(const json_fault *fault, const char *instance) {
    if (fault->no_memory) {
        return api_problem_plain(api_status_http(HAMEL_NO_MEMORY), hamel_status_slug(HAMEL_NO_MEMORY),
                                 hamel_status_meaning(HAMEL_NO_MEMORY), fault->message, instance);
    }
    char detail[sizeof fault->message + 80];
    snprintf(detail, sizeof detail, "line %zu, column %zu: %s", fault->line, fault->column, fault->message);
    json_builder b = {0};
    cJSON *problem =
        fault->too_large
            ? api_problem_plain(413, "body-too-large", "the document exceeds a limit of this server", detail, instance)
            : api_problem_plain(400, "malformed-json", "the text is not a JSON document", detail, instance);
    json_kept(&b, problem);
    json_add_number(&b, problem, "line", (double)fault->line);
    json_add_number(&b, problem, "column", (double)fault->column);
    return json_finished(&b, problem);
}

/* Returns the start of code point number `index`, counted from 0, or the end of a shorter text. */
static const char *code_point(const char *text, size_t index) {
    const char *p = text;
    while (*p != '\0' && index > 0) {
        p++;
        if (((unsigned char)*p & 0xC0) != 0x80) index--;
    }
    return p;
}

static size_t code_points(const char *text) {
    size_t count = 0;
    for (const char *p = text; *p != '\0'; p++) count += ((unsigned char)*p & 0xC0) != 0x80;
    return count;
}

/* Adds the expression and, below it, a caret at the column. If the expression is long, adds only the part around the
 * column. Control characters become blanks, so that the caret is below its column. */
static void add_excerpt(text_buffer *b, const char *expression, size_t column) {
    size_t length = code_points(expression);
    size_t at = column - 1 < length ? column - 1 : length;
    size_t first = 0, last = length;
    if (length > SHOWN_COLUMNS) {
        first = at > SHOWN_COLUMNS / 2 ? at - SHOWN_COLUMNS / 2 : 0;
        if (first + SHOWN_COLUMNS > length) first = length - SHOWN_COLUMNS;
        last = first + SHOWN_COLUMNS;
    }
    const char *before = first > 0 ? "..." : "";
    text_buffer_printf(b, "    %s", before);
    const char *end = code_point(expression, last);
    for (const char *p = code_point(expression, first); p < end; p++) {
        char c = iscntrl((unsigned char)*p) ? ' ' : *p;
        text_buffer_add(b, &c, 1);
    }
    text_buffer_puts(b, last < length ? "...\n" : "\n");
    text_buffer_printf(b, "    %*s^\n", (int)(strlen(before) + at - first), "");
}

static void add_fault_text(text_buffer *b, const hamel_fault *fault, const char *file) {
    text_buffer_printf(b, "hamel: %s: ", file);
    if (fault->pointer[0] != '\0' || fault->column > 0) {
        text_buffer_puts(b, fault->pointer);
        if (fault->column > 0) text_buffer_printf(b, ":%d", fault->column);
        text_buffer_puts(b, ": ");
    }
    text_buffer_puts(b, fault->message);
    text_buffer_puts(b, "\n");
    if (fault->expression != NULL && fault->column > 0) add_excerpt(b, fault->expression, (size_t)fault->column);
    if (fault->suggestion != NULL) text_buffer_printf(b, "  try: %s\n", fault->suggestion);
}

char *api_error_text(const hamel_error *error, const char *file) {
    text_buffer b;
    text_buffer_init(&b, TEXT_MAX);
    for (size_t k = 0; k < error->count; k++) add_fault_text(&b, &error->faults[k], file);
    if (error->count == 0) text_buffer_printf(&b, "hamel: %s: %s\n", file, hamel_status_meaning(error->status));
    if (error->count > 0 && error->omitted > 0)
        text_buffer_printf(&b, "hamel: %s: and %zu more errors\n", file, error->omitted);
    char *text = text_buffer_take(&b, NULL);
    text_buffer_free(&b);
    return text;
}
