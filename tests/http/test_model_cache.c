/* test_model_cache.c — equal descriptions are derived once, both in sequence and concurrently. Also tests the memory
 * limit, and the entries for the cache in the run summary and the metrics. */
#include "server/model_cache.h"

#include "tests/http/daemon.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static api_limits limits;
static metrics counters;
static atomic_bool never;
static cpu_slots slots;

enum { SLOTS = 2 };

static budget budget_until(const atomic_bool *cancel) {
    static const budget_limits none;
    budget b;
    budget_open(&b, &slots, NULL, cancel, &none, 0);
    budget_begin(&b);
    return b;
}

static const char *system_with(char *out, size_t room, double stiffness, const char *blank) {
    snprintf(out, room,
             "{\"hamel\":1,%s\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"kinetic_energy\":\"x'^2/2\",%s"
             "\"potential_energy\":\"%g*x^2/2\",\"simulation\":{\"stop\":1,\"samples\":3}}",
             blank, blank, stiffness);
    return out;
}

static model_lease taken(model_cache *c, const char *body) {
    model_lease lease;
    api_failure failure = {0};
    budget b = budget_until(&never);
    bool good = model_cache_take(c, body, strlen(body), &b, "test", &lease, &failure);
    if (!good) print_error("%s\n", failure.text);
    assert_true(good);
    return lease;
}

static int set_up(void **state) {
    (void)state;
    limits = api_limits_default();
    cpu_slots_init(&slots, SLOTS);
    return 0;
}

static void an_equal_description_gives_the_same_model(void **state) {
    (void)state;
    char one[512], other[512], another[512];
    model_cache *c = model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 24});
    model_lease first = taken(c, system_with(one, sizeof one, 2, ""));
    model_lease again = taken(c, one);
    model_lease spaced = taken(c, system_with(other, sizeof other, 2, " \n "));
    model_lease spaced_again = taken(c, other); /* the cache finds these bytes without parsing them */
    model_lease different = taken(c, system_with(another, sizeof another, 3, ""));
    assert_false(first.known);
    assert_true(again.known && spaced.known && spaced_again.known);
    assert_true(first.model == again.model && first.model == spaced.model && first.model == spaced_again.model);
    assert_true(!different.known && different.model != first.model);
    assert_int_equal(model_cache_size(c).models, 2);
    model_lease *all[] = {&first, &again, &spaced, &spaced_again, &different};
    for (size_t k = 0; k < 5; k++) model_cache_release(c, all[k]);
    assert_int_equal(model_cache_size(c).models, 2);
    model_cache_close(c);
}

static void memory_is_limited_and_used_models_are_kept(void **state) {
    (void)state;
    char text[512];
    model_cache *measure = model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 24});
    model_lease lease = taken(measure, system_with(text, sizeof text, 1, ""));
    size_t bytes = model_cache_size(measure).bytes;
    assert_true(bytes > 1000);
    model_cache_release(measure, &lease);
    model_cache_close(measure);

    model_cache *c = model_cache_open(&limits, &counters, &(model_bounds){.kept = 3 * bytes + bytes / 2});
    model_lease held = taken(c, system_with(text, sizeof text, 1, ""));
    for (int k = 2; k < 20; k++) {
        lease = taken(c, system_with(text, sizeof text, k, ""));
        model_cache_release(c, &lease);
        assert_true(model_cache_size(c).bytes <= 4 * bytes);
    }
    lease = taken(c, system_with(text, sizeof text, 1, ""));
    assert_true(lease.known && lease.model == held.model);
    model_cache_release(c, &lease);
    model_cache_release(c, &held);
    lease = taken(c, system_with(text, sizeof text, 19, "")); /* the newest model is cached, but an old model is not */
    assert_true(lease.known);
    model_cache_release(c, &lease);
    lease = taken(c, system_with(text, sizeof text, 2, ""));
    assert_false(lease.known);
    model_cache_release(c, &lease);
    model_cache_close(c);

    c = model_cache_open(&limits, &counters, &(model_bounds){.kept = 0});
    lease = taken(c, text);
    model_cache_release(c, &lease);
    assert_int_equal(model_cache_size(c).models, 0);
    model_cache_close(c);
}

