/* integrals.c — closed-form integrals of velocity constraints.
 *
 * Three kinds of combinations Σ μ_c f_c of the constraints f_c are tried: single constraints, rows of an elimination,
 * and combinations in which all coefficients of velocities are constant. An example of the third kind is the difference
 * between the rates of a cart's wheels. If the rules of engine/algebra suffice, they yield a function F and a factor μ
 * with μ Σ μ_c f_c = dF/dt. A known integral or holonomic constraint F = C is solved for a coordinate, which is
 * eliminated from the remaining forms. If G(q, C) is an integral of the remaining forms, G(q, F) is an integral of the
 * system. Each candidate F is checked by differentiation: ∂F/∂q_i and ∂F/∂t must equal the coefficients of the
 * combination at all samples. F must also be independent of the holonomic constraints and the other integrals. */
#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/algebra/integrate.h"
#include "engine/analyze/analysis_int.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Upper bounds. GROUP_MOST: coordinates, and constraints, of a group. FORM_MOST: variables of a form. FORM_NODES: nodes
 * of a form. GROUP_NODES: nodes of all forms that are eliminated together. Larger forms would take longer than the rest
 * of an analysis. */
enum { GROUP_MOST = 24, FORM_MOST = 8, FORM_NODES = 150, GROUP_NODES = 150 };

typedef struct candidate {
    size_t group;
    graph_node integral;
    graph_node *factor;   /* `rows` entries: factor of each constraint of the group */
    graph_node *gradient; /* derivatives of F with respect to the group's coordinates, then t */
    bool wrong;           /* true if the check by differentiation failed */
} candidate;

/* An equation F = C, solved for one coordinate. C is 0 for a holonomic constraint and a symbol for an integral. */
typedef struct level {
    size_t column;
    graph_node value;           /* the coordinate in terms of the other coordinates and C */
    graph_node integral;        /* F, which replaces C in the results */
    graph_node *from;           /* factors of the constraints in dF */
    graph_node *slope, *factor; /* dF and the factors in dF after substitution of the earlier levels */
} level;

typedef struct finder {
    analysis *a;
    const groups *g;
    candidate *items;
    size_t count, capacity;
    /* The following fields describe the current group. */
    size_t group, rows, columns;
    const size_t *constraints;
    const int32_t *coordinates;
    graph_node *form; /* columns + 1 entries: coefficients of the current combination, dt last */
    graph_node *factor;
    level levels[GROUP_MOST];
    size_t level_count;
    graph_node *replacement; /* n entries: expression substituted for each coordinate, or GRAPH_NONE */
} finder;

/* Fills the one-form of constraint c in the group's coordinates and t. Returns false if c is not a linear velocity
 * constraint. */
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

/* Lists the variables in the coefficients and differentials of the current form. Returns false if the form has no
 * variables or too many. */
