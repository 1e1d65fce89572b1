/* analyze.c — see analyze.h. A failure is made complete where it is found, as in simulate.c. */
#include "api/analyze.h"

#include "api/describe.h"
#include "api/json_builder.h"
#include "engine/base/symbol_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const known_keys[] = {"system", "analyses", "options"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory for the report could not be allocated");
}

static const char *const notations[] = {"text", "latex", "c"}; /* by hamel_notation */

bool api_notation_named(const char *name, hamel_notation *notation) {
    for (size_t k = 0; k < COUNT(notations); k++)
        if (strcmp(notations[k], name) == 0) {
            *notation = (hamel_notation)k;
            return true;
        }
    return false;
}

const char *api_notation_name(hamel_notation notation) {
    return notations[notation];
}

static hamel_status add_structure(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    (void)options;
    hamel_report *report = NULL;
    hamel_status status = hamel_analyze(&report, d, limits, poll, error);
    if (status == HAMEL_OK && !api_add_structure(answer, report)) status = no_memory(error);
    hamel_report_free(report);
    return status;
}

static hamel_status add_verification(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                     const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    (void)options;
    hamel_verification *verification = NULL;
    hamel_status status = hamel_verify(&verification, d, limits, poll, error);
    if (status == HAMEL_OK && !api_add_verification(answer, verification)) status = no_memory(error);
    hamel_verification_free(verification);
    return status;
}

static hamel_status add_equations(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    char *text = NULL;
    bool simplified = false;
    hamel_status status = hamel_write_equations(&text, &simplified, d, options->notation, limits, poll, error);
    if (status == HAMEL_OK && !api_add_equations(answer, options->notation, text, simplified))
        status = no_memory(error);
    free(text);
    return status;
}

static hamel_status find_equilibria(hamel_equilibria **out, const hamel_description *d,
                                    const api_analysis_options *options, const hamel_limits *limits, hamel_poll *poll,
                                    hamel_error *error) {
    return hamel_find_equilibria(out, d, options->starts, limits, poll, error);
}

static hamel_status add_equilibria(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_equilibria *equilibria = NULL;
    hamel_status status = find_equilibria(&equilibria, d, options, limits, poll, error);
    if (status == HAMEL_OK && !api_add_equilibria(answer, equilibria)) status = no_memory(error);
    hamel_equilibria_free(equilibria);
    return status;
}

static const hamel_equilibrium *first_determined(const hamel_equilibria *all) {
    for (size_t k = 0; k < all->count; k++)
        if (all->items[k].determined) return &all->items[k];
    return NULL;
}

static hamel_status add_linearization(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                      const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_equilibria *equilibria = NULL;
    hamel_linearization *linearization = NULL;
    hamel_status status = HAMEL_OK;
    if (options->about_equilibrium) status = find_equilibria(&equilibria, d, options, limits, poll, error);
    const hamel_equilibrium *at = equilibria ? first_determined(equilibria) : NULL;
    if (status == HAMEL_OK && equilibria && !at)
        status =
            hamel_fail(error, HAMEL_INVALID, options->about_pointer, 0, "no equilibrium was found to linearize about");
    if (status == HAMEL_OK)
        status = hamel_linearize(&linearization, d, at, options->inputs, options->input_count, limits, poll, error);
    if (status == HAMEL_OK && !api_add_linearization(answer, linearization)) status = no_memory(error);
    hamel_linearization_free(linearization);
    hamel_equilibria_free(equilibria);
    return status;
}

static hamel_status add_forces(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                               const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    (void)options;
    hamel_forces *forces = NULL;
    hamel_status status = hamel_find_forces(&forces, d, limits, poll, error);
    if (status == HAMEL_OK && !api_add_forces(answer, forces)) status = no_memory(error);
    hamel_forces_free(forces);
    return status;
}

static hamel_status add_relaxation(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_relaxation *relaxation = NULL;
    hamel_status status = hamel_relax(&relaxation, d, options->relaxed, limits, poll, error);
    if (status == HAMEL_OK && !api_add_relaxation(answer, relaxation)) status = no_memory(error);
    hamel_relaxation_free(relaxation);
    return status;
}

static const struct {
    const char *name;
    api_analyses bit;
    /* Adds its members to the answer. */
    hamel_status (*add)(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                        const hamel_limits *limits, hamel_poll *poll, hamel_error *error);
} known_analyses[] = {
    {"structure", API_STRUCTURE, add_structure},
    {"verification", API_VERIFICATION, add_verification},
    {"equations", API_EQUATIONS, add_equations},
    {"equilibrium", API_EQUILIBRIUM, add_equilibria},
    {"linearization", API_LINEARIZATION, add_linearization},
    {"forces", API_FORCES, add_forces},
    {"relaxation", API_RELAXATION, add_relaxation},
};

