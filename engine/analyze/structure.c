/* structure.c — kinds and properties of constraints, cyclic coordinates and conserved quantities.
 *
 * The velocity form f(q, q', t) = 0 of a holonomic constraint is dΦ/dt; for other constraints f is the constraint. If
 * a_ct is the part of f without velocities, then
 *   catastatic     a_ct = 0                     Papastavridis 2.2; for a holonomic constraint the same as scleronomic
 *   rheonomic      t occurs in the constraint, or a linear velocity constraint has a_ct ≠ 0: a body that is driven at a
 *                  constant rate depends on time as well (Papastavridis 2.2, examples 2.2.2 and 2.2.3). For constraints
 *                  nonlinear in the velocities and for acceleration constraints only t decides, because the book
 *                  defines a_ct for linear velocity constraints only
 *   homogeneous    f(q, s q', t) = s^k f        linear: catastatic; otherwise by Euler's theorem, q'·∂f/∂q' = k f
 *   conservative   ideal, and Σ ∂f/∂q'_i q'_i = 0 in every possible motion (Greenwood 4.351, 4.352). This includes
 *                  homogeneous f, and f with a factor that makes it inhomogeneous
 * Greenwood's test does not cover acceleration constraints; they are not reported as conservative.
 *
 * The system is conservative (Greenwood 4.7, a sufficient condition) if every force has a potential, every constraint
 * is conservative and L does not contain t. A momentum is conserved if L does not contain its coordinate and neither
 * forces nor constraint reactions act on it. Constraints and other forces may contain the coordinate, like the angle of
 * a skate. The Jacobi integral is conserved if its rate vanishes identically. A system given by its Gibbs–Appell
 * function has no Lagrangian, so no momenta and no energy are reported. */
#include "engine/analyze/analysis_int.h"
#include "engine/base/tolerances.h"
#include "engine/mechanics/cyclic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Results of the tests. */
typedef struct findings {
    bool *time_dependent, *moving; /* m: whether t occurs; whether a_ct is not 0 */
    bool *working;                 /* m: whether an ideal reaction can do work in a possible motion */
    bool *present;                 /* n: whether the coordinate occurs in L, a force or a constraint */
    bool *forced;                  /* n: whether the momentum of the coordinate changes */
    bool any_force, lagrangian_in_time, energy_flows;
    uint64_t *forced_beyond, energy_beyond; /* regions in which the momentum (n) or the energy changes */
} findings;

static bool allocate_findings(analysis *a, findings *f) {
    a->linear = arena_alloc(a->memory, a->m, sizeof *a->linear);
    a->at_rest = arena_alloc(a->memory, a->m, sizeof *a->at_rest);
    f->time_dependent = arena_alloc(a->memory, a->m, sizeof *f->time_dependent);
    f->moving = arena_alloc(a->memory, a->m, sizeof *f->moving);
    f->working = arena_alloc(a->memory, a->m, sizeof *f->working);
    f->present = arena_alloc(a->memory, a->n, sizeof *f->present);
    f->forced = arena_alloc(a->memory, a->n, sizeof *f->forced);
    f->forced_beyond = arena_alloc(a->memory, a->n, sizeof *f->forced_beyond);
    return f->forced_beyond && a->linear && a->at_rest && f->time_dependent && f->moving && f->working && f->present &&
           f->forced;
}

/* Returns f with velocities and accelerations replaced by 0. */
static graph_node at_rest(analysis *a, graph_node f, const graph_node *zeros) {
    graph *g = a->system->graph;
    return graph_substitute(g, graph_substitute(g, f, SYMBOL_ACCELERATION, zeros, a->n), SYMBOL_VELOCITY, zeros, a->n);
}

static bool is_linear(const analysis *a, size_t c) {
    size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
    if (a->model->order[c] == CONSTRAINT_ACCELERATION) return false;
    for (size_t k = first; k < first + count; k++)
        if (graph_depends(a->system->graph, a->equations.A.entries[k].node) & GRAPH_DEPENDS(SYMBOL_VELOCITY))
            return false;
    return true;
}

