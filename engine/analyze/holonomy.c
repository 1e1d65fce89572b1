/* holonomy.c — how many combinations of the linear velocity constraints can be integrated.
 *
 * The constraints' one-forms in (q, t), the holonomic constraints' dΦ among them, annihilate a distribution D. The
 * combinations that can be integrated, the last of the derived flag I0 > I1 > ... (Papastavridis 2.8, 2.12), are those that
 * annihilate also the smallest involutive distribution that contains D (Frobenius):
 *
 *     integrable = dim (q, t) − rank dΦ − dim closure(D)
 *
 * It falls apart into groups of constraints that share coordinates; time is common to all, but binds none: no form is
 * dt alone. A group is judged at several random configurations. One step of brackets decides most of them, since it finds
 * either nothing new (all integrable) or everything (none); transport.c the others.
 *
 * Constraints that are not linear in the velocities, and those on accelerations, have no such forms and are left out. */
#include "engine/analyze/forms.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 1000, TRANSPORT_WIDTH_MAX = 96 };

/* Coordinates and constraints sorted by group: those of group r are at first[r] to first[r + 1], r the root's index. */
typedef struct grouping {
    size_t *root;                                /* n: union-find over coordinates */
    size_t *owner;                               /* m: root of a constraint's group; n when it is left out */
    size_t *first_constraint, *first_coordinate; /* n + 2 */
    size_t *constraints;
    int32_t *coordinates;
} grouping;

static bool is_form(const analysis *a, size_t c) {
    return a->linear[c];
}

static size_t find(size_t *root, size_t i) {
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* The first coordinate of constraint c, joined with all its others; n when it has none. */
static size_t join(analysis *a, size_t *root, size_t c) {
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY};
    size_t first = a->n;
    for (int k = 0; k < 2; k++) {
        int32_t *list;
        size_t count = node_support(a->system, a->system->constraints[c].equation, kinds[k], &list);
        for (size_t i = 0; i < count; i++) {
            if (first == a->n) first = (size_t)list[i];
            root[find(root, (size_t)list[i])] = find(root, first);
        }
    }
    return first;
}

static bool allocate(analysis *a, grouping *g) {
    g->root = arena_alloc(a->memory, a->n, sizeof *g->root);
    g->owner = arena_alloc(a->memory, a->m, sizeof *g->owner);
    g->first_constraint = arena_alloc(a->memory, a->n + 2, sizeof *g->first_constraint);
    g->first_coordinate = arena_alloc(a->memory, a->n + 2, sizeof *g->first_coordinate);
    g->constraints = arena_alloc(a->memory, a->m, sizeof *g->constraints);
    g->coordinates = arena_alloc(a->memory, a->n, sizeof *g->coordinates);
    return g->root && g->owner && g->first_constraint && g->first_coordinate && g->constraints && g->coordinates;
}

/* Where each of the keys 0..n begins when `count` items are sorted by key. */
static void count_keys(size_t *first, size_t n, const size_t *key, size_t count) {
    for (size_t i = 0; i < count; i++) first[key[i] + 1]++;
    for (size_t k = 0; k <= n; k++) first[k + 1] += first[k];
}

static bool make_groups(analysis *a, grouping *g) {
    if (!allocate(a, g)) return false;
    for (size_t i = 0; i < a->n; i++) g->root[i] = i;
    for (size_t c = 0; c < a->m; c++) g->owner[c] = is_form(a, c) ? join(a, g->root, c) : a->n;
    for (size_t c = 0; c < a->m; c++)
        if (g->owner[c] < a->n) g->owner[c] = find(g->root, g->owner[c]);
    for (size_t i = 0; i < a->n; i++) g->root[i] = find(g->root, i);
    count_keys(g->first_constraint, a->n, g->owner, a->m);
    count_keys(g->first_coordinate, a->n, g->root, a->n);
    size_t *next = arena_alloc(a->memory, a->n + 1, sizeof *next);
    if (!next) return false;
    memcpy(next, g->first_constraint, (a->n + 1) * sizeof *next);
    for (size_t c = 0; c < a->m; c++) g->constraints[next[g->owner[c]]++] = c;
    memcpy(next, g->first_coordinate, (a->n + 1) * sizeof *next);
    for (size_t i = 0; i < a->n; i++) g->coordinates[next[g->root[i]]++] = (int32_t)i;
    return true;
}

/* What one group adds to the report. */
typedef struct group_result {
    size_t holonomic_rank, velocity_rank, integrable;
    bool undetermined;
} group_result;

