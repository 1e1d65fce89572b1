/* holonomy.c — number of integrable combinations of the linear velocity constraints.
 *
 * The constraints' one-forms in (q, t), which include dΦ of holonomic constraints, annihilate a distribution D. A
 * combination is integrable if it also annihilates closure(D), the smallest involutive distribution that contains D
 * (Frobenius). These combinations are the last member of the derived flag I0 > I1 > ... (Papastavridis 2.8, 2.12). The
 * number of integrable combinations is
 *
 *     integrable = dim (q, t) − rank dΦ − dim closure(D)
 *
 * This number is determined separately for each group of constraints that share coordinates. Time occurs in several
 * groups but does not couple them, because no form is a multiple of dt. closure.c finds the dimensions at several
 * random configurations. For a group that is too wide for closure.c, the number is determined only if first-order
 * brackets add no direction or all directions. In the first case all combinations are integrable. In the second case no
 * combination is integrable.
 *
 * Acceleration constraints, and constraints that are nonlinear in the velocities, have no one-forms and are omitted. */
#include "engine/analyze/growth_vector.h"

#include <assert.h>

/* Largest numbers of coordinates of a group: WIDTH_MAX for first-order brackets, CLOSURE_WIDTH_MAX for closures. These
 * limits bound the time, which grows at least with the cube of the number of coordinates. For larger groups the verdict
 * is undetermined. */
enum { WIDTH_MAX = 1000, CLOSURE_WIDTH_MAX = 96 };

/* Contribution of one group to the report. */
typedef struct group_result {
    group_rank ranks; /* ranks on the branch with the fewest integrable combinations */
    bool undetermined;
    size_t near;                         /* number of combinations that are integrable on the initial branches */
    uint64_t beyond;                     /* regions with fewer or different integrable combinations */
    size_t start_rank, start_integrable; /* values of ranks.velocity and ranks.integrable in the initial state */
} group_result;

/* Finds the dimensions of D + [D, D] and of the closure of D at one configuration. `most` is the dimension that the
 * holonomic constraints allow. */
static hamel_status closure_at(forms *f, const double *x, bool reached, size_t most, size_t *first, size_t *dimension,
                               bool *clear) {
    assert(f->rank <= f->width && f->holonomic_rank <= f->rank);
    const uint64_t seed = 0x2545f4914f6cdd1du;
    hamel_status status = HAMEL_OK;
    *clear = false;
    if (f->width <= CLOSURE_WIDTH_MAX) status = closure_dimension(f, x, seed, reached, first, dimension, clear);
    if (status != HAMEL_OK || *clear || reached) return status;
    status = brackets_dimension(f, x, dimension);
    *first = *dimension;
    *clear = *dimension == f->width - f->rank || *dimension == most;
    return status;
}

/* Returns true if the configuration of x is more generic than that of y. */
static bool is_better(const group_result *x, const group_result *y) {
    size_t rank = x->ranks.holonomic + x->ranks.velocity, known = y->ranks.holonomic + y->ranks.velocity;
    if (rank != known) return rank > known;
    if (x->undetermined || y->undetermined) return y->undetermined && !x->undetermined;
    if (x->ranks.integrable != y->ranks.integrable) return x->ranks.integrable < y->ranks.integrable;
    return x->ranks.first > y->ranks.first;
}

static hamel_status ranks_at(forms *f, const sample *at, bool reached, double *x, group_result *best) {
    forms_configuration(f, at, x);
    hamel_status status = forms_choose(f, x);
    if (status != HAMEL_OK) return status;
    size_t most = f->width - f->holonomic_rank, start = f->width - f->rank, first = start, dimension = start;
    bool clear = true;
    if (f->rank > f->holonomic_rank) status = closure_at(f, x, reached, most, &first, &dimension, &clear);
    group_result here = {.undetermined = !clear};
    here.ranks = (group_rank){.width = f->width,
                              .holonomic = f->holonomic_rank,
                              .velocity = f->rank - f->holonomic_rank,
                              .integrable = dimension < most ? most - dimension : 0,
                              .first = first - start,
                              .at = at};
    if (status == HAMEL_OK && is_better(&here, best)) *best = here;
    return status;
}

/* Finds the ranks at a single state. If that state is singular, clears the error and leaves there->undetermined true
 * and there->ranks zero. */
