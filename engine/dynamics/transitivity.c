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
    double *P;             /* n: momenta P_j of the basis */
};

transitivity *transitivity_create(const hamel_model *model, const discrete_state *state, arena *memory) {
    const model_transitivity *table = model->transitivity;
    transitivity *x = arena_alloc(memory, 1, sizeof *x);
    if (!x) return NULL;
    *x = (transitivity){.model = model, .state = state, .table = table};
    x->work = model_workspace(model, table->program, memory);
    bool good = ARENA_DOUBLES(memory, {&x->values, table->count}, {&x->weight, table->row_count}, {&x->P, model->n});
    return good ? x : NULL;
}

hamel_status transitivity_evaluate(transitivity *x, double t, const double *q, const double *v) {
    program_inputs in = discrete_state_inputs(x->state, &t, q, v, NULL, NULL);
    program_evaluate(x->table->program, &in, x->work, x->values);
    return all_finite(x->values, x->table->count) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

/* Computes the weights of quasi-velocities and constraints in the table from the weights P of the basis rows. Rows that
 * complete the basis are constant. If rows are redundant, their basis varies with the state; this adds only multiples
 * of the rows, whose product with Φ is 0. */
static void scatter(transitivity *x, velocity_basis *b, const double *P) {
    double *constraints = x->weight + x->model->system->quasi_count;
    memset(x->weight, 0, x->table->row_count * sizeof *x->weight);
    for (size_t j = 0; j < b->user_count; j++) x->weight[b->user[j]] = P[j];
    velocity_basis_scatter(b, P + b->freedom, constraints);
}

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

void transitivity_covector(transitivity *x, velocity_basis *b, const double *v, double *out) {
    assert(b->n == x->model->n && b->factored);
    const model_transitivity *t = x->table;
    memcpy(x->P, x->values + t->at_momentum, b->n * sizeof *x->P);
    velocity_basis_solve_transposed(b, x->P);
    scatter(x, b, x->P);
    memset(out, 0, b->n * sizeof *out);
    sparse_block_multiply_transposed(&t->rate, x->values, -1, x->weight, out);
    sparse_block_multiply_transposed(&t->slope, x->values, 1, x->weight, out);
    /* Σ_j P_j (Σ_l γ^j_·l u_l + γ^j_·), summed over all quasi-velocities u_l, so that Σ_l Φ_kl u_l + Φ_k = q'_k. The u_l
     * of constraints vanish on the constraints. They are included because the stages of a step violate the constraints
     * slightly; without them the result would depend on the choice of the basis. */
    add_curl(x, v, out);
    sparse_block_multiply_transposed(&t->time, x->values, 1, x->weight, out);
}