/* Returns q'·∂f/∂q' of constraint c. */
static graph_node euler_sum(analysis *a, size_t c) {
    hamel_system *s = a->system;
    graph_node sum = graph_number(s->graph, 0);
    size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
    for (size_t k = first; k < first + count; k++) {
        const matrix_entry *entry = &a->equations.A.entries[k];
        sum = graph_add(s->graph, sum, graph_mul(s->graph, entry->node, s->v[entry->column]));
    }
    return sum;
}

static bool needs_euler(const analysis *a, size_t c) {
    return a->model->order[c] == CONSTRAINT_VELOCITY && !a->linear[c];
}

static bool test_constraint(analysis *a, findings *f, size_t c, const graph_node *zeros) {
    assert(c < a->m);
    graph *g = a->system->graph;
    graph_node equation = a->system->constraints[c].equation, time = graph_symbol(g, SYMBOL_TIME, 0);
    a->linear[c] = is_linear(a, c);
    a->at_rest[c] =
        a->model->order[c] == CONSTRAINT_HOLONOMIC ? graph_partial(g, equation, time) : at_rest(a, equation, zeros);
    if (needs_euler(a, c) && !zero_test_add(a, euler_sum(a, c), &f->working[c])) return false;
    return zero_test_add(a, graph_partial(g, equation, time), &f->time_dependent[c]) &&
           zero_test_add(a, a->at_rest[c], &f->moving[c]);
}

/* Tests the sum of ∂/∂t over all terms of L, because single terms may cancel. */
static bool test_time(analysis *a, findings *f) {
    graph *g = a->system->graph;
    size_t count;
    graph_node *terms = energies_lagrangian_terms(a->system, &count), in_time = graph_number(g, 0);
    for (size_t k = 0; terms && k < count; k++)
        if (graph_depends(g, terms[k]) & GRAPH_DEPENDS(SYMBOL_TIME))
            in_time = graph_add(g, in_time, graph_partial(g, terms[k], graph_symbol(g, SYMBOL_TIME, 0)));
    return terms && zero_test_add(a, in_time, &f->lagrangian_in_time);
}

static bool test_coordinates(analysis *a, findings *f) {
    cyclic_conditions list = {0};
    if (!cyclic_list(&list, &a->equations)) return false;
    for (size_t k = 0; k < list.count; k++) {
        const cyclic_condition *c = &list.items[k];
        bool absent = c->place < CYCLIC_FIRST_OF_MOMENTUM;
        bool forced = !absent || c->place == CYCLIC_IN_LAGRANGIAN;
        if (absent && !zero_test_add(a, c->node, &f->present[c->coordinate])) return false;
        if (forced && !zero_test_add_regional(a, c->node, &f->forced[c->coordinate], &f->forced_beyond[c->coordinate]))
            return false;
    }
    return true;
}

static bool test_forces(analysis *a, findings *f) {
    const hamel_equations *e = &a->equations;
    for (size_t i = 0; i < a->n; i++)
        if (!zero_test_add(a, e->given[i], &f->any_force)) return false;
    return zero_test_add_regional(a, e->jacobi_rate, &f->energy_flows, &f->energy_beyond);
}

static bool add_tests(analysis *a, findings *f) {
    graph_node *zeros = node_array(a->system, a->n);
    if (!zeros || !allocate_findings(a, f)) return false;
    for (size_t c = 0; c < a->m; c++)
        if (!test_constraint(a, f, c, zeros)) return false;
    if (a->system->acceleration_energy >= 0) { /* no Lagrangian, so no momenta and no energy */
        f->lagrangian_in_time = f->energy_flows = true;
        for (size_t i = 0; i < a->n; i++) f->forced[i] = true;
    }
    return test_time(a, f) && test_coordinates(a, f) && test_forces(a, f);
}

