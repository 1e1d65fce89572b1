/* differences.c — see the header.
 *
 * At a state (t, q, q') with any accelerations q'' and multipliers λ, for each coordinate i
 *
 *     d/dt ∂L/∂q'_i − ∂L/∂q_i + ∂S/∂q''_i + ∂D/∂q'_i − Σ F·∂x/∂q_i − Σ F·∂u/∂q'_i     against     (M q'' − Q − F|λ|)_i
 *     ∂f/∂q_i, ∂f/∂q'_i or ∂f/∂q''_i of a constraint f                    against     A_ci
 *
 * and for each constraint its second or first derivative along the path with these accelerations against A q'' − b. S is a
 * Gibbs–Appell function that the description gives, x is a place or distance along which a given force F acts, u a velocity. The rate of the momentum is a mixed second
 * derivative, found from two pure ones: D²L[a, b] = (D²L[a + b, a + b] − D²L[a − b, a − b])/4.
 *
 * Derivatives are Ridders' extrapolations of central differences, with their estimates of error (Adv. Eng. Software 4 (1982)
 * 75). A comparison whose error estimate exceeds a part of the terms counts as undecided, never as a difference. */
#include "engine/analyze/differences.h"

#include "engine/solve/mode.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEVELS = 11 };
static const double FIRST_STEP = 0.2,
                    RATIO = 2; /* steps from 0.2 to 2e-4: a coordinate may be an angle, however large */
/* Estimates of error are trusted within this factor; beyond that part of the terms they decide nothing. */
static const double TRUST = 10, OPEN = 1e-3;
/* Ridders' extrapolations of smooth functions keep ten digits of first and eight of second derivatives; a wrong term is off
 * by a part of itself. */
static const double TOLERANCE = 1e-6;
static const double WORK = 3e8; /* instructions of programs, for each state */

/* Where the outputs of the program begin. */
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
    motion_mode mode;
    double *workspace, *model_workspace, *values; /* of the model's dynamics program */
    double *t, *q, *v, *acc;                      /* the state beside; n each, and t */
    double *sides[2];                             /* LEVELS × outputs: the values at +h and −h */
    double *here;                                 /* outputs at the state itself */
    double *row_size, *column;                    /* m: the largest entry of each row of A; one column of A */
    const sample *state;
} comparison;

/* A line through the state: what changes with the parameter h of the stencil. NULL for nothing. */
typedef struct line {
    double t;
    const double *q, *v, *acc;
    double curve;  /* of q'': q moves by h² curve q'', too */
    size_t single; /* of one coordinate: its index, and how much its q, q' or q'' moves */
    double single_q, single_v, single_acc;
} line;

/* --- values beside a state ------------------------------------------------------------------------------------------------ */

static void evaluate_at(comparison *w, const line *l, double h, double *out) {
    const sample *s = w->state;
    *w->t = s->t + h * l->t;
    for (size_t i = 0; i < w->a->n; i++) {
        w->q[i] = s->q[i] + h * (l->q ? l->q[i] : 0) + h * h * l->curve * s->a[i];
        w->v[i] = s->v[i] + h * (l->v ? l->v[i] : 0);
        w->acc[i] = s->a[i] + h * (l->acc ? l->acc[i] : 0);
    }
    if (l->single < w->a->n) {
        w->q[l->single] += h * l->single_q;
        w->v[l->single] += h * l->single_v;
        w->acc[l->single] += h * l->single_acc;
    }
    program_inputs in = model_inputs(w->a->model, w->t, w->q, w->v, w->acc, s->lambda, NULL);
    in.values[SYMBOL_BRANCH] = w->mode.branches;
    program_evaluate(w->program, &in, w->workspace, out);
}

static void walk(comparison *w, const line *l) {
    double h = FIRST_STEP;
    for (size_t k = 0; k < LEVELS; k++, h /= RATIO) {
        evaluate_at(w, l, h, w->sides[0] + k * w->at.count);
        evaluate_at(w, l, -h, w->sides[1] + k * w->at.count);
    }
}

static double difference(const comparison *w, size_t output, size_t level, double h, int order) {
    double above = w->sides[0][level * w->at.count + output], below = w->sides[1][level * w->at.count + output];
    return order == 1 ? (above - below) / (2 * h) : (above - 2 * w->here[output] + below) / (h * h);
}

