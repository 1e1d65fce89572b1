/* families.c — see families.h. */
#include "engine/analyze/families.h"

#include "engine/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FARTHEST = 0.05;               /* of a coordinate or of 1: the first distance */
static const double SHRINK = 5;                    /* from one distance to the next */
static const double APART = 0.05;                  /* a singular value of unit directions: another dimension */
static const double STRIDE = 0.25, ARRIVED = 1e-9; /* steps along a family, relative to values above 1 */
static const double FREELY = 1e3;                  /* a multiplier may change by so much more than a coordinate */
static const double BESIDE = 5e-2;                 /* where an iteration begins that shows how accurate its end is */
static const double BEARABLE = 10;                 /* times its multipliers: no member of a family is taken beyond */
static const double ALIGNED = 0.98; /* cosine of the angle by which a curved family may differ from its tangent */
enum { COMBINATIONS = 4, DISTANCES = 3, STRIDES = 80 };

/* --- is it a family? -------------------------------------------------------------------------------------------------- */

typedef struct exploration {
    statics *s;
    size_t width, flat;
    double *kernel, *direction, *z, *moves; /* flat × width; width; unknowns; trials × width */
    size_t move_count, least_flat;
    double *member;
} exploration;

static double length_of(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum = hypot(sum, x[i]);
    return sum;
}

/* A random direction of the kernel, or one of its first vector's two; its largest component relative to z is 1. */
static void choose_direction(exploration *e, const double *z, size_t trial, uint64_t *seed) {
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

/* Whether there are equilibria at every distance from z, sought from the direction on; the way to the nearest is added to
 * the moves. */
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
        /* The next equilibrium is sought along the direction to this one. */
        for (size_t j = 0; j < e->width; j++) {
            size_t at = statics_place(s, j);
            e->direction[j] = (e->z[at] - z[at]) / distance;
        }
        if (k > 0) continue;
        size_t there = statics_kernel(s, e->z, kernel);
        if (there < e->least_flat || e->move_count == 0) {
            e->least_flat = there;
            memcpy(e->member, e->z, s->unknowns * sizeof *z);
        }
    }
    double *move = e->moves + e->move_count * e->width, length = length_of(e->direction, e->width);
    for (size_t j = 0; j < e->width; j++) move[j] = e->direction[j] / length;
    e->move_count++;
    return true;
}

/* Of the moves as many directions as differ, but no more than the kernel has where it is least: where there are more, families
 * meet at z. */
static void take_directions(exploration *e, family *f) {
    size_t count = 0;
    memcpy(e->s->work, e->moves, e->move_count * e->width * sizeof *e->moves);
    if (e->move_count == 0 || !statics_decompose(e->s, e->move_count, e->width, e->s->work)) return;
    while (count < e->width && e->s->singular[count] > APART) count++;
    memcpy(f->directions, e->s->vectors, count * e->width * sizeof *f->directions);
    f->meet = count > e->least_flat;
    f->dimension = f->meet ? e->least_flat : count;
}

/* Where families cross, equilibria are found along each, but not between them: a direction between those that were found
 * leads back to one of them. */
static bool fill_their_span(exploration *e, const double *z, const family *f) {
    uint64_t seed = 41;
    statics *s = e->s;
    for (int trial = 0; trial < COMBINATIONS && f->dimension > 1; trial++) {
        double dot = 0, distance = FARTHEST / (SHRINK * SHRINK), length;
        double *between = e->kernel; /* not needed any more */
        memset(between, 0, e->width * sizeof *between);
        for (size_t k = 0; k < f->dimension; k++) {
            double part = random_uniform(&seed, -1, 1);
            for (size_t j = 0; j < e->width; j++) between[j] += part * f->directions[k * e->width + j];
        }
        for (size_t j = 0; j < e->width; j++) e->direction[j] = between[j] / fmax(1, fabs(z[statics_place(s, j)]));
        length = length_of(e->direction, e->width); /* as the distance is measured */
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
        if (!found || dot < ALIGNED * moved * length_of(between, e->width)) return false;
    }
    return true;
}

void family_find(statics *s, const double *z, family *f) {
    exploration e = {.s = s, .width = statics_width(s), .member = f->member};
    uint64_t seed = 17;
    size_t most = e.width;
    double *room = calloc(2 * most * most + most + statics_most(s) + 1, sizeof *room);
    f->dimension = f->flat = 0;
    f->meet = f->inexact = false;
    if (!room) {
        s->starved = true;
        return;
    }
    e.kernel = room;
    e.direction = room + 2 * most * most;
    e.z = e.direction + most;
    f->flat = e.least_flat = e.flat = statics_kernel(s, z, e.kernel);
    size_t trials = e.flat == 1 ? 2 : 3 * e.flat + 1;
    e.moves = e.flat > 0 ? calloc(trials * most, sizeof *e.moves) : NULL;
    if (e.flat > 0 && !e.moves) s->starved = true;
    for (size_t trial = 0; trial < trials && e.moves; trial++) {
        choose_direction(&e, z, trial, &seed);
        if (!explore(&e, z) && trial > e.flat && e.move_count == 0) break;
    }
    if (e.moves) take_directions(&e, f);
    if (f->dimension > 0 && !fill_their_span(&e, z, f)) f->meet = true;
    f->inexact = f->flat > 0 && f->dimension == 0 && !statics_is_rounding(s, z);
    free(e.moves);
    free(room);
}

/* --- moving along a family -------------------------------------------------------------------------------------------- */

/* Of all directions that J takes to 0, at the point evaluated last, that whose coordinates are nearest to those of `toward`,
 * which has no multipliers: these follow at little cost. */
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

/* Families end where constraints lose their directions and multipliers grow without bound. */
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

/* --- accuracy --------------------------------------------------------------------------------------------------------- */

/* The distance along ±direction at which F leaves its rounding; `weight` bounds that at z. */
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

/* The distance from z at which an iteration ends that begins near z. */
static double spread(statics *s, const double *z, const double *direction, double sign, double *moved) {
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
    (void)statics_is_rounding(s, z); /* for its bounds */
    for (size_t k = 0; k < flat; k++) {
        const double *direction = kernel + k * s->n;
        double up = edge(s, z, direction, 1, moved), down = edge(s, z, direction, -1, moved), largest = 0;
        for (size_t j = 0; j < s->n; j++) {
            if (flat == 1 && up < 1e-3 && down < 1e-3) z[j] += (up - down) / 2 * direction[j];
            largest = fmax(largest, fabs(direction[j]) / fmax(1, fabs(z[j])));
        }
        worst = fmax(worst, (up + down) / 2 * largest);
        worst = fmax(worst, fmax(spread(s, z, direction, 1, moved), spread(s, z, direction, -1, moved)));
        (void)statics_is_rounding(s, z);
    }
    free(kernel);
    return worst;
}
