/* regions.c — states on other branches of nonsmooth operators.
 *
 * A description with abs, sign, min, max, if, floor, mod or linear tables is a different system on each branch of these
 * operators. An expression that vanishes on the initial branches can be nonzero on other branches. For each branch of
 * an operator, the search alternates Newton steps on the operator's argument with projections onto the constraints.
 * From the states found, the search continues to further combinations of branches. The results of the analysis are
 * tested at all states found. If no state is found on another branch of an operator, the initial branch is reported as
 * assumed. */
#include "engine/analyze/analysis_int.h"

#include "engine/mechanics/nonsmooth.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { STEPS = 8, SEGMENTS_MOST = 8, NONSMOOTH_MOST = 200 };
/* Upper bound on the number of searches for combinations of branches. If more searches are possible, the report has a
 * warning. The bound suffices for six operators with two branches each: 63 combinations in addition to the initial one,
 * and six searches from each combination. */
enum { COMBINING_MOST = 400 };

typedef struct search {
    analysis *a;
    sampler *states;
    size_t count;          /* number of nonsmooth operators */
    bool *open;            /* count: true if the argument depends on t, q and q' only, as the search requires */
    size_t of;             /* index of the operator whose branch is being changed */
    graph_node *arguments; /* count: argument z of each operator */
    graph_node *nodes;     /* count · (2n + 2): z, then its derivatives with respect to q, v and t */
    double *values;        /* scratch: 2n + 2, or count */
    double *branches;      /* (2 + REGIONS_MOST) · count: initial branches, branches of each region, scratch */
} search;

static hamel_status evaluate_argument(search *s, const sample *at) {
    size_t each = 2 * s->a->n + 2;
    return zero_values(s->a, at, false, s->nodes + s->of * each, each, s->values);
}

/* Makes the shortest step along which the linearized z reaches `target`. Changes time only if z does not depend on
 * positions or velocities. */
static void step_to_target(const search *s, sample *at, double target) {
    size_t n = s->a->n;
    const double *slope = s->values + 1;
    double square = 0, missing = target - s->values[0];
    for (size_t i = 0; i < 2 * n; i++) square += slope[i] * slope[i];
    if (square > 0) {
        for (size_t i = 0; i < n; i++) at->q[i] += missing / square * slope[i];
        for (size_t i = 0; i < n; i++) at->v[i] += missing / square * slope[n + i];
    } else if (slope[2 * n] != 0) {
        at->t = fmax(s->a->model->settings.start, at->t + missing / slope[2 * n]);
    }
}

/* Searches for a state on the branch of `target`, beginning at `at`. */
static hamel_status reach(search *s, sample *at, double target, bool *found) {
    hamel_status status = HAMEL_OK;
    const system_nonsmooth *w = &s->a->system->nonsmooth[s->of];
    *found = false;
    for (int i = 0; i < STEPS && status == HAMEL_OK && !*found; i++) {
        status = evaluate_argument(s, at);
        if (status != HAMEL_OK || !isfinite(s->values[0])) break;
        step_to_target(s, at, target);
        bool settled = sampler_settle(s->states, at);
        if (settled) status = evaluate_argument(s, at);
        *found = settled && status == HAMEL_OK && nonsmooth_branch(w, s->values[0]) == nonsmooth_branch(w, target);
    }
    return status;
}

/* Lists values of z that lie on other branches than z0. */
static size_t list_targets(const system_nonsmooth *w, double z0, double *targets) {
    assert(w->kind != NONSMOOTH_TABLE || w->table->count >= 2);
    size_t count = 0;
    if (w->kind == NONSMOOTH_SIGN) {
        double size = fmax(fabs(z0), 0.1);
        targets[count++] = z0 > 0 ? -size : size;
        targets[count++] = z0 > 0 ? -10 * size : 10 * size;
    } else if (w->kind == NONSMOOTH_FLOOR) {
        targets[count++] = floor(z0) + 1.5;
        targets[count++] = floor(z0) - 0.5;
    } else if (w->kind == NONSMOOTH_TABLE) {
        size_t each = (w->table->count - 2) / SEGMENTS_MOST + 1;
        for (size_t i = 0; i + 1 < w->table->count && count < SEGMENTS_MOST; i += each)
            targets[count++] = w->table->x[i] + 0.5 * (w->table->x[i + 1] - w->table->x[i]);
    }
    return count;
}

static bool is_known_combination(const search *s, const double *branches) {
    for (size_t r = 0; r <= s->a->other_count; r++)
        if (memcmp(s->branches + r * s->count, branches, s->count * sizeof *branches) == 0) return true;
    return false;
}

/* Finds the branch of each operator at a state. If open[k] is false, the branch of operator k is set to 0. */
static hamel_status find_branches(search *s, const sample *at, double *branches) {
    hamel_status status = zero_values(s->a, at, false, s->arguments, s->count, s->values);
    for (size_t k = 0; k < s->count && status == HAMEL_OK; k++)
        branches[k] =
            s->open[k] ? nonsmooth_branch(&s->a->system->nonsmooth[k], s->values[k]) + 0.0 : 0; /* avoids −0 */
    return status;
}

