/* potential.c — see potential.h.
 *
 * The forces at rest, with multipliers for the holonomic constraints, are the gradient of U on the configurations. The
 * second derivatives of U decide along all directions but those of their kernel K. There the other coordinates follow
 * from the conditions of a minimum (Lyapunov–Schmidt reduction):
 *     F(q, λ) = W μ,   Φ(q) = 0,   Wᵀ(q − q0) = s,   W = M K,  Kᵀ M K = 1:   μ = dU/ds of the reduced potential,
 * and signs and orders of u·μ along rays s = ρ u, for a sequence of radii ρ, show whether U grows in every direction. */
#include "engine/analyze/potential.h"

#include "engine/analyze/linear.h"
#include "engine/base/random.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-9; /* rows of constraints: a singular value against the largest */
static const double FLAT = 1e-6; /* a second derivative against the largest one nearby; generous, as orders follow */
static const double NEARBY =
    0.1; /* of a coordinate or of 1: the largest radius, and where second derivatives are compared */
static const double SHRINK = 3; /* from one radius to the next */
static const double VANISHES =
    1e-9; /* a derivative along one ray against the largest: zero but for the ray's own error */
static const double UNSOLVED =
    4; /* times the force that is left at the equilibrium: it may be off its place by so much */
static const double STEADY = 0.1; /* by how much orders at successive radii may differ */
enum { RADII = 18, AGREE = 3, BORDERED = 25, ANGLES = 48, GOLDEN = 30, POWER_TRIALS = 24, MOST_FLAT = 8 };

typedef struct judgement {
    statics *s;
    arena memory;
    const double *z0;
    size_t n, tangent, flat, count; /* dimensions: of T, of K, of the rays */
    double *T, *H, *M, *values;     /* n × tangent by rows; tangent²; tangent */
    double *K, *W;                  /* n × flat by columns: K[k * n + i] */
    double *C;                      /* flat × count by columns: rays in the coordinates of K */
    double *P;                      /* of cyclic momenta: 2n² */
    double *z, *mu, *right, *matrix, *s0, *u;
    bool kinked;  /* second derivatives jump at z0 */
    double *left; /* n: |F| at z0 */
    double noise; /* of the last derivative along a ray */
    size_t row_count;
} judgement;

static potential_verdict undecided(const char *reason) {
    return (potential_verdict){.reason = reason};
}

static bool allocate(judgement *j) {
    statics *s = j->s;
    size_t n = s->n, most = 2 * n + s->m + 2 * s->spinning_count; /* the bordered equations at one instant */
    struct {
        double **to;
        size_t count;
    } const lists[] = {{&j->T, n * n}, {&j->H, n * n},     {&j->M, n * n},    {&j->values, n},
                       {&j->K, n * n}, {&j->W, n * n},     {&j->C, n * n},    {&j->z, most},
                       {&j->mu, n},    {&j->s0, n},        {&j->right, most}, {&j->matrix, most * most},
                       {&j->u, 4 * n}, {&j->P, 2 * n * n}, {&j->left, n}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (!(*lists[k].to = arena_alloc(&j->memory, lists[k].count, sizeof(double)))) return false;
    return true;
}

/* --- directions that the constraints allow --------------------------------------------------------------------------- */

/* T: the null space of Φ_q, of ψ_q' where velocities count, and of the cyclic coordinates that `spinning` leaves out. */
static bool find_tangent(judgement *j, bool velocities, bool spinning) {
    const local_equations *l = &j->s->local;
    size_t n = j->n, rows = 0;
    for (size_t c = 0; c < j->s->m; c++) {
        bool holonomic = j->s->model->order[c] == CONSTRAINT_HOLONOMIC;
        if (!j->s->model->active[c] || !(holonomic || velocities)) continue;
        const double *row = (holonomic ? l->phi_q : l->psi_v) + c * n;
        double size = 0;
        for (size_t i = 0; i < n; i++) size = fmax(size, fabs(row[i]));
        for (size_t i = 0; i < n; i++) j->matrix[rows * n + i] = size > 0 ? row[i] / size : 0;
        rows++;
    }
    for (size_t k = 0; k < j->s->spinning_count && !spinning; k++) {
        memset(j->matrix + rows * n, 0, n * sizeof *j->matrix);
        j->matrix[rows++ * n + j->s->spinning[k]] = 1;
    }
    double *sizes = j->values, *super = j->right;
    memset(sizes, 0, n * sizeof *sizes);
    if (rows == 0) {
        memset(j->T, 0, n * n * sizeof *j->T);
        for (size_t i = 0; i < n; i++) j->T[i * n + i] = 1;
        j->tangent = n;
        return true;
    }
    int info = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)rows, (lapack_int)n, j->matrix, (lapack_int)n,
                              sizes, NULL, 1, j->K, (lapack_int)n, super);
    j->s->starved = j->s->starved || lapacke_starved(info);
    if (info != 0) return false;
    size_t rank = 0;
    while (rank < n && rank < rows && sizes[rank] > DEPENDENT * fmax(1, sizes[0])) rank++;
    j->tangent = n - rank;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < j->tangent; k++) j->T[i * j->tangent + k] = j->K[(rank + k) * n + i];
    return true;
}

