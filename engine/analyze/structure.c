/* structure.c — kinds and properties of constraints, cyclic coordinates, conserved quantities, and coupling.
 *
 * The velocity form f(q, q', t) = 0 of a holonomic constraint is dΦ/dt. For other constraints, f is the constraint
 * itself. The part of f without velocities is a_ct. Constraints have these properties:
 *   catastatic     a_ct = 0                     Papastavridis 2.2; for a holonomic constraint the same as scleronomic
 *   rheonomic      t occurs in the constraint, or a linear velocity constraint has a_ct ≠ 0 (Papastavridis 2.2)
 *   homogeneous    f(q, s q', t) = s^k f        linear: catastatic; otherwise by Euler's theorem, q'·∂f/∂q' = k f
 *   conservative   ideal, and Σ ∂f/∂q'_i q'_i = 0 in every possible motion (Greenwood 4.351, 4.352). Examples
 *                  are homogeneous f, and products of a homogeneous f and an inhomogeneous factor.
 * Greenwood's test does not cover acceleration constraints, so they are not reported as conservative.
 *
 * The system is conservative (Greenwood 4.7, a sufficient condition) if every force has a potential, every constraint
 * is conservative and L does not contain t. A momentum is conserved if L does not contain its coordinate and neither
 * forces nor constraint reactions act on that coordinate. Constraints and the forces on other coordinates may contain
 * that coordinate. An example is the angle of a skate. The Jacobi integral is conserved if its rate vanishes
 * identically. A system described by its Gibbs–Appell function has no Lagrangian, so no momenta and no energy are
 * reported.
 *
 * The index is that of the differential-algebraic equations M q'' = Q + Aᵀλ with the constraints as written. The index
 * is 3 with holonomic constraints, 2 with velocity constraints, 1 with acceleration constraints and 0 without
 * constraints. See Brenan, Campbell & Petzold 1996, section 2.2. Two coordinates belong to the same block if a chain of
 * equations connects them. Different blocks therefore move independently. */
#include "engine/analyze/analysis_int.h"
#include "engine/mechanics/cyclic.h"

#include <assert.h>
#include <math.h>

/* Results of the tests for a constraint, for a coordinate, and for the system. */
typedef struct constraint_findings {
    bool time_dependent, moving; /* time_dependent: contains t; moving: a_ct is not 0 */
    bool working;                /* true if an ideal reaction can do work in a possible motion */
} constraint_findings;
typedef struct coordinate_findings {
    bool present;           /* true if the coordinate occurs in L, a force or a constraint */
    bool forced;            /* true if the momentum changes */
    uint64_t forced_beyond; /* regions in which the momentum changes */
} coordinate_findings;
typedef struct findings {
    constraint_findings *constraints; /* m */
    coordinate_findings *coordinates; /* n */
    bool any_force, lagrangian_in_time, energy_flows;
    uint64_t energy_beyond; /* regions in which the energy changes */
} findings;

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

static bool test_constraint(analysis *a, size_t c, constraint_findings *f, const graph_node *zeros) {
    assert(c < a->m && a->m <= a->model->m);
    graph *g = a->system->graph;
    graph_node equation = a->system->constraints[c].equation, time = graph_symbol(g, SYMBOL_TIME, 0);
    a->linear[c] = is_linear(a, c);
    a->at_rest[c] =
        a->model->order[c] == CONSTRAINT_HOLONOMIC ? graph_partial(g, equation, time) : at_rest(a, equation, zeros);
    if (needs_euler(a, c) && !zero_test_add(a, euler_sum(a, c), &f->working, NULL)) return false;
    return zero_test_add(a, graph_partial(g, equation, time), &f->time_dependent, NULL) &&
           zero_test_add(a, a->at_rest[c], &f->moving, NULL);
}

/* Tests the sum of the derivatives ∂/∂t of all terms of L, because the derivatives of single terms may cancel. */
static bool test_time(analysis *a, findings *f) {
    graph *g = a->system->graph;
    size_t count;
    graph_node *terms = energies_lagrangian_terms(a->system, &count), in_time = graph_number(g, 0);
    for (size_t k = 0; terms && k < count; k++)
        if (graph_depends(g, terms[k]) & GRAPH_DEPENDS(SYMBOL_TIME))
            in_time = graph_add(g, in_time, graph_partial(g, terms[k], graph_symbol(g, SYMBOL_TIME, 0)));
    return terms && zero_test_add(a, in_time, &f->lagrangian_in_time, NULL);
}

