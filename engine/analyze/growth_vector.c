/* growth.c — the flags of a system, group by group.
 *
 * A distribution D grows by brackets, D1 = D, D_k+1 = D_k + [D, D_k], until nothing is added (Vershik and Gershkovich,
 * Dynamical Systems VII, Springer 1994). The derived systems of its forms, I0 > I1 > ..., annihilate D, D + [D, D], and so
 * on with all brackets of what stands (Bryant et al., Exterior Differential Systems, Springer 1991, ch. II.4). Both grow
 * at each step until they stop, and stop at the same: so the first step and the end, which are known, mostly leave only one
 * way between them. The two differ from the fourth dimension on at the earliest. */
#include "engine/analyze/growth.h"

#include <string.h>

enum { STATES = 2 }; /* at which the steps are found: a state where fewer are independent is met by chance, once */

/* What lies between, when there is only one way. */
static bool only_way(const group_rank *g, flag_growth *growth) {
    size_t start = g->width - g->holonomic - g->velocity, end = start + g->velocity - g->integrable;
    *growth = (flag_growth){.steps = 1, .dimension = {start}};
    if (g->first > 0 && start + g->first < end) growth->dimension[growth->steps++] = start + g->first;
    if (end > start) growth->dimension[growth->steps++] = end;
    return end - start <= g->first + 1;
}

static bool is_greater(const flag_growth *x, const flag_growth *y) {
    for (size_t k = 0; k < x->steps && k < y->steps; k++)
        if (x->dimension[k] != y->dimension[k]) return x->dimension[k] > y->dimension[k];
    return false;
}

static bool is_equal(const flag_growth *x, const flag_growth *y) {
    return x->steps == y->steps && memcmp(x->dimension, y->dimension, x->steps * sizeof *x->dimension) == 0;
}

/* At generic configurations the flag grows fastest. `growth` holds the first step and the end, as other ways found them: they
 * must be met. */
static hamel_status by_trees(forms *f, const group_rank *g, bool derived, flag_growth *growth, bool *known) {
    flag_growth best = {0}, here;
    size_t last = growth->dimension[growth->steps - 1], start = growth->dimension[0];
    double *x = arena_alloc(&f->memory, f->width, sizeof *x);
    if (!x) return analysis_no_memory(f->a);
    bool good = true;
    for (size_t k = 0, found = 0; k < SAMPLE_COUNT && found < STATES && good; k++) {
        const sample *at = g->regional ? g->at : &f->a->samples[k];
        if (g->regional && k > 0) break;
        forms_configuration(f, at, x);
        hamel_status status = forms_choose(f, x);
        if (status == HAMEL_NOT_FINITE || (status == HAMEL_OK && f->rank != g->holonomic + g->velocity)) continue;
        if (status == HAMEL_OK) status = flag_by_trees(f, x, derived, last - start, &here, &good);
        if (status != HAMEL_OK) return status;
        if (good && (best.steps == 0 || is_greater(&here, &best))) best = here;
        found++;
    }
    *known = best.steps > 1 && best.dimension[1] == start + g->first && best.dimension[best.steps - 1] == last;
    if (*known) *growth = best;
    return HAMEL_OK;
}

/* What is found at a configuration is never too large, what expressions say never too small. */
static hamel_status confirm(forms *f, const group_rank *g, bool derived, const flag_growth *growth, bool *exact) {
    flag_growth other = {0};
    hamel_status status = flag_by_expressions(f, g->at, derived, g->velocity, &other, exact);
    *exact = *exact && is_equal(growth, &other);
    return status;
}

static hamel_status find(forms *f, const group_rank *g, group_growth *found) {
    hamel_status status = HAMEL_OK;
    found->known = only_way(g, &found->growth);
    if (!found->known) status = by_trees(f, g, false, &found->growth, &found->known);
    found->derived = found->growth;
    if (status != HAMEL_OK || !found->known || found->growth.steps <= 3) return status;
    return by_trees(f, g, true, &found->derived, &found->known);
}

hamel_status growth_of_group(forms *f, const group_rank *g, group_growth *found) {
    size_t rank = g->holonomic + g->velocity;
    hamel_status status = find(f, g, found);
    found->exact = rank == f->row_count && found->growth.steps <= 2 && g->integrable == 0;
    if (status != HAMEL_OK || !found->known || found->exact) return status;
    f->rank = rank;
    status = confirm(f, g, false, &found->growth, &found->exact);
    if (status != HAMEL_OK || !found->exact || found->growth.steps <= 3) return status;
    return confirm(f, g, true, &found->derived, &found->exact);
}

/* What a group has added after k steps. */
static size_t added(const flag_growth *growth, size_t k) {
    return growth->dimension[k < growth->steps ? k : growth->steps - 1] - growth->dimension[0];
}

static size_t *add_up(arena *memory, const group_growth *parts, size_t count, bool derived, size_t *steps) {
    *steps = 1;
    for (size_t g = 0; g < count; g++) {
        size_t own = derived ? parts[g].derived.steps : parts[g].growth.steps;
        if (own > *steps) *steps = own;
    }
    size_t *sum = arena_alloc(memory, *steps, sizeof *sum);
    for (size_t k = 0; sum && k < *steps; k++)
        for (size_t g = 0; g < count; g++) sum[k] += added(derived ? &parts[g].derived : &parts[g].growth, k);
    return sum;
}

hamel_status growth_report(analysis *a, const group_growth *parts, size_t count) {
    hamel_report *r = a->report;
    size_t rank = r->holonomic_rank + r->velocity_rank;
    for (size_t g = 0; g < count; g++) {
        if (!parts[g].known) return HAMEL_OK;
        if (parts[g].timed) r->with_time = true;
    }
    r->exact = true;
    for (size_t g = 0; g < count; g++) r->exact = r->exact && parts[g].exact;
    r->flags_decided_by = r->exact ? "expressions" : "random states";
    size_t *growth = add_up(a->memory, parts, count, false, &r->growth_count);
    size_t *derived = add_up(a->memory, parts, count, true, &r->derived_count);
    if (!growth || !derived) return analysis_no_memory(a);
    for (size_t k = 0; k < r->growth_count; k++) growth[k] += a->n + r->with_time - rank;
    for (size_t k = 0; k < r->derived_count; k++) derived[k] = rank - derived[k];
    r->growth = growth;
    r->derived = derived;
    return HAMEL_OK;
}