static bool gather_variables(const finder *f, graph_node *coefficients, graph_node *variables, one_form *form) {
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

/* Adds the candidate F with dF = factor · (current form), its factors and its gradient. */
static bool keep_candidate(finder *f, graph_node factor, graph_node integral) {
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
    for (size_t r = 0; r < f->rows; r++)
        c->factor[r] = arrange_within(g, graph_mul(g, factor, f->factor[r]), &a->work, a->memory);
    for (size_t j = 0; j <= f->columns; j++) c->gradient[j] = graph_partial(g, integral, variable(f, j));
    return true;
}

/* Adds a test of x − y = 0. The difference is not simplified, so that its error bound includes the rounding errors of x
 * and y. */
static bool test_equal(analysis *a, graph_node x, graph_node y, bool *wrong) {
    static const double ROUNDING = 1e-13;
    graph *g = a->system->graph;
    double left, right;
    if (graph_is_number(g, x, &left) && graph_is_number(g, y, &right)) {
        if (!(fabs(left - right) <= ROUNDING * fabs(left))) *wrong = true;
        return true;
    }
    return x == y || zero_test_add(a, graph_literal(g, GRAPH_SUB, x, y), wrong, NULL);
}

/* Adds tests of whether the gradient of a candidate equals the coefficients of Σ factor_c f_c. The tests contain
 * pointers to candidates, so no candidate may be added to the list afterwards. */
static bool add_candidate_tests(finder *f, candidate *c) {
    assert(f->rows <= GROUP_MOST && f->columns <= GROUP_MOST);
    analysis *a = f->a;
    graph *g = a->system->graph;
    graph_node form[GROUP_MOST + 1], sum[GROUP_MOST + 1];
    for (size_t j = 0; j <= f->columns; j++) sum[j] = graph_number(g, 0);
    for (size_t r = 0; r < f->rows; r++) {
        if (graph_is_zero(g, c->factor[r])) continue;
        (void)form_of(f, f->constraints[r], form); /* form_of also fills the forms of holonomic constraints */
        for (size_t j = 0; j <= f->columns; j++) sum[j] = graph_add(g, sum[j], graph_mul(g, c->factor[r], form[j]));
    }
    for (size_t j = 0; j <= f->columns; j++)
        if (!test_equal(a, c->gradient[j], sum[j], &c->wrong)) return false;
    return true;
}

/* If engine/algebra can integrate the current form, sets *F and *factor so that dF = factor · (current form). */
static bool integrate_current(finder *f, graph_node *factor, graph_node *F) {
    graph_node coefficients[FORM_MOST], variables[FORM_MOST];
    one_form form = {coefficients, variables, 0};
    return gather_variables(f, coefficients, variables, &form) &&
           integrate_form(f->a->system->graph, &form, factor, F, &f->a->work, f->a->memory);
}

/* If the current form can be integrated, adds its integral as a candidate. Returns false if out of memory. */
static bool try_form(finder *f) {
    graph_node factor, F;
    if (f->a->work.spent || !integrate_current(f, &factor, &F)) return true;
    return keep_candidate(f, factor, F);
}

/* Sets the factor of constraint r to 1 and all other factors to 0. */
static void set_unit(const finder *f, graph_node *factor, size_t r) {
    for (size_t k = 0; k < f->rows; k++) factor[k] = graph_number(f->a->system->graph, k == r);
}

static bool try_constraints(finder *f) {
    for (size_t r = 0; r < f->rows; r++) {
        if (!form_of(f, f->constraints[r], f->form)) continue;
        set_unit(f, f->factor, r);
        if (!try_form(f)) return false;
    }
    return true;
}

/* Writes the forms of all constraints, one per row. The rows of constraints without a form are zero. */
static bool fill_forms(const finder *f, graph_node *forms) {
    graph *g = f->a->system->graph;
    for (size_t r = 0; r < f->rows; r++, forms += f->columns + 1)
        if (!form_of(f, f->constraints[r], forms))
            for (size_t j = 0; j <= f->columns; j++) forms[j] = graph_number(g, 0);
    return graph_status(g) == HAMEL_OK;
}

/* Chooses the velocities to eliminate. If `varying`, chooses only velocities with a coefficient that varies during a
 * motion. */
static size_t choose_eliminated(const finder *f, const graph_node *forms, bool varying, size_t *columns) {
    const unsigned constant = GRAPH_DEPENDS(SYMBOL_PARAMETER);
    size_t count = 0;
    for (size_t j = 0; j < f->columns; j++) {
        bool wanted = !varying;
        for (size_t r = 0; r < f->rows; r++)
            wanted |= (graph_depends(f->a->system->graph, forms[r * (f->columns + 1) + j]) & ~constant) != 0;
        if (wanted) columns[count++] = j;
    }
    return count;
}

/* Fills the table with the equations Σ form_j q'_j = λ_c, summed over the given columns. After elimination, the symbols
 * λ_c mark the contribution of each constraint to a row. */
static void fill_table(const finder *f, const graph_node *forms, const size_t *columns, size_t count,
                       graph_node *table) {
    for (size_t r = 0; r < f->rows; r++) {
        for (size_t k = 0; k < count; k++) table[r * (count + 1) + k] = forms[r * (f->columns + 1) + columns[k]];
        table[r * (count + 1) + count] =
            graph_symbol(f->a->system->graph, SYMBOL_MULTIPLIER, (int32_t)f->constraints[r]);
    }
}

/* Reads the factor of each constraint from the marks λ_c. If all factors are numbers, divides the factors by the first
 * nonzero factor, because quotients of decimals have no short form. */
static void read_factors(finder *f, graph_node marks) {
    graph *g = f->a->system->graph;
    double number, first = 0;
    bool numbers = true;
    for (size_t r = 0; r < f->rows; r++) {
        f->factor[r] = graph_partial(g, marks, graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)f->constraints[r]));
        bool is_number = graph_is_number(g, f->factor[r], &number);
        numbers = numbers && is_number;
        if (is_number && first == 0) first = number;
    }
    for (size_t r = 0; numbers && r < f->rows; r++)
        if (graph_is_number(g, f->factor[r], &number) && number != 0) f->factor[r] = graph_number(g, number / first);
}