static token_owner ann = {.name = "ann", .lock = PTHREAD_MUTEX_INITIALIZER},
                   bob = {.name = "bob", .lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the status of the response if the request is rejected, otherwise 0. */
static int take_as(model_cache *c, token_owner *owner, bool is_job, double stiffness, model_lease *lease) {
    char text[512];
    api_failure failure = {0};
    budget b = budget_until(&never);
    b.owner = owner;
    b.is_job = is_job;
    system_with(text, sizeof text, stiffness, "");
    bool good = model_cache_take(c, text, strlen(text), &b, "test", lease, &failure);
    budget_close(&b);
    cJSON_Delete(failure.problem);
    free(failure.text);
    return good ? 0 : failure.http;
}

static void models_in_use_are_limited_with_a_reserve_for_other_owners(void **state) {
    (void)state;
    model_cache *measure = model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 24});
    model_lease leases[6], none;
    assert_int_equal(take_as(measure, &ann, false, 1, &leases[0]), 0);
    size_t bytes = model_cache_size(measure).used_bytes;
    assert_int_equal(bytes, ann.model_bytes);
    model_cache_release(measure, &leases[0]);
    assert_int_equal(ann.model_bytes, 0);
    model_cache_close(measure);

    model_cache *c =
        model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 24, .used = 5 * bytes + bytes / 2});
    for (size_t k = 0; k < 3; k++) assert_int_equal(take_as(c, &ann, false, 1 + (double)k, &leases[k]), 0);
    assert_int_equal(take_as(c, &ann, false, 4, &none), 503);
    assert_int_equal(take_as(c, &bob, false, 5, &leases[3]), 0);
    assert_int_equal(take_as(c, &bob, false, 1, &leases[4]), 0); /* the model is already cached and charged to ann */
    assert_int_equal(take_as(c, &ann, true, 6, &leases[5]), 0);  /* the limit does not apply to jobs */
    for (size_t k = 0; k < 6; k++) model_cache_release(c, &leases[k]);
    assert_int_equal(model_cache_size(c).used_bytes + ann.model_bytes + bob.model_bytes, 0);
    assert_int_equal(take_as(c, &ann, false, 4, &none), 0);
    model_cache_release(c, &none);
    model_cache_close(c);
}

typedef struct line {
    model_cache *cache;
    atomic_int started;
    atomic_bool ended;
} line;

static void *derive_many(void *context) {
    line *l = context;
    while (!atomic_load(&l->ended)) {
        model_lease lease;
        assert_int_equal(take_as(l->cache, &ann, false, 100 + atomic_fetch_add(&l->started, 1), &lease), 0);
        model_cache_release(l->cache, &lease);
    }
    return NULL;
}

/* Derivations share the CPU slots, but each derivation uses its memory until its end. The cache therefore limits the
 * number of simultaneous derivations. */
static void the_number_of_simultaneous_derivations_is_limited(void **state) {
    (void)state;
    enum { THREADS = 8, LOOKS = 2000 };
    pthread_t threads[THREADS];
    line all = {.cache = model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 24, .derivations = 4})};
    size_t most = 0;
    for (size_t k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&threads[k], NULL, derive_many, &all), 0);
    for (int seen = 0; seen < LOOKS;) {
        size_t now = model_cache_size(all.cache).derivations;
        seen += now > 0;
        if (now > most) most = now;
    }
    atomic_store(&all.ended, true);
    for (size_t k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    assert_in_range(most, 1, 2);
    assert_int_equal(ann.derivations, 0);
    model_cache_close(all.cache);
}

