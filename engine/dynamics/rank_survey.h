/* rank_survey.h — rank of A along a motion and usual length of each of its rows.
 *
 * If the rank were computed at a single state, it would depend on rounding and on the drift of the integration. For
 * example, one of the rows of cos(a) b' = 0 and sin(a) b' = 0 vanishes at each quarter turn. Only rounding errors then
 * remain in this row, and their direction is arbitrary. The rank of analytic rows is the same at almost all states of a
 * connected set and lower at the other states. The rank is therefore computed once, at random states on the constraints
 * near the initial state (random evaluation, as in Schwartz, J. ACM 27 (1980) 701). This rank is used as an upper
 * bound. A row that is shorter than RANK_TOLERANCE times its largest length at these states counts as zero. The survey
 * is not updated later, so results do not depend on which states have been evaluated. */
#pragma once

#include "engine/base/error.h"

#include <stdbool.h>

struct dynamics;

typedef struct rank_survey {
    bool done;     /* true if the active constraints have been surveyed */
    double *usual; /* m: largest length of a row at the states visited; 0: unknown */
    double *state; /* 2n: q and q' of a state visited */
} rank_survey;

/* Surveys the active constraints near (t, q, v), a state that satisfies them, and passes the result to the solvers of
 * k. If no state is found or no row is redundant, the solvers determine the rank at each state. Evaluates (t, q, v) at
 * the end. Returns HAMEL_OK, HAMEL_NO_MEMORY or HAMEL_NOT_FINITE. */
hamel_status rank_survey_find(struct dynamics *k, double t, const double *q, const double *v) HAMEL_CHECKED;

/* Discards the result. Call when the active constraints change. */
void rank_survey_drop(struct dynamics *k);
