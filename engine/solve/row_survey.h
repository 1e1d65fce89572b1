/* row_survey.h — what holds of the rows of A all along a motion: their rank, and how long each of them is.
 *
 * Rounding and the drift of an integration decide about dependence at a single state: of a distance that two equations
 * fix together, cos(a) b' = 0 and sin(a) b' = 0, one row vanishes at each quarter turn, and what is left of it points
 * anywhere. The rank of analytic rows is the same at almost all states of a connected set, and lower at the others; so it
 * is found at random states on the constraints near the start (Kruskal rank by random evaluation, as in Schwartz, J. ACM 27
 * (1980) 701) and is an upper bound from then on, while each row is measured by the length that it had there. Nothing is
 * learned later: what a run finds does not depend on the states that have been looked at. */
#ifndef HAMEL_SOLVE_ROW_SURVEY_H
#define HAMEL_SOLVE_ROW_SURVEY_H

#include "engine/base/error.h"

#include <stdbool.h>

struct kinetics;

typedef struct row_survey {
    bool done;     /* for the constraints that are active */
    double *usual; /* m: largest length of a row at the states visited; 0: unknown */
    double *state; /* 2n: q and q' of a state visited */
} row_survey;

/* Surveys the active constraints near (t, q, v), which should lie on them, and passes the result to the solvers of k.
 * Without a state found, or without redundant rows, each state speaks for itself. On return (t, q, v) is evaluated. HAMEL_OK,
 * HAMEL_NO_MEMORY, HAMEL_NOT_FINITE. */
hamel_status row_survey_find(struct kinetics *k, double t, const double *q, const double *v) HAMEL_CHECKED;

/* Forgets the result: other constraints act from now on. */
void row_survey_drop(struct kinetics *k);

#endif
