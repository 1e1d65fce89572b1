/* symmetry_choice.c — discards conserved quantities that follow from others.
 *
 * On the constraints, some quantities are equal. Products of integrals are integrals as well. A comparison of the
 * values of all quantities at random states that satisfy the constraints shows which quantities are independent. */
#include "engine/analyze/symmetries_int.h"

#include <math.h>

/* A quantity counts as a combination of others if its remainder at the states is smaller than this, relative to its
 * values. The bound exceeds the errors of the states, which satisfy the constraints to 1e-10 (samples.c). */
static const double SAME_QUANTITY = 1e-7;
/* Largest accepted ratio of the coefficients of a quantity. At larger ratios a rate that differs from 0 may be smaller
 * than the rounding errors of its largest terms. */
static const double UNBALANCED = 1e6;

bool symmetry_is_shift(const symmetry_search *s, const symmetry_candidate *c) {
    for (size_t k = 0; k < s->count; k++)
        if (c->vector[k] != 0 && (s->unknowns[k].row < 0 || s->unknowns[k].column >= 0)) return false;
    return true;
}

static size_t count_terms(const symmetry_search *s, const symmetry_candidate *c) {
    size_t terms = 0;
    for (size_t k = 0; k < s->count; k++) terms += c->vector[k] != 0;
    return terms;
}

/* Returns true if the ratio of the largest to the smallest coefficient exceeds UNBALANCED. */
static bool is_unbalanced(const symmetry_search *s, const symmetry_candidate *c) {
    double largest = 0, least = INFINITY;
    for (size_t k = 0; k < s->count; k++) {
        double size = fabs(c->vector[k]);
        largest = fmax(largest, size);
        if (size > 0) least = fmin(least, size);
    }
    return largest > UNBALANCED * least;
}

/* Returns the coefficient of q_column in ξ_row, or the constant in ξ_row if column = n. */
static double coefficient(const symmetry_search *s, const symmetry_candidate *c, int32_t row, int32_t column) {
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        const symmetry_unknown *u = &s->unknowns[k];
        int32_t own = u->column < 0 ? (int32_t)s->a->n : u->column;
        if (u->row == row && own == column) sum += c->vector[k];
        if (u->paired && u->column == row && u->row == column) sum -= c->vector[k];
    }
    return sum;
}

/* Returns true if ξ = f(q) η with a constant vector η and a function f that is not constant. The rate of J then
 * contains the product f' Σ η_k p_k, so J counts as the product of the integrals f and Σ η_k p_k. */
static bool is_product(const symmetry_search *s, const symmetry_candidate *c) {
    int32_t n = (int32_t)s->a->n, row = -1, column = -1;
    double scale = 0;
    for (size_t k = 0; k < s->count; k++) {
        const symmetry_unknown *u = &s->unknowns[k];
        if (c->vector[k] == 0) continue;
        if (u->row < 0) return false;
        scale = fmax(scale, fabs(c->vector[k]));
        if (row < 0 && u->column >= 0) row = u->row, column = u->column;
    }
    if (row < 0) return false;
    double pivot = coefficient(s, c, row, column);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= n; j++) {
            double minor = coefficient(s, c, i, j) * pivot - coefficient(s, c, i, column) * coefficient(s, c, row, j);
            if (fabs(minor) > SAME_QUANTITY * scale * scale) return false;
        }
    return true;
}

/* Adds the values of a quantity at the drawn states to the basis. Returns true if the values are linearly independent
 * of the basis. */
static bool add_quantity(symmetry_search *s, rank_rows *basis, graph_node quantity) {
    analysis *a = s->a;
    double *row = s->matrix;
    for (size_t k = 0; k < basis->width; k++)
        if (zero_values(a, &s->states[k], false, &quantity, 1, &row[k]) != HAMEL_OK || !isfinite(row[k])) return false;
    return rank_rows_add(basis, row);
}