/* Tests Euler's theorem at velocities that need not satisfy the constraint: the degree must be the same at every
 * sample. */
static hamel_status test_homogeneity(analysis *a) {
    hamel_status status = HAMEL_OK;
    graph_node *nodes = arena_alloc(a->memory, 2 * a->m, sizeof *nodes);
    double *values = arena_alloc(a->memory, 3 * a->m, sizeof *values), *degree = values ? values + 2 * a->m : NULL;
    size_t count = 0;
    if (!nodes || !values) return analysis_no_memory(a);
    for (size_t c = 0; c < a->m; c++) {
        if (!needs_euler(a, c)) continue;
        nodes[count++] = euler_sum(a, c);
        nodes[count++] = a->system->constraints[c].equation;
        a->report->constraints[c].homogeneous = true;
    }
    if (count == 0) return HAMEL_OK;
    if (graph_status(a->system->graph) != HAMEL_OK) return equations_status(a->system);
    for (size_t k = 0; k < SAMPLE_COUNT && status == HAMEL_OK; k++) {
        status = zero_values(a, &a->samples[k], true, nodes, count, values);
        for (size_t c = 0, i = 0; c < a->m && status == HAMEL_OK; c++) {
            if (!needs_euler(a, c)) continue;
            double here = values[i] / values[i + 1];
            if (k == 0) degree[c] = here;
            if (!(fabs(here - degree[c]) <= 1e-9 * fmax(1, fabs(degree[c]))))
                a->report->constraints[c].homogeneous = false;
            i += 2;
        }
    }
    return status;
}

static hamel_status report_constraints(analysis *a, const findings *f) {
    hamel_status status = test_homogeneity(a);
    for (size_t c = 0; c < a->m; c++) {
        hamel_constraint_facts *facts = &a->report->constraints[c];
        const struct hamel_constraint *described = a->system->constraints[c].described;
        facts->linear = !needs_euler(a, c); /* constraints nonlinear in the accelerations are rejected earlier */
        facts->time_dependent = f->time_dependent[c];
        facts->catastatic = !f->moving[c];
        bool pfaffian = a->linear[c] && a->model->order[c] == CONSTRAINT_VELOCITY;
        facts->rheonomic = facts->time_dependent || (pfaffian && !facts->catastatic);
        if (a->linear[c]) facts->homogeneous = facts->catastatic;
        facts->ideal = !described || (described->nonideal.count == 0 && !described->friction.pointer);
        facts->conservative = facts->ideal && (facts->homogeneous || (needs_euler(a, c) && !f->working[c]));
    }
    return status;
}

/* Adds "momentum(x)" if open = "momentum(" and name = "x", or only the name if open = "". The list must have space. */
static bool add_name(analysis *a, hamel_names *names, const char *open, const char *name) {
    char *text = arena_format(a->memory, "%s%s%s", open, name, *open ? ")" : "");
    if (text) names->items[names->count++] = text;
    return text != NULL;
}

/* Lists a quantity as conserved, or as conserved on the initial branches only. */
static bool add_conserved(analysis *a, const char *open, const char *name, uint64_t beyond) {
    hamel_report *r = a->report;
    if (beyond == 0) return add_name(a, &r->conserved, open, name);
    hamel_regional *to = &r->conserved_while[r->conserved_while_count++];
    to->name = arena_format(a->memory, "%s%s)", open, name);
    return to->name && regions_name(a, beyond, &to->conditions);
}

