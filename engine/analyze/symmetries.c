/* symmetries.c — conserved quantities of combined shifts and rotations; see symmetries.h.
 *
 * The unknowns are τ and the entries of S and c. At a random state that satisfies the constraints, d/dt J = 0 is one
 * linear equation for the unknowns. With more equations than unknowns, the null space of the equations contains all
 * symmetries of this form. Each null vector is then written as an expression, and the tests of zero.c confirm that d/dt
 * J vanishes. The tests use other states than those that determined the vector.
 *
 * In systems with at most GENERAL_MOST coordinates, S is arbitrary. In larger systems, S is a sum of rotations of pairs
 * of coordinates with the same inertia. For systems with friction or prescribed reactions, τ = 0. The friction of each
 * contact and the prescribed reactions must do no work on the displacement. Coordinates whose momenta are conserved
 * have no unknown in c, because structure_derive has found these momenta. */
#include "engine/analyze/symmetries.h"
#include "engine/analyze/symmetries_int.h"
#include "engine/base/finite.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* With at most GENERAL_MOST = 10 coordinates, S is arbitrary, and there are at most 10² + 10 + 1 = 111 unknowns.
 * UNKNOWNS_MOST limits the elimination to about 1e7 multiplications. SPARE: number of equations minus number of
 * unknowns. */
enum { GENERAL_MOST = 10, UNKNOWNS_MOST = 200, SPARE = 6 };
/* Upper bound on the number of node evaluations at all states, which take about a tenth of a second. */
static const double MOST_EVALUATED = 1e7;

/* --- unknowns ----------------------------------------------------------------------------------------------------- */

static void add_unknown(symmetry_search *s, int32_t row, int32_t column, bool paired) {
    if (s->count < UNKNOWNS_MOST) s->unknowns[s->count] = (symmetry_unknown){row, column, paired};
    s->count++;
}

/* Returns true if the displacement of coordinate i may contain q_j, and vice versa. If both momenta are conserved and
 * the inertias M_i and M_j differ, q_i p_j/M_j − q_j p_i/M_i is conserved as well. This quantity only expresses that
 * the velocities are constant. */
static bool may_mix(const symmetry_search *s, int32_t i, int32_t j, const graph_node *inertia) {
    bool both_kept = s->a->kept_at_start[i] && s->a->kept_at_start[j];
    return inertia[i] == inertia[j] || (s->a->n <= GENERAL_MOST && !both_kept);
}

/* Adds the unknowns for the entries of S. Entries below the diagonal come first, so that a rotation of x and y is
 * written x p_y − y p_x. */
static void add_matrix(symmetry_search *s, const graph_node *inertia) {
    int32_t n = (int32_t)s->a->n;
    for (int32_t i = 1; i < n; i++)
        for (int32_t j = 0; j < i; j++)
            if (may_mix(s, i, j, inertia)) add_unknown(s, i, j, n > GENERAL_MOST);
    for (int32_t i = 0; i < n && n <= GENERAL_MOST; i++)
        for (int32_t j = i; j < n; j++)
            if (may_mix(s, i, j, inertia)) add_unknown(s, i, j, false);
}

/* Lists the unknowns. Returns false if out of memory. */
static bool choose_unknowns(symmetry_search *s) {
    analysis *a = s->a;
    const matrix_pattern *M = &a->equations.M;
    graph_node *inertia = node_array(a->system, a->n);
    s->unknowns = arena_alloc(a->memory, UNKNOWNS_MOST, sizeof *s->unknowns);
    if (!inertia || !s->unknowns) return false;
    for (size_t k = 0; k < M->count; k++)
        if (M->entries[k].row == M->entries[k].column) inertia[M->entries[k].row] = M->entries[k].node;
    if (!a->energy_kept_at_start && s->extras == 0) add_unknown(s, -1, -1, false);
    size_t before = s->count;
    add_matrix(s, inertia);
    if (s->count + a->n > UNKNOWNS_MOST) s->count = before;
    for (int32_t i = 0; i < (int32_t)a->n; i++)
        if (!a->kept_at_start[i]) add_unknown(s, i, -1, false);
    return true;
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

/* Sets force[k] to ∂L/∂q_k + Q_k + Σ λ_c A_ck. Returns false if out of memory. */
static bool fill_forces(symmetry_search *s) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    const hamel_equations *e = &a->equations;
    graph_node *slope = energies_slopes(e);
    for (size_t k = 0; slope && k < a->n; k++) s->force[k] = graph_add(g, slope[k], e->given[k]);
    for (size_t k = 0; slope && k < e->A.count; k++) {
        const matrix_entry *c = &e->A.entries[k];
        graph_node reaction = graph_mul(g, c->node, graph_symbol(g, SYMBOL_MULTIPLIER, c->row));
        s->force[c->column] = graph_add(g, s->force[c->column], reaction);
    }
    return slope != NULL;
}

