/* motion_solver.c — which solver a formulation wants. */
#include "engine/solve/motion_solver.h"

#include <math.h>
#include <stdlib.h>

bool motion_solver_create(motion_solver *s, const hamel_model *model, const motion_mode *mode, kkt *all) {
    const formulation *f = model->formulation;
    *s = (motion_solver){.kkt = all, .zero = calloc(model->m + 1, sizeof *s->zero)};
    if (!s->zero) return false;
    bool projects = f->solver == SOLVER_PROJECTION || f->solver == SOLVER_TRANSITIVITY;
    if (projects && !(s->frame = frame_create(model))) return false;
    if (f->solver == SOLVER_MULTIPLIERS || f->solver == SOLVER_LEAST_REACTION) return true;
    return (s->reduced = reduced_create(model, mode, s->frame)) != NULL;
}

void motion_solver_free(motion_solver *s) {
    reduced_free(s->reduced);
    frame_free(s->frame);
    free(s->zero);
    *s = (motion_solver){0};
}

void motion_expect(motion_solver *s, size_t rank, size_t velocity_rank, const double *usual) {
    if (s->reduced) reduced_expect(s->reduced, rank, usual);
    if (!s->frame) return;
    s->frame->usual = usual;
    s->frame->limit = velocity_rank;
}

hamel_status motion_factor(motion_solver *s, double t, const double *q, const double *v, const double *values) {
    return s->reduced ? reduced_factor(s->reduced, t, q, v, values) : kkt_factor(s->kkt, values);
}

hamel_status motion_solve(motion_solver *s, const double *g, const double *r, double tolerance, double *x,
                          double *lambda) {
    return s->reduced ? reduced_solve(s->reduced, g, r, tolerance, x, lambda)
                      : kkt_solve(s->kkt, g, r, tolerance, x, lambda);
}

hamel_status motion_respond(motion_solver *s, const double *g, double *x, double *lambda) {
    return s->reduced ? reduced_respond(s->reduced, g, x, lambda) : kkt_solve(s->kkt, g, s->zero, INFINITY, x, lambda);
}

const double *motion_forces(motion_solver *s, const double *g) {
    return s->reduced ? reduced_forces(s->reduced, g) : g;
}

size_t motion_rank(const motion_solver *s) {
    return s->reduced ? reduced_rank(s->reduced) : kkt_rank(s->kkt);
}

double motion_margin(const motion_solver *s) {
    return s->reduced ? reduced_margin(s->reduced) : kkt_margin(s->kkt);
}
