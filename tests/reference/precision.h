/* precision.h — the cost of precision: systems with closed forms, run at tolerances a decade apart.
 *
 * precision.json holds the systems: elementary functions of t that coordinates, velocities or what is made of them must
 * equal, as differences (`error`); the span; and the `size` of what is compared, with the growth of errors along the
 * span where the motion is unstable. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

enum { PRECISION_DECADES = 5, PRECISION_POINTS = PRECISION_DECADES + 1 };

/* The k-th tolerance, relative and absolute: 1e-4 to 1e-9. */
double precision_tolerance(size_t k);

typedef struct precision_run {
    double error;       /* the largest over 101 rows */
    double steps;       /* of the integrator */
    double evaluations; /* of the equations of motion */
    double seconds;     /* processor time, without derivation */
} precision_run;

/* The cases, an array; NULL when the file cannot be read. Free with cJSON_Delete. */
cJSON *precision_cases(void);

/* One case by one method at a tolerance. False with the reason on stderr. */
bool precision_measure(const cJSON *c, const char *method, double tolerance, precision_run *out);
