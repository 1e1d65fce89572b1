/* solved_form.c — writes equations whose velocity constraints are solved for dependent velocities.
 *
 *     q'_D = Σ_I b_DI q'_I + b_D                                                     Papastavridis 2.11.9
 *     hadamard    E_I + Σ_D b_DI E_D = Q_I + Σ_D b_DI Q_D                            Papastavridis 3.3.20, Intro 3.8
 *     voronets    d/dt ∂T_o/∂q'_I − ∂T_o/∂q_I − Σ_D b_DI ∂T_o/∂q_D
 *                     − Σ_D p_D (Σ_J w^D_IJ q'_J + w^D_I) = Q_I + Σ_D b_DI Q_D       Papastavridis Intro 3.8
 *     w^D_IJ = ∂b_DI/∂(J) − ∂b_DJ/∂(I),     ∂/∂(I) = ∂/∂q_I + Σ_D b_DI ∂/∂q_D       Papastavridis E2.12.1
 *     w^D_I  = ∂b_DI/∂t + Σ_D' b_D' ∂b_DI/∂q_D' − ∂b_D/∂(I)
 *
 * E_k = d/dt ∂T/∂q'_k − ∂T/∂q_k; T_o and p_D = (∂T/∂q'_D)_o contain no dependent velocities. Chaplygin's equations are
 * those of Voronets without the derivatives with respect to q_D, all of which vanish (engine/mechanics/chaplygin.c). T
 * is the kinetic energy, and Q contains the forces of the potential. If a Lagrangian is given, or if the potential
 * contains velocities, the Lagrangian replaces T, and Q contains only the forces without a potential.
 *
 * If the constraints can be solved for them at the initial state, the dependent velocities are those of coordinates
 * that are absent from energies and forces. Textbooks usually make this choice: for a rolling disk, the dependent
 * coordinates are those of its center. If possible, no divisor depends on the state. In Chaplygin's equations, the
 * dependent coordinates are also absent from the constraints. Voronets' and Chaplygin's equations are not derived from
 * the projected Lagrange equations, so tests can compare them with these. */
#include "engine/equations/freedoms.h"
#include "engine/mechanics/formulation.h"

#include <math.h>
#include <string.h>

typedef struct solved_form {
    written *w;
    freedoms f;
    bool chaplygin, hadamard;
    bool natural;         /* true if K is T, false if K is the Lagrangian */
    size_t *independent;  /* f.count: indices of the coordinates whose velocities are free */
    graph_node *b, *bias; /* b: n × n, b[D + n I] = b_DI for dependent D and independent I; bias[n] = b_D */
    graph_node *p;        /* n: p_D; set for dependent coordinates only */
    graph_node K, Ko;     /* T or L; T_o or L_o, without dependent velocities */
} solved_form;

static bool is_dependent(const solved_form *s, size_t i) {
    return s->f.velocity[i] >= 0;
}

static bool find_function(solved_form *s) {
    written *w = s->w;
    hamel_system *system = w->system;
    graph *g = system->graph;
    size_t count;
    s->natural = system->lagrangian < 0;
    for (size_t k = 0; k < system->potential_count; k++)
        s->natural &= !(graph_depends(g, system->potential[k]) & GRAPH_DEPENDS(SYMBOL_VELOCITY));
    if (s->natural) {
        s->K = energies_kinetic(&w->equations);
    } else {
        const graph_node *terms = energies_lagrangian_terms(system, &count);
        if (!terms) return false;
        s->K = graph_number(g, 0);
        for (size_t k = 0; k < count; k++) s->K = graph_add(g, s->K, terms[k]);
    }
    s->Ko = freedoms_substitute(w, &s->f, s->K);
    return s->Ko >= 0;
}

/* Sets s->independent, and s->b and s->bias from the solutions for the dependent velocities. Returns false if out of
 * memory. */