/* Fills s->extra with the friction of each contact and the prescribed reactions. Returns false if out of memory. */
static bool fill_extras(symmetry_search *s) {
    analysis *a = s->a;
    const hamel_equations *e = &a->equations;
    size_t frictions = 0;
    for (size_t k = 0; k < e->F.count; k++)
        if ((size_t)e->F.entries[k].column >= frictions) frictions = (size_t)e->F.entries[k].column + 1;
    s->extras = frictions + (e->nonideal ? 1 : 0);
    s->extra = node_array(a->system, s->extras * a->n);
    if (!s->extra) return false;
    for (size_t k = 0; k < e->F.count; k++)
        s->extra[(size_t)e->F.entries[k].column * a->n + (size_t)e->F.entries[k].row] = e->F.entries[k].node;
    if (e->nonideal) memcpy(s->extra + frictions * a->n, e->nonideal, a->n * sizeof *s->extra);
    return true;
}

static bool fill_nodes(symmetry_search *s) {
    analysis *a = s->a;
    size_t n = a->n;
    s->momentum = a->equations.momentum;
    s->force = node_array(a->system, n);
    if (!s->force || !fill_extras(s) || !fill_forces(s)) return false;
    s->node_count = (2 + s->extras) * n + 1;
    s->nodes = arena_alloc(a->memory, s->node_count, sizeof *s->nodes);
    s->values = arena_doubles(a->memory, s->node_count);
    if (a->memory->failed) return false;
    memcpy(s->nodes, s->momentum, n * sizeof *s->nodes);
    memcpy(s->nodes + n, s->force, n * sizeof *s->nodes);
    memcpy(s->nodes + 2 * n, s->extra, s->extras * n * sizeof *s->nodes);
    s->nodes[s->node_count - 1] = a->equations.jacobi_rate;
    return true;
}

/* --- linear equations --------------------------------------------------------------------------------------------- */

hamel_status symmetry_draw(symmetry_search *s, size_t set, size_t count, bool *good) {
    analysis *a = s->a;
    const model_settings *settings = &a->model->settings;
    const double *own = a->model->parameters;
    a->model->parameters = s->parameters[set];
    sampler *p = sampler_create(a, fmin(settings->stop - settings->start, 1));
    *good = p != NULL;
    for (size_t k = 0; k < SAMPLE_COUNT + count && *good; k++)
        *good = sampler_draw(p, &s->states[k < SAMPLE_COUNT ? 0 : k - SAMPLE_COUNT]);
    sampler_free(p);
    a->model->parameters = own;
    return p ? a->error->status : analysis_no_memory(a);
}

/* Marks the coordinates that are affine functions of later coordinates in all states that satisfy the constraints.
 * Returns false on failure. */
static bool find_dependent(symmetry_search *s, bool *dependent) {
    size_t n = s->a->n, rows = s->count + SPARE;
    null_vectors found;
    for (size_t k = 0; k < rows; k++) {
        memcpy(s->matrix + k * (n + 1), s->states[k].q, n * sizeof *s->matrix);
        s->matrix[k * (n + 1) + n] = 1;
    }
    bool good = rows > n && null_vectors_find(&found, s->matrix, rows, n + 1, SAMPLED_RANK_TOLERANCE);
    if (rows > n && found.starved) (void)analysis_no_memory(s->a);
    for (size_t k = 0; good && k < found.count; k++)
        if (found.pivots[k] < n) dependent[found.pivots[k]] = true;
    if (rows > n) null_vectors_free(&found);
    return good;
}

