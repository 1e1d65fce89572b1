/* statics.h — equations F(z) = 0 of rest and steady motion, with their Jacobian J.
 *
 * The unknowns z are the coordinates q, the multipliers λ at each instant and the free velocities of cyclic
 * coordinates. The rows of each instant are R(t, q, q' = v, q'' = 0, λ) = 0 (Baruh 4.6.7: generalized forces and
 * reactions balance), then Φ = 0 or ψ = 0. A system is at rest only if the equations hold at every time (Papastavridis,
 * example 3.2.5). If the equations depend on t, they are therefore solved together at three random instants. If momenta
 * are prescribed, rows p_c − p*_c = 0 follow.
 *
 * Linear systems are solved by least squares with the solution of least norm. Their solution need not be unique,
 * because equilibria may form families and constraints may be redundant. */
#pragma once

#include "engine/analyze/local.h"

enum { STATICS_INSTANTS = 3 };

/* The velocities of cyclic coordinates are prescribed (GIVEN), unknown (FREE), or unknown with prescribed momenta
 * (MOMENTA). */
typedef enum statics_velocities { STATICS_GIVEN, STATICS_FREE, STATICS_MOMENTA } statics_velocities;

typedef struct statics {
    hamel_model *model;
    local_equations local;
    arena memory; /* owns all arrays */
    size_t n, m, instants;
    double t[STATICS_INSTANTS];
    double *v, *zero_a; /* n entries each; v: prescribed velocities; zero_a: zeros */
    bool *cyclic;       /* n entries: true if the coordinate is absent from every equation */
    size_t *spinning;   /* cyclic coordinates */
    size_t spinning_count;
    bool steady;         /* true if some prescribed velocity is not 0 */
    bool holonomic_only; /* true if λ_c = 0 replaces the rows of velocity constraints */

    statics_velocities velocities;
    double *momentum; /* spinning_count entries: prescribed momenta p* */
    program *momenta; /* momenta of the spinning coordinates; NULL if a spinning coordinate has no momentum */
    local_program momentum_program;
    /* momentum_values: spinning_count entries; momentum_rates: spinning_count × n, derivatives with respect to q' */
    double *momentum_values, *momentum_rates;

    /* If centre is not NULL, an additional row fixes the distance between z and centre. The distance is the Euclidean
     * norm over coordinates and free velocities, relative to max(1, |value|). */
    const double *centre;
    double radius;

    size_t rows, unknowns; /* numbers of rows of F and of unknowns, for the current kind of velocities */
    double *F, *J, *scale; /* F: rows entries; J: rows × unknowns; scale: size of each row's terms */
    double *noise;         /* rows entries: rounding error of F; set by statics_noise */
    double *work, *right, *step, *trial, *start, *kept, *velocity, *weight, *singular, *vectors;
    int32_t *pivot;
    double rank; /* smallest pivot accepted by statics_least_squares, relative to the largest pivot */
    uint64_t seed;
    double spent;    /* estimated multiplications of all evaluations and solutions */
    double deadline; /* iterations end when `spent` reaches this value; INFINITY: no limit */
    bool starved;    /* true if an allocation has failed; some results are then missing */
} statics;

/* Creates the equations. `cyclic` lists the names of the cyclic coordinates, or is NULL. v[n] contains the prescribed
 * velocities of these coordinates. Fails under the same conditions as local_create. */
hamel_status statics_create(statics *s, hamel_model *model, const hamel_names *cyclic, const double *v,
                            hamel_error *error) HAMEL_CHECKED;
void statics_free(statics *s);

/* Returns the largest number of unknowns for any kind of velocities. */
size_t statics_most(const statics *s);

/* Sets the kind of velocities. For STATICS_MOMENTA, which requires s->momenta, p* is set to the momenta at q and the
 * prescribed velocities. */
void statics_take(statics *s, statics_velocities velocities, const double *q);

/* Adds the row that fixes the distance between z and `centre` at `radius`. If `centre` is NULL, removes this row. */
void statics_stay_at(statics *s, const double *centre, double radius);

/* Evaluates F, J and scale at z. Returns false if a value is not finite. */
bool statics_evaluate(statics *s, const double *z);