static bool read_solved_form(solved_form *s) {
    written *w = s->w;
    graph *g = w->system->graph;
    size_t n = w->n;
    const graph_node *zeros = node_array(w->system, n);
    s->b = node_array(w->system, n * n);
    s->bias = node_array(w->system, n);
    s->p = node_array(w->system, n);
    s->independent = arena_alloc(w->memory, n, sizeof *s->independent);
    if (!zeros || !s->b || !s->bias || !s->p || !s->independent) return false;
    for (size_t r = 0; r < s->f.count; r++) s->independent[r] = (size_t)graph_at(g, s->f.symbol[r])->as.index;
    for (size_t i = 0; i < n; i++) {
        if (!is_dependent(s, i)) continue;
        for (size_t r = 0; r < s->f.count; r++)
            s->b[i + n * s->independent[r]] = written_arranged(w, graph_partial(g, s->f.velocity[i], s->f.symbol[r]));
        s->bias[i] = written_arranged(w, graph_substitute(g, s->f.velocity[i], SYMBOL_VELOCITY, zeros, n));
    }
    return graph_status(g) == HAMEL_OK;
}

/* For Chaplygin's equations, adds an error and returns false unless the coordinate of each dependent velocity is absent
 * from energies, forces and constraints. */
static bool check_absent(const solved_form *s) {
    for (size_t i = 0; s->chaplygin && i < s->w->n; i++)
        if (is_dependent(s, i) && !s->f.preferred[i])
            return written_cannot(s->w,
                                  "at the initial state, the constraints do not determine the velocities of the "
                                  "coordinates that are absent from the equations",
                                  "use --formulation voronets, or change the initial values");
    return true;
}

static bool write_solved_velocities(solved_form *s) {
    written *w = s->w;
    const char *index[3] = {NULL};
    written_begin(w, "constraints, solved for the dependent velocities");
    if (!written_velocities(w, s->f.velocity)) return false;
    if (w->form != HAMEL_FORM_MOTION) return true; /* other forms use b for other coefficients */
    written_begin(w, "coefficients of the solved form: D' = sum of b[D, I]*I' + b[D]");
    for (size_t i = 0; i < w->n; i++) {
        if (!is_dependent(s, i)) continue;
        index[0] = w->system->coordinates[i].name;
        for (size_t r = 0; r < s->f.count; r++) {
            index[1] = w->system->coordinates[s->independent[r]].name;
            if (!written_entry(w, "b", index, s->b[i + w->n * s->independent[r]])) return false;
        }
        index[1] = NULL;
        if (!written_entry(w, "b", index, s->bias[i])) return false;
    }
    return true;
}

/* Returns ∂x/∂(q_j) = ∂x/∂q_j + Σ_D b_Dj ∂x/∂q_D for an independent coordinate j. */
static graph_node derivative_along(const solved_form *s, graph_node x, size_t j) {
    graph *g = s->w->system->graph;
    const graph_node *q = s->w->system->q;
    graph_node sum = graph_partial(g, x, q[j]);
    for (size_t i = 0; i < s->w->n; i++)
        if (is_dependent(s, i)) sum = graph_add(g, sum, graph_mul(g, s->b[i + s->w->n * j], graph_partial(g, x, q[i])));
    return sum;
}

/* Returns w^D_IJ for the dependent coordinate d and the independent coordinates i and j. */
static graph_node coefficient(const solved_form *s, size_t d, size_t i, size_t j) {
    size_t n = s->w->n;
    return graph_sub(s->w->system->graph, derivative_along(s, s->b[d + n * i], j),
                     derivative_along(s, s->b[d + n * j], i));
}

/* Returns w^D_I, the coefficient of the term without velocities. */
static graph_node coefficient_of_time(const solved_form *s, size_t d, size_t i) {
    hamel_system *system = s->w->system;
    graph *g = system->graph;
    graph_node b = s->b[d + s->w->n * i], sum = graph_partial(g, b, graph_symbol(g, SYMBOL_TIME, 0));
    for (size_t k = 0; k < s->w->n; k++)
        if (is_dependent(s, k)) sum = graph_add(g, sum, graph_mul(g, s->bias[k], graph_partial(g, b, system->q[k])));
    return graph_sub(g, sum, derivative_along(s, s->bias[d], i));
}

static bool write_coefficients_of(const solved_form *s, size_t d) {
    written *w = s->w;
    const char *letter = s->chaplygin ? "t" : "w";
    const char *index[3] = {w->system->coordinates[d].name};
    for (size_t r = 0; r < s->f.count; r++) {
        size_t i = s->independent[r];
        index[1] = w->system->coordinates[i].name;
        for (size_t k = r + 1; k < s->f.count; k++) {
            index[2] = w->system->coordinates[s->independent[k]].name;
            if (!written_entry(w, letter, index, coefficient(s, d, i, s->independent[k]))) return false;
        }
        index[2] = "t";
        if (!written_entry(w, letter, index, coefficient_of_time(s, d, i))) return false;
    }
    return true;
}