/* Removes the unknown coefficients of dependent coordinates, because the solution for them is not unique. Returns false
 * on failure. */
static bool remove_dependent(symmetry_search *s) {
    bool *dependent = arena_alloc(s->a->memory, s->a->n, sizeof *dependent);
    size_t kept = 0;
    if (!dependent) (void)analysis_no_memory(s->a);
    if (!dependent || !find_dependent(s, dependent)) return false;
    for (size_t k = 0; k < s->count; k++) {
        const symmetry_unknown *u = &s->unknowns[k];
        if (u->column >= 0 && (dependent[u->column] || (u->paired && dependent[u->row]))) continue;
        s->unknowns[kept++] = *u;
    }
    s->count = kept;
    return true;
}

/* Fills row[count] with the coefficients of one linear equation at the state `at`. `force` points to n values of
 * forces. `momentum` points to n momenta; NULL selects the equation that the forces do no work. */
static void fill_row(const symmetry_search *s, const sample *at, const double *force, const double *momentum,
                     double *row) {
    for (size_t k = 0; k < s->count; k++) {
        const symmetry_unknown *u = &s->unknowns[k];
        if (u->row < 0) {
            row[k] = momentum ? s->values[s->node_count - 1] : 0;
            continue;
        }
        double q = u->column < 0 ? 1 : at->q[u->column], rate = u->column < 0 ? 0 : at->v[u->column];
        row[k] = q * force[u->row] + (momentum ? rate * momentum[u->row] : 0);
        if (u->paired)
            row[k] -= at->q[u->row] * force[u->column] + (momentum ? at->v[u->row] * momentum[u->column] : 0);
    }
}

/* Computes the null vectors for a set of parameters from the drawn states. Returns false if a value is not finite. If
 * out of memory, adds an error and returns false. */
static bool solve(symmetry_search *s, size_t set) {
    analysis *a = s->a;
    size_t rows = 0;
    for (size_t i = 0; i < s->count + SPARE; i++) {
        const sample *at = &s->states[i];
        graph_point point = sample_point(a, at, false);
        point.values[SYMBOL_PARAMETER] = s->parameters[set];
        if (!graph_values(a->system->graph, s->nodes, s->node_count, &point, s->values, NULL))
            return (void)analysis_no_memory(a), false;
        if (!all_finite(s->values, s->node_count)) return false;
        for (size_t k = 0; k <= s->extras; k++)
            fill_row(s, at, s->values + (1 + k) * a->n, k == 0 ? s->values : NULL, s->matrix + rows++ * s->count);
    }
    bool good = null_vectors_find(&s->found[set], s->matrix, rows, s->count, SAMPLED_RANK_TOLERANCE);
    if (s->found[set].starved) (void)analysis_no_memory(a);
    return good;
}

/* Creates the sets of parameters and the arrays for the states. The first set contains the parameter values of the
 * description. */
static bool create_states(symmetry_search *s) {
    analysis *a = s->a;
    uint64_t seed = 41;
    size_t rows = (s->count + SPARE) * (1 + s->extras), columns = s->count;
    s->state_count = s->count + SPARE + a->n + 2 + PRODUCTS_MOST * PRODUCTS_MOST / 2;
    for (size_t set = 0; set < SYMMETRY_SETS; set++) {
        s->parameters[set] = arena_doubles(a->memory, a->system->parameter_count + 1);
        for (size_t i = 0; i < a->system->parameter_count && s->parameters[set]; i++)
            s->parameters[set][i] = a->model->parameters[i] * (set > 0 ? random_uniform(&seed, 0.7, 1.4) : 1);
    }
    s->matrix = arena_doubles(a->memory, rows * (columns > a->n ? columns : a->n + 1) + s->state_count);
    s->states = arena_alloc(a->memory, s->state_count, sizeof *s->states);
    for (size_t k = 0; k < s->state_count && s->states; k++)
        if (!sample_allocate(a, &s->states[k])) return false;
    return !a->memory->failed;
}

/* Computes the null vectors for the parameters of the description. Repeats the computation with other parameters as
 * long as the vectors have the same pivots. */
