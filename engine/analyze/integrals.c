/* integrals.c — combinations of velocity constraints that can be integrated, integrated.
 *
 * Candidates are the constraints one by one, and the rows of their elimination, each a combination Σ μ_c f_c: there
 * what depends on fewest velocities comes out. engine/algebra finds F and a factor with μ Σ μ_c f_c = dF/dt where its
 * rules suffice. What is found is differentiated: only where ∂F/∂q_i and ∂F/∂t are those of the combination at all
 * samples is it reported, and only as far as it says something that the holonomic constraints and the other integrals
 * do not say. */
#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/algebra/integrate.h"
#include "engine/analyze/analysis_int.h"

#include <math.h>
#include <string.h>

/* A group's coordinates and constraints, variables of one form, and the nodes of the expressions in a form or in all of a
 * group that is eliminated. Beyond, algebra takes longer than all else in an analysis. */
enum { GROUP_MOST = 24, FORM_MOST = 8, FORM_NODES = 150, GROUP_NODES = 150 };

static const double DEPENDENT = 1e-9;

typedef struct candidate {
    size_t group;
    graph_node integral;
    graph_node *factor;   /* one a constraint of the group */
    graph_node *gradient; /* ∂F by the group's coordinates and t */
    bool wrong;
} candidate;

typedef struct finder {
    analysis *a;
    const groups *g;
    candidate *items;
    size_t count, capacity;
    /* Of the group at hand: */
    size_t group, rows, columns;
    const size_t *constraints;
    const int32_t *coordinates;
    graph_node *form; /* columns + 1: a combination, dt last */
    graph_node *factor;
} finder;

/* The one-form of constraint c in the group's coordinates and t; false for one that has none. */
static bool form_of(const finder *f, size_t c, graph_node *form) {
    const analysis *a = f->a;
    size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
    for (size_t j = 0; j < f->columns; j++) form[j] = graph_number(a->system->graph, 0);
    for (size_t k = first; k < first + count; k++)
        form[f->g->local[a->equations.A.entries[k].column]] = a->equations.A.entries[k].node;
    form[f->columns] = a->at_rest[c];
    return a->linear[c] && a->model->order[c] == CONSTRAINT_VELOCITY;
}

static graph_node variable(const finder *f, size_t j) {
    graph *g = f->a->system->graph;
    return j < f->columns ? graph_symbol(g, SYMBOL_COORDINATE, f->coordinates[j]) : graph_symbol(g, SYMBOL_TIME, 0);
}

/* The variables that the form contains, in coefficients or differentials. False when there are too many. */
static bool gather(const finder *f, graph_node *coefficients, graph_node *variables, one_form *form) {
    graph *g = f->a->system->graph;
    graph_node *below;
    form->count = 0;
    size_t count = graph_below(g, f->form, f->columns + 1, f->a->memory, &below);
    if (count > FORM_NODES) return false;
    for (size_t j = 0; j <= f->columns; j++) {
        graph_node x = variable(f, j);
        bool occurs = !graph_is_zero(g, f->form[j]);
        for (size_t k = 0; k < count && !occurs; k++) occurs = below[k] == x;
        if (!occurs) continue;
        if (form->count == FORM_MOST) return false;
        coefficients[form->count] = f->form[j];
        variables[form->count++] = x;
    }
    return form->count > 0;
}

/* Keeps F of factor · form, with tests that its gradient is that of Σ factor_c f_c. */
static bool keep(finder *f, graph_node factor, graph_node integral) {
    analysis *a = f->a;
    graph *g = a->system->graph;
    candidate *items = arena_grow(a->memory, f->items, &f->capacity, f->count + 1, sizeof *items);
    if (!items) return false;
    f->items = items;
    candidate *c = &items[f->count++];
    *c = (candidate){.group = f->group, .integral = integral};
    c->factor = arena_alloc(a->memory, f->rows, sizeof *c->factor);
    c->gradient = arena_alloc(a->memory, f->columns + 1, sizeof *c->gradient);
    if (!c->factor || !c->gradient) return false;
    for (size_t r = 0; r < f->rows; r++) c->factor[r] = arrange(g, graph_mul(g, factor, f->factor[r]), a->memory);
    for (size_t j = 0; j <= f->columns; j++) c->gradient[j] = graph_partial(g, integral, variable(f, j));
    return true;
}

