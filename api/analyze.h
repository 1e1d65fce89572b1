/* analyze.h — analyses of a description, for `hamel analyze` and POST /v1/analyses. */
#pragma once

#include "api/json/builder.h"
#include "api/simulate.h"
#include "engine/analyze/displacements.h"
#include "engine/analyze/forces.h"
#include "engine/analyze/gauss.h"
#include "engine/analyze/impulses.h"
#include "engine/analyze/inertia.h"
#include "engine/analyze/poisson.h"
#include "engine/analyze/steady.h"
#include "engine/analyze/symmetries.h"
#include "engine/equations/equations.h"
#include "engine/simulate/hamilton.h"

typedef enum api_analyses { /* bits */
                            API_STRUCTURE = 1,
                            API_VERIFICATION = 2,
                            API_EQUATIONS = 4,
                            API_EQUILIBRIUM = 8,
                            API_LINEARIZATION = 16,
                            API_FORCES = 32,
                            API_RELAXATION = 64,
                            API_IMPULSES = 128,
                            API_DISPLACEMENTS = 256,
                            API_GAUSS = 512,
                            API_HAMILTON = 1024,
                            API_BRACKET = 2048,
                            API_CANONICAL = 4096,
                            API_INERTIA = 8192
} api_analyses;

typedef struct api_analysis_options {
    unsigned analyses;       /* bits of api_analyses */
    hamel_notation notation; /* notation of the equations */
    hamel_form form;         /* form of the equations; only HAMEL_FORM_MOTION can be written as C */
    hamel_notation forces_notation, displacements_notation; /* text or LaTeX */
    size_t starts;                /* random initial guesses for equilibria, in addition to the initial values */
    bool about_equilibrium;       /* linearize about the equilibrium nearest to the initial values */
    const char *about_pointer;    /* JSON Pointer of the option `about`, for errors; "" for the command line */
    const hamel_argument *inputs; /* parameters p of the linearization; borrowed */
    size_t input_count;
    hamel_argument bracket[2]; /* functions F and G of the Poisson bracket; borrowed; API_BRACKET requires both */
    hamel_transformation transformation; /* borrowed; API_CANONICAL requires it */
    hamel_argument relaxed;              /* the constraint to relax; borrowed; API_RELAXATION requires its name */
    hamel_argument inertia_about;        /* point of additional moments of inertia; borrowed; name NULL: the origin */
} api_analysis_options;

enum { API_STARTS = 64, API_MOST_STARTS = 10000, API_MOST_INPUTS = 100 };

/* Returns options that request these analyses, with the default of every other option. */
static inline api_analysis_options api_analysis_default(unsigned analyses) {
    return (api_analysis_options){.analyses = analyses, .starts = API_STARTS, .about_pointer = ""};
}

/* "text", "latex" and "c", indexed by hamel_notation. */
enum { API_NOTATION_COUNT = 3 };
extern const char *const api_notations[API_NOTATION_COUNT];

/* Add a result to `answer`, in the form of schema `Analysis` of openapi.json. Return false if memory could not be
 * allocated. */
bool api_add_structure(cJSON *answer, const hamel_report *report);
bool api_add_verification(cJSON *answer, const hamel_verification *verification);
bool api_add_steady_motions(cJSON *answer, const hamel_steady_motions *found); /* if !found->searched, adds no key */
bool api_add_equilibria(cJSON *answer, const hamel_equilibria *equilibria);
bool api_add_linearization(cJSON *answer, const hamel_linearization *linearization);
bool api_add_forces(cJSON *answer, const hamel_forces *forces);
bool api_add_displacements(cJSON *answer, const hamel_displacements *found);
bool api_add_relaxation(cJSON *answer, const hamel_relaxation *relaxation);
bool api_add_shocks(cJSON *answer, const hamel_shocks *shocks);
bool api_add_gauss(cJSON *answer, const hamel_gauss *found);
bool api_add_bracket(cJSON *answer, const hamel_bracket *found);
bool api_add_canonical(cJSON *answer, const hamel_canonical *found);
bool api_add_hamilton(cJSON *answer, const hamel_hamilton *found);
bool api_add_inertia(cJSON *answer, const hamel_inertia *inertia);
bool api_add_equations(cJSON *answer, const api_analysis_options *options, const hamel_written *equations);

/* Adds the keys `entries` and `omitted` of the analysis `equations` to `object`. Errors are recorded in `b`. */
void api_add_entries(json_builder *b, cJSON *object, const hamel_written *form);

/* Adds "redundancy": {"sets": [[names]], "not_unique": [names]} to an analysis or summary. If `r` is NULL, `sets` and
 * `not_unique` are empty lists. */
void api_add_redundancy(json_builder *b, cJSON *object, const hamel_redundancy *r);

/* Applies the assignments to the description body[length], as api_prepare does, and analyses it. Returns the results
 * (schema `Analysis`; cJSON_Delete), or NULL with *failure filled. */
cJSON *api_analyze(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                   const api_analysis_options *options, const api_limits *limits, hamel_poll *poll, const char *file,
                   api_failure *failure);

/* Builds the body of a POST to /v1/analyses, for example {"analyses": ["equations"], "options": {"equations":
 * {"format": "latex"}}, "system": {...}}. The tree borrows `system`; the caller deletes the tree. Returns NULL if
 * memory could not be allocated. */
cJSON *api_analysis_request(const api_analysis_options *options, cJSON *system);

/* Performs the analyses that the request body[length] contains; api_analysis_request builds such requests. Returns the
 * results, or NULL with *failure filled. The pointers in failure->problem are JSON Pointers into the request. */
cJSON *api_analyze_request(const char *body, size_t length, const api_limits *limits, hamel_poll *poll,
                           api_failure *failure);