/* The rounding error of such a difference. */
static double rounding(const comparison *w, size_t output, size_t level, double h, int order) {
    double above = w->sides[0][level * w->at.count + output], below = w->sides[1][level * w->at.count + output];
    double size = fmax(fabs(above), fmax(fabs(below), fabs(w->here[output])));
    return DBL_EPSILON * size / (order == 1 ? h : h * h);
}

/* The derivative of an output along the line walked last: the entry of Neville's tableau in h² that differs least from its
 * neighbours, by no less than rounding. Values that are not finite (the domain ends beside the state) leave the smaller steps. */
static estimate derivative(const comparison *w, size_t output, int order) {
    double row[LEVELS], before[LEVELS], h = FIRST_STEP;
    estimate best = {0, INFINITY};
    size_t used = 0;
    for (size_t k = 0; k < LEVELS; k++, h /= RATIO) {
        row[0] = difference(w, output, k, h, order);
        if (!isfinite(row[0])) {
            used = 0;
            continue;
        }
        double factor = RATIO * RATIO;
        for (size_t j = 1; j <= used; j++, factor *= RATIO * RATIO) {
            row[j] = (factor * row[j - 1] - before[j - 1]) / (factor - 1);
            double error = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - before[j - 1]));
            error = fmax(error, rounding(w, output, k, h, order));
            if (error < best.error) best = (estimate){row[j], error};
        }
        memcpy(before, row, (used + 1) * sizeof *row);
        used++;
    }
    return best;
}

/* --- judgement ---------------------------------------------------------------------------------------------------------------- */

/* Notes |found − expected| relative to `size`, the terms that both are made of. */
static void judge(comparison *w, double *worst, const char *name, double expected, estimate found, double size) {
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
        w->out->worst = name; /* the system's; differences_compare copies it */
    }
}

/* --- constraints -------------------------------------------------------------------------------------------------------------- */

static void read_column(comparison *w, size_t i) {
    const hamel_model *model = w->a->model;
    for (size_t c = 0; c < w->a->m; c++) w->column[c] = 0;
    for (size_t e = 0; e < model->A.count; e++)
        if ((size_t)model->A.column[e] == i) w->column[model->A.row[e]] += w->values[model->at_A + e];
}

static void judge_gradients(comparison *w, constraint_order order) {
    for (size_t c = 0; c < w->a->m; c++) {
        if (w->a->model->order[c] != order) continue;
        estimate slope = derivative(w, w->at.constraints + c, 1);
        double size = fmax(w->row_size[c], fabs(slope.value));
        judge(w, &w->out->gradients, w->a->system->constraints[c].name, w->column[c], slope, size);
    }
}

/* f'' of holonomic, f' of velocity constraints along the path, f of those on accelerations, against A q'' − b. */
static void judge_rates(comparison *w, const line *path) {
    const hamel_model *model = w->a->model;
    walk(w, path);
    for (size_t c = 0; c < w->a->m; c++) {
        size_t output = w->at.constraints + c;
        double b = w->values[model->at_b + c], expected = -b, size = fabs(b);
        for (size_t e = 0; e < model->A.count; e++) {
            if ((size_t)model->A.row[e] != c) continue;
            double term = w->values[model->at_A + e] * w->state->a[model->A.column[e]];
            expected += term;
            size += fabs(term);
        }
        estimate rate = {w->here[output], 1e-14 * size};
        if (model->order[c] != CONSTRAINT_ACCELERATION)
            rate = derivative(w, output, model->order[c] == CONSTRAINT_HOLONOMIC ? 2 : 1);
        judge(w, &w->out->rates, w->a->system->constraints[c].name, expected, rate, fmax(size, fabs(rate.value)));
    }
}

/* --- equations of motion ------------------------------------------------------------------------------------------------------- */

typedef struct balance {
    double sum, error, size;
} balance;

static void add(balance *b, double factor, estimate e) {
    if (factor == 0) return;
    b->sum += factor * e.value;
    b->error += fabs(factor) * e.error;
    b->size += fabs(factor * e.value);
}

