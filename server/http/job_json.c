/* job_json.c — JSON of jobs and batches; see job_json.h. Pure functions. */
#include "server/http/job_json.h"

#include "api/json/builder.h"
#include "api/json/strict_json.h"
#include "engine/hamel.h"
#include "server/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEM_MAX = 1024 * 1024 };

static void add_time(json_builder *b, cJSON *object, const char *key, int64_t ms) {
    char text[CLOCK_TEXT_BYTES];
    clock_text(text, ms);
    json_add_text(b, object, key, ms ? text : NULL);
}

/* Adds stored JSON text. The text is not parsed, since the daemon itself has written it. */
static void add_raw(json_builder *b, cJSON *object, const char *key, const char *json) {
    if (b->failed) return;
    json_kept(b, json ? cJSON_AddRawToObject(object, key, json) : cJSON_AddNullToObject(object, key));
}

/* Adds links to a resource (the first name) and to its subresources (the other names). The list of names ends with
 * NULL. */
static cJSON *add_links(json_builder *b, cJSON *object, const char *place, const char *id, const char *const *names) {
    char path[96];
    cJSON *links = json_add_object(b, object, "links");
    for (size_t k = 0; names[k]; k++) {
        snprintf(path, sizeof path, "%s%s%s%s", place, id, k ? "/" : "", k ? names[k] : "");
        json_add_text(b, links, names[k], path);
    }
    return links;
}

cJSON *job_json(const job *j) {
    static const char *const links[] = {"self", "system", "results", "events", "cancel", NULL};
    json_builder b = {0};
    cJSON *object = json_kept(&b, cJSON_CreateObject());
    json_add_text(&b, object, "id", j->id);
    json_add_text(&b, object, "name", j->name);
    json_add_text(&b, object, "status", job_status_name(j->status));
    json_add_number(&b, object, "progress", round(j->progress * 1e4) / 1e4);
    add_time(&b, object, "created", j->created);
    add_time(&b, object, "started", j->started);
    add_time(&b, object, "finished", j->finished);
    add_raw(&b, object, "summary", j->summary);
    add_raw(&b, object, "problem", j->problem);
    json_add_text(&b, object, "batch", j->batch[0] ? j->batch : NULL);
    add_links(&b, object, "/v1/jobs/", j->id, links);
    return json_finished(&b, object);
}

cJSON *batch_json(const job_batch *batch) {
    static const char *const names[] = {"self", "results", "cancel", NULL};
    json_builder b = {0};
    char jobs[64];
    double members = 0;
    cJSON *object = json_kept(&b, cJSON_CreateObject());
    json_add_text(&b, object, "id", batch->id);
    json_add_text(&b, object, "name", batch->name);
    add_time(&b, object, "created", batch->created);
    cJSON *counts = json_add_object(&b, object, "counts");
    for (size_t k = 0; k < JOB_STATUSES; k++) {
        members += (double)batch->counts[k];
        json_add_number(&b, counts, job_status_name((job_status)k), (double)batch->counts[k]);
    }
    json_add_number(&b, object, "members", members);
    json_add_text(&b, object, "status", batch_ended(batch) ? "ended" : "running");
    cJSON *links = add_links(&b, object, "/v1/batches/", batch->id, names);
    snprintf(jobs, sizeof jobs, "/v1/jobs?batch=%s", batch->id);
    json_add_text(&b, links, "jobs", jobs);
    return json_finished(&b, object);
}

void job_etag(const job *j, char *out, size_t room) {
    snprintf(out, room, "\"%llx-%llx\"", (unsigned long long)j->number, (unsigned long long)j->revision);
}

static const char *string_in(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

/* Writes the first error of the problem document. If the document lists no errors, writes its detail or title. */
static void add_problem(const cJSON *problem, text_buffer *out) {
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    const cJSON *first = errors ? errors->child : NULL;
    const char *detail = string_in(problem, "detail");
    if (first && string_in(first, "pointer")[0]) text_buffer_printf(out, "%s: ", string_in(first, "pointer"));
    text_buffer_puts(out, first ? string_in(first, "message") : *detail ? detail : string_in(problem, "title"));
}

void job_outcome_read(job_outcome *out, const job *j) {
    const char *terminated = hamel_outcome_name(HAMEL_TERMINATED);
    bool plain = j->status == JOB_COMPLETED && !strstr(j->summary ? j->summary : "", terminated);
    cJSON *summary = plain ? NULL : json_parse_trusted(j->summary);
    cJSON *problem = plain ? NULL : json_parse_trusted(j->problem);
    out->status = job_status_name(j->status);
    text_buffer_init(&out->problem, PROBLEM_MAX);
    if (j->status == JOB_COMPLETED && strcmp(string_in(summary, "status"), terminated) == 0) out->status = terminated;
    if (j->status == JOB_FAILED) add_problem(problem, &out->problem);
    if (j->status == JOB_INCOMPLETE) { /* the last warning contains the reason */
        const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(summary, "warnings");
        const char *why = cJSON_GetStringValue(cJSON_GetArrayItem(warnings, cJSON_GetArraySize(warnings) - 1));
        text_buffer_puts(&out->problem, why ? why : "");
    }
    cJSON_Delete(summary);
    cJSON_Delete(problem);
}

bool json_is_texts(const cJSON *list) {
    const cJSON *item = cJSON_IsArray(list) ? list->child : NULL;
    while (cJSON_IsString(item)) item = item->next;
    return cJSON_IsArray(list) && !item;
}
