/* tolerances.h — tolerances that several modules share, each with its source or reason. ε is DBL_EPSILON, 2.2e-16.
 *
 * A scaled residual is |Φ_c| / Σ_i |A_ci| max(1, |q_i|), or its counterpart for velocities (dynamics.h). If a
 * consistent state is rounded to doubles, its scaled residuals are about ε. A tolerance that only one file uses is
 * defined in that file. */
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/* --- states on the constraints: scaled residuals ------------------------------------------------------------------ */

/* A state satisfies the constraints if its residuals are at most this bound. Newton's method squares residuals, so one
 * step reduces 1e-9 to rounding errors. A projection fails if the residual of its result exceeds the bound. */
static const double ON_CONSTRAINTS = 1e-9;
/* Upper bound on the residual after a projection if large terms cancel. The bound allows terms that exceed the scale by
 * a factor of 5e4, each with a rounding error of ε. The coordinates of a projected state may have the same error,
 * relative to max(1, |q_i|). */
static const double PROJECTION_ERROR = 1e-11;
/* Upper bound on the residual of initial values that count as consistent. Users may round initial values to six
 * significant digits. */
static const double INITIAL_MISS = 1e-6;

/* --- ranks -------------------------------------------------------------------------------------------------------- */

/* A row counts as redundant if the sine of its angle to the span of other rows is below this bound. The bound applies
 * to states whose residuals are rounding errors. There the sine for redundant rows is about 1e-15, and the
 * factorization adds n ε (Golub & Van Loan, Matrix Computations, 4th ed., 5.5.7). At larger angles at least six digits
 * of a solution are correct. */
static const double RANK_TOLERANCE = 1e-10;
/* RANK_TOLERANCE for the random states of an analysis. Their residuals are up to 1e-10 (analyze/samples.c), and the
 * sines for redundant rows may be as large. */
static const double SAMPLED_RANK_TOLERANCE = 1e-9;
/* If the squared sine of the angle between rows is below this bound, QR replaces the Cholesky factorization of A M⁻¹Aᵀ.
 * A M⁻¹Aᵀ squares the condition number of the rows. At this angle, Cholesky loses nine of sixteen digits, and QR loses
 * four to five. */
static const double CHOLESKY_RANK_TOLERANCE = 1e-9;
/* Compliance of redundant rows, relative to the size of a row. kkt_sparse.c removes the effect of the compliance by an
 * iteration that gains ten digits per step. */
static const double COMPLIANCE = 1e-10;
/* Largest accepted contradiction of redundant rows in a velocity jump, relative to the jump. Redundant rows contradict
 * each other by the residuals of the state, at most ON_CONSTRAINTS. The bound is a thousand times as large. */
static const double JUMP_CONTRADICTION = 1e-6;

/* Smallest pivot of M, relative to its diagonal entry, that elimination in a fixed order accepts if constraints act.
 * Constraints may compensate for a singular M. The elimination multiplies rounding errors by the inverse of this ratio.
 * With the value 1e-6, the errors grow to 1e-10. An error of this size cannot be mistaken for a later pivot. */
static const double MASS_PIVOT_KEPT = 1e-6;
/* Smallest pivot of M, relative to the largest pivot, that is accepted if constraints act. Near the quaternion e = (1,
 * 0, 0, 0) the row of e0 in M vanishes. The force on e0 does not vanish, because the norm constraint balances this
 * force. The pivot equals its diagonal entry, so MASS_PIVOT_KEPT accepts it. The acceleration is the difference of two
 * numbers that are larger by the inverse of the pivot, so ten correct digits remain. A diagonal M needs no such bound,
 * because its pivots are masses, and the force on a coordinate usually vanishes if its mass vanishes. */
static const double MASS_PIVOT_LEAST = 1e-6;
/* Returns the smallest pivot of an n × n mass matrix that is accepted, relative to the largest pivot. If M is diagonal
 * or no constraints act, the result is the rounding error of a pivot. */
static inline double mass_pivot_least(size_t n, bool diagonal, bool constrained) {
    return constrained && !diagonal ? MASS_PIVOT_LEAST : (double)n * DBL_EPSILON;
}

/* --- rounding ----------------------------------------------------------------------------------------------------- */

/* Safety factor for first-order bounds on rounding errors (graph_evaluate). The factor covers terms of higher order and
 * the errors of library functions, which are a few units in the last place. */
static const double ROUNDING_SAFETY = 8;

/* --- integration -------------------------------------------------------------------------------------------------- */

/* Smallest relative tolerance of an integration. At smaller tolerances, rounding increases the number of steps without
 * increasing the accuracy. */
static const double RTOL_LEAST = 1e-13;
/* Times that differ by less than this, relative to the span of a run, are treated as the same instant. The value is 450
 * ε. At the end of a span that starts at 0, adjacent double values differ by up to ε of the span. */
static const double INSTANT = 1e-13;
/* Assumed bound on the error of a state between projections, in units of the integration tolerance. The energy balances
 * of all examples with all methods have errors of up to ten tolerances (simulate/energy.c). */
static const double STATE_UNCERTAINTY = 10;
/* Two states belong to different motions if they differ by more than this bound, in units of the integration tolerance.
 * Smaller differences are treated as integration errors, so the bound is a hundred times STATE_UNCERTAINTY. */
static const double ANOTHER_MOTION = 1e3;
