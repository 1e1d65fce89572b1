/* tree_flag.c — the steps of a flag at one configuration, in long numbers.
 *
 * The fields X_j and their brackets are trees. A tree is evaluated at points x + Σ e_i y_i + ... whose variables e_i have
 * e_i² = 0 (taylor.h): with one more variable e, B(x + e A(x)) = B(x) + e (DB A)(x), so
 *     [A, B](x) = (DB A)(x) − (DA B)(x)
 * follows from values of A and B alone, and a bracket of depth k from values of X_j with k variables. This is exact, whatever
 * the number of coordinates.
 *
 * A flag has constant rank near a general configuration. So fields that are independent there span it nearby, and
 * brackets of them suffice for the next step. Whether a bracket is independent is decided as for the closure (long_forms.h):
 * by the difference between systems whose coefficients differ slightly. */
#include "engine/analyze/flag.h"
#include "engine/analyze/long_forms.h"
#include "engine/base/memory_left.h"

enum { DEPTH_MOST = 9 };             /* 512 coefficients a number */
static const double WORK_MOST = 1e8; /* products of numbers for one flag; a few seconds */

/* X_j for j < others; brackets of two earlier fields after those. */
typedef struct tree {
    size_t left, right, depth;
    double work; /* products of numbers that its value takes */
} tree;

/* What the evaluation of a bracket needs: values of its fields, and with one variable more. Brackets of a depth share it: a
 * bracket's fields have less depth. */
typedef struct level {
    size_t variables;      /* at most, in left and right */
    mpfr_t *left, *right;  /* width × 2^variables */
    mpfr_t *point, *value; /* width × 2^(variables + 1) */
} level;

typedef struct trees {
    long_forms l;
    copy copies[COPIES];
    level levels[DEPTH_MOST]; /* of brackets of depth 1, 2, ... */
    mpfr_t *solution;         /* rank × (order + 1) */
    mpfr_t *row;              /* width */
    tree *fields;             /* others + most */
    size_t count, depth_most;
    directions found;
    double work;
} trees;

/* --- values --------------------------------------------------------------------------------------------------------- */

/* Values with one variable more have two parts, without and with it. */
static void set_part(const trees *t, mpfr_t *to, size_t part, mpfr_t *const from, size_t count) {
    for (size_t l = 0; l < t->l.width; l++)
        for (size_t k = 0; k < count; k++)
            mpfr_set(to[l * 2 * count + part * count + k], from[l * count + k], MPFR_RNDN);
}

static void take_part(const trees *t, mpfr_t *from, size_t part, size_t count, mpfr_t *to) {
    for (size_t l = 0; l < t->l.width; l++)
        for (size_t k = 0; k < count; k++)
            mpfr_set(to[l * count + k], from[l * 2 * count + part * count + k], MPFR_RNDN);
}

/* Terms of a bracket count in the scales of its components. */
static void enlarge_scales(const trees *t, copy *y, mpfr_t *terms) {
    for (size_t q = 0; q < t->l.rank; q++) enlarge(y->scale[q], terms[t->l.pivot[q]]);
}