static bool add_known(symmetry_search *s, rank_rows *basis) {
    const analysis *a = s->a;
    (void)add_quantity(s, basis, graph_number(a->system->graph, 1));
    if (a->energy_kept_at_start) (void)add_quantity(s, basis, a->equations.jacobi);
    for (size_t k = 0; k < a->n; k++)
        if (a->kept_at_start[k]) (void)add_quantity(s, basis, s->momentum[k]);
    return a->error->status == HAMEL_OK;
}

/* Returns g(q) = Σ ξ_i M_ij q_j of a shift ξ. If M is constant and T has no terms linear in the velocities, the rate of
 * g is Σ ξ_i p_i. */
static graph_node shifted_mass(const symmetry_search *s, const graph_node *xi) {
    const hamel_system *system = s->a->system;
    graph *g = system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < s->a->equations.M.count; k++) {
        const matrix_entry *m = &s->a->equations.M.entries[k];
        graph_node part = graph_mul(g, xi[m->row], system->q[m->column]);
        if (m->row != m->column) part = graph_add(g, part, graph_mul(g, xi[m->column], system->q[m->row]));
        sum = graph_add(g, sum, graph_mul(g, m->node, part));
    }
    return sum;
}

/* Adds g_a J_b − g_b J_a to the basis for all pairs of conserved momenta of shifts. At least one shift of each pair is
 * a candidate. If M is constant, the quantity is conserved, but it only expresses that the mass centre has a constant
 * velocity. */
static bool add_products(symmetry_search *s, rank_rows *basis) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    graph_node J[PRODUCTS_MOST], mass[PRODUCTS_MOST], *xi = node_array(a->system, a->n);
    size_t count = 0, combined = 0;
    for (size_t c = 0; xi && c < s->found[0].count && count < PRODUCTS_MOST; c++) {
        const symmetry_candidate *own = &s->candidates[c];
        if (own->changes || !own->differs || !symmetry_is_shift(s, own)) continue;
        for (size_t k = 0; k < a->n; k++) xi[k] = symmetry_displacement(s, own->value, (int32_t)k, false);
        J[count] = own->quantity;
        mass[count++] = shifted_mass(s, xi);
    }
    combined = count;
    for (size_t k = 0; xi && k < a->n && count < PRODUCTS_MOST; k++) {
        if (!a->kept_at_start[k]) continue;
        for (size_t i = 0; i < a->n; i++) xi[i] = graph_number(g, i == k);
        J[count] = s->momentum[k];
        mass[count++] = shifted_mass(s, xi);
    }
    for (size_t i = 0; i < combined; i++)
        for (size_t j = i + 1; j < count; j++)
            (void)add_quantity(s, basis, graph_sub(g, graph_mul(g, mass[i], J[j]), graph_mul(g, mass[j], J[i])));
    return xi && graph_status(g) == HAMEL_OK;
}

/* Accepts the candidates that are independent of the basis, in the order of their numbers of terms. */
static void accept_independent(symmetry_search *s, rank_rows *basis, bool shifts) {
    for (size_t terms = 1; terms <= s->count; terms++)
        for (size_t k = 0; k < s->found[0].count; k++) {
            symmetry_candidate *c = &s->candidates[k];
            if (c->changes || !c->differs || symmetry_is_shift(s, c) != shifts || count_terms(s, c) != terms) continue;
            c->differs = !is_unbalanced(s, c) && !is_product(s, c) && add_quantity(s, basis, c->quantity);
        }
}

hamel_status symmetry_choose(symmetry_search *s) {
    analysis *a = s->a;
    rank_rows basis = {0};
    bool good = rank_rows_init(&basis, s->state_count, s->state_count, SAME_QUANTITY), drawn = false;
    hamel_status status = good ? symmetry_draw(s, 0, s->state_count, &drawn) : analysis_no_memory(a);
    good = status == HAMEL_OK && drawn && add_known(s, &basis);
    if (good) accept_independent(s, &basis, true);
    good = good && add_products(s, &basis);
    if (good) accept_independent(s, &basis, false);
    status = status == HAMEL_OK ? equations_status(a->system) : status;
    if (!good) s->found[0].count = 0;
    rank_rows_free(&basis);
    return status == HAMEL_OK ? a->error->status : status;
}
