/* initial_velocities.c — velocities from quasi-velocities.
 *
 * Linear equations E v = r: one row a constraint at the level of velocities (A v = −ψ(v = 0); exact for the linear ones),
 * one a quasi-velocity with an initial value (U v = u − U_0), one a coordinate whose velocity was given. The solution of
 * least norm comes from a rank-revealing QR of Eᵀ (Golub & Van Loan 5.6.2). */
#include "engine/solve/initial_values.h"
#include "engine/solve/row_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CONTRADICTION = 1e-6;

typedef struct rows {
    size_t n, count;
    double *E; /* n × count: Eᵀ */
    double *r; /* count */
    row_space space;
} rows;

static bool rows_create(rows *w, const hamel_model *model) {
    size_t n = model->n, most = model->m + model->quasi_initial_count + n;
    *w = (rows){.n = n};
    w->E = calloc(n * most + most + 1, sizeof *w->E);
    w->r = w->E + n * most;
    return row_space_create(&w->space, n, most) && w->E;
}

static void rows_free(rows *w) {
    free(w->E);
    row_space_free(&w->space);
}

static void add_constraints(rows *w, const kinetics *k) {
    const hamel_model *model = k->model;
    for (size_t c = 0; c < model->m; c++) {
        if (model->order[c] == CONSTRAINT_ACCELERATION) continue;
        for (size_t e = 0; e < model->A.count; e++)
            if ((size_t)model->A.row[e] == c)
                w->E[(size_t)model->A.column[e] + w->n * w->count] = k->values[model->at_A + e];
        w->r[w->count++] = -kinetics_velocity(k)[c];
    }
}

static bool add_quasi(rows *w, const hamel_model *model, double t, const double *q) {
    size_t n = w->n, outputs = model->quasi_initial_count * (n + 1);
    double *work = calloc(program_workspace_doubles(model->quasi) + outputs + 1, sizeof *work);
    if (!work) return false;
    double *values = work + program_workspace_doubles(model->quasi);
    program_inputs in = model_inputs(model, &t, q, NULL, NULL, NULL, NULL);
    program_prepare(model->quasi, &in, work);
    program_evaluate(model->quasi, &in, work, values);
    for (size_t i = 0; i < model->quasi_initial_count; i++) {
        const double *U = values + i * (n + 1);
        memcpy(w->E + n * w->count, U, n * sizeof *U);
        w->r[w->count++] = model->quasi_initial[i] - U[n];
    }
    free(work);
    return true;
}

static void add_given(rows *w, const hamel_model *model) {
    for (size_t j = 0; j < w->n; j++) {
        if (!model->velocity_given[j]) continue;
        w->E[j + w->n * w->count] = 1;
        w->r[w->count++] = model->v0[j];
    }
}

/* v of least norm; returns by how much dependent rows contradict, relative to their right side or 1. */
static double solve(rows *w, double *v) {
    double worst = 0;
    row_space_load(&w->space, w->count, w->E);
    if (!row_space_factor(&w->space)) return INFINITY;
    (void)row_space_solution(&w->space, w->r, v);
    for (size_t c = 0; c < w->count; c++) {
        double sum = -w->r[c];
        for (size_t j = 0; j < w->n; j++) sum += w->E[j + w->n * c] * v[j];
        worst = fmax(worst, fabs(sum) / fmax(1, fabs(w->r[c])));
    }
    return worst;
}

hamel_status initial_velocities_from_quasi(kinetics *k, double t, const double *q, double *v, hamel_error *error) {
    const hamel_model *model = k->model;
    rows w;
    if (!model->quasi) return HAMEL_OK;
    if (!rows_create(&w, model)) {
        rows_free(&w);
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the initial velocities");
    }
    memset(v, 0, model->n * sizeof *v);
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) {
        add_constraints(&w, k);
        if (!add_quasi(&w, model, t, q))
            status = hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the initial velocities");
    }
    if (status == HAMEL_OK) {
        add_given(&w, model);
        double contradiction = solve(&w, v);
        if (!(contradiction <= CONTRADICTION)) {
            status = hamel_fail(error, HAMEL_INCONSISTENT, "/quasi_velocities", 0,
                                "the initial values of quasi-velocities, the given velocities and the constraints "
                                "contradict each other by %.3g",
                                contradiction);
            hamel_suggest(error, "give initial values to quasi-velocities or velocities to coordinates, and let the "
                                 "constraints fix the rest");
        }
    }
    rows_free(&w);
    return status;
}
