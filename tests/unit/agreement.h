/* agreement.h — all formulations give the same motion: accelerations and reactions at random consistent states, and whole
 * trajectories. A failure fails the running cmocka test and names the system. */
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

/* Compares the formulation `wanted` with Lagrange's equations at random states of every system that has nothing of `without`: q'',
 * what the constraints exert in all, and the least-norm multipliers. */
void assert_accelerations_agree(const char *wanted, unsigned without);

/* The same for the motions, by each method; tolerances of integration are 1e-10. */
void assert_motions_agree(const char *wanted, unsigned without);
