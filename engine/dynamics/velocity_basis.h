/* frame.h — a full set of quasi-velocities: those of the user that are independent of the constraints, completed by
 * velocities of coordinates, and below them the constraints' own, which are zero.
 *
 *     Ψ q' + ψ_t = [u; 0],     Ψ = [C; A_s],     q' = Φ u + φ                  Talamucci 2015, eq. 4-6; Greenwood 4.236
 *
 * A_s are the rows of holonomic and velocity constraints; of redundant ones an orthonormal basis of their rows
 * (row_space.h), since single rows may shorten or come to depend on each other as the mechanism turns. Acceleration
 * constraints restrict u', not u. The coordinates that complete C are those that determine best what C and A_s leave free
 * where they are chosen. Accelerations and multipliers are the same in every frame, so it is chosen again wherever Ψ has
 * become ill-conditioned. States of an integration are therefore (q, q'), never (q, u): q'(u) has a pole wherever Ψ is
 * singular, and a step that ends near one has an error that its estimate does not contain. Nothing is allocated after
 * creation. */
#ifndef HAMEL_SOLVE_FRAME_H
#define HAMEL_SOLVE_FRAME_H

#include "engine/model/model.h"
#include "engine/solve/row_space.h"

/* The rows of Ψ that were chosen, and how well-conditioned it was there. */
typedef struct frame_choice {
    bool chosen;
    size_t freedom, user_count, row_count, listed;
    double least;
    size_t *names; /* user, row and coordinate */
} frame_choice;

typedef struct frame {
    const hamel_model *model;
    size_t n, freedom, user_count, row_count; /* n = freedom + row_count; user_count of the freedom are the user's */
    size_t listed;                   /* constraints at the level of velocities, row_count of them independent */
    size_t *user, *row, *coordinate; /* quasi-velocities, constraints listed, coordinates that complete */
    bool chosen;
    double least, now; /* smallest pivot of Ψ, relative: where it was chosen, and at the state factored last */
    frame_choice kept; /* by frame_remember */
    double *A, *C;     /* values factored for */
    bool factored, has_directions;
    double *lu, *lu_scale; /* Ψ */
    size_t *pivot;
    double *Phi; /* n × freedom */
    double *orthonormal, *work;
    double *basis;                        /* n × row_count: rows of A_s, where constraints are redundant */
    double *usual_here, *values, *vector; /* m, m and n: scratch */
    row_space rows, all;
    size_t limit;        /* as kkt_expect, of the constraints at the level of velocities */
    const double *usual; /* m, or NULL */
} frame;

/* NULL without memory. */
frame *frame_create(const hamel_model *model);
void frame_free(frame *f);

/* Drops the choice: other constraints act from now on. */
void frame_release(frame *f);

/* Keeps the choice, and returns to the one kept, so that evaluations in between do not affect later ones. A choice dropped
 * in between stays dropped. */
void frame_remember(frame *f);
void frame_recall(frame *f);

/* Factors Ψ for the values of the patterns model->A and model->C at a state. Chooses its rows if nothing is chosen yet, if
 * those chosen have come near dependence, or if redundant rows have become independent. HAMEL_OK or HAMEL_SINGULAR. */
hamel_status frame_factor(frame *f, const double *A, const double *C) HAMEL_CHECKED;

static inline bool frame_is_redundant(const frame *f) {
    return f->row_count < f->listed;
}

void frame_solve(const frame *f, double *x);                    /* x[n] := Ψ⁻¹ x; x = (freedom, row_count) */
void frame_solve_transposed(const frame *f, double *x);         /* x[n] := Ψ⁻ᵀ x */
const double *frame_directions(frame *f);                       /* Φ: n × freedom */
void frame_apply(const frame *f, const double *x, double *out); /* out[freedom] := C x */

/* out[row_count] := what values of the constraints, all[stride · c], are of the rows A_s; of redundant ones by least squares. */
void frame_gather(frame *f, const double *all, size_t stride, double *out);

/* all[m] := multipliers of the constraints, of least norm, whose reaction is that of the multipliers z[row_count] of A_s. */
void frame_scatter(frame *f, const double *z, double *all);

#endif
