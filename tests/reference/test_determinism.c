/* test_determinism.c — the bytes of a result depend only on the description.
 *
 * Each example is run by the interpreter, with the evaluator that `auto` selects, and by machine code in concurrent
 * threads that share one model. All runs must have the same bits in every row and the same number of steps. */

#include "tests/reference/example_model.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 2 };

typedef struct record {
    const hamel_model *model;
    hamel_status status;
    uint64_t bits; /* FNV-1a hash of all rows */
    size_t rows;
    long steps, evaluations;
} record;

static bool take_row(void *context, const double *values, size_t count) {
    record *r = context;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < 64; k += 8) r->bits = (r->bits ^ ((bits >> k) & 0xff)) * 0x100000001b3u;
    }
    r->rows++;
    return true;
}

static void *run(void *context) {
    record *r = context;
    hamel_sink sink = {.context = r, .row = take_row};
    hamel_error error = {0};
    hamel_summary s;
    r->bits = 0xcbf29ce484222325u;
    r->status = hamel_run(r->model, NULL, &sink, &s, &error);
    r->steps = s.steps;
    r->evaluations = s.rhs_evaluations;
    hamel_summary_free(&s);
    hamel_error_clear(&error);
    return NULL;
}

static void compare(const char *name, const char *how, const record *r, const record *expected) {
    if (r->status != HAMEL_OK) fail_msg("%s %s fails", name, how);
    if (r->bits != expected->bits || r->rows != expected->rows)
        fail_msg("%s %s: the rows differ from those of the interpreter", name, how);
    if (r->steps != expected->steps || r->evaluations != expected->evaluations)
        fail_msg("%s %s: the steps differ from those of the interpreter", name, how);
}

static record run_by(const api_example *example, hamel_jit jit) {
    hamel_model *model = example_model(example, jit);
    record r = {.model = model};
    (void)run(&r);
    hamel_model_free(model);
    return r;
}

static void compare_threads(const api_example *example, const record *expected) {
    hamel_model *model = example_model(example, HAMEL_JIT_ON);
    record all[THREADS];
    pthread_t threads[THREADS];
    for (size_t k = 0; k < THREADS; k++) {
        all[k] = (record){.model = model};
        assert_int_equal(pthread_create(&threads[k], NULL, run, &all[k]), 0);
    }
    for (size_t k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (size_t k = 0; k < THREADS; k++) compare(example->name, "in concurrent threads", &all[k], expected);
    hamel_model_free(model);
}

static void every_example_gives_the_same_bits_in_every_mode(void **state) {
    (void)state;
    size_t examples = 0;
    for (const api_example *e; (e = api_example_at(examples)); examples++) {
        record interpreted = run_by(e, HAMEL_JIT_OFF), chosen = run_by(e, HAMEL_JIT_AUTO);
        if (interpreted.status != HAMEL_OK) fail_msg("%s fails", e->name);
        compare(e->name, "with --jit auto", &chosen, &interpreted);
        compare_threads(e, &interpreted);
    }
    assert_true(examples > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_example_gives_the_same_bits_in_every_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
