/* bench_precision.c — work-precision diagrams of systems with closed forms. Prints errors, steps and times over five
 * decades of tolerance, and a plot of all errors.
 *
 * bench_precision [method ...] */
#include "tests/bench/contest.h"
#include "tests/reference/precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 26, ROUNDS = 5, HIGH = -3, LOW = -14, COLUMN = 9 };

typedef struct curve {
    const char *name;
    precision_run points[PRECISION_POINTS];
} curve;

static void measure(const cJSON *c, const char *method, curve *out) {
    out->name = cJSON_GetObjectItemCaseSensitive(c, "name")->valuestring;
    for (size_t k = 0; k < PRECISION_POINTS; k++) {
        double seconds[ROUNDS];
        for (size_t round = 0; round < ROUNDS; round++) {
            require(precision_measure(c, method, precision_tolerance(k), &out->points[k]), out->name);
            seconds[round] = out->points[k].seconds;
        }
        out->points[k].seconds = median(seconds, ROUNDS);
    }
}

static void print_table(const curve *curves, size_t count) {
    printf("%-38s", "tolerance");
    for (size_t k = 0; k < PRECISION_POINTS; k++) printf("  %18.0e", precision_tolerance(k));
    printf("\n%-38s", "");
    for (size_t k = 0; k < PRECISION_POINTS; k++) printf("     error steps  us");
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        printf("%c %-36.36s", (char)('a' + i), curves[i].name);
        for (size_t k = 0; k < PRECISION_POINTS; k++) {
            const precision_run *p = &curves[i].points[k];
            printf("  %8.1e %4.0f %4.0f", p->error, p->steps, 1e6 * p->seconds);
        }
        printf("\n");
    }
}

/* Rows are decades of the error and columns are tolerances; + marks an error equal to the tolerance. */
static void print_plot(const curve *curves, size_t count) {
    printf("\nerror\n");
    for (int decade = HIGH; decade >= LOW; decade--) {
        printf("1e%03d |", decade);
        for (size_t k = 0; k < PRECISION_POINTS; k++) {
            int used = 0;
            if (decade == (int)lround(log10(precision_tolerance(k)))) used += printf("+");
            for (size_t i = 0; i < count; i++) {
                double error = fmax(curves[i].points[k].error, 1e-300);
                if ((int)lround(fmax(log10(error), LOW)) == decade) used += printf("%c", (char)('a' + i));
            }
            printf("%*s", used < COLUMN + 4 ? COLUMN + 4 - used : 1, "");
        }
        printf("\n");
    }
    printf("      +");
    for (size_t k = 0; k < PRECISION_POINTS; k++) printf("%-*.0e", COLUMN + 4, precision_tolerance(k));
    printf(" tolerance\n");
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"adams", "bdf", "erk"};
    const char *const *methods = argc > 1 ? (const char *const *)argv + 1 : usual;
    int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    cJSON *cases = precision_cases();
    require(cases != NULL && cJSON_GetArraySize(cases) <= MOST,
            "cannot read tests/reference/precision.json, or it has too many cases");
    for (int m = 0; m < count; m++) {
        curve curves[MOST];
        size_t n = 0;
        const cJSON *c;
        cJSON_ArrayForEach(c, cases) {
            measure(c, methods[m], &curves[n++]);
        }
        printf("%s%s; processor time without derivation, median of %d\n\n", m ? "\n" : "", methods[m], ROUNDS);
        print_table(curves, n);
        print_plot(curves, n);
    }
    cJSON_Delete(cases);
    return 0;
}