static bool write_all_coefficients(const solved_form *s) {
    written_begin(s->w, s->chaplygin
                            ? "Chaplygin's coefficients: t[D; I, J] = db[D, I]/dJ - db[D, J]/dI, t[D; I, t] = "
                              "db[D, I]/dt - db[D]/dI (antisymmetric in I and J; all others are 0)"
                            : "Voronets' coefficients: w[D; I, J] = db[D, I]/d(J) - db[D, J]/d(I), w[D; I, t] = "
                              "db[D, I]/dt + sum of b[E]*db[D, I]/dE - db[D]/d(I), where d/d(I) = d/dI + sum of "
                              "b[D, I]*d/dD (antisymmetric in I and J; all others are 0)");
    for (size_t i = 0; i < s->w->n; i++)
        if (is_dependent(s, i) && !write_coefficients_of(s, i)) return false;
    return true;
}

/* Writes the definition of T_o (or L_o) and an entry p[D] for each dependent coordinate. */
static bool write_function(solved_form *s) {
    written *w = s->w;
    graph *g = w->system->graph;
    const char *K = s->natural ? "T" : "L", *index[3] = {NULL};
    written_begin(w, s->natural ? "kinetic energy without the dependent velocities"
                                : "Lagrangian without the dependent velocities");
    if (!written_definition(w, s->natural ? "T_o" : "L_o", s->Ko)) return false;
    written_begin(w, arena_format(w->memory, "momenta without the dependent velocities: p[D] = (d%s/dD')_o", K));
    for (size_t i = 0; i < w->n; i++) {
        if (!is_dependent(s, i)) continue;
        s->p[i] = freedoms_substitute(w, &s->f, graph_partial(g, s->K, w->system->v[i]));
        index[0] = w->system->coordinates[i].name;
        if (!written_entry(w, "p", index, s->p[i])) return false;
    }
    return graph_status(g) == HAMEL_OK;
}

/* Returns Σ_D p_D (Σ_J w^D_IJ q'_J + w^D_I) for the independent coordinate i. */
static graph_node coupling(const solved_form *s, size_t i) {
    graph *g = s->w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t d = 0; d < s->w->n; d++) {
        if (!is_dependent(s, d)) continue;
        graph_node rate = coefficient_of_time(s, d, i);
        for (size_t r = 0; r < s->f.count; r++)
            rate = graph_add(g, rate, graph_mul(g, coefficient(s, d, i, s->independent[r]), s->f.symbol[r]));
        sum = graph_add(g, sum, graph_mul(g, s->p[d], written_arranged(s->w, rate)));
    }
    return sum;
}

/* Returns the left-hand side of Voronets' equation of the free velocity r. */
static graph_node left_side(solved_form *s, size_t r) {
    written *w = s->w;
    graph *g = w->system->graph;
    graph_node rate = graph_rate(g, graph_partial(g, s->Ko, s->f.symbol[r]));
    rate = freedoms_substitute(w, &s->f, rate);
    size_t i = s->independent[r];
    return graph_sub(g, graph_sub(g, rate, derivative_along(s, s->Ko, i)), coupling(s, i));
}

static graph_node minus_potential_slope(written *w, graph_node sum, size_t k) {
    hamel_system *system = w->system;
    graph *g = system->graph;
    for (size_t i = 0; i < system->potential_count; i++)
        sum = graph_sub(g, sum, graph_partial(g, system->potential[i], system->q[k]));
    return sum;
}

/* Returns the generalized force on q_k: impressed forces minus ∂V/∂q_k, without reactions. */
static graph_node force_with_potential(written *w, size_t k) {
    return minus_potential_slope(w, written_force(w, k), k);
}

/* Returns d/dt ∂T/∂q'_k − ∂T/∂q_k. The potential must not contain velocities. */
static graph_node inertia_without_potential(written *w, size_t k) {
    return minus_potential_slope(w, written_inertia(w, k), k);
}

