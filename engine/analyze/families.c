/* families.c — detection of families of equilibria and movement along them; see families.h. */
#include "engine/analyze/families.h"

#include "engine/base/random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* First and largest distance from z at which equilibria are searched for, relative to max(1, |value|). The smallest
 * distance, 0.002, exceeds the error of a double root, about √ε = 1.5e-8. */
static const double FARTHEST = 0.05;
static const double SHRINK = 5; /* ratio of successive distances */
/* Unit vectors count as independent if the smallest singular value of the matrix with these rows exceeds this bound.
 * Two unit vectors at an angle of four degrees reach the bound. */
static const double APART = 0.05;
/* STRIDE: largest step along a family. ARRIVED: a shorter step ends the movement along the family. Both are relative to
 * max(1, |value|). From a circle of radius 1, a step of 0.25 along the tangent ends at a distance of 0.03, from which
 * Newton's method converges to the circle. After a longer step, Newton's method may converge to another family. A
 * shorter STRIDE costs more steps. ARRIVED exceeds rounding errors, about 1e-16. */
static const double STRIDE = 0.25, ARRIVED = 1e-9;
/* The projection of a direction onto the null space of J minimizes a norm in which changes of multipliers have the
 * weight 1/FREELY. Multipliers are determined by the coordinates, so their part of the squared norm is reduced by a
 * factor of 1e6. */
static const double FREELY = 1e3;
/* The accuracy of a solution is measured by Newton iterations that start at this distance from the solution. A root of
 * order 8 has an error of about ε^(1/8) = 0.01, below the largest accepted error BESIDE / 3. */
static const double BESIDE = 5e-2;
/* Largest factor by which the largest multiplier may grow along a family. A larger factor admits states nearer to
 * singular configurations, where multipliers grow without bound. */
static const double BEARABLE = 10;
/* Cosine of the largest angle, 11 degrees, between a direction and the equilibrium that is found along this direction.
 * At the distance of the search, 0.002, a family with a radius of curvature above 0.01 deviates less from its
 * tangent. */
static const double ALIGNED = 0.98;
/* COMBINATIONS: number of random combinations of directions that are tried. DISTANCES: number of distances at which
 * equilibria are searched for. STRIDES: largest number of steps along a family; 80 steps of 0.25 change an angle by 20,
 * about three turns. */
enum { COMBINATIONS = 4, DISTANCES = 3, STRIDES = 80 };

/* --- detection of a family ---------------------------------------------------------------------------------------- */

typedef struct exploration {
    statics *s;
    size_t width, flat;
    /* kernel: flat × width entries; direction: width; z: unknowns; moves: trials × width */
    double *kernel, *direction, *z, *moves;
    size_t move_count, least_flat;
    double *member;
} exploration;

static double vector_length(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum = hypot(sum, x[i]);
    return sum;
}

/* Chooses a random direction of the null space. If the null space has dimension 1, alternates between its two
 * directions. Scales the direction so that its largest component, relative to max(1, |value|), is 1. */
static void choose_direction(exploration *e, const double *z, size_t trial, uint64_t *seed) {
    assert(e->flat > 0);
    double largest = 0;
    memset(e->direction, 0, e->width * sizeof *e->direction);
    for (size_t k = 0; k < e->flat; k++) {
        double part = e->flat == 1 ? (trial % 2 ? -1 : 1) : random_uniform(seed, -1, 1);
        for (size_t j = 0; j < e->width; j++) e->direction[j] += part * e->kernel[k * e->width + j];
    }
    for (size_t j = 0; j < e->width; j++)
        largest = fmax(largest, fabs(e->direction[j]) / fmax(1, fabs(z[statics_place(e->s, j)])));
    for (size_t j = 0; j < e->width && largest > 0; j++) e->direction[j] /= largest;
}

/* Searches for an equilibrium at each distance from z, beginning along the direction. If an equilibrium is found at
 * every distance, returns true and adds the unit vector from z to the nearest of these equilibria to e->moves. */
static bool explore(exploration *e, const double *z) {
    statics *s = e->s;
    double distance = FARTHEST, *kernel = e->kernel + e->flat * e->width;
    for (int k = 0; k < DISTANCES; k++, distance /= SHRINK) {
        memcpy(e->z, z, s->unknowns * sizeof *z);
        for (size_t j = 0; j < e->width; j++) e->z[statics_place(s, j)] += distance * e->direction[j];
        if (!statics_balance(s, e->z)) return false;
        statics_stay_at(s, z, distance);
        bool found = statics_converge(s, e->z) && statics_is_rounding(s, e->z);
        statics_stay_at(s, NULL, 0);
        if (!found) return false;
        for (size_t j = 0; j < e->width; j++) /* the next search begins along the direction to this equilibrium */
            e->direction[j] = (e->z[statics_place(s, j)] - z[statics_place(s, j)]) / distance;
        if (k > 0) continue;
        size_t there = statics_kernel(s, e->z, kernel);
        if (there < e->least_flat || e->move_count == 0) {
            e->least_flat = there;
            memcpy(e->member, e->z, s->unknowns * sizeof *z);
        }
    }
    double *move = e->moves + e->move_count * e->width, length = vector_length(e->direction, e->width);
    for (size_t j = 0; j < e->width; j++) move[j] = e->direction[j] / length;
    e->move_count++;
    return true;
}