static bool test_coordinates(analysis *a, findings *f) {
    cyclic_conditions list = {0};
    if (!cyclic_list(&list, &a->equations)) return false;
    for (size_t k = 0; k < list.count; k++) {
        const cyclic_condition *c = &list.items[k];
        coordinate_findings *to = &f->coordinates[c->coordinate];
        bool absent = c->place < CYCLIC_FIRST_OF_MOMENTUM;
        bool forced = !absent || c->place == CYCLIC_IN_LAGRANGIAN;
        if (absent && !zero_test_add(a, c->node, &to->present, NULL)) return false;
        if (forced && !zero_test_add(a, c->node, &to->forced, &to->forced_beyond)) return false;
    }
    return true;
}

static bool test_forces(analysis *a, findings *f) {
    const hamel_equations *e = &a->equations;
    for (size_t i = 0; i < a->n; i++)
        if (!zero_test_add(a, e->given[i], &f->any_force, NULL)) return false;
    return zero_test_add(a, e->jacobi_rate, &f->energy_flows, &f->energy_beyond);
}

static bool add_tests(analysis *a, findings *f) {
    graph_node *zeros = node_array(a->system, a->n);
    a->linear = arena_alloc(a->memory, a->m, sizeof *a->linear);
    a->at_rest = arena_alloc(a->memory, a->m, sizeof *a->at_rest);
    f->constraints = arena_alloc(a->memory, a->m, sizeof *f->constraints);
    f->coordinates = arena_alloc(a->memory, a->n, sizeof *f->coordinates);
    if (!zeros || a->memory->failed) return false;
    for (size_t c = 0; c < a->m; c++)
        if (!test_constraint(a, c, &f->constraints[c], zeros)) return false;
    if (a->system->acceleration_energy >= 0) { /* a Gibbs–Appell function defines no momenta and no energy */
        f->lagrangian_in_time = f->energy_flows = true;
        for (size_t i = 0; i < a->n; i++) f->coordinates[i].forced = true;
    }
    return test_time(a, f) && test_coordinates(a, f) && test_forces(a, f);
}

/* Tests Euler's theorem at velocities that need not satisfy the constraint: the degree must be the same at every
 * sample. */