static const char *title_of_motion(const solved_form *s) {
    if (s->hadamard)
        return s->natural ? "motion: E[I] + sum of b[D, I]*E[D] = Q[I] + sum of b[D, I]*Q[D], where E[k] = d/dt dT/dk' "
                            "- dT/dk"
                          : "motion: E[I] + sum of b[D, I]*E[D] = Q[I] + sum of b[D, I]*Q[D], where E[k] = d/dt dL/dk' "
                            "- dL/dk and Q contains the forces without potential";
    if (!s->natural)
        return "motion: d/dt dL_o/dI' - dL_o/dI - sum of b[D, I]*dL_o/dD - sum of p[D]*(w[D; I, J]*J' + w[D; I, t]) = "
               "Q[I] + sum of b[D, I]*Q[D], where Q contains the forces without potential";
    return s->chaplygin ? "motion: d/dt dT_o/dI' - dT_o/dI - sum of p[D]*(t[D; I, J]*J' + t[D; I, t]) = Q[I] + sum of "
                          "b[D, I]*Q[D]"
                        : "motion: d/dt dT_o/dI' - dT_o/dI - sum of b[D, I]*dT_o/dD - sum of p[D]*(w[D; I, J]*J' + "
                          "w[D; I, t]) = Q[I] + sum of b[D, I]*Q[D]";
}

static bool write_motion(solved_form *s) {
    written *w = s->w;
    graph *g = w->system->graph;
    s->f.equation = node_array(w->system, s->f.count);
    if (!s->f.equation) return false;
    written_begin(w, title_of_motion(s));
    for (size_t r = 0; r < s->f.count; r++) {
        graph_node u = s->f.symbol[r];
        graph_node left = s->hadamard
                              ? freedoms_project(w, &s->f, u, s->natural ? inertia_without_potential : written_inertia)
                              : left_side(s, r);
        graph_node right = freedoms_project(w, &s->f, u, s->natural ? force_with_potential : written_force);
        if (!s->hadamard) right = freedoms_substitute(w, &s->f, right);
        s->f.equation[r] = freedoms_substitute(w, &s->f, graph_sub(g, left, right));
        if (!written_equation(w, s->f.name[r], left, right)) return false;
    }
    return graph_status(g) == HAMEL_OK;
}

/* Sets a[r * n + i] to the coefficient of q'_i in the r-th constraint that acts at the initial state. Returns the
 * number of acting constraints, or 0 if one of them is not linear in the velocities or restricts accelerations. */
static size_t list_rows(const written *w, graph_node *a) {
    graph *g = w->system->graph;
    size_t rows = 0;
    for (size_t c = 0; c < w->m; c++) {
        if (!w->acts[c]) continue;
        if (w->equations.velocity[c] < 0) return 0;
        for (size_t i = 0; i < w->n; i++) {
            graph_node x = a[rows * w->n + i] = graph_partial(g, w->equations.velocity[c], w->system->v[i]);
            if (x < 0 || (graph_depends(g, x) & GRAPH_DEPENDS(SYMBOL_VELOCITY))) return 0;
        }
        rows++;
    }
    return rows;
}

enum { DETERMINANT_MOST = 3, SUBSETS_MOST = 300 };

/* Returns the 2 × 2 determinant x_i y_j − x_j y_i. */
static graph_node minor(graph *g, const graph_node *x, const graph_node *y, size_t i, size_t j) {
    return graph_sub(g, graph_mul(g, x[i], y[j]), graph_mul(g, x[j], y[i]));
}

/* Returns the determinant of the columns at[rows] of the first `rows` rows of `a`, 1 ≤ rows ≤ 3. */
static graph_node determinant(written *w, const graph_node *a, size_t rows, const size_t *at) {
    graph *g = w->system->graph;
    const graph_node *second = a + w->n, *third = second + w->n;
    if (rows == 1) return written_arranged(w, a[at[0]]);
    if (rows == 2) return written_arranged(w, minor(g, a, second, at[0], at[1]));
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < 3; k++) {
        graph_node rest = minor(g, second, third, at[(k + 1) % 3], at[(k + 2) % 3]);
        sum = graph_add(g, sum, graph_mul(g, a[at[k]], rest));
    }
    return written_arranged(w, sum);
}

/* Returns the cost of solving the constraints for the velocities at[rows]. The cost is 0 if the determinant of these
 * columns is ±1, 1 if it is another number, and 2 if it contains parameters only. The cost is 3 if the determinant
 * depends on the state or is 0. */
static int cost_of_columns(written *w, const graph_node *a, size_t rows, const size_t *at) {
    graph *g = w->system->graph;
    graph_node x = determinant(w, a, rows, at);
    double value = 0;
    if (x < 0 || (graph_depends(g, x) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER))) return 3;
    if (!graph_values(g, &x, 1, &w->start, &value, NULL) || value == 0) return 3;
    return !graph_is_number(g, x, NULL) ? 2 : fabs(value) != 1;
}

