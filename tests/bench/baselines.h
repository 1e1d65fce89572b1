/* baselines.h — the same motions twice: as a description for hamel, and as the C that a person would write for CVODE
 * who has derived the equations by hand. */
#ifndef HAMEL_BENCH_BASELINES_H
#define HAMEL_BENCH_BASELINES_H

#include <cvodes/cvodes.h>
#include <stdbool.h>
#include <stddef.h>

enum { BASELINE_STATES_MAX = 64, BASELINE_COMPARED_MAX = 32, BASELINE_BAND = 3 };

typedef struct baseline {
    const char *name;
    const char *method; /* what both integrate with: "adams" or "bdf" */
    const char *description;
    double stop;
    sunindextype states;
    size_t compared; /* hamel's first columns after t, which `columns` gives from the state */
    CVRhsFn rhs;
    CVLsJacFn jacobian; /* banded, for bdf; else NULL */
    void (*start)(double *y);
    void (*columns)(const double *y, double *values);
} baseline;

extern const baseline baselines[];
extern const size_t baseline_count;

#endif