/* Finds the independent directions in e->moves. The dimension of the smallest null space found is an upper bound on the
 * dimension of the family. If there are more independent directions, families meet at z. */
static void take_directions(exploration *e, family *f) {
    size_t count = 0;
    if (e->move_count == 0) return;
    memcpy(e->s->work, e->moves, e->move_count * e->width * sizeof *e->moves);
    if (!statics_decompose(e->s, e->move_count, e->width, e->s->work)) return;
    while (count < e->width && e->s->singular[count] > APART) count++;
    memcpy(f->directions, e->s->vectors, count * e->width * sizeof *f->directions);
    f->meet = count > e->least_flat;
    f->dimension = f->meet ? e->least_flat : count;
}

/* Returns true if combinations of the directions of f also lead to equilibria. If families cross at z, a combination
 * leads to one of the families instead. */
static bool fill_their_span(exploration *e, const double *z, const family *f) {
    uint64_t seed = 41;
    statics *s = e->s;
    for (int trial = 0; trial < COMBINATIONS && f->dimension > 1; trial++) {
        double dot = 0, distance = FARTHEST / (SHRINK * SHRINK), length;
        double *between = e->kernel; /* the null space is no longer needed */
        memset(between, 0, e->width * sizeof *between);
        for (size_t k = 0; k < f->dimension; k++) {
            double part = random_uniform(&seed, -1, 1);
            for (size_t j = 0; j < e->width; j++) between[j] += part * f->directions[k * e->width + j];
        }
        for (size_t j = 0; j < e->width; j++) e->direction[j] = between[j] / fmax(1, fabs(z[statics_place(s, j)]));
        length = vector_length(e->direction, e->width); /* length in the norm of statics_stay_at */
        memcpy(e->z, z, s->unknowns * sizeof *z);
        for (size_t j = 0; j < e->width; j++) e->z[statics_place(s, j)] += distance * between[j] / length;
        statics_stay_at(s, z, distance);
        bool found = statics_balance(s, e->z) && statics_converge(s, e->z);
        statics_stay_at(s, NULL, 0);
        double moved = 0;
        for (size_t j = 0; j < e->width; j++) {
            double x = e->z[statics_place(s, j)] - z[statics_place(s, j)];
            dot += x * between[j];
            moved = hypot(moved, x);
        }
        if (!found || dot < ALIGNED * moved * vector_length(between, e->width)) return false;
    }
    return true;
}

void family_find(statics *s, const double *z, family *f) {
    assert(!s->centre);
    exploration e = {.s = s, .width = statics_width(s), .member = f->member};
    uint64_t seed = 17;
    size_t most = e.width, most_trials = 3 * most + 2;
    double *room = calloc((2 * most + 1 + most_trials) * most + statics_most(s) + 1, sizeof *room);
    f->dimension = f->flat = 0;
    f->meet = f->inexact = false;
    if (!room) {
        s->starved = true;
        return;
    }
    e.kernel = room;
    e.direction = room + 2 * most * most;
    e.moves = e.direction + most;
    e.z = e.moves + most_trials * most;
    f->flat = e.least_flat = e.flat = statics_kernel(s, z, e.kernel);
    size_t trials = e.flat == 0 ? 0 : e.flat == 1 ? 2 : 3 * e.flat + 1;
    for (size_t trial = 0; trial < trials; trial++) {
        choose_direction(&e, z, trial, &seed);
        if (!explore(&e, z) && trial > e.flat && e.move_count == 0) break;
    }
    take_directions(&e, f);
    if (f->dimension > 0 && !fill_their_span(&e, z, f)) f->meet = true;
    f->inexact = f->flat > 0 && f->dimension == 0 && !statics_is_rounding(s, z);
    free(room);
}

/* --- moving along a family ---------------------------------------------------------------------------------------- */

/* Projects `toward` onto the null space of J at the point evaluated last. Multipliers, which are 0 in `toward`, have
 * the weight 1/FREELY, so multipliers may change much more than coordinates. */