/* Replaces at[count] by the next subset of 0 … most − 1 in lexicographic order, with increasing elements. Returns false
 * if at[count] was the last subset. */
static bool next_subset(size_t *at, size_t count, size_t most) {
    size_t k = count;
    while (k > 0 && at[k - 1] == most - count + k - 1) k--;
    if (k == 0) return false;
    for (at[k - 1]++; k < count; k++) at[k] = at[k - 1] + 1;
    return true;
}

/* Sets best[rows] to the columns of lowest cost among column[count]. At most SUBSETS_MOST choices are compared. Returns
 * false if every choice costs 3. */
static bool find_regular(written *w, const graph_node *a, size_t rows, const size_t *column, size_t count,
                         size_t *best) {
    size_t pick[DETERMINANT_MOST] = {0, 1, 2}, at[DETERMINANT_MOST] = {0};
    int least = 3;
    bool more = true;
    for (int tried = 0; more && least > 0 && tried < SUBSETS_MOST && !w->work_budget.spent; tried++) {
        for (size_t k = 0; k < rows; k++) at[k] = column[pick[k]];
        int cost = cost_of_columns(w, a, rows, at);
        if (cost < least) memcpy(best, at, rows * sizeof *best);
        if (cost < least) least = cost;
        more = next_subset(pick, rows, count);
    }
    return least < 3;
}

/* If up to three constraints can be solved at all states for some of the preferred velocities, removes the preference
 * of the other velocities. The equations then have no divisors that depend on the state. The constraints of a rolling
 * disk, for example, can be solved at all states for the velocities of its center. The search may use a tenth of the
 * work budget, so that most of the budget remains for the equations. */
static bool prefer_regular(written *w, bool *preferred) {
    enum { PART = 10 };
    graph_node *a = arena_alloc(w->memory, w->m * w->n, sizeof *a);
    size_t *column = arena_alloc(w->memory, w->n, sizeof *column), count = 0, best[DETERMINANT_MOST] = {0};
    if (!a || !column) return false;
    size_t rows = list_rows(w, a);
    for (size_t i = 0; i < w->n; i++)
        if (preferred[i]) column[count++] = i;
    if (rows == 0 || rows > DETERMINANT_MOST || rows > count) return true;
    const work_budget whole = w->work_budget;
    w->work_budget.left = whole.left / PART;
    bool found = find_regular(w, a, rows, column, count, best);
    uint64_t used = whole.left / PART - w->work_budget.left;
    w->work_budget = whole;
    w->work_budget.left -= used;
    for (size_t i = 0; found && i < w->n; i++) {
        preferred[i] = false;
        for (size_t k = 0; k < rows; k++) preferred[i] |= best[k] == i;
    }
    return graph_status(w->system->graph) == HAMEL_OK;
}

/* Sets s->f.preferred[n] for the coordinates whose velocities should be dependent. Returns false after adding an
 * error. */
static bool find_preferred(solved_form *s) {
    bool *absent = arena_alloc(s->w->memory, s->w->n, sizeof *absent);
    s->f.preferred = absent;
    return absent && chaplygin_find_absent(&s->w->equations, s->chaplygin, absent) && prefer_regular(s->w, absent);
}

bool write_solved_form(written *w, const char *as) {
    solved_form s = {.w = w, .chaplygin = strcmp(as, "chaplygin") == 0, .hadamard = strcmp(as, "hadamard") == 0};
    s.f.reactions = true;
    s.f.in_coordinates = true;
    if (!find_preferred(&s) || !freedoms_solve(w, &s.f) || !read_solved_form(&s) || !check_absent(&s)) return false;
    if (!write_solved_velocities(&s)) return false;
    if (w->form != HAMEL_FORM_MOTION) return freedoms_write(w, &s.f, as);
    if (w->system->acceleration_energy >= 0)
        s.natural = true;
    else if (!find_function(&s))
        return false;
    if (!s.hadamard && (!write_all_coefficients(&s) || !write_function(&s))) return false;
    if (!write_motion(&s) || !freedoms_reactions(w, &s.f, !s.hadamard)) return false;
    return w->lines_read || freedoms_machine(w, &s.f);
}
