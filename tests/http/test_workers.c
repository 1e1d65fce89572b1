/* test_workers.c — workers with a fake store, whose functions the test controls. */
#include "server/jobs/workers.h"

#include "server/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Time in seconds after which the fake store abandons a claim. A passing test does not reach this time. A shorter time
 * could fail tests on a slow machine, and a longer time would delay the report of a failure. */
#define CLAIM_SECONDS 5.0
enum { JOB = 7 };

/* The fake store's behavior and observed calls, guarded by the lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool claiming, may_return, gave_up, has_job, deleted;
    store_listener listener;
    bool ended;
    job_status end;
} fake;

static void wait_for(const bool *flag) {
    struct timespec until = clock_deadline(60);
    pthread_mutex_lock(&fake.lock);
    while (!*flag) assert_int_equal(pthread_cond_timedwait(&fake.changed, &fake.lock, &until), 0);
    pthread_mutex_unlock(&fake.lock);
}

static void set(bool *flag) {
    pthread_mutex_lock(&fake.lock);
    *flag = true;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

static store_status fake_claim(store *s, job_claim *claim) {
    (void)s;
    struct timespec until = clock_deadline(CLAIM_SECONDS);
    pthread_mutex_lock(&fake.lock);
    fake.claiming = true;
    pthread_cond_broadcast(&fake.changed);
    while (!fake.may_return && !fake.gave_up) {
        fake.gave_up = pthread_cond_timedwait(&fake.changed, &fake.lock, &until) != 0;
    }
    bool has_job = fake.has_job;
    fake.has_job = false;
    pthread_mutex_unlock(&fake.lock);
    if (!has_job) return STORE_ABSENT;
    claim->jobs[0] =
        (job){.number = JOB, .id = "7", .name = strdup(""), .owner = strdup(""), .status = JOB_RUNNING, .attempt = 1};
    claim->count = 1;
    claim->body = strdup("{}");
    claim->length = 2;
    return STORE_OK;
}

static store_status fake_find(store *s, const char *id, const char *owner, job *out) {
    (void)s, (void)id, (void)owner;
    *out = (job){0};
    if (fake.deleted) return STORE_ABSENT;
    *out = (job){.number = JOB, .name = strdup(""), .owner = strdup(""), .cancel_requested = true};
    return STORE_OK;
}

static store_status fake_finish(store *s, int64_t number, int64_t attempt, const job_output *output,
                                const job_end *end) {
    (void)s, (void)number, (void)attempt, (void)output;
    fake.end = end->status;
    set(&fake.ended);
    return STORE_OK;
}

static void fake_set_listener(store *s, const store_listener *listener) {
    (void)s;
    if (listener) fake.listener = *listener;
}

static const store_kind kind = {
    .claim = fake_claim, .find = fake_find, .finish = fake_finish, .set_listener = fake_set_listener};
static store controlled = {.kind = &kind};

static server_log quiet;
static metrics counters;
static cpu_slots slots;
static access_list *owners;
static model_cache *models;

static workers *start(void) {
    char message[200];
    const api_limits limits = api_limits_default();
    log_init(&quiet, LOG_SILENT, STDERR_FILENO);
    cpu_slots_init(&slots, 1);
    owners = access_open("", message, sizeof message);
    models = model_cache_open(&limits, &counters, &(model_bounds){.derivations = 2});
    assert_true(owners && models);
    workers *w = workers_start(&(daemon_services){.store = &controlled,
                                                  .log = &quiet,
                                                  .metrics = &counters,
                                                  .access = owners,
                                                  .models = models,
                                                  .limits = limits,
                                                  .slots = &slots},
                               1);
    assert_non_null(w);
    return w;
}

static void stop(workers *w) {
    set(&fake.may_return);
    workers_stop(w);
    model_cache_close(models);
    access_close(owners);
    cpu_slots_destroy(&slots);
}

static int reset(void **state) {
    (void)state;
    memset(&fake, 0, sizeof fake);
    pthread_mutex_init(&fake.lock, NULL);
    clock_condition_init(&fake.changed);
    return 0;
}

static void no_call_waits_for_a_claim(void **state) {
    (void)state;
    workers *w = start();
    wait_for(&fake.claiming);
    workers_wake(w);
    workers_cancel(w, JOB);
    assert_true(workers_idle_seconds(w) >= 0);
    fake.listener.queued(fake.listener.context);
    fake.listener.canceled(fake.listener.context, JOB);
    assert_true(fake.listener.runs(fake.listener.context, JOB)); /* true, because the claim may have been committed */
    fake.listener.lost(fake.listener.context);
    assert_false(fake.gave_up);
    stop(w);
}

/* The cancellation arrives after the claim has been committed and before the worker of the job is registered. */
static void cancel_during_a_claim(bool deleted) {
    fake.has_job = true;
    fake.deleted = deleted;
    workers *w = start();
    wait_for(&fake.claiming);
    workers_cancel(w, JOB);
    set(&fake.may_return);
    wait_for(&fake.ended);
    assert_int_equal(fake.end, JOB_CANCELED);
    stop(w);
}

static void a_job_that_is_canceled_while_it_is_claimed_does_not_run(void **state) {
    (void)state;
    cancel_during_a_claim(false);
}

static void a_job_that_is_deleted_while_it_is_claimed_does_not_run(void **state) {
    (void)state;
    cancel_during_a_claim(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_call_waits_for_a_claim, reset),
        cmocka_unit_test_setup(a_job_that_is_canceled_while_it_is_claimed_does_not_run, reset),
        cmocka_unit_test_setup(a_job_that_is_deleted_while_it_is_claimed_does_not_run, reset),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
