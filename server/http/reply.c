/* reply.c — functions that fill in a reply; see request.h. */
#include "api/json/text.h"
#include "server/http/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char problem_type[] = "application/problem+json";

static void discard_reply(request *r) {
    reply *answer = &r->reply;
    answers_leave(&r->answers);
    if (!answer->is_static) free(answer->bytes);
    answer->bytes = NULL;
    answer->length = 0;
    answer->is_static = false;
}

handled reply_static(request *r, int status, const char *media_type, const char *bytes, size_t length) {
    discard_reply(r);
    r->reply.status = status;
    r->reply.media_type = media_type;
    r->reply.bytes = (char *)(uintptr_t)bytes; /* never written or freed, since is_static is true */
    r->reply.length = length;
    r->reply.is_static = true;
    return REPLY_READY;
}

handled reply_bytes(request *r, int status, const char *media_type, char *bytes, size_t length) {
    if (!bytes) return reply_no_memory(r);
    discard_reply(r);
    if (length > ANSWER_SMALL_BYTES && !answers_take(&r->answers, length)) {
        free(bytes);
        return reply_answers_full(r);
    }
    if (status >= 400) r->reply.etag[0] = '\0'; /* an error has no ETag */
    r->reply.status = status;
    r->reply.media_type = media_type;
    r->reply.bytes = bytes;
    r->reply.length = length;
    return REPLY_READY;
}

handled reply_no_memory(request *r) {
    r->reply.retry_after = 5;
    return reply_static(r, 503, problem_type, api_problem_no_memory, strlen(api_problem_no_memory));
}

handled reply_answers_full(request *r) {
    cJSON *problem =
        api_problem_plain(503, "budget", "A budget is used up",
                          "too many response bytes are waiting for slow clients (--answers); retry shortly", r->path);
    if (problem) cJSON_AddStringToObject(problem, "budget", "answers");
    r->reply.retry_after = 5;
    metrics_reject(r->services->metrics, REJECT_ANSWERS);
    return reply_problem_tree(r, 503, problem);
}

static handled reply_tree(request *r, int status, const char *media_type, cJSON *tree) {
    char *text = json_text(tree);
    cJSON_Delete(tree);
    return reply_bytes(r, status, media_type, text, text ? strlen(text) : 0);
}

handled reply_json(request *r, int status, cJSON *tree) {
    return reply_tree(r, status, "application/json", tree);
}

handled reply_problem_tree(request *r, int status, cJSON *problem) {
    return reply_tree(r, status, problem_type, problem);
}

handled reply_problem(request *r, int status, const char *slug, const char *title, const char *detail, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, detail);
    vsnprintf(text, sizeof text, detail, arguments);
    va_end(arguments);
    hamel_keep_code_points(text);
    return reply_problem_tree(r, status, api_problem_plain(status, slug, title, text, r->path[0] ? r->path : NULL));
}
