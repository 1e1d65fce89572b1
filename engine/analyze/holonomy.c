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

static hamel_status add_group(analysis *a, const groups *g, size_t k, size_t *integrable, bool *undetermined) {
    const size_t *constraints = g->constraints + g->first_constraint[k];
    const int32_t *coordinates = g->coordinates + g->first_coordinate[k];
    forms f;
    group_result result;
    hamel_status status =
        forms_create(&f, a, constraints, groups_constraints(g, k), coordinates, groups_coordinates(g, k));
    if (status == HAMEL_OK) status = judge_group(&f, &result);
    forms_free(&f);
    if (status != HAMEL_OK) return status;
    a->report->holonomic_rank += result.holonomic_rank;
    a->report->velocity_rank += result.velocity_rank;
    a->report->integrable += result.integrable;
    *integrable = result.undetermined ? 0 : result.integrable;
    if (result.undetermined) *undetermined = true;
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
    bool undetermined = false;
    a->inputs_q = arena_alloc(a->memory, a->n, sizeof *a->inputs_q);
    a->seeds_q = arena_alloc(a->memory, a->n * PROGRAM_LANES, sizeof *a->seeds_q);
    if (!a->inputs_q || !a->seeds_q || !groups_create(&g, a->memory, a->system, a->linear))
        return analysis_no_memory(a);
    size_t *integrable = arena_alloc(a->memory, g.count, sizeof *integrable);
    if (!integrable) return analysis_no_memory(a);
    for (size_t k = 0; k < g.count; k++) {
        hamel_status status = add_group(a, &g, k, &integrable[k], &undetermined);
        if (status != HAMEL_OK) return status;
    }
    r->verdict = undetermined ? HAMEL_VERDICT_UNDETERMINED : verdict(r);
    if (undetermined)
        r->integrable = 0;
    else
        r->accessible_dimension = a->n - r->integrable - r->holonomic_rank;
    return integrals_derive(a, &g, integrable);
}
