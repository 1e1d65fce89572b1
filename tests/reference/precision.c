/* precision.c — runs of the cases of precision.json. */
#include "tests/reference/precision.h"

#include "api/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double precision_tolerance(size_t k) {
    return pow(10, -4 - (double)k);
}

cJSON *precision_cases(void) {
    static char text[1 << 15];
    FILE *file = fopen("tests/reference/precision.json", "rb");
    if (file == NULL) return NULL;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return cJSON_ParseWithLength(text, length);
}

/* Returns the description of the case, with the differences in `error` as its only outputs. */
static char *description_of(const cJSON *c, const char *method, double tolerance) {
    cJSON *d = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(c, "system"), true);
    cJSON *outputs = cJSON_AddObjectToObject(d, "outputs"), *simulation = cJSON_AddObjectToObject(d, "simulation");
    cJSON *record = cJSON_AddArrayToObject(simulation, "record");
    const cJSON *error;
    char name[20];
    int count = 0;
    cJSON_ArrayForEach(error, cJSON_GetObjectItemCaseSensitive(c, "error")) {
        snprintf(name, sizeof name, "error %d", ++count);
        cJSON_AddStringToObject(outputs, name, error->valuestring);
        cJSON_AddItemToArray(record, cJSON_CreateString(name));
    }
    cJSON_AddNumberToObject(d, "hamel", 1);
    cJSON_AddNumberToObject(simulation, "stop", cJSON_GetObjectItemCaseSensitive(c, "stop")->valuedouble);
    cJSON_AddNumberToObject(simulation, "samples", 101);
    cJSON_AddNumberToObject(simulation, "rtol", tolerance);
    cJSON_AddNumberToObject(simulation, "atol", tolerance);
    cJSON_AddStringToObject(simulation, "method", method);
    char *text = cJSON_PrintUnformatted(d);
    cJSON_Delete(d);
    return text;
}

static bool take_row(void *context, const double *values, size_t count) {
    precision_run *out = context;
    for (size_t i = 1; i < count; i++) out->error = fmax(out->error, fabs(values[i]));
    return true;
}

static bool take_summary(void *context, const char *json, const hamel_summary *s) {
    precision_run *out = context;
    (void)json;
    out->steps = (double)s->steps;
    out->evaluations = (double)s->rhs_evaluations;
    return true;
}

static bool take_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    (void)context, (void)failure, (void)summary_json;
    fprintf(stderr, "%s\n", json);
    return true;
}

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool precision_measure(const cJSON *c, const char *method, double tolerance, precision_run *out) {
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    *out = (precision_run){0};
    char *text = description_of(c, method, tolerance);
    if (text == NULL) return false;
    hamel_model *model = api_prepare(text, strlen(text), NULL, 0, &limits, NULL, "precision", &failure);
    if (model == NULL) fprintf(stderr, "%s\n", failure.text != NULL ? failure.text : "no model");
    free(text);
    api_failure_clear(&failure);
    if (model == NULL) return false;
    api_observer observer = {.context = out, .row = take_row, .summary = take_summary, .problem = take_problem};
    double start = processor_time();
    hamel_status status = api_run(model, NULL, &observer, "precision");
    out->seconds = processor_time() - start;
    hamel_model_free(model);
    return status == HAMEL_OK;
}
