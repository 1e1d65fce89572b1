/* forms.h — one-forms of a group of constraints that share coordinates, as numbers at a configuration.
 *
 *     ω_r = Σ A_ri dq_i + a_rt dt        holonomic constraints: dΦ; linear velocity constraints: themselves
 *
 * The configuration x has the group's coordinates and, last, time when some form of the group contains it or dt. The
 * distribution D of a group are the directions that all its forms annihilate. */
#ifndef HAMEL_ANALYZE_FORMS_H
#define HAMEL_ANALYZE_FORMS_H

#include "engine/analyze/analysis_int.h"

typedef struct forms {
    analysis *a;
    size_t row_count, holonomic_count; /* holonomic ones first */
    size_t *rows;                      /* constraints */
    size_t coordinate_count;
    int32_t *coordinates; /* increasing */
    bool timed;
    size_t width; /* of x: coordinate_count, plus 1 when timed */

    program *program; /* the structural nonzeros */
    size_t entry_count;
    graph_node *nodes; /* of the entries */
    size_t *entry_row, *entry_column;
    double *workspace, *tangent, *values, *dots; /* dots: PROGRAM_LANES an entry */
    double *q, *seed_q;                          /* the analysis's: n; n · PROGRAM_LANES */
    arena memory;                                /* of all this */

    size_t *chosen; /* rows whose forms are independent, by position in `rows`; forms_choose */
    size_t rank, holonomic_rank;
} forms;

/* Of a group's constraints and coordinates (increasing). forms_free in every case. */
hamel_status forms_create(forms *f, analysis *a, const size_t *constraints, size_t constraint_count,
                          const int32_t *coordinates, size_t coordinate_count) HAMEL_CHECKED;
void forms_free(forms *f);

/* The symbol of a column. */
graph_node forms_symbol(const forms *f, size_t column);

/* Copies the group's part of a sample. */
void forms_configuration(const forms *f, const sample *s, double *x);

/* Values of the entries at x. False when some are not finite. */
bool forms_evaluate(forms *f, const double *x);

/* Values, and derivatives along `count` ≤ PROGRAM_LANES directions d[k * width + i]. False when some are not finite. */
bool forms_differentiate(forms *f, const double *x, const double *d, size_t count);

/* Row r (position in `rows`) of the matrix of forms at the values evaluated last, in `width` columns. */
void forms_row(const forms *f, size_t r, double *row);

/* Chooses independent rows at x, holonomic ones first. HAMEL_INCOMPATIBLE when dependent rows contradict each other in
 * their parts free of velocities; HAMEL_NOT_FINITE. */
hamel_status forms_choose(forms *f, const double *x) HAMEL_CHECKED;

/* --- brackets.c, closure.c: the smallest involutive distribution that contains D ------------------------------------- */

/* Dimension of D + [D, D] at x, by the exterior derivatives of the chosen forms. */
hamel_status brackets_dimension(forms *f, const double *x, size_t *dimension) HAMEL_CHECKED;

/* Dimensions of D + [D, D] and of the closure of D under brackets at x, by the chosen forms; x is moved onto their holonomic
 * constraints. *clear is false when that would take too long. With `reached` those at a configuration that motions from x
 * reach: what can be reached from x, which is less than elsewhere where x lies on a singular leaf. */
hamel_status closure_dimension(forms *f, const double *x, uint64_t seed, bool reached, size_t *first, size_t *dimension,
                               bool *clear) HAMEL_CHECKED;

#endif
