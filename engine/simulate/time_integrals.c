/* time_integrals.c — adaptive quadrature in time by Gauss's and Kronrod's rules (time_integrals.h). */
#include "engine/simulate/time_integrals.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Points and weights of Kronrod's rule on [−1, 1] (Piessens et al., QUADPACK, 1983, routine qk15). The middle and the
 * points with odd index, ±POINT[1], ±POINT[3] and ±POINT[5], are the points of Gauss's rule. */
enum { PAIRS = 7, POINTS = 2 * PAIRS + 1 };
static const size_t MIDDLE = POINTS - 1; /* index of the row of w->points for the middle of the interval */
static const double POINT[PAIRS] = {0.99145537112081263921, 0.94910791234275852453, 0.86486442335976907279,
                                    0.74153118559939443986, 0.58608723546769113029, 0.40584515137739716691,
                                    0.20778495500789846760};
static const double KRONROD[PAIRS + 1] = {0.022935322010529224964, 0.063092092629978553291, 0.10479001032225018384,
                                          0.14065325971552591875,  0.16900472663926790283,  0.19035057806478540991,
                                          0.20443294007529889241,  0.20948214108472782801};
static const double GAUSS[PAIRS / 2 + 1] = {0.12948496616886969327, 0.27970539148927666790, 0.38183005050511894495,
                                            0.41795918367346938776};

/* LEVELS: maximum number of times that an interval is halved. The shortest interval is then 1e-12 of the step, which
 * bounds the error at a jump. MOST: maximum number of intervals in one step, 50 times the 80 intervals that a jump
 * needs. An integrand that needs more than MOST intervals varies thousands of times in one step. */
enum { LEVELS = 40, MOST = 4000 };

/* Factor from the largest of seven noise samples to a bound on the noise. A factor that is too large only ends the
 * halving earlier, at an error of NOISE_SAFETY times the noise. */
static const double NOISE_SAFETY = 10;

typedef struct interval {
    double from, to;
    int level;
} interval;

bool time_integrals_create(time_integrals *w, arena *memory, size_t count, double rtol, double start) {
    *w = (time_integrals){.count = count, .rtol = rtol, .t = start, .mark = start};
    w->sum = arena_doubles(memory, count);
    w->marked_sum = arena_doubles(memory, count);
    w->points = arena_doubles(memory, POINTS * count);
    w->part = arena_doubles(memory, count);
    w->size = arena_doubles(memory, count);
    w->noise = arena_doubles(memory, count);
    w->shifted = arena_doubles(memory, count);
    return !memory->failed;
}

/* Sets w->points to the values of the functions at the 15 points of an interval. Rows 2k and 2k + 1 belong to −POINT[k]
 * and POINT[k], and the last row to the middle. */
static hamel_status evaluate_points(const time_integrals *w, interval at, integrand_function *f, void *context,
                                    hamel_error *error) {
    double centre = 0.5 * (at.from + at.to), half = 0.5 * (at.to - at.from);
    hamel_status status = f(context, centre, 0, w->points + MIDDLE * w->count, error);
    for (int k = 0; k < 2 * PAIRS && status == HAMEL_OK; k++) {
        double x = k % 2 == 0 ? -POINT[k / 2] : POINT[k / 2];
        status = f(context, centre + half * x, 0, w->points + (size_t)k * w->count, error);
    }
    return status;
}

/* Estimates the rounding noise of the functions: an acceleration that is exactly 0, for example, is computed as noise.
 * Raises w->noise[i] to NOISE_SAFETY times the largest difference between two evaluations of function i with different
 * rounding errors. Call after evaluate_points. */
static hamel_status estimate_noise(const time_integrals *w, interval at, integrand_function *f, void *context,
                                   hamel_error *error) {
    for (size_t k = 0; k < PAIRS; k++) {
        double t = 0.5 * (at.from + at.to) - 0.5 * (at.to - at.from) * POINT[k];
        hamel_status status = f(context, t, (int)k + 1, w->shifted, error);
        if (status != HAMEL_OK) return status;
        for (size_t i = 0; i < w->count; i++)
            w->noise[i] = fmax(w->noise[i], NOISE_SAFETY * fabs(w->shifted[i] - w->points[2 * k * w->count + i]));
    }
    return HAMEL_OK;
}

