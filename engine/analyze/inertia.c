/* inertia.c — moments of inertia: principal moments and axes, and transfer to a point.
 *
 *   I_P = I_G + m (d² 1 − d dᵀ), d = r_G − r_P                        parallel axes, Papastavridis 1.15
 *   I n = J n                                                        principal moment J and axis n
 *   I_system = Σ R I_G Rᵀ + m (d² 1 − d dᵀ)                          d from the centre of mass of the system */
#include "engine/analyze/inertia.h"

#include "engine/analyze/analysis_int.h"
#include "engine/dynamics/initial_values.h"
#include "engine/system/elements.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Jacobi's iteration converges quadratically: four sweeps of three rotations reach rounding errors. */
enum { ROTATIONS_MOST = 60 };

/* Values of an element with mass at the initial state. */
typedef struct mass_state {
    double mass, position[3], rotation[9], inertia[9];
} mass_state;

/* Applies the Jacobi rotation in the plane (p, q) that makes entry pq of the symmetric matrix zero (Golub and Van Loan,
 * Matrix Computations, 8.5). Applies the same rotation to the rows of `axes`, which converge to the eigenvectors. */
static void rotate(double a[9], double axes[9], size_t p, size_t q) {
    double off = a[3 * p + q];
    if (off == 0) return;
    double tau = (a[4 * q] - a[4 * p]) / (2 * off), t = copysign(1, tau) / (fabs(tau) + hypot(1, tau));
    double c = 1 / hypot(1, t), s = t * c;
    for (size_t k = 0; k < 3; k++) {
        double x = a[3 * k + p], y = a[3 * k + q];
        a[3 * k + p] = c * x - s * y;
        a[3 * k + q] = s * x + c * y;
    }
    for (size_t k = 0; k < 3; k++) {
        double x = a[3 * p + k], y = a[3 * q + k], u = axes[3 * p + k], w = axes[3 * q + k];
        a[3 * p + k] = c * x - s * y;
        a[3 * q + k] = s * x + c * y;
        axes[3 * p + k] = c * u - s * w;
        axes[3 * q + k] = s * u + c * w;
    }
    a[3 * p + q] = a[3 * q + p] = 0;
}

static void swap_rows(double principal[3], double axes[9], size_t i, size_t j) {
    double moment = principal[i], row[3];
    principal[i] = principal[j];
    principal[j] = moment;
    memcpy(row, axes + 3 * i, sizeof row);
    memcpy(axes + 3 * i, axes + 3 * j, sizeof row);
    memcpy(axes + 3 * j, row, sizeof row);
}

/* Makes the largest component of each of the first two axes positive. Sets the third axis to the vector product of the
 * first two axes. */
static void orient(double axes[9]) {
    for (size_t i = 0; i < 2; i++) {
        size_t most = 0;
        for (size_t k = 1; k < 3; k++) /* components that are equal up to rounding count as equal */
            if (fabs(axes[3 * i + k]) > fabs(axes[3 * i + most]) * (1 + 1e-9)) most = k;
        for (size_t k = 0; k < 3 && axes[3 * i + most] < 0; k++)
            if (k != most) axes[3 * i + k] = -axes[3 * i + k];
        axes[3 * i + most] = fabs(axes[3 * i + most]);
    }
    for (size_t k = 0; k < 3; k++) {
        size_t i = (k + 1) % 3, j = (k + 2) % 3;
        axes[6 + k] = axes[i] * axes[3 + j] - axes[j] * axes[3 + i];
    }
    for (size_t k = 0; k < 9; k++) axes[k] += 0.0; /* replaces −0 by 0 */
}

/* Computes the principal moments of a symmetric matrix, in increasing order, and the principal axes. */
static void find_principal(const double tensor[9], double principal[3], double axes[9]) {
    double a[9], size = 0;
    memcpy(a, tensor, sizeof a);
    for (size_t k = 0; k < 9; k++) {
        axes[k] = k % 4 == 0;
        size = fmax(size, fabs(a[k]));
    }
    for (size_t n = 0; n < ROTATIONS_MOST; n++) {
        size_t p = n % 3 == 2 ? 1 : 0, q = n % 3 == 0 ? 1 : 2;
        if (fabs(a[3 * p + q]) > DBL_EPSILON * DBL_EPSILON * size) rotate(a, axes, p, q);
    }
    for (size_t k = 0; k < 3; k++) principal[k] = a[4 * k];
    for (size_t n = 0; n < 3; n++) {
        size_t i = n % 2;
        if (principal[i] > principal[i + 1]) swap_rows(principal, axes, i, i + 1);
    }
    orient(axes);
}