/* B := Tᵀ A T for A of n × n, with an own scratch of n × tangent. */
static void project(const judgement *j, const double *A, double *scratch, double *B) {
    size_t n = j->n, d = j->tangent;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) {
            double sum = 0;
            for (size_t r = 0; r < n; r++) sum += A[i * n + r] * j->T[r * d + k];
            scratch[i * d + k] = sum;
        }
    for (size_t k = 0; k < d; k++)
        for (size_t r = 0; r < d; r++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += j->T[i * d + k] * scratch[i * d + r];
            B[k * d + r] = sum;
        }
}

/* ∂F/∂q at the point evaluated last, cyclic velocities following from their momenta: n × n into `A`. */
static bool second_derivatives(judgement *j, double *A) {
    statics *s = j->s;
    size_t n = s->n, c = s->velocities == STATICS_MOMENTA ? s->spinning_count : 0, at_v = s->unknowns - c;
    for (size_t i = 0; i < n; i++) memcpy(A + i * n, s->J + i * s->unknowns, n * sizeof *A);
    if (c == 0) return true;
    double *P = j->P, *X = P + c * c; /* ∂p/∂v X = ∂p/∂q */
    lapack_int *pivot = s->pivot;
    for (size_t r = 0; r < c; r++) {
        const double *row = s->J + (s->rows - c + r) * s->unknowns;
        memcpy(P + r * c, row + at_v, c * sizeof *P);
        memcpy(X + r * n, row, n * sizeof *X);
    }
    int info = LAPACKE_dgesv(LAPACK_ROW_MAJOR, (lapack_int)c, (lapack_int)n, P, (lapack_int)c, pivot, X, (lapack_int)n);
    s->starved = s->starved || lapacke_starved(info);
    if (info != 0) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < c; r++)
            for (size_t k = 0; k < n; k++) A[i * n + k] -= s->J[i * s->unknowns + at_v + r] * X[r * n + k];
    return true;
}

/* H := Tᵀ ∂F/∂q T at the point evaluated last; how far it is from symmetric, against its largest entry; −1 on failure. */
static double project_forces(judgement *j, double *largest) {
    size_t d = j->tangent;
    double *A = j->matrix, *scratch = A + j->n * j->n, skew = 0;
    if (!second_derivatives(j, A)) return -1;
    project(j, A, scratch, j->H);
    *largest = 0;
    for (size_t k = 0; k < d * d; k++) *largest = fmax(*largest, fabs(j->H[k]));
    for (size_t k = 0; k < d; k++)
        for (size_t r = 0; r < k; r++) {
            double x = j->H[k * d + r], y = j->H[r * d + k];
            skew = fmax(skew, fabs(x - y));
            j->H[k * d + r] = j->H[r * d + k] = (x + y) / 2;
        }
    return *largest > 0 ? skew / *largest : 0;
}