static hamel_status find_null_vectors(symmetry_search *s) {
    analysis *a = s->a;
    bool good;
    if (!create_states(s)) return analysis_no_memory(a);
    hamel_status status = symmetry_draw(s, 0, s->count + SPARE, &good);
    if (status != HAMEL_OK || !good || !remove_dependent(s) || s->count == 0 || !solve(s, 0)) return a->error->status;
    for (s->sets = 1; s->found[0].count > 0 && s->sets < SYMMETRY_SETS; s->sets++) {
        null_vectors *own = &s->found[s->sets];
        status = symmetry_draw(s, s->sets, s->count + SPARE, &good);
        if (status != HAMEL_OK || !good || !solve(s, s->sets) || own->count != s->found[0].count ||
            memcmp(own->pivots, s->found[0].pivots, own->count * sizeof *own->pivots) != 0)
            break;
    }
    return a->error->status;
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

graph_node symmetry_displacement(const symmetry_search *s, const graph_node *value, int32_t k, bool rate) {
    hamel_system *system = s->a->system;
    graph *g = system->graph;
    const graph_node *q = rate ? system->v : system->q;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < s->count; i++) {
        const symmetry_unknown *u = &s->unknowns[i];
        if (graph_is_zero(g, value[i]) || u->row < 0) continue;
        if (u->row == k && u->column < 0 && !rate) sum = graph_add(g, sum, value[i]);
        if (u->row == k && u->column >= 0) sum = graph_add(g, sum, graph_mul(g, value[i], q[u->column]));
        if (u->paired && u->column == k) sum = graph_sub(g, sum, graph_mul(g, value[i], q[u->row]));
    }
    return sum;
}

static bool shifts_time(const symmetry_search *s, const symmetry_candidate *c) {
    return s->unknowns[0].row < 0 && c->vector[0] != 0;
}

/* Adds the zero tests of a candidate: d/dt J = 0, no work of friction and prescribed reactions, and J ≠ 0. */
static bool add_candidate_test(symmetry_search *s, symmetry_candidate *c) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    bool timed = shifts_time(s, c);
    graph_node rate = timed ? a->equations.jacobi_rate : graph_number(g, 0);
    graph_node value = timed ? a->equations.jacobi : graph_number(g, 0);
    for (int32_t k = 0; k < (int32_t)a->n; k++) {
        graph_node xi = symmetry_displacement(s, c->value, k, false),
                   xi_rate = symmetry_displacement(s, c->value, k, true);
        if (graph_is_zero(g, xi)) continue;
        rate = graph_add(g, rate, graph_mul(g, xi, s->force[k]));
        rate = graph_add(g, rate, graph_mul(g, xi_rate, s->momentum[k]));
        value = graph_add(g, value, graph_mul(g, xi, s->momentum[k]));
    }
    c->changes = c->differs = false;
    c->beyond = 0;
    for (size_t f = 0; f < s->extras; f++) {
        graph_node work = graph_number(g, 0);
        for (int32_t k = 0; k < (int32_t)a->n; k++)
            work = graph_add(
                g, work, graph_mul(g, symmetry_displacement(s, c->value, k, false), s->extra[f * a->n + (size_t)k]));
        if (!zero_test_add(a, work, &c->changes, &c->beyond)) return false;
    }
    c->quantity = value;
    return zero_test_add(a, rate, &c->changes, &c->beyond) && zero_test_add(a, value, &c->differs, NULL);
}

/* Writes the unknowns of candidate k as expressions: as numbers if sets = 1, otherwise with parameters. */
static void write_values(symmetry_search *s, size_t k, size_t sets) {
    double x[SYMMETRY_SETS];
    for (size_t j = 0; j < s->count; j++) {
        for (size_t set = 0; set < sets; set++) x[set] = s->found[set].vectors[k * s->count + j];
        graph *g = s->a->system->graph;
        s->candidates[k].value[j] =
            x[0] == 0 ? graph_number(g, 0) : symmetry_value(g, x, sets, s->parameters, s->a->system->parameter_count);
    }
}

