/* energy.c — computation of energy tolerances. */
#include "engine/simulate/energy.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>

static const double ENERGY_ROUNDING = 1e-14; /* rounding relative to the energy: some tens of units in the last place */

double energy_tolerance(const hamel_model *model, const double *M, const double *Q, const double *q, const double *v,
                        double energy) {
    const double *atol = model->settings.atol;
    double rtol = model->settings.rtol, sum = 0;
    for (size_t e = 0; e < model->dynamics.M.count; e++) { /* one triangle; |p_i| ≤ Σ |M_ij q'_j| */
        size_t i = (size_t)model->dynamics.M.row[e], j = (size_t)model->dynamics.M.column[e];
        sum += fabs(M[e] * v[j]) * (rtol * fabs(v[i]) + atol[i]);
        if (i == j) sum += fabs(M[e]) * atol[i] * atol[i]; /* at rest */
        if (i != j) sum += fabs(M[e] * v[i]) * (rtol * fabs(v[j]) + atol[j]);
    }
    sum += ENERGY_ROUNDING * fabs(energy);
    for (size_t i = 0; i < model->n; i++) sum += fabs(Q[i]) * (rtol * fabs(q[i]) + atol[i]);
    return sum;
}

double energy_at_rest(const hamel_model *model, const double *M) {
    const double *atol = model->settings.atol;
    double sum = 0;
    for (size_t e = 0; e < model->dynamics.M.count; e++)
        if (model->dynamics.M.row[e] == model->dynamics.M.column[e])
            sum += fabs(M[e]) * atol[model->dynamics.M.row[e]] * atol[model->dynamics.M.row[e]];
    return sum / model->settings.rtol;
}

bool energy_is_unbalanced(double error, double tolerance) {
    assert(!(error < 0) && !(tolerance < 0));
    return error > ANOTHER_MOTION * tolerance;
}