/* Sets w->part[i] to the integral of function i by Kronrod's rule, and *size to the integral of its absolute value.
 * Returns the error estimate of QUADPACK's routine qk15, which approximates the error of Kronrod's rule. The estimate
 * is a power 1.5 of the scaled difference between the rules, but at least the rounding error. */
static double apply_rules(const time_integrals *w, size_t i, double half, double *size) {
    double middle = w->points[MIDDLE * w->count + i];
    double kronrod = KRONROD[PAIRS] * middle, gauss = GAUSS[PAIRS / 2] * middle,
           absolute = KRONROD[PAIRS] * fabs(middle);
    for (size_t k = 0; k < PAIRS; k++) {
        double left = w->points[2 * k * w->count + i], right = w->points[(2 * k + 1) * w->count + i];
        kronrod += KRONROD[k] * (left + right);
        absolute += KRONROD[k] * (fabs(left) + fabs(right));
        if (k % 2 == 1) gauss += GAUSS[k / 2] * (left + right);
    }
    double mean = 0.5 * kronrod, spread = KRONROD[PAIRS] * fabs(middle - mean);
    for (size_t k = 0; k < PAIRS; k++)
        spread += KRONROD[k] *
                  (fabs(w->points[2 * k * w->count + i] - mean) + fabs(w->points[(2 * k + 1) * w->count + i] - mean));
    w->part[i] = kronrod * half;
    *size = absolute * half;
    double error = fabs(kronrod - gauss);
    if (spread > 0) error = spread * fmin(1, pow(200 * error / spread, 1.5));
    return half * fmax(error, 50 * DBL_EPSILON * absolute);
}

static hamel_status fail_too_fast(double t, hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INTEGRATION, "", 0,
                     "near t = %.9g an integrand varies too fast to be integrated over one step", t);
    hamel_suggest(error, "set a small simulation.max_step, or remove the integral");
    return HAMEL_INTEGRATION;
}

/* Applies both rules to an interval. If `first` is true, the interval is the whole step, whose integrals of absolute
 * values are stored in w->size. Returns true if the error estimates of all functions are within their bounds. */
static bool agrees(const time_integrals *w, interval at, bool first) {
    bool good = true;
    for (size_t i = 0; i < w->count; i++) {
        double size, length = at.to - at.from, estimate = apply_rules(w, i, 0.5 * length, &size);
        if (first) w->size[i] = size;
        if (!(estimate <= w->rtol * w->size[i] + w->noise[i] * length)) good = false;
    }
    return good;
}

hamel_status time_integrals_to(const time_integrals *w, double to, integrand_function *f, void *context, double *total,
                               hamel_error *error) {
    interval open[LEVELS + 2];
    size_t depth = 0;
    memcpy(total, w->sum, w->count * sizeof *total);
    memset(w->noise, 0, w->count * sizeof *w->noise);
    if (w->count == 0 || !(to > w->t)) return HAMEL_OK;
    open[depth++] = (interval){w->t, to, 0};
    for (int number = 0; depth > 0; number++) {
        interval at = open[--depth];
        double middle = 0.5 * (at.from + at.to);
        if (number == MOST) return fail_too_fast(at.from, error);
        hamel_status status = evaluate_points(w, at, f, context, error);
        bool good = status == HAMEL_OK && agrees(w, at, number == 0);
        if (status == HAMEL_OK && !good) {
            status = estimate_noise(w, at, f, context, error);
            good = status == HAMEL_OK && agrees(w, at, number == 0);
        }
        if (status != HAMEL_OK) return status;
        if (good || at.level >= LEVELS || middle <= at.from || middle >= at.to) {
            for (size_t i = 0; i < w->count; i++) total[i] += w->part[i];
            continue;
        }
        assert(depth + 2 <= LEVELS + 2);
        open[depth++] = (interval){middle, at.to, at.level + 1};
        open[depth++] = (interval){at.from, middle, at.level + 1};
    }
    return HAMEL_OK;
}

void time_integrals_advance(time_integrals *w, double t, const double *total) {
    assert(t >= w->t);
    w->t = t;
    memcpy(w->sum, total, w->count * sizeof *total);
}

void time_integrals_mark(time_integrals *w) {
    w->mark = w->t;
    memcpy(w->marked_sum, w->sum, w->count * sizeof *w->sum);
}

void time_integrals_rewind(time_integrals *w) {
    w->t = w->mark;
    memcpy(w->sum, w->marked_sum, w->count * sizeof *w->sum);
}
