/* mode.h — what holds between two events of a run: which constraints act. */
#ifndef HAMEL_SOLVE_MODE_H
#define HAMEL_SOLVE_MODE_H

#include <stdbool.h>

typedef struct motion_mode {
    bool *active; /* m: a constraint that is not exerts nothing and asks for nothing */
} motion_mode;

#endif
