/* local.c — evaluation of the equations and their first derivatives as dense matrices; see local.h. */
#include "engine/analyze/local.h"

#include "engine/base/finite.h"
#include "engine/model/inputs.h"

#include <assert.h>
#include <string.h>

/* --- inputs ------------------------------------------------------------------------------------------------------- */

static hamel_status no_parameter(const hamel_system *s, hamel_argument input, hamel_error *error) {
    const char *name = input.name;
    (void)hamel_fail(error, HAMEL_INVALID, input.pointer, 0, "the input `%s` is not a parameter of the system", name);
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
    if (!nodes || !rates) return hamel_out_of_memory(error);
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
    return l->input_work && l->input_values ? HAMEL_OK : hamel_out_of_memory(error);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static double *local_numbers(local_equations *l, size_t rows, size_t columns) {
    return arena_alloc(&l->memory, rows * columns, sizeof(double));
}

static size_t larger_size(size_t x, size_t y) {
    return x > y ? x : y;
}

void local_list(local_equations *l, local_matrix list[LOCAL_MATRICES]) {
    assert(l->rows == l->n + l->m);
    size_t n = l->n, m = l->m, rows = l->rows, k = l->inputs;
    const local_matrix all[LOCAL_MATRICES] = {
        {&l->R, rows, 1},   {&l->R_q, rows, n}, {&l->R_v, rows, n}, {&l->R_a, rows, n}, {&l->R_l, rows, m},
        {&l->phi, m, 1},    {&l->psi, m, 1},    {&l->phi_q, m, n},  {&l->psi_q, m, n},  {&l->psi_v, m, n},
        {&l->R_p, rows, k}, {&l->phi_p, m, k},  {&l->psi_p, m, k}};
    memcpy(list, all, sizeof all);
}

static bool allocate_local(local_equations *l) {
    const hamel_model *model = l->model;
    size_t n = l->n, m = l->m, rows = l->rows;
    local_matrix list[LOCAL_MATRICES];
    local_list(l, list);
    for (size_t i = 0; i < LOCAL_MATRICES; i++)
        if (!(*list[i].values = local_numbers(l, list[i].rows, list[i].columns))) return false;
    l->dynamics = local_numbers(l, model->dynamics.count, 1);
    l->work = local_numbers(l,
                            larger_size(program_workspace_doubles(model->dynamics.program),
                                        program_workspace_doubles(model->dynamics.residual)),
                            1);
    l->tangent_work = local_numbers(l,
                                    larger_size(program_tangent_doubles(model->dynamics.program),
                                                program_tangent_doubles(model->dynamics.residual)),
                                    1);
    l->dots = local_numbers(l, larger_size(model->dynamics.count, rows), PROGRAM_LANES);
    l->seeds = local_numbers(l, larger_size(n, m), PROGRAM_LANES);
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
    if (model->friction.count > 0)
        return hamel_fail(error, HAMEL_INVALID, "/constraints", 0,
                          "dry friction has no linear form: take the friction out of the description first");
    unsigned reactions = GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER);
    if (model->dynamics.nonideal && (program_depends(model->dynamics.nonideal) & reactions))
        return hamel_fail(error, HAMEL_INVALID, "/constraints", 0,
                          "prescribed work that depends on reactions has no linear form here");
    if (!discrete_state_create(&l->discrete_state, model, &l->memory) || !allocate_local(l))
        return hamel_out_of_memory(error);
    model->system->error = error;
    return input_count > 0 ? compile_inputs(l, inputs, error) : HAMEL_OK;
}

void local_free(local_equations *l) {
    arena_free(&l->memory);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* A row-major matrix that receives outputs [first, first + count) of the program. */
typedef struct target {
    size_t first, count;
    double *matrix;
} target;

static void fill_derivatives(local_equations *l, const program *p, const program_inputs *in, graph_symbol_kind kind,
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
    const target by_q[] = {{model->dynamics.at_position, l->m, l->phi_q},
                           {model->dynamics.at_velocity, l->m, l->psi_q}};
    const target by_v[] = {{model->dynamics.at_velocity, l->m, l->psi_v}};
    program_prepare(model->dynamics.program, in, l->work);
    program_evaluate(model->dynamics.program, in, l->work, l->dynamics);
    memcpy(l->phi, l->dynamics + model->dynamics.at_position, l->m * sizeof *l->phi);
    memcpy(l->psi, l->dynamics + model->dynamics.at_velocity, l->m * sizeof *l->psi);
    if (l->m == 0) return;
    fill_derivatives(l, model->dynamics.program, in, SYMBOL_COORDINATE, l->n, by_q, 2);
    fill_derivatives(l, model->dynamics.program, in, SYMBOL_VELOCITY, l->n, by_v, 1);
}

static void evaluate_residual(local_equations *l, const program_inputs *in) {
    const program *p = l->model->dynamics.residual;
    const target by_q = {0, l->rows, l->R_q}, by_v = {0, l->rows, l->R_v}, by_a = {0, l->rows, l->R_a},
                 by_l = {0, l->rows, l->R_l};
    program_prepare(p, in, l->work);
    program_evaluate(p, in, l->work, l->R);
    fill_derivatives(l, p, in, SYMBOL_COORDINATE, l->n, &by_q, 1);
    fill_derivatives(l, p, in, SYMBOL_VELOCITY, l->n, &by_v, 1);
    fill_derivatives(l, p, in, SYMBOL_ACCELERATION, l->n, &by_a, 1);
    if (l->m > 0) fill_derivatives(l, p, in, SYMBOL_MULTIPLIER, l->m, &by_l, 1);
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

/* Replaces inactive constraints by λ_c = 0. */
static void rest_constraints(local_equations *l, const local_matrix *list, const double *lambda) {
    for (size_t c = 0; c < l->m; c++) {
        if (l->model->active[c]) continue;
        for (size_t i = 0; i < LOCAL_MATRICES; i++) {
            size_t row = list[i].rows - l->m + c;
            memset(*list[i].values + row * list[i].columns, 0, list[i].columns * sizeof **list[i].values);
        }
        l->R[l->n + c] = lambda[c];
        l->R_l[(l->n + c) * l->m + c] = 1;
    }
}

hamel_status local_evaluate(local_equations *l, const local_state *s, hamel_error *error) {
    assert(l->rows == l->n + l->m);
    local_matrix list[LOCAL_MATRICES];
    hamel_status asked = hamel_ask(l->model->system->poll);
    if (asked != HAMEL_OK) return asked;
    program_inputs in = model_inputs(l->model, &s->t, s->q, s->v, s->a, s->lambda, NULL);
    discrete_state_choose_branches(&l->discrete_state, s->t, s->q, s->v);
    in.values[SYMBOL_BRANCH] = l->discrete_state.branches;
    evaluate_levels(l, &in);
    evaluate_residual(l, &in);
    evaluate_inputs(l, &in);
    local_list(l, list);
    rest_constraints(l, list, s->lambda);
    bool good = true;
    for (size_t i = 0; i < LOCAL_MATRICES && good; i++)
        good = all_finite(*list[i].values, list[i].rows * list[i].columns);
    if (good) return HAMEL_OK;
    return hamel_fail(error, HAMEL_NOT_FINITE, "", 0, "at t = %.9g the equations or their derivatives are not finite",
                      s->t);
}