/* Dimension of the closure of D at one configuration; `most` is what the holonomic constraints leave. */
static hamel_status closure_at(forms *f, const double *x, uint64_t seed, size_t most, size_t *dimension, bool *clear) {
    *clear = true;
    hamel_status status = brackets_dimension(f, x, dimension);
    if (status != HAMEL_OK || *dimension == f->width - f->rank || *dimension == most) return status;
    *clear = false;
    if (f->width > TRANSPORT_WIDTH_MAX) return HAMEL_OK;
    size_t closure = 0;
    status = transport_dimension(f, x, seed, &closure, clear);
    if (*clear && closure > *dimension) *dimension = closure;
    return status;
}

static hamel_status judge_at(forms *f, const sample *at, uint64_t seed, double *x, group_result *best) {
    forms_configuration(f, at, x);
    hamel_status status = forms_choose(f, x);
    if (status != HAMEL_OK) return status;
    size_t most = f->width - f->holonomic_rank, dimension = f->width - f->rank;
    group_result here = {.holonomic_rank = f->holonomic_rank, .velocity_rank = f->rank - f->holonomic_rank};
    bool clear = true;
    if (here.velocity_rank > 0) status = closure_at(f, x, seed, most, &dimension, &clear);
    if (status != HAMEL_OK) return status;
    here.integrable = dimension < most ? most - dimension : 0;
    here.undetermined = !clear;
    size_t rank = here.holonomic_rank + here.velocity_rank, known = best->holonomic_rank + best->velocity_rank;
    bool better = rank > known ||
                  (rank == known && (best->undetermined ? !here.undetermined
                                                        : !here.undetermined && here.integrable < best->integrable));
    if (better) *best = here;
    return HAMEL_OK;
}

/* At a generic configuration ranks are largest and the fewest combinations are integrable. */
static hamel_status judge_group(forms *f, group_result *best) {
    *best = (group_result){.undetermined = true};
    if (f->width > WIDTH_MAX) return HAMEL_OK;
    double *x = arena_alloc(&f->memory, f->width, sizeof *x);
    if (!x) return analysis_no_memory(f->a);
    for (size_t k = 0; k < SAMPLE_COUNT; k++) {
        hamel_status status = judge_at(f, &f->a->samples[k], 0x2545f4914f6cdd1du + k, x, best);
        if (status != HAMEL_OK && status != HAMEL_NOT_FINITE) return status;
        if (system_interrupted(f->a->system)) return f->a->error->status;
    }
    return HAMEL_OK;
}

static hamel_status add_group(analysis *a, const grouping *g, size_t root, bool *undetermined) {
    size_t c = g->first_constraint[root], constraints = g->first_constraint[root + 1] - c;
    size_t i = g->first_coordinate[root], coordinates = g->first_coordinate[root + 1] - i;
    forms f;
    group_result result;
    if (constraints == 0) return HAMEL_OK;
    hamel_status status = forms_create(&f, a, g->constraints + c, constraints, g->coordinates + i, coordinates);
    if (status == HAMEL_OK) status = judge_group(&f, &result);
    forms_free(&f);
    if (status != HAMEL_OK) return status;
    a->report->holonomic_rank += result.holonomic_rank;
    a->report->velocity_rank += result.velocity_rank;
    a->report->integrable += result.integrable;
    if (result.undetermined) *undetermined = true;
    return HAMEL_OK;
}

static hamel_verdict verdict(const hamel_report *r) {
    if (r->velocity_rank == 0) return HAMEL_VERDICT_NONE;
    if (r->integrable == r->velocity_rank) return HAMEL_VERDICT_HOLONOMIC;
    return r->integrable == 0 ? HAMEL_VERDICT_NONHOLONOMIC : HAMEL_VERDICT_PARTIALLY_HOLONOMIC;
}

hamel_status holonomy_derive(analysis *a) {
    grouping g;
    hamel_report *r = a->report;
    bool undetermined = false;
    if (!make_groups(a, &g)) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++) {
        hamel_status status = g.root[i] == i ? add_group(a, &g, i, &undetermined) : HAMEL_OK;
        if (status != HAMEL_OK) return status;
    }
    r->verdict = undetermined ? HAMEL_VERDICT_UNDETERMINED : verdict(r);
    if (undetermined)
        r->integrable = 0;
    else
        r->accessible_dimension = a->n - r->integrable - r->holonomic_rank;
    return HAMEL_OK;
}
