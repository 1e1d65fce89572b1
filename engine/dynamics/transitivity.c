/* transitivity.c — sums over the sparse derivatives of Ψ, in the notation of the header. */
#include "engine/dynamics/transitivity.h"

#include "engine/base/finite.h"

#include <assert.h>
#include <string.h>

struct transitivity {
    const hamel_model *model;
    const discrete_state *state;
    const model_transitivity *table;
    double *values, *work; /* outputs and workspace of the program */
    double *weight;        /* row_count: P_j of each row of the table; 0 for rows outside the basis */
    double *P, *direction; /* n */
    double *product;       /* n */
};

transitivity *transitivity_create(const hamel_model *model, const discrete_state *state, arena *memory) {
    const model_transitivity *table = model->transitivity;
    transitivity *x = arena_alloc(memory, 1, sizeof *x);
    if (!x) return NULL;
    *x = (transitivity){.model = model,
                        .state = state,
                        .table = table,
                        .values = arena_doubles(memory, table->count),
                        .work = model_workspace(model, table->program, memory),
                        .weight = arena_doubles(memory, table->row_count),
                        .P = arena_doubles(memory, model->n),
                        .direction = arena_doubles(memory, model->n),
                        .product = arena_doubles(memory, model->n)};
    return memory->failed ? NULL : x;
}

hamel_status transitivity_evaluate(transitivity *x, double t, const double *q, const double *v) {
    program_inputs in = discrete_state_inputs(x->state, &t, q, v, NULL, NULL);
    program_evaluate(x->table->program, &in, x->work, x->values);
    return all_finite(x->values, x->table->count) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Computes the weights of quasi-velocities and constraints in the table from the weights P of the basis rows. Rows that
 * complete the basis are constant. If rows are redundant, their basis varies with the state; this adds only multiples
 * of the rows, whose product with Φ is 0. */
static void scatter(transitivity *x, velocity_basis *b, const double *P) {
    double *constraints = x->weight + x->model->system->quasi_count;
    memset(x->weight, 0, x->table->row_count * sizeof *x->weight);
    for (size_t j = 0; j < b->user_count; j++) x->weight[b->user[j]] = P[j];
    velocity_basis_scatter(b, P + b->freedom, constraints);
}

/* Sets x->direction to Φ_t = −Ψ⁻¹ Ψ_t. */
static void direction_of_time(transitivity *x, velocity_basis *b) {
    const double *rest = x->values + x->table->at_rest;
    memset(x->direction, 0, b->n * sizeof *x->direction);
    for (size_t j = 0; j < b->user_count; j++) x->direction[j] = -rest[b->user[j]];
    velocity_basis_gather(b, rest + x->model->system->quasi_count, 1, x->direction + b->freedom);
    for (size_t j = b->freedom; j < b->n; j++) x->direction[j] = -x->direction[j];
    velocity_basis_solve(b, x->direction);
}

/* --- sums, as covectors to be multiplied by Φ --------------------------------------------------------------------- */

/* out_i += Σ_j P_j Σ_k (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) direction_k */
static void add_curl(const transitivity *x, const double *direction, double *out) {
    const model_transitivity *t = x->table;
    for (size_t e = 0; e < t->curl.count; e++) {
        double part = x->weight[t->curl.row[e]] * x->values[t->curl.at + e];
        int i = t->curl.column[e], k = t->curl_k[e];
        out[i] += part * direction[k];
        out[k] -= part * direction[i];
    }
}

/* out_i += Σ_j P_j γ^j_· */
static void add_coefficients_of_time(transitivity *x, velocity_basis *b, double *out) {
    direction_of_time(x, b);
    add_curl(x, x->direction, out);
    sparse_block_multiply_transposed(&x->table->time, x->values, 1, x->weight, out);
}

/* out_i += Σ_j P_j (Σ_l γ^j_·l u_l + γ^j_·), summed over all quasi-velocities u_l, so that Σ_l Φ_kl u_l + Φ_k = q'_k.
 * The u_l of constraints vanish on the constraints. They are included because the stages of a step violate the
 * constraints slightly; without them the result would depend on the choice of the basis. */
static void add_all_coefficients(transitivity *x, const double *v, double *out) {
    add_curl(x, v, out);
    sparse_block_multiply_transposed(&x->table->time, x->values, 1, x->weight, out);
}

void transitivity_covector(transitivity *x, velocity_basis *b, const double *v, double *out) {
    assert(b->n == x->model->n && b->factored);
    const model_transitivity *t = x->table;
    memcpy(x->P, x->values + t->at_momentum, b->n * sizeof *x->P);
    velocity_basis_solve_transposed(b, x->P);
    scatter(x, b, x->P);
    memset(out, 0, b->n * sizeof *out);
    sparse_block_multiply_transposed(&t->rate, x->values, -1, x->weight, out);
    sparse_block_multiply_transposed(&t->slope, x->values, 1, x->weight, out);
    add_all_coefficients(x, v, out);
}

/* --- single coefficients ------------------------------------------------------------------------------------------ */

static void select_row(transitivity *x, velocity_basis *b, size_t j) {
    memset(x->P, 0, b->n * sizeof *x->P);
    x->P[j] = 1;
    scatter(x, b, x->P);
    memset(x->product, 0, b->n * sizeof *x->product);
}

static double along(const transitivity *x, const double *Phi, size_t n, size_t r) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x->product[i] * Phi[i + n * r];
    return sum;
}

double transitivity_coefficient(transitivity *x, velocity_basis *b, size_t j, size_t r, size_t l) {
    assert(j < b->n && r < b->freedom && l < b->freedom);
    const double *Phi = velocity_basis_directions(b);
    select_row(x, b, j);
    add_curl(x, Phi + b->n * l, x->product);
    return along(x, Phi, b->n, r);
}

double transitivity_coefficient_of_time(transitivity *x, velocity_basis *b, size_t j, size_t r) {
    assert(j < b->n && r < b->freedom);
    select_row(x, b, j);
    add_coefficients_of_time(x, b, x->product);
    return along(x, velocity_basis_directions(b), b->n, r);
}
