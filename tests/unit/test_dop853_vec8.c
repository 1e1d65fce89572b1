/* test_dop853_vec8.c — steps, error estimate and dense output in eight lanes against a closed form. */
#include "engine/simulate/methods/dop853_vec8.h"

#include "engine/simulate/methods/dop853_control.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* y'' = −w² y, with a different w in each lane. The third component depends on time: y' = cos t. */
typedef struct oscillators {
    vec8 w;
} oscillators;

static int oscillate(void *context, const vec8 *t, const vec8 *y, vec8 *dy) {
    const oscillators *o = context;
    dy[0] = y[1];
    dy[1] = -o->w * o->w * y[0];
    for (int k = 0; k < VEC8_SIZE; k++) dy[2][k] = cos((*t)[k]);
    return 0;
}

enum { LENGTH = 3 };

static vec8 *create(dop853_vec8 *d, oscillators *o) {
    vec8 *memory = vec8_alloc(DOP853_VECTORS * LENGTH);
    assert_non_null(memory);
    *d = (dop853_vec8){.rates = oscillate, .context = o};
    dop853_vec8_init(d, LENGTH, memory);
    return memory;
}

/* Takes a step and evaluates the derivative at its end. */
static void step(dop853_vec8 *d) {
    assert_int_equal(dop853_vec8_try(d), 0);
    vec8 end = d->t + d->h;
    oscillate(d->context, &end, d->next, dop853_vec8_slope(d, DOP853_STAGES));
}

static double worst_after(dop853_vec8 *d, const oscillators *o, size_t steps, double *dense) {
    double worst = 0;
    vec8 part = {0}, seen[LENGTH];
    d->t = (vec8){0};
    for (int k = 0; k < VEC8_SIZE; k++) {
        d->h[k] = 2.0 / (double)steps;
        part[k] = 0.05 + 0.12 * k;
        d->y[0][k] = 0, d->y[1][k] = o->w[k], d->y[2][k] = 0;
    }
    *dense = 0;
    for (size_t i = 0; i < steps; i++) {
        oscillate((void *)(uintptr_t)o, &d->t, d->y, dop853_vec8_slope(d, 0));
        step(d);
        assert_int_equal(dop853_vec8_extend(d, &d->t), 0);
        dop853_vec8_interpolate(d, &part, seen);
        for (int k = 0; k < VEC8_SIZE; k++) {
            double t = d->t[k] + part[k] * d->h[k];
            *dense = fmax(*dense, fmax(fabs(seen[0][k] - sin(o->w[k] * t)), fabs(seen[2][k] - sin(t))));
        }
        for (size_t c = 0; c < LENGTH; c++) d->y[c] = d->next[c];
        d->t += d->h;
    }
    for (int k = 0; k < VEC8_SIZE; k++)
        worst = fmax(worst, fmax(fabs(d->y[0][k] - sin(2 * o->w[k])), fabs(d->y[2][k] - sin(2.0))));
    return worst;
}

static void errors_fall_with_the_eighth_power_of_the_step(void **state) {
    (void)state;
    oscillators o;
    dop853_vec8 d;
    double dense[2], coarse, fine;
    for (int k = 0; k < VEC8_SIZE; k++) o.w[k] = 2 + 0.5 * k;
    vec8 *memory = create(&d, &o);
    coarse = worst_after(&d, &o, 6, &dense[0]);
    fine = worst_after(&d, &o, 12, &dense[1]);
    /* As the step tends to 0, the ratio of the errors tends to 2^8 = 256 (order 8), or to 2^7 = 128 for the dense
     * output (order 7). The limits are lower, because the steps of the test are large. */
    assert_true(coarse < 1e-4 && coarse / fine > 150);
    assert_true(dense[0] / dense[1] > 75 && dense[1] < 1e-5);
    free(memory);
}

static void the_estimate_has_the_magnitude_of_the_error(void **state) {
    (void)state;
    oscillators o;
    dop853_vec8 d;
    vec8 fifth, third, weights[LENGTH];
    dop853_vec8_changes changes;
    double before = 0;
    vec8 *memory = create(&d, &o);
    for (int k = 0; k < VEC8_SIZE; k++) {
        o.w[k] = 1 + k;
        d.h[k] = 0.5;
        d.y[0][k] = 0, d.y[1][k] = o.w[k], d.y[2][k] = 0;
        for (size_t i = 0; i < LENGTH; i++) weights[i][k] = 1e6;
    }
    oscillate(&o, &d.t, d.y, dop853_vec8_slope(&d, 0));
    step(&d);
    dop853_vec8_errors(&d, weights, &fifth, &third);
    dop853_vec8_keep_change(&d);
    dop853_vec8_compare(&d, &changes);
    for (int k = 0; k < VEC8_SIZE; k++) {
        double error = dop853_error(d.h[k], sqrt(fifth[k] / LENGTH), sqrt(third[k] / LENGTH));
        double product = d.h[k] * sqrt(changes.rates[k] / changes.states[k]);
        double true_error = fabs(d.next[0][k] - sin(0.5 * o.w[k])) / 1e-6;
        /* the estimate is of lower order, so it must be larger than the error */
        if (k > 1) assert_true(error > true_error);
        assert_true(error > before);
        assert_true(product > 0.3 * 0.5 * o.w[k] && product < 3 * fmax(1, 0.5 * o.w[k] * o.w[k]));
        before = error;
    }
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_fall_with_the_eighth_power_of_the_step),
        cmocka_unit_test(the_estimate_has_the_magnitude_of_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
