/* forces_int.h — declarations shared by the files that compute forces and reactions. */
#pragma once

#include "engine/analyze/forces.h"
#include "engine/analyze/moving_frame.h"
#include "engine/analyze/start_motion.h"
#include "engine/system/elements.h"

typedef struct force_work {
    analysis *a;
    start_motion start;
    moving_frame frame;
    bool framed; /* true if `frame` is valid */
    hamel_forces *out;
} force_work;

/* A force at a point, and a couple, that act on an element. All components are inertial. */
typedef struct wrench {
    int32_t element;
    graph_node force[3], couple[3];
    graph_node point[3]; /* GRAPH_NONE if the force acts at the origin of the element */
} wrench;

/* Evaluates nodes[count] at the state; the array is in a->memory. Returns NULL if out of memory. */
double *forces_values(const analysis *a, const start_motion *s, const double *lambda, const graph_node *nodes,
                      size_t count);

/* Fills *to with the force or reaction on the coordinate or quasi-velocity `on`. If the value is not finite, adds an
 * error that names `what`. */
hamel_status forces_describe(force_work *w, hamel_generalized_force *to, const char *on, graph_node shown, double value,
                             const char *what) HAMEL_CHECKED;

/* Lists the generalized forces nodes[n] and their values at the initial state. Omits forces that simplify to 0. */
hamel_status forces_list(force_work *w, const graph_node *nodes, hamel_generalized_force **to, size_t *to_count,
                         const char *what) HAMEL_CHECKED;

/* --- interactions.c: forces on elements --------------------------------------------------------------------------- */

/* Results of interaction_owner if no body or particle owns the element. */
enum { OWNER_GROUND = -1, OWNER_UNKNOWN = -2 };

/* Returns the index of the body or particle to which an element is fixed. Returns OWNER_GROUND if the element is at
 * rest or has a prescribed motion. Returns OWNER_UNKNOWN if it moves in another way. `element` may be −1, which denotes
 * the inertial frame. */
int32_t interaction_owner(const hamel_system *s, int32_t element);

/* Fills list[2] with the wrenches of an interaction. Returns the number of wrenches, 1 or 2. The wrenches of joints are
 * multiplied by λ. */
size_t interaction_wrenches(hamel_system *s, const system_interaction *i, wrench list[2]);

/* Returns the virtual work of a wrench per δq_k, or its power at q' = 0 (temporal component) if k = n. */
graph_node interaction_work(hamel_system *s, const wrench *x, size_t k);

/* Sets `scope` and `between` of a force that acts between two elements. The index −1 denotes the inertial frame. */
hamel_status interaction_classify(force_work *w, hamel_action *to, const int32_t ends[2]) HAMEL_CHECKED;

/* --- virtual_work.c ----------------------------------------------------------------------------------------------- */

/* Lists the reactions of the constraints that act at the initial state. */
hamel_status reactions_derive(force_work *w) HAMEL_CHECKED;
/* Lists the virtual work on each body, or the reason why it is not listed. `attributed` is true if the bodies are known
 * on which the impressed forces act. */
hamel_status body_work_derive(force_work *w, bool attributed) HAMEL_CHECKED;

/* Fills to->quasi from the forces Q[n] and their values values[n]. If to->temporal_known is true, also fills
 * to->temporal and to->quasi_temporal from Q_0. */
hamel_status quasi_forces_derive(force_work *w, hamel_action *to, const graph_node *Q, const double *values,
                                 graph_node temporal) HAMEL_CHECKED;

/* --- relative_motion.c -------------------------------------------------------------------------------------------- */

hamel_status relative_motion_derive(force_work *w) HAMEL_CHECKED;