/* z0 moved at random, `reach` of each coordinate or of 1. */
static void move_nearby(judgement *j, double reach, uint64_t *seed) {
    memcpy(j->z, j->z0, j->s->unknowns * sizeof *j->z);
    for (size_t i = 0; i < j->n; i++) j->z[i] += reach * fmax(1, fabs(j->z0[i])) * random_uniform(seed, -1, 1);
}

/* The largest second derivative nearby; whether they are symmetric there. */
static bool look_nearby(judgement *j, double *largest, double *skew) {
    uint64_t seed = 11;
    for (int trial = 0; trial < 3; trial++) {
        double size = 0, own = 0;
        move_nearby(j, NEARBY, &seed);
        if (!statics_evaluate(j->s, j->z)) continue;
        own = project_forces(j, &size);
        if (own < 0) return false;
        *skew = fmax(*skew, own);
        *largest = fmax(*largest, size);
    }
    return statics_evaluate(j->s, j->z0);
}

/* Solves H x = ω² M x; eigenvectors in the columns of H. False where the kinetic energy is not positive definite. */
static bool find_curvatures(judgement *j) {
    size_t d = j->tangent;
    project(j, j->s->local.R_a, j->matrix, j->M);
    for (size_t k = 0; k < d; k++) /* residuals may be scaled, not M */
        for (size_t r = 0; r < k; r++) j->M[k * d + r] = j->M[r * d + k] = (j->M[k * d + r] + j->M[r * d + k]) / 2;
    if (d == 0) return true;
    int info = LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'V', 'U', (lapack_int)d, j->H, (lapack_int)d, j->M, (lapack_int)d,
                             j->values);
    j->s->starved = j->s->starved || lapacke_starved(info);
    return info == 0;
}

/* --- power of the dampers --------------------------------------------------------------------------------------------- */

/* dh/dt at (q, v), or NAN. */
static double power_at(statics *s, const program *p, double *work, const double *q, const double *v) {
    program_inputs in = model_inputs(s->model, &s->t[0], q, v, NULL, NULL, NULL);
    double rate = NAN;
    mode_choose_branches(&s->local.mode, s->t[0], q, v);
    in.values[SYMBOL_BRANCH] = s->local.mode.branches;
    program_prepare(p, &in, work);
    program_evaluate(p, &in, work, &rate);
    return rate;
}

/* Whether forces other than those at rest never add energy, at random velocities nearby. The power of the forces at
 * rest is the part of dh/dt that is odd in the velocities, as they become small. */
static bool is_dissipative(judgement *j) {
    const program *p = j->s->model->energy_rate;
    static const double speeds[] = {1e-3, 0.1, 1};
    const double slow = 0x1p-10, last_digits = 64 * 0x1p-52 / slow; /* what rounding makes of `rest` */
    double *work = arena_alloc(&j->memory, program_workspace_doubles(p), sizeof *work), *v = j->mu, *creep = j->s0;
    uint64_t seed = 5;
    if (!work) {
        j->s->starved = true;
        return false;
    }
    for (int trial = 0; trial < POWER_TRIALS; trial++) {
        double rest[2], rounding = 0;
        move_nearby(j, trial % 2 ? 1e-3 : 0, &seed);
        for (size_t i = 0; i < j->n; i++) v[i] = 0;
        for (size_t k = 0; k < j->tangent; k++) {
            double x = random_uniform(&seed, -1, 1) * speeds[trial % 3];
            for (size_t i = 0; i < j->n; i++) v[i] += j->T[i * j->tangent + k] * x;
        }
        double whole = power_at(j->s, p, work, j->z, v);
        for (int back = 0; back < 2; back++) {
            for (size_t i = 0; i < j->n; i++) creep[i] = v[i] * (back ? -slow : slow);
            rest[back] = power_at(j->s, p, work, j->z, creep) / slow;
        }
        for (size_t i = 0; i < j->n; i++) rounding += (1e-9 * fabs(v[i]) + last_digits) * j->s->scale[i];
        double odd = (rest[0] - rest[1]) / 2;
        if (!(whole - odd <= 1e-4 * (fabs(whole) + fabs(odd)) + rounding)) return false;
    }
    return true;
}