/* Tests all candidates with coefficients in terms of parameters. Tests the candidates that fail again with numbers. */
static hamel_status test_candidates(symmetry_search *s) {
    analysis *a = s->a;
    size_t count = s->found[0].count;
    s->candidates = arena_alloc(a->memory, count, sizeof *s->candidates);
    if (!s->candidates) return analysis_no_memory(a);
    for (size_t sets = s->sets; sets > 0; sets = sets > 1 ? 1 : 0) {
        for (size_t k = 0; k < count; k++) {
            symmetry_candidate *c = &s->candidates[k];
            if (sets < s->sets && !c->changes) continue;
            c->value = node_array(a->system, s->count);
            c->vector = s->found[0].vectors + k * s->count;
            if (!c->value) return equations_status(a->system);
            write_values(s, k, sets);
            if (!add_candidate_test(s, c)) return analysis_stopped(a);
        }
        hamel_status status = equations_status(a->system);
        if (status == HAMEL_OK) status = zero_tests_run(a);
        if (status != HAMEL_OK) return status;
    }
    return HAMEL_OK;
}

/* --- report ------------------------------------------------------------------------------------------------------- */

/* Prints SYMBOL_FREE k as momentum(x) of coordinate k, and SYMBOL_FREE n as jacobi_integral(). */
static void name_quantity(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    const hamel_system *s = context;
    if (kind != SYMBOL_FREE)
        system_name_symbol(context, kind, index, out);
    else if ((size_t)index == s->coordinate_count)
        text_buffer_puts(out, "jacobi_integral()");
    else
        text_buffer_printf(out, "momentum(%s)", s->coordinates[index].name);
}

const char *symmetry_text(analysis *a, graph_node node) {
    text_buffer out;
    text_buffer_init(&out, ANALYSIS_TEXT_MOST);
    graph_print(a->system->graph, node, name_quantity, a->system, &out);
    const char *text = out.failed || !out.bytes ? NULL : arena_text(a->memory, out.bytes, out.length);
    text_buffer_free(&out);
    return text;
}

static const char *coordinate_name(analysis *a, size_t k) {
    return arena_format(a->memory, "%s", a->system->coordinates[k].name);
}

/* Appends the terms ξ_k p_k to `out`: those with a negative sign if `negative` is true, otherwise those with a positive
 * sign. Of the two signs, a term has the sign for which its remaining text is shorter. Returns false if out of
 * memory. */
static bool append_terms(symmetry_search *s, const symmetry_candidate *c, bool negative, text_buffer *out) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    for (int32_t k = 0; k < (int32_t)a->n; k++) {
        graph_node xi = symmetry_displacement(s, c->value, k, false);
        if (graph_is_zero(g, xi)) continue;
        graph_node term = graph_mul(g, xi, graph_symbol(g, SYMBOL_FREE, k));
        const char *plus = symmetry_text(a, term), *minus = symmetry_text(a, graph_neg(g, term));
        if (!plus || !minus) return false;
        if ((strlen(minus) < strlen(plus)) != negative) continue;
        if (negative || out->length > 0) text_buffer_puts(out, out->length == 0 ? "-" : negative ? " - " : " + ");
        text_buffer_puts(out, negative ? minus : plus);
    }
    return true;
}

/* Returns the text of Σ ξ_k p_k or, if the candidate shifts the time, of h + Σ ξ_k p_k. Returns NULL if out of
 * memory. */
static const char *conserved_text(symmetry_search *s, const symmetry_candidate *c) {
    text_buffer out;
    text_buffer_init(&out, ANALYSIS_TEXT_MOST);
    if (shifts_time(s, c)) text_buffer_puts(&out, "jacobi_integral()");
    bool good = append_terms(s, c, false, &out) && append_terms(s, c, true, &out) && !out.failed && out.bytes;
    const char *text = good ? arena_text(s->a->memory, out.bytes, out.length) : NULL;
    text_buffer_free(&out);
    return text;
}

/* Fills *out with the displacements and the conserved quantity of a candidate. Returns false if out of memory. */
static bool write_symmetry(symmetry_search *s, const symmetry_candidate *c, hamel_symmetry *out) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    out->time_shift = shifts_time(s, c);
    out->conserved = conserved_text(s, c);
    out->displacements = arena_alloc(a->memory, a->n, sizeof *out->displacements);
    for (int32_t k = 0; out->displacements && k < (int32_t)a->n; k++) {
        graph_node xi = symmetry_displacement(s, c->value, k, false);
        if (graph_is_zero(g, xi)) continue;
        const char *value = symmetry_text(a, out->time_shift ? graph_neg(g, xi) : xi);
        out->displacements[out->displacement_count++] = (hamel_shift_component){coordinate_name(a, (size_t)k), value};
        if (!value) return false;
    }
    return out->conserved && !a->memory->failed;
}