/* X_j at a point with `count` coefficients a coordinate. */
static void value_of_free(trees *t, copy *y, size_t j, size_t count, mpfr_t *const x, mpfr_t *to) {
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

/* A field at a point with `depth` variables. The recursion is as deep as the tree, DEPTH_MOST at most. */
static void value_of(trees *t, copy *y, size_t field, size_t depth, mpfr_t *const x, mpfr_t *to) {
    const tree *f = &t->fields[field];
    size_t count = (size_t)1 << depth;
    if (field < t->l.others) {
        value_of_free(t, y, field, count, x, to);
        return;
    }
    level *here = &t->levels[f->depth - 1];
    value_of(t, y, f->left, depth, x, here->left);
    set_part(t, here->point, 0, x, count);
    set_part(t, here->point, 1, here->left, count);
    value_of(t, y, f->right, depth + 1, here->point, here->value); /* B + e DB A */
    take_part(t, here->value, 0, count, here->right);
    take_part(t, here->value, 1, count, to);
    if (depth == 0) enlarge_scales(t, y, to);
    set_part(t, here->point, 1, here->right, count);
    value_of(t, y, f->left, depth + 1, here->point, here->value);
    take_part(t, here->value, 1, count, here->right); /* DA B */
    if (depth == 0) enlarge_scales(t, y, here->right);
    for (size_t i = 0; i < t->l.width * count; i++) mpfr_sub(to[i], to[i], here->right[i], MPFR_RNDN);
}

/* --- the flag -------------------------------------------------------------------------------------------------------- */

/* Adds [left, right] if it is independent of the fields before it. False when that is more than can be computed. */
static bool offer(trees *t, size_t left, size_t right) {
    const tree *a = &t->fields[left], *b = &t->fields[right];
    tree bracket = {.left = left, .right = right, .depth = 1 + (a->depth > b->depth ? a->depth : b->depth)};
    bracket.work = 4 * a->work + 3 * b->work; /* with one variable more: three times the work */
    t->work += COPIES * bracket.work;
    if (bracket.depth > t->depth_most || t->work > WORK_MOST || system_interrupted(t->l.f->a->system)) return false;
    t->fields[t->count] = bracket;
    for (size_t n = 0; n < COPIES; n++) {
        value_of(t, &t->copies[n], t->count, 0, t->copies[n].x, t->row);
        for (size_t q = 0; q < t->l.rank; q++) mpfr_set(t->found.next[n][q], t->row[t->l.pivot[q]], MPFR_RNDN);
    }
    if (directions_add(&t->found, t->copies)) t->count++;
    return true;
}

/* Brackets of [before, t->count) with the X_j, and with all vertical fields so far when `derived`. */
static bool next_step(trees *t, size_t before, bool derived, size_t most) {
    size_t others = t->l.others, count = t->count;
    for (size_t k = before; k < count; k++)
        for (size_t i = 0; i < (derived || before == 0 ? k : others) && t->found.count < most; i++)
            if (!offer(t, i, k)) return false;
    return true;
}

static bool climb(trees *t, bool derived, size_t most, flag_growth *growth) {
    size_t others = t->l.others, before = 0;
    *growth = (flag_growth){.steps = 1, .dimension = {others}};
    while (growth->steps < FLAG_STEPS) {
        size_t count = t->count;
        if (!next_step(t, before, derived, most)) return false;
        if (t->count == count) return true;
        before = count;
        growth->dimension[growth->steps++] = t->count;
        if (t->found.count == most) return true;
    }
    return false;
}

/* The largest coefficient of each row, 1 of the pivot among them, as the size of its terms. */
static void measure_rows(trees *t) {
    for (size_t n = 0; n < COPIES; n++) {
        copy *y = &t->copies[n];
        for (size_t q = 0; q < t->l.rank; q++) mpfr_set_ui(y->scale[q], 1, MPFR_RNDN);
        for (size_t j = 0; j < t->l.others; j++) {
            value_of(t, y, j, 0, y->x, t->row);
            enlarge_scales(t, y, t->row);
        }
    }
}

static bool allocate(trees *t, size_t most) {
    size_t width = t->l.width;
    t->fields = arena_alloc(&t->l.memory, t->l.others + most + 1, sizeof *t->fields);
    t->solution = taylor_numbers(t->l.rank * (t->l.order + 1));
    t->row = taylor_numbers(width);
    bool good = t->fields && t->solution && t->row && directions_create(&t->found, t->l.rank, LONG_NOISE);
    for (size_t d = 0; d < t->depth_most; d++) {
        level *to = &t->levels[d];
        to->variables = t->depth_most - 1 - d;
        to->left = taylor_numbers(width << to->variables);
        to->right = taylor_numbers(width << to->variables);
        to->point = taylor_numbers(width << (to->variables + 1));
        to->value = taylor_numbers(width << (to->variables + 1));
        good = good && to->left && to->right && to->point && to->value;
    }
    for (size_t n = 0; n < COPIES && good; n++) {
        good = copy_create(&t->l, &t->copies[n], copy_change(n), n);
        t->copies[n].t.multilinear = true;
    }
    return good;
}

static void release(trees *t) {
    size_t width = t->l.width;
    for (size_t d = 0; d < t->depth_most; d++) {
        const level *old = &t->levels[d];
        taylor_numbers_free(old->left, width << old->variables);
        taylor_numbers_free(old->right, width << old->variables);
        taylor_numbers_free(old->point, width << (old->variables + 1));
        taylor_numbers_free(old->value, width << (old->variables + 1));
    }
    for (size_t n = 0; n < COPIES; n++) copy_free(&t->l, &t->copies[n]);
    taylor_numbers_free(t->solution, t->l.rank * (t->l.order + 1));
    taylor_numbers_free(t->row, width);
    directions_free(&t->found);
    mpfr_free_cache();
}

/* The configuration in all systems, on their holonomic constraints. */
static bool settle(trees *t, const double *x) {
    for (size_t n = 0; n < COPIES; n++) {
        for (size_t l = 0; l < t->l.width; l++) mpfr_set_d(t->copies[n].x[l], x[l], MPFR_RNDN);
        if (!copy_settle(&t->l, &t->copies[n])) return false;
    }
    return true;
}

static size_t numbers_of(const trees *t) {
    return COPIES * (t->l.plan.count + t->l.rank) * (t->l.order + 1) + (t->l.width << (t->depth_most + 2));
}

static hamel_status run(trees *t, const double *x, bool derived, size_t most, flag_growth *growth, bool *good) {
    forms *f = t->l.f;
    if (!long_forms_plan(&t->l, false))
        return equations_status(f->a->system) != HAMEL_OK ? f->a->error->status : analysis_no_memory(f->a);
    if (!forms_evaluate(f, x) || !long_forms_pivots(&t->l)) return HAMEL_OK;
    t->depth_most = most < DEPTH_MOST ? most : DEPTH_MOST;
    t->l.order = ((size_t)1 << t->depth_most) - 1;
    if (!memory_left(10, numbers_of(t)) || !allocate(t, most)) return analysis_no_memory(f->a);
    double each = (double)(t->l.plan.count + f->entry_count + t->l.rank * t->l.rank);
    for (; t->count < t->l.others; t->count++) t->fields[t->count] = (tree){.work = each};
    if (!settle(t, x)) return HAMEL_OK;
    measure_rows(t);
    *good = climb(t, derived, most, growth);
    return f->a->error->status;
}

hamel_status flag_by_trees(forms *f, const double *x, bool derived, size_t most, flag_growth *growth, bool *good) {
    trees t = {.l = {.f = f, .width = f->width, .rank = f->rank, .others = f->width - f->rank}};
    *good = false;
    arena_init(&t.l.memory, f->a->model->limits.memory);
    hamel_status status = run(&t, x, derived, most, growth, good);
    release(&t);
    arena_free(&t.l.memory);
    return status;
}