/* Adds the state as a new region if its combination of branches is new and the list is not full. Sets `which` of the
 * new region to operator s->of if that operator has left its initial branch, otherwise to another operator that has
 * left its initial branch. */
static hamel_status add_region(search *s, const sample *at) {
    assert(s->of < s->count);
    analysis *a = s->a;
    region *r = &a->others[a->other_count];
    if (a->other_count == REGIONS_MOST) return HAMEL_OK;
    double *branches = s->branches + (1 + a->other_count) * s->count;
    hamel_status status = find_branches(s, at, branches);
    if (status != HAMEL_OK || is_known_combination(s, branches)) return status;
    r->which = s->of;
    for (size_t k = 0; branches[r->which] == s->branches[r->which] && k < s->count; k++)
        if (branches[k] != s->branches[k]) r->which = k;
    if (!sample_allocate(a, &r->at)) return analysis_no_memory(a);
    sample_copy(a, &r->at, at);
    a->other_count++;
    return HAMEL_OK;
}

/* Returns the condition of a branch, for example x < 5 if z = x − 5 and z < 0 on the branch. */
static graph_node branch_condition(graph *g, const system_nonsmooth *w, double branch) {
    graph_node z = w->written, right = graph_number(g, 0);
    double number;
    if (w->kind == NONSMOOTH_FLOOR)
        return graph_literal(g, GRAPH_EQ, graph_literal(g, GRAPH_FLOOR, z, GRAPH_NONE), graph_number(g, branch));
    if (w->kind == NONSMOOTH_TABLE) {
        ptrdiff_t i = table_segment(w->table, branch);
        bool last = (size_t)(i + 1) >= w->table->count;
        graph_node edge = graph_number(g, i < 0 ? w->table->x[0] : w->table->x[last ? (size_t)i : (size_t)i + 1]);
        return graph_literal(g, last ? GRAPH_GT : GRAPH_LT, z, edge);
    }
    if (graph_at(g, z)->op == GRAPH_NEG) {
        z = graph_at(g, z)->as.operand[0];
        branch = -branch;
    }
    const graph_cell cell = *graph_at(g, z);
    graph_node left = z;
    if (cell.op == GRAPH_SUB) {
        left = cell.as.operand[0];
        right = cell.as.operand[1];
    } else if (cell.op == GRAPH_ADD && graph_is_number(g, cell.as.operand[0], &number)) {
        left = cell.as.operand[1];
        right = graph_number(g, -number);
    }
    if (graph_is_number(g, left, NULL)) { /* 5 − x */
        graph_node swap = left;
        left = right;
        right = swap;
        branch = -branch;
    }
    return graph_literal(g, branch > 0 ? GRAPH_GT : GRAPH_LT, left, right);
}

/* Adds the condition of the initial branch of an operator. Returns false if out of memory. */
static bool add_condition(analysis *a, size_t which, hamel_names *names) {
    graph_node condition = branch_condition(a->system->graph, &a->system->nonsmooth[which], a->branches[which]);
    const char *text = condition >= 0 ? analysis_text(a, condition, ANALYSIS_TEXT_MOST) : NULL;
    if (text) names->items[names->count++] = text;
    return text != NULL;
}

bool regions_name(analysis *a, uint64_t beyond, hamel_names *names) {
    assert(a->other_count <= REGIONS_MOST && REGIONS_MOST <= 64);
    names->items = arena_alloc(a->memory, a->other_count, sizeof *names->items);
    if (!names->items) return false;
    for (size_t k = 0; k < a->other_count; k++) {
        bool known = !(beyond >> k & 1);
        for (size_t j = 0; j < k && !known; j++) known = (beyond >> j & 1) && a->others[j].which == a->others[k].which;
        if (!known && !add_condition(a, a->others[k].which, names)) return false;
    }
    return true;
}

/* Searches for states on the other branches of one operator. If no such state is found, reports the initial branch of
 * the operator as assumed. */
static hamel_status search_one(search *s, size_t which, sample *at) {
    analysis *a = s->a;
    const system_nonsmooth *w = &a->system->nonsmooth[which];
    double targets[SEGMENTS_MOST + 2];
    bool any = false, found = false;
    s->of = which;
    hamel_status status = evaluate_argument(s, a->start_known ? &a->start : &a->samples[0]);
    if (status != HAMEL_OK) return status;
    size_t count = list_targets(w, s->values[0], targets);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        if (nonsmooth_branch(w, targets[k]) == a->branches[which] || (any && w->kind == NONSMOOTH_SIGN)) continue;
        found = false;
        for (int i = 0; i < SAMPLE_COUNT && !found && status == HAMEL_OK; i++) {
            sample_copy(a, at, &a->samples[i]);
            status = reach(s, at, targets[k], &found);
        }
        if (status == HAMEL_OK && found) status = add_region(s, at);
        any |= found;
    }
    bool assumed = status == HAMEL_OK && !any && count > 0;
    return assumed && !add_condition(a, which, &a->report->assumed) ? analysis_no_memory(a) : status;
}