/* --- the reduced potential -------------------------------------------------------------------------------------------- */

/* One step of Newton's method for the bordered equations at j->z, j->mu; its size, or NAN. */
static double bordered_step(judgement *j, const double *target) {
    statics *s = j->s;
    size_t n = j->n, k = j->flat, rows = s->rows + k, columns = s->unknowns + k;
    double size = 0;
    if (!statics_evaluate(s, j->z)) return NAN;
    memset(j->matrix, 0, rows * columns * sizeof *j->matrix);
    for (size_t i = 0; i < s->rows; i++) {
        double scale = s->scale[i] > 0 ? s->scale[i] : 1;
        double force = s->F[i];
        for (size_t c = 0; c < k && i < n; c++) scale += fabs(j->W[c * n + i]);
        for (size_t x = 0; x < s->unknowns; x++) j->matrix[i * columns + x] = s->J[i * s->unknowns + x] / scale;
        for (size_t c = 0; c < k && i < n; c++) {
            j->matrix[i * columns + s->unknowns + c] = -j->W[c * n + i] / scale;
            force -= j->W[c * n + i] * j->mu[c];
        }
        j->right[i] = -force / scale;
    }
    for (size_t c = 0; c < k; c++) {
        double *row = j->matrix + (s->rows + c) * columns, off = -target[c], scale = 0;
        for (size_t i = 0; i < n; i++) {
            scale += fabs(j->W[c * n + i]) * fmax(1, fabs(j->z0[i]));
            off += j->W[c * n + i] * (j->z[i] - j->z0[i]);
        }
        for (size_t i = 0; i < n; i++) row[i] = j->W[c * n + i] / scale;
        j->right[s->rows + c] = -off / scale;
    }
    if (!statics_least_squares(s, rows, columns, j->matrix, j->right)) return NAN;
    for (size_t x = 0; x < s->unknowns; x++) {
        j->z[x] += j->right[x];
        size = fmax(size, fabs(j->right[x]) / fmax(1, fabs(j->z[x])));
    }
    for (size_t c = 0; c < k; c++) j->mu[c] += j->right[s->unknowns + c];
    return size;
}

/* u·dU/ds at s = ρ C u, or NAN; `noise` of it when asked for. */
static double along_ray(judgement *j, const double *u, double radius, bool noise) {
    statics *s = j->s;
    size_t n = j->n;
    double sum = 0, last = INFINITY;
    memcpy(j->z, j->z0, s->unknowns * sizeof *j->z);
    for (size_t c = 0; c < j->flat; c++) {
        j->s0[c] = j->mu[c] = 0;
        for (size_t r = 0; r < j->count; r++) j->s0[c] += radius * j->C[r * j->flat + c] * u[r];
        for (size_t i = 0; i < n; i++) j->z[i] += j->K[c * n + i] * j->s0[c];
    }
    for (int k = 0; k < BORDERED; k++) {
        double size = bordered_step(j, j->s0);
        if (!(size < 10)) return NAN;
        if (size < 1e-15 || (k > 3 && size < 1e-10 && size >= last / 2)) break;
        if (k == BORDERED - 1 && size > 1e-8 * radius) return NAN;
        last = size;
    }
    if (!(noise ? statics_noise(s, j->z) : statics_evaluate(s, j->z))) return NAN;
    j->noise = 0;
    for (size_t c = 0; c < j->flat; c++) {
        double weight = 0, mu = 0, rounding = 0;
        for (size_t r = 0; r < j->count; r++) weight += j->C[r * j->flat + c] * u[r];
        for (size_t i = 0; i < n; i++) {
            mu += j->K[c * n + i] * s->F[i];
            rounding += fabs(j->K[c * n + i]) * fmax(s->noise[i], UNSOLVED * j->left[i]);
        }
        sum += weight * mu;
        j->noise += fabs(weight) * rounding;
    }
    return sum;
}

