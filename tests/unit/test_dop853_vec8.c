/* test_dormand_prince.c — steps, error estimate and dense output of eight members against a motion in closed form. */
#include "engine/simulate/dormand_prince.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* y'' = −w² y for a w of each member; the forced part makes time matter: y' of the third is cos t. */
typedef struct oscillators {
    octet w;
} oscillators;

static void oscillate(void *context, const octet *t, const octet *y, octet *dy) {
    const oscillators *o = context;
    dy[0] = y[1];
    dy[1] = -o->w * o->w * y[0];
    for (int k = 0; k < OCTET; k++) dy[2][k] = cos((*t)[k]);
}

enum { LENGTH = 3 };

static double worst_after(dormand_prince *d, const oscillators *o, size_t steps, double *dense) {
    double worst = 0;
    octet part = {0}, seen[LENGTH];
    d->t = (octet){0};
    for (int k = 0; k < OCTET; k++) {
        d->h[k] = 2.0 / (double)steps;
        part[k] = 0.05 + 0.12 * k;
        d->y[0][k] = 0, d->y[1][k] = o->w[k], d->y[2][k] = 0;
    }
    *dense = 0;
    for (size_t i = 0; i < steps; i++) {
        oscillate((void *)(uintptr_t)o, &d->t, d->y, dp_slope(d, 0));
        dp_try(d);
        dp_open_dense(d);
        dp_interpolate(d, &part, seen);
        for (int k = 0; k < OCTET; k++) {
            double t = d->t[k] + part[k] * d->h[k];
            *dense = fmax(*dense, fmax(fabs(seen[0][k] - sin(o->w[k] * t)), fabs(seen[2][k] - sin(t))));
        }
        for (size_t c = 0; c < LENGTH; c++) d->y[c] = d->next[c];
        d->t += d->h;
    }
    for (int k = 0; k < OCTET; k++)
        worst = fmax(worst, fmax(fabs(d->y[0][k] - sin(2 * o->w[k])), fabs(d->y[2][k] - sin(2.0))));
    return worst;
}

static void errors_fall_with_the_eighth_power_of_the_step(void **state) {
    (void)state;
    oscillators o;
    dormand_prince d;
    double dense[2], coarse, fine;
    for (int k = 0; k < OCTET; k++) o.w[k] = 2 + 0.5 * k;
    assert_true(dp_create(&d, LENGTH, oscillate, &o));
    coarse = worst_after(&d, &o, 6, &dense[0]);
    fine = worst_after(&d, &o, 12, &dense[1]);
    assert_true(coarse < 1e-4 && coarse / fine > 150);        /* 2^8 = 256 in the limit */
    assert_true(dense[0] / dense[1] > 75 && dense[1] < 1e-5); /* of order 7: 2^7 */
    dp_free(&d);
}

static void the_estimate_is_of_the_size_of_the_error(void **state) {
    (void)state;
    oscillators o;
    dormand_prince d;
    const double atol[LENGTH] = {1e-6, 1e-6, 1e-6};
    octet error, product;
    assert_true(dp_create(&d, LENGTH, oscillate, &o));
    for (int k = 0; k < OCTET; k++) {
        o.w[k] = 1 + k;
        d.h[k] = 0.5;
        d.y[0][k] = 0, d.y[1][k] = o.w[k], d.y[2][k] = 0;
    }
    oscillate(&o, &d.t, d.y, dp_slope(&d, 0));
    dp_try(&d);
    dp_error(&d, 0, atol, &error);
    dp_stiffness(&d, &product);
    for (int k = 0; k < OCTET; k++) {
        double true_error = fabs(d.next[0][k] - sin(0.5 * o.w[k])) / 1e-6;
        if (k > 1) assert_true(error[k] > true_error); /* the estimate is of a lower order: it errs on the safe side */
        if (k > 0) assert_true(error[k] > error[k - 1]);
        assert_true(product[k] > 0.3 * 0.5 * o.w[k] && product[k] < 3 * fmax(1, 0.5 * o.w[k] * o.w[k]));
    }
    dp_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_fall_with_the_eighth_power_of_the_step),
        cmocka_unit_test(the_estimate_is_of_the_size_of_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
