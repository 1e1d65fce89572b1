/* dynamics_vec8.c — see the header. Uses square-root-free Cholesky, M = L D Lᵀ (Golub & Van Loan 4.1.2), with one
 * division per column. */
#include "engine/dynamics/dynamics_vec8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Upper bound on coordinates; larger models integrate members singly. Measured speed-up for pendulum chains in angles:
 * 4.4 with 2 links, 3 with 32, 1.6 with 64. Eight dense mass matrices of 64 rows no longer fit into the second-level
 * cache. */
enum { COORDINATES_MOST = 64 };
/* Smallest pivot accepted, relative to the largest pivot. Smaller pivots leave fewer than four digits (kkt_dense.c). */
static const double PIVOT_LEAST = 1e-12;

bool dynamics_vec8_serves(const hamel_model *model) {
    return model->m == 0 && !model->dynamics.mass && model->n <= COORDINATES_MOST && model->dynamics.W.count == 0 &&
           model->friction.count == 0 && !model->dynamics.nonideal && !model->observation.needs_free &&
           !model->momenta.program && !model->dynamics.reaction_shift &&
           model->formulation->variables == VARIABLES_VELOCITIES;
}

/* Finds the index in the lower triangle of L of each entry of M, and the indices without an entry. */
static void find_places(dynamics_vec8 *k) {
    const sparse_block *M = &k->model->dynamics.M;
    size_t n = k->model->n;
    k->empty = k->place + M->count;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            size_t e = 0;
            while (e < M->count && ((size_t)M->row[e] != i || (size_t)M->column[e] != j)) e++;
            if (e < M->count)
                k->place[e] = i + n * j;
            else
                k->empty[k->empty_count++] = i + n * j;
        }
}

dynamics_vec8 *dynamics_vec8_create(const hamel_model *model) {
    assert(dynamics_vec8_serves(model));
    size_t n = model->n;
    dynamics_vec8 *k = aligned_alloc(sizeof(vec8), (sizeof *k + sizeof(vec8) - 1) / sizeof(vec8) * sizeof(vec8));
    if (!k) return NULL;
    *k = (dynamics_vec8){.model = model};
    size_t parameters = model->system->parameter_count, dynamics = program_workspace_doubles(model->dynamics.program),
           observed = program_workspace_doubles(model->observation.program);
    k->place = calloc(model->dynamics.M.count + n * n + 1, sizeof *k->place);
    vec8 *at = k->parameters =
        vec8_alloc(parameters + model->dynamics.count + n * n + n + model->observation.count + dynamics + observed);
    if (!at || !k->place) {
        dynamics_vec8_free(k);
        return NULL;
    }
    find_places(k);
    at += parameters;
    k->values = at, at += model->dynamics.count;
    k->L = at, at += n * n;
    k->pivot = at, at += n;
    k->observed = at, at += model->observation.count;
    k->dynamics_work = at, at += dynamics;
    k->observed_work = at;
    return k;
}

void dynamics_vec8_free(dynamics_vec8 *k) {
    if (!k) return;
    free(k->parameters); /* one block holds all vectors */
    free(k->place);
    free(k);
}

static program_inputs vec8_inputs(const dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, const vec8 *a) {
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = (const double *)k->parameters;
    in.values[SYMBOL_TIME] = (const double *)t;
    in.values[SYMBOL_COORDINATE] = (const double *)q;
    in.values[SYMBOL_VELOCITY] = (const double *)v;
    in.values[SYMBOL_ACCELERATION] = (const double *)a;
    return in;
}

void dynamics_vec8_prepare(dynamics_vec8 *k) {
    program_inputs in = vec8_inputs(k, NULL, NULL, NULL, NULL);
    program_prepare_vec8(k->model->dynamics.program, &in, k->dynamics_work);
    program_prepare_vec8(k->model->observation.program, &in, k->observed_work);
}

/* Factors the lower triangle of M in L in place and sets pivot to 1/D. Lowers *margin to min D − PIVOT_LEAST · max D.
 * Until a row is complete, its entries are stored as products with D. */
VEC8_INLINE void factor_mass(size_t n, vec8 *L, vec8 *pivot, vec8 *margin) {
    vec8 least = L[0], most = L[0];
    for (size_t j = 0; j < n; j++) {
        vec8 d = L[j + n * j];
        for (size_t c = 0; c < j; c++) {
            vec8 times_d = L[j + n * c];
            L[j + n * c] = times_d * pivot[c];
            d -= times_d * L[j + n * c];
        }
        for (int k = 0; k < VEC8_SIZE; k++) {
            least[k] = d[k] < least[k] ? d[k] : least[k];
            most[k] = d[k] > most[k] ? d[k] : most[k];
        }
        pivot[j] = 1 / d;
        for (size_t i = j + 1; i < n; i++)
            for (size_t c = 0; c < j; c++) L[i + n * j] -= L[i + n * c] * L[j + n * c];
    }
    least -= PIVOT_LEAST * most;
    for (int k = 0; k < VEC8_SIZE; k++) (*margin)[k] = least[k] < (*margin)[k] ? least[k] : (*margin)[k];
}

VEC8_INLINE void solve_mass(size_t n, const vec8 *L, const vec8 *pivot, vec8 *x) {
    for (size_t i = 1; i < n; i++)
        for (size_t c = 0; c < i; c++) x[i] -= L[i + n * c] * x[c];
    for (size_t i = 0; i < n; i++) x[i] *= pivot[i];
    for (size_t i = n; i-- > 0;)
        for (size_t c = i + 1; c < n; c++) x[i] -= L[c + n * i] * x[c];
}

VEC8_INLINE void accelerate_body(dynamics_vec8 *k, vec8 *a) {
    const hamel_model *model = k->model;
    const vec8 *M = k->values + model->dynamics.M.at, *Q = k->values + model->dynamics.at_Q;
    size_t n = model->n;
    for (size_t e = 0; e < k->empty_count; e++) k->L[k->empty[e]] = (vec8){0};
    for (size_t e = 0; e < model->dynamics.M.count; e++) k->L[k->place[e]] = M[e];
    for (size_t i = 0; i < n; i++) a[i] = Q[i];
    factor_mass(n, k->L, k->pivot, &k->margin);
    solve_mass(n, k->L, k->pivot, a);
}
VEC8_FUNCTION(void, accelerate, (dynamics_vec8 * k, vec8 *a), (k, a))

void dynamics_vec8_accelerations(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a) {
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    program_evaluate_vec8(k->model->dynamics.program, &in, k->dynamics_work, k->values);
    accelerate(k, a);
}

void dynamics_vec8_observe(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, const vec8 *a) {
    program_inputs in = vec8_inputs(k, t, q, v, a);
    program_evaluate_vec8(k->model->observation.program, &in, k->observed_work, k->observed);
}
