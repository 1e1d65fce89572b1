/* variation.c — values of the members of a sweep. Each value that depends on varied parameters has its own program. A
 * program runs after the programs whose results it reads. */
#include "engine/model/variation.h"

#include "engine/model/inputs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum variation_kind {
    VARY_PARAMETER = INPUT_PARAMETER,
    VARY_INITIAL = INPUT_INITIAL,
    VARY_VELOCITY = INPUT_VELOCITY,
    VARY_SIGN
} variation_kind;

/* A step computes one value of the member, such as the parameter with this index, by its program. A target has no
 * program, because its value is an input. */
typedef struct variation_step {
    variation_kind kind;
    size_t index;
    program *program;
} variation_step;

struct hamel_variation {
    arena memory;
    const hamel_model *model;
    variation_step *targets;
    size_t target_count;
    variation_step *steps;
    size_t step_count, step_capacity;
    size_t workspace; /* doubles of the largest program */
    bool *varies;     /* for each parameter: whether its value differs between members */
};

static hamel_status find_target(hamel_variation *v, const char *name, variation_step *out, hamel_error *error) {
    const hamel_system *s = v->model->system;
    model_input in = inputs_find(s, name);
    if (in.kind == INPUT_NONE || in.kind == INPUT_QUASI)
        return hamel_fail(error, HAMEL_INVALID, "", 0, "unknown parameter or initial value `%s`", name);
    if (in.kind == INPUT_PARAMETER) v->varies[in.index] = true;
    *out = (variation_step){(variation_kind)in.kind, (size_t)in.index, NULL};
    return HAMEL_OK;
}

static bool is_target(const hamel_variation *v, variation_kind kind, size_t index) {
    for (size_t k = 0; k < v->target_count; k++)
        if (v->targets[k].kind == kind && v->targets[k].index == index) return true;
    return false;
}

/* Rejects models that members of a sweep cannot share, whatever the targets. */
static hamel_status admit_model(const hamel_model *model, hamel_error *error) {
    const char *what = model->sensitivities        ? "with sensitivities"
                       : model->friction.count > 0 ? "with friction"
                       : model->quasi.program      ? "with initial values of quasi-velocities"
                       : model->momenta.cyclic     ? "in Routh's equations"
                                                   : NULL;
    if (!what) return HAMEL_OK;
    return hamel_fail(error, HAMEL_UNSUPPORTED, "", 0, "the members of a sweep cannot share the model of a system %s",
                      what);
}

static hamel_status admit_parameter(const hamel_system *s, size_t j, hamel_error *error) {
    if (!s->parameter_structural[j] && !s->parameter_judged[j]) return HAMEL_OK;
    return hamel_fail(error, HAMEL_UNSUPPORTED, "", 0, "the value of `%s` is built into the model",
                      s->parameter_names[j]);
}

static bool is_made_of_parameters(const hamel_system *s, graph_node node) {
    return node >= 0 && (graph_depends(s->graph, node) & GRAPH_DEPENDS(SYMBOL_PARAMETER));
}

static hamel_status compile(hamel_variation *v, graph_node node, program **out, hamel_error *error) {
    return program_compile(out, &v->memory, v->model->system->graph, &node, 1, error);
}

/* If the program of the step reads a parameter that varies, adds the step. */
static hamel_status add_step(hamel_variation *v, variation_step step, bool *added, hamel_error *error) {
    assert(program_output_count(step.program) == 1);
    const uint32_t *list;
    size_t count = program_reads(step.program, SYMBOL_PARAMETER, &list), doubles;
    *added = false;
    for (size_t k = 0; k < count; k++) *added = *added || v->varies[list[k]];
    if (!*added) return HAMEL_OK;
    v->steps = arena_grow(&v->memory, v->steps, &v->step_capacity, v->step_count + 1, sizeof *v->steps);
    if (!v->steps) return hamel_out_of_memory(error);
    v->steps[v->step_count++] = step;
    doubles = program_workspace_doubles(step.program);
    if (doubles > v->workspace) v->workspace = doubles;
    return HAMEL_OK;
}

