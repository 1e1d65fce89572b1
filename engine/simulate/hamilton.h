/* hamilton.h — checks a run against Hamilton's principle and the law of varying action. */
#pragma once

#include "engine/hamel.h"

/* Result of the check. The first variation of the action over the interval [start, stop] of a run is
 *
 *   I = ∫ (∂L/∂q·δq + ∂L/∂q'·δq' + Q·δq) dt,    δq' = d(δq)/dt
 *
 * Q contains the forces without a potential and the prescribed reactions of nonideal constraints. The virtual
 * displacements δq are random functions of time with A δq = 0 (Hölder), where A q'' = b are the constraints at the
 * level of accelerations. Along the motion
 *
 *   I = 0                    if δq vanishes at both ends              (Hamilton's principle)
 *   I = [∂L/∂q'·δq]          otherwise                                (law of varying action)
 *
 * An error is |left − right side|, relative to ∫ √((∂L/∂q·δq)² + (∂L/∂q'·δq')² + (Q·δq)²) dt, and is the largest for
 * `variations` random functions. An error within the rounding noise of the integrand counts as 0. Each step of the
 * integration may add an error of rtol, so `tolerance` is rtol times the number of steps. */
typedef struct hamel_hamilton {
    double start, stop;
    bool shortened; /* true if `stop` is the time of an event that changes the motion or ends the run */
    size_t variations;
    size_t steps;
    double action;          /* ∫ L dt */
    double lagrange_action; /* ∫ ∂L/∂q'·q' dt, Lagrange's action; equals ∫ 2 T dt if T is quadratic in q' */
    double principle;       /* error of Hamilton's principle */
    double varying_action;  /* error of the law of varying action */
    bool constrained;       /* true if the system has constraints, active or not */
    double without_constraints; /* error with δq that are not projected, so A δq ≠ 0: the work of the reactions */
    double tolerance;
    bool holds; /* true if `principle` and `varying_action` are at most `tolerance` */
} hamel_hamilton;

/* Integrates the motion of the description and evaluates its first variation. `slowed` must be 0, except in tests: the
 * evaluated velocities are multiplied by 1 − slowed, so that the check must fail. `limits`, `poll` and `error` are as
 * for hamel_find_forces. Returns HAMEL_INVALID if the system has an acceleration energy instead of a Lagrangian or no
 * stop time, and HAMEL_LIMIT if it has more than HAMEL_HAMILTON_MOST coordinates. Other errors are those of
 * hamel_run. */
enum { HAMEL_HAMILTON_MOST = 200 };
hamel_status hamel_check_hamilton(hamel_hamilton *out, const hamel_description *d, double slowed,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
