/* trajectory_int.h — functions of trajectory_state.c that only trajectory.c calls. */
#pragma once

#include "engine/simulate/trajectory.h"

/* Returns the state evaluated last. The rates of the root functions are those that l->events evaluated last. */
motion_state trajectory_state(const trajectory *l);

/* Evaluates the state in q, v at l->t, as trajectory_evaluate does after the interpolation. */
hamel_status trajectory_evaluate_here(trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Advances l->integrals to the reach of the trajectory, the end of the last step or a pending event. */
hamel_status trajectory_advance_integrals(trajectory *l, hamel_error *error) HAMEL_CHECKED;
