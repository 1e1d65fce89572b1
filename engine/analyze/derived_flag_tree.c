/* derived_flag_tree.c — steps of a derived flag at one configuration, computed in 256-bit arithmetic.
 *
 * The fields X_j and their brackets are binary trees. A tree is evaluated at points x + Σ e_i y_i + ... with variables
 * e_i for which e_i² = 0 (taylor.h). With one more variable e, B(x + e A(x)) = B(x) + e (DB A)(x). Values of A and B
 * alone therefore give
 *     [A, B](x) = (DB A)(x) − (DA B)(x).
 * A bracket of depth k is computed from values of X_j with k variables. Because e_i² = 0, the result has no truncation
 * error.
 *
 * A derived flag has constant rank near a generic configuration. Fields that are independent at such a configuration
 * span the flag nearby, so the brackets of these fields suffice for the next step. Independence is decided as for the
 * closure (long_forms.h), from the difference between copies of the system with slightly different coefficients. */
#include "engine/analyze/growth_vector.h"
#include "engine/analyze/long_forms.h"
#include "engine/base/memory_left.h"

#include <assert.h>

enum { DEPTH_MOST = 9 }; /* largest depth of brackets; values at this depth have 2^9 coefficients */
/* Upper bound on the 256-bit multiplications, which take a few seconds. */
static const double WORK_MOST = 1e8;

/* An entry in the list of fields. The entry with the index j < others is X_j. Every other entry is the bracket of two
 * earlier entries. */
typedef struct tree {
    size_t left, right, depth;
    double work; /* multiplications of 256-bit numbers per evaluation */
} tree;

/* Scratch for the evaluation of a bracket: values of the two fields, without and with one more variable. Brackets of
 * the same depth can share this scratch, because the fields of a bracket have smaller depth. */
typedef struct level {
    mpfr_t *left, *right;  /* width × 2^variables */
    mpfr_t *point, *value; /* width × 2^(variables + 1) */
} level;

typedef struct trees {
    long_forms l;
    number_pool pool;
    copy copies[COPIES];
    level levels[DEPTH_MOST]; /* levels[d]: scratch for brackets of depth d + 1 */
    mpfr_t *solution;         /* rank × (order + 1) */
    mpfr_t *row;              /* width */
    tree *fields;             /* others + most */
    size_t count, depth_most;
    directions found;
    double work;
} trees;

/* --- values ------------------------------------------------------------------------------------------------------- */

/* Copies `count` coefficients of the power series of each coordinate. Series are `to_step` numbers apart in `to` and
 * `from_step` numbers apart in `from`. A series with one more variable e has two parts of `count` coefficients: first
 * the terms without e, then the terms with e. */
static void copy_part(const trees *t, size_t count, mpfr_t *to, size_t to_step, mpfr_t *const from, size_t from_step) {
    for (size_t l = 0; l < t->l.width; l++)
        for (size_t k = 0; k < count; k++) mpfr_set(to[l * to_step + k], from[l * from_step + k], MPFR_RNDN);
}

/* Raises the scale of each component to at least its magnitude in `terms`, one of the two terms of a bracket. */
static void enlarge_scales(const trees *t, copy *y, mpfr_t *terms) {
    for (size_t q = 0; q < t->l.rank; q++) enlarge(y->scale[q], terms[t->l.pivot[q]]);
}

/* Evaluates X_j at a point whose coordinates are power series in the variables e_i, each with `count` coefficients. */
static void free_field_value(trees *t, copy *y, size_t j, size_t count, mpfr_t *const x, mpfr_t *to) {
    const long_forms *l = &t->l;
    for (size_t i = 0; i < l->width; i++)
        for (size_t k = 0; k < count; k++) {
            copy_set(l, y, i, k, x[i * count + k]);
            mpfr_set_zero(to[i * count + k], 1);
        }
    mpfr_set_ui(to[l->other[j] * count], 1, MPFR_RNDN);
    for (size_t k = 0; k < count; k++) {
        taylor_step(&y->t, k);
        copy_clear_right(l, y);
        for (size_t e = 0; e < l->f->entry_count; e++)
            if (l->row[e] < l->rank && l->f->entry_column[e] == l->other[j])
                mpfr_sub(y->right[l->row[e]], y->right[l->row[e]], taylor_coefficient(&y->t, l->place[e], k),
                         MPFR_RNDN);
        copy_solve(l, y, t->solution, 0, 1, k);
        for (size_t q = 0; q < l->rank; q++)
            mpfr_set(to[l->pivot[q] * count + k], term(t->solution, q, l->order, k), MPFR_RNDN);
    }
}

