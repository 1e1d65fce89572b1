/* analyze.h — from the bytes of a description to what `hamel analyze` and POST /v1/analyses answer. */
#ifndef HAMEL_API_ANALYZE_H
#define HAMEL_API_ANALYZE_H

#include "api/simulate.h"

typedef enum api_analyses { /* bits */
                            API_STRUCTURE = 1,
                            API_VERIFICATION = 2,
                            API_EQUATIONS = 4,
                            API_EQUILIBRIUM = 8,
                            API_LINEARIZATION = 16,
                            API_FORCES = 32,
                            API_RELAXATION = 64
} api_analyses;

typedef struct api_analysis_options {
    unsigned analyses;            /* bits of api_analyses */
    hamel_notation notation;      /* of the equations */
    size_t starts;                /* of the search for equilibria, besides the initial values */
    bool about_equilibrium;       /* linearize about the one nearest to the initial values */
    const char *about_pointer;    /* where that is asked for, for a fault; "": nowhere that has a name */
    const hamel_argument *inputs; /* of the linearization; borrowed */
    size_t input_count;
    hamel_argument relaxed; /* the constraint; borrowed; its name is not NULL with API_RELAXATION */
} api_analysis_options;

enum { API_STARTS = 64, API_MOST_STARTS = 10000, API_MOST_INPUTS = 100 };

/* Those of analyses with nothing said of them. */
static inline api_analysis_options api_analysis_default(unsigned analyses) {
    return (api_analysis_options){.analyses = analyses, .starts = API_STARTS, .about_pointer = ""};
}

/* "text", "latex" or "c"; false when it is none of them. */
bool api_notation_named(const char *name, hamel_notation *notation);
const char *api_notation_name(hamel_notation notation);

/* Adds members to the answer; their keys are those of schema `Analysis` in openapi.json. False without memory. */
bool api_add_structure(cJSON *answer, const hamel_report *report);
bool api_add_verification(cJSON *answer, const hamel_verification *verification);
bool api_add_equilibria(cJSON *answer, const hamel_equilibria *equilibria);
bool api_add_linearization(cJSON *answer, const hamel_linearization *linearization);
bool api_add_forces(cJSON *answer, const hamel_forces *forces);
bool api_add_relaxation(cJSON *answer, const hamel_relaxation *relaxation);
bool api_add_equations(cJSON *answer, hamel_notation notation, const char *text, bool simplified);

/* Makes the analyses asked for of a description: body[length] with assignments, as api_prepare takes them. NULL
 * with *failure filled, or the answer (cJSON_Delete). */
cJSON *api_analyze(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                   const api_analysis_options *options, const api_limits *limits, hamel_poll *poll, const char *file,
                   api_failure *failure);

/* The request for analyses of a system, which stays the caller's and must live as long: {"analyses": ["equations"],
 * "options": {"equations": {"format": "latex"}}, "system": {...}}. The caller deletes it. NULL without memory. */
cJSON *api_analysis_request(const api_analysis_options *options, cJSON *system);

/* Answers such a request. Pointers of faults are those in the body. */
cJSON *api_analyze_request(const char *body, size_t length, const api_limits *limits, hamel_poll *poll,
                           api_failure *failure);

#endif