static hamel_status analyze(cJSON *answer, cJSON *tree, const char *const *assignments, size_t assignment_count,
                            const api_analysis_options *options, const api_limits *limits, hamel_poll *poll,
                            hamel_error *error) {
    api_description d;
    hamel_status status = api_describe_timeless(&d, tree, assignments, assignment_count, limits, poll, error);
    for (size_t k = 0; k < COUNT(known_analyses) && status == HAMEL_OK; k++)
        if ((options->analyses & known_analyses[k].bit) != 0)
            status = known_analyses[k].add(answer, &d.description, options, &limits->engine, poll, error);
    api_description_free(&d);
    return status;
}

/* The answer to a caller: the object, or NULL with *failure filled. Takes both. */
static cJSON *finish(cJSON *answer, hamel_status status, hamel_error *error, const char *file, api_failure *failure) {
    if (status != HAMEL_OK) {
        api_ensure_fault(error, status);
        api_failure_of_error(failure, status, error, file);
        cJSON_Delete(answer);
        answer = NULL;
    }
    hamel_error_clear(error);
    return answer;
}

cJSON *api_analyze(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                   const api_analysis_options *options, const api_limits *limits, hamel_poll *poll, const char *file,
                   api_failure *failure) {
    json_fault fault;
    cJSON *tree = json_parse(body, length, &limits->json, &fault);
    if (tree == NULL) {
        api_failure_of_json(failure, &fault, file);
        return NULL;
    }
    hamel_error error = {0};
    cJSON *answer = cJSON_CreateObject();
    hamel_status status = answer == NULL
                              ? no_memory(&error)
                              : analyze(answer, tree, assignments, assignment_count, options, limits, poll, &error);
    cJSON_Delete(tree);
    return finish(answer, status, &error, file, failure);
}

/* --- requests ------------------------------------------------------------------------------------------------------ */

static cJSON *options_of(json_builder *b, cJSON *request, const char *analysis) {
    cJSON *all = cJSON_GetObjectItemCaseSensitive(request, "options");
    if (all == NULL) all = json_add_object(b, request, "options");
    return json_add_object(b, all, analysis);
}

cJSON *api_analysis_request(const api_analysis_options *options, cJSON *system) {
    json_builder b = {0};
    cJSON *request = json_kept(&b, cJSON_CreateObject()), *list = json_add_list(&b, request, "analyses");
    for (size_t k = 0; k < COUNT(known_analyses); k++)
        if ((options->analyses & known_analyses[k].bit) != 0) json_append_texts(&b, list, &known_analyses[k].name, 1);
    if ((options->analyses & API_EQUATIONS) != 0)
        json_add_text(&b, options_of(&b, request, "equations"), "format", notations[options->notation]);
    if ((options->analyses & (API_EQUILIBRIUM | API_LINEARIZATION)) != 0)
        json_add_number(&b, options_of(&b, request, "equilibrium"), "starts", (double)options->starts);
    if ((options->analyses & API_LINEARIZATION) != 0) {
        cJSON *own = options_of(&b, request, "linearization");
        json_add_text(&b, own, "about", options->about_equilibrium ? "equilibrium" : "initial");
        cJSON *inputs = json_add_list(&b, own, "inputs");
        for (size_t k = 0; k < options->input_count; k++) json_append_texts(&b, inputs, &options->inputs[k].name, 1);
    }
    if ((options->analyses & API_RELAXATION) != 0 && options->relaxed.name != NULL)
        json_add_text(&b, options_of(&b, request, "relaxation"), "constraint", options->relaxed.name);
    if (!b.failed && cJSON_AddItemReferenceToObject(request, "system", system)) return request;
    cJSON_Delete(request);
    return NULL;
}

static bool is_one_of(const char *name, const char *const *list, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k], name) == 0) return true;
    return false;
}

static void check_keys(const cJSON *request, hamel_error *error) {
    for (const cJSON *item = request->child; item != NULL; item = item->next) {
        if (is_one_of(item->string, known_keys, COUNT(known_keys))) continue;
        char pointer[112];
        snprintf(pointer, sizeof pointer, "/%.100s", item->string);
        (void)hamel_fail(error, HAMEL_INVALID, pointer, 0, "unknown key `%.100s`", item->string);
        const char *nearest = nearest_name(known_keys, COUNT(known_keys), item->string, strlen(item->string));
        hamel_suggest(error, nearest ? "did you mean `%s`?" : "a request has the keys system, analyses and options",
                      nearest);
    }
}

