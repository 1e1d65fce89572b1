/* kinetics_abreast.c — see the header. Square-root-free Cholesky, M = L D Lᵀ (Golub & Van Loan 4.1.2): one division a
 * column. */
#include "engine/solve/kinetics_abreast.h"

#include <stdlib.h>
#include <string.h>

/* Chains in angles, members a second over one by one: 4.4 times with 2 links, 3 with 32, 1.6 with 64, whose eight dense mass
 * matrices no longer fit the second cache. */
enum { COORDINATES_MOST = 64 };
static const double PIVOT_LEAST = 1e-12; /* beside the largest: no more than four digits are left (kkt_dense.c) */

bool kinetics_abreast_serves(const hamel_model *model) {
    return model->m == 0 && model->n <= COORDINATES_MOST && model->W.count == 0 && model->friction_count == 0 &&
           !model->nonideal && !model->needs_free && !model->momenta && !model->reaction_shift &&
           model->formulation->variables == VARIABLES_VELOCITIES;
}

/* Of entries of M in L's lower triangle, and of those that M does not have. */
static void find_places(kinetics_abreast *k) {
    const model_pattern *M = &k->model->M;
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

kinetics_abreast *kinetics_abreast_create(const hamel_model *model) {
    size_t n = model->n;
    kinetics_abreast *k = aligned_alloc(sizeof(octet), (sizeof *k + sizeof(octet) - 1) / sizeof(octet) * sizeof(octet));
    if (!k) return NULL;
    *k = (kinetics_abreast){.model = model};
    size_t parameters = model->system->parameter_count, dynamics = program_workspace_doubles(model->dynamics),
           observed = program_workspace_doubles(model->observed);
    k->place = calloc(model->M.count + n * n + 1, sizeof *k->place);
    octet *at = k->parameters =
        octets_alloc(parameters + model->dynamics_count + n * n + n + model->observed_count + dynamics + observed);
    if (!at || !k->place) {
        kinetics_abreast_free(k);
        return NULL;
    }
    find_places(k);
    at += parameters;
    k->values = at, at += model->dynamics_count;
    k->L = at, at += n * n;
    k->pivot = at, at += n;
    k->observed = at, at += model->observed_count;
    k->dynamics_work = at, at += dynamics;
    k->observed_work = at;
    return k;
}

void kinetics_abreast_free(kinetics_abreast *k) {
    if (!k) return;
    free(k->parameters); /* the block that all octets lie in */
    free(k->place);
    free(k);
}

static program_inputs inputs_of(const kinetics_abreast *k, const octet *t, const octet *q, const octet *v,
                                const octet *a) {
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = (const double *)k->parameters;
    in.values[SYMBOL_TIME] = (const double *)t;
    in.values[SYMBOL_COORDINATE] = (const double *)q;
    in.values[SYMBOL_VELOCITY] = (const double *)v;
    in.values[SYMBOL_ACCELERATION] = (const double *)a;
    return in;
}

void kinetics_abreast_prepare(kinetics_abreast *k) {
    program_inputs in = inputs_of(k, NULL, NULL, NULL, NULL);
    program_prepare_abreast(k->model->dynamics, &in, k->dynamics_work);
    program_prepare_abreast(k->model->observed, &in, k->observed_work);
}

/* The lower triangle of M in L, column by column, becomes L; pivot := 1/D; *margin := the least D less PIVOT_LEAST times the
 * largest, where that is less. Entries to the right of a row's pivot stand times D until the row is done. */
OCTET_INLINE void factor(size_t n, octet *L, octet *pivot, octet *margin) {
    octet least = L[0], most = L[0];
    for (size_t j = 0; j < n; j++) {
        octet d = L[j + n * j];
        for (size_t c = 0; c < j; c++) {
            octet times_d = L[j + n * c];
            L[j + n * c] = times_d * pivot[c];
            d -= times_d * L[j + n * c];
        }
        for (int k = 0; k < OCTET; k++) {
            least[k] = d[k] < least[k] ? d[k] : least[k];
            most[k] = d[k] > most[k] ? d[k] : most[k];
        }
        pivot[j] = 1 / d;
        for (size_t i = j + 1; i < n; i++)
            for (size_t c = 0; c < j; c++) L[i + n * j] -= L[i + n * c] * L[j + n * c];
    }
    least -= PIVOT_LEAST * most;
    for (int k = 0; k < OCTET; k++) (*margin)[k] = least[k] < (*margin)[k] ? least[k] : (*margin)[k];
}

OCTET_INLINE void solve(size_t n, const octet *L, const octet *pivot, octet *x) {
    for (size_t i = 1; i < n; i++)
        for (size_t c = 0; c < i; c++) x[i] -= L[i + n * c] * x[c];
    for (size_t i = 0; i < n; i++) x[i] *= pivot[i];
    for (size_t i = n; i-- > 0;)
        for (size_t c = i + 1; c < n; c++) x[i] -= L[c + n * i] * x[c];
}

OCTET_INLINE void accelerate_body(kinetics_abreast *k, octet *a) {
    const hamel_model *model = k->model;
    const octet *M = k->values + model->at_M, *Q = k->values + model->at_Q;
    size_t n = model->n;
    for (size_t e = 0; e < k->empty_count; e++) k->L[k->empty[e]] = (octet){0};
    for (size_t e = 0; e < model->M.count; e++) k->L[k->place[e]] = M[e];
    for (size_t i = 0; i < n; i++) a[i] = Q[i];
    factor(n, k->L, k->pivot, &k->margin);
    solve(n, k->L, k->pivot, a);
}
OCTET_FUNCTION(void, accelerate, (kinetics_abreast * k, octet *a), (k, a))

void kinetics_abreast_accelerations(kinetics_abreast *k, const octet *t, const octet *q, const octet *v, octet *a) {
    program_inputs in = inputs_of(k, t, q, v, NULL);
    program_evaluate_abreast(k->model->dynamics, &in, k->dynamics_work, k->values);
    accelerate(k, a);
}

void kinetics_abreast_observe(kinetics_abreast *k, const octet *t, const octet *q, const octet *v, const octet *a) {
    program_inputs in = inputs_of(k, t, q, v, a);
    program_evaluate_abreast(k->model->observed, &in, k->observed_work, k->observed);
}
