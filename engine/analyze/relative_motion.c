/* relative_motion.c — inertial forces of particles in moving frames.
 *
 *     a = a_O + α × ρ + ω × (ω × ρ) + 2 ω × v_rel + a_rel                     (Papastavridis 1.7.11 to 1.7.13)
 *
 * O is the origin of the frame, ω is its angular velocity, and ρ is the position of the particle in the frame. All
 * vectors have components in the axes of the frame. In these axes, the components of α are the rates of the components
 * of ω. */
#include "engine/algebra/arrange.h"
#include "engine/analyze/forces_int.h"

#include <math.h>
#include <string.h>

enum { PART_COUNT = 5 };

/* Fills `parts` with the five terms of the acceleration, in the order origin, euler, centrifugal, coriolis, relative.
 * `p` is the frame, and `at` is the position of the particle in the frame. */
static void find_parts(hamel_system *s, const system_located *p, const graph_node at[3],
                       graph_node parts[PART_COUNT][3]) {
    graph *g = s->graph;
    graph_node origin[3], alpha[3], turn[3], rate[3];
    for (int k = 0; k < 3; k++) {
        origin[k] = graph_rate(g, graph_rate(g, p->position[k]));
        alpha[k] = graph_rate(g, p->omega_body[k]);
        rate[k] = graph_rate(g, at[k]);
        parts[4][k] = graph_rate(g, rate[k]);
    }
    node_matrix_apply_transposed(g, p->rotation, origin, parts[0]);
    node_vector_cross(g, alpha, at, parts[1]);
    node_vector_cross(g, p->omega_body, at, turn);
    node_vector_cross(g, p->omega_body, turn, parts[2]);
    node_vector_cross(g, p->omega_body, rate, parts[3]);
    for (int k = 0; k < 3; k++) parts[3][k] = graph_mul(g, graph_number(g, 2), parts[3][k]);
}

static hamel_status fill_part(force_work *w, graph_node mass, const graph_node part[3], hamel_inertial_force *to,
                              size_t dimension, const char *name) {
    static const char axes[] = "xyz";
    analysis *a = w->a;
    graph *g = a->system->graph;
    graph_node nodes[3];
    for (size_t k = 0; k < dimension; k++)
        nodes[k] = arrange_within(g, graph_neg(g, graph_mul(g, mass, part[k])), &a->work, a->memory);
    if (graph_status(g) != HAMEL_OK) return analysis_stopped(a);
    const double *values = forces_values(a, &w->start, w->start.lambda, nodes, dimension);
    if (!values) return analysis_no_memory(a);
    for (size_t k = 0; k < dimension; k++) {
        if (!isfinite(values[k]))
            return hamel_fail(a->error, HAMEL_NOT_FINITE, "", 0,
                              "the inertial force on `%s` along %c is not finite in the initial state", name, axes[k]);
        to->values[k] = values[k] == 0 ? 0 : values[k]; /* replaces −0 by 0 */
        if (!(to->components[k] = analysis_text(a, nodes[k], 1 << 20))) return analysis_no_memory(a);
    }
    return HAMEL_OK;
}

static hamel_status fill_particle(force_work *w, const system_particle *own, hamel_relative_motion *to) {
    static const char *const names[PART_COUNT] = {"origin", "euler", "centrifugal", "coriolis", "relative"};
    analysis *a = w->a;
    hamel_system *s = a->system;
    const system_located *e = &s->binder->located[own->element], *p = &s->binder->located[e->parent];
    graph_node zero = graph_number(s->graph, 0), at[3] = {zero, zero, zero}, parts[PART_COUNT][3];
    hamel_status status = HAMEL_OK;
    to->particle = arena_format(a->memory, "%s", e->name);
    to->frame = arena_format(a->memory, "%s", p->name);
    to->dimension = (size_t)s->dimension;
    if (!to->particle || !to->frame) return analysis_no_memory(a);
    for (int k = 0; e->position_slot >= 0 && k < s->dimension; k++) at[k] = s->binder->slots[e->position_slot].nodes[k];
    find_parts(s, p, at, parts);
    for (int k = 0; k < PART_COUNT && status == HAMEL_OK; k++) {
        to->parts[k].part = names[k];
        status = fill_part(w, own->mass, parts[k], &to->parts[k], to->dimension, to->particle);
    }
    return status;
}

hamel_status relative_motion_derive(force_work *w) {
    analysis *a = w->a;
    const hamel_system *s = a->system;
    hamel_status status = HAMEL_OK;
    w->out->relative = arena_alloc(a->memory, s->particle_count, sizeof *w->out->relative);
    if (!w->out->relative) return analysis_no_memory(a);
    for (size_t k = 0; k < s->particle_count && status == HAMEL_OK; k++) {
        const system_located *e = &s->binder->located[s->particles[k].element];
        if (e->parent < 0 || strcmp(e->kind, "particle") != 0) continue;
        status = fill_particle(w, &s->particles[k], &w->out->relative[w->out->relative_count++]);
    }
    return status;
}