static void refuse_analysis(size_t index, hamel_error *error) {
    text_buffer place, names;
    text_buffer_init(&place, 64);
    text_buffer_init(&names, 256);
    text_buffer_printf(&place, "/analyses/%zu", index);
    for (size_t k = 0; k < COUNT(known_analyses); k++)
        text_buffer_printf(&names, "%s`%s`", k ? ", " : "", known_analyses[k].name);
    (void)hamel_fail(error, HAMEL_INVALID, place.bytes, 0, "this release has the analyses %s", names.bytes);
    text_buffer_free(&place);
    text_buffer_free(&names);
}

/* Absent: the structure. */
static unsigned read_analyses(const cJSON *list, hamel_error *error) {
    unsigned asked = 0;
    size_t index = 0;
    if (list == NULL) return API_STRUCTURE;
    if (!cJSON_IsArray(list) || list->child == NULL) {
        (void)hamel_fail(error, HAMEL_INVALID, "/analyses", 0, "expected a list of analyses, as in [\"structure\"]");
        return asked;
    }
    for (const cJSON *item = list->child; item != NULL; item = item->next, index++) {
        unsigned bit = 0;
        for (size_t k = 0; k < COUNT(known_analyses) && cJSON_IsString(item); k++)
            if (strcmp(known_analyses[k].name, item->valuestring) == 0) bit = known_analyses[k].bit;
        if (bit == 0) refuse_analysis(index, error);
        asked |= bit;
    }
    return asked;
}

/* --- options of a request: one reader a key ------------------------------------------------------------------------ */

static bool read_format(const cJSON *value, api_analysis_options *options) {
    return cJSON_IsString(value) && api_notation_named(value->valuestring, &options->notation);
}

static bool read_starts(const cJSON *value, api_analysis_options *options) {
    double starts = cJSON_IsNumber(value) ? value->valuedouble : -1;
    if (!(starts >= 0 && starts <= API_MOST_STARTS) || starts != floor(starts)) return false;
    options->starts = (size_t)starts;
    return true;
}

static bool read_about(const cJSON *value, api_analysis_options *options) {
    if (!cJSON_IsString(value)) return false;
    options->about_equilibrium = strcmp(value->valuestring, "equilibrium") == 0;
    options->about_pointer = "/options/linearization/about";
    return options->about_equilibrium || strcmp(value->valuestring, "initial") == 0;
}

/* The names stay the tree's; their list, with the pointers behind it, is freed with the options. */
static bool read_inputs(const cJSON *value, api_analysis_options *options) {
    int count = cJSON_IsArray(value) ? cJSON_GetArraySize(value) : -1;
    if (count < 0 || count > API_MOST_INPUTS) return false;
    enum { POINTER = 48 };
    hamel_argument *inputs = calloc((size_t)count + 1, sizeof *inputs + POINTER);
    if (inputs == NULL) return false;
    char *pointer = (char *)(inputs + count + 1);
    free((void *)options->inputs);
    options->inputs = inputs;
    options->input_count = 0;
    for (const cJSON *item = value->child; item != NULL; item = item->next, pointer += POINTER) {
        if (!cJSON_IsString(item)) return false;
        (void)snprintf(pointer, POINTER, "%s%zu", "/options/linearization/inputs/", options->input_count);
        inputs[options->input_count++] = (hamel_argument){item->valuestring, pointer};
    }
    return true;
}

static bool read_relaxed(const cJSON *value, api_analysis_options *options) {
    options->relaxed = (hamel_argument){cJSON_GetStringValue(value), "/options/relaxation/constraint"};
    return options->relaxed.name != NULL;
}

static const struct {
    const char *analysis, *key, *expected;
    bool (*read)(const cJSON *value, api_analysis_options *options);
} known_options[] = {
    {"equations", "format", "\"text\", \"latex\" or \"c\"", read_format},
    {"equilibrium", "starts", "a whole number up to 10000", read_starts},
    {"linearization", "about", "\"initial\" or \"equilibrium\"", read_about},
    {"linearization", "inputs", "a list of names of parameters, 100 at most", read_inputs},
    {"relaxation", "constraint", "the name of a constraint", read_relaxed},
};

