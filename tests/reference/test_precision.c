/* test_precision.c — for systems with closed forms, the error decreases with the tolerance over five decades, with
 * every method.
 *
 * The tolerance bounds the error of a step relative to the size of the variables. Along the run these errors add up to
 * at most tolerance × size × span, where `size` includes the angular rates. The step size, and therefore the error, is
 * not a continuous function of the tolerance. So over five decades of tolerance, each error must decrease by at least
 * two decades. The geometric mean of all errors must decrease by four decades. These limits leave three decades and one
 * decade for the irregular errors. */
#include "tests/reference/precision.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const methods[] = {"auto", "adams", "bdf", "erk"};
static const double LEAST_FALL = 1e-2, MEAN_FALL = 1e-4;

static double number(const cJSON *c, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(c, key)->valuedouble;
}

/* Returns the error at the tightest tolerance divided by the error at the loosest one. */
static double fall(const cJSON *c, const char *method) {
    const char *name = cJSON_GetObjectItemCaseSensitive(c, "name")->valuestring;
    double allowed = number(c, "size") * number(c, "stop"), first = 0, last = 0;
    for (size_t k = 0; k < PRECISION_POINTS; k++) {
        precision_run run;
        if (!precision_measure(c, method, precision_tolerance(k), &run)) fail_msg("%s by %s fails", name, method);
        if (!(run.error <= allowed * precision_tolerance(k)))
            fail_msg("%s by %s at %g: error %.3g, allowed %.3g", name, method, precision_tolerance(k), run.error,
                     allowed * precision_tolerance(k));
        if (k == 0) first = run.error;
        last = run.error;
    }
    if (!(last <= LEAST_FALL * first))
        fail_msg("%s by %s: the error decreases only from %.3g to %.3g", name, method, first, last);
    return last / first;
}

static void errors_decrease_with_the_tolerance(void **state) {
    (void)state;
    cJSON *cases = precision_cases();
    assert_non_null(cases);
    assert_true(cJSON_GetArraySize(cases) >= 10);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        const cJSON *c;
        double sum = 0;
        cJSON_ArrayForEach(c, cases) sum += log(fall(c, methods[m]));
        if (!(exp(sum / cJSON_GetArraySize(cases)) <= MEAN_FALL))
            fail_msg("%s: the mean error decreases only by the factor %.2g", methods[m],
                     exp(sum / cJSON_GetArraySize(cases)));
    }
    cJSON_Delete(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_decrease_with_the_tolerance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
