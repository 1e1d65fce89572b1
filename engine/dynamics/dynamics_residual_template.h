/* dynamics_residual_template.h — the residual of the equations of motion, for one number type.
 *
 * dynamics_residual.c includes the template for one member and for eight members in SIMD lanes. The order of operations
 * is the same, so both give the same bits. Before the inclusion the including file defines these macros, which the
 * template undefines, and the functions `magnitude`, `larger`, `root_of` and `relative` of this type:
 *
 *     RESIDUAL_REAL          number type
 *     RESIDUAL_NAME(name)    name of a function or a type for this number type */

/* Work arrays of n numbers each. */
typedef struct RESIDUAL_NAME(arrays) {
    RESIDUAL_REAL *force, *size; /* force: residual of each equation of motion; size: sum of its |terms| */
    RESIDUAL_REAL *root;         /* square root of the diagonal entry of M, with a lower bound */
    RESIDUAL_REAL *most;         /* at representatives: heaviest mass of the set, then its largest scaled size */
    RESIDUAL_REAL *scale;        /* scaled size of each coordinate, then that of its set over `root` */
} RESIDUAL_NAME(arrays);

RESIDUAL_INLINE void RESIDUAL_NAME(add_term)(const RESIDUAL_NAME(arrays) * r, size_t i, const RESIDUAL_REAL *term) {
    RESIDUAL_REAL size;
    RESIDUAL_NAME(magnitude)(term, &size);
    r->force[i] += *term;
    r->size[i] += size;
}

RESIDUAL_INLINE void RESIDUAL_NAME(add_motion)(const hamel_model *model, const RESIDUAL_NAME(arrays) * r,
                                               const RESIDUAL_REAL *values, const RESIDUAL_REAL *Q,
                                               const RESIDUAL_REAL *R, const RESIDUAL_REAL *a,
                                               const RESIDUAL_REAL *lambda) {
    const RESIDUAL_REAL *M = values + model->dynamics.M.at, *A = values + model->dynamics.A.at;
    for (size_t i = 0; i < model->n; i++) r->force[i] = r->size[i] = r->root[i] = (RESIDUAL_REAL){0};
    for (size_t e = 0; e < model->dynamics.M.count; e++) {
        size_t i = (size_t)model->dynamics.M.row[e], j = (size_t)model->dynamics.M.column[e];
        RESIDUAL_REAL term = M[e] * a[j], mirrored = M[e] * a[i];
        RESIDUAL_NAME(add_term)(r, i, &term);
        if (i != j)
            RESIDUAL_NAME(add_term)(r, j, &mirrored);
        else
            RESIDUAL_NAME(magnitude)(&M[e], &r->root[i]);
    }
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        size_t i = (size_t)model->dynamics.A.column[e];
        RESIDUAL_REAL term = -(A[e] * lambda[model->dynamics.A.row[e]]), size;
        RESIDUAL_NAME(magnitude)(&term, &size);
        if (R)
            r->size[i] += size;
        else
            RESIDUAL_NAME(add_term)(r, i, &term);
    }
    for (size_t i = 0; i < model->n; i++) {
        RESIDUAL_REAL term = -Q[i];
        RESIDUAL_NAME(add_term)(r, i, &term);
        if (!R) continue;
        term = -R[i];
        RESIDUAL_NAME(add_term)(r, i, &term);
    }
}

/* Sets most[part] to the maximum of `values` over the coordinates of each part. Neighbors usually belong to the same
 * part, so the running maximum stays in a register. */
RESIDUAL_INLINE void RESIDUAL_NAME(find_most)(size_t n, const size_t *part, const RESIDUAL_REAL *values,
                                              RESIDUAL_REAL *most) {
    size_t at = 0;
    RESIDUAL_REAL here = {0};
    for (size_t i = 0; i < n; i++) most[i] = (RESIDUAL_REAL){0};
    for (size_t i = 0; i < n; i++) {
        if (part[i] != at) {
            RESIDUAL_NAME(larger)(&most[at], &here, &most[at]);
            at = part[i];
            here = (RESIDUAL_REAL){0};
        }
        RESIDUAL_NAME(larger)(&here, &values[i], &here);
    }
    if (n > 0) RESIDUAL_NAME(larger)(&most[at], &here, &most[at]);
}

