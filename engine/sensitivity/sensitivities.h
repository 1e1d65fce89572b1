/* sensitivities.h — derivatives of a motion with respect to parameters and initial values.
 *
 * A motion satisfies M q'' − Aᵀλ = Q, A q'' = b, written as R(t, q, q', q'', λ, p) = 0 for an input p. Let δ denote
 * d/dp at fixed time t. Differentiation gives (Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363, eq. 3; for
 * constraints Haug, Int. J. Numer. Methods Eng. 24 (1987))
 *
 *     [ M  −(Aᵀ+W) ] [ δq'' ]     ∂R      ∂R       ∂R
 *     [ A     0    ] [ δλ   ] = − ── δq − ─── δq' − ── ,     Φ_q δq = −Φ_p,     ψ_q' δq' = −ψ_q δq − ψ_p
 *                                 ∂q      ∂q'      ∂p
 *
 * The matrix is the same as in the equations for q'' and λ, and is factored once for all inputs. One tangent of the
 * residual program covers eight inputs. No finite differences are used. The velocity variables of the model must be q'.
 *
 * A sensitivity is 2n numbers (δq, δq'). Arrays of sensitivities are arrays of pointers, one per input. Each run owns
 * one `sensitivities`. */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct sensitivities sensitivities;

/* Creates the sensitivities for the inputs of k->model (at least one). Allocates from k->memory. Later calls evaluate
 * states with `k`, which the caller owns. Returns NULL if out of memory. */
sensitivities *sensitivities_create(dynamics *k);

size_t sensitivities_count(const sensitivities *w);        /* number of inputs */
size_t sensitivities_length(const sensitivities *w);       /* 2n */
const double *sensitivities_sizes(const sensitivities *w); /* magnitudes of the inputs, never 0 */

/* Sets s to the sensitivities of the consistent initial values (q, v) at time t that initial_values_make_consistent
 * computed. If the initial values have no derivatives, returns HAMEL_SINGULAR with an error. Otherwise returns a status
 * of dynamics_evaluate. */
hamel_status sensitivities_start(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                                 hamel_error *error) HAMEL_CHECKED;

/* Sets ds to d/dt s at the state (t, q, v), with the stabilization α, β of dynamics_accelerations. */
hamel_status sensitivities_rates(sensitivities *w, double t, const double *q, const double *v, double alpha,
                                 double beta, const double *const *s, double *const *ds) HAMEL_CHECKED;

/* Projects s onto the linearized constraints at a consistent state, by the smallest steps in the metric of M. Writes
 * the columns to out[input × column_count]: δq, δq' and the derivatives of the outputs. Adds an error if a value is not
 * finite or not unique. */
hamel_status sensitivities_see(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                               double *out, hamel_error *error) HAMEL_CHECKED;

/* Derivatives across events (sensitivities_jump.c).
 *
 * The time τ of an event depends on the inputs. Between sensitivities_meet and sensitivities_part, s contains total
 * variations δ(q, q') = s + (q', q'') dτ/dp of the state at the event. Before the functions below, call
 * sensitivities_see at the same instant. */

/* Begins an instant at which root functions cross zero, and computes the derivatives of the crossing times. `again` is
 * true if the previous event at the same instant causes the crossings. */
hamel_status sensitivities_instant(sensitivities *w, bool again, const double *const *s,
                                   hamel_error *error) HAMEL_CHECKED;

/* Begins the event of root function i. `at_zero` is true if the function was 0 and leaves 0. If the time of the event
 * has no derivative, returns HAMEL_SINGULAR with an error. In that case the function only touches zero, or another
 * event happens at the same instant and the order of the two events matters. */
hamel_status sensitivities_meet(sensitivities *w, size_t i, bool at_zero, double *const *s,
                                hamel_error *error) HAMEL_CHECKED;

/* Applies the assignments of the current event to s. */
void sensitivities_assign(sensitivities *w, const model_event *event, double *const *s);

/* Applies the impulse of the current event to s. k->velocities must be factored at the velocities before the impulse,
 * which change by at->change. */
typedef struct sensitivities_impulse {
    /* restitutions: one for each impulse; change: n changes of velocities; multipliers: m integrated multipliers */
    const double *restitutions, *change, *multipliers;
} sensitivities_impulse;
hamel_status sensitivities_strike(sensitivities *w, const model_event *event, const sensitivities_impulse *at,
                                  double *const *s) HAMEL_CHECKED;

/* Ends the event: converts s back to sensitivities at fixed time. v and a are the velocities and accelerations after
 * the event. Does nothing if no event has begun. */
void sensitivities_part(sensitivities *w, const double *v, const double *a, double *const *s);
