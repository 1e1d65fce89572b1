/* forms.h — one-forms of a group of constraints, evaluated at a configuration.
 *
 *     ω_r = Σ A_ri dq_i + a_rt dt        dΦ of a holonomic constraint; a linear velocity constraint times dt
 *
 * The configuration x contains the group's coordinates, then time if some form contains t or dt. The distribution D of
 * a group is the set of directions that all its forms annihilate. */
#pragma once

#include "engine/analyze/analysis_int.h"

typedef struct forms {
    analysis *a;
    size_t row_count, holonomic_count; /* number of rows; number of holonomic rows, which come first */
    size_t *rows;                      /* constraint of each row */
    size_t coordinate_count;
    const int32_t *coordinates; /* in increasing order; borrowed from the groups */
    bool timed;                 /* true if some form contains t or dt */
    size_t width;               /* length of x: coordinate_count, plus 1 if timed */

    program *program; /* evaluates the structural nonzeros */
    size_t entry_count;
    graph_node *nodes;   /* one per entry */
    size_t *first_entry; /* row_count + 1 entries: first entry of each row */
    size_t *entry_row, *entry_column;
    double *workspace, *tangent, *values, *dots; /* dots: PROGRAM_LANES per entry */
    double *row;                                 /* scratch: width */
    double *q, *seed_q;                          /* q: n entries; seed_q: n · PROGRAM_LANES; owned by the analysis */
    arena memory;                                /* owns the other arrays */

    size_t *chosen; /* indices in `rows` of the independent rows; set by forms_choose */
    size_t rank, holonomic_rank;
} forms;

/* Creates the forms of group k of `g`, which must outlive the forms. Call forms_free also on failure. */
hamel_status forms_create(forms *f, analysis *a, const groups *g, size_t k) HAMEL_CHECKED;
void forms_free(forms *f);

/* Returns the symbol of a column: a coordinate, or time. */
graph_node forms_symbol(const forms *f, size_t column);

/* Copies the group's part of a sample to x[width]. */
void forms_configuration(const forms *f, const sample *s, double *x);

/* Evaluates the entries at x. Returns false if a value is not finite. */
bool forms_evaluate(forms *f, const double *x);

/* Evaluates the entries and their derivatives along `count` ≤ PROGRAM_LANES directions d[k * width + i]. Returns false
 * if a result is not finite. */
bool forms_differentiate(forms *f, const double *x, const double *d, size_t count);

/* Writes row r (an index in `rows`) of the forms evaluated last to row[width]. */
void forms_row(const forms *f, size_t r, double *row);

/* Chooses independent rows at x, holonomic rows first. Returns HAMEL_NOT_FINITE if a value is not finite. Returns
 * HAMEL_INCOMPATIBLE if the constraints contradict each other: the coefficient of dt of a redundant row does not follow
 * from the chosen rows. */
hamel_status forms_choose(forms *f, const double *x) HAMEL_CHECKED;

/* --- brackets.c, closure.c: the smallest involutive distribution that contains D ---------------------------------- */

/* Finds the dimension of D + [D, D] at x from the exterior derivatives of the chosen forms. */
hamel_status brackets_dimension(forms *f, const double *x, size_t *dimension) HAMEL_CHECKED;

/* Finds the dimensions of D + [D, D] and of the closure of D under brackets at x, from the chosen forms. Projects a
 * copy of x onto the holonomic constraints of the group first. Sets *clear to false if the work is too large. If
 * `reached`, finds the dimensions at configurations that motions from x reach. These dimensions are smaller if x lies
 * on a singular leaf. */
hamel_status closure_dimension(forms *f, const double *x, uint64_t seed, bool reached, size_t *first, size_t *dimension,
                               bool *clear) HAMEL_CHECKED;
