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
    if (l->memory.failed) return hamel_out_of_memory(error);
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
    l->input_work = model_workspace(l->model, l->by_inputs, &l->memory);
    l->input_values = arena_doubles(&l->memory, count);
    return l->memory.failed ? hamel_out_of_memory(error) : HAMEL_OK;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

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
    size_t most = l->n > l->m ? l->n : l->m;
    local_matrix list[LOCAL_MATRICES];
    local_list(l, list);
    for (size_t i = 0; i < LOCAL_MATRICES; i++)
        *list[i].values = arena_doubles(&l->memory, list[i].rows * list[i].columns);
    l->dynamics = arena_doubles(&l->memory, model->dynamics.count);
    return local_program_create(&l->levels, model, model->dynamics.program, model->dynamics.count, most, &l->memory) &&
           local_program_create(&l->residual, model, model->dynamics.residual, l->rows, most, &l->memory);
}

hamel_status local_create(local_equations *l, hamel_model *model, const hamel_argument *inputs, size_t input_count,
                          hamel_error *error) {
    *l = (local_equations){
        .model = model, .n = model->n, .m = model->m, .rows = model->n + model->m, .inputs = input_count};
    arena_init(&l->memory, model->limits.memory);
    if (l->rows > LOCAL_MOST)
        return hamel_fail(error, HAMEL_LIMIT, "", 0,
                          "the system has %zu coordinates and constraints; this analysis is limited to %d, because "
                          "its matrices are dense",
                          l->rows, (int)LOCAL_MOST);
    if (model->friction.count > 0)
        return hamel_fail(error, HAMEL_INVALID, "/constraints", 0,
                          "dry friction cannot be linearized; remove `friction` from the constraints");
    unsigned reactions = GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER);
    if (model->dynamics.nonideal && (program_depends(model->dynamics.nonideal) & reactions))
        return hamel_fail(error, HAMEL_INVALID, "/constraints", 0,
                          "work that depends on reactions cannot be linearized; remove `nonideal`");
    if (!discrete_state_create(&l->discrete_state, model, &l->memory) || !allocate_local(l))
        return hamel_out_of_memory(error);
    model->system->error = error;
    return input_count > 0 ? compile_inputs(l, inputs, error) : HAMEL_OK;
}

void local_free(local_equations *l) {
    arena_free(&l->memory);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

bool local_program_create(local_program *l, const hamel_model *model, const program *p, size_t outputs, size_t symbols,
                          arena *memory) {
    *l = (local_program){.p = p, .work = model_workspace(model, p, memory)};
    l->tangent = arena_doubles(memory, program_tangent_doubles(p));
    l->dots = arena_doubles(memory, outputs * PROGRAM_LANES);
    l->seeds = arena_doubles(memory, symbols * PROGRAM_LANES);
    return !memory->failed;
}

void local_derivatives(local_program *l, const program_inputs *in, graph_symbol_kind kind, size_t symbols,
                       const local_rows *rows, size_t row_count) {
    program_inputs seeds = {{0}};
    seeds.values[kind] = l->seeds;
    for (size_t base = 0; base < symbols; base += PROGRAM_LANES) {
        size_t lanes = symbols - base < PROGRAM_LANES ? symbols - base : PROGRAM_LANES;
        memset(l->seeds, 0, symbols * PROGRAM_LANES * sizeof *l->seeds);
        for (size_t k = 0; k < lanes; k++) l->seeds[(base + k) * PROGRAM_LANES + k] = 1;
        program_tangent(l->p, in, &seeds, l->work, l->tangent, NULL, l->dots);
        for (size_t i = 0; i < row_count; i++)
            for (size_t r = 0; r < rows[i].count; r++)
                memcpy(rows[i].matrix + r * rows[i].stride + base, l->dots + (rows[i].first + r) * PROGRAM_LANES,
                       lanes * sizeof *l->dots);
    }
}

static void evaluate_levels(local_equations *l, const program_inputs *in) {
    size_t n = l->n, m = l->m, at_phi = l->model->dynamics.at_position, at_psi = l->model->dynamics.at_velocity;
    const local_rows by_q[] = {{at_phi, m, n, l->phi_q}, {at_psi, m, n, l->psi_q}}, by_v = {at_psi, m, n, l->psi_v};
    program_evaluate(l->levels.p, in, l->levels.work, l->dynamics);
    memcpy(l->phi, l->dynamics + at_phi, m * sizeof *l->phi);
    memcpy(l->psi, l->dynamics + at_psi, m * sizeof *l->psi);
    if (m == 0) return;
    local_derivatives(&l->levels, in, SYMBOL_COORDINATE, n, by_q, 2);
    local_derivatives(&l->levels, in, SYMBOL_VELOCITY, n, &by_v, 1);
}

static void evaluate_residual(local_equations *l, const program_inputs *in) {
    const local_rows R_q = {0, l->rows, l->n, l->R_q}, R_v = {0, l->rows, l->n, l->R_v},
                     R_a = {0, l->rows, l->n, l->R_a}, R_l = {0, l->rows, l->m, l->R_l};
    program_evaluate(l->residual.p, in, l->residual.work, l->R);
    local_derivatives(&l->residual, in, SYMBOL_COORDINATE, l->n, &R_q, 1);
    local_derivatives(&l->residual, in, SYMBOL_VELOCITY, l->n, &R_v, 1);
    local_derivatives(&l->residual, in, SYMBOL_ACCELERATION, l->n, &R_a, 1);
    local_derivatives(&l->residual, in, SYMBOL_MULTIPLIER, l->m, &R_l, 1);
}

static void evaluate_inputs(local_equations *l, const program_inputs *in) {
    if (l->inputs == 0) return;
    const double *values = l->input_values;
    program_evaluate(l->by_inputs, in, l->input_work, l->input_values);
    for (size_t k = 0; k < l->inputs; k++) {
        for (size_t i = 0; i < l->rows; i++) l->R_p[i * l->inputs + k] = *values++;
        for (size_t c = 0; c < l->m; c++) l->phi_p[c * l->inputs + k] = *values++;
        for (size_t c = 0; c < l->m; c++) l->psi_p[c * l->inputs + k] = *values++;
    }
}

/* Replaces the equations of inactive constraints by λ_c = 0. */
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
    discrete_state_choose_branches(&l->discrete_state, s->t, s->q, s->v);
    const program_inputs in = discrete_state_inputs(&l->discrete_state, &s->t, s->q, s->v, s->a, s->lambda);
    evaluate_levels(l, &in);
    evaluate_residual(l, &in);
    evaluate_inputs(l, &in);
    local_list(l, list);
    rest_constraints(l, list, s->lambda);
    for (size_t i = 0; i < LOCAL_MATRICES; i++)
        if (!all_finite(*list[i].values, list[i].rows * list[i].columns))
            return hamel_fail(error, HAMEL_NOT_FINITE, "", 0,
                              "at t = %.9g the equations or their derivatives are not finite", s->t);
    return HAMEL_OK;
}
