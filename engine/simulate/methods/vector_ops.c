/* vector_ops.c — vector operations as plain loops that the compiler vectorizes.
 *
 * No pointer is declared restrict, because z may be the same vector as x or y. A linear sum with a = −b is evaluated as
 * a·(x − y). With fused multiply-add, a·x − a·y would leave a rounding error where x and y are equal. */
#include "engine/simulate/methods/vector_ops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static realtype *data(N_Vector v) {
    return NV_DATA_S(v);
}

static void linear_sum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z) {
    sunindextype n = NV_LENGTH_S(x);
    const realtype *p = data(x), *q = data(y);
    realtype *r = data(z);
    if (a == -b)
        for (sunindextype i = 0; i < n; i++) r[i] = a * (p[i] - q[i]);
    else if (b == 1)
        for (sunindextype i = 0; i < n; i++) r[i] = a * p[i] + q[i];
    else if (a == 1)
        for (sunindextype i = 0; i < n; i++) r[i] = p[i] + b * q[i];
    else
        for (sunindextype i = 0; i < n; i++) r[i] = a * p[i] + b * q[i];
}

static void set_constant(realtype c, N_Vector z) {
    realtype *r = data(z);
    for (sunindextype i = 0, n = NV_LENGTH_S(z); i < n; i++) r[i] = c;
}

static void scale(realtype c, N_Vector x, N_Vector z) {
    sunindextype n = NV_LENGTH_S(x);
    const realtype *p = data(x);
    realtype *r = data(z);
    if (c == 1)
        memmove(r, p, (size_t)n * sizeof *r);
    else
        for (sunindextype i = 0; i < n; i++) r[i] = c * p[i];
}

/* Four partial sums in a fixed order make the result reproducible. */
static realtype weighted_rms(N_Vector x, N_Vector w) {
    sunindextype n = NV_LENGTH_S(x), i = 0;
    const realtype *p = data(x), *q = data(w);
    realtype sum[4] = {0, 0, 0, 0};
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) {
            realtype e = p[i + k] * q[i + k];
            sum[k] += e * e;
        }
    for (; i < n; i++) {
        realtype e = p[i] * q[i];
        sum[0] += e * e;
    }
    return sqrt(((sum[0] + sum[1]) + (sum[2] + sum[3])) / (realtype)n);
}

static int linear_combination(int count, realtype *c, N_Vector *x, N_Vector z) {
    sunindextype n = NV_LENGTH_S(z);
    realtype *r = data(z);
    assert(count > 0);
    const realtype *p = data(x[0]); /* z may be x[0], but no other x[k] */
    for (sunindextype i = 0; i < n; i++) r[i] = c[0] * p[i];
    for (int k = 1; k < count; k++) {
        const realtype *q = data(x[k]);
        realtype a = c[k];
        for (sunindextype i = 0; i < n; i++) r[i] += a * q[i];
    }
    return 0;
}

static int scale_add_multi(int count, realtype *a, N_Vector x, N_Vector *y, N_Vector *z) {
    for (int k = 0; k < count; k++) linear_sum(a[k], x, 1, y[k], z[k]);
    return 0;
}

static int scale_array(int count, realtype *c, N_Vector *x, N_Vector *z) {
    for (int k = 0; k < count; k++) scale(c[k], x[k], z[k]);
    return 0;
}

N_Vector vector_create(sunindextype n, SUNContext context) {
    N_Vector v = N_VNew_Serial(n, context);
    if (!v) return NULL;
    v->ops->nvlinearsum = linear_sum;
    v->ops->nvconst = set_constant;
    v->ops->nvscale = scale;
    v->ops->nvwrmsnorm = weighted_rms;
    v->ops->nvlinearcombination = linear_combination;
    v->ops->nvscaleaddmulti = scale_add_multi;
    v->ops->nvscalevectorarray = scale_array;
    set_constant(0, v);
    return v;
}
