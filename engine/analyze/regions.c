/* regions.c — states on the other side of operators that change abruptly.
 *
 * abs, sign, min, max, if, floor, mod and linear tables make the description a different system on each of their
 * branches. An expression that vanishes around the start may not vanish there. So for each operator a state on each
 * neighbouring branch is sought, by Newton's method on its argument and projection onto the constraints, and claims are
 * tested there, too. If no such state is found, the report names the branch that it assumes. */
#include "engine/analyze/analysis_int.h"

#include "engine/mechanics/switches.h"

#include <math.h>
#include <string.h>

enum { STEPS = 8, SEGMENTS_MOST = 8, SWITCHES_MOST = 200 };

typedef struct search {
    analysis *a;
    sampler *states;
    const system_switch *of;
    graph_node *nodes; /* z, then its slopes by q, v and t: 2n + 2 */
    double *values;    /* as many */
    double branch;     /* at the start */
} search;

static hamel_status evaluate(search *s, const sample *at) {
    return zero_values(s->a, at, false, s->nodes, 2 * s->a->n + 2, s->values);
}

/* Moves by the least step that brings z to `target`; time only where z has nothing else. */
static void step(const search *s, sample *at, double target) {
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

static void copy_state(const analysis *a, sample *to, const sample *from) {
    to->t = from->t;
    memcpy(to->q, from->q, a->n * sizeof *to->q);
    memcpy(to->v, from->v, a->n * sizeof *to->v);
    memcpy(to->free_v, from->free_v, a->n * sizeof *to->free_v);
    memcpy(to->a, from->a, a->n * sizeof *to->a);
    memcpy(to->nonideal, from->nonideal, a->n * sizeof *to->nonideal);
    memcpy(to->lambda, from->lambda, a->m * sizeof *to->lambda);
}

/* A state with z near `target`, in the branch of the target. */
static hamel_status reach(search *s, sample *at, double target, bool *found) {
    hamel_status status = HAMEL_OK;
    *found = false;
    for (int k = 0; k < SAMPLE_COUNT && !*found && status == HAMEL_OK; k++) {
        copy_state(s->a, at, &s->a->samples[k]);
        for (int i = 0; i < STEPS && status == HAMEL_OK && !*found; i++) {
            status = evaluate(s, at);
            if (status != HAMEL_OK || !isfinite(s->values[0])) break;
            step(s, at, target);
            bool settled = sampler_settle(s->states, at);
            if (settled) status = evaluate(s, at);
            *found =
                settled && status == HAMEL_OK && switch_branch(s->of, s->values[0]) == switch_branch(s->of, target);
        }
    }
    return status;
}

/* Values of z on other branches than that of z0. */
static size_t list_targets(const system_switch *w, double z0, double *targets) {
    size_t count = 0;
    if (w->kind == SWITCH_SIGN) {
        double size = fmax(fabs(z0), 0.1);
        targets[count++] = z0 > 0 ? -size : size;
        targets[count++] = z0 > 0 ? -10 * size : 10 * size;
    } else if (w->kind == SWITCH_FLOOR) {
        targets[count++] = floor(z0) + 1.5;
        targets[count++] = floor(z0) - 0.5;
    } else if (w->kind == SWITCH_TABLE) {
        size_t each = (w->table->count - 2) / SEGMENTS_MOST + 1;
        for (size_t i = 0; i + 1 < w->table->count && count < SEGMENTS_MOST; i += each)
            targets[count++] = w->table->x[i] + 0.5 * (w->table->x[i + 1] - w->table->x[i]);
    }
    return count;
}

static bool add_region(analysis *a, const sample *at, size_t which) {
    if (!a->others) a->others = arena_alloc(a->memory, REGIONS_MOST, sizeof *a->others);
    if (!a->others || a->other_count == REGIONS_MOST) return a->others != NULL;
    region *r = &a->others[a->other_count];
    if (!sample_allocate(a, &r->at)) return false;
    copy_state(a, &r->at, at);
    r->which = which;
    a->other_count++;
    return true;
}

/* "x < 5" of z = x − 5, as it is at the start. */
static bool condition_text(analysis *a, const system_switch *w, double branch, const char **text) {
    graph *g = a->system->graph;
    graph_node z = w->written, right = graph_number(g, 0);
    double number;
    if (w->kind == SWITCH_FLOOR) {
        z = graph_literal(g, GRAPH_EQ, graph_literal(g, GRAPH_FLOOR, z, GRAPH_NONE), graph_number(g, branch));
        return z >= 0 && analysis_text(a, z, text);
    }
    if (w->kind == SWITCH_TABLE) {
        ptrdiff_t i = table_segment(w->table, branch);
        bool last = (size_t)(i + 1) >= w->table->count;
        graph_node edge = graph_number(g, i < 0 ? w->table->x[0] : w->table->x[last ? (size_t)i : (size_t)i + 1]);
        return analysis_text(a, graph_literal(g, last ? GRAPH_GT : GRAPH_LT, z, edge), text);
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
    return analysis_text(a, graph_literal(g, branch > 0 ? GRAPH_GT : GRAPH_LT, left, right), text);
}

bool region_condition(analysis *a, size_t which, const char **text) {
    return condition_text(a, &a->system->switches[which], a->branches[which], text);
}

bool regions_name(analysis *a, uint64_t beyond, hamel_names *names) {
    names->items = arena_alloc(a->memory, a->other_count, sizeof *names->items);
    if (!names->items) return false;
    for (size_t k = 0; k < a->other_count; k++) {
        bool known = !(beyond >> k & 1);
        for (size_t j = 0; j < k && !known; j++) known = (beyond >> j & 1) && a->others[j].which == a->others[k].which;
        if (!known && !region_condition(a, a->others[k].which, &names->items[names->count++])) return false;
    }
    return true;
}

static bool assume(analysis *a, size_t which) {
    hamel_names *names = &a->report->assumed;
    if (!names->items) names->items = arena_alloc(a->memory, SWITCHES_MOST, sizeof *names->items);
    return names->items && region_condition(a, which, &names->items[names->count++]);
}

static hamel_status search_one(search *s, size_t which, sample *at) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    const system_switch *w = s->of = &a->system->switches[which];
    double targets[SEGMENTS_MOST + 2];
    bool any = false, found = false;
    graph_node *slope = s->nodes + 1;
    s->nodes[0] = w->written;
    for (size_t i = 0; i < a->n; i++) slope[i] = graph_partial(g, w->written, a->system->q[i]);
    for (size_t i = 0; i < a->n; i++) slope[a->n + i] = graph_partial(g, w->written, a->system->v[i]);
    slope[2 * a->n] = graph_partial(g, w->written, graph_symbol(g, SYMBOL_TIME, 0));
    if (graph_status(g) != HAMEL_OK) return equations_status(a->system);
    hamel_status status = evaluate(s, a->start_known ? &a->start : &a->samples[0]);
    if (status != HAMEL_OK) return status;
    a->branches[which] = switch_branch(w, s->values[0]);
    size_t count = list_targets(w, s->values[0], targets);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        if (switch_branch(w, targets[k]) == a->branches[which] || (any && w->kind == SWITCH_SIGN)) continue;
        status = reach(s, at, targets[k], &found);
        if (found && !add_region(a, at, which)) status = analysis_no_memory(a);
        any |= found;
    }
    if (status == HAMEL_OK && !any && count > 0 && !assume(a, which)) status = analysis_no_memory(a);
    return status;
}

hamel_status regions_draw(analysis *a) {
    const unsigned solved = GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL) |
                            GRAPH_DEPENDS(SYMBOL_NONIDEAL) | GRAPH_DEPENDS(SYMBOL_ACCELERATION);
    const hamel_system *system = a->system;
    search s = {.a = a};
    sample at;
    size_t count = system->switch_count < SWITCHES_MOST ? system->switch_count : SWITCHES_MOST;
    hamel_status status = HAMEL_OK;
    if (count == 0) return HAMEL_OK;
    s.nodes = arena_alloc(a->memory, 2 * a->n + 2, sizeof *s.nodes);
    s.values = arena_alloc(a->memory, 2 * a->n + 2, sizeof *s.values);
    a->branches = arena_alloc(a->memory, count, sizeof *a->branches);
    s.states = sampler_create(a, 1);
    if (!s.nodes || !s.values || !a->branches || !s.states || !sample_allocate(a, &at)) status = analysis_no_memory(a);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++)
        if (!(graph_depends(system->graph, system->switches[k].written) & solved)) status = search_one(&s, k, &at);
    sampler_free(s.states);
    return status;
}
