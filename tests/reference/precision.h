/* precision.h — errors and costs of runs at tolerances a decade apart, for systems with closed forms.
 *
 * precision.json contains the systems. `error` of a case lists differences between an expression of the motion and its
 * closed form, an elementary function of t. `size` is the magnitude of the compared variables, including the growth of
 * errors along the span if the motion is unstable. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

enum { PRECISION_DECADES = 5, PRECISION_POINTS = PRECISION_DECADES + 1 };

/* Returns the k-th tolerance, relative and absolute, from 1e-4 to 1e-9. */
double precision_tolerance(size_t k);

typedef struct precision_run {
    double error;       /* largest error over 101 rows */
    double steps;       /* number of integrator steps */
    double evaluations; /* number of evaluations of the equations of motion */
    double seconds;     /* CPU time of the integration, without that of the derivation */
} precision_run;

/* Returns the array of cases, or NULL if the file cannot be read. Free it with cJSON_Delete. */
cJSON *precision_cases(void);

/* Runs one case with a method and a tolerance. On failure prints the reason to stderr and returns false. */
bool precision_measure(const cJSON *c, const char *method, double tolerance, precision_run *out);
