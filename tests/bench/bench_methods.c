/* bench_methods.c — the CPU time of each integration method for a given error.
 *
 * Runs each description with every method at tolerances that decrease by half decades. The errors are relative to a run
 * at the tightest tolerance. For the loosest sufficient tolerance, repeats the run and prints the shortest time,
 * without derivation and output. The constants by which `auto` selects a method come from these times.
 *
 * bench_methods [FILE...] default: the systems of baselines.h */
#include "api/simulate.h"
#include "tests/bench/baselines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = 4, TARGETS = 2, REPEATS = 5 };
static const char *const methods[METHODS] = {"adams", "bdf", "erk", "auto"};
static const double targets[TARGETS] = {1e-5, 1e-8}; /* relative to the largest absolute value of a column, or to 1 */
static const double LOOSEST = 1e-3, TIGHTEST = 1e-13, PATIENCE = 5;

typedef struct record {
    size_t columns, rows, capacity;
    double *values;
} record;

static char *read_file(const char *name) {
    FILE *file = fopen(name, "rb");
    char *text = calloc(1, 1 << 20);
    if (file && text && fread(text, 1, (1 << 20) - 1, file) == 0) text[0] = 0;
    if (file) fclose(file);
    return text;
}

static hamel_model *derive(const char *text, const char *method, double rtol) {
    char chosen[40], relative[40], absolute[40], patience[60];
    snprintf(chosen, sizeof chosen, "simulation.method=%s", method);
    snprintf(relative, sizeof relative, "simulation.rtol=%g", rtol);
    snprintf(absolute, sizeof absolute, "simulation.atol=%g", rtol * 1e-2);
    snprintf(patience, sizeof patience, "simulation.time_limit=%g", PATIENCE);
    const char *assignments[] = {chosen, relative, absolute, patience};
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model = api_prepare(text, strlen(text), assignments, 4, &limits, NULL, "bench", &failure);
    api_failure_clear(&failure);
    return model;
}

static bool take_row(void *context, const double *values, size_t count) {
    record *out = context;
    if (out->capacity < (out->rows + 1) * count) {
        out->capacity = 2 * (out->rows + 1) * count;
        out->values = realloc(out->values, out->capacity * sizeof *values);
        if (!out->values) return false;
    }
    out->columns = count;
    memcpy(out->values + out->rows++ * count, values, count * sizeof *values);
    return true;
}

/* Returns false if the run fails. */
static bool run(const hamel_model *model, record *out, hamel_summary *summary) {
    hamel_error error = {0};
    hamel_sink sink = {.context = out, .row = take_row};
    out->rows = 0;
    hamel_status status = hamel_run(model, NULL, &sink, summary, &error);
    bool good = status == HAMEL_OK && summary->outcome != HAMEL_INCOMPLETE;
    hamel_error_clear(&error);
    return good;
}

/* Returns the largest error of a coordinate or velocity. */
static double error_of(const record *one, const record *other, size_t n) {
    double worst = 0;
    if (one->rows != other->rows) return INFINITY;
    for (size_t c = 1; c <= 2 * n && c < one->columns; c++) {
        double scale = 1, most = 0;
        for (size_t r = 0; r < one->rows; r++) {
            double x = one->values[r * one->columns + c], y = other->values[r * other->columns + c];
            scale = fmax(scale, fabs(y));
            most = fmax(most, fabs(x - y));
        }
        worst = fmax(worst, most / scale);
    }
    return worst;
}

/* Prints time and statistics of the run with the loosest tolerance whose error is at most `target`. */
static void measure(const char *text, const char *method, double target, const record *reference, record *scratch) {
    for (double rtol = LOOSEST; rtol > TIGHTEST; rtol *= 0.31622776601683794) {
        hamel_summary s = {0};
        hamel_model *model = derive(text, method, rtol);
        if (!model) break;
        bool good = run(model, scratch, &s);
        double error = good ? error_of(scratch, reference, s.coordinate_count) : INFINITY, least = INFINITY;
        for (int k = 0; error <= target && k < REPEATS; k++) {
            hamel_summary_free(&s);
            double begin = processor_time();
            (void)run(model, scratch, &s);
            least = fmin(least, processor_time() - begin);
        }
        if (error <= target)
            printf(" | %-9s %7.0f us %6ld rhs %5ld steps rtol %.0e", s.method, 1e6 * least, s.rhs_evaluations, s.steps,
                   rtol);
        hamel_summary_free(&s);
        hamel_model_free(model);
        if (error <= target) return;
    }
    printf(" | %-9s       -", method);
}

/* Computes the reference with one method, or with a second one if the first fails. */
static bool find_reference(const char *text, record *reference, hamel_summary *s) {
    for (size_t k = 0; k < 2; k++) {
        hamel_model *model = derive(text, methods[k], TIGHTEST);
        bool good = model && run(model, reference, s);
        hamel_model_free(model);
        if (good) return true;
        hamel_summary_free(s);
        *s = (hamel_summary){0};
    }
    return false;
}

static void compare(const char *name, const char *text) {
    record reference = {0}, scratch = {0};
    hamel_summary s = {0};
    const char *base = strrchr(name, '/');
    bool found = find_reference(text, &reference, &s);
    for (size_t t = 0; found && t < TARGETS; t++) {
        printf("%-44.44s %.0e n=%zu m=%zu", base ? base + 1 : name, targets[t], s.coordinate_count,
               s.coordinate_count - (size_t)s.degrees_of_freedom);
        for (size_t k = 0; k < METHODS; k++) measure(text, methods[k], targets[t], &reference, &scratch);
        printf("\n");
        fflush(stdout);
    }
    if (!found) printf("%-44.44s no reference within %g s\n", base ? base + 1 : name, PATIENCE);
    hamel_summary_free(&s);
    free(reference.values), free(scratch.values);
}

int main(int count, char **names) {
    for (size_t k = 0; count < 2 && k < baseline_count; k++) compare(baselines[k].name, baselines[k].description);
    for (int i = 1; i < count; i++) {
        char *text = read_file(names[i]);
        if (text) compare(names[i], text);
        free(text);
    }
    return 0;
}