static void read_option(const char *analysis, const cJSON *item, api_analysis_options *options, hamel_error *error) {
    text_buffer place;
    text_buffer_init(&place, 1024);
    text_buffer_printf(&place, "/options/%.100s/%.100s", analysis, item->string);
    for (size_t k = 0; k < COUNT(known_options); k++) {
        if (strcmp(known_options[k].analysis, analysis) != 0 || strcmp(known_options[k].key, item->string) != 0)
            continue;
        if (!known_options[k].read(item, options))
            (void)hamel_fail(error, HAMEL_INVALID, place.bytes, 0, "expected %s", known_options[k].expected);
        text_buffer_free(&place);
        return;
    }
    (void)hamel_fail(error, HAMEL_INVALID, place.bytes, 0, "there is no such option");
    hamel_suggest(error,
                  "equations: format; equilibrium: starts; linearization: about, inputs; relaxation: constraint");
    text_buffer_free(&place);
}

static void refuse_options(const char *analysis, bool known, hamel_error *error) {
    text_buffer place;
    text_buffer_init(&place, 1024);
    text_buffer_printf(&place, "/options/%.100s", analysis);
    (void)hamel_fail(error, HAMEL_INVALID, place.bytes, 0,
                     known ? "expected an object of options" : "there is no such analysis");
    hamel_suggest(error, "options stand by the names of analyses, as in {\"equations\": {\"format\": \"latex\"}}");
    text_buffer_free(&place);
}

/* {"equations": {"format": "latex"}} */
static void read_options(const cJSON *given, api_analysis_options *options, hamel_error *error) {
    if (given != NULL && !cJSON_IsObject(given))
        (void)hamel_fail(error, HAMEL_INVALID, "/options", 0, "expected an object of options by analysis");
    for (const cJSON *own = cJSON_IsObject(given) ? given->child : NULL; own != NULL; own = own->next) {
        bool known = false;
        for (size_t k = 0; k < COUNT(known_analyses); k++) known |= strcmp(known_analyses[k].name, own->string) == 0;
        if (!known || !cJSON_IsObject(own)) {
            refuse_options(own->string, known, error);
            continue;
        }
        for (const cJSON *item = own->child; item != NULL; item = item->next)
            read_option(own->string, item, options, error);
    }
}

/* Which analyses are asked for; faults of the request. */
static api_analysis_options read_request(const cJSON *request, hamel_error *error) {
    api_analysis_options options = api_analysis_default(0);
    if (!cJSON_IsObject(request)) {
        (void)hamel_fail(error, HAMEL_INVALID, "", 0, "expected an object with the keys system and analyses");
        return options;
    }
    check_keys(request, error);
    options.analyses = read_analyses(cJSON_GetObjectItemCaseSensitive(request, "analyses"), error);
    read_options(cJSON_GetObjectItemCaseSensitive(request, "options"), &options, error);
    if ((options.analyses & API_RELAXATION) != 0 && options.relaxed.name == NULL) {
        (void)hamel_fail(error, HAMEL_INVALID, "/options", 0,
                         "the analysis `relaxation` needs the name of a constraint");
        hamel_suggest(error, "\"options\": {\"relaxation\": {\"constraint\": \"NAME\"}}");
    }
    if (cJSON_GetObjectItemCaseSensitive(request, "system") == NULL)
        (void)hamel_fail(error, HAMEL_INVALID, "", 0, "the key `system` is missing: the description to analyse");
    return options;
}

/* Pointers into the description become pointers into the body; a description has no objects by the name of options. */
static void move_pointers(hamel_error *error) {
    static const char prefix[] = "/system", options[] = "/options/";
    for (size_t k = 0; k < error->count; k++) {
        char *old = error->faults[k].pointer;
        if (strncmp(old, options, sizeof options - 1) == 0) continue;
        size_t length = strlen(old);
        char *moved = malloc(sizeof prefix + length);
        if (moved == NULL) return;
        memcpy(moved, prefix, sizeof prefix - 1);
        memcpy(moved + sizeof prefix - 1, old, length + 1);
        free(old);
        error->faults[k].pointer = moved;
    }
}

cJSON *api_analyze_request(const char *body, size_t length, const api_limits *limits, hamel_poll *poll,
                           api_failure *failure) {
    json_fault fault;
    cJSON *request = json_parse(body, length, &limits->json, &fault), *answer = NULL;
    if (request == NULL) {
        api_failure_of_json(failure, &fault, "request");
        return NULL;
    }
    hamel_error error = {0};
    api_analysis_options options = read_request(request, &error);
    hamel_status status = error.status;
    if (status == HAMEL_OK) answer = cJSON_CreateObject();
    if (status == HAMEL_OK && answer == NULL) status = no_memory(&error);
    if (status == HAMEL_OK) {
        cJSON *system = cJSON_GetObjectItemCaseSensitive(request, "system");
        status = analyze(answer, system, NULL, 0, &options, limits, poll, &error);
        move_pointers(&error);
    }
    free((void *)options.inputs);
    cJSON_Delete(request);
    return finish(answer, status, &error, "request", failure);
}