static hamel_status ranks_alone(forms *f, const sample *at, bool reached, double *x, group_result *there) {
    *there = (group_result){.undetermined = true};
    hamel_status status = ranks_at(f, at, reached, x, there);
    if (status != HAMEL_NOT_FINITE && status != HAMEL_INCOMPATIBLE) return status;
    hamel_error_clear(f->a->error);
    return HAMEL_OK;
}

/* Returns true if the sign or interval of z selects the branch of this operation. nonsmooth.c defines the form of z. */
static bool branches_by(graph *g, const graph_cell *cell, graph_node z) {
    graph_node x = cell->as.operand[0], y = cell->as.operand[1];
    graph_op op = (graph_op)cell->op;
    if (op == GRAPH_CEIL) return graph_neg(g, x) == z;
    if (op == GRAPH_MOD) return graph_div(g, x, y) == z;
    if (op == GRAPH_MIN || op == GRAPH_MAX || (op >= GRAPH_LT && op <= GRAPH_NE))
        return graph_sub(g, x, y) == z || graph_sub(g, y, x) == z;
    return x == z && (op == GRAPH_ABS || op == GRAPH_SIGN || op == GRAPH_FLOOR || op == GRAPH_TABLE);
}

/* Returns true if the forms contain the nonsmooth operator that is not on its initial branch in region k. */
static bool has_nonsmooth(forms *f, size_t k) {
    graph *g = f->a->system->graph;
    graph_node *below, written = f->a->system->nonsmooth[f->a->others[k].which].written;
    size_t count = graph_below(g, f->nodes, f->entry_count, &f->memory, &below);
    for (size_t i = 0; i < count; i++) {
        graph_cell cell = *graph_at(g, below[i]);
        if (branches_by(g, &cell, written)) return true;
    }
    return false;
}

/* Considers the regions with the same numbers of independent constraints. Sets best->ranks to the ranks of the region
 * with the fewest integrable combinations if these are fewer than at the samples. If combinations are integrable on the
 * initial branches, marks the regions in best->beyond, because the integrals differ between branches. */
static hamel_status ranks_in_regions(forms *f, double *x, group_result *best) {
    const analysis *a = f->a;
    for (size_t k = 0; k < a->other_count; k++) {
        group_result there;
        if (!has_nonsmooth(f, k)) continue;
        hamel_status status = ranks_alone(f, &a->others[k].at, false, x, &there);
        if (status != HAMEL_OK) return status;
        if (there.undetermined || there.ranks.holonomic != best->ranks.holonomic ||
            there.ranks.velocity != best->ranks.velocity || best->near == 0 || there.ranks.integrable > best->near)
            continue;
        best->beyond |= UINT64_C(1) << k;
        if (there.ranks.integrable >= best->ranks.integrable) continue;
        best->ranks = there.ranks;
        best->ranks.regional = true;
    }
    return HAMEL_OK;
}

/* Also counts the integrable combinations in the initial state, which may be singular. */
static hamel_status ranks_at_start(forms *f, double *x, group_result *best) {
    group_result there;
    best->start_rank = best->ranks.velocity;
    best->start_integrable = best->near;
    if (!f->a->start_known) return HAMEL_OK;
    hamel_status status = ranks_alone(f, &f->a->start, true, x, &there);
    if (status != HAMEL_OK || there.ranks.width == 0 || there.ranks.holonomic != best->ranks.holonomic) return status;
    best->start_rank = there.ranks.velocity;
    if (!there.undetermined && best->start_rank == best->ranks.velocity)
        best->start_integrable = there.ranks.integrable;
    if (best->start_integrable == best->ranks.integrable) return HAMEL_OK;
    for (size_t k = 0; k < f->a->other_count; k++) /* samples near the initial state may be on other branches */
        if (has_nonsmooth(f, k)) best->beyond |= UINT64_C(1) << k;
    return HAMEL_OK;
}

/* Finds the ranks of a group at the samples and keeps those of the most generic sample. At this sample, ranks are
 * largest and the fewest combinations are integrable. */
