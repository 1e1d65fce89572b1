/* potential.c — test for a minimum of the potential, by terms of any order.
 *
 * U is the Jacobi integral h at rest: V plus the centrifugal potential of prescribed rotations. With cyclic velocities,
 * U is the amended potential at constant momenta (Routh). If U has a strict minimum on the configurations that
 * holonomic constraints allow, the equilibrium is stable, because damping can only reduce h (Lagrange, Dirichlet). If
 * the terms of lowest order show that U has no minimum, and no gyroscopic force acts, the equilibrium is unstable
 * (Chetaev; Kozlov, J. Appl. Math. Mech. 46 (1982) 433; for terms of higher order Kozlov and Palamodov, Soviet Math.
 * Dokl. 25 (1982) 277).
 *
 * The forces at rest, with multipliers for the holonomic constraints, are the gradient of U on the allowed
 * configurations. The second derivatives of U decide in all directions outside their null space K. Along K, the
 * conditions of a minimum in the other directions determine the other coordinates. This is a Lyapunov–Schmidt
 * reduction:
 *     F(q, λ) = W μ,   Φ(q) = 0,   Wᵀ(q − q0) = s,   W = M K,   Kᵀ M K = 1
 * The derivatives of the reduced potential are μ = dU/ds. The signs and orders of u·μ along rays s = ρ u, for a
 * sequence of radii ρ, show whether U grows in every direction. */
#include "engine/analyze/stability.h"

#include "engine/base/random.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Second derivatives below this bound, relative to the largest second derivative nearby, are treated as zero. The bound
 * may be large, because terms of higher order decide along directions with smaller second derivatives. */
static const double FLAT = 1e-6;
/* Largest radius, and largest distance from the equilibrium at which second derivatives are compared. Both are
 * relative to max(1, |value|). The exact value is not critical: if terms of higher order dominate at this radius,
 * the search continues with smaller radii. */
static const double LARGEST_RADIUS = 0.1;
static const double SHRINK = 3; /* ratio of successive radii; RADII radii span eight decades */
/* Derivatives along a ray below this bound, relative to the largest derivative along any ray, are treated as zero. The
 * bound allows for the cancellation of six digits in the sum of the forces. */
static const double VANISHES = 1e-9;
/* Safety factor on the force that remains at the computed equilibrium. This force is an error of the forces along rays.
 * The factor covers a fourfold growth of the error along a ray. */
static const double UNSOLVED = 4;
/* Largest difference between the orders estimated at successive radii. The orders of smooth potentials are integers, so
 * a tenth distinguishes them. */
static const double STEADY = 0.1;
enum { RADII = 18, AGREE = 3, BORDERED = 25, ANGLES = 48, GOLDEN = 30, POWER_TRIALS = 24, MOST_FLAT = 8 };

typedef struct decision {
    statics *s;
    arena memory;
    double *z0; /* the equilibrium */
    /* n: coordinates; tangent, flat, count: dimensions of T, of K and of the span of the rays */
    size_t n, tangent, flat, count;
    double *T, *H, *M, *values; /* T: n × tangent, row-major; H, M: tangent × tangent; values: tangent entries */
    double *K, *W;              /* n × flat, column-major: K[k * n + i] */
    double *C;                  /* flat × count, column-major: basis of the rays in the coordinates of K */
    double *P;                  /* 2n² entries: derivatives of cyclic momenta */
    double *z, *mu, *right, *matrix, *s0, *u;
    bool kinked;  /* true if second derivatives jump at z0 */
    double *left; /* n entries: |F| at z0 */
    double noise; /* rounding error of the last derivative along a ray */
    size_t row_count;
} decision;

static potential_verdict undecided(const char *reason) {
    return (potential_verdict){.reason = reason};
}