/* --- rays in every direction ------------------------------------------------------------------------------------------ */

typedef struct extremes {
    double least, largest; /* u·dU/ds over the rays; the largest in absolute value */
    double *at;            /* where it is least: count */
    bool good;
} extremes;

static double consider(judgement *j, extremes *e, const double *u, double radius) {
    double value = along_ray(j, u, radius, false);
    if (isnan(value)) e->good = false;
    e->largest = fmax(e->largest, fabs(value));
    if (value < e->least) {
        e->least = value;
        memcpy(e->at, u, j->count * sizeof *u);
    }
    return value;
}

/* cos a · e->at + sin a · w, by golden section over |a| ≤ reach. `base` and `u` have count numbers. */
static void refine_in_plane(judgement *j, extremes *e, const double *base, const double *w, double reach, double radius,
                            double *u) {
    const double ratio = 0.6180339887498949;
    double low = -reach, high = reach;
    for (int k = 0; k < GOLDEN && e->good; k++) {
        double value[2], angle[2] = {high - ratio * (high - low), low + ratio * (high - low)};
        for (int side = 0; side < 2; side++) {
            for (size_t r = 0; r < j->count; r++) u[r] = cos(angle[side]) * base[r] + sin(angle[side]) * w[r];
            value[side] = consider(j, e, u, radius);
        }
        if (value[0] < value[1])
            high = angle[1];
        else
            low = angle[0];
    }
}

/* Ray k of `rays`, a unit vector: both senses of one direction; in the plane by angles; else axes, then random ones. */
static void choose_ray(const judgement *j, size_t k, size_t rays, uint64_t *seed, double *u) {
    size_t count = j->count;
    double length = 0, turn = 2 * M_PI * (double)k / (double)rays;
    bool axis = count > 2 && k < 2 * count;
    for (size_t r = 0; r < count; r++) {
        double part = random_uniform(seed, -1, 1);
        u[r] = !axis ? part : r != k / 2 ? 0 : k % 2 ? -1 : 1;
    }
    if (count <= 2) u[0] = cos(turn);
    if (count == 2) u[1] = sin(turn);
    for (size_t r = 0; r < count; r++) length = hypot(length, u[r]);
    for (size_t r = 0; r < count; r++) u[r] /= length;
}

/* The least ray turned towards axis k. */
static void refine(judgement *j, extremes *e, size_t k, double reach, double radius) {
    size_t count = j->count;
    double *base = j->u + count, *w = base + count, dot = e->at[k], length = sqrt(fmax(0, 1 - dot * dot));
    if (length < 1e-6) return;
    memcpy(base, e->at, count * sizeof *base);
    for (size_t r = 0; r < count; r++) w[r] = ((r == k) - dot * base[r]) / length;
    refine_in_plane(j, e, base, w, reach, radius, j->u);
}

/* The least derivative over all rays of one radius, improved in one plane after the other. */
static extremes look_around(judgement *j, double radius, uint64_t *seed) {
    size_t count = j->count, rays = count == 1 ? 2 : count == 2 ? ANGLES : 12 * count, passes = count > 2 ? 2 : 1;
    extremes e = {.least = INFINITY, .good = true, .at = j->u + 3 * count};
    for (size_t k = 0; k < rays && e.good; k++) {
        choose_ray(j, k, rays, seed, j->u);
        (void)consider(j, &e, j->u, radius);
    }
    if (count == 2) refine(j, &e, fabs(e.at[0]) > fabs(e.at[1]), 3 * M_PI / ANGLES, radius);
    for (size_t k = 0; k < passes * count && count > 2 && e.good; k++)
        refine(j, &e, k % count, 8 * M_PI / ANGLES, radius);
    return e;
}