static void errors_are_reported_to_each_caller_and_not_cached(void **state) {
    (void)state;
    static const char *const bad[] = {"{", "{\"hamel\":1}", ""};
    model_cache *c = model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 24});
    for (size_t k = 0; k < 6; k++) {
        model_lease lease;
        api_failure failure = {0};
        budget b = budget_until(&never);
        assert_false(model_cache_take(c, bad[k / 2], strlen(bad[k / 2]), &b, "test", &lease, &failure));
        assert_true(failure.http >= 400 && failure.problem);
        assert_null(lease.model);
        api_failure_clear(&failure);
    }
    assert_int_equal(model_cache_size(c).models, 0);
    model_cache_close(c);
}

/* ---- many threads ---- */

enum { THREADS = 8, ROUNDS = 200 };

typedef struct crowd {
    model_cache *cache;
    atomic_int derived, failed;
} crowd;

/* Some requests are canceled while they wait for a model. */
static void *take_many(void *context) {
    crowd *all = context;
    char text[512];
    for (int k = 0; k < ROUNDS; k++) {
        atomic_bool impatient;
        model_lease lease;
        api_failure failure = {0};
        atomic_init(&impatient, k % 7 == 0);
        system_with(text, sizeof text, 1 + k % 10, "");
        budget b = budget_until(&impatient);
        budget_take_slot(&b);
        bool good = model_cache_take(all->cache, text, strlen(text), &b, "test", &lease, &failure);
        budget_close(&b);
        if (good && !lease.known) atomic_fetch_add(&all->derived, 1);
        if (!good) atomic_fetch_add(&all->failed, 1);
        model_cache_release(all->cache, &lease);
        api_failure_clear(&failure);
    }
    return NULL;
}

static void many_threads_derive_each_system_once(void **state) {
    (void)state;
    crowd all = {.cache = model_cache_open(&limits, &counters, &(model_bounds){.kept = 1 << 26})};
    pthread_t threads[THREADS];
    for (size_t k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&threads[k], NULL, take_many, &all), 0);
    for (size_t k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    assert_int_equal(atomic_load(&all.derived), 10);
    assert_true(atomic_load(&all.failed) <= THREADS * (ROUNDS / 7 + 1)); /* only canceled requests fail */
    assert_int_equal(model_cache_size(all.cache).models, 10);
    model_cache_close(all.cache);
}

/* ---- in the daemon ---- */

static double derive_seconds(const test_daemon *d, const char *system) {
    cJSON *found = ask_json(d, "POST", "/v1/checks", json_type, system, 200);
    double seconds = json_number_of(cJSON_GetObjectItemCaseSensitive(found, "summary"), "derive_seconds");
    cJSON_Delete(found);
    return seconds;
}

static void the_second_request_does_not_derive(void **state) {
    (void)state;
    char system[512];
    test_daemon d;
    daemon_start(&d, NULL);
    system_with(system, sizeof system, 5, "");
    assert_true(derive_seconds(&d, system) > 0);
    assert_true(derive_seconds(&d, system) == 0);
    char *id = submit(&d, system);
    wait_for_status(&d, id, "completed");
    answer a = ask(&d, "GET", "/metrics", NULL, NULL);
    assert_non_null(strstr(a.body, "\nhamel_cache_models 1\n"));
    assert_non_null(strstr(a.body, "\nhamel_cache_misses_total 1\n"));
    assert_non_null(strstr(a.body, "\nhamel_cache_hits_total 3\n"));
    answer_clear(&a);
    free(id);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_description_gives_the_same_model),
        cmocka_unit_test(memory_is_limited_and_used_models_are_kept),
        cmocka_unit_test(models_in_use_are_limited_with_a_reserve_for_other_owners),
        cmocka_unit_test(the_number_of_simultaneous_derivations_is_limited),
        cmocka_unit_test(errors_are_reported_to_each_caller_and_not_cached),
        cmocka_unit_test(many_threads_derive_each_system_once),
        cmocka_unit_test(the_second_request_does_not_derive),
    };
    return cmocka_run_group_tests_name("model_cache", tests, set_up, NULL);
}