/* Evaluates a field at a point whose coordinates are power series in `depth` variables e_i. The recursion is as deep as
 * the tree, at most DEPTH_MOST. */
static void tree_value(trees *t, copy *y, size_t field, size_t depth, mpfr_t *const x, mpfr_t *to) {
    assert(field <= t->count && depth + t->fields[field].depth <= t->depth_most);
    const tree *f = &t->fields[field];
    size_t count = (size_t)1 << depth;
    if (field < t->l.others) {
        free_field_value(t, y, field, count, x, to);
        return;
    }
    level *here = &t->levels[f->depth - 1];
    tree_value(t, y, f->left, depth, x, here->left);
    copy_part(t, count, here->point, 2 * count, x, count);
    copy_part(t, count, here->point + count, 2 * count, here->left, count);
    tree_value(t, y, f->right, depth + 1, here->point, here->value); /* B + e DB A */
    copy_part(t, count, here->right, count, here->value, 2 * count);
    copy_part(t, count, to, count, here->value + count, 2 * count);
    if (depth == 0) enlarge_scales(t, y, to);
    copy_part(t, count, here->point + count, 2 * count, here->right, count);
    tree_value(t, y, f->left, depth + 1, here->point, here->value);
    copy_part(t, count, here->right, count, here->value + count, 2 * count); /* DA B */
    if (depth == 0) enlarge_scales(t, y, here->right);
    for (size_t i = 0; i < t->l.width * count; i++) mpfr_sub(to[i], to[i], here->right[i], MPFR_RNDN);
}

/* --- the derived flag --------------------------------------------------------------------------------------------- */

/* Adds [left, right] if it is independent of the fields found so far. Returns false if the work is too large. */
static bool offer_tree(trees *t, size_t left, size_t right) {
    assert(left < t->count && right < t->count);
    const tree *a = &t->fields[left], *b = &t->fields[right];
    tree bracket = {.left = left, .right = right, .depth = 1 + (a->depth > b->depth ? a->depth : b->depth)};
    bracket.work = 4 * a->work + 3 * b->work; /* one more variable triples the work */
    t->work += COPIES * bracket.work;
    if (bracket.depth > t->depth_most || t->work > WORK_MOST || system_interrupted(t->l.f->a->system)) return false;
    t->fields[t->count] = bracket;
    for (size_t n = 0; n < COPIES; n++) {
        tree_value(t, &t->copies[n], t->count, 0, t->copies[n].x, t->row);
        for (size_t q = 0; q < t->l.rank; q++) mpfr_set(t->found.next[n][q], t->row[t->l.pivot[q]], MPFR_RNDN);
    }
    if (directions_add(&t->found, t->copies)) t->count++;
    return true;
}

/* Adds the brackets of fields [before, t->count) with the X_j. If `derived`, also adds the brackets of these fields
 * with all earlier fields. */
static bool add_tree_brackets(trees *t, size_t before, bool derived, size_t most) {
    size_t others = t->l.others, count = t->count;
    for (size_t k = before; k < count; k++)
        for (size_t i = 0; i < (derived || before == 0 ? k : others) && t->found.count < most; i++)
            if (!offer_tree(t, i, k)) return false;
    return true;
}

static bool find_tree_flag(trees *t, bool derived, size_t most, flag_dimensions *flag) {
    size_t others = t->l.others, before = 0;
    *flag = (flag_dimensions){.steps = 1, .dimension = {others}};
    while (flag->steps < DERIVED_FLAG_STEPS) {
        size_t count = t->count;
        if (!add_tree_brackets(t, before, derived, most)) return false;
        if (t->count == count) return true;
        before = count;
        flag->dimension[flag->steps++] = t->count;
        if (t->found.count == most) return true;
    }
    return false;
}