/* Returns the largest |F_i| / scale_i at the point evaluated last. */
double statics_residual(const statics *s);

/* Sets step[unknowns] to −J⁺F at the point evaluated last. This is the least-squares solution of least norm if each row
 * has the weight 1/scale. Returns false on failure. */
bool statics_newton_step(statics *s, double *step);

/* Replaces b (max(rows, columns) numbers) by A⁺b, the solution of least norm. A (rows × columns, row-major) is
 * overwritten. Returns false on failure. */
bool statics_least_squares(statics *s, size_t rows, size_t columns, double *A, double *b);

/* Returns true if F at z is within the rounding errors of its terms and of z. A residual that is merely small relative
 * to stiff terms does not suffice. Sets s->weight to the bounds on these errors, and F and J to their values at z. */
bool statics_is_rounding(statics *s, const double *z);

/* Sets the multipliers in z to the least-squares solution of the force balance at the coordinates of z. Returns false
 * on failure. */
bool statics_balance(statics *s, double *z);

/* Sets s->noise to the change of F, beyond its linear part, that rounding errors of z cause. Sets F and J to their
 * values at z. */
bool statics_noise(statics *s, const double *z);

/* Moves z to a solution nearby by Newton's method with line search. If no solution is found, repeats the iteration
 * without line search. If convergence is linear, as it is near multiple roots, the steps are lengthened. Returns false
 * if no solution was found. */
bool statics_converge(statics *s, double *z);

/* Sets s->weight to the largest size of each row of F at z and nearby, and F and J to their values at z. */
bool statics_row_sizes(statics *s, const double *z);

/* --- statics_kernel.c --------------------------------------------------------------------------------------------- */

/* Sets coordinates below 1e-7 to 0 if that raises F by rounding errors only. */
void statics_tidy(statics *s, double *z);

/* Returns true if F or its first derivatives with respect to coordinates or velocities jump at z. */
bool statics_has_kink(statics *s, const double *z);

/* The entries of z that define a family are the coordinates, then the free velocities. statics_width returns the number
 * of these entries. statics_place returns the index in z of entry j. */
size_t statics_width(const statics *s);
size_t statics_place(const statics *s, size_t j);

/* Fills columns[k], each of length statics_width, with orthonormal directions in the space of the entries that define a
 * family. Each direction is part of a null vector of J at z. A vector is a null vector if its singular value is at most
 * 1e-6, relative to the sizes of the rows of F near z. Cyclic coordinates that move, or whose velocities are free, are
 * omitted. Returns the number of directions. */
size_t statics_kernel(statics *s, const double *z, double *columns);

/* Returns the largest difference between x and y in the entries that define a family, relative to max(1, |value|). */
double statics_distance(const statics *s, const double *x, const double *y);

/* Computes the right singular vectors of A, which is overwritten, as rows of `vectors` (columns × columns). The
 * singular values in values[columns] are padded with zeros. If rows = 0, the vectors are the unit vectors. Returns
 * false on failure. */
bool statics_right_vectors(statics *s, size_t rows, size_t columns, double *A, double *values, double *vectors);

/* Calls statics_right_vectors with s->singular and s->vectors, and adds the work to s->spent. */
bool statics_decompose(statics *s, size_t rows, size_t columns, double *A);

/* Sets B (columns × columns) to Tᵀ A T. A is n × n and row-major. T is n × columns; successive rows are row_step
 * doubles apart, and successive columns column_step doubles. `scratch` holds n × columns doubles. B may be the array
 * A. */
void statics_congruence(size_t n, size_t columns, const double *A, const double *T, size_t row_step, size_t column_step,
                        double *scratch, double *B);

/* --- moving.c ----------------------------------------------------------------------------------------------------- */

/* Call if no equilibrium was found. Adds an error for each constraint whose Φ_t or B does not vanish at random
 * configurations (Papastavridis, example 3.2.5). Also adds an error for each force that changes with time at these
 * configurations. Returns HAMEL_INVALID if an error was added, otherwise HAMEL_OK. */
hamel_status moving_refuse(statics *s, hamel_error *error) HAMEL_CHECKED;