static hamel_status ranks_of_group(forms *f, group_result *best) {
    *best = (group_result){.undetermined = true};
    if (f->width > WIDTH_MAX) return HAMEL_OK;
    double *x = arena_doubles(&f->memory, f->width);
    if (!x) return analysis_no_memory(f->a);
    for (size_t k = 0; k < SAMPLE_COUNT; k++) {
        hamel_status status = ranks_at(f, &f->a->samples[k], false, x, best);
        if (status != HAMEL_OK && status != HAMEL_NOT_FINITE) return status;
        if (system_interrupted(f->a->system)) return f->a->error->status;
    }
    if (best->undetermined) return HAMEL_OK;
    best->near = best->ranks.integrable;
    hamel_status status = ranks_at_start(f, x, best);
    return status == HAMEL_OK ? ranks_in_regions(f, x, best) : status;
}

static hamel_status add_group(analysis *a, const groups *g, size_t k, size_t *integrable, group_flags *growth,
                              uint64_t *beyond) {
    forms f;
    group_result result = {.undetermined = true};
    hamel_status status = forms_create(&f, a, g, k);
    if (status == HAMEL_OK) status = ranks_of_group(&f, &result);
    if (status == HAMEL_OK && !result.undetermined) status = flags_of_group(&f, &result.ranks, growth);
    growth->timed = f.timed;
    forms_free(&f);
    if (status != HAMEL_OK) return status;
    a->report->holonomic_rank += result.ranks.holonomic;
    a->report->velocity_rank += result.ranks.velocity;
    a->report->integrable += result.ranks.integrable;
    a->report->at_start.velocity_rank += result.start_rank;
    a->report->at_start.integrable += result.start_integrable;
    *beyond |= result.beyond;
    *integrable = result.undetermined ? 0 : result.ranks.integrable;
    if (result.undetermined) a->report->verdict = HAMEL_VERDICT_UNDETERMINED;
    return HAMEL_OK;
}

static hamel_verdict verdict(size_t velocity_rank, size_t integrable) {
    assert(integrable <= velocity_rank);
    if (velocity_rank == 0) return HAMEL_VERDICT_NONE;
    if (integrable == velocity_rank) return HAMEL_VERDICT_HOLONOMIC;
    return integrable == 0 ? HAMEL_VERDICT_NONHOLONOMIC : HAMEL_VERDICT_PARTIALLY_HOLONOMIC;
}

/* Reports the verdict for motions from the initial state if it differs from the verdict for generic states. */
static hamel_status report_start(analysis *a, uint64_t beyond) {
    hamel_report *r = a->report;
    hamel_start_verdict *s = &r->at_start;
    if (r->verdict == HAMEL_VERDICT_UNDETERMINED) return HAMEL_OK;
    s->differs = s->velocity_rank != r->velocity_rank || s->integrable != r->integrable || beyond != 0;
    s->verdict = HAMEL_VERDICT_UNDETERMINED;
    if (!s->differs) return HAMEL_OK;
    if (s->velocity_rank == r->velocity_rank) {
        s->verdict = verdict(s->velocity_rank, s->integrable);
        s->accessible_dimension = a->n - s->integrable - r->holonomic_rank;
    } else {
        s->integrable = 0;
    }
    return beyond == 0 || regions_name(a, beyond, &s->conditions) ? HAMEL_OK : analysis_no_memory(a);
}

hamel_status holonomy_derive(analysis *a) {
    groups g;
    hamel_report *r = a->report;
    uint64_t beyond = 0;
    analysis_begin_work(a);
    a->inputs_q = arena_doubles(a->memory, a->n);
    a->seeds_q = arena_doubles(a->memory, a->n * PROGRAM_LANES);
    if (!groups_create(&g, a->memory, a->system, a->linear)) return analysis_no_memory(a);
    size_t *integrable = arena_alloc(a->memory, g.count, sizeof *integrable);
    group_flags *growth = arena_alloc(a->memory, g.count, sizeof *growth);
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t k = 0; k < g.count; k++) {
        hamel_status status = add_group(a, &g, k, &integrable[k], &growth[k], &beyond);
        if (status != HAMEL_OK) return status;
    }
    if (r->verdict == HAMEL_VERDICT_UNDETERMINED) {
        r->integrable = 0;
    } else {
        r->verdict = verdict(r->velocity_rank, r->integrable);
        r->accessible_dimension = a->n - r->integrable - r->holonomic_rank;
    }
    hamel_status status = flags_report(a, growth, g.count);
    if (status == HAMEL_OK) status = report_start(a, beyond);
    if (a->work.spent) analysis_unfinished(a, "exactness");
    return status == HAMEL_OK ? integrals_derive(a, &g, integrable) : status;
}