/* The largest radius: no coordinate moves by more than NEARBY of itself or of 1 along a direction of K. */
static double largest_radius(const judgement *j) {
    double most = 0;
    for (size_t c = 0; c < j->flat; c++)
        for (size_t i = 0; i < j->n; i++) most = fmax(most, fabs(j->K[c * j->n + i]) / fmax(1, fabs(j->z0[i])));
    return NEARBY / most;
}

/* Powers of the radius that successive values show: whether the last ones agree, and with which order of U. */
static bool shows_order(const double *values, size_t count, int *order) {
    double slope[RADII], last = 0;
    if (count < AGREE + 1) return false;
    for (size_t k = 0; k < AGREE; k++) {
        double x = values[count - 2 - k], y = values[count - 1 - k];
        if ((x > 0) != (y > 0)) return false;
        slope[k] = log(fabs(x) / fabs(y)) / log(SHRINK);
        if (k > 0 && fabs(slope[k] - slope[0]) > STEADY) return false;
    }
    last = slope[0] + 1;
    *order = fabs(last - round(last)) < STEADY && round(last) > 1 ? (int)round(last) : 0;
    return last > 0.5; /* U itself is small beside what a force of constant size would give */
}

static potential_verdict judge_rays(judgement *j) {
    double values[RADII], radius = largest_radius(j);
    potential_verdict verdict = undecided("the potential has no leading terms that decide");
    size_t count = 0;
    for (int k = 0; k < RADII; k++, radius /= SHRINK) {
        uint64_t seed = 3; /* the same rays at each radius, so that what is missed between them is missed alike */
        extremes e = look_around(j, radius, &seed);
        if (!e.good && count == 0) continue; /* too far */
        if (!e.good) return verdict;
        double least = along_ray(j, e.at, radius, true);
        if (!(fabs(least) > 30 * j->noise) || fabs(least) <= VANISHES * e.largest || fabs(least) < 1e-290) {
            if (count == 0 && e.largest > 30 * j->noise && e.largest > 0)
                verdict.reason = "the leading terms of the potential vanish along some direction";
            return verdict;
        }
        values[count++] = least;
        if (!shows_order(values, count, &verdict.order)) continue;
        verdict.kind = least > 0 ? POTENTIAL_LEAST : POTENTIAL_NOT_LEAST;
        verdict.reason = NULL;
        return verdict;
    }
    return verdict;
}

/* --- the verdict ------------------------------------------------------------------------------------------------------ */

/* K, W = M K from the eigenvectors from `first` on that are flat; C: what is orthogonal to the family in K. */
static bool make_rays(judgement *j, size_t first, const double *family, size_t family_count) {
    size_t n = j->n, d = j->tangent, k = j->flat;
    double *B = j->matrix, *sizes = j->right;
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) {
            j->K[c * n + i] = 0;
            for (size_t r = 0; r < d; r++) j->K[c * n + i] += j->T[i * d + r] * j->H[r * d + first + c];
        }
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) {
            j->W[c * n + i] = 0;
            for (size_t r = 0; r < n; r++) j->W[c * n + i] += j->s->local.R_a[i * n + r] * j->K[c * n + r];
        }
    size_t rank = 0;
    if (family_count > 0) {
        for (size_t f = 0; f < family_count; f++) {
            const double *along = family + f * n;
            double mass = 0;
            for (size_t i = 0; i < n; i++)
                for (size_t r = 0; r < n; r++) mass += along[i] * j->s->local.R_a[i * n + r] * along[r];
            for (size_t c = 0; c < k; c++) {
                B[f * k + c] = 0;
                for (size_t i = 0; i < n && mass > 0; i++) B[f * k + c] += j->W[c * n + i] * along[i] / sqrt(mass);
            }
        }
        int info = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)family_count, (lapack_int)k, B, (lapack_int)k,
                                  sizes, NULL, 1, j->M, (lapack_int)k, sizes + k);
        j->s->starved = j->s->starved || lapacke_starved(info);
        if (info != 0) return false;
        while (rank < k && rank < family_count && sizes[rank] > 1e-2) rank++;
    } else {
        memset(j->M, 0, k * k * sizeof *j->M);
        for (size_t c = 0; c < k; c++) j->M[c * k + c] = 1;
    }
    j->count = k - rank;
    memcpy(j->C, j->M + rank * k, j->count * k * sizeof *j->C);
    return true;
}

