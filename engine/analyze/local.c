/* local.c — see local.h. */
#include "engine/analyze/local.h"

#include "engine/base/finite.h"
#include "engine/model/inputs.h"

#include <string.h>

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the local equations");
}

/* --- inputs ------------------------------------------------------------------------------------------------------- */

static hamel_status no_parameter(const hamel_system *s, hamel_argument input, hamel_error *error) {
    const char *name = input.name;
    (void)hamel_fail(error, HAMEL_INVALID, input.pointer, 0, "the input `%s` is no parameter of the system", name);
    const char *nearest = nearest_name(s->parameter_names, s->parameter_count, name, strlen(name));
    if (nearest) hamel_suggest(error, "did you mean `%s`?", nearest);
    return HAMEL_INVALID;
}

static hamel_status compile_inputs(local_equations *l, const hamel_argument *inputs, hamel_error *error) {
    hamel_system *s = l->model->system;
    hamel_equations e = {.system = s, .n = l->n, .m = l->m};
    size_t each = l->rows + 2 * l->m, count = l->inputs * each;
    graph_node *nodes = arena_alloc(&l->memory, count, sizeof *nodes), *at = nodes;
    graph_node *rates = arena_alloc(&l->memory, s->parameter_count, sizeof *rates);
    if (!nodes || !rates) return no_memory(error);
    if (lagrange_derive(&e) != HAMEL_OK) return error->status;
    for (size_t k = 0; k < l->inputs; k++) {
        int32_t input = inputs_find_parameter(s, inputs[k].name);
        if (input < 0) return no_parameter(s, inputs[k], error);
        if (!inputs_parameter_rates(s, input, rates)) return equations_status(s);
        for (size_t i = 0; i < l->rows; i++) *at++ = inputs_along(s, e.residual[i], rates);
        for (size_t c = 0; c < l->m; c++) *at++ = inputs_along(s, e.position[c], rates);
        for (size_t c = 0; c < l->m; c++) *at++ = inputs_along(s, e.velocity[c], rates);
    }
    if (equations_status(s) != HAMEL_OK) return error->status;
    hamel_status status = program_compile(&l->by_inputs, &l->memory, s->graph, nodes, count, error);
    if (status != HAMEL_OK) return status;
    l->input_work = arena_alloc(&l->memory, program_workspace_doubles(l->by_inputs), sizeof *l->input_work);
    l->input_values = arena_alloc(&l->memory, count, sizeof *l->input_values);
    return l->input_work && l->input_values ? HAMEL_OK : no_memory(error);
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

static double *numbers(local_equations *l, size_t rows, size_t columns) {
    return arena_alloc(&l->memory, rows * columns, sizeof(double));
}

static size_t largest(size_t x, size_t y) {
    return x > y ? x : y;
}

static bool allocate(local_equations *l) {
    const hamel_model *model = l->model;
    size_t n = l->n, m = l->m, rows = l->rows, k = l->inputs;
    double **const matrices[] = {&l->R,   &l->phi,   &l->psi,   &l->R_q,   &l->R_v,   &l->R_a,  &l->R_l,
                                 &l->R_p, &l->phi_q, &l->phi_p, &l->psi_q, &l->psi_v, &l->psi_p};
    const size_t sizes[][2] = {{rows, 1}, {m, 1}, {m, 1}, {rows, n}, {rows, n}, {rows, n}, {rows, m},
                               {rows, k}, {m, n}, {m, k}, {m, n},    {m, n},    {m, k}};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        if (!(*matrices[i] = numbers(l, sizes[i][0], sizes[i][1]))) return false;
    l->dynamics = numbers(l, model->dynamics_count, 1);
    l->work =
        numbers(l, largest(program_workspace_doubles(model->dynamics), program_workspace_doubles(model->residual)), 1);
    l->tangent_work =
        numbers(l, largest(program_tangent_doubles(model->dynamics), program_tangent_doubles(model->residual)), 1);
    l->dots = numbers(l, largest(model->dynamics_count, rows), PROGRAM_LANES);
    l->seeds = numbers(l, largest(n, m), PROGRAM_LANES);
    return l->dynamics && l->work && l->tangent_work && l->dots && l->seeds;
}

hamel_status local_create(local_equations *l, hamel_model *model, const hamel_argument *inputs, size_t input_count,
                          hamel_error *error) {
    *l = (local_equations){
        .model = model, .n = model->n, .m = model->m, .rows = model->n + model->m, .inputs = input_count};
    arena_init(&l->memory, model->limits.memory);
    if (l->rows > LOCAL_MOST)
        return hamel_fail(
            error, HAMEL_LIMIT, "", 0,
            "%zu coordinates and constraints are too many for this analysis: its matrices are dense and it "
            "takes %d at most",
            l->rows, (int)LOCAL_MOST);
    if (model->friction_count > 0)
        return hamel_fail(error, HAMEL_INVALID, "/constraints", 0,
                          "dry friction has no linear form: take the friction out of the description first");
    unsigned reactions = GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER);
    if (model->nonideal && (program_depends(model->nonideal) & reactions))
        return hamel_fail(error, HAMEL_INVALID, "/constraints", 0,
                          "prescribed work that depends on reactions has no linear form here");
    if (!mode_create(&l->mode, model) || !allocate(l)) return no_memory(error);
    model->system->error = error;
    return input_count > 0 ? compile_inputs(l, inputs, error) : HAMEL_OK;
}