/* Adds m (d² 1 − d dᵀ), the transfer to a point at the distance d, to a tensor. */
static void add_transfer(double tensor[9], double mass, const double d[3]) {
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (size_t k = 0; k < 9; k++) tensor[k] += mass * ((k % 4 == 0 ? square : 0) - d[k / 3] * d[k % 3]);
}

/* Adds R I Rᵀ, a tensor transformed from body axes to inertial axes. */
static void add_turned(double tensor[9], const double R[9], const double I[9]) {
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 9; k++) tensor[3 * i + j] += R[3 * i + k / 3] * I[k] * R[3 * j + k % 3];
}

static void describe_body(const mass_state *s, const double point[3], hamel_inertia_item *to) {
    double off[3], own[3] = {0};
    to->mass = s->mass;
    memcpy(to->center, s->position, sizeof to->center);
    memcpy(to->tensor, s->inertia, sizeof to->tensor);
    memcpy(to->about, s->inertia, sizeof to->about);
    for (size_t k = 0; k < 3; k++) off[k] = s->position[k] - point[k];
    for (size_t k = 0; k < 9; k++) own[k % 3] += s->rotation[k] * off[k / 3];
    add_transfer(to->about, s->mass, own);
}

static void describe_system(const mass_state *all, size_t count, const double point[3], hamel_inertia_item *to) {
    for (size_t i = 0; i < count; i++) {
        to->mass += all[i].mass;
        for (size_t k = 0; k < 3; k++) to->center[k] += all[i].mass * all[i].position[k];
    }
    for (size_t k = 0; k < 3; k++) to->center[k] = to->mass > 0 ? to->center[k] / to->mass : 0;
    for (size_t i = 0; i < count; i++) {
        double from_center[3], from_point[3];
        for (size_t k = 0; k < 3; k++) {
            from_center[k] = all[i].position[k] - to->center[k];
            from_point[k] = all[i].position[k] - point[k];
        }
        add_turned(to->tensor, all[i].rotation, all[i].inertia);
        add_turned(to->about, all[i].rotation, all[i].inertia);
        add_transfer(to->tensor, all[i].mass, from_center);
        add_transfer(to->about, all[i].mass, from_point);
    }
}

/* Computes the principal moments and axes of an item. In the plane, keeps only the moment about the third axis. */
static void find_moments(hamel_inertia_item *item, int dimension) {
    if (dimension == 3) {
        find_principal(item->tensor, item->principal, item->axes);
        return;
    }
    item->principal[0] = item->tensor[8];
    for (size_t k = 0; k < 8; k++) item->tensor[k] = item->about[k] = 0;
}

/* --- values at the initial state ----------------------------------------------------------------------------------- */

enum { NODES = 22 }; /* mass, position, rotation and inertia of an element */

static void list_nodes(const hamel_system *s, const system_located *e, graph_node nodes[NODES]) {
    nodes[0] = e->mass < 0 ? graph_number(s->graph, 0) : e->mass;
    memcpy(nodes + 1, e->position, sizeof e->position);
    memcpy(nodes + 4, e->rotation, sizeof e->rotation);
    memcpy(nodes + 13, e->inertia, sizeof e->inertia);
}

/* Evaluates the mass, position, rotation and inertia of an element at the state (q, v) of a->start. */
static hamel_status evaluate_element(analysis *a, const system_located *e, mass_state *to) {
    graph_node nodes[NODES];
    double values[NODES];
    list_nodes(a->system, e, nodes);
    program_inputs in = model_inputs(a->model, &a->start.t, a->start.q, a->start.v, NULL, NULL, NULL);
    graph_point point = {{0}, {0}, {0}};
    memcpy(point.values, in.values, sizeof point.values);
    if (!graph_values(a->system->graph, nodes, NODES, &point, values, NULL)) return analysis_no_memory(a);
    for (size_t k = 0; k < NODES; k++)
        if (!isfinite(values[k]))
            return hamel_fail(a->error, HAMEL_NOT_FINITE, e->pointer, 0,
                              "the mass, position or inertia of `%s` is not finite in the initial state", e->name);
    to->mass = values[0];
    memcpy(to->position, values + 1, sizeof to->position);
    memcpy(to->rotation, values + 4, sizeof to->rotation);
    memcpy(to->inertia, values + 13, sizeof to->inertia);
    return HAMEL_OK;
}

