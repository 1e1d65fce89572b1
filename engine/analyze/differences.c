/* differences.c — comparison of the equations of motion with finite differences of the description.
 *
 * All formulations use the same derivation, so an error in the derivation affects all of them. This check does not
 * differentiate expressions.
 *
 * At a state (t, q, q'), accelerations q'' and multipliers λ are chosen arbitrarily. For each coordinate i, the
 * left-hand sides below are compared with the right-hand sides:
 *
 *     d/dt ∂L/∂q'_i − ∂L/∂q_i + ∂S/∂q''_i + ∂D/∂q'_i − Σ F·∂x/∂q_i − Σ F·∂u/∂q'_i   and   (M q'' − Q − F|λ|)_i
 *     ∂f/∂q_i, ∂f/∂q'_i or ∂f/∂q''_i of a constraint f                   and   A_ci
 *
 * The second or first derivative of each constraint along the path with these accelerations is compared with A q'' − b.
 * S is the Gibbs–Appell function of the description. A force F of the description acts along a position or distance x,
 * or along a velocity u. The rate of the momentum is a mixed second derivative. The mixed derivative is computed from
 * two pure second derivatives:
 *     D²L[a, b] = (D²L[a + b, a + b] − D²L[a − b, a − b])/4
 *
 * Derivatives are Ridders' extrapolations of central differences with error estimates (Adv. Eng. Software 4 (1982) 75).
 * A comparison is undecided if TRUST times its error estimate exceeds OPEN times the size of the terms. */
#include "engine/analyze/analysis_int.h"
#include "engine/dynamics/discrete_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* The steps range from 0.2 to 2e-4. The best entry of the tableau is used, so the range need only contain one suitable
 * step. Steps are not relative to the value of a coordinate, because the coordinate may be a large angle. */
enum { LEVELS = 11 };
static const double FIRST_STEP = 0.2, RATIO = 2;
/* An error estimate is a difference between entries of the tableau, not a bound, so it is multiplied by the safety
 * factor TRUST. If the product exceeds OPEN times the size of the terms, fewer than three digits are reliable, and the
 * comparison is undecided. */
static const double TRUST = 10, OPEN = 1e-3;
/* Largest difference that counts as agreement, relative to the size of the terms. For smooth functions, first
 * derivatives have ten correct digits and second derivatives eight (test_differences.c). An error in the equations
 * usually changes a term by a large fraction. */
static const double TOLERANCE = 1e-6;
/* Upper bound on the program instructions executed per state, which take about a third of a second. In large systems
 * some coordinates are skipped to stay below this bound. */
static const double STATE_WORK = 3e8;

/* First index of each kind of output of the program. */
typedef struct places {
    size_t energy, acceleration_energy, dissipation, constraints, works, forces, frictions, count;
} places;

typedef struct estimate {
    double value, error;
} estimate;

typedef struct comparison {
    analysis *a;
    hamel_difference_check *out;
    program *program;
    places at;
    discrete_state discrete_state;
    /* workspace: scratch of `program`; model_workspace, values: scratch and outputs of the model's dynamics program */
    double *workspace, *model_workspace, *values;
    double t, *q, *v, *acc; /* the displaced state; q, v, acc: n entries each */
    double *sides[2];       /* LEVELS × outputs: values at +h and at −h */
    double *here;           /* outputs at the undisplaced state */
    /* row_size: largest entry of each row of A; column: one column of A */
    double *row_size, *column;
    const sample *state;
} comparison;

/* A curve through the state, defined by the derivatives of t, q, q' and q'' with respect to the parameter h of the
 * stencil. NULL means zeros. */
typedef struct line {
    double t;
    const double *q, *v, *acc;
    double curve;   /* q also changes by h² · curve · q'' */
    size_t single;  /* index of a coordinate with additional rates, or n */
    double rate[3]; /* additional rates of q, q' and q'' of this coordinate */
} line;