/* Sets the current form to the combination of forms that the marks λ_c describe. */
static void combine_forms(finder *f, const graph_node *forms, graph_node marks) {
    analysis *a = f->a;
    graph *g = a->system->graph;
    read_factors(f, marks);
    for (size_t j = 0; j <= f->columns; j++) {
        graph_node sum = graph_number(g, 0);
        for (size_t r = 0; r < f->rows; r++)
            sum = graph_add(g, sum, graph_mul(g, f->factor[r], forms[r * (f->columns + 1) + j]));
        f->form[j] = arrange_within(g, sum, &a->work, a->memory);
    }
}

/* Eliminates velocities from the constraints, and adds the integrals of the resulting combinations as candidates. If
 * `varying` is true, integrates the combinations without a pivot, which do not contain the eliminated velocities.
 * Otherwise integrates the combinations with a pivot, which contain few velocities. Returns false if out of memory. */
static bool try_combinations(finder *f, bool varying) {
    analysis *a = f->a;
    graph *g = a->system->graph;
    size_t entries = f->rows * (f->columns + 1), columns[GROUP_MOST];
    graph_node *forms = arena_alloc(a->memory, entries, sizeof *forms), *below;
    graph_node *table = arena_alloc(a->memory, entries, sizeof *table);
    int *pivots = arena_alloc(a->memory, f->rows, sizeof *pivots);
    if (a->memory->failed || !fill_forms(f, forms)) return false;
    if (graph_below(g, forms, entries, a->memory, &below) > GROUP_NODES) return true;
    size_t count = choose_eliminated(f, forms, varying, columns);
    fill_table(f, forms, columns, count, table);
    const graph_point near = sample_point(a, &a->samples[0], false);
    if (!eliminate_within(g, table, f->rows, count, &near, pivots, f->rows, &a->work, a->memory)) return false;
    for (size_t r = 0; r < f->rows; r++) {
        if ((pivots[r] < 0) != varying) continue;
        combine_forms(f, forms, table[r * (count + 1) + count]);
        if (!try_form(f)) return false;
    }
    return graph_status(g) == HAMEL_OK;
}

/* --- substitution of constants ------------------------------------------------------------------------------------ */

/* Substitutes the value of a level for its coordinate. */
static graph_node put_in(finder *f, const level *l, graph_node node) {
    assert(l->column < f->columns);
    f->replacement[f->coordinates[l->column]] = l->value;
    node = graph_substitute(f->a->system->graph, node, SYMBOL_COORDINATE, f->replacement, f->a->n);
    f->replacement[f->coordinates[l->column]] = GRAPH_NONE;
    return node;
}

/* Eliminates the coordinate that F = C determines, and its differential, from the current form. */
static void apply(finder *f, const level *l) {
    graph *g = f->a->system->graph;
    arena *m = f->a->memory;
    for (size_t j = 0; j <= f->columns; j++) f->form[j] = put_in(f, l, f->form[j]);
    graph_node ratio =
        arrange_within(g, graph_div(g, f->form[l->column], put_in(f, l, l->slope[l->column])), &f->a->work, m);
    for (size_t j = 0; j <= f->columns; j++) {
        graph_node slope = put_in(f, l, l->slope[j]);
        f->form[j] = j == l->column
                         ? graph_number(g, 0)
                         : arrange_within(g, graph_sub(g, f->form[j], graph_mul(g, ratio, slope)), &f->a->work, m);
    }
    for (size_t r = 0; r < f->rows; r++)
        f->factor[r] = graph_sub(g, put_in(f, l, f->factor[r]), graph_mul(g, ratio, put_in(f, l, l->factor[r])));
}