/* Depth-first search through the parameters that a parameter depends on. */
typedef struct descent {
    program **programs;   /* for each parameter: program of its definition, or NULL if it contains no parameters */
    unsigned char *state; /* for each parameter: 0 not visited, 1 on the path, 2 done */
    size_t *open;         /* parameters on the path */
    size_t depth;
} descent;

/* Returns the first unvisited parameter that j depends on, or j if there is none. The binder has already rejected
 * circular definitions. */
static size_t needed_first(const descent *d, size_t j) {
    const uint32_t *list;
    size_t count = d->programs[j] ? program_reads(d->programs[j], SYMBOL_PARAMETER, &list) : 0;
    for (size_t k = 0; k < count; k++)
        if (d->state[list[k]] == 0) return list[k];
    return j;
}

static hamel_status follow_parameter(hamel_variation *v, descent *d, size_t j, hamel_error *error) {
    hamel_status status = HAMEL_OK;
    d->open[0] = j;
    d->state[j] = 1;
    for (d->depth = 1; d->depth > 0 && status == HAMEL_OK;) {
        size_t at = d->open[d->depth - 1], first = needed_first(d, at);
        if (first != at) {
            d->state[first] = 1;
            d->open[d->depth++] = first;
            continue;
        }
        d->state[at] = 2;
        d->depth--;
        if (!d->programs[at] || is_target(v, VARY_PARAMETER, at)) continue;
        status = add_step(v, (variation_step){VARY_PARAMETER, at, d->programs[at]}, &v->varies[at], error);
    }
    return status;
}

static hamel_status follow_parameters(hamel_variation *v, hamel_error *error) {
    const hamel_system *s = v->model->system;
    size_t count = s->parameter_count;
    descent d = {arena_alloc(&v->memory, count, sizeof *d.programs), arena_alloc(&v->memory, count, 1),
                 arena_alloc(&v->memory, count + 1, sizeof *d.open), 0};
    if (!d.programs || !d.state || !d.open) return hamel_out_of_memory(error);
    hamel_status status = HAMEL_OK;
    for (size_t j = 0; j < count && status == HAMEL_OK; j++)
        if (is_made_of_parameters(s, s->parameter_nodes[j]))
            status = compile(v, s->parameter_nodes[j], &d.programs[j], error);
    for (size_t j = 0; j < count && status == HAMEL_OK; j++)
        if (d.state[j] == 0) status = follow_parameter(v, &d, j, error);
    for (size_t j = 0; j < count && status == HAMEL_OK; j++)
        if (v->varies[j]) status = admit_parameter(s, j, error);
    return status;
}

static hamel_status follow_node(hamel_variation *v, variation_kind kind, size_t index, graph_node node,
                                hamel_error *error) {
    variation_step step = {.kind = kind, .index = index};
    bool added;
    if (!is_made_of_parameters(v->model->system, node) || is_target(v, kind, index)) return HAMEL_OK;
    hamel_status status = compile(v, node, &step.program, error);
    return status == HAMEL_OK ? add_step(v, step, &added, error) : status;
}

static hamel_status follow_all(hamel_variation *v, hamel_error *error) {
    const hamel_system *s = v->model->system;
    hamel_status status = follow_parameters(v, error);
    for (size_t k = 0; k < s->sign_count && status == HAMEL_OK; k++)
        status = follow_node(v, VARY_SIGN, k, s->signs[k].node, error);
    for (size_t i = 0; i < s->coordinate_count && status == HAMEL_OK; i++) {
        status = follow_node(v, VARY_INITIAL, i, s->coordinates[i].initial_node, error);
        if (status == HAMEL_OK) status = follow_node(v, VARY_VELOCITY, i, s->coordinates[i].velocity_node, error);
    }
    return status;
}