/* −Σ F·∂x/∂s over the works of a kind of symbol, along the line walked last. */
static void add_works(comparison *w, balance *b, graph_symbol_kind kind) {
    const hamel_system *s = w->a->system;
    for (size_t k = 0; k < s->work_count; k++)
        if (s->works[k].kind == kind) add(b, -w->here[w->at.forces + k], derivative(w, w->at.works + k, 1));
}

/* μ |g| |λ| s_t·∂s/∂q'_i / √(|s_t|² + ε²), s_t the part of the slip s along the surface (Udwadia 2000, eq. 36-39). Seven
 * outputs a friction: s, g, μ. */
static void add_friction(comparison *w, balance *b) {
    const hamel_system *s = w->a->system;
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        size_t at = w->at.frictions + 7 * k;
        const double *slip = w->here + at, *g = slip + 3;
        double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        double across = square > 0 ? (slip[0] * g[0] + slip[1] * g[1] + slip[2] * g[2]) / square : 0, along[3],
               speed = 0;
        for (int j = 0; j < 3; j++) along[j] = slip[j] - across * g[j], speed += along[j] * along[j];
        speed = sqrt(speed + f->regularization * f->regularization);
        if (speed == 0 || (f->regularization == 0 && f->along_count == 0)) continue;
        double force = w->here[at + 6] * sqrt(square) * fabs(w->state->lambda[f->constraint]) / speed;
        for (int j = 0; j < 3; j++) add(b, force * along[j], derivative(w, at + (size_t)j, 1));
    }
}

/* (M q'' − Q − F|λ|)_i of the model, and the size of its terms into *size. */
static double model_side(const comparison *w, size_t i, double *size) {
    const hamel_model *model = w->a->model;
    const double *a = w->state->a, *lambda = w->state->lambda;
    double sum = -w->values[model->at_Q + i];
    *size = fabs(sum);
    for (size_t e = 0; e < model->M.count; e++) {
        size_t r = (size_t)model->M.row[e], c = (size_t)model->M.column[e];
        double term = r == i ? a[c] : c == i ? a[r] : 0;
        sum += term *= w->values[model->at_M + e];
        *size += fabs(term);
    }
    for (size_t e = 0; e < model->F.count; e++) {
        if ((size_t)model->F.row[e] != i) continue;
        double term = w->values[model->at_F + e] * fabs(lambda[model->friction_constraint[model->F.column[e]]]);
        sum -= term;
        *size += fabs(term);
    }
    return sum;
}

/* D²L[(1, q', q''), e_i of q'] */
static void add_momentum_rate(comparison *w, balance *b, size_t i) {
    line forth = {.t = 1, .q = w->state->v, .v = w->state->a, .single = i, .single_v = 1}, back = forth;
    back.single_v = -1;
    walk(w, &forth);
    add(b, 0.25, derivative(w, w->at.energy, 2));
    walk(w, &back);
    add(b, -0.25, derivative(w, w->at.energy, 2));
}

static void judge_coordinate(comparison *w, size_t i) {
    double size, expected = model_side(w, i, &size);
    balance b = {0};
    line along_q = {.single = i, .single_q = 1}, along_v = {.single = i, .single_v = 1},
         along_a = {.single = i, .single_acc = 1};
    read_column(w, i);
    walk(w, &along_q);
    judge_gradients(w, CONSTRAINT_HOLONOMIC);
    add_works(w, &b, SYMBOL_COORDINATE);
    add(&b, -1, derivative(w, w->at.energy, 1));
    walk(w, &along_v);
    judge_gradients(w, CONSTRAINT_VELOCITY);
    add_works(w, &b, SYMBOL_VELOCITY);
    add(&b, 1, derivative(w, w->at.dissipation, 1));
    add_friction(w, &b);
    walk(w, &along_a);
    judge_gradients(w, CONSTRAINT_ACCELERATION);
    add(&b, 1, derivative(w, w->at.acceleration_energy, 1));
    add_momentum_rate(w, &b, i);
    estimate found = {b.sum, b.error};
    judge(w, &w->out->motion, w->a->system->coordinates[i].name, expected, found, fmax(size, b.size));
}

/* --- the whole ------------------------------------------------------------------------------------------------------------------ */

