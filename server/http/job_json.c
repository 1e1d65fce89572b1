/* job_json.c — JSON of jobs and batches; see job_json.h. Pure functions. */
#include "server/http/job_json.h"

#include "api/json/strict_json.h"
#include "engine/hamel.h"
#include "server/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEM_MAX = 1024 * 1024 };

static bool add_time(cJSON *object, const char *key, int64_t ms) {
    char text[CLOCK_TEXT_BYTES];
    if (ms == 0) return cJSON_AddNullToObject(object, key) != NULL;
    clock_text(text, ms);
    return cJSON_AddStringToObject(object, key, text) != NULL;
}

/* Adds a stored JSON text unchanged; this program wrote it. */
static bool add_text_json(cJSON *object, const char *key, const char *json) {
    return (json ? cJSON_AddRawToObject(object, key, json) : cJSON_AddNullToObject(object, key)) != NULL;
}

static bool add_link(cJSON *links, const char *name, const char *place, const char *id, const char *rest) {
    char path[96];
    snprintf(path, sizeof path, "%s%s%s", place, id, rest);
    return cJSON_AddStringToObject(links, name, path) != NULL;
}

cJSON *job_json(const job *j) {
    cJSON *object = cJSON_CreateObject();
    if (!object) return NULL;
    bool good = cJSON_AddStringToObject(object, "id", j->id) && cJSON_AddStringToObject(object, "name", j->name) &&
                cJSON_AddStringToObject(object, "status", job_status_name(j->status)) &&
                cJSON_AddNumberToObject(object, "progress", round(j->progress * 1e4) / 1e4) &&
                add_time(object, "created", j->created) && add_time(object, "started", j->started) &&
                add_time(object, "finished", j->finished) && add_text_json(object, "summary", j->summary) &&
                add_text_json(object, "problem", j->problem);
    good = good &&
           (j->batch[0] ? cJSON_AddStringToObject(object, "batch", j->batch) : cJSON_AddNullToObject(object, "batch"));
    cJSON *links = good ? cJSON_AddObjectToObject(object, "links") : NULL;
    good = links && add_link(links, "self", "/v1/jobs/", j->id, "") &&
           add_link(links, "system", "/v1/jobs/", j->id, "/system") &&
           add_link(links, "results", "/v1/jobs/", j->id, "/results") &&
           add_link(links, "events", "/v1/jobs/", j->id, "/events") &&
           add_link(links, "cancel", "/v1/jobs/", j->id, "/cancel");
    if (good) return object;
    cJSON_Delete(object);
    return NULL;
}

static bool add_counts(cJSON *object, const job_batch *b, double *members) {
    cJSON *counts = cJSON_CreateObject();
    bool good = counts != NULL;
    for (size_t k = 0; good && k < JOB_STATUSES; k++) {
        *members += (double)b->counts[k];
        good = cJSON_AddNumberToObject(counts, job_status_name((job_status)k), (double)b->counts[k]) != NULL;
    }
    if (good && cJSON_AddItemToObject(object, "counts", counts)) return true;
    cJSON_Delete(counts);
    return false;
}

cJSON *batch_json(const job_batch *b) {
    static const char place[] = "/v1/batches/";
    double members = 0;
    cJSON *object = cJSON_CreateObject();
    if (!object) return NULL;
    bool good = cJSON_AddStringToObject(object, "id", b->id) && cJSON_AddStringToObject(object, "name", b->name) &&
                add_time(object, "created", b->created) && add_counts(object, b, &members) &&
                cJSON_AddNumberToObject(object, "members", members) &&
                cJSON_AddStringToObject(object, "status", batch_ended(b) ? "ended" : "running");
    cJSON *links = good ? cJSON_AddObjectToObject(object, "links") : NULL;
    good = links && add_link(links, "self", place, b->id, "") && add_link(links, "results", place, b->id, "/results") &&
           add_link(links, "cancel", place, b->id, "/cancel") && add_link(links, "jobs", "/v1/jobs?batch=", b->id, "");
    if (good) return object;
    cJSON_Delete(object);
    return NULL;
}

void job_etag(const job *j, char *out, size_t room) {
    snprintf(out, room, "\"%llx-%llx\"", (unsigned long long)j->number, (unsigned long long)j->revision);
}

static const char *string_in(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

/* Writes the first error of the problem; if there is none, its detail or title. */
static void add_problem(const cJSON *problem, text_buffer *out) {
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    const cJSON *first = errors ? errors->child : NULL;
    const char *detail = string_in(problem, "detail");
    if (first && string_in(first, "pointer")[0]) text_buffer_printf(out, "%s: ", string_in(first, "pointer"));
    text_buffer_puts(out, first ? string_in(first, "message") : *detail ? detail : string_in(problem, "title"));
}

void job_outcome_read(job_outcome *out, const job *j) {
    cJSON *summary = json_parse_trusted(j->summary), *problem = json_parse_trusted(j->problem);
    const char *terminated = hamel_outcome_name(HAMEL_TERMINATED);
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

void job_outcome_clear(job_outcome *outcome) {
    text_buffer_free(&outcome->problem);
}

bool json_is_texts(const cJSON *list) {
    const cJSON *item = cJSON_IsArray(list) ? list->child : NULL;
    while (cJSON_IsString(item)) item = item->next;
    return cJSON_IsArray(list) && !item;
}
