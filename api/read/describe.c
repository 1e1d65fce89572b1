/* describe.c — see describe.h. */
#include "api/read/describe.h"

#include "api/read/read_system.h"
#include "api/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

static const char unnamed[] = "description"; /* used if the caller passes no file name */

void api_failure_clear(api_failure *failure) {
    cJSON_Delete(failure->problem);
    free(failure->text);
    *failure = (api_failure){0};
}

void api_failure_of_error(api_failure *failure, hamel_status status, const hamel_error *error, const char *file) {
    failure->http = api_status_http(status);
    failure->exit_code = api_status_exit(status);
    failure->problem = api_problem(error, NULL);
    failure->text = api_error_text(error, file != NULL ? file : unnamed);
}

void api_failure_of_json(api_failure *failure, const json_fault *fault, const char *file) {
    hamel_status status = fault->no_memory ? HAMEL_NO_MEMORY : HAMEL_INVALID;
    failure->http = fault->no_memory ? api_status_http(status) : fault->too_large ? 413 : 400;
    failure->exit_code = api_status_exit(status);
    failure->problem = api_problem_json(fault, NULL);
    text_buffer b;
    text_buffer_init(&b, 65536);
    text_buffer_printf(&b, "hamel: %s:%zu:%zu: %s\n", file != NULL ? file : unnamed, fault->line, fault->column,
                       fault->message);
    failure->text = text_buffer_take(&b, NULL);
    text_buffer_free(&b);
}

hamel_status api_override_all(cJSON *tree, const char *const *assignments, size_t count, hamel_error *error) {
    hamel_status first = HAMEL_OK;
    for (size_t k = 0; k < count && first != HAMEL_NO_MEMORY; k++) {
        hamel_status status = api_override(tree, assignments[k], error);
        if (first == HAMEL_OK || status == HAMEL_NO_MEMORY) first = status;
    }
    return first;
}

/* Returns true if a section that declares names has errors. The checks would then report names from that section as
 * unknown. */
static bool names_are_missing(const hamel_error *error) {
    static const char *const declaring[] = {"/coordinates", "/parameters", "/definitions"};
    for (size_t k = 0; k < error->count; k++)
        for (size_t i = 0; i < sizeof declaring / sizeof *declaring; i++)
            if (strncmp(error->faults[k].pointer, declaring[i], strlen(declaring[i])) == 0) return true;
    return false;
}

static size_t section_length(const char *pointer) {
    return pointer[0] == '\0' ? 0 : 1 + strcspn(pointer + 1, "/");
}

static bool lies_in(const char *pointer, const char *section, size_t length) {
    return section_length(pointer) == length && strncmp(pointer, section, length) == 0;
}

static bool lies_in_one_of(const char *pointer, const char *const *sections) {
    while (*sections != NULL && !lies_in(pointer, *sections, strlen(*sections))) sections++;
    return *sections != NULL;
}

/* Returns true if the structural error at the pointer `shape` may have caused the error at the pointer `fault`. The
 * cause is a section that was not read, or an unknown element. */
static bool may_cause(const char *shape, const char *fault) {
    static const char *const of_numbers[] = {"/simulation", "/checks", "/tables", NULL};
    static const char *const of_elements[] = {"/frames", "/particles", "/bodies", "/points", NULL};
    bool whole = shape[section_length(shape)] == '\0'; /* the error concerns a whole section, or the document */
    if (shape[0] == '\0' || lies_in(shape, fault, section_length(fault))) return true;
    return !lies_in_one_of(fault, of_numbers) && (whole || lies_in_one_of(shape, of_elements));
}

/* Returns true if the error may be a consequence of structural errors. Errors inside expressions are never
 * consequences. */
static bool is_consequence(const hamel_fault *f, const hamel_error *shapes, size_t shape_count) {
    bool consequence = f->column == 0 && f->pointer[0] == '\0';
    for (size_t k = 0; k < shape_count && f->column == 0 && !consequence; k++)
        consequence = may_cause(shapes->faults[k].pointer, f->pointer);
    return consequence;
}

/* Runs the engine's checks in spite of structural errors, so that the errors of structure and of the checks are
 * reported together. */
static void add_faults_of_meaning(const hamel_description *d, const api_limits *limits, hamel_poll *poll,
                                  hamel_error *error) {
    hamel_error found = {0};
    size_t shape_count = error->count;
    if (d->coordinate_count == 0 || names_are_missing(error)) return;
    hamel_description_check(d, &limits->engine, poll, &found);
    for (size_t k = 0; k < found.count; k++) {
        const hamel_fault *f = &found.faults[k];
        if (is_consequence(f, error, shape_count)) continue;
        (void)hamel_fail(error, f->status, f->pointer, f->column, "%s", f->message);
        if (f->suggestion) hamel_suggest(error, "%s", f->suggestion);
        if (f->expression) hamel_quote(error, f->expression, strlen(f->expression));
    }
    hamel_error_clear(&found);
}

void api_ensure_fault(hamel_error *error, hamel_status status) {
    if (error->status == HAMEL_OK) (void)hamel_fail(error, status, "", 0, "%s", hamel_status_meaning(status));
}

bool api_settle(api_failure *failure, hamel_status status, hamel_error *error, const char *file) {
    if (status != HAMEL_OK) {
        api_ensure_fault(error, status);
        api_failure_of_error(failure, status, error, file);
    }
    hamel_error_clear(error);
    return status == HAMEL_OK;
}

hamel_status api_derive(hamel_model **model, cJSON *tree, const char *const *assignments, size_t assignment_count,
                        const api_limits *limits, hamel_poll *poll, hamel_error *error) {
    api_description d;
    *model = NULL;
    hamel_status status = api_describe(&d, tree, false, assignments, assignment_count, limits, poll, error);
    if (status == HAMEL_OK) status = hamel_model_create(model, &d.description, &limits->engine, poll, error);
    if (status == HAMEL_OK) hamel_model_translate(*model, limits->jit);
    api_description_free(&d);
    return status;
}

hamel_status api_describe(api_description *out, cJSON *tree, bool timeless, const char *const *assignments,
                          size_t assignment_count, const api_limits *limits, hamel_poll *poll, hamel_error *error) {
    arena_init(&out->memory, 0); /* 0: no limit, because the limited size of the body bounds the memory */
    hamel_status status = api_override_all(tree, assignments, assignment_count, error);
    if (status != HAMEL_OK) return status;
    status = api_read_system(&out->description, tree, timeless, &out->memory, error);
    hamel_status targets = status == HAMEL_NO_MEMORY ? status : sweep_check_targets(tree, error);
    if (status == HAMEL_OK) status = targets;
    if (status == HAMEL_INVALID) add_faults_of_meaning(&out->description, limits, poll, error);
    return status;
}

void api_description_free(api_description *d) {
    arena_free(&d->memory);
}
