/* holonomy.c — how many combinations of the linear velocity constraints can be integrated.
 *
 * The constraints' one-forms in (q, t), the holonomic constraints' dΦ among them, annihilate a distribution D. The
 * combinations that can be integrated, the last of the derived flag I0 > I1 > ... (Papastavridis 2.8, 2.12), are those that
 * annihilate also the smallest involutive distribution that contains D (Frobenius):
 *
 *     integrable = dim (q, t) − rank dΦ − dim closure(D)
 *
 * It falls apart into groups of constraints that share coordinates; time is common to all, but binds none: no form is
 * dt alone. A group is judged at several random configurations, by closure.c; a group too wide for that is decided where one
 * step of brackets finds either nothing new (all integrable) or everything (none).
 *
 * Constraints that are not linear in the velocities, and those on accelerations, have no such forms and are left out. */
#include "engine/analyze/growth.h"

#include <stdlib.h>

enum { WIDTH_MAX = 1000, CLOSURE_WIDTH_MAX = 96 };

/* What one group adds to the report. */
typedef struct group_result {
    group_rank ranks;
    bool undetermined;
} group_result;

/* Dimension of D + [D, D] and of the closure of D at one configuration; `most` is what the holonomic constraints leave. */
static hamel_status closure_at(forms *f, const double *x, uint64_t seed, size_t most, size_t *first, size_t *dimension,
                               bool *clear) {
    hamel_status status = HAMEL_OK;
    *clear = false;
    if (f->width <= CLOSURE_WIDTH_MAX) status = closure_dimension(f, x, seed, first, dimension, clear);
    if (status != HAMEL_OK || *clear) return status;
    status = brackets_dimension(f, x, dimension);
    *first = *dimension;
    *clear = *dimension == f->width - f->rank || *dimension == most;
    return status;
}

/* Whether what was found at one configuration is nearer to the generic than what was found at another. */
static bool is_better(const group_result *x, const group_result *y) {
    size_t rank = x->ranks.holonomic + x->ranks.velocity, known = y->ranks.holonomic + y->ranks.velocity;
    if (rank != known) return rank > known;
    if (x->undetermined || y->undetermined) return y->undetermined && !x->undetermined;
    if (x->ranks.integrable != y->ranks.integrable) return x->ranks.integrable < y->ranks.integrable;
    return x->ranks.first > y->ranks.first;
}

static hamel_status judge_at(forms *f, size_t k, double *x, group_result *best) {
    forms_configuration(f, &f->a->samples[k], x);
    hamel_status status = forms_choose(f, x);
    if (status != HAMEL_OK) return status;
    size_t most = f->width - f->holonomic_rank, start = f->width - f->rank, first = start, dimension = start;
    bool clear = true;
    if (f->rank > f->holonomic_rank)
        status = closure_at(f, x, 0x2545f4914f6cdd1du + k, most, &first, &dimension, &clear);
    if (status != HAMEL_OK) return status;
    group_result here = {.undetermined = !clear};
    here.ranks = (group_rank){.width = f->width,
                              .holonomic = f->holonomic_rank,
                              .velocity = f->rank - f->holonomic_rank,
                              .integrable = dimension < most ? most - dimension : 0,
                              .first = first - start,
                              .sample = k};
    if (is_better(&here, best)) *best = here;
    return HAMEL_OK;
}

/* At a generic configuration ranks are largest and the fewest combinations are integrable. */
static hamel_status judge_group(forms *f, group_result *best) {
    *best = (group_result){.undetermined = true};
    if (f->width > WIDTH_MAX) return HAMEL_OK;
    double *x = arena_alloc(&f->memory, f->width, sizeof *x);
    if (!x) return analysis_no_memory(f->a);
    for (size_t k = 0; k < SAMPLE_COUNT; k++) {
        hamel_status status = judge_at(f, k, x, best);
        if (status != HAMEL_OK && status != HAMEL_NOT_FINITE) return status;
        if (system_interrupted(f->a->system)) return f->a->error->status;
    }
    return HAMEL_OK;
}

static hamel_status add_group(analysis *a, const groups *g, size_t k, size_t *integrable, group_growth *growth) {
    const size_t *constraints = g->constraints + g->first_constraint[k];
    const int32_t *coordinates = g->coordinates + g->first_coordinate[k];
    forms f;
    group_result result = {.undetermined = true};
    hamel_status status =
        forms_create(&f, a, constraints, groups_constraints(g, k), coordinates, groups_coordinates(g, k));
    if (status == HAMEL_OK) status = judge_group(&f, &result);
    if (status == HAMEL_OK && !result.undetermined) status = growth_of_group(&f, &result.ranks, growth);
    growth->timed = f.timed;
    forms_free(&f);
    if (status != HAMEL_OK) return status;
    a->report->holonomic_rank += result.ranks.holonomic;
    a->report->velocity_rank += result.ranks.velocity;
    a->report->integrable += result.ranks.integrable;
    *integrable = result.undetermined ? 0 : result.ranks.integrable;
    if (result.undetermined) a->report->verdict = HAMEL_VERDICT_UNDETERMINED;
    return HAMEL_OK;
}

static hamel_verdict verdict(const hamel_report *r) {
    if (r->velocity_rank == 0) return HAMEL_VERDICT_NONE;
    if (r->integrable == r->velocity_rank) return HAMEL_VERDICT_HOLONOMIC;
    return r->integrable == 0 ? HAMEL_VERDICT_NONHOLONOMIC : HAMEL_VERDICT_PARTIALLY_HOLONOMIC;
}

hamel_status holonomy_derive(analysis *a) {
    groups g;
    hamel_report *r = a->report;
    analysis_begin_work(a);
    a->inputs_q = arena_alloc(a->memory, a->n, sizeof *a->inputs_q);
    a->seeds_q = arena_alloc(a->memory, a->n * PROGRAM_LANES, sizeof *a->seeds_q);
    if (!a->inputs_q || !a->seeds_q || !groups_create(&g, a->memory, a->system, a->linear))
        return analysis_no_memory(a);
    size_t *integrable = arena_alloc(a->memory, g.count, sizeof *integrable);
    group_growth *growth = arena_alloc(a->memory, g.count, sizeof *growth);
    if (!integrable || !growth) return analysis_no_memory(a);
    for (size_t k = 0; k < g.count; k++) {
        hamel_status status = add_group(a, &g, k, &integrable[k], &growth[k]);
        if (status != HAMEL_OK) return status;
    }
    if (r->verdict == HAMEL_VERDICT_UNDETERMINED) {
        r->integrable = 0;
    } else {
        r->verdict = verdict(r);
        r->accessible_dimension = a->n - r->integrable - r->holonomic_rank;
    }
    hamel_status status = growth_report(a, growth, g.count);
    if (status == HAMEL_OK && a->work.spent && !analysis_unfinished(a, "exactness")) return analysis_no_memory(a);
    return status == HAMEL_OK ? integrals_derive(a, &g, integrable) : status;
}