static graph_node sum_of(graph *g, const graph_node *nodes, size_t count) {
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < count; k++) sum = graph_add(g, sum, nodes[k]);
    return sum;
}

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
    bool by_accelerations = s->acceleration_energy >= 0;
    nodes[at->energy] = sum_of(s->graph, terms, terms_count);
    nodes[at->acceleration_energy] = by_accelerations ? s->acceleration_energy : graph_number(s->graph, 0);
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

static bool allocate(comparison *w) {
    analysis *a = w->a;
    size_t n = a->n, model_doubles = program_workspace_doubles(a->model->dynamics) + a->model->dynamics_count;
    w->workspace = arena_alloc(a->memory, program_workspace_doubles(w->program) + 1, sizeof *w->workspace);
    w->model_workspace = arena_alloc(a->memory, model_doubles + 1, sizeof *w->model_workspace);
    w->t = arena_alloc(a->memory, 1 + 3 * n + 2 * a->m, sizeof *w->t);
    w->sides[0] = arena_alloc(a->memory, (2 * LEVELS + 1) * w->at.count, sizeof *w->here);
    if (!w->workspace || !w->model_workspace || !w->t || !w->sides[0]) return false;
    w->values = w->model_workspace + program_workspace_doubles(a->model->dynamics);
    w->q = w->t + 1;
    w->v = w->q + n;
    w->acc = w->v + n;
    w->row_size = w->acc + n;
    w->column = w->row_size + a->m;
    w->sides[1] = w->sides[0] + LEVELS * w->at.count;
    w->here = w->sides[1] + LEVELS * w->at.count;
    return true;
}

/* The model's M, Q, A, b, F at the state, and the largest entry of each row of A. */
static void evaluate_model(comparison *w) {
    const hamel_model *model = w->a->model;
    const sample *s = w->state;
    mode_choose_branches(&w->mode, s->t, s->q, s->v);
    program_inputs in = model_inputs(model, &s->t, s->q, s->v, s->a, s->lambda, NULL);
    in.values[SYMBOL_BRANCH] = w->mode.branches;
    program_evaluate(model->dynamics, &in, w->model_workspace, w->values);
    for (size_t c = 0; c < w->a->m; c++) w->row_size[c] = 0;
    for (size_t e = 0; e < model->A.count; e++) {
        double *size = &w->row_size[model->A.row[e]];
        *size = fmax(*size, fabs(w->values[model->at_A + e]));
    }
}

/* Each coordinate takes some 220 evaluations, so only every second, third, ... coordinate of a large system is
 * compared. */
static size_t stride(const comparison *w) {
    double each = 10.0 * LEVELS * ((double)program_instruction_count(w->program) + 4.0 * (double)w->at.count);
    return (size_t)fmax(1, ceil((double)w->a->n * each / WORK));
}

static void compare_at(comparison *w) {
    const line path = {.t = 1, .q = w->state->v, .v = w->state->a, .curve = 0.5, .single = w->a->n},
               still = {.single = w->a->n};
    evaluate_model(w);
    evaluate_at(w, &still, 0, w->here);
    judge_rates(w, &path);
    for (size_t i = 0, step = stride(w); i < w->a->n && !system_interrupted(w->a->system); i += step)
        judge_coordinate(w, i);
}

hamel_status differences_compare(analysis *a, const sample *const *states, size_t count, hamel_difference_check *out) {
    comparison w = {.a = a, .out = out};
    *out = (hamel_difference_check){.states = count, .tolerance = TOLERANCE, .agree = true};
    graph_node *nodes = list_nodes(&w);
    hamel_status status = nodes ? graph_status(a->system->graph) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK)
        status = program_compile(&w.program, a->memory, a->system->graph, nodes, w.at.count, a->error);
    if (status != HAMEL_OK || !allocate(&w) || !mode_create(&w.mode, a->model)) return analysis_no_memory(a);
    program_inputs in = model_inputs(a->model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(w.program, &in, w.workspace);
    program_prepare(a->model->dynamics, &in, w.model_workspace);
    for (size_t k = 0; k < count; k++) {
        w.state = states[k];
        compare_at(&w);
    }
    mode_free(&w.mode);
    out->agree = out->largest <= TOLERANCE;
    if (out->worst && !(out->worst = arena_text(a->memory, out->worst, strlen(out->worst))))
        return analysis_no_memory(a);
    return a->error->status;
}