static hamel_status find_initial_state(analysis *a) {
    double *acceleration = arena_doubles(a->memory, a->n), *lambda = arena_doubles(a->memory, a->model->m);
    a->start.t = a->model->settings.start;
    a->start.q = arena_doubles(a->memory, a->n);
    a->start.v = arena_doubles(a->memory, a->n);
    dynamics *k = dynamics_create(a->model);
    hamel_status status = HAMEL_NO_MEMORY;
    if (k && !a->memory->failed) {
        status = initial_state(k, a->start.q, a->start.v, acceleration, lambda, a->error);
        if (status != HAMEL_OK && a->error->status == HAMEL_OK) status = dynamics_explain(k, status, a->error);
    }
    dynamics_free(k);
    return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
}

static hamel_status find_point(analysis *a, hamel_inertia *to, const hamel_argument *about) {
    const symbol_table *names = &a->system->binder->elements;
    mass_state state;
    if (!about->name) return HAMEL_OK;
    int32_t index = binder_find(names, about->name);
    if (index < 0) {
        (void)hamel_fail(a->error, HAMEL_INVALID, about->pointer, 0,
                         "there is no particle, body, point or frame `%s` to which inertia could be transferred",
                         about->name);
        const char *nearest = symbol_nearest(names, about->name, strlen(about->name));
        if (nearest) hamel_suggest(a->error, "did you mean `%s`?", nearest);
        return HAMEL_INVALID;
    }
    hamel_status status = evaluate_element(a, &a->system->binder->located[index], &state);
    if (status != HAMEL_OK) return status;
    memcpy(to->point, state.position, sizeof to->point);
    to->about = arena_format(a->memory, "%s", about->name);
    return to->about ? HAMEL_OK : analysis_no_memory(a);
}

/* Returns the reason why the elements do not determine the inertia of the system, or NULL. */
static const char *reason_of(const hamel_system *s) {
    bool given = s->kinetic_given > 0 || s->lagrangian >= 0 || s->acceleration_energy >= 0;
    return given ? "an energy is given as an expression, which may contain masses without a position" : NULL;
}

static hamel_status describe_elements(analysis *a, hamel_inertia *to, mass_state *states) {
    const system_binder *b = a->system->binder;
    size_t masses = 0;
    for (size_t i = 0; i < b->located_count; i++) {
        const system_located *e = &b->located[i];
        if (e->mass < 0) continue;
        hamel_status status = evaluate_element(a, e, &states[masses]);
        if (status != HAMEL_OK) return status;
        if (e->turns && (e->has_inertia || !to->reason)) {
            hamel_inertia_item *item = &to->bodies[to->count++];
            item->name = arena_format(a->memory, "%s", e->name);
            if (!item->name) return analysis_no_memory(a);
            describe_body(&states[masses], to->point, item);
            find_moments(item, to->dimension);
        }
        masses++;
    }
    if (masses == 0) {
        (void)hamel_fail(a->error, HAMEL_INVALID, "", 0, "the description has neither bodies nor particles");
        hamel_suggest(a->error, "describe masses as `bodies` or `particles`");
        return HAMEL_INVALID;
    }
    if (to->reason) return HAMEL_OK;
    describe_system(states, masses, to->point, &to->system);
    find_moments(&to->system, to->dimension);
    return HAMEL_OK;
}

static hamel_status find_inertia(analysis *a, void *result, void *context) {
    hamel_inertia *to = result;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = find_initial_state(a);
    if (status == HAMEL_OK) status = find_point(a, to, context);
    if (status != HAMEL_OK) return status;
    size_t most = a->system->binder->located_count;
    mass_state *states = arena_alloc(a->memory, most, sizeof *states);
    to->bodies = arena_alloc(a->memory, most, sizeof *to->bodies);
    to->dimension = a->system->dimension;
    to->reason = reason_of(a->system);
    return states && to->bodies ? describe_elements(a, to, states) : analysis_no_memory(a);
}

hamel_status hamel_find_inertia(hamel_inertia **out, const hamel_description *d, hamel_argument about,
                                const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, find_inertia, &about,
                            out);
}

void hamel_inertia_free(hamel_inertia *inertia) {
    analysis_result_free(inertia);
}