static hamel_status test_homogeneity(analysis *a) {
    hamel_status status = HAMEL_OK;
    graph_node *nodes = arena_alloc(a->memory, 2 * a->m, sizeof *nodes);
    double *values = arena_doubles(a->memory, 2 * a->m), *degree = arena_doubles(a->memory, a->m);
    size_t count = 0;
    if (a->memory->failed) return analysis_no_memory(a);
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

/* Returns true if the description defines friction at the contact of constraint c. */
static bool has_friction(const analysis *a, size_t c) {
    for (size_t k = 0; k < a->system->friction_count; k++)
        if ((size_t)a->system->frictions[k].constraint == c) return true;
    return false;
}

static hamel_status report_constraints(analysis *a, const findings *f) {
    hamel_status status = test_homogeneity(a);
    for (size_t c = 0; c < a->m; c++) {
        hamel_constraint_facts *facts = &a->report->constraints[c];
        const struct hamel_constraint *described = a->system->constraints[c].described;
        facts->linear = !needs_euler(a, c); /* constraints nonlinear in q'' are already rejected */
        facts->time_dependent = f->constraints[c].time_dependent;
        facts->catastatic = !f->constraints[c].moving;
        bool pfaffian = a->linear[c] && a->model->order[c] == CONSTRAINT_VELOCITY;
        facts->rheonomic = facts->time_dependent || (pfaffian && !facts->catastatic);
        if (a->linear[c]) facts->homogeneous = facts->catastatic;
        facts->ideal = !described || (described->nonideal.count == 0 && !described->friction.pointer &&
                                      !a->system->constraints[c].direction);
        facts->ideal = facts->ideal && !has_friction(a, c);
        bool workless = facts->homogeneous || (needs_euler(a, c) && !f->constraints[c].working);
        facts->conservative = facts->ideal && workless;
    }
    return status;
}

/* Lists the quantity function(argument) as conserved, or as conserved on the initial branches only. */
static bool add_conserved(analysis *a, const char *function, const char *argument, uint64_t beyond) {
    hamel_report *r = a->report;
    const char *name = arena_format(a->memory, "%s(%s)", function, argument);
    if (!name) return false;
    if (beyond == 0) {
        r->conserved.items[r->conserved.count++] = name;
        return true;
    }
    hamel_regional *to = &r->conserved_while[r->conserved_while_count++];
    to->name = name;
    return regions_name(a, beyond, &to->conditions);
}

static bool report_system(analysis *a, const findings *f) {
    hamel_report *r = a->report;
    r->left_out.items = arena_alloc(a->memory, a->m, sizeof *r->left_out.items);
    r->cyclic.items = arena_alloc(a->memory, a->n, sizeof *r->cyclic.items);
    r->conserved.items = arena_alloc(a->memory, a->n + 1, sizeof *r->conserved.items);
    r->conserved_while = arena_alloc(a->memory, a->n + 1, sizeof *r->conserved_while);
    a->kept = arena_alloc(a->memory, a->n, sizeof *a->kept);
    a->kept_at_start = arena_alloc(a->memory, a->n, sizeof *a->kept_at_start);
    const char *const *names = analysis_coordinate_names(a);
    if (a->memory->failed) return false;
    a->energy_kept_at_start = !f->energy_flows;
    a->energy_kept = !f->energy_flows && f->energy_beyond == 0;
    r->conservative = !f->any_force && !f->lagrangian_in_time;
    for (size_t c = 0; c < a->m; c++) {
        if (!r->constraints[c].conservative) r->conservative = false;
        if (!a->linear[c]) r->left_out.items[r->left_out.count++] = r->constraints[c].name;
    }
    if (!f->energy_flows && !add_conserved(a, "jacobi_integral", "", f->energy_beyond)) return false;
    for (size_t i = 0; i < a->n; i++) {
        const coordinate_findings *own = &f->coordinates[i];
        if (!own->present) r->cyclic.items[r->cyclic.count++] = names[i];
        a->kept_at_start[i] = !own->forced;
        a->kept[i] = !own->forced && own->forced_beyond == 0;
        if (!own->forced && !add_conserved(a, "momentum", names[i], own->forced_beyond)) return false;
    }
    return true;
}

hamel_status structure_derive(analysis *a) {
    findings f = {0};
    bool good = add_tests(a, &f);
    hamel_status status = equations_status(a->system);
    if (status == HAMEL_OK) status = good ? zero_tests_run(a) : analysis_no_memory(a);
    if (status == HAMEL_OK) status = report_constraints(a, &f);
    if (status != HAMEL_OK) return status;
    return report_system(a, &f) ? HAMEL_OK : analysis_no_memory(a);
}

/* --- coupling ----------------------------------------------------------------------------------------------------- */

/* Joins `own` with each variable in equation `row`; in `parent`, the multipliers follow the coordinates. */
static void join_support(analysis *a, size_t *parent, size_t own, graph_node row) {
    assert(own < a->n + a->m);
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION,
                                              SYMBOL_MULTIPLIER};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int32_t *list;
        size_t count = node_support(a->system, row, kinds[k], &list);
        for (size_t i = 0; i < count; i++) {
            size_t other = (size_t)list[i] + (kinds[k] == SYMBOL_MULTIPLIER ? a->n : 0);
            parent[groups_root(parent, other)] = groups_root(parent, own);
        }
    }
}

hamel_status structure_coupling(analysis *a) {
    const hamel_equations *e = &a->equations;
    hamel_report *r = a->report;
    size_t *parent = arena_alloc(a->memory, a->n + a->m, sizeof *parent);
    if (!parent) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n + a->m; i++) parent[i] = i;
    for (size_t i = 0; i < a->n + a->m; i++)
        if (i < a->n || a->model->active[i - a->n]) join_support(a, parent, i, e->residual[i]);
    for (size_t i = 0; i < a->n; i++) r->blocks += groups_root(parent, i) == i; /* blocks that contain coordinates */
    for (size_t c = 0; c < a->m; c++) {
        if (!a->model->active[c]) continue;
        size_t index = 3 - (size_t)a->model->order[c]; /* holonomic: 3, velocity: 2, acceleration: 1 */
        if (index > r->index) r->index = index;
        r->blocks += groups_root(parent, a->n + c) == a->n + c; /* blocks that are a single multiplier */
    }
    for (size_t k = 0; k < e->M.count; k++) r->mass_entries += e->M.entries[k].row == e->M.entries[k].column ? 1 : 2;
    r->constraint_entries = e->A.count;
    return HAMEL_OK;
}