/* Gyroscopic: an antisymmetric part of the forces by velocities, along T. */
static bool is_gyroscopic(judgement *j) {
    size_t d = j->tangent;
    double *G = j->M, skew = 0, size = 0;
    if (j->s->velocities == STATICS_MOMENTA && d > 1) return true;
    project(j, j->s->local.R_v, j->matrix, G);
    for (size_t k = 0; k < d; k++)
        for (size_t r = 0; r < d; r++) {
            skew = fmax(skew, fabs(G[k * d + r] - G[r * d + k]));
            size = fmax(size, fabs(G[k * d + r]));
        }
    return skew > 1e-9 * size;
}

/* Curvatures of U along T, at z0: LEAST where all are positive, NOT_LEAST where one is negative; else K is in j->flat and
 * its first eigenvector in *first. */
static potential_verdict judge_curvatures(judgement *j, size_t *first) {
    double largest = 0, skew = 0, own = 0, here;
    bool conserved = !j->s->model->energy_rate;
    j->flat = 0;
    if (!look_nearby(j, &largest, &skew)) return undecided("forces cannot be evaluated nearby");
    here = project_forces(j, &own);
    if (here < 0) return undecided("momenta do not determine the velocities");
    for (size_t i = 0; i < j->n; i++) j->left[i] = fabs(j->s->F[i]);
    if (!conserved && fmax(skew, here) > 1e-7) return undecided("forces at rest have no potential");
    bool gyroscopic = is_gyroscopic(j);
    if (!find_curvatures(j)) return undecided("the kinetic energy is not positive definite");
    double most = fabs(j->tangent ? j->values[j->tangent - 1] : 0);
    if (j->tangent) most = fmax(most, fabs(j->values[0]));
    /* Nearby they may be larger: in the same ratio as the entries of H are. */
    if (own > 0) most *= fmax(1, largest / own);
    size_t below = 0;
    double bound = FLAT * most;
    if (own < FLAT * largest || j->kinked) below = 0, bound = INFINITY; /* nothing but flat ones */
    while (below < j->tangent && j->values[below] < -bound) below++;
    *first = below;
    while (*first + j->flat < j->tangent && j->values[*first + j->flat] <= bound) j->flat++;
    if (below > 0) return (potential_verdict){POTENTIAL_NOT_LEAST, 2, gyroscopic, NULL};
    if (j->flat == 0) return (potential_verdict){POTENTIAL_LEAST, 2, gyroscopic, NULL};
    return (potential_verdict){POTENTIAL_UNDECIDED, 0, gyroscopic, NULL};
}

/* Whether the forces balance with λ = 0 for the velocity constraints. */
static bool balances_alone(judgement *j, double *z) {
    statics *s = j->s;
    for (size_t c = 0; c < s->m; c++)
        if (s->model->order[c] != CONSTRAINT_HOLONOMIC) z[s->n + c] = 0;
    return statics_evaluate(s, z) && statics_residual(s) < 1e-8;
}