/* Returns a coordinate in which F is linear, preferably with a number as coefficient, or `columns` if F is linear in no
 * coordinate. */
static size_t solvable_column(const finder *f) {
    graph *g = f->a->system->graph;
    size_t found = f->columns;
    for (size_t j = 0; j < f->columns; j++) {
        graph_node slope = f->form[j];
        if (graph_is_zero(g, slope) || !graph_is_zero(g, graph_partial(g, slope, variable(f, j)))) continue;
        if (graph_is_number(g, slope, NULL)) return j;
        if (found == f->columns) found = j;
    }
    return found;
}

/* Returns the only coordinate that F contains, or `columns` if F contains several coordinates or t. */
static size_t only_column(const finder *f) {
    size_t found = f->columns;
    for (size_t j = 0; j <= f->columns; j++) {
        if (graph_is_zero(f->a->system->graph, f->form[j])) continue;
        if (found < f->columns || j == f->columns) return f->columns;
        found = j;
    }
    return found;
}

static bool solve_level(finder *f, level *l, graph_node F, bool holonomic) {
    graph *g = f->a->system->graph;
    graph_node C = holonomic ? graph_number(g, 0) : graph_symbol(g, SYMBOL_FREE, (int32_t)f->level_count);
    l->column = solvable_column(f);
    if (l->column < f->columns) {
        l->value = graph_number(g, 0);
        graph_node rest = put_in(f, l, F);
        l->value =
            arrange_within(g, graph_div(g, graph_sub(g, C, rest), f->form[l->column]), &f->a->work, f->a->memory);
        return l->value >= 0;
    }
    l->column = only_column(f);
    if (holonomic || l->column == f->columns) return false;
    graph_node slope = f->form[l->column]; /* F(q) = C means that q is constant */
    for (size_t r = 0; r < f->rows; r++) {
        l->from[r] = graph_div(g, l->from[r], slope);
        f->factor[r] = graph_div(g, f->factor[r], slope);
    }
    f->form[l->column] = graph_number(g, 1);
    l->integral = variable(f, l->column);
    l->value = C;
    return true;
}

/* Adds the equation F = C as a level if this equation can be solved for a coordinate. Returns false if out of
 * memory. */
static bool add_level(finder *f, graph_node F, const graph_node *factor, bool holonomic) {
    assert(f->level_count <= GROUP_MOST);
    graph *g = f->a->system->graph;
    arena *m = f->a->memory;
    level *l = &f->levels[f->level_count];
    if (f->level_count == GROUP_MOST) return true;
    *l = (level){.integral = F};
    l->slope = arena_alloc(m, f->columns + 1, sizeof *l->slope);
    l->factor = arena_alloc(m, f->rows, sizeof *l->factor);
    l->from = arena_alloc(m, f->rows, sizeof *l->from);
    if (!l->slope || !l->factor || !l->from) return false;
    memcpy(l->from, factor, f->rows * sizeof *factor);
    memcpy(f->factor, factor, f->rows * sizeof *factor);
    for (size_t j = 0; j <= f->columns; j++) f->form[j] = graph_partial(g, F, variable(f, j));
    for (size_t k = 0; k < f->level_count; k++) {
        apply(f, &f->levels[k]);
        F = put_in(f, &f->levels[k], F);
    }
    if (graph_status(g) != HAMEL_OK) return false;
    if (!solve_level(f, l, F, holonomic)) return graph_status(g) == HAMEL_OK;
    memcpy(l->slope, f->form, (f->columns + 1) * sizeof *l->slope);
    memcpy(l->factor, f->factor, f->rows * sizeof *l->factor);
    f->level_count++;
    return true;
}

/* Adds the candidate G(q, F). At constant C, dG is λ times the current form. If each C is replaced by its F, dG also
 * contains ∂G/∂C · dF. */
