/* hamilton.h — Hamilton's principle and the law of varying action as tests of a run. */
#pragma once

#include "engine/hamel.h"

/* The first variation over the interval [start, stop] of a run:
 *
 *   I = ∫ (∂L/∂q·δq + ∂L/∂q'·δq' + Q·δq) dt,    δq' = d(δq)/dt
 *
 * Q contains the forces without a potential and the reactions of nonideal constraints. Virtual displacements δq satisfy
 * A δq = 0 (Hölder), where A q'' = b are the constraints at the level of accelerations. They are random functions of
 * time. In the motion
 *
 *   I = 0                    if δq vanishes at both ends              (Hamilton's principle)
 *   I = [∂L/∂q'·δq]          otherwise                                (law of varying action)
 *
 * Errors are relative to ∫ √((∂L/∂q·δq)² + (∂L/∂q'·δq')² + (Q·δq)²) dt and are the largest of `variations` random
 * functions. Each step of the integration may add an error of rtol, so `tolerance` is rtol times the number of steps. */
typedef struct hamel_hamilton {
    double start, stop;
    bool shortened; /* whether `stop` is an event that changes the motion or ends the run */
    size_t variations;
    size_t steps;
    double action;              /* ∫ L dt */
    double lagrange_action;     /* ∫ ∂L/∂q'·q' dt, twice the mean of T2 times the time if T1 is 0 */
    double principle;           /* error of Hamilton's principle */
    double varying_action;      /* error of the law of varying action */
    bool constrained;           /* whether constraints act */
    double without_constraints; /* error for functions with A δq ≠ 0, if constrained: the work of the reactions */
    double tolerance;
    bool holds; /* whether both errors are within the tolerance */
} hamel_hamilton;

/* Integrates the motion of the description and evaluates its first variation. `slowed` must be 0. Tests pass another
 * value: velocities are then multiplied by 1 − slowed, which is not a motion. Limits, poll and error are as for
 * hamel_find_forces. A system without Lagrangian or stop time returns HAMEL_INVALID; more than HAMEL_HAMILTON_MOST
 * coordinates, HAMEL_LIMIT. Fails like a run. */
enum { HAMEL_HAMILTON_MOST = 200 };
hamel_status hamel_check_hamilton(hamel_hamilton *out, const hamel_description *d, double slowed,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
