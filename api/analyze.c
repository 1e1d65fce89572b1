/* analyze.c — see analyze.h. The function that detects an error fills the whole api_failure, as in simulate.c. */
#include "api/analyze.h"

#include "api/json/builder.h"
#include "api/json/reader.h"
#include "api/read/describe.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

const char *const api_notations[API_NOTATION_COUNT] = {"text", "latex", "c"};

/* Performs one analysis of the description `d` and adds its results to the JSON object `answer`. */
typedef hamel_status analysis_function(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                       const hamel_limits *limits, hamel_poll *poll, hamel_error *error);

/* Defines an analysis with one result: `find` computes `found`, and `add` writes `found` to `answer` as JSON. */
#define ANALYSIS(name, type, find, add, release)                                                             \
    static hamel_status name(cJSON *answer, const hamel_description *d, const api_analysis_options *options, \
                             const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {             \
        type *found = NULL;                                                                                  \
        (void)options;                                                                                       \
        hamel_status status = find;                                                                          \
        if (status == HAMEL_OK && !add(answer, found)) status = hamel_out_of_memory(error);                  \
        release(found);                                                                                      \
        return status;                                                                                       \
    }
ANALYSIS(add_structure, hamel_report, hamel_analyze(&found, d, limits, poll, error), api_add_structure,
         hamel_report_free)
ANALYSIS(add_verification, hamel_verification, hamel_verify(&found, d, limits, poll, error), api_add_verification,
         hamel_verification_free)
ANALYSIS(add_rest, hamel_equilibria, hamel_find_equilibria(&found, d, options->starts, limits, poll, error),
         api_add_equilibria, hamel_equilibria_free)
ANALYSIS(add_forces, hamel_forces,
         hamel_find_forces(&found, d, options->forces_notation == HAMEL_NOTATION_LATEX, limits, poll, error),
         api_add_forces, hamel_forces_free)
ANALYSIS(add_displacements, hamel_displacements,
         hamel_find_displacements(&found, d, options->displacements_notation == HAMEL_NOTATION_LATEX, limits, poll,
                                  error),
         api_add_displacements, hamel_displacements_free)
ANALYSIS(add_steady, hamel_steady_motions, hamel_find_steady_motions(&found, d, options->starts, limits, poll, error),
         api_add_steady_motions, hamel_steady_motions_free)
ANALYSIS(add_relaxation, hamel_relaxation, hamel_relax(&found, d, options->relaxed, limits, poll, error),
         api_add_relaxation, hamel_relaxation_free)
ANALYSIS(add_shocks, hamel_shocks, hamel_find_shocks(&found, d, limits, poll, error), api_add_shocks, hamel_shocks_free)
ANALYSIS(add_inertia, hamel_inertia, hamel_find_inertia(&found, d, options->inertia_about, limits, poll, error),
         api_add_inertia, hamel_inertia_free)

ANALYSIS(add_bracket, hamel_bracket, hamel_find_bracket(&found, d, options->bracket, limits, poll, error),
         api_add_bracket, hamel_bracket_free)
ANALYSIS(add_canonical, hamel_canonical,
         hamel_check_canonical(&found, d, &options->transformation, limits, poll, error), api_add_canonical,
         hamel_canonical_free)
ANALYSIS(add_gauss, hamel_gauss, hamel_find_gauss(&found, d, limits, poll, error), api_add_gauss, hamel_gauss_free)

static hamel_status add_hamilton(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                 const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_hamilton found;
    (void)options;
    hamel_status status = hamel_check_hamilton(&found, d, 0, limits, poll, error);
    if (status == HAMEL_OK && !api_add_hamilton(answer, &found)) status = hamel_out_of_memory(error);
    return status;
}

static hamel_status add_equilibria(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_status status = add_rest(answer, d, options, limits, poll, error);
    return status == HAMEL_OK ? add_steady(answer, d, options, limits, poll, error) : status;
}

static hamel_status add_equations(cJSON *answer, const hamel_description *d, const api_analysis_options *options,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_written *found = NULL;
    hamel_status status = hamel_write_form(&found, d, options->form, options->notation, limits, poll, error);
    if (status == HAMEL_OK && !api_add_equations(answer, options, found)) status = hamel_out_of_memory(error);
    hamel_written_free(found);
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
    if (options->about_equilibrium)
        status = hamel_find_equilibria(&equilibria, d, options->starts, limits, poll, error);
    const hamel_equilibrium *at = equilibria ? first_determined(equilibria) : NULL;
    if (status == HAMEL_OK && equilibria && !at)
        status = hamel_fail(
            error, HAMEL_INVALID, options->about_pointer, 0,
            "the search found no equilibrium to linearize about; increase `starts`, or use the initial state");
    if (status == HAMEL_OK)
        status = hamel_linearize(&linearization, d, at, options->inputs, options->input_count, limits, poll, error);
    if (status == HAMEL_OK && !api_add_linearization(answer, linearization)) status = hamel_out_of_memory(error);
    hamel_linearization_free(linearization);
    hamel_equilibria_free(equilibria);
    return status;
}

static const struct {
    const char *name;
    api_analyses bit;
    analysis_function *add;
} known_analyses[] = {
    {"structure", API_STRUCTURE, add_structure},
    {"verification", API_VERIFICATION, add_verification},
    {"equations", API_EQUATIONS, add_equations},
    {"equilibrium", API_EQUILIBRIUM, add_equilibria},
    {"linearization", API_LINEARIZATION, add_linearization},
    {"forces", API_FORCES, add_forces},
    {"relaxation", API_RELAXATION, add_relaxation},
    {"impulses", API_IMPULSES, add_shocks},
    {"displacements", API_DISPLACEMENTS, add_displacements},
    {"gauss", API_GAUSS, add_gauss},
    {"hamilton", API_HAMILTON, add_hamilton},
    {"bracket", API_BRACKET, add_bracket},
    {"canonical", API_CANONICAL, add_canonical},
    {"inertia", API_INERTIA, add_inertia},
};

static hamel_status analyze(cJSON *answer, cJSON *tree, const char *const *assignments, size_t assignment_count,
                            const api_analysis_options *options, const api_limits *limits, hamel_poll *poll,
                            hamel_error *error) {
    api_description d;
    hamel_status status = api_describe(&d, tree, true, assignments, assignment_count, limits, poll, error);
    for (size_t k = 0; k < COUNT(known_analyses) && status == HAMEL_OK; k++)
        if ((options->analyses & known_analyses[k].bit) != 0)
            status = known_analyses[k].add(answer, &d.description, options, &limits->engine, poll, error);
    api_description_free(&d);
    return status;
}

/* If `status` is HAMEL_OK, returns `answer`. Otherwise deletes `answer`, fills *failure and returns NULL. Always clears
 * *error. */
static cJSON *finish_analysis(cJSON *answer, hamel_status status, hamel_error *error, const char *file,
                              api_failure *failure) {
    if (api_settle(failure, status, error, file)) return answer;
    cJSON_Delete(answer);
    return NULL;
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
                              ? hamel_out_of_memory(&error)
                              : analyze(answer, tree, assignments, assignment_count, options, limits, poll, &error);
    cJSON_Delete(tree);
    return finish_analysis(answer, status, &error, file, failure);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static cJSON *options_of(json_builder *b, cJSON *request, const char *analysis) {
    cJSON *all = json_at(request, "options");
    if (all == NULL) all = json_add_object(b, request, "options");
    return json_add_object(b, all, analysis);
}

static void add_functions(json_builder *b, cJSON *object, const char *key, const hamel_argument *list, size_t count) {
    cJSON *texts = json_add_list(b, object, key);
    for (size_t k = 0; k < count; k++) json_append_texts(b, texts, &list[k].name, 1);
}

cJSON *api_analysis_request(const api_analysis_options *options, cJSON *system) {
    json_builder b = {0};
    cJSON *request = json_kept(&b, cJSON_CreateObject()), *list = json_add_list(&b, request, "analyses");
    for (size_t k = 0; k < COUNT(known_analyses); k++)
        if ((options->analyses & known_analyses[k].bit) != 0) json_append_texts(&b, list, &known_analyses[k].name, 1);
    if ((options->analyses & API_EQUATIONS) != 0) {
        cJSON *own = options_of(&b, request, "equations");
        json_add_text(&b, own, "format", api_notations[options->notation]);
        if (options->form != HAMEL_FORM_MOTION) json_add_text(&b, own, "form", hamel_forms[options->form].name);
    }
    if ((options->analyses & (API_EQUILIBRIUM | API_LINEARIZATION)) != 0)
        json_add_number(&b, options_of(&b, request, "equilibrium"), "starts", (double)options->starts);
    if ((options->analyses & API_LINEARIZATION) != 0) {
        cJSON *own = options_of(&b, request, "linearization");
        json_add_text(&b, own, "about", options->about_equilibrium ? "equilibrium" : "initial");
        cJSON *inputs = json_add_list(&b, own, "inputs");
        for (size_t k = 0; k < options->input_count; k++) json_append_texts(&b, inputs, &options->inputs[k].name, 1);
    }
    if (options->forces_notation != HAMEL_NOTATION_TEXT)
        json_add_text(&b, options_of(&b, request, "forces"), "format", api_notations[options->forces_notation]);
    if (options->displacements_notation != HAMEL_NOTATION_TEXT)
        json_add_text(&b, options_of(&b, request, "displacements"), "format",
                      api_notations[options->displacements_notation]);
    if ((options->analyses & API_RELAXATION) != 0 && options->relaxed.name != NULL)
        json_add_text(&b, options_of(&b, request, "relaxation"), "constraint", options->relaxed.name);
    if ((options->analyses & API_BRACKET) != 0) {
        cJSON *own = options_of(&b, request, "bracket");
        json_add_text(&b, own, "first", options->bracket[0].name);
        json_add_text(&b, own, "second", options->bracket[1].name);
    }
    if ((options->analyses & API_CANONICAL) != 0) {
        const hamel_transformation *t = &options->transformation;
        cJSON *own = options_of(&b, request, "canonical");
        add_functions(&b, own, "Q", t->Q, t->Q_count);
        add_functions(&b, own, "P", t->P, t->P_count);
    }
    if ((options->analyses & API_INERTIA) != 0 && options->inertia_about.name != NULL)
        json_add_text(&b, options_of(&b, request, "inertia"), "about", options->inertia_about.name);
    if (!b.failed && cJSON_AddItemReferenceToObject(request, "system", system)) return request;
    cJSON_Delete(request);
    return NULL;
}

static void read_analyses(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    api_analysis_options *options = field;
    const char *names[COUNT(known_analyses)];
    size_t k = 0;
    if (!cJSON_IsArray(value) || value->child == NULL) {
        json_expected(r, value, pointer, "a list of analyses, as in [\"structure\"]");
        return;
    }
    for (size_t i = 0; i < COUNT(names); i++) names[i] = known_analyses[i].name;
    options->analyses = 0;
    for (const cJSON *item = value->child; item != NULL; item = item->next, k++) {
        int choice = json_read_choice(r, item, json_pointer_of_index(r, pointer, k), names, COUNT(names));
        if (choice >= 0) options->analyses |= known_analyses[choice].bit;
    }
}

JSON_CHOICE(read_format, hamel_notation, "text", "latex", "c")
JSON_CHOICE(read_notation, hamel_notation, "text", "latex")

static void read_form(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    const char *names[HAMEL_FORM_COUNT];
    for (size_t k = 0; k < COUNT(names); k++) names[k] = hamel_forms[k].name;
    int choice = json_read_choice(r, value, pointer, names, COUNT(names));
    if (choice >= 0) *(hamel_form *)field = (hamel_form)choice;
}

static void read_starts(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    double starts = API_STARTS;
    json_read_whole(r, value, pointer, 0, API_MOST_STARTS, &starts);
    ((api_analysis_options *)field)->starts = (size_t)starts;
}

static void read_about(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const places[] = {"initial", "equilibrium"};
    api_analysis_options *options = field;
    options->about_equilibrium = json_read_choice(r, value, pointer, places, COUNT(places)) == 1;
    options->about_pointer = pointer;
}

static void read_inputs(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    api_analysis_options *options = field;
    const char **names, **pointers;
    size_t count = 0;
    if (!json_read_names(r, value, pointer, "a list of names of parameters", &names, &pointers, &count)) return;
    if (count > API_MOST_INPUTS)
        json_fault_at(r, pointer, "expected at most %d parameters, found %zu", (int)API_MOST_INPUTS, count);
    hamel_argument *inputs = json_alloc(r, count, sizeof *inputs);
    for (size_t k = 0; inputs != NULL && k < count; k++) inputs[k] = (hamel_argument){names[k], pointers[k]};
    options->inputs = inputs;
    options->input_count = inputs != NULL ? count : 0;
}

static void read_relaxed(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_argument *relaxed = &((api_analysis_options *)field)->relaxed;
    relaxed->pointer = pointer;
    json_read_name(r, value, pointer, &relaxed->name);
}

static void read_function(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_argument *function = field;
    function->pointer = pointer;
    json_read_name(r, value, pointer, &function->name);
}

static void read_new_coordinates(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_transformation *t = field;
    t->Q = json_read_list(r, value, pointer, "a list of expressions", sizeof *t->Q, read_function, &t->Q_count);
}

static void read_new_momenta(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_transformation *t = field;
    t->P = json_read_list(r, value, pointer, "a list of expressions", sizeof *t->P, read_function, &t->P_count);
}

static void read_inertia_about(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_argument *about = &((api_analysis_options *)field)->inertia_about;
    about->pointer = pointer;
    json_read_name(r, value, pointer, &about->name);
}

/* Defines the function that reads the options of one analysis. */
#define READ_OPTIONS(analysis, ...)                                                                     \
    static const json_kind analysis##_kind = JSON_KIND("`" #analysis "`", __VA_ARGS__);                 \
    static void read_##analysis(json_reader *r, const cJSON *value, const char *pointer, void *field) { \
        json_read_object(r, value, pointer, &analysis##_kind, field);                                   \
    }
READ_OPTIONS(equations, {"format", read_format, offsetof(api_analysis_options, notation), false},
             {"form", read_form, offsetof(api_analysis_options, form), false})
READ_OPTIONS(equilibrium, {"starts", read_starts, 0, false})
READ_OPTIONS(linearization, {"about", read_about, 0, false}, {"inputs", read_inputs, 0, false})
READ_OPTIONS(relaxation, {"constraint", read_relaxed, 0, false})
READ_OPTIONS(forces, {"format", read_notation, offsetof(api_analysis_options, forces_notation), false})
READ_OPTIONS(displacements, {"format", read_notation, offsetof(api_analysis_options, displacements_notation), false})
READ_OPTIONS(bracket, {"first", read_function, offsetof(api_analysis_options, bracket[0]), true},
             {"second", read_function, offsetof(api_analysis_options, bracket[1]), true})
READ_OPTIONS(canonical, {"Q", read_new_coordinates, offsetof(api_analysis_options, transformation), true},
             {"P", read_new_momenta, offsetof(api_analysis_options, transformation), true})
READ_OPTIONS(inertia, {"about", read_inertia_about, 0, false})
READ_OPTIONS(options, {"forces", read_forces, 0, false}, {"displacements", read_displacements, 0, false},
             {"bracket", read_bracket, 0, false}, {"canonical", read_canonical, 0, false},
             {"equations", read_equations, 0, false}, {"equilibrium", read_equilibrium, 0, false},
             {"linearization", read_linearization, 0, false}, {"relaxation", read_relaxation, 0, false},
             {"inertia", read_inertia, 0, false})

/* Skips the key `system`, which api_describe reads. */
static void read_later(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    (void)r, (void)value, (void)pointer, (void)field;
}

static const json_kind request_kind =
    JSON_KIND("a request", {"system", read_later, 0, true}, {"analyses", read_analyses, 0, false},
              {"options", read_options, 0, false});

/* Reads the requested analyses and their options. Strings are allocated in `memory`. */
static hamel_status read_request(const cJSON *request, arena *memory, api_analysis_options *options,
                                 hamel_error *error) {
    json_reader reader = {.memory = memory, .error = error};
    *options = api_analysis_default(API_STRUCTURE);
    json_read_object(&reader, request, "", &request_kind, options);
    if ((options->analyses & API_RELAXATION) != 0 && options->relaxed.name == NULL) {
        json_fault_at(&reader, "/options",
                      "the analysis `relaxation` needs the option `constraint`, the name of a constraint");
        hamel_suggest(error, "add \"options\": {\"relaxation\": {\"constraint\": \"NAME\"}}");
    }
    if ((options->analyses & API_BRACKET) != 0 && options->bracket[1].name == NULL) {
        json_fault_at(&reader, "/options", "the analysis `bracket` requires the options `first` and `second`");
        hamel_suggest(error, "add \"options\": {\"bracket\": {\"first\": \"EXPRESSION\", \"second\": \"EXPRESSION\"}}");
    }
    if ((options->analyses & API_CANONICAL) != 0 && options->transformation.P == NULL) {
        json_fault_at(&reader, "/options", "the analysis `canonical` requires the options `Q` and `P`");
        hamel_suggest(error, "add \"options\": {\"canonical\": {\"Q\": [\"EXPRESSION\"], \"P\": [\"EXPRESSION\"]}}");
    }
    options->transformation.pointer = "/options/canonical";
    if (options->form != HAMEL_FORM_MOTION && options->notation == HAMEL_NOTATION_C)
        json_fault_at(&reader, "/options/equations/format",
                      "expected \"text\" or \"latex\" for the form `%s`, found \"c\"", hamel_forms[options->form].name);
    return reader.no_memory ? hamel_out_of_memory(error) : error->status;
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
    arena memory;
    arena_init(&memory, 0); /* 0: no limit, because the limited size of the request bounds the memory */
    api_analysis_options options;
    hamel_status status = read_request(request, &memory, &options, &error);
    if (status == HAMEL_OK) answer = cJSON_CreateObject();
    if (status == HAMEL_OK && answer == NULL) status = hamel_out_of_memory(&error);
    bool in_system = status == HAMEL_OK;
    if (in_system) status = analyze(answer, json_at(request, "system"), NULL, 0, &options, limits, poll, &error);
    answer = finish_analysis(answer, status, &error, "request", failure);
    if (in_system) { /* a description has no key `options`, so pointers to /options belong to the request */
        api_problem_rebase(failure->problem, "", "/system");
        api_problem_rebase(failure->problem, "/system/options/", "/options/");
    }
    arena_free(&memory);
    cJSON_Delete(request);
    return answer;
}