/* Sets the scale of each row to its largest coefficient; the pivot's coefficient is 1. */
static void measure_rows(trees *t) {
    for (size_t n = 0; n < COPIES; n++) {
        copy *y = &t->copies[n];
        for (size_t q = 0; q < t->l.rank; q++) mpfr_set_ui(y->scale[q], 1, MPFR_RNDN);
        for (size_t j = 0; j < t->l.others; j++) {
            tree_value(t, y, j, 0, y->x, t->row);
            enlarge_scales(t, y, t->row);
        }
    }
}

static bool allocate_trees(trees *t, size_t most) {
    size_t width = t->l.width;
    t->fields = arena_alloc(&t->l.memory, t->l.others + most + 1, sizeof *t->fields);
    t->solution = number_pool_take(&t->pool, t->l.rank * (t->l.order + 1));
    t->row = number_pool_take(&t->pool, width);
    for (size_t d = 0; d < t->depth_most; d++) {
        level *to = &t->levels[d];
        size_t variables = t->depth_most - 1 - d; /* largest number of variables of the values in left and right */
        to->left = number_pool_take(&t->pool, width << variables);
        to->right = number_pool_take(&t->pool, width << variables);
        to->point = number_pool_take(&t->pool, width << (variables + 1));
        to->value = number_pool_take(&t->pool, width << (variables + 1));
    }
    for (size_t n = 0; n < COPIES; n++) {
        copy_create(&t->l, &t->copies[n], n, 0, &t->pool);
        t->copies[n].t.multilinear = true;
    }
    return directions_create(&t->found, &t->l, &t->pool);
}

/* Sets the configuration of each copy to x and projects the configuration onto the holonomic constraints of the
 * copy. */
static bool settle_copies(trees *t, const double *x) {
    for (size_t n = 0; n < COPIES; n++) {
        for (size_t l = 0; l < t->l.width; l++) mpfr_set_d(t->copies[n].x[l], x[l], MPFR_RNDN);
        if (!copy_settle(&t->l, &t->copies[n])) return false;
    }
    return true;
}

static size_t numbers_of(const trees *t) {
    return COPIES * (t->l.plan.count + t->l.rank) * (t->l.order + 1) + (t->l.width << (t->depth_most + 2));
}

static hamel_status find_flag(trees *t, const double *x, bool derived, size_t most, flag_dimensions *flag, bool *good) {
    forms *f = t->l.f;
    if (!long_forms_plan(&t->l, false)) return analysis_stopped(f->a);
    if (!forms_evaluate(f, x) || !long_forms_pivots(&t->l)) return HAMEL_OK;
    t->depth_most = most < DEPTH_MOST ? most : DEPTH_MOST;
    t->l.order = ((size_t)1 << t->depth_most) - 1;
    if (!memory_left(10, numbers_of(t)) || !allocate_trees(t, most)) return analysis_no_memory(f->a);
    double each = (double)(t->l.plan.count + f->entry_count + t->l.rank * t->l.rank);
    for (; t->count < t->l.others; t->count++) t->fields[t->count] = (tree){.work = each};
    if (!settle_copies(t, x)) return HAMEL_OK;
    measure_rows(t);
    *good = find_tree_flag(t, derived, most, flag);
    return f->a->error->status;
}

hamel_status derived_flag_by_trees(forms *f, const double *x, bool derived, size_t most, flag_dimensions *flag,
                                   bool *good) {
    trees t = {.l = {.f = f, .width = f->width, .rank = f->rank, .others = f->width - f->rank, .noise = LONG_NOISE}};
    *good = false;
    arena_init(&t.l.memory, f->a->model->limits.memory);
    hamel_status status = find_flag(&t, x, derived, most, flag, good);
    number_pool_free(&t.pool);
    mpfr_free_cache();
    arena_free(&t.l.memory);
    return status;
}