static bool allocate_decision(decision *j) {
    statics *s = j->s;
    size_t n = s->n, most = 2 * n + s->m + 2 * s->spinning_count; /* size of the bordered equations at one instant */
    struct {
        double **to;
        size_t count;
    } const lists[] = {{&j->T, n * n}, {&j->H, n * n},     {&j->M, n * n},    {&j->values, n},
                       {&j->K, n * n}, {&j->W, n * n},     {&j->C, n * n},    {&j->z, most},
                       {&j->mu, n},    {&j->s0, n},        {&j->right, most}, {&j->matrix, most * most},
                       {&j->u, 4 * n}, {&j->P, 2 * n * n}, {&j->left, n},     {&j->z0, statics_most(s)}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k].to = arena_doubles(&j->memory, lists[k].count);
    return !j->memory.failed;
}

/* --- admissible directions ---------------------------------------------------------------------------------------- */

/* Sets T to the null space of Φ_q. If `velocities`, intersects T with the null space of ψ_q'. Unless `spinning`, the
 * cyclic coordinates are fixed. */
static bool find_tangent(decision *j, bool velocities, bool spinning) {
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
    double *sizes = j->values;
    if (!statics_right_vectors(j->s, rows, n, j->matrix, sizes, j->K)) return false;
    size_t rank = 0;
    while (rank < n && rank < rows && sizes[rank] > SAMPLED_RANK_TOLERANCE * fmax(1, sizes[0])) rank++;
    j->tangent = n - rank;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < j->tangent; k++) j->T[i * j->tangent + k] = j->K[(rank + k) * n + i];
    return true;
}

/* Sets B to Tᵀ A T; A is n × n, scratch n × tangent. */
static void project_on_tangent(const decision *j, const double *A, double *scratch, double *B) {
    assert(j->tangent <= j->n);
    statics_congruence(j->n, j->tangent, A, j->T, j->tangent, 1, scratch, B);
}