static bool keep_with_levels(finder *f, graph_node lambda, graph_node G) {
    graph *g = f->a->system->graph;
    graph_node constants[GROUP_MOST];
    for (size_t k = 0; k < f->level_count; k++) constants[k] = f->levels[k].integral;
    for (size_t r = 0; r < f->rows; r++) {
        graph_node sum = graph_mul(g, lambda, f->factor[r]);
        for (size_t k = 0; k < f->level_count; k++) {
            graph_node slope = graph_partial(g, G, graph_symbol(g, SYMBOL_FREE, (int32_t)k));
            sum = graph_add(g, sum, graph_mul(g, slope, f->levels[k].from[r]));
        }
        f->factor[r] = graph_substitute(g, sum, SYMBOL_FREE, constants, f->level_count);
    }
    graph_node whole = graph_substitute(g, G, SYMBOL_FREE, constants, f->level_count);
    if (whole != G) whole = arrange_terms(g, whole, &f->a->work, f->a->memory);
    return whole >= 0 && keep_candidate(f, graph_number(g, 1), whole);
}

/* Finds the first constraint that is integrable after substitution of all levels. Returns false if out of memory. */
static bool try_with_levels(finder *f, bool *done, bool *found) {
    graph_node factor, integral;
    *found = false;
    for (size_t r = 0; r < f->rows; r++) {
        if (done[r] || !form_of(f, f->constraints[r], f->form)) continue;
        set_unit(f, f->factor, r);
        for (size_t k = 0; k < f->level_count; k++) apply(f, &f->levels[k]);
        if (graph_status(f->a->system->graph) != HAMEL_OK) return false;
        if (!integrate_current(f, &factor, &integral)) continue;
        done[r] = *found = true;
        return keep_with_levels(f, factor, integral);
    }
    return true;
}

/* Searches for integrals by substitution of levels: the holonomic constraints and the integrals found so far. Each new
 * integral becomes a level. */
static bool try_levels(finder *f, size_t before) {
    analysis *a = f->a;
    bool *done = arena_alloc(a->memory, f->rows, sizeof *done), found = true;
    graph_node *factor = arena_alloc(a->memory, f->rows, sizeof *factor);
    f->replacement = arena_alloc(a->memory, a->n, sizeof *f->replacement);
    if (a->memory->failed) return false;
    for (size_t i = 0; i < a->n; i++) f->replacement[i] = GRAPH_NONE;
    f->level_count = 0;
    for (size_t r = 0; r < f->rows; r++) {
        if (a->model->order[f->constraints[r]] != CONSTRAINT_HOLONOMIC) continue;
        set_unit(f, factor, r);
        if (!add_level(f, a->system->constraints[f->constraints[r]].equation, factor, true)) return false;
    }
    for (size_t k = before; k < f->count; k++)
        if (!add_level(f, f->items[k].integral, f->items[k].factor, false)) return false;
    while (found && f->level_count > 0) {
        if (!try_with_levels(f, done, &found)) return false;
        if (found && !add_level(f, f->items[f->count - 1].integral, f->items[f->count - 1].factor, false)) return false;
    }
    return true;
}

static void select_group(finder *f, size_t group) {
    assert(group < f->g->count);
    f->group = group;
    f->rows = groups_constraints(f->g, group);
    f->columns = groups_coordinates(f->g, group);
    f->constraints = f->g->constraints + f->g->first_constraint[group];
    f->coordinates = f->g->coordinates + f->g->first_coordinate[group];
}

/* Adds the values of a form at the first sample to the basis. Sets *new to true if the values are independent of the
 * basis. */
static hamel_status add_gradient(const finder *f, rank_rows *basis, const graph_node *form, bool *new) {
    double row[GROUP_MOST + 1];
    hamel_status status = zero_values(f->a, &f->a->samples[0], false, form, f->columns + 1, row);
    *new = status == HAMEL_OK &&rank_rows_add(basis, row);
    return status;
}

/* Returns the rank of the gradients of the candidates with index ≥ `before`, at one sample. */
static size_t independent(const finder *f, size_t before) {
    rank_rows basis = {0};
    bool new;
    if (rank_rows_init(&basis, f->count - before, f->columns + 1, SAMPLED_RANK_TOLERANCE))
        for (size_t k = before; k < f->count; k++) (void)add_gradient(f, &basis, f->items[k].gradient, &new);
    size_t rank = basis.rank;
    rank_rows_free(&basis);
    return rank;
}