static bool project_on_kernel(statics *s, double *toward) {
    size_t columns = s->unknowns;
    for (size_t i = 0; i < s->rows; i++) {
        double scale = s->scale[i] > 0 ? s->scale[i] : 1;
        s->right[i] = 0;
        for (size_t j = 0; j < columns; j++) {
            s->work[i * columns + j] = s->J[i * columns + j] / scale * (j < s->n ? 1 : FREELY);
            s->right[i] += s->work[i * columns + j] * toward[j];
        }
    }
    if (!statics_least_squares(s, s->rows, columns, s->work, s->right)) return false;
    for (size_t j = 0; j < columns; j++) toward[j] -= s->right[j] * (j < s->n ? 1 : FREELY);
    return true;
}

static double distance_to(const statics *s, const double *z, const double *target) {
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) sum = hypot(sum, z[i] - target[i]);
    return sum;
}

/* Returns the largest magnitude of a multiplier, at least 1. At the end of a family, constraints become singular and
 * multipliers grow without bound. */
static double largest_multiplier(const statics *s, const double *z) {
    double largest = 1;
    for (size_t c = s->n; c < s->n + s->instants * s->m; c++) largest = fmax(largest, fabs(z[c]));
    return largest;
}

void family_approach(statics *s, double *z, const double *target) {
    double *way = calloc(2 * s->unknowns + 1, sizeof *way), *next = way ? way + s->unknowns : NULL, stride = STRIDE;
    double bearable = BEARABLE * largest_multiplier(s, z);
    if (!way) s->starved = true;
    for (int k = 0; k < STRIDES && way && stride > 1e-3; k++) {
        double largest = 0, before = distance_to(s, z, target);
        if (!statics_evaluate(s, z)) break;
        memset(way, 0, s->unknowns * sizeof *way);
        for (size_t i = 0; i < s->n; i++) way[i] = target[i] - z[i];
        if (!project_on_kernel(s, way)) break;
        for (size_t j = 0; j < s->n; j++) largest = fmax(largest, fabs(way[j]) / fmax(1, fabs(z[j])));
        if (largest < ARRIVED) break;
        double part = largest > stride ? stride / largest : 1;
        for (size_t j = 0; j < s->unknowns; j++) next[j] = z[j] + part * way[j];
        if (statics_balance(s, next) && statics_converge(s, next) && largest_multiplier(s, next) < bearable &&
            distance_to(s, next, target) < before * (1 - 1e-12))
            memcpy(z, next, s->unknowns * sizeof *z);
        else
            stride = fmin(stride, largest) / 4;
    }
    free(way);
}

/* --- accuracy ----------------------------------------------------------------------------------------------------- */

/* Returns the distance along ±direction at which F exceeds s->weight, the bound on the rounding error of F at z. */
static double edge(statics *s, const double *z, const double *direction, double sign, double *moved) {
    double distance = 1e-14;
    for (; distance < 1e-2; distance *= 2) {
        for (size_t j = 0; j < s->unknowns; j++) moved[j] = z[j];
        for (size_t j = 0; j < s->n; j++) moved[j] += sign * distance * direction[j];
        if (!statics_evaluate(s, moved)) return distance;
        for (size_t i = 0; i < s->rows; i++)
            if (fabs(s->F[i]) > s->weight[i] && fabs(s->F[i]) > 1e-300) return distance;
    }
    return distance;
}

/* Starts Newton's method at the distance BESIDE from z. Returns the distance between z and the solution found, or 0 if
 * the iteration does not return to the neighbourhood of z. */
static double iteration_spread(statics *s, const double *z, const double *direction, double sign, double *moved) {
    memcpy(moved, z, s->unknowns * sizeof *z);
    for (size_t j = 0; j < s->n; j++) moved[j] += sign * BESIDE * direction[j];
    double distance = statics_converge(s, moved) ? statics_distance(s, moved, z) : 0;
    return distance < BESIDE / 3 ? distance : 0;
}

double family_uncertainty(statics *s, double *z) {
    double *kernel = calloc(s->n * s->n + s->unknowns + 1, sizeof *kernel), worst = 0;
    if (!kernel) {
        s->starved = true;
        return 0;
    }
    double *moved = kernel + s->n * s->n;
    size_t flat = statics_kernel(s, z, kernel);
    (void)statics_is_rounding(s, z); /* sets the bounds in s->weight */
    for (size_t k = 0; k < flat; k++) {
        const double *direction = kernel + k * s->n;
        double up = edge(s, z, direction, 1, moved), down = edge(s, z, direction, -1, moved), largest = 0;
        for (size_t j = 0; j < s->n; j++) {
            if (flat == 1 && up < 1e-3 && down < 1e-3) z[j] += (up - down) / 2 * direction[j];
            largest = fmax(largest, fabs(direction[j]) / fmax(1, fabs(z[j])));
        }
        worst = fmax(worst, (up + down) / 2 * largest);
        for (int sign = -1; sign <= 1; sign += 2) worst = fmax(worst, iteration_spread(s, z, direction, sign, moved));
        (void)statics_is_rounding(s, z);
    }
    free(kernel);
    return worst;
}