/* Fills A (n × n) with ∂F/∂q at the point evaluated last. Constant momenta determine the cyclic velocities. */
static bool second_derivatives(decision *j, double *A) {
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

/* Sets H to the symmetric part of Tᵀ ∂F/∂q T at the point evaluated last. Returns the largest antisymmetric part
 * relative to the largest entry, or −1 on failure. */
static double project_forces(decision *j, double *largest) {
    size_t d = j->tangent;
    double *A = j->matrix, *scratch = A + j->n * j->n, skew = 0;
    if (!second_derivatives(j, A)) return -1;
    project_on_tangent(j, A, scratch, j->H);
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

/* Sets j->z to a random point at most `reach` from z0, relative to max(1, |value|). */
static void move_nearby(decision *j, double reach, uint64_t *seed) {
    memcpy(j->z, j->z0, j->s->unknowns * sizeof *j->z);
    for (size_t i = 0; i < j->n; i++) j->z[i] += reach * fmax(1, fabs(j->z0[i])) * random_uniform(seed, -1, 1);
}

/* Finds the largest second derivative, and the largest antisymmetric part of the second derivatives, at points near
 * z0. */
static bool look_nearby(decision *j, double *largest, double *skew) {
    uint64_t seed = 11;
    for (int trial = 0; trial < 3; trial++) {
        double size = 0, own = 0;
        move_nearby(j, LARGEST_RADIUS, &seed);
        if (!statics_evaluate(j->s, j->z)) continue;
        own = project_forces(j, &size);
        if (own < 0) return false;
        *skew = fmax(*skew, own);
        *largest = fmax(*largest, size);
    }
    return statics_evaluate(j->s, j->z0);
}

/* Solves H x = ω² M x; eigenvectors are stored in the columns of H. Returns false if the kinetic energy is not positive
 * definite. */
static bool find_curvatures(decision *j) {
    size_t d = j->tangent;
    project_on_tangent(j, j->s->local.R_a, j->matrix, j->M);
    for (size_t k = 0; k < d; k++) /* rounding leaves M slightly asymmetric */
        for (size_t r = 0; r < k; r++) j->M[k * d + r] = j->M[r * d + k] = (j->M[k * d + r] + j->M[r * d + k]) / 2;
    if (d == 0) return true;
    int info = LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'V', 'U', (lapack_int)d, j->H, (lapack_int)d, j->M, (lapack_int)d,
                             j->values);
    j->s->starved = j->s->starved || lapacke_starved(info);
    return info == 0;
}

/* --- power of the dampers ----------------------------------------------------------------------------------------- */

/* Returns dh/dt at (q, v), or NAN if dh/dt is undefined. */
static double power_at(statics *s, const program *p, double *work, const double *q, const double *v) {
    double rate = NAN;
    discrete_state_choose_branches(&s->local.discrete_state, s->t[0], q, v);
    const program_inputs in = discrete_state_inputs(&s->local.discrete_state, &s->t[0], q, v, NULL, NULL);
    program_evaluate(p, &in, work, &rate);
    return rate;
}

/* Returns true if, at random velocities near z0, velocity-dependent forces never add energy. The power of the forces at
 * rest is the part of dh/dt that is odd in small velocities. */
static bool is_dissipative(decision *j) {
    const program *p = j->s->model->dynamics.energy_rate;
    static const double speeds[] = {1e-3, 0.1, 1};
    const double slow = 0x1p-10, last_digits = 64 * 0x1p-52 / slow; /* rounding error of `rest` */
    double *work = model_workspace(j->s->model, p, &j->memory), *v = j->mu, *creep = j->s0;
    uint64_t seed = 5;
    if (!work) j->s->starved = true;
    for (int trial = 0; trial < POWER_TRIALS && work; trial++) {
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
    return work != NULL;
}

/* --- the reduced potential ---------------------------------------------------------------------------------------- */

/* Makes one Newton step for the bordered equations (the Lyapunov–Schmidt reduction above) at j->z, j->mu. Returns the
 * size of the step, or NAN on failure. */
static double bordered_step(decision *j, const double *target) {
    assert(j->s->instants == 1);
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

/* Returns u·dU/ds at s = ρ C u, or NAN on failure. If `noise`, sets j->noise to the rounding error of the result. */
static double along_ray(decision *j, const double *u, double radius, bool noise) {
    assert(radius > 0 && j->count <= j->flat);
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

/* --- rays in every direction -------------------------------------------------------------------------------------- */

typedef struct extremes {
    double least, largest; /* smallest u·dU/ds over the rays, and largest absolute value */
    double *at;            /* `count` entries: the ray with the least value */
    bool good;
} extremes;

static double try_ray(decision *j, extremes *e, const double *u, double radius) {
    double value = along_ray(j, u, radius, false);
    if (isnan(value)) e->good = false;
    e->largest = fmax(e->largest, fabs(value));
    if (value < e->least) {
        e->least = value;
        memcpy(e->at, u, j->count * sizeof *u);
    }
    return value;
}

/* Minimizes u·dU/ds over the rays u = cos a · base + sin a · w with |a| ≤ reach, by golden-section search. `base`, `w`
 * and `u` have `count` entries. */
static void refine_in_plane(decision *j, extremes *e, const double *base, const double *w, double reach, double radius,
                            double *u) {
    const double ratio = 0.6180339887498949;
    double low = -reach, high = reach;
    for (int k = 0; k < GOLDEN && e->good; k++) {
        double value[2], angle[2] = {high - ratio * (high - low), low + ratio * (high - low)};
        for (int side = 0; side < 2; side++) {
            for (size_t r = 0; r < j->count; r++) u[r] = cos(angle[side]) * base[r] + sin(angle[side]) * w[r];
            value[side] = try_ray(j, e, u, radius);
        }
        if (value[0] < value[1])
            high = angle[1];
        else
            low = angle[0];
    }
}

/* Sets u to the unit vector along ray k of `rays` rays. In one dimension the rays are ±1. In two dimensions the angles
 * between neighbouring rays are equal. In more dimensions the rays are the positive and negative axes, then random
 * vectors. */
static void choose_ray(const decision *j, size_t k, size_t rays, uint64_t *seed, double *u) {
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

/* Refines the ray with the least value in the plane of this ray and axis k. */
static void refine_ray(decision *j, extremes *e, size_t k, double reach, double radius) {
    size_t count = j->count;
    double *base = j->u + count, *w = base + count, dot = e->at[k], length = sqrt(fmax(0, 1 - dot * dot));
    if (length < 1e-6) return;
    memcpy(base, e->at, count * sizeof *base);
    for (size_t r = 0; r < count; r++) w[r] = ((r == k) - dot * base[r]) / length;
    refine_in_plane(j, e, base, w, reach, radius, j->u);
}

/* Finds the ray with the least derivative at one radius and refines this ray plane by plane. */
static extremes look_around(decision *j, double radius, uint64_t *seed) {
    size_t count = j->count, rays = count == 1 ? 2 : count == 2 ? ANGLES : 12 * count, passes = count > 2 ? 2 : 1;
    extremes e = {.least = INFINITY, .good = true, .at = j->u + 3 * count};
    for (size_t k = 0; k < rays && e.good; k++) {
        choose_ray(j, k, rays, seed, j->u);
        (void)try_ray(j, &e, j->u, radius);
    }
    if (count == 2) refine_ray(j, &e, fabs(e.at[0]) > fabs(e.at[1]), 3 * M_PI / ANGLES, radius);
    for (size_t k = 0; k < passes * count && count > 2 && e.good; k++)
        refine_ray(j, &e, k % count, 8 * M_PI / ANGLES, radius);
    return e;
}

/* Returns the largest radius at which no coordinate moves by more than LARGEST_RADIUS, relative to max(1, |value|),
 * along a direction of K. */
static double largest_radius(const decision *j) {
    double most = 0;
    for (size_t c = 0; c < j->flat; c++)
        for (size_t i = 0; i < j->n; i++) most = fmax(most, fabs(j->K[c * j->n + i]) / fmax(1, fabs(j->z0[i])));
    return LARGEST_RADIUS / most;
}

/* Finds the power of the radius to which successive derivatives along a ray are proportional. Returns true if the last
 * AGREE exponents agree. Sets *order to the order of U, or to 0 if the order of U is not an integer. */
static bool shows_order(const double *values, size_t count, int *order) {
    assert(count <= RADII);
    double power = 0; /* exponent of the radius in the derivatives, then in U */
    if (count < AGREE + 1) return false;
    for (size_t k = 0; k < AGREE; k++) {
        double x = values[count - 2 - k], y = values[count - 1 - k], here = log(fabs(x) / fabs(y)) / log(SHRINK);
        if (k == 0) power = here;
        if ((x > 0) != (y > 0) || fabs(here - power) > STEADY) return false;
    }
    power++;
    *order = fabs(power - round(power)) < STEADY && round(power) > 1 ? (int)round(power) : 0;
    return power > 0.5; /* U = |x|, a kink, has the exponent 1 */
}

static potential_verdict decide_by_rays(decision *j) {
    double values[RADII], radius = largest_radius(j);
    potential_verdict verdict = undecided("the order of the potential's leading terms was not found");
    size_t count = 0;
    for (int k = 0; k < RADII; k++, radius /= SHRINK) {
        /* the same rays at each radius, so that gaps between rays cause similar errors at all radii */
        uint64_t seed = 3;
        extremes e = look_around(j, radius, &seed);
        if (!e.good && count == 0) continue; /* the radius is too large */
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

/* --- the verdict -------------------------------------------------------------------------------------------------- */

/* Fills K and W = M K from the j->flat eigenvectors that begin at index `first`. Fills C with the directions of K
 * orthogonal to the family. */
static bool make_rays(decision *j, size_t first, const family *f) {
    size_t n = j->n, tangent = j->tangent, k = j->flat;
    double *B = j->matrix, *sizes = j->right;
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) {
            j->K[c * n + i] = 0;
            for (size_t r = 0; r < tangent; r++)
                j->K[c * n + i] += j->T[i * tangent + r] * j->H[r * tangent + first + c];
        }
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < n; i++) {
            j->W[c * n + i] = 0;
            for (size_t r = 0; r < n; r++) j->W[c * n + i] += j->s->local.R_a[i * n + r] * j->K[c * n + r];
        }
    size_t rank = 0;
    for (size_t d = 0; d < f->dimension; d++) {
        const double *along = f->directions + d * n;
        double mass = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t r = 0; r < n; r++) mass += along[i] * j->s->local.R_a[i * n + r] * along[r];
        for (size_t c = 0; c < k; c++) {
            B[d * k + c] = 0;
            for (size_t i = 0; i < n && mass > 0; i++) B[d * k + c] += j->W[c * n + i] * along[i] / sqrt(mass);
        }
    }
    if (!statics_right_vectors(j->s, f->dimension, k, B, sizes, j->M)) return false;
    while (rank < k && rank < f->dimension && sizes[rank] > 1e-2) rank++;
    j->count = k - rank;
    memcpy(j->C, j->M + rank * k, j->count * k * sizeof *j->C);
    return true;
}

/* Returns true if the matrix of derivatives of the forces with respect to the velocities, projected onto T, has an
 * antisymmetric part. */
static bool is_gyroscopic(decision *j) {
    size_t d = j->tangent;
    double *G = j->M, skew = 0, size = 0;
    if (j->s->velocities == STATICS_MOMENTA && d > 1) return true;
    project_on_tangent(j, j->s->local.R_v, j->matrix, G);
    for (size_t k = 0; k < d; k++)
        for (size_t r = 0; r < d; r++) {
            skew = fmax(skew, fabs(G[k * d + r] - G[r * d + k]));
            size = fmax(size, fabs(G[k * d + r]));
        }
    return skew > 1e-9 * size;
}

/* Decides by the curvatures of U in the tangent space T at z0. The verdict is POTENTIAL_LEAST if all curvatures are
 * positive, and POTENTIAL_NOT_LEAST if one curvature is negative. Otherwise sets j->flat to the dimension of K and
 * *first to the index of the first eigenvector in K. */
static potential_verdict decide_by_curvatures(decision *j, size_t *first) {
    double largest = 0, skew = 0, own = 0, here;
    bool conserved = !j->s->model->dynamics.energy_rate;
    j->flat = 0;
    if (!look_nearby(j, &largest, &skew)) return undecided("forces near the equilibrium are not finite");
    here = project_forces(j, &own);
    if (here < 0) return undecided("the momenta do not determine the velocities");
    for (size_t i = 0; i < j->n; i++) j->left[i] = fabs(j->s->F[i]);
    if (!conserved && fmax(skew, here) > 1e-7) return undecided("forces at rest have no potential");
    bool gyroscopic = is_gyroscopic(j);
    if (!find_curvatures(j)) return undecided("the kinetic energy is not positive definite");
    double bound = j->tangent ? FLAT * fmax(fabs(j->values[0]), fabs(j->values[j->tangent - 1])) : 0;
    if (own > 0) bound *= fmax(1, largest / own);            /* nearby entries of H may be larger */
    if (own < FLAT * largest || j->kinked) bound = INFINITY; /* all directions are flat */
    *first = 0;
    while (*first < j->tangent && j->values[*first] < -bound) ++*first;
    while (*first + j->flat < j->tangent && j->values[*first + j->flat] <= bound) j->flat++;
    if (*first > 0) return (potential_verdict){POTENTIAL_NOT_LEAST, 2, gyroscopic, NULL};
    if (j->flat == 0) return (potential_verdict){POTENTIAL_LEAST, 2, gyroscopic, NULL};
    return (potential_verdict){POTENTIAL_UNDECIDED, 0, gyroscopic, NULL};
}

/* Sets λ = 0 for the velocity constraints. Returns true if the forces still balance. */
static bool balances_alone(decision *j, double *z) {
    statics *s = j->s;
    for (size_t c = 0; c < s->m; c++)
        if (s->model->order[c] != CONSTRAINT_HOLONOMIC) z[s->n + c] = 0;
    return statics_evaluate(s, z) && statics_residual(s) < 1e-8;
}

static potential_verdict decide_potential(decision *j, const family *f, bool integrable, bool has_velocities) {
    statics *s = j->s;
    double *z = j->z0;
    potential_verdict verdict = undecided("velocity constraints exert reactions");
    size_t first = 0;
    if (!statics_evaluate(s, z)) return undecided("forces near the equilibrium are not finite");
    if (!find_tangent(j, true, true)) return undecided("constraints are singular at the equilibrium");
    if (s->model->dynamics.energy_rate && !is_dissipative(j)) return undecided("forces add energy");
    if (!statics_evaluate(s, z)) return undecided("forces near the equilibrium are not finite");
    if (has_velocities && integrable && !s->steady && !j->kinked) {
        verdict = decide_by_curvatures(j, &first);
        if (verdict.kind != POTENTIAL_UNDECIDED) return verdict;
        verdict.reason = "second derivatives of the potential do not decide";
    }
    s->holonomic_only = true;
    if (has_velocities && !balances_alone(j, z)) return verdict;
    if (!find_tangent(j, false, false)) return undecided("constraints are singular at the equilibrium");
    if (!statics_evaluate(s, z)) return undecided("forces near the equilibrium are not finite");
    verdict = decide_by_curvatures(j, &first);
    if (verdict.kind == POTENTIAL_UNDECIDED && !verdict.reason) {
        bool gyroscopic = verdict.gyroscopic;
        if (!make_rays(j, first, f)) return undecided("the directions of the family of equilibria were not found");
        if (j->count > MOST_FLAT) return undecided("the potential is flat in more than 8 directions");
        verdict = j->count > 0 ? decide_by_rays(j) : (potential_verdict){POTENTIAL_LEAST, 2, false, NULL};
        verdict.gyroscopic = gyroscopic;
    }
    if (has_velocities && verdict.kind == POTENTIAL_NOT_LEAST)
        return undecided("the potential has no minimum, but velocity constraints may still stabilize the equilibrium");
    return verdict;
}

potential_verdict potential_decide(statics *s, const double *z, const family *f, bool integrable, bool kinked) {
    const hamel_model *model = s->model;
    decision j = {.s = s, .n = s->n, .kinked = kinked};
    size_t instants = s->instants;
    bool has_velocities = false;
    for (size_t c = 0; c < s->m; c++) {
        if (!model->active[c]) continue;
        if (model->order[c] == CONSTRAINT_ACCELERATION) return undecided("an acceleration constraint acts");
        has_velocities = has_velocities || model->order[c] == CONSTRAINT_VELOCITY;
    }
    unsigned reactions =
        GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_NONIDEAL) | GRAPH_DEPENDS(SYMBOL_IDEAL);
    if (model->system->acceleration_energy >= 0) return undecided("a Gibbs-Appell function has no potential");
    if (model->dynamics.nonideal ||
        (model->dynamics.energy_rate && (program_depends(model->dynamics.energy_rate) & reactions)))
        return undecided("forces depend on reactions, or constraints are nonideal");
    if (s->instants > 1 && model->dynamics.energy_rate)
        return undecided("energy is not conserved and the equations contain t");
    if (s->steady && (model->dynamics.energy_rate || has_velocities || !s->momenta))
        return undecided(has_velocities ? "velocity constraints act on a steady motion"
                                        : "energy or a cyclic momentum of the steady motion is not conserved");
    arena_init(&j.memory, model->limits.memory);
    potential_verdict verdict = undecided("out of memory");
    if (allocate_decision(&j)) {
        s->instants = 1;
        statics_take(s, s->steady ? STATICS_MOMENTA : STATICS_GIVEN, z);
        /* z with the multipliers of the first instant only, then cyclic velocities */
        memcpy(j.z0, z, (s->n + s->m) * sizeof *z);
        for (size_t k = 0; k < s->spinning_count; k++) j.z0[s->n + s->m + k] = s->v[s->spinning[k]];
        verdict = decide_potential(&j, f, integrable, has_velocities);
    } else
        s->starved = true;
    s->holonomic_only = false;
    s->instants = instants;
    statics_take(s, STATICS_GIVEN, NULL);
    arena_free(&j.memory);
    return verdict;
}
