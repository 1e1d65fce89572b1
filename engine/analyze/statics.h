/* statics.h — rest and steady motion as equations F(z) = 0 with their Jacobian J.
 *
 * Unknowns z: coordinates q, multipliers λ at each instant, and, where they are free, the velocities of cyclic
 * coordinates. Rows, for each instant: R(t, q, q' = v, q'' = 0, λ) = 0 (Baruh 4.6.7: generalized forces and reactions
 * balance), then Φ = 0 or ψ = 0. A system whose equations contain t rests only where it rests at every time: three
 * random instants are solved together (Papastavridis, example 3.2.5). With momenta given, rows p_c − p*_c = 0 follow.
 *
 * Linear systems are solved by least squares of least norm: equilibria need not be isolated, nor multipliers unique. */
#ifndef HAMEL_ANALYZE_STATICS_H
#define HAMEL_ANALYZE_STATICS_H

#include "engine/analyze/local.h"

enum { STATICS_INSTANTS = 3 };

/* Velocities of cyclic coordinates: as given; unknown; unknown with the momenta that they have at the point of reference. */
typedef enum statics_velocities { STATICS_GIVEN, STATICS_FREE, STATICS_MOMENTA } statics_velocities;

typedef struct statics {
    hamel_model *model;
    local_equations local;
    arena memory; /* of everything here */
    size_t n, m, instants;
    double t[STATICS_INSTANTS];
    double *v, *zero_a; /* n: given velocities, zeros */
    bool *cyclic;       /* n: absent from every equation */
    size_t *spinning;   /* cyclic coordinates */
    size_t spinning_count;
    bool steady;         /* some given velocity is not 0 */
    bool holonomic_only; /* λ = 0 in place of constraints on velocities */

    statics_velocities velocities;
    double *momentum; /* spinning_count: p* */
    program *momenta; /* of the spinning coordinates, of (t, q, q'); NULL where the system has none */
    double *momentum_work, *momentum_tangent, *momentum_dots, *momentum_seeds, *momentum_values;

    /* With a centre, one more row: z is as far from it as the radius says, by the Euclidean norm of what matters to a
     * family, each relative to values above 1. */
    const double *centre;
    double radius;

    size_t rows, unknowns; /* of the present kind of velocities */
    double *F, *J, *scale; /* rows, rows × unknowns, and the size of each row's terms */
    double *noise;         /* rows: rounding of F, by statics_noise */
    double *work, *right, *step, *trial, *start, *kept, *velocity, *weight, *singular, *vectors;
    int32_t *pivot;
    double rank; /* of the largest pivot, below which a pivot is 0 in statics_least_squares */
    uint64_t seed;
    double spent;    /* work of all evaluations and solutions, in multiplications or so */
    double deadline; /* of `spent`: iterations end there; INFINITY for those that must end by themselves */
    bool starved;    /* an allocation failed, so some result is missing */
} statics;

/* `cyclic`: names of cyclic coordinates (or NULL), which have the velocities v[n]. A failure as of local_create. */
hamel_status statics_create(statics *s, hamel_model *model, const hamel_names *cyclic, const double *v,
                            hamel_error *error) HAMEL_CHECKED;
void statics_free(statics *s);

/* Room for unknowns of every kind. */
size_t statics_most(const statics *s);

/* The kind of velocities from now on. For STATICS_MOMENTA p* is that at q and the given velocities; false when the
 * system has no momenta. */
bool statics_take(statics *s, statics_velocities velocities, const double *q);

/* Sets or, with NULL, removes the centre. */
void statics_stay_at(statics *s, const double *centre, double radius);

/* F, J and scale at z. False when something is not finite. */
bool statics_evaluate(statics *s, const double *z);

/* The largest |F_i| / scale_i at the point evaluated last. */
double statics_residual(const statics *s);

/* step := −J⁺F of least norm at the point evaluated last; rows have weight 1/scale. */
bool statics_newton_step(statics *s, double *step);

/* x := A⁺b of least norm; A (rows × columns, row-major) and b (max(rows, columns)) are overwritten. */
bool statics_least_squares(statics *s, size_t rows, size_t columns, double *A, double *b);

/* Whether F at z is rounding, of its terms or of z, and not just small next to stiff terms; the bounds of its rows are in
 * `weight`. F and J are those at z afterwards. */
bool statics_is_rounding(statics *s, const double *z);

/* Gives z the multipliers that balance the forces at its q best. */
bool statics_balance(statics *s, double *z);

/* Fills noise at z: how much F changes when z changes by its rounding. F and J are those at z afterwards. */
bool statics_noise(statics *s, const double *z);

/* From z to a solution nearby, in place: Newton's method with line search, lengthened where it converges linearly, as
 * it does at multiple roots; then once more without line search. */
bool statics_converge(statics *s, double *z);

/* Coordinates below 1e-7 become 0 where F grows by no more than rounding. */
void statics_tidy(statics *s, double *z);

/* Whether first derivatives of F by coordinates or velocities, or F itself, have a jump at z. */
bool statics_has_kink(statics *s, const double *z);

/* The part of z that matters to a family: coordinates, then free velocities. Its length, and where number j of it is in z. */
size_t statics_width(const statics *s);
size_t statics_place(const statics *s, size_t j);

/* Orthonormal directions of that part, columns[k][width], along which F changes by less than 1e-6 of the sizes that its
 * rows have nearby. Cyclic coordinates that turn, or whose velocities are free, do not count. Returns k. */
size_t statics_kernel(statics *s, const double *z, double *columns);

/* Distance of that part of x and y, relative to values above 1. */
double statics_distance(const statics *s, const double *x, const double *y);

/* Right singular vectors of A (overwritten) as rows of s->vectors, columns × columns; values, 0 for those that A does not
 * have, in s->singular. */
bool statics_decompose(statics *s, size_t rows, size_t columns, double *A);

#endif
