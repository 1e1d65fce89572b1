/* job_json.c — see job_json.h. Pure functions. */
#include "server/http/job_json.h"

#include "server/stamp.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool add_time(cJSON *object, const char *key, int64_t ms) {
    char text[STAMP_TIME_BYTES];
    if (ms == 0) return cJSON_AddNullToObject(object, key) != NULL;
    stamp_text(text, ms);
    return cJSON_AddStringToObject(object, key, text) != NULL;
}

/* Stored texts were made by this program; they go in as they are. */
static bool add_text_json(cJSON *object, const char *key, const char *json) {
    return (json ? cJSON_AddRawToObject(object, key, json) : cJSON_AddNullToObject(object, key)) != NULL;
}

static bool add_link(cJSON *links, const char *name, const job *j, const char *rest) {
    char path[96];
    snprintf(path, sizeof path, "/v1/jobs/%s%s", j->id, rest);
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
    good = links && add_link(links, "self", j, "") && add_link(links, "system", j, "/system") &&
           add_link(links, "results", j, "/results") && add_link(links, "cancel", j, "/cancel");
    if (good) return object;
    cJSON_Delete(object);
    return NULL;
}

void job_etag(const job *j, char *out, size_t room) {
    snprintf(out, room, "\"%llx-%llx\"", (unsigned long long)j->number, (unsigned long long)j->revision);
}

double prefer_wait(const char *header, double most) {
    while (header && *header) {
        header += strspn(header, " \t,;");
        if (strncasecmp(header, "wait=", 5) == 0 && isdigit((unsigned char)header[5])) {
            double seconds = strtod(header + 5, NULL);
            return seconds < most ? seconds : most;
        }
        header += strcspn(header, ",;");
    }
    return 0;
}
