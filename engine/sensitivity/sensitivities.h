/* sensitivities.h — derivatives of a motion by parameters and initial values.
 *
 * Along an input p, with δ for d/dp at a time t, the motion M q'' − Aᵀλ = Q, A q'' = b, written as R(t, q, q', q'', λ, p) = 0,
 * gives (Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363, eq. 3; Haug, Int. J. Numer. Methods Eng. 24 (1987) for
 * constraints)
 *
 *     [ M  −(Aᵀ+W) ] [ δq'' ]     ∂R      ∂R       ∂R
 *     [ A     0    ] [ δλ   ] = − ── δq − ─── δq' − ── ,     Φ_q δq = −Φ_p,     ψ_q' δq' = −ψ_q δq − ψ_p
 *                                 ∂q      ∂q'      ∂p
 *
 * with the matrix that gives q'' and λ themselves: it is factored once for all inputs, and one tangent of the residual
 * program serves eight of them. Nothing is a finite difference. For models whose velocity variables are q'.
 *
 * A sensitivity is 2n numbers (δq, δq'). Arrays of them are arrays of pointers, one an input. Belongs to one run. */
#ifndef HAMEL_SOLVE_SENSITIVITIES_H
#define HAMEL_SOLVE_SENSITIVITIES_H

#include "engine/solve/kinetics.h"

typedef struct sensitivities sensitivities;

/* For the inputs of k->model (which has some); `k` is borrowed and evaluated at other states. NULL without memory. */
sensitivities *sensitivities_create(kinetics *k);
void sensitivities_free(sensitivities *w);

size_t sensitivities_count(const sensitivities *w);        /* inputs */
size_t sensitivities_length(const sensitivities *w);       /* 2n */
const double *sensitivities_sizes(const sensitivities *w); /* of the inputs, none 0 */

/* s := those of the consistent initial values (q, v) that initial_values_make_consistent made of the model's, at time t.
 * HAMEL_SINGULAR with a fault when they have none; other statuses as of kinetics_evaluate. */
hamel_status sensitivities_start(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                                 hamel_error *error) HAMEL_CHECKED;

/* ds := d/dt s at the state (t, q, v), with the stabilization α, β of kinetics_accelerations. */
hamel_status sensitivities_rates(sensitivities *w, double t, const double *q, const double *v, double alpha,
                                 double beta, const double *const *s, double *const *ds) HAMEL_CHECKED;

/* Brings s onto the linearized constraints at a state on the constraints, by the smallest steps in the metric of M, and
 * gives what columns show: out[input × column_count] are δq, δq' and the derivatives of the outputs. A fault when
 * something is not finite, or not unique. */
hamel_status sensitivities_see(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                               double *out, hamel_error *error) HAMEL_CHECKED;

/* --- across events (sensitivities_jump.c) -------------------------------------------------------------------------------
 *
 * Where something happens its time τ moves with the inputs. Between sensitivities_meet and sensitivities_part s are total
 * variations δ(q, q') = s + (q', q'') dτ/dp: those of the states at which it happens. The motion has been seen at the
 * instant (sensitivities_see) when these are called. */

/* Begins an instant at which roots pass: notes how the times of all of them move. `again`: they pass because of what has
 * just happened, at the same instant. */
hamel_status sensitivities_instant(sensitivities *w, bool again, const double *const *s,
                                   hamel_error *error) HAMEL_CHECKED;

/* Root i happens next. HAMEL_SINGULAR with a fault where there is no derivative: it touches its zero only, or others
 * happen at the same instant and the order matters. `at_zero`: its function stood at its zero and leaves it. */
hamel_status sensitivities_meet(sensitivities *w, size_t i, bool at_zero, double *const *s,
                                hamel_error *error) HAMEL_CHECKED;

/* The values that the event met sets are set. */
void sensitivities_assign(sensitivities *w, const model_event *event, double *const *s);

/* Its impulse strikes: with k->velocities factored and the velocities before, which change by `change`. */
typedef struct sensitivities_impulse {
    const double *restitutions, *change, *multipliers; /* of the event's impulses; n; m */
} sensitivities_impulse;
hamel_status sensitivities_strike(sensitivities *w, const model_event *event, const sensitivities_impulse *at,
                                  double *const *s) HAMEL_CHECKED;

/* It has happened: s are those of a time that is held once more. (v, a) are the motion's after it. Nothing where nothing
 * was met. */
void sensitivities_part(sensitivities *w, const double *v, const double *a, double *const *s);

#endif