static bool search(finder *f, size_t group, size_t integrable) {
    size_t before = f->count;
    select_group(f, group);
    if (integrable == 0 || f->rows > GROUP_MOST || f->columns > GROUP_MOST) return true;
    f->form = arena_alloc(f->a->memory, f->columns + 1, sizeof *f->form);
    f->factor = arena_alloc(f->a->memory, f->rows, sizeof *f->factor);
    if (!f->form || !f->factor || !try_constraints(f)) return false;
    for (int varying = 0; varying < 2; varying++)
        if (independent(f, before) < integrable && !try_combinations(f, varying)) return false;
    return independent(f, before) >= integrable || try_levels(f, before);
}

static bool report_integral(finder *f, const candidate *c) {
    analysis *a = f->a;
    hamel_report *r = a->report;
    hamel_integral *to = &r->integrals[r->integral_count];
    to->terms = arena_alloc(a->memory, f->rows, sizeof *to->terms);
    to->integral = analysis_text(a, c->integral, ANALYSIS_TEXT_MOST);
    if (!to->terms || !to->integral) return false;
    for (size_t k = 0; k < f->rows; k++) {
        if (graph_is_zero(a->system->graph, c->factor[k])) continue;
        hamel_integral_term *term = &to->terms[to->term_count++];
        term->constraint = r->constraints[f->constraints[k]].name;
        term->factor = analysis_text(a, c->factor[k], ANALYSIS_TEXT_MOST);
        if (!term->factor) return false;
    }
    r->integral_count++;
    return true;
}

/* Reports a group's candidates that are independent of the holonomic constraints and of earlier candidates. */
static hamel_status report_independent(finder *f, candidate *first, size_t count) {
    analysis *a = f->a;
    rank_rows basis = {0};
    graph_node form[GROUP_MOST + 1];
    bool new;
    hamel_status status = HAMEL_OK;
    select_group(f, first->group);
    if (!rank_rows_init(&basis, f->rows + count, f->columns + 1, SAMPLED_RANK_TOLERANCE))
        status = analysis_no_memory(a);
    for (size_t r = 0; r < f->rows && status == HAMEL_OK; r++) {
        (void)form_of(f, f->constraints[r], form);
        if (a->model->order[f->constraints[r]] == CONSTRAINT_HOLONOMIC) status = add_gradient(f, &basis, form, &new);
    }
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        if (first[k].wrong) continue;
        status = add_gradient(f, &basis, first[k].gradient, &new);
        if (new && !report_integral(f, &first[k])) a->work.spent = true; /* the text of the integral is too long */
    }
    rank_rows_free(&basis);
    return status;
}

static hamel_status check_candidates(finder *f) {
    analysis *a = f->a;
    hamel_status status = HAMEL_OK;
    a->report->integrals = arena_alloc(a->memory, f->count, sizeof *a->report->integrals);
    if (!a->report->integrals) return analysis_no_memory(a);
    for (size_t k = 0; k < f->count; k++) {
        select_group(f, f->items[k].group);
        if (!add_candidate_tests(f, &f->items[k])) return analysis_no_memory(a);
    }
    if (graph_status(a->system->graph) != HAMEL_OK) return equations_status(a->system);
    status = zero_tests_run(a);
    for (size_t k = 0, end; k < f->count && status == HAMEL_OK; k = end) {
        end = k;
        while (end < f->count && f->items[end].group == f->items[k].group) end++;
        status = report_independent(f, &f->items[k], end - k);
    }
    return status;
}

hamel_status integrals_derive(analysis *a, const groups *g, const size_t *integrable) {
    finder f = {.a = a, .g = g};
    analysis_begin_work(a);
    for (size_t k = 0; k < g->count; k++) {
        if (system_interrupted(a->system)) return a->error->status;
        if (!search(&f, k, integrable[k])) return analysis_stopped(a);
    }
    hamel_status status = f.count > 0 ? check_candidates(&f) : HAMEL_OK;
    if (a->work.spent) analysis_unfinished(a, "integrals");
    return status;
}