/* --- values near a state ------------------------------------------------------------------------------------------ */

static void evaluate_at(comparison *w, const line *l, double h, double *out) {
    assert(l->single <= w->a->n);
    const sample *s = w->state;
    w->t = s->t + h * l->t;
    for (size_t i = 0; i < w->a->n; i++) {
        w->q[i] = s->q[i] + h * (l->q ? l->q[i] : 0) + h * h * l->curve * s->a[i];
        w->v[i] = s->v[i] + h * (l->v ? l->v[i] : 0);
        w->acc[i] = s->a[i] + h * (l->acc ? l->acc[i] : 0);
    }
    if (l->single < w->a->n) {
        w->q[l->single] += h * l->rate[0];
        w->v[l->single] += h * l->rate[1];
        w->acc[l->single] += h * l->rate[2];
    }
    const program_inputs in = discrete_state_inputs(&w->discrete_state, &w->t, w->q, w->v, w->acc, s->lambda);
    program_evaluate(w->program, &in, w->workspace, out);
}

static void sample_line(comparison *w, const line *l) {
    double h = FIRST_STEP;
    for (size_t k = 0; k < LEVELS; k++, h /= RATIO) {
        evaluate_at(w, l, h, w->sides[0] + k * w->at.count);
        evaluate_at(w, l, -h, w->sides[1] + k * w->at.count);
    }
}

/* Returns a central difference of an output, with a bound on its rounding error. */
static estimate difference(const comparison *w, size_t output, size_t level, double h, int order) {
    double above = w->sides[0][level * w->at.count + output], below = w->sides[1][level * w->at.count + output];
    double here = w->here[output], size = fmax(fabs(above), fmax(fabs(below), fabs(here)));
    if (order == 1) return (estimate){(above - below) / (2 * h), DBL_EPSILON * size / h};
    return (estimate){(above - 2 * here + below) / (h * h), DBL_EPSILON * size / (h * h)};
}

/* Returns the derivative of an output along the line sampled last: the entry of Neville's tableau in h² that differs
 * least from its neighbours. The error estimate is at least the rounding error. If values are not finite because the
 * domain ends near the state, only smaller steps are used. */
static estimate derivative(const comparison *w, size_t output, int order) {
    assert(order == 1 || order == 2);
    double row[LEVELS], before[LEVELS], h = FIRST_STEP;
    estimate best = {0, INFINITY};
    size_t used = 0;
    for (size_t k = 0; k < LEVELS; k++, h /= RATIO) {
        estimate raw = difference(w, output, k, h, order);
        row[0] = raw.value;
        if (!isfinite(row[0])) {
            used = 0;
            continue;
        }
        double factor = RATIO * RATIO;
        for (size_t j = 1; j <= used; j++, factor *= RATIO * RATIO) {
            row[j] = (factor * row[j - 1] - before[j - 1]) / (factor - 1);
            double error = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - before[j - 1]));
            error = fmax(error, raw.error);
            if (error < best.error) best = (estimate){row[j], error};
        }
        memcpy(before, row, (used + 1) * sizeof *row);
        used++;
    }
    return best;
}

/* --- comparison --------------------------------------------------------------------------------------------------- */

/* Records the part of |found − expected| that exceeds the error bound, divided by the size of the terms. If the error
 * bound is too large, counts the comparison as undecided. */
static void compare_estimate(comparison *w, double *worst, const char *name, double expected, estimate found,
                             double size) {
    assert(!(size < 0));
    if (size == 0 && expected == 0) return;
    if (!(TRUST * found.error <= OPEN * size)) {
        w->out->undecided++;
        return;
    }
    w->out->decided++;
    double off = fmax(0, fabs(found.value - expected) - TRUST * found.error) / size;
    *worst = fmax(*worst, fmin(off, 1));
    if (off > w->out->largest) {
        w->out->largest = fmin(off, 1);
        w->out->worst = name; /* owned by the system; differences_compare copies the name */
    }
}

