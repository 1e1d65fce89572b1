/* trajectory_int.h — declarations shared by trajectory.c and trajectory_state.c. */
#pragma once

#include "engine/simulate/trajectory.h"

/* Returns the state evaluated last. The rates of the root functions are those that l->events evaluated last. */
motion_state trajectory_state(const trajectory *l);

/* Evaluates the state in q, v at l->t, as trajectory_evaluate does after the interpolation. */
hamel_status trajectory_evaluate_here(trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Adds the rest of the last step, up to the reach of the trajectory, to the integrals. */
hamel_status trajectory_advance_integrals(trajectory *l, hamel_error *error) HAMEL_CHECKED;
