/* test_native_examples.c — machine code gives the same bits as the interpreter for the programs of all examples.
 *
 * Most of the points are random and far from the constraints. Other points are at ends of tables, outside the domains
 * of roots, and at kinks. NaNs are compared without their payload. */
#include "engine/model/model.h"
#include "tests/reference/example_model.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 20, MOST_SYMBOLS = 20000 };

static double random_value(uint64_t *seed) {
    static const double special[] = {0, -0.0, 1, -1, 0.5, 1e200, -1e200};
    uint64_t r = random_bits(seed);
    if (r % 10 == 0) return special[r / 10 % (sizeof special / sizeof *special)];
    return ldexp((double)(int64_t)r, -62); /* a number from -2 to 2 */
}

static bool same_bits(double x, double y) {
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static void values_of(const hamel_model *model, const program *p, const double *symbols, double *out) {
    double *w = calloc(program_workspace_doubles(p), sizeof *w);
    assert_non_null(w);
    program_inputs in;
    /* the kinds of symbols start at different offsets, so that their values differ */
    for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++) in.values[kind] = symbols + kind;
    in.values[SYMBOL_PARAMETER] = model->parameters;
    program_prepare(p, &in, w);
    program_evaluate(p, &in, w, out);
    free(w);
}

/* Computes tangents of all outputs with respect to one kind of symbols, in random directions with some zeros. */
static void tangents_of(const hamel_model *model, const program *p, int kind, const double *symbols, double *out) {
    static double directions[MOST_SYMBOLS];
    double *w = calloc(program_workspace_doubles(p), sizeof *w), *tw = calloc(program_tangent_doubles(p), sizeof *tw);
    assert_true(w && tw);
    program_inputs in, seeds = {{NULL}};
    for (int k = 0; k < SYMBOL_KIND_COUNT; k++) in.values[k] = symbols + k;
    in.values[SYMBOL_PARAMETER] = model->parameters;
    for (size_t i = 0; i < MOST_SYMBOLS; i++) directions[i] = i / PROGRAM_LANES % 3 == 2 ? 0 : symbols[i];
    seeds.values[kind] = directions;
    program_prepare(p, &in, w);
    program_tangent(p, &in, &seeds, w, tw, NULL, out);
    free(w);
    free(tw);
}

static void same_numbers(const char *name, const char *what, const double *out, const double *expected, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!same_bits(out[i], expected[i]))
            fail_msg("%s, %s, number %zu: %a, interpreted %a", name, what, i, out[i], expected[i]);
}

static void compare_tangents(const char *name, const hamel_model *interpreted, const hamel_model *native,
                             const double *symbols) {
    size_t count = program_output_count(native->dynamics.residual) * PROGRAM_LANES;
    double *expected = calloc(2 * count + 1, sizeof *expected), *out = expected + count;
    assert_non_null(expected);
    for (int kind = SYMBOL_COORDINATE; kind <= SYMBOL_VELOCITY; kind++) {
        tangents_of(interpreted, interpreted->dynamics.residual, kind, symbols, expected);
        tangents_of(native, native->dynamics.residual, kind, symbols, out);
        same_numbers(name, "tangents", out, expected, count);
    }
    free(expected);
}

/* Returns the number of compared outputs. */
static size_t compare(const char *name, const hamel_model *interpreted, const hamel_model *native, uint64_t *seed) {
    static double symbols[MOST_SYMBOLS];
    program *p[MODEL_RUN_PROGRAMS], *translated[MODEL_RUN_PROGRAMS];
    model_run_programs(interpreted, p);
    model_run_programs(native, translated);
    size_t compared = 0;
    for (int point = 0; point < POINTS; point++) {
        for (size_t i = 0; i < MOST_SYMBOLS; i++) symbols[i] = random_value(seed);
        for (size_t k = 0; k < MODEL_RUN_PROGRAMS; k++) {
            size_t count = p[k] ? program_output_count(p[k]) : 0;
            double *expected = calloc(2 * count + 1, sizeof *expected), *out = expected + count;
            assert_non_null(expected);
            if (p[k]) values_of(interpreted, p[k], symbols, expected);
            if (p[k]) values_of(native, translated[k], symbols, out);
            same_numbers(name, "values", out, expected, count);
            compared += count;
            free(expected);
        }
        compare_tangents(name, interpreted, native, symbols);
    }
    return compared;
}

static void every_example_evaluates_to_the_same_bits(void **state) {
    (void)state;
    uint64_t seed = 20240229;
    size_t compared = 0, examples = 0, translated = 0;
    for (; api_example_at(examples); examples++) {
        size_t i = examples;
        hamel_model *interpreted = example_model(api_example_at(i), HAMEL_JIT_OFF);
        hamel_model *native = example_model(api_example_at(i), HAMEL_JIT_ON);
        translated += native->native.size > 0;
        if (native->native.size) compared += compare(api_example_at(i)->name, interpreted, native, &seed);
        hamel_model_free(interpreted);
        hamel_model_free(native);
    }
    if (!translated) skip(); /* unsupported processor */
    assert_int_equal(translated, examples);
    assert_true(compared > POINTS * examples);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_example_evaluates_to_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