/* x − y is 0: as it stands, so that rounding of the coefficients is known for what it is. */
static bool test_equal(analysis *a, graph_node x, graph_node y, bool *wrong) {
    static const double ROUNDING = 1e-13;
    graph *g = a->system->graph;
    double left, right;
    if (graph_is_number(g, x, &left) && graph_is_number(g, y, &right)) {
        if (!(fabs(left - right) <= ROUNDING * fabs(left))) *wrong = true;
        return true;
    }
    return x == y || zero_test_add(a, graph_literal(g, GRAPH_SUB, x, y), wrong);
}

/* Tests point into the list of candidates, so they are added when it is complete. */
static bool add_tests(finder *f, candidate *c) {
    analysis *a = f->a;
    graph *g = a->system->graph;
    graph_node form[GROUP_MOST + 1], sum[GROUP_MOST + 1];
    for (size_t j = 0; j <= f->columns; j++) sum[j] = graph_number(g, 0);
    for (size_t r = 0; r < f->rows; r++) {
        if (graph_is_zero(g, c->factor[r]) || !form_of(f, f->constraints[r], form)) continue;
        for (size_t j = 0; j <= f->columns; j++) sum[j] = graph_add(g, sum[j], graph_mul(g, c->factor[r], form[j]));
    }
    for (size_t j = 0; j <= f->columns; j++)
        if (!test_equal(a, c->gradient[j], sum[j], &c->wrong)) return false;
    return true;
}

/* The form at hand. False without memory. */
static bool try_form(finder *f) {
    graph_node coefficients[FORM_MOST], variables[FORM_MOST], factor, integral;
    one_form form = {coefficients, variables, 0};
    if (!gather(f, coefficients, variables, &form)) return true;
    if (!integrate_form(f->a->system->graph, &form, &factor, &integral, f->a->memory)) return true;
    return keep(f, factor, integral);
}

static bool try_constraints(finder *f) {
    graph *g = f->a->system->graph;
    for (size_t r = 0; r < f->rows; r++) {
        if (!form_of(f, f->constraints[r], f->form)) continue;
        for (size_t k = 0; k < f->rows; k++) f->factor[k] = graph_number(g, k == r);
        if (!try_form(f)) return false;
    }
    return true;
}

/* Σ_j form_j q'_j = −form_t + λ_c: the multipliers mark what each constraint contributes to a row. */
static bool fill(finder *f, graph_node *table) {
    graph *g = f->a->system->graph;
    for (size_t r = 0; r < f->rows; r++) {
        graph_node *row = table + r * (f->columns + 1);
        if (!form_of(f, f->constraints[r], row))
            for (size_t j = 0; j <= f->columns; j++) row[j] = graph_number(g, 0);
        graph_node mark = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)f->constraints[r]);
        row[f->columns] = graph_sub(g, mark, row[f->columns]);
    }
    return graph_status(g) == HAMEL_OK;
}

static void read_row(finder *f, const graph_node *row, const graph_node *zeros) {
    graph *g = f->a->system->graph;
    memcpy(f->form, row, (f->columns + 1) * sizeof *row);
    for (size_t r = 0; r < f->rows; r++) {
        graph_node mark = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)f->constraints[r]);
        f->factor[r] = graph_partial(g, row[f->columns], mark);
    }
    f->form[f->columns] = graph_neg(g, graph_substitute(g, row[f->columns], SYMBOL_MULTIPLIER, zeros, f->a->m));
}

static bool try_combinations(finder *f) {
    analysis *a = f->a;
    graph *g = a->system->graph;
    size_t entries = f->rows * (f->columns + 1);
    graph_node *table = arena_alloc(a->memory, entries, sizeof *table), *below;
    graph_node *zeros = arena_alloc(a->memory, a->m, sizeof *zeros);
    int *pivots = arena_alloc(a->memory, f->rows, sizeof *pivots);
    if (!table || !zeros || !pivots || !fill(f, table)) return false;
    if (graph_below(g, table, entries, a->memory, &below) > GROUP_NODES) return true;
    for (size_t c = 0; c < a->m; c++) zeros[c] = graph_number(g, 0);
    const sample *at = &a->samples[0];
    graph_point near = {{0}, {0}};
    program_inputs in = model_inputs(a->model, &at->t, at->q, at->v, at->a, at->lambda, NULL);
    memcpy(near.values, in.values, sizeof near.values);
    if (!eliminate(g, table, f->rows, f->columns, &near, pivots, a->memory)) return false;
    for (size_t r = 0; r < f->rows; r++) {
        if (pivots[r] < 0) continue;
        read_row(f, table + r * (f->columns + 1), zeros);
        if (!try_form(f)) return false;
    }
    return true;
}

