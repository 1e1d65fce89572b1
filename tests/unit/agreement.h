/* agreement.h — checks that all formulations give the same accelerations and reactions at random consistent states,
 * and the same trajectories. A failure fails the running cmocka test and names the system. */
#pragma once

#include <stdbool.h>

/* Properties of a system that not every formulation supports. */
enum {
    HAS_LAGRANGIAN = 1,
    HAS_NONLINEAR_CONSTRAINT = 2,
    HAS_ACCELERATION_CONSTRAINT = 4,
    HAS_LAMBDA_FORCES = 8,
    HAS_NONIDEAL = 16,
    HAS_ACCELERATION_ENERGY = 32
};

/* Compares `wanted` with Lagrange's equations at random states of every system without the properties `without`:
 * accelerations, total constraint forces, and least-norm multipliers. */
void assert_accelerations_agree(const char *wanted, unsigned without);

/* Compares the trajectories in the same way, by each method, with integration tolerances of 1e-10. */
void assert_motions_agree(const char *wanted, unsigned without);