/* Lists the symmetries of the Jacobi integral and the momenta that structure_derive found, in the order of the
 * report. */
static bool list_simple(analysis *a, hamel_symmetries *list, const hamel_names *conserved) {
    hamel_shift_component *shift = arena_alloc(a->memory, a->n, sizeof *shift);
    if (!shift) return false;
    if (a->energy_kept) list->items[list->count++] = (hamel_symmetry){.time_shift = 1};
    for (size_t k = 0; k < a->n; k++) {
        if (!a->kept[k]) continue;
        shift[k] = (hamel_shift_component){coordinate_name(a, k), "1"};
        list->items[list->count++] = (hamel_symmetry){.displacements = &shift[k], .displacement_count = 1};
    }
    assert(list->count == conserved->count);
    for (size_t k = 0; k < list->count; k++) list->items[k].conserved = conserved->items[k];
    return !a->memory->failed;
}

/* Adds a quantity that is conserved only on the initial branches to the `conserved_while` list of the report. */
static bool add_regional(symmetry_search *s, const symmetry_candidate *c) {
    hamel_report *r = s->a->report;
    hamel_symmetry own = {0};
    hamel_regional *to = &r->conserved_while[r->conserved_while_count];
    if (!write_symmetry(s, c, &own) || !regions_name(s->a, c->beyond, &to->conditions)) return false;
    to->name = own.conserved;
    r->conserved_while_count++;
    return true;
}

static bool report_symmetries(symmetry_search *s) {
    analysis *a = s->a;
    hamel_report *r = a->report;
    size_t count = s->candidates ? s->found[0].count : 0, most = r->conserved.count + count;
    const char **names = arena_alloc(a->memory, most, sizeof *names);
    hamel_regional *regional = arena_alloc(a->memory, r->conserved_while_count + count, sizeof *regional);
    hamel_symmetries *list = arena_alloc(a->memory, 1, sizeof *list);
    if (a->memory->failed) return false;
    list->items = arena_alloc(a->memory, most, sizeof *list->items);
    if (!list->items || !list_simple(a, list, &r->conserved)) return false;
    memcpy(names, r->conserved.items, r->conserved.count * sizeof *names);
    memcpy(regional, r->conserved_while, r->conserved_while_count * sizeof *regional);
    r->conserved.items = names;
    r->conserved_while = regional;
    r->symmetries = list;
    for (size_t k = 0; k < count; k++) {
        const symmetry_candidate *c = &s->candidates[k];
        if (c->changes || !c->differs) continue;
        if (c->beyond != 0 && !add_regional(s, c)) return false;
        if (c->beyond != 0) continue;
        if (!write_symmetry(s, c, &list->items[list->count])) return false;
        names[r->conserved.count++] = list->items[list->count++].conserved;
    }
    return true;
}

hamel_status symmetries_derive(analysis *a) {
    symmetry_search s = {.a = a};
    bool good = a->system->acceleration_energy < 0; /* momenta are not defined by a Gibbs–Appell function */
    hamel_status status = HAMEL_OK;
    if (good && (!fill_nodes(&s) || !choose_unknowns(&s))) status = analysis_stopped(a);
    if (status == HAMEL_OK) status = equations_status(a->system);
    double work = (double)graph_count(a->system->graph) * (double)(s.count + SPARE);
    good = good && s.count > 0 && s.count <= UNKNOWNS_MOST && work <= MOST_EVALUATED;
    if (status == HAMEL_OK && good) status = find_null_vectors(&s);
    if (status == HAMEL_OK && s.found[0].count > 0) status = test_candidates(&s);
    if (status == HAMEL_OK && s.candidates) status = symmetry_choose(&s);
    if (status == HAMEL_OK && !report_symmetries(&s)) status = analysis_stopped(a);
    if (status == HAMEL_OK) status = quadrature_derive(&s, &a->report->symmetries->quadrature);
    for (size_t k = 0; k < SYMMETRY_SETS; k++) null_vectors_free(&s.found[k]);
    return status;
}