/* Replaces r->root by the square roots of the mass diagonal. Sets r->most to the largest scaled size of each coupled
 * set, and r->scale to this size over the root of each coordinate. */
RESIDUAL_INLINE void RESIDUAL_NAME(find_sizes)(const hamel_model *model, const size_t *part,
                                               const RESIDUAL_NAME(arrays) * r, const RESIDUAL_REAL *v) {
    const model_settings *settings = &model->settings;
    size_t n = model->n;
    double span = settings->stop - settings->start; /* INFINITY if there is no simulation */
    RESIDUAL_NAME(find_most)(n, part, r->root, r->most);
    for (size_t i = 0; i < n; i++) RESIDUAL_NAME(root_of)(&r->root[i], &r->most[part[i]], &r->root[i]);
    RESIDUAL_REAL largest = {0};
    for (size_t i = 0; i < n; i++) {
        RESIDUAL_REAL speed, by_force = r->size[i] / r->root[i];
        RESIDUAL_NAME(magnitude)(&v[i], &speed);
        speed = r->root[i] * speed / span;
        RESIDUAL_NAME(larger)(&by_force, &speed, &r->scale[i]);
        RESIDUAL_NAME(larger)(&largest, &r->scale[i], &largest);
    }
    largest = PASSED_ON * largest;
    RESIDUAL_NAME(find_most)(n, part, r->scale, r->most);
    for (size_t i = 0; i < n; i++) RESIDUAL_NAME(larger)(&r->most[i], &largest, &r->most[i]);
    for (size_t i = 0; i < n; i++) r->scale[i] = r->most[part[i]] / r->root[i];
}

/* Computes the largest relative residual of the constraints. The rounding error of a row is proportional to the usual
 * length of the row, even if the row is shorter at this state. */
RESIDUAL_INLINE void RESIDUAL_NAME(of_constraints)(const hamel_model *model, const RESIDUAL_NAME(arrays) * r,
                                                   const RESIDUAL_REAL *values, const double *usual,
                                                   const RESIDUAL_REAL *a, RESIDUAL_REAL *out) {
    const sparse_block *A = &model->dynamics.A;
    RESIDUAL_REAL worst = {0};
    for (size_t c = 0, e = 0; c < model->m; c++) {
        RESIDUAL_REAL b = values[model->dynamics.at_b + c], left = -b, size, most = {0}, here;
        RESIDUAL_NAME(magnitude)(&b, &size);
        for (; e < A->count && (size_t)A->row[e] == c; e++) {
            size_t i = (size_t)A->column[e];
            RESIDUAL_REAL entry = values[model->dynamics.A.at + e], term = entry * a[i], of_term, of_entry;
            RESIDUAL_NAME(magnitude)(&term, &of_term);
            RESIDUAL_NAME(magnitude)(&entry, &of_entry);
            left += term;
            size += of_term + of_entry * r->scale[i];
            RESIDUAL_NAME(larger)(&most, &r->scale[i], &most);
        }
        most = usual[c] * most;
        RESIDUAL_NAME(larger)(&size, &most, &size);
        RESIDUAL_NAME(relative)(&left, &size, &here);
        RESIDUAL_NAME(larger)(&worst, &here, &worst);
    }
    *out = worst;
}

/* Computes the residuals of the equations of motion and of the constraints. */
RESIDUAL_INLINE void RESIDUAL_NAME(find_residuals)(const hamel_model *model, const size_t *part,
                                                   const RESIDUAL_NAME(arrays) * r, const RESIDUAL_REAL *values,
                                                   const RESIDUAL_REAL *v, const double *usual, const RESIDUAL_REAL *a,
                                                   RESIDUAL_REAL *motion, RESIDUAL_REAL *constraints) {
    RESIDUAL_REAL worst = {0};
    RESIDUAL_NAME(find_sizes)(model, part, r, v);
    for (size_t i = 0; i < model->n; i++) {
        RESIDUAL_REAL size = r->most[part[i]] * r->root[i], here;
        RESIDUAL_NAME(relative)(&r->force[i], &size, &here);
        RESIDUAL_NAME(larger)(&worst, &here, &worst);
    }
    *motion = worst;
    RESIDUAL_NAME(of_constraints)(model, r, values, usual, a, constraints);
}

#undef RESIDUAL_REAL
#undef RESIDUAL_NAME