static bool report_system(analysis *a, const findings *f) {
    hamel_report *r = a->report;
    r->left_out.items = arena_alloc(a->memory, a->m, sizeof *r->left_out.items);
    r->cyclic.items = arena_alloc(a->memory, a->n, sizeof *r->cyclic.items);
    r->conserved.items = arena_alloc(a->memory, a->n + 1, sizeof *r->conserved.items);
    r->conserved_while = arena_alloc(a->memory, a->n + 1, sizeof *r->conserved_while);
    if (!r->conserved_while || !r->left_out.items || !r->cyclic.items || !r->conserved.items) return false;
    r->conservative = !f->any_force && !f->lagrangian_in_time;
    for (size_t c = 0; c < a->m; c++) {
        if (!r->constraints[c].conservative) r->conservative = false;
        if (!a->linear[c] && !add_name(a, &r->left_out, "", r->constraints[c].name)) return false;
    }
    if (!f->energy_flows && !add_conserved(a, "jacobi_integral(", "", f->energy_beyond)) return false;
    for (size_t i = 0; i < a->n; i++) {
        const char *name = a->system->coordinates[i].name;
        if (!f->present[i] && !add_name(a, &r->cyclic, "", name)) return false;
        if (!f->forced[i] && !add_conserved(a, "momentum(", name, f->forced_beyond[i])) return false;
    }
    return true;
}

/* Returns the status of the error that stopped the graph, or HAMEL_NO_MEMORY. */
static hamel_status stopped(analysis *a) {
    hamel_status status = equations_status(a->system);
    return status != HAMEL_OK ? status : analysis_no_memory(a);
}

hamel_status structure_derive(analysis *a) {
    findings f = {0};
    if (!add_tests(a, &f)) return stopped(a);
    hamel_status status = equations_status(a->system);
    if (status == HAMEL_OK) status = zero_tests_run(a);
    if (status == HAMEL_OK) status = report_constraints(a, &f);
    if (status != HAMEL_OK) return status;
    return report_system(a, &f) ? HAMEL_OK : analysis_no_memory(a);
}

/* Returns the rank of A from its values at one sample and marks the constraints that are independent there. */
static size_t rank_at(const analysis *a, rank_rows *basis, const double *values, double *row, bool *independent) {
    const groups *g = &a->groups;
    size_t rank = 0;
    for (size_t group = 0; group < g->count; group++) {
        rank_rows_reset(basis, groups_coordinates(g, group));
        for (size_t k = g->first_constraint[group]; k < g->first_constraint[group + 1]; k++) {
            groups_row(g, group, &a->equations.A, values, g->constraints[k], row);
            if (rank_rows_add(basis, row)) independent[g->constraints[k]] = true;
        }
        rank += basis->rank;
    }
    return rank;
}

hamel_status structure_rank(analysis *a) {
    const matrix_pattern *A = &a->equations.A;
    graph_node *nodes = arena_alloc(a->memory, A->count, sizeof *nodes);
    double *values = arena_alloc(a->memory, A->count, sizeof *values), *row = arena_alloc(a->memory, a->n, sizeof *row);
    bool *independent = arena_alloc(a->memory, a->m, sizeof *independent);
    rank_rows basis = {0};
    size_t largest = 0;
    hamel_status status = HAMEL_OK;
    if (!nodes || !values || !row || !independent ||
        !rank_rows_init(&basis, a->groups.most_constraints, a->groups.most_coordinates, SAMPLED_RANK_TOLERANCE))
        status = analysis_no_memory(a);
    for (size_t k = 0; status == HAMEL_OK && k < A->count; k++) nodes[k] = A->entries[k].node;
    for (size_t s = 0; s < SAMPLE_COUNT && status == HAMEL_OK; s++) {
        status = zero_values(a, &a->samples[s], false, nodes, A->count, values);
        size_t rank = status == HAMEL_OK ? rank_at(a, &basis, values, row, independent) : 0;
        if (rank > largest) largest = rank;
    }
    rank_rows_free(&basis);
    for (size_t c = 0; status == HAMEL_OK && c < a->m; c++) a->report->constraints[c].redundant = !independent[c];
    a->report->degrees_of_freedom = a->n - largest;
    return status;
}
