/* singularity.h — singular configurations, at which constraints that are otherwise independent become redundant.
 *
 * At a singular configuration, such as a stretched linkage, branches of the motion meet. A mechanism follows the branch
 * to which its velocity is tangent. At the distance s from the configuration (the rank margin, kkt_margin) an error δ
 * of the positions changes velocities by δ/s and accelerations by δ/s². The computed motion can therefore change to
 * another branch, and error control does not detect this change. The files are:
 *
 *     nearby.c         rates near a singular configuration, and errors if a method cannot pass the configuration
 *     interpolation.c  interpolation of a state close to a singular configuration from states on both sides
 *     detection.c      detection of singular configurations in the last step
 *     branch_check.c   check that the motion stays on its branch across a singular configuration
 *
 * methods/collocation.c takes the step across the configuration. */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct integrator integrator;
typedef struct trajectory trajectory;

/* --- interpolation ---------------------------------------------------------------------------------------------------
 *
 * Near a singular configuration rounding alone changes velocities by ε/s² of their size, and accelerations and
 * multipliers by more. At the configuration, the equations do not determine velocities, accelerations and multipliers,
 * but along one branch of the motion these quantities are smooth. Velocities, accelerations and multipliers are
 * therefore interpolated from ten states of that branch, at the distances ±d to ±5d along the velocity. Each state is
 * projected onto the constraint manifold. The error is d¹⁰/252 times the tenth derivative. */
typedef struct singular_state {
    double *q, *v, *a, *lambda; /* the interpolated state: q[n], v[n], a[n], lambda[m] */
    double *ideal, *nonideal;   /* n each: reactions, as in dynamics */
    double *place;              /* 3n + m: the state that is evaluated for the interpolation */
} singular_state;

/* Returns false if out of memory. */
bool singular_state_create(singular_state *x, arena *memory, const hamel_model *model);

/* Interpolates `x` at the state near (q, v) at t from states at multiples of d. (q, v) may be off the constraint
 * manifold. After the call, `k` contains the evaluation of one of the states at multiples of d. Returns
 * HAMEL_INCOMPATIBLE if one of these states cannot be projected onto the constraint manifold, and otherwise the status
 * of the solution. */
hamel_status singular_state_interpolate(singular_state *x, dynamics *k, double t, const double *q, const double *v,
                                        double d) HAMEL_CHECKED;

/* Starting from d, searches for a distance at which both rank margins are between `least` and 2 · `least`, and both
 * ranks are at least `rank`. Returns 0 if no distance is found. */
double singular_state_distance(singular_state *x, dynamics *k, double t, const double *q, const double *v, double d,
                               double least, size_t rank);

/* --- near singular configurations --------------------------------------------------------------------------------- */

/* Below this rank margin, rates are evaluated at the nearest state on the constraint manifold. The value is twice
 * SINGULARITY_REGULAR, so projection begins before rounding matters. */
#define SINGULARITY_NEAR 0.03
/* Above this rank margin, relative to the largest rank margin, rounding is negligible (ε/s² = 1e-12). */
#define SINGULARITY_REGULAR 0.015

/* Rank margin, relative to the largest rank margin, below which methods with inaccurate stages are replaced. The value
 * is a hundred times INTERPOLATED, below which rounding matters, because a long step can pass a singular configuration
 * between two stages. */
#define SINGULARITY_ROUGH 0.1

/* Returns true if a step may contain a singular configuration. `least` is the smallest rank margin of its stages, and
 * `start` the rank margin at its beginning. The first test compares `least` with a bound. The second test finds whether
 * `start` could reach zero in the step at twice the slope of the previous step. */
static inline bool singularity_may_be_within(double least, double start, double slope, double step) {
    return least < SINGULARITY_NEAR || start < 2 * slope * step;
}

/* Replaces the rates `out` at (t, y) of a system with constraints if the state is nearly singular. `status` is the
 * status of the evaluation of the rates. If the stage is too inaccurate for its rank margin, sets w->too_near; the
 * caller must then reject the stage. */
hamel_status singularity_correct_rates(integrator *w, double t, const double *y, double *out,
                                       hamel_status status) HAMEL_CHECKED;

/* Returns the rank margin of the state evaluated last, relative to the largest rank margin of the run. Returns 0 if the
 * rank has fallen. Collocation calls this function. */
double singularity_relative_margin(void *integrator);

size_t singularity_rank(const integrator *w); /* number of independent constraints at the state evaluated last */