/* --- constraints -------------------------------------------------------------------------------------------------- */

/* Copies column i of A. */
static void read_column(comparison *w, size_t i) {
    const hamel_model *model = w->a->model;
    for (size_t c = 0; c < model->m; c++) w->column[c] = 0;
    for (size_t e = 0; e < model->dynamics.A.count; e++)
        if ((size_t)model->dynamics.A.column[e] == i)
            w->column[model->dynamics.A.row[e]] += w->values[model->dynamics.A.at + e];
}

static void compare_gradients(comparison *w, constraint_order order) {
    for (size_t c = 0; c < w->a->m; c++) {
        if (w->a->model->order[c] != order) continue;
        estimate slope = derivative(w, w->at.constraints + c, 1);
        double size = fmax(w->row_size[c], fabs(slope.value));
        compare_estimate(w, &w->out->gradients, w->a->system->constraints[c].name, w->column[c], slope, size);
    }
}

/* Compares f'' of holonomic constraints, f' of velocity constraints and f of acceleration constraints along the path
 * with A q'' − b. */
static void compare_rates(comparison *w, const line *path) {
    const hamel_model *model = w->a->model;
    sample_line(w, path);
    for (size_t c = 0; c < w->a->m; c++) {
        size_t output = w->at.constraints + c;
        double b = w->values[model->dynamics.at_b + c], expected = -b, size = fabs(b);
        for (size_t e = 0; e < model->dynamics.A.count; e++) {
            if ((size_t)model->dynamics.A.row[e] != c) continue;
            double term = w->values[model->dynamics.A.at + e] * w->state->a[model->dynamics.A.column[e]];
            expected += term;
            size += fabs(term);
        }
        estimate rate = {w->here[output], 1e-14 * size};
        if (model->order[c] != CONSTRAINT_ACCELERATION)
            rate = derivative(w, output, model->order[c] == CONSTRAINT_HOLONOMIC ? 2 : 1);
        compare_estimate(w, &w->out->rates, w->a->system->constraints[c].name, expected, rate,
                         fmax(size, fabs(rate.value)));
    }
}

/* --- equations of motion ------------------------------------------------------------------------------------------ */

typedef struct balance {
    double sum, error, size;
} balance;

static void add_term(balance *b, double factor, estimate e) {
    if (factor == 0) return;
    b->sum += factor * e.value;
    b->error += fabs(factor) * e.error;
    b->size += fabs(factor * e.value);
}

/* Adds −Σ F·dx/dh along the line sampled last, summed over the forces of the description whose x depends on this kind
 * of symbol. */
static void add_works(comparison *w, balance *b, graph_symbol_kind kind) {
    const hamel_system *s = w->a->system;
    for (size_t k = 0; k < s->work_count; k++)
        if (s->works[k].kind == kind) add_term(b, -w->here[w->at.forces + k], derivative(w, w->at.works + k, 1));
}

/* Adds μ |g| |λ| s_t·∂s/∂q'_i / √(|s_t|² + ε²), where s is the slip and s_t is the component of s tangential to the
 * surface (Udwadia 2000, eq. 36-39). Each friction element has seven outputs: s (3), g (3) and μ. */
static void subtract_friction(comparison *w, balance *b) {
    const hamel_system *s = w->a->system;
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        size_t at = w->at.frictions + 7 * k;
        const double *slip = w->here + at, *g = slip + 3;
        double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        double across = square > 0 ? (slip[0] * g[0] + slip[1] * g[1] + slip[2] * g[2]) / square : 0;
        double along[] = {slip[0] - across * g[0], slip[1] - across * g[1], slip[2] - across * g[2]};
        double speed = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2] +
                            f->regularization * f->regularization);
        if (speed == 0 || (f->regularization == 0 && f->along_count == 0)) continue;
        double force = w->here[at + 6] * sqrt(square) * fabs(w->state->lambda[f->constraint]) / speed;
        for (int j = 0; j < 3; j++) add_term(b, force * along[j], derivative(w, at + (size_t)j, 1));
    }
}