/* Searches from region `from` for new combinations: operator `which` changes its branch, and the other operators keep
 * their branches. */
static hamel_status combine_branches(search *s, size_t from, size_t which, sample *at, size_t *tries) {
    assert(from < s->a->other_count && s->open[which]);
    analysis *a = s->a;
    const system_nonsmooth *w = &a->system->nonsmooth[which];
    double targets[SEGMENTS_MOST + 2], *planned = s->branches + (1 + REGIONS_MOST) * s->count;
    bool found = false;
    s->of = which;
    hamel_status status = evaluate_argument(s, &a->others[from].at);
    if (status != HAMEL_OK) return status;
    size_t count = list_targets(w, s->values[0], targets);
    for (size_t k = 0; k < count && !found && status == HAMEL_OK; k++) {
        memcpy(planned, s->branches + (1 + from) * s->count, s->count * sizeof *planned);
        planned[which] = nonsmooth_branch(w, targets[k]);
        if (is_known_combination(s, planned)) continue;
        ++*tries;
        sample_copy(a, at, &a->others[from].at);
        status = reach(s, at, targets[k], &found);
        if (status == HAMEL_OK && found) status = add_region(s, at);
    }
    return status;
}

static hamel_status warn_of_combinations(analysis *a) {
    char *text = arena_format(a->memory,
                              "nonsmooth operators have more combinations of branches than the analysis tries; the "
                              "results were tested on %zu of them",
                              a->other_count + 1);
    a->report->warnings.items[a->report->warnings.count++] = text;
    return text ? HAMEL_OK : analysis_no_memory(a);
}

static hamel_status search_combinations(search *s, sample *at) {
    analysis *a = s->a;
    size_t tries = 0;
    hamel_status status = HAMEL_OK;
    for (size_t from = 0; from < a->other_count; from++)
        for (size_t k = 0; k < s->count && status == HAMEL_OK; k++) {
            if (!s->open[k]) continue;
            if (tries >= COMBINING_MOST || a->other_count == REGIONS_MOST) return warn_of_combinations(a);
            status = combine_branches(s, from, k, at, &tries);
        }
    return status;
}

static bool allocate_regions(search *s, sample *at) {
    analysis *a = s->a;
    s->nodes = arena_alloc(a->memory, s->count * (2 * a->n + 2), sizeof *s->nodes);
    s->arguments = arena_alloc(a->memory, s->count, sizeof *s->arguments);
    s->open = arena_alloc(a->memory, s->count, sizeof *s->open);
    s->values = arena_doubles(a->memory, s->count + 2 * a->n + 2);
    s->branches = arena_doubles(a->memory, (2 + REGIONS_MOST) * s->count);
    a->others = arena_alloc(a->memory, REGIONS_MOST, sizeof *a->others);
    a->report->assumed.items = arena_alloc(a->memory, s->count, sizeof(char *));
    s->states = sampler_create(a, 1);
    return s->states && sample_allocate(a, at) && !a->memory->failed;
}

/* Lists the arguments of all nonsmooth operators with their derivatives, and finds the initial branches. */
static hamel_status list_arguments(search *s) {
    const unsigned solved = GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL) |
                            GRAPH_DEPENDS(SYMBOL_NONIDEAL) | GRAPH_DEPENDS(SYMBOL_ACCELERATION);
    analysis *a = s->a;
    hamel_system *system = a->system;
    graph *g = system->graph;
    for (size_t k = 0; k < s->count; k++) {
        graph_node z = s->arguments[k] = system->nonsmooth[k].written, *node = s->nodes + k * (2 * a->n + 2);
        s->open[k] = !(graph_depends(g, z) & solved);
        if (!s->open[k]) z = s->arguments[k] = graph_number(g, 0);
        *node++ = z;
        for (size_t i = 0; i < a->n; i++) *node++ = graph_partial(g, z, system->q[i]);
        for (size_t i = 0; i < a->n; i++) *node++ = graph_partial(g, z, system->v[i]);
        *node = graph_partial(g, z, graph_symbol(g, SYMBOL_TIME, 0));
    }
    if (graph_status(g) != HAMEL_OK) return equations_status(system);
    a->branches = s->branches;
    return find_branches(s, a->start_known ? &a->start : &a->samples[0], a->branches);
}

hamel_status regions_draw(analysis *a) {
    search s = {.a = a,
                .count = a->system->nonsmooth_count < NONSMOOTH_MOST ? a->system->nonsmooth_count : NONSMOOTH_MOST};
    sample at;
    if (s.count == 0) return HAMEL_OK;
    hamel_status status = allocate_regions(&s, &at) ? list_arguments(&s) : analysis_no_memory(a);
    for (size_t k = 0; k < s.count && status == HAMEL_OK; k++)
        if (s.open[k]) status = search_one(&s, k, &at);
    if (status == HAMEL_OK) status = search_combinations(&s, &at);
    sampler_free(s.states);
    return status;
}
