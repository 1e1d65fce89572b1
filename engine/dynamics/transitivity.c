/* transitivity.c — sums over the sparse derivatives of Ψ; the letters are those of the header. */
#include "engine/solve/transitivity.h"

#include <stdlib.h>
#include <string.h>

struct transitivity {
    const hamel_model *model;
    const motion_mode *mode;
    const model_transitivity *table;
    double *values, *work; /* of the program */
    double *weight;        /* row_count: P_j by rows of the table; 0 for rows not taken */
    double *P, *direction; /* n */
    double *product;       /* n */
};

transitivity *transitivity_create(const hamel_model *model, const motion_mode *mode) {
    const model_transitivity *table = model->transitivity;
    size_t n = model->n, work = program_workspace_doubles(table->program);
    transitivity *x = calloc(1, sizeof *x);
    double *at = calloc(table->count + work + table->row_count + 3 * n + 1, sizeof *at);
    if (!x || !at) {
        free(x), free(at);
        return NULL;
    }
    *x = (transitivity){.model = model, .mode = mode, .table = table, .values = at};
    x->work = at += table->count;
    x->weight = at += work;
    x->P = at += table->row_count;
    x->direction = at += n;
    x->product = at + n;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(table->program, &in, x->work);
    return x;
}

void transitivity_free(transitivity *x) {
    if (!x) return;
    free(x->values);
    free(x);
}

hamel_status transitivity_evaluate(transitivity *x, double t, const double *q, const double *v) {
    double sum = 0;
    program_inputs in = model_inputs(x->model, &t, q, v, NULL, NULL, NULL);
    in.values[SYMBOL_BRANCH] = x->mode->branches;
    program_evaluate(x->table->program, &in, x->work, x->values);
    for (size_t i = 0; i < x->table->count; i++) sum += 0 * x->values[i];
    return sum == 0 ? HAMEL_OK : HAMEL_NOT_FINITE;
}

/* --- rows ------------------------------------------------------------------------------------------------------------- */

/* Weights of the table's rows, the user's and the constraints', from those of the frame's; completing rows are constant.
 * That a basis of redundant rows varies from state to state adds multiples of these rows only, which Φ annihilates. */
static void scatter(transitivity *x, frame *f, const double *P) {
    double *constraints = x->weight + x->model->system->quasi_count;
    memset(x->weight, 0, x->table->row_count * sizeof *x->weight);
    for (size_t j = 0; j < f->user_count; j++) x->weight[f->user[j]] = P[j];
    frame_scatter(f, P + f->freedom, constraints);
}

/* x->direction := Φ_t = −Ψ⁻¹ Ψ_t. */
static void direction_of_time(transitivity *x, frame *f) {
    const double *rest = x->values + x->table->at_rest;
    memset(x->direction, 0, f->n * sizeof *x->direction);
    for (size_t j = 0; j < f->user_count; j++) x->direction[j] = -rest[f->user[j]];
    frame_gather(f, rest + x->model->system->quasi_count, 1, x->direction + f->freedom);
    for (size_t j = f->freedom; j < f->n; j++) x->direction[j] = -x->direction[j];
    frame_solve(f, x->direction);
}

/* --- sums, by covectors that Φ is then applied to ---------------------------------------------------------------------- */

static void add_pattern(const transitivity *x, const model_pattern *p, size_t at, double sign, double *out) {
    for (size_t e = 0; e < p->count; e++) out[p->column[e]] += sign * x->weight[p->row[e]] * x->values[at + e];
}

/* out_i += Σ_j P_j Σ_k (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) direction_k */
static void add_curl(const transitivity *x, const double *direction, double *out) {
    const model_transitivity *t = x->table;
    for (size_t e = 0; e < t->curl.count; e++) {
        double part = x->weight[t->curl.row[e]] * x->values[t->at_curl + e];
        int i = t->curl.column[e], k = t->curl_k[e];
        out[i] += part * direction[k];
        out[k] -= part * direction[i];
    }
}

/* out_i += Σ_j P_j γ^j_· */
static void add_coefficients_of_time(transitivity *x, frame *f, double *out) {
    direction_of_time(x, f);
    add_curl(x, x->direction, out);
    add_pattern(x, &x->table->time, x->table->at_time, 1, out);
}

/* out_i += Σ_j P_j (Σ_l γ^j_·l u_l + γ^j_·) over all quasi-velocities u_l: then Σ_l Φ_kl u_l + Φ_k = q'_k. Those of the
 * constraints vanish on the constraints. Without them, the stages of a step, which are a little off the constraints, would
 * be evaluated at a velocity that depends on the choice of the frame. */
static void add_all_coefficients(transitivity *x, const double *v, double *out) {
    add_curl(x, v, out);
    add_pattern(x, &x->table->time, x->table->at_time, 1, out);
}

void transitivity_covector(transitivity *x, frame *f, const double *v, double *out) {
    const model_transitivity *t = x->table;
    memcpy(x->P, x->values + t->at_momentum, f->n * sizeof *x->P);
    frame_solve_transposed(f, x->P);
    scatter(x, f, x->P);
    memset(out, 0, f->n * sizeof *out);
    add_pattern(x, &t->rate, t->at_rate, -1, out);
    add_pattern(x, &t->slope, t->at_slope, 1, out);
    add_all_coefficients(x, v, out);
}

/* --- single coefficients ------------------------------------------------------------------------------------------------ */

static void select_row(transitivity *x, frame *f, size_t j) {
    memset(x->P, 0, f->n * sizeof *x->P);
    x->P[j] = 1;
    scatter(x, f, x->P);
    memset(x->product, 0, f->n * sizeof *x->product);
}

static double along(const transitivity *x, const double *Phi, size_t n, size_t r) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x->product[i] * Phi[i + n * r];
    return sum;
}

double transitivity_coefficient(transitivity *x, frame *f, size_t j, size_t r, size_t l) {
    const double *Phi = frame_directions(f);
    select_row(x, f, j);
    add_curl(x, Phi + f->n * l, x->product);
    return along(x, Phi, f->n, r);
}

double transitivity_coefficient_of_time(transitivity *x, frame *f, size_t j, size_t r) {
    select_row(x, f, j);
    add_coefficients_of_time(x, f, x->product);
    return along(x, frame_directions(f), f->n, r);
}