hamel_status hamel_variation_create(hamel_variation **out, const hamel_model *model, const char *const *targets,
                                    size_t count, hamel_error *error) {
    hamel_variation *v = *out = calloc(1, sizeof *v);
    if (!v) return hamel_out_of_memory(error);
    arena_init(&v->memory, model->limits.memory);
    v->model = model;
    v->targets = arena_alloc(&v->memory, count, sizeof *v->targets);
    v->varies = arena_alloc(&v->memory, model->system->parameter_count, sizeof *v->varies);
    hamel_status status = v->targets && v->varies ? admit_model(model, error) : hamel_out_of_memory(error);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        status = find_target(v, targets[k], &v->targets[k], error);
        v->target_count = k + 1;
    }
    if (status == HAMEL_OK) status = follow_all(v, error);
    if (status == HAMEL_OK) return HAMEL_OK;
    hamel_variation_free(v);
    *out = NULL;
    return status;
}

void hamel_variation_free(hamel_variation *v) {
    if (!v) return;
    arena_free(&v->memory);
    free(v);
}

const hamel_model *variation_model(const hamel_variation *v) {
    return v->model;
}

size_t variation_target_count(const hamel_variation *v) {
    return v->target_count;
}

bool variation_member_create(variation_member *m, const hamel_variation *v) {
    const hamel_model *model = v->model;
    size_t n = model->n, count = model->system->parameter_count;
    *m = (variation_member){.model = *model};
    m->parameters = calloc(count + 2 * n + v->workspace + 1, sizeof *m->parameters);
    m->velocity_given = calloc(n + 1, sizeof *m->velocity_given);
    if (!m->parameters || !m->velocity_given) return false;
    m->q0 = m->parameters + count;
    m->v0 = m->q0 + n;
    m->work = m->v0 + n;
    m->model.parameters = m->parameters;
    m->model.q0 = m->q0;
    m->model.v0 = m->v0;
    m->model.velocity_given = m->velocity_given;
    memcpy(m->parameters, model->parameters, count * sizeof *m->parameters);
    memcpy(m->q0, model->q0, n * sizeof *m->q0);
    memcpy(m->v0, model->v0, n * sizeof *m->v0);
    memcpy(m->velocity_given, model->velocity_given, n * sizeof *m->velocity_given);
    return true;
}

void variation_member_free(variation_member *m) {
    free(m->parameters);
    free(m->velocity_given);
    *m = (variation_member){0};
}

static hamel_status check_value(const hamel_variation *v, const variation_step *step, double value,
                                hamel_error *error) {
    const hamel_system *s = v->model->system;
    if (step->kind == VARY_SIGN && value < 0)
        return hamel_fail(error, HAMEL_INVALID, s->signs[step->index].pointer, 0, "%s is %.9g; it must not be negative",
                          s->signs[step->index].what, value);
    if (isfinite(value)) return HAMEL_OK;
    const char *name = step->kind == VARY_PARAMETER ? s->parameter_names[step->index]
                       : step->kind == VARY_SIGN    ? s->signs[step->index].what
                                                    : s->coordinates[step->index].name;
    return hamel_fail(error, HAMEL_INVALID, "", 0, "the %s `%s` is not finite",
                      step->kind == VARY_INITIAL    ? "initial value of"
                      : step->kind == VARY_VELOCITY ? "initial velocity of"
                                                    : "value of",
                      name);
}

hamel_status variation_set(const hamel_variation *v, const double *values, variation_member *m, hamel_error *error) {
    assert(m->model.parameters == m->parameters && m->model.q0 == m->q0);
    double unused = 0, *const places[] = {m->parameters, m->q0, m->v0, &unused};
    for (size_t k = 0; k < v->target_count; k++) {
        const variation_step *target = &v->targets[k];
        places[target->kind][target->index] = values[k];
        if (target->kind == VARY_VELOCITY) m->velocity_given[target->index] = true;
    }
    for (size_t k = 0; k < v->step_count; k++) {
        const variation_step *step = &v->steps[k];
        program_inputs in = model_inputs(&m->model, NULL, NULL, NULL, NULL, NULL, NULL);
        double value;
        program_prepare(step->program, &in, m->work);
        program_evaluate(step->program, &in, m->work, &value);
        hamel_status status = check_value(v, step, value, error);
        if (status != HAMEL_OK) return status;
        if (step->kind != VARY_SIGN) places[step->kind][step->index] = value;
    }
    return HAMEL_OK;
}
