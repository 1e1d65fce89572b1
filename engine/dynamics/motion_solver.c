/* motion_solver.c — dispatch to the solver of the formulation. */
#include "engine/dynamics/motion_solver.h"

#include <assert.h>
#include <math.h>

bool motion_solver_create(motion_solver *s, const hamel_model *model, const discrete_state *state, kkt *all,
                          arena *memory) {
    const formulation *f = model->formulation;
    *s = (motion_solver){.kkt = all, .zero = arena_doubles(memory, model->m)};
    if (!s->zero) return false;
    bool projects = f->solver == SOLVER_PROJECTION || f->solver == SOLVER_TRANSITIVITY;
    if (projects && !(s->basis = velocity_basis_create(model, memory))) return false;
    if (f->solver == SOLVER_MULTIPLIERS || f->solver == SOLVER_LEAST_REACTION) return true;
    return (s->null_space = null_space_create(model, state, s->basis, memory)) != NULL;
}

void motion_solver_free(motion_solver *s) {
    null_space_free(s->null_space);
    velocity_basis_free(s->basis);
    *s = (motion_solver){0};
}

void motion_expect(motion_solver *s, size_t rank, size_t velocity_rank, const double *usual) {
    if (s->null_space) null_space_expect(s->null_space, rank, usual);
    if (!s->basis) return;
    s->basis->usual = usual;
    s->basis->limit = velocity_rank;
}

hamel_status motion_factor(motion_solver *s, double t, const double *q, const double *v, const double *values) {
    return s->null_space ? null_space_factor(s->null_space, t, q, v, values) : kkt_factor(s->kkt, values);
}

hamel_status motion_solve(motion_solver *s, const double *g, const double *r, double tolerance, double *x,
                          double *lambda) {
    assert(!s->basis || s->null_space);
    return s->null_space ? null_space_solve(s->null_space, g, r, tolerance, x, lambda)
                         : kkt_solve(s->kkt, g, r, tolerance, x, lambda);
}

hamel_status motion_respond(motion_solver *s, const double *g, double *x, double *lambda) {
    return s->null_space ? null_space_respond(s->null_space, g, x, lambda)
                         : kkt_solve(s->kkt, g, s->zero, INFINITY, x, lambda);
}

const double *motion_forces(motion_solver *s, const double *g) {
    return s->null_space ? null_space_forces(s->null_space, g) : g;
}

size_t motion_rank(const motion_solver *s) {
    return s->null_space ? null_space_rank(s->null_space) : kkt_rank(s->kkt);
}

double motion_margin(const motion_solver *s) {
    return s->null_space ? null_space_margin(s->null_space) : kkt_margin(s->kkt);
}
