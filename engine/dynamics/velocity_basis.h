/* velocity_basis.h — velocity basis: the independent quasi-velocities of the user, velocities of coordinates that
 * complete them, and the velocity-level constraint functions, whose values are zero.
 *
 *     Ψ q' + ψ_t = [u; 0],     Ψ = [C; A_s],     q' = Φ u + φ                  Talamucci 2015, eq. 4-6; Greenwood 4.236
 *
 * The rows of A_s are the rows of holonomic and velocity constraints. If some of these rows are redundant, A_s is an
 * orthonormal basis of their span instead (rank_qr.h). Individual rows of constraints are then allowed to vanish or to
 * become redundant as the mechanism moves. Acceleration constraints are not part of Ψ, because they restrict u', not u.
 * Velocities of coordinates complete C such that Ψ is well-conditioned at the state at which the rows are chosen.
 * Accelerations and multipliers do not depend on the basis, so the basis is chosen again when Ψ becomes
 * ill-conditioned. Integrations have the state (q, q') and not (q, u). The reason is that q'(u) has a pole where Ψ is
 * singular, which the error estimate of a step does not detect. No memory is allocated after creation. */
#pragma once

#include "engine/linear/rank_qr.h"
#include "engine/model/model.h"

/* The rows chosen for Ψ, and the smallest pivot of Ψ when these rows were chosen. */
typedef struct velocity_basis_choice {
    bool chosen;
    size_t freedom, user_count, row_count, listed;
    double least;
    size_t *names; /* copy of the arrays user, row and coordinate, which are contiguous in memory */
} velocity_basis_choice;

typedef struct velocity_basis {
    const hamel_model *model;
    size_t n, freedom;            /* n = freedom + row_count */
    size_t user_count, row_count; /* quasi-velocities of the user, at most `freedom`; rows of A_s */
    size_t listed;                /* number of velocity-level constraints; their rank is row_count */
    /* user: indices of the user's quasi-velocities; row: indices of the listed constraints */
    size_t *user, *row;
    /* indices of the coordinates whose velocities complete the basis; the first required_count are those with
     * model->independent[i] */
    size_t *coordinate;
    size_t required_count;
    bool unsolvable; /* true if the constraints cannot be solved for the velocities that model->independent excludes */
    bool chosen;
    /* smallest pivot of Ψ, relative to the largest pivot; least: when the rows were chosen; now: at the last
     * factorization */
    double least, now;
    velocity_basis_choice kept; /* stored by velocity_basis_remember */
    double *A, *C;              /* values of the patterns A and C at the last factorization */
    bool factored, has_directions;
    double *lu, *lu_scale; /* factors of Ψ */
    size_t *pivot;
    double *Phi; /* n × freedom */
    double *orthonormal, *work;
    double *constraint_rows;              /* n × row_count: rows of A_s if constraints are redundant */
    double *usual_here, *values, *vector; /* scratch; usual_here, values: m entries; vector: n entries */
    rank_qr rows, all;
    size_t limit;        /* expected rank of the velocity-level constraints (kkt_expect); SIZE_MAX: unknown */
    const double *usual; /* m, or NULL: usual lengths of rows (rank_survey.h) */
} velocity_basis;

/* Allocates from `memory`. Returns NULL if out of memory. */
velocity_basis *velocity_basis_create(const hamel_model *model, arena *memory);
void velocity_basis_free(velocity_basis *b);

/* Discards the chosen rows. Call this function when the active constraints change. */
void velocity_basis_release(velocity_basis *b);

/* Store and restore the chosen rows, so that evaluations between the two calls do not affect later evaluations. If the
 * choice is discarded between the two calls, it is not restored. */
void velocity_basis_remember(velocity_basis *b);
void velocity_basis_recall(velocity_basis *b);

/* Factors Ψ for the values of the patterns model->dynamics.A and model->dynamics.C at a state. Chooses rows if none are
 * chosen. Also chooses new rows if the chosen rows have become nearly dependent, or if redundant rows have become
 * independent. Returns HAMEL_OK or HAMEL_SINGULAR. */
hamel_status velocity_basis_factor(velocity_basis *b, const double *A, const double *C) HAMEL_CHECKED;

static inline bool velocity_basis_is_redundant(const velocity_basis *b) {
    return b->row_count < b->listed;
}

void velocity_basis_solve(const velocity_basis *b, double *x); /* x[n] := Ψ⁻¹ x; x = (freedom, row_count) */
void velocity_basis_solve_transposed(const velocity_basis *b, double *x); /* x[n] := Ψ⁻ᵀ x */
const double *velocity_basis_directions(velocity_basis *b);               /* Φ: n × freedom */

/* Converts the values of all constraint rows, all[m], to the values of the rows of A_s, out[row_count]. If constraints
 * are redundant, solves for `out` by least squares. */
void velocity_basis_gather(velocity_basis *b, const double *all, double *out);

/* Converts the multipliers z[row_count] of A_s to multipliers all[m] of the constraints. Among the multipliers that
 * exert the same reaction, `all` has the least norm. */
void velocity_basis_scatter(velocity_basis *b, const double *z, double *all);
