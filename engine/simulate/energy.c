/* energy.c — see the header. */
#include "engine/simulate/energy.h"

#include <math.h>

static const double ROUNDING = 1e-14; /* of the energy */
/* Balances are off by up to ten times what the tolerances amount to in the energy (all examples, all methods), as errors
 * add up along a run; a hundred times that tells of another motion. */
static const double UNBALANCED = 1e3;

double energy_tolerance(const hamel_model *model, const double *M, const double *Q, const double *q, const double *v,
                        double energy) {
    const double *atol = model->settings.atol;
    double rtol = model->settings.rtol, sum = 0;
    for (size_t e = 0; e < model->M.count; e++) { /* one triangle; |p_i| ≤ Σ |M_ij q'_j| */
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        sum += fabs(M[e] * v[j]) * (rtol * fabs(v[i]) + atol[i]);
        if (i == j) sum += fabs(M[e]) * atol[i] * atol[i]; /* at rest */
        if (i != j) sum += fabs(M[e] * v[i]) * (rtol * fabs(v[j]) + atol[j]);
    }
    sum += ROUNDING * fabs(energy);
    for (size_t i = 0; i < model->n; i++) sum += fabs(Q[i]) * (rtol * fabs(q[i]) + atol[i]);
    return sum;
}

double energy_at_rest(const hamel_model *model, const double *M) {
    const double *atol = model->settings.atol;
    double sum = 0;
    for (size_t e = 0; e < model->M.count; e++)
        if (model->M.row[e] == model->M.column[e]) sum += fabs(M[e]) * atol[model->M.row[e]] * atol[model->M.row[e]];
    return sum / model->settings.rtol;
}

bool energy_is_unbalanced(double error, double tolerance) {
    return error > UNBALANCED * tolerance;
}