static potential_verdict judge(judgement *j, double *z, const double *family, size_t family_count, bool integrable,
                               bool has_velocities) {
    statics *s = j->s;
    potential_verdict verdict = undecided("velocity constraints exert reactions");
    size_t first = 0;
    if (!statics_evaluate(s, z)) return undecided("forces cannot be evaluated nearby");
    if (!find_tangent(j, true, true)) return undecided("constraints are not regular there");
    if (s->model->energy_rate && !is_dissipative(j)) return undecided("forces add energy");
    if (!statics_evaluate(s, z)) return undecided("forces cannot be evaluated nearby");
    if (has_velocities && integrable && !s->steady && !j->kinked) {
        verdict = judge_curvatures(j, &first);
        if (verdict.kind != POTENTIAL_UNDECIDED) return verdict;
        verdict.reason = "second derivatives of the potential do not decide";
    }
    s->holonomic_only = true;
    if (has_velocities && !balances_alone(j, z)) return verdict;
    if (!find_tangent(j, false, false)) return undecided("constraints are not regular there");
    if (!statics_evaluate(s, z)) return undecided("forces cannot be evaluated nearby");
    verdict = judge_curvatures(j, &first);
    if (has_velocities && verdict.kind == POTENTIAL_NOT_LEAST)
        return undecided("with velocity constraints only a minimum of the potential decides");
    if (verdict.kind != POTENTIAL_UNDECIDED || verdict.reason) return verdict;
    if (!make_rays(j, first, family, family_count)) return undecided("the family's directions were not found");
    if (j->count == 0) return (potential_verdict){POTENTIAL_LEAST, 2, verdict.gyroscopic, NULL};
    if (j->count > MOST_FLAT) return undecided("the potential is flat in more than 8 directions");
    bool gyroscopic = verdict.gyroscopic;
    verdict = judge_rays(j);
    verdict.gyroscopic = gyroscopic;
    if (has_velocities && verdict.kind == POTENTIAL_NOT_LEAST)
        return undecided("with velocity constraints only a minimum of the potential decides");
    return verdict;
}

potential_verdict potential_judge(statics *s, const double *z, const double *family, size_t family_count,
                                  bool integrable, bool kinked) {
    const hamel_model *model = s->model;
    judgement j = {.s = s, .n = s->n};
    size_t instants = s->instants;
    bool has_velocities = false;
    for (size_t c = 0; c < s->m; c++) {
        if (!model->active[c]) continue;
        if (model->order[c] == CONSTRAINT_ACCELERATION) return undecided("a constraint is an acceleration constraint");
        has_velocities = has_velocities || model->order[c] == CONSTRAINT_VELOCITY;
    }
    unsigned reactions =
        GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_NONIDEAL) | GRAPH_DEPENDS(SYMBOL_IDEAL);
    if (model->system->acceleration_energy >= 0) return undecided("the system has no potential");
    if (model->nonideal || (model->energy_rate && (program_depends(model->energy_rate) & reactions)))
        return undecided("energy is not conserved");
    if (s->instants > 1 && model->energy_rate) return undecided("energy changes with time");
    if (s->steady && (model->energy_rate || has_velocities || !s->momenta))
        return undecided("energy and momenta are not conserved, or velocity constraints act");
    arena_init(&j.memory, model->limits.memory);
    potential_verdict verdict = undecided("no memory");
    if (allocate(&j)) {
        s->instants = 1;
        statics_take(s, s->steady ? STATICS_MOMENTA : STATICS_GIVEN, z);
        /* The multipliers of the first instant, and the velocities. */
        double *own = arena_alloc(&j.memory, statics_most(s), sizeof *own);
        if (own) {
            memcpy(own, z, (s->n + s->m) * sizeof *own);
            for (size_t k = 0; k < s->spinning_count; k++) own[s->n + s->m + k] = s->v[s->spinning[k]];
            j.z0 = own;
            j.kinked = kinked;
            verdict = judge(&j, own, family, family_count, integrable, has_velocities);
        } else
            s->starved = true;
    } else
        s->starved = true;
    s->holonomic_only = false;
    s->instants = instants;
    statics_take(s, STATICS_GIVEN, NULL);
    arena_free(&j.memory);
    return verdict;
}
