/* roots_int.h — declarations shared by roots.c (values and search) and roots_sides.c (sides at the start of a
 * search). */
#pragma once

#include "engine/simulate/roots.h"

static inline int roots_sign(double x) {
    return (x > 0) - (x < 0);
}

/* Returns true if root function i belongs to a nonsmooth operator. These functions follow the functions of all
 * events. */
static inline bool roots_is_branch(const roots *w, size_t i) {
    return i >= w->model->events.count;
}

static inline const system_nonsmooth *roots_operator(const roots *w, size_t i) {
    return &w->model->system->nonsmooth[i - w->model->events.count];
}

static inline bool roots_is_slip(const roots *w, size_t i) {
    return roots_is_branch(w, i) && nonsmooth_is_slip(roots_operator(w, i));
}

/* Computes values[count] at a state. Returns HAMEL_NOT_FINITE, with an error, if a value is not finite. */
hamel_status roots_evaluate(roots *w, const motion_state *at, double *values, hamel_error *error) HAMEL_CHECKED;

/* Returns the result of `get`, a function of stick_slip.h, for the friction contact of function i. For the second and
 * third components of a slip velocity, returns `otherwise`. */
double roots_of_slip(const roots *w, size_t i, double (*get)(const stick_slip *, size_t), double otherwise);

/* Returns true if function i triggers an event or a change of branch when it leaves its current side. */
bool roots_counts(const roots *w, size_t i);