/* Returns (M q'' − Q − F|λ|)_i of the model and sets *size to the size of its terms. */
static double model_side(const comparison *w, size_t i, double *size) {
    const hamel_model *model = w->a->model;
    const double *a = w->state->a, *lambda = w->state->lambda;
    double sum = -w->values[model->dynamics.at_Q + i];
    *size = fabs(sum);
    for (size_t e = 0; e < model->dynamics.M.count; e++) {
        size_t r = (size_t)model->dynamics.M.row[e], c = (size_t)model->dynamics.M.column[e];
        double term = r == i ? a[c] : c == i ? a[r] : 0;
        sum += term *= w->values[model->dynamics.M.at + e];
        *size += fabs(term);
    }
    for (size_t e = 0; e < model->dynamics.F.count; e++) {
        if ((size_t)model->dynamics.F.row[e] != i) continue;
        double term =
            w->values[model->dynamics.F.at + e] * fabs(lambda[model->friction.constraint[model->dynamics.F.column[e]]]);
        sum -= term;
        *size += fabs(term);
    }
    return sum;
}

/* Adds D²L[x, y], where x = (1, q', q'') in (t, q, q') and y is the unit vector of q'_i. */
static void add_momentum_rate(comparison *w, balance *b, size_t i) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        const line path = {.t = 1, .q = w->state->v, .v = w->state->a, .single = i, .rate = {0, sign, 0}};
        sample_line(w, &path);
        add_term(b, 0.25 * sign, derivative(w, w->at.energy, 2));
    }
}

/* Compares the equation of motion of coordinate i, and column i of A, with finite differences. Column i of A contains
 * the derivatives of the constraints with respect to q_i, q'_i or q''_i. */
static void compare_coordinate(comparison *w, size_t i) {
    assert(i < w->a->n);
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION};
    const size_t sources[] = {w->at.energy, w->at.dissipation, w->at.acceleration_energy};
    double size, expected = model_side(w, i, &size);
    balance b = {0};
    read_column(w, i);
    for (int k = 0; k < 3; k++) { /* in the order of constraint_order */
        line along = {.single = i};
        along.rate[k] = 1;
        sample_line(w, &along);
        compare_gradients(w, (constraint_order)k);
        add_works(w, &b, kinds[k]);
        add_term(&b, k == 0 ? -1 : 1, derivative(w, sources[k], 1));
        if (kinds[k] == SYMBOL_VELOCITY) subtract_friction(w, &b);
    }
    add_momentum_rate(w, &b, i);
    estimate found = {b.sum, b.error};
    compare_estimate(w, &w->out->motion, w->a->system->coordinates[i].name, expected, found, fmax(size, b.size));
}

/* --- all comparisons ---------------------------------------------------------------------------------------------- */

/* Lists the outputs of the program. Returns NULL if out of memory. */
static graph_node *list_nodes(comparison *w) {
    hamel_system *s = w->a->system;
    places *at = &w->at;
    *at = (places){.acceleration_energy = 1, .dissipation = 2, .constraints = 3};
    at->works = at->constraints + w->a->m;
    at->forces = at->works + s->work_count;
    at->frictions = at->forces + s->work_count;
    at->count = at->frictions + 7 * s->friction_count;
    size_t terms_count;
    graph_node *nodes = arena_alloc(w->a->memory, at->count, sizeof *nodes);
    const graph_node *terms = energies_lagrangian_terms(s, &terms_count);
    if (!nodes || !terms) return NULL;
    nodes[at->energy] = graph_number(s->graph, 0);
    for (size_t k = 0; k < terms_count; k++) nodes[at->energy] = graph_add(s->graph, nodes[at->energy], terms[k]);
    nodes[at->acceleration_energy] = s->acceleration_energy >= 0 ? s->acceleration_energy : graph_number(s->graph, 0);
    nodes[at->dissipation] = s->dissipation;
    for (size_t c = 0; c < w->a->m; c++) nodes[at->constraints + c] = s->constraints[c].equation;
    for (size_t k = 0; k < s->work_count; k++) {
        nodes[at->works + k] = s->works[k].along;
        nodes[at->forces + k] = s->works[k].force;
    }
    for (size_t k = 0; k < s->friction_count; k++) {
        graph_node *to = nodes + at->frictions + 7 * k;
        memcpy(to, s->frictions[k].slip, 3 * sizeof *to);
        memcpy(to + 3, s->frictions[k].normal, 3 * sizeof *to);
        to[6] = s->frictions[k].coefficient;
    }
    return nodes;
}