void local_free(local_equations *l) {
    mode_free(&l->mode);
    arena_free(&l->memory);
}

/* --- evaluation ---------------------------------------------------------------------------------------------------- */

/* Where a derivative goes: rows [first, first + count) of the program's outputs into a row-major matrix. */
typedef struct target {
    size_t first, count;
    double *matrix;
} target;

static void differentiate(local_equations *l, const program *p, const program_inputs *in, graph_symbol_kind kind,
                          size_t columns, const target *targets, size_t target_count) {
    program_inputs seeds = {{0}};
    seeds.values[kind] = l->seeds;
    for (size_t base = 0; base < columns; base += PROGRAM_LANES) {
        memset(l->seeds, 0, columns * PROGRAM_LANES * sizeof *l->seeds);
        for (size_t k = 0; k < PROGRAM_LANES && base + k < columns; k++) l->seeds[(base + k) * PROGRAM_LANES + k] = 1;
        program_tangent(p, in, &seeds, l->work, l->tangent_work, NULL, l->dots);
        for (size_t i = 0; i < target_count; i++)
            for (size_t r = 0; r < targets[i].count; r++)
                for (size_t k = 0; k < PROGRAM_LANES && base + k < columns; k++)
                    targets[i].matrix[r * columns + base + k] = l->dots[(targets[i].first + r) * PROGRAM_LANES + k];
    }
}

static void evaluate_levels(local_equations *l, const program_inputs *in) {
    const hamel_model *model = l->model;
    const target by_q[] = {{model->at_position, l->m, l->phi_q}, {model->at_velocity, l->m, l->psi_q}};
    const target by_v[] = {{model->at_velocity, l->m, l->psi_v}};
    program_prepare(model->dynamics, in, l->work);
    program_evaluate(model->dynamics, in, l->work, l->dynamics);
    memcpy(l->phi, l->dynamics + model->at_position, l->m * sizeof *l->phi);
    memcpy(l->psi, l->dynamics + model->at_velocity, l->m * sizeof *l->psi);
    if (l->m == 0) return;
    differentiate(l, model->dynamics, in, SYMBOL_COORDINATE, l->n, by_q, 2);
    differentiate(l, model->dynamics, in, SYMBOL_VELOCITY, l->n, by_v, 1);
}

