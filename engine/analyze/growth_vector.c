/* growth_vector.c — derived flag and growth vector of a system, computed group by group.
 *
 * The growth vector lists the dimensions of D1 = D and D_k+1 = D_k + [D, D_k] until a step adds no direction. See
 * Vershik and Gershkovich, Dynamical Systems VII, Springer 1994. The derived flag I0 > I1 > ... of the forms
 * annihilates D, D + [D, D] and so on. Each step of the derived flag adds the brackets of all fields found before this
 * step. See Bryant et al., Exterior Differential Systems, Springer 1991, ch. II.4. Both sequences end with the same
 * distribution. First-order brackets and the closure give the first two dimensions and the last dimension, which
 * usually determine all dimensions. The two sequences differ at the third step at the earliest. */
#include "engine/analyze/growth_vector.h"

#include <assert.h>
#include <string.h>

enum { STATES = 2 }; /* states at which steps are computed: two, because one state may be singular */

/* Fills *flag with the dimensions of D, of D + [D, D] and of the closure. Returns true if these dimensions determine
 * the dimensions between them. */
static bool only_way(const group_rank *g, flag_dimensions *flag) {
    assert(g->integrable <= g->velocity && g->holonomic + g->velocity <= g->width);
    size_t start = g->width - g->holonomic - g->velocity, end = start + g->velocity - g->integrable;
    *flag = (flag_dimensions){.steps = 1, .dimension = {start}};
    if (g->first > 0 && start + g->first < end) flag->dimension[flag->steps++] = start + g->first;
    if (end > start) flag->dimension[flag->steps++] = end;
    return end - start <= g->first + 1;
}

static bool is_greater(const flag_dimensions *x, const flag_dimensions *y) {
    for (size_t k = 0; k < x->steps && k < y->steps; k++)
        if (x->dimension[k] != y->dimension[k]) return x->dimension[k] > y->dimension[k];
    return false;
}

/* Finds the dimensions at samples and keeps the fastest-growing sequence, which belongs to generic configurations. On
 * entry, *flag contains the dimensions of D, of D + [D, D] and of the closure. Sets *known to true if the sequence
 * found agrees with these dimensions. */
static hamel_status by_trees(forms *f, const group_rank *g, bool derived, flag_dimensions *flag, bool *known) {
    assert(flag->steps > 0);
    flag_dimensions best = {0}, here;
    size_t last = flag->dimension[flag->steps - 1], start = flag->dimension[0];
    double *x = arena_doubles(&f->memory, f->width);
    if (!x) return analysis_no_memory(f->a);
    bool good = true;
    for (size_t k = 0, found = 0; k < (g->regional ? 1 : SAMPLE_COUNT) && found < STATES && good; k++) {
        forms_configuration(f, g->regional ? g->at : &f->a->samples[k], x);
        hamel_status status = forms_choose(f, x);
        if (status == HAMEL_NOT_FINITE || (status == HAMEL_OK && f->rank != g->holonomic + g->velocity)) continue;
        if (status == HAMEL_OK) status = derived_flag_by_trees(f, x, derived, last - start, &here, &good);
        if (status != HAMEL_OK) return status;
        if (good && (best.steps == 0 || is_greater(&here, &best))) best = here;
        found++;
    }
    *known = best.steps > 1 && best.dimension[1] == start + g->first && best.dimension[best.steps - 1] == last;
    if (*known) *flag = best;
    return HAMEL_OK;
}

/* Sets *exact to true if expressions give the same dimensions (derived_flag_exact.c). */
static hamel_status confirm(forms *f, const group_rank *g, bool derived, const flag_dimensions *flag, bool *exact) {
    flag_dimensions other = {0};
    hamel_status status = derived_flag_by_expressions(f, g->at, derived, g->velocity, &other, exact);
    *exact = *exact && flag->steps == other.steps &&
             memcmp(flag->dimension, other.dimension, flag->steps * sizeof *flag->dimension) == 0;
    return status;
}

static hamel_status find_growth(forms *f, const group_rank *g, group_flags *found) {
    hamel_status status = HAMEL_OK;
    found->known = only_way(g, &found->growth_vector);
    if (!found->known) status = by_trees(f, g, false, &found->growth_vector, &found->known);
    found->derived_flag = found->growth_vector;
    if (status != HAMEL_OK || !found->known || found->growth_vector.steps <= 3) return status;
    return by_trees(f, g, true, &found->derived_flag, &found->known);
}

hamel_status flags_of_group(forms *f, const group_rank *g, group_flags *found) {
    size_t rank = g->holonomic + g->velocity;
    hamel_status status = find_growth(f, g, found);
    found->exact = rank == f->row_count && found->growth_vector.steps <= 2 && g->integrable == 0;
    if (status != HAMEL_OK || !found->known || found->exact) return status;
    f->rank = rank;
    status = confirm(f, g, false, &found->growth_vector, &found->exact);
    if (status != HAMEL_OK || !found->exact || found->growth_vector.steps <= 3) return status;
    return confirm(f, g, true, &found->derived_flag, &found->exact);
}

/* For each step, sums over all groups the number of directions that brackets have added up to this step. Returns NULL
 * if out of memory. */
static size_t *add_up(arena *memory, const group_flags *parts, size_t count, bool derived, size_t *steps) {
    size_t *sum = arena_alloc(memory, DERIVED_FLAG_STEPS, sizeof *sum);
    *steps = 1;
    for (size_t g = 0; g < count && sum; g++) {
        const flag_dimensions *own = derived ? &parts[g].derived_flag : &parts[g].growth_vector;
        assert(own->steps > 0 && own->steps <= DERIVED_FLAG_STEPS);
        if (own->steps > *steps) *steps = own->steps;
        for (size_t k = 0; k < DERIVED_FLAG_STEPS; k++)
            sum[k] += own->dimension[k < own->steps ? k : own->steps - 1] - own->dimension[0];
    }
    return sum;
}

hamel_status flags_report(analysis *a, const group_flags *parts, size_t count) {
    hamel_report *r = a->report;
    size_t rank = r->holonomic_rank + r->velocity_rank;
    for (size_t g = 0; g < count; g++) {
        if (!parts[g].known) return HAMEL_OK;
        if (parts[g].timed) r->with_time = true;
    }
    r->exact = true;
    for (size_t g = 0; g < count; g++) r->exact = r->exact && parts[g].exact;
    r->flags_decided_by = r->exact ? "expressions" : "random states";
    size_t *flag = add_up(a->memory, parts, count, false, &r->growth_vector_count);
    size_t *derived = add_up(a->memory, parts, count, true, &r->derived_flag_count);
    if (!flag || !derived) return analysis_no_memory(a);
    for (size_t k = 0; k < r->growth_vector_count; k++) flag[k] += a->n + r->with_time - rank;
    for (size_t k = 0; k < r->derived_flag_count; k++) derived[k] = rank - derived[k];
    r->growth_vector = flag;
    r->derived_flag = derived;
    return HAMEL_OK;
}