static bool allocate_comparison(comparison *w) {
    analysis *a = w->a;
    double **const lists[] = {&w->q, &w->v, &w->acc};
    w->workspace = model_workspace(a->model, w->program, a->memory);
    w->model_workspace = model_workspace(a->model, a->model->dynamics.program, a->memory);
    w->values = arena_doubles(a->memory, a->model->dynamics.count);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = arena_doubles(a->memory, a->n);
    w->row_size = arena_doubles(a->memory, a->model->m);
    w->column = arena_doubles(a->memory, a->model->m);
    for (size_t k = 0; k < 2; k++) w->sides[k] = arena_doubles(a->memory, LEVELS * w->at.count);
    w->here = arena_doubles(a->memory, w->at.count);
    return discrete_state_create(&w->discrete_state, a->model, a->memory) && !a->memory->failed;
}

/* Evaluates M, Q, A, b and F of the model at the state, and finds the largest entry of each row of A. */
static void evaluate_model(comparison *w) {
    const hamel_model *model = w->a->model;
    const sample *s = w->state;
    discrete_state_choose_branches(&w->discrete_state, s->t, s->q, s->v);
    const program_inputs in = discrete_state_inputs(&w->discrete_state, &s->t, s->q, s->v, s->a, s->lambda);
    program_evaluate(model->dynamics.program, &in, w->model_workspace, w->values);
    sparse_block_row_sizes(&model->dynamics.A, w->values, w->row_size);
}

/* Returns the number k such that only every k-th coordinate is compared. Each coordinate needs 110 evaluations, so k
 * exceeds 1 in large systems. */
static size_t stride(const comparison *w) {
    double each = 10.0 * LEVELS * ((double)program_instruction_count(w->program) + 4.0 * (double)w->at.count);
    return (size_t)fmax(1, ceil((double)w->a->n * each / STATE_WORK));
}

static void compare_at(comparison *w) {
    const line path = {.t = 1, .q = w->state->v, .v = w->state->a, .curve = 0.5, .single = w->a->n},
               still = {.single = w->a->n};
    evaluate_model(w);
    evaluate_at(w, &still, 0, w->here);
    compare_rates(w, &path);
    for (size_t i = 0, step = stride(w); i < w->a->n && !system_interrupted(w->a->system); i += step)
        compare_coordinate(w, i);
}

hamel_status differences_compare(analysis *a, const sample *const *states, size_t count, hamel_difference_check *out) {
    comparison w = {.a = a, .out = out};
    *out = (hamel_difference_check){.states = count, .tolerance = TOLERANCE, .agree = true};
    graph_node *nodes = list_nodes(&w);
    hamel_status status = nodes ? graph_status(a->system->graph) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK)
        status = program_compile(&w.program, a->memory, a->system->graph, nodes, w.at.count, a->error);
    if (status != HAMEL_OK || !allocate_comparison(&w)) return analysis_no_memory(a);
    for (size_t k = 0; k < count; k++) {
        w.state = states[k];
        compare_at(&w);
    }
    out->agree = out->largest <= TOLERANCE;
    if (out->worst && !(out->worst = arena_format(a->memory, "%s", out->worst))) return analysis_no_memory(a);
    return a->error->status;
}
