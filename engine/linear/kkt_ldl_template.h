/* kkt_ldl_template.h — elimination and substitution by the lists of a kkt_ldl, for one number type.
 *
 * kkt_ldl.c includes the template for one system, kkt_vec8.c for eight systems in SIMD lanes. The results are
 * bit-identical. The including file defines these macros, and the template undefines them:
 *
 *     LDL_REAL          number type
 *     LDL_NAME(name)    name of a function for this type */
#include "engine/linear/kkt_ldl_int.h"

/* Eliminates unknown j from `value`. The targets of the unknown begin at `target`. Returns the end of its targets. */
static inline __attribute__((always_inline)) const int *LDL_NAME(eliminate)(const kkt_ldl *s, size_t j, LDL_REAL *value,
                                                                            const int *target) {
    LDL_REAL *l = value + s->all, inverse = 1 / value[j];
    int end = s->start[j + 1];
    value[j] = inverse;
    for (int t = s->start[j]; t < end; t++) {
        LDL_REAL factor = l[t] * inverse;
        for (int u = t; u < end; u++) value[*target++] -= factor * l[u];
        l[t] = factor;
    }
    return target;
}

/* Solves for z in place, by the factors in `value`. The first `zeros` entries of z must be 0. */
static inline __attribute__((always_inline)) void LDL_NAME(substitute)(const kkt_ldl *s, size_t zeros,
                                                                       const LDL_REAL *value, LDL_REAL *z) {
    const LDL_REAL *l = value + s->all;
    const int *start = s->start, *row = s->row;
    for (size_t j = zeros; j < s->all; j++)
        for (int t = start[j]; t < start[j + 1]; t++) z[row[t]] -= l[t] * z[j];
    for (size_t j = s->all; j-- > 0;) {
        LDL_REAL sum = z[j] * value[j];
        for (int t = start[j]; t < start[j + 1]; t++) sum -= l[t] * z[row[t]];
        z[j] = sum;
    }
}

#undef LDL_REAL
#undef LDL_NAME