static void enter(finder *f, size_t group) {
    f->group = group;
    f->rows = groups_constraints(f->g, group);
    f->columns = groups_coordinates(f->g, group);
    f->constraints = f->g->constraints + f->g->first_constraint[group];
    f->coordinates = f->g->coordinates + f->g->first_coordinate[group];
}

static bool search(finder *f, size_t group, size_t integrable) {
    size_t before = f->count;
    enter(f, group);
    if (integrable == 0 || f->rows > GROUP_MOST || f->columns > GROUP_MOST) return true;
    f->form = arena_alloc(f->a->memory, f->columns + 1, sizeof *f->form);
    f->factor = arena_alloc(f->a->memory, f->rows, sizeof *f->factor);
    if (!f->form || !f->factor || !try_constraints(f)) return false;
    return f->count - before >= integrable || try_combinations(f);
}

static bool report(finder *f, const candidate *c) {
    analysis *a = f->a;
    hamel_report *r = a->report;
    hamel_integral *to = &r->integrals[r->integral_count];
    to->terms = arena_alloc(a->memory, f->rows, sizeof *to->terms);
    if (!to->terms || !analysis_text(a, c->integral, &to->integral)) return false;
    for (size_t k = 0; k < f->rows; k++) {
        if (graph_is_zero(a->system->graph, c->factor[k])) continue;
        hamel_integral_term *term = &to->terms[to->term_count++];
        term->constraint = r->constraints[f->constraints[k]].name;
        if (!analysis_text(a, c->factor[k], &term->factor)) return false;
    }
    r->integral_count++;
    return true;
}

static hamel_status add_row(finder *f, row_basis *basis, const graph_node *nodes, double *row, bool *new) {
    hamel_status status = zero_values(f->a, &f->a->samples[0], false, nodes, f->columns + 1, row);
    *new = status == HAMEL_OK &&row_basis_add(basis, row);
    return status;
}

/* Of a group's candidates those that say something new, the holonomic constraints first. */
static hamel_status choose(finder *f, candidate *first, size_t count) {
    analysis *a = f->a;
    row_basis basis = {0};
    graph_node form[GROUP_MOST + 1];
    double row[GROUP_MOST + 1];
    bool new;
    hamel_status status = HAMEL_OK;
    enter(f, first->group);
    if (!row_basis_init(&basis, f->rows + count, f->columns + 1, DEPENDENT)) status = analysis_no_memory(a);
    for (size_t r = 0; r < f->rows && status == HAMEL_OK; r++) {
        (void)form_of(f, f->constraints[r], form);
        if (a->model->order[f->constraints[r]] == CONSTRAINT_HOLONOMIC) status = add_row(f, &basis, form, row, &new);
    }
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        if (first[k].wrong) continue;
        status = add_row(f, &basis, first[k].gradient, row, &new);
        if (new && !report(f, &first[k])) status = analysis_no_memory(a);
    }
    row_basis_free(&basis);
    return status;
}

static hamel_status judge(finder *f) {
    analysis *a = f->a;
    hamel_status status = HAMEL_OK;
    a->report->integrals = arena_alloc(a->memory, f->count, sizeof *a->report->integrals);
    if (!a->report->integrals) return analysis_no_memory(a);
    for (size_t k = 0; k < f->count; k++) {
        enter(f, f->items[k].group);
        if (!add_tests(f, &f->items[k])) return analysis_no_memory(a);
    }
    if (graph_status(a->system->graph) != HAMEL_OK) return equations_status(a->system);
    status = zero_tests_run(a);
    for (size_t k = 0, end; k < f->count && status == HAMEL_OK; k = end) {
        end = k;
        while (end < f->count && f->items[end].group == f->items[k].group) end++;
        status = choose(f, &f->items[k], end - k);
    }
    return status;
}

hamel_status integrals_derive(analysis *a, const groups *g, const size_t *integrable) {
    finder f = {.a = a, .g = g};
    for (size_t k = 0; k < g->count; k++) {
        if (system_interrupted(a->system)) return a->error->status;
        if (search(&f, k, integrable[k])) continue;
        hamel_status status = equations_status(a->system);
        return status != HAMEL_OK ? status : analysis_no_memory(a);
    }
    return f.count > 0 ? judge(&f) : HAMEL_OK;
}