/* Returns true if collocation may replace the current method. */
bool singularity_allows_collocation(const integrator *w);

/* Returns true if collocation must replace the current method now. */
bool singularity_needs_collocation(integrator *w);

/* Returns true if velocities computed from other variables and the constraints are inaccurate at this rank margin. */
bool singularity_loses_velocities(const integrator *w, double margin);

/* Finds a replacement for the state solved last, which is the state on the constraint manifold nearest to (q, v) at t.
 * If rounding is not negligible there, sets *near to true and *found to the replacement, or to NULL if no replacement
 * exists. Returns HAMEL_INTEGRATION if velocities are computed from other variables and are too inaccurate. */
hamel_status singularity_replace_state(integrator *w, double t, const double *q, const double *v, bool *near,
                                       const singular_state **found, hamel_error *error) HAMEL_CHECKED;

/* Adds the error that the current method cannot pass the configuration at t, and returns HAMEL_INTEGRATION. */
hamel_status singularity_explain(integrator *w, double t, double margin, hamel_error *error);

/* Adds the error that rounding decides which branch the motion follows, and returns HAMEL_INTEGRATION. */
hamel_status singularity_explain_ambiguity(integrator *w, hamel_error *error);
/* Adds a hint to the last error: a change of settings that may avoid the error. */
void singularity_suggest(const integrator *w, hamel_error *error);

/* --- detection -------------------------------------------------------------------------------------------------------
 *
 * Steps do not normally end at a singular configuration. Within a step, the rank margin then falls to zero and rises
 * again. singularity_detect searches for the minimum on the dense output. */

/* Number of intervals of a step between whose ends the rank margin is sampled. */
enum { SINGULARITY_PARTS = 4 };

/* Returns the number of the smallest of the samples. */
int singularity_least(const double margin[SINGULARITY_PARTS + 1]);

/* Returns true if the least sample of the rank margin is at an end of the step, and the two samples next to it do not
 * indicate a zero. A zero within the step is then unlikely. */
bool singularity_is_monotonic(const double margin[SINGULARITY_PARTS + 1]);

/* Sets *found to true if the reachable part of the last step contains a singular configuration. *t is then the time of
 * the configuration, and the dynamics have evaluated the state at *t. If the step was not near a singular
 * configuration, sets *found to false without evaluating any state. `q` and `v` are scratch, n each. */
hamel_status singularity_detect(trajectory *l, double *q, double *v, bool *found, double *t,
                                hamel_error *error) HAMEL_CHECKED;

/* --- branch check ----------------------------------------------------------------------------------------------------
 *
 * Compares the states before and after a nearly singular interval. Along one branch:
 *   - The Jacobi integral, if it is conserved, changes by at most a fixed multiple of the step tolerance.
 *   - Velocities change as the accelerations on both sides predict (trapezoidal rule).
 * If the motion changes to another branch, velocities jump by an amount comparable to their size. Collocation checks
 * its long steps separately. An interval is checked only if a singular configuration was detected in it, or if the
 * rank margin fell below √rtol. Below √rtol, errors within the tolerance may exceed the distance between the
 * branches. */
typedef struct branch_check {
    double *v, *a; /* velocities v[n] and accelerations a[n] before the interval; borrowed */
    bool inside;   /* whether the last step is in a nearly singular interval */
    bool crossed;  /* whether a singular configuration was detected in the interval */
    bool noted;    /* whether a singular configuration was detected in the last step */
    /* Whether a step with a detected singularity or a rank margin below √rtol was taken without collocation. */
    bool rough;
    double t, balance, tolerance; /* time, h − W and energy tolerance before the interval */
    double least;                 /* smallest rank margin in the interval, relative to the largest of the run */
    double at;                    /* time of the configuration detected last */
    char names[300];              /* names of the constraints that became redundant at that time; may be empty */
} branch_check;

/* Records a singular configuration at t in the last step. `names` (may be NULL) are the names of the constraints. */
void branch_check_note(branch_check *p, double t, const char *names);

/* Checks the last step of the trajectory. Returns HAMEL_INTEGRATION if the motion is on another branch. */
hamel_status branch_check_follow(branch_check *p, trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Returns true if projecting the current state would change velocities by more than the tolerance. Such a state does
 * not represent the motion. */
bool branch_check_is_deep(const branch_check *p, const trajectory *l);

/* Discards the saved state because an event has changed the motion. */
void branch_check_reset(branch_check *p);
