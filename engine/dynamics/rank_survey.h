/* row_survey.h — the rank of the rows of A along a motion, and the usual length of each row.
 *
 * At a single state, rounding and the drift of an integration would decide about dependence. If cos(a) b' = 0 and
 * sin(a) b' = 0 fix a distance together, one of the rows vanishes at each quarter turn, and its rounding points
 * anywhere. The rank of analytic rows is the same at almost all states of a connected set, and lower at the others. So
 * it is found once, at random states on the constraints near the start (random evaluation, as in Schwartz, J. ACM 27
 * (1980) 701), and is an upper bound from then on; each row is measured by its length at these states. The survey is
 * not updated later, so the results of a run do not depend on the states that have been evaluated. */
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
 * If no state is found, or no rows are redundant, the rank is decided at each state. On return (t, q, v) is evaluated.
 * HAMEL_OK, HAMEL_NO_MEMORY, HAMEL_NOT_FINITE. */
hamel_status row_survey_find(struct kinetics *k, double t, const double *q, const double *v) HAMEL_CHECKED;

/* Discards the result, because other constraints act from now on. */
void row_survey_drop(struct kinetics *k);

#endif