static void evaluate_residual(local_equations *l, const program_inputs *in) {
    const program *p = l->model->residual;
    const target by_q = {0, l->rows, l->R_q}, by_v = {0, l->rows, l->R_v}, by_a = {0, l->rows, l->R_a},
                 by_l = {0, l->rows, l->R_l};
    program_prepare(p, in, l->work);
    program_evaluate(p, in, l->work, l->R);
    differentiate(l, p, in, SYMBOL_COORDINATE, l->n, &by_q, 1);
    differentiate(l, p, in, SYMBOL_VELOCITY, l->n, &by_v, 1);
    differentiate(l, p, in, SYMBOL_ACCELERATION, l->n, &by_a, 1);
    if (l->m > 0) differentiate(l, p, in, SYMBOL_MULTIPLIER, l->m, &by_l, 1);
}

static void evaluate_inputs(local_equations *l, const program_inputs *in) {
    size_t each = l->rows + 2 * l->m;
    if (l->inputs == 0) return;
    program_prepare(l->by_inputs, in, l->input_work);
    program_evaluate(l->by_inputs, in, l->input_work, l->input_values);
    for (size_t k = 0; k < l->inputs; k++) {
        const double *values = l->input_values + k * each;
        for (size_t i = 0; i < l->rows; i++) l->R_p[i * l->inputs + k] = values[i];
        for (size_t c = 0; c < l->m; c++) l->phi_p[c * l->inputs + k] = values[l->rows + c];
        for (size_t c = 0; c < l->m; c++) l->psi_p[c * l->inputs + k] = values[l->rows + l->m + c];
    }
}

/* λ_c = 0 in place of a constraint that does not act. */
static void rest_constraints(local_equations *l, const double *lambda) {
    for (size_t c = 0; c < l->m; c++) {
        size_t row = l->n + c;
        if (l->model->active[c]) continue;
        l->R[row] = lambda[c];
        l->phi[c] = l->psi[c] = 0;
        memset(l->R_q + row * l->n, 0, l->n * sizeof(double));
        memset(l->R_v + row * l->n, 0, l->n * sizeof(double));
        memset(l->R_a + row * l->n, 0, l->n * sizeof(double));
        memset(l->R_l + row * l->m, 0, l->m * sizeof(double));
        memset(l->phi_q + c * l->n, 0, l->n * sizeof(double));
        memset(l->psi_q + c * l->n, 0, l->n * sizeof(double));
        memset(l->psi_v + c * l->n, 0, l->n * sizeof(double));
        memset(l->R_p + row * l->inputs, 0, l->inputs * sizeof(double));
        memset(l->phi_p + c * l->inputs, 0, l->inputs * sizeof(double));
        memset(l->psi_p + c * l->inputs, 0, l->inputs * sizeof(double));
        l->R_l[row * l->m + c] = 1;
    }
}

hamel_status local_evaluate(local_equations *l, const local_state *s, hamel_error *error) {
    hamel_status asked = hamel_ask(l->model->system->poll);
    if (asked != HAMEL_OK) return asked;
    program_inputs in = model_inputs(l->model, &s->t, s->q, s->v, s->a, s->lambda, NULL);
    mode_choose_branches(&l->mode, s->t, s->q, s->v);
    in.values[SYMBOL_BRANCH] = l->mode.branches;
    evaluate_levels(l, &in);
    evaluate_residual(l, &in);
    evaluate_inputs(l, &in);
    rest_constraints(l, s->lambda);
    bool good = all_finite(l->R, l->rows) && all_finite(l->R_q, l->rows * l->n) && all_finite(l->R_v, l->rows * l->n) &&
                all_finite(l->R_a, l->rows * l->n) && all_finite(l->R_l, l->rows * l->m) &&
                all_finite(l->phi_q, l->m * l->n) && all_finite(l->psi_q, l->m * l->n) &&
                all_finite(l->psi_v, l->m * l->n) && all_finite(l->R_p, l->rows * l->inputs) &&
                all_finite(l->phi_p, l->m * l->inputs) && all_finite(l->psi_p, l->m * l->inputs);
    if (good) return HAMEL_OK;
    return hamel_fail(error, HAMEL_NOT_FINITE, "", 0, "at t = %.9g the equations or their derivatives are not finite",
                      s->t);
}
