/* problem.c — faults as problem documents (RFC 9457) and as text for a terminal, and the table that maps a status to
 * HTTP and to exit codes.
 *
 * Building a document takes many small allocations; `good` gathers their failures and is looked at once. */
#include "api/problem.h"

#include "engine/base/text_buffer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_INVALID = 3,
    EXIT_RUN = 4,
    SHOWN_COLUMNS = 100, /* of a long expression, around the fault */
    TEXT_MAX = 4 * 1024 * 1024
};

const char api_problem_no_memory[] =
    "{\"type\":\"/problems/out-of-memory\",\"title\":\"memory could not be allocated\","
    "\"status\":503,\"detail\":\"try again later\"}";

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

static bool add_text(cJSON *object, const char *key, const char *text) {
    return cJSON_AddStringToObject(object, key, text) != NULL;
}

cJSON *api_problem_plain(int http, const char *slug, const char *title, const char *detail, const char *instance) {
    char type[128];
    snprintf(type, sizeof type, "/problems/%s", slug);
    cJSON *problem = cJSON_CreateObject();
    bool good = problem != NULL && add_text(problem, "type", type) && add_text(problem, "title", title) &&
                cJSON_AddNumberToObject(problem, "status", http) != NULL &&
                (detail == NULL || add_text(problem, "detail", detail)) &&
                (instance == NULL || add_text(problem, "instance", instance));
    if (good) return problem;
    cJSON_Delete(problem);
    return NULL;
}

static bool add_fault(cJSON *errors, const hamel_fault *fault) {
    cJSON *item = cJSON_CreateObject();
    if (item == NULL || !cJSON_AddItemToArray(errors, item)) {
        cJSON_Delete(item);
        return false;
    }
    return add_text(item, "pointer", fault->pointer) && add_text(item, "message", fault->message) &&
           (fault->column <= 0 || cJSON_AddNumberToObject(item, "column", fault->column) != NULL) &&
           (fault->suggestion == NULL || add_text(item, "suggestion", fault->suggestion));
}

static bool add_faults(cJSON *problem, const hamel_error *error) {
    cJSON *errors = cJSON_AddArrayToObject(problem, "errors");
    if (errors == NULL) return false;
    for (size_t k = 0; k < error->count; k++) {
        if (!add_fault(errors, &error->faults[k])) return false;
    }
    return error->omitted == 0 || cJSON_AddNumberToObject(problem, "omitted", (double)error->omitted) != NULL;
}

/* One line for `detail`: the fault, or how many there are and the first of them. */
static char *detail_of(const hamel_error *error) {
    text_buffer b;
    text_buffer_init(&b, TEXT_MAX);
    size_t all = error->count + error->omitted;
    if (all > 1) text_buffer_printf(&b, "%zu faults; the first: ", all);
    if (error->count == 0) {
        text_buffer_puts(&b, hamel_status_meaning(error->status));
    } else {
        const hamel_fault *first = &error->faults[0];
        if (first->pointer[0] != '\0') text_buffer_printf(&b, "%s: ", first->pointer);
        text_buffer_puts(&b, first->message);
    }
    char *text = text_buffer_take(&b, NULL);
    text_buffer_free(&b);
    return text;
}

cJSON *api_problem(const hamel_error *error, const char *instance) {
    hamel_status status = error->status != HAMEL_OK ? error->status : HAMEL_INTERNAL;
    char *detail = detail_of(error);
    if (detail == NULL) return NULL;
    cJSON *problem = api_problem_plain(api_status_http(status), hamel_status_slug(status), hamel_status_meaning(status),
                                       detail, instance);
    free(detail);
    if (problem == NULL || add_faults(problem, error)) return problem;
    cJSON_Delete(problem);
    return NULL;
}

cJSON *api_problem_json(const json_fault *fault, const char *instance) {
    if (fault->no_memory) {
        return api_problem_plain(api_status_http(HAMEL_NO_MEMORY), hamel_status_slug(HAMEL_NO_MEMORY),
                                 hamel_status_meaning(HAMEL_NO_MEMORY), fault->message, instance);
    }
    char detail[sizeof fault->message + 80];
    snprintf(detail, sizeof detail, "line %zu, column %zu: %s", fault->line, fault->column, fault->message);
    cJSON *problem = fault->too_large
                         ? api_problem_plain(413, "body-too-large", "the document is larger than this server takes",
                                             detail, instance)
                         : api_problem_plain(400, "malformed-json", "the text is no JSON document", detail, instance);
    if (problem != NULL && cJSON_AddNumberToObject(problem, "line", (double)fault->line) != NULL &&
        cJSON_AddNumberToObject(problem, "column", (double)fault->column) != NULL) {
        return problem;
    }
    cJSON_Delete(problem);
    return NULL;
}

/* The byte where code point number `index` of `text` begins; its end when there are fewer. */
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

/* The expression, cut around the fault when it is long, and a caret under the column. Control characters become
 * blanks so that the caret stays in place. */
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
    if (error->count > 0 && error->omitted > 0) {
        text_buffer_printf(&b, "hamel: %s: and %zu more faults\n", file, error->omitted);
    }
    char *text = text_buffer_take(&b, NULL);
    text_buffer_free(&b);
    return text;
}
