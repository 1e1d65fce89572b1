/* test_store_members.c — claims and results of many members of a sweep in one step, for each kind of store. */
#include "tests/http/store_fixture.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMBERS = 12, TOGETHER = 5, ROWS = 3, COLUMNS = 2, MANY = 5000, FEW = 100 };

static const char header[] = "{\"columns\":[\"t\",\"x\"]}";

/* Submits a sweep of MEMBERS members. The caller clears *made. */
static void submit_sweep(const char *owner, store_quota quota, job_batch *made) {
    batch_member members[MEMBERS];
    for (size_t k = 0; k < MEMBERS; k++) members[k] = (batch_member){.name = "m", .assignments = "[\"a=1\"]"};
    batch_submission sent = {.whole = {.owner = owner, .name = "m", .body = "{}", .length = 2, .quota = quota},
                             .plan = "{}",
                             .members = members,
                             .count = MEMBERS};
    assert_int_equal(tested->kind->submit_batch(tested, &sent, made), STORE_OK);
}

static void submit_single(const char *owner) {
    job made;
    job_submission sent = {.owner = owner, .name = "single", .body = "{}", .length = 2};
    assert_int_equal(tested->kind->submit(tested, &sent, &made), STORE_OK);
    job_clear(&made);
}

/* Claims a job, and up to TOGETHER members if it belongs to one of two sweeps. Returns their number, 0 if no job is
 * queued. */
static size_t claim_some(job jobs[TOGETHER], const job_batch *first, const job_batch *second) {
    claim_size sizes[2] = {{.most = TOGETHER}, {.most = TOGETHER}};
    memcpy(sizes[0].batch, first->id, sizeof sizes[0].batch);
    memcpy(sizes[1].batch, second->id, sizeof sizes[1].batch);
    job_claim claim = {.jobs = jobs, .sizes = sizes, .size_count = 2};
    if (tested->kind->claim(tested, &claim) != STORE_OK) return 0;
    assert_string_equal(claim.body, "{}");
    free(claim.body);
    assert_true(claim.count <= TOGETHER);
    return claim.count;
}

static void clear_jobs(job *jobs, size_t count) {
    for (size_t k = 0; k < count; k++) job_clear(&jobs[k]);
}

/* Each member is claimed once, in order, and no claim mixes sweeps or takes single jobs. PostgreSQL may claim fewer
 * members together, because it reserves some of them singly. */
static void members_of_one_sweep_are_claimed_together(void **state) {
    job_batch first, second;
    job jobs[TOGETHER];
    size_t count, claims = 0, members = 0;
    submit_single("a");
    submit_sweep("a", (store_quota){0}, &first);
    submit_sweep("a", (store_quota){0}, &second);
    while ((count = claim_some(jobs, &first, &second)) > 0) {
        claims++;
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(jobs[k].status, JOB_RUNNING);
            assert_int_equal(jobs[k].attempt, 1);
            assert_string_equal(jobs[k].batch, jobs[0].batch);
            if (k > 0) assert_true(jobs[k].number > jobs[k - 1].number);
        }
        bool single = jobs[0].batch[0] == '\0';
        if (single) assert_int_equal(count, 1);
        if (!single) members += count;
        clear_jobs(jobs, count);
    }
    assert_int_equal(members, 2 * MEMBERS);
    if (strcmp(*state, "postgresql") != 0) assert_int_equal(claims, 1 + 2 * ((MEMBERS + TOGETHER - 1) / TOGETHER));
    batch_clear(&first);
    batch_clear(&second);
}

static void canceled_members_are_not_claimed(void **state) {
    (void)state;
    job_batch made;
    job jobs[TOGETHER], canceled, listed[MEMBERS];
    size_t count;
    submit_sweep("a", (store_quota){0}, &made);
    assert_int_equal(tested->kind->members(tested, made.number, 0, MEMBERS, listed, &count), STORE_OK);
    assert_int_equal(count, MEMBERS);
    assert_int_equal(tested->kind->cancel(tested, listed[1].id, NULL, &canceled), STORE_OK);
    job_clear(&canceled);
    clear_jobs(listed, count);
    size_t seen = 0;
    while ((count = claim_some(jobs, &made, &made)) > 0) {
        for (size_t k = 0; k < count; k++) assert_int_not_equal(jobs[k].member, 1);
        seen += count;
        clear_jobs(jobs, count);
    }
    assert_int_equal(seen, MEMBERS - 1);
    batch_clear(&made);
}

static member_end end_of(const job *j, double *values) {
    return (member_end){
        .number = j->number,
        .attempt = j->attempt,
        .header = header,
        .output = {.rows = {.rows = ROWS, .columns = COLUMNS, .values = values}},
        .end = {.status = JOB_COMPLETED, .progress = 1, .summary = "{\"rows\":3}", .collected = "{\"x\":5}"}};
}

static void results_of_members_are_stored_together(void **state) {
    (void)state;
    double values[ROWS * COLUMNS] = {0, 1, 0.5, 3, 1, 5};
    const job_event event = {.row = 2, .json = (char[]){"{\"name\":\"hit\"}"}};
    store_counts counts;
    job_batch made;
    job jobs[TOGETHER], found;
    submit_sweep("a", (store_quota){0}, &made);
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    int64_t bytes = counts.bytes;
    size_t count = claim_some(jobs, &made, &made);
    member_end ends[TOGETHER];
    for (size_t k = 0; k < count; k++) ends[k] = end_of(&jobs[k], values);
    ends[0].output.events = &event;
    ends[0].output.event_count = 1;
    assert_int_equal(tested->kind->finish_members(tested, ends, count), STORE_OK);
    for (size_t k = 0; k < count; k++) {
        row_chunk chunk;
        assert_int_equal(ends[k].status, STORE_OK);
        assert_int_equal(tested->kind->find(tested, jobs[k].id, NULL, &found), STORE_OK);
        assert_int_equal(found.status, JOB_COMPLETED);
        assert_string_equal(found.header, header);
        assert_string_equal(found.summary, "{\"rows\":3}");
        assert_string_equal(found.collected, "{\"x\":5}");
        job_clear(&found);
        assert_int_equal(tested->kind->chunk_at(tested, jobs[k].number, 1, &chunk), STORE_OK);
        assert_int_equal(chunk.rows, ROWS);
        assert_memory_equal(chunk.values, values, sizeof values);
        row_chunk_clear(&chunk);
    }
    job_event stored;
    assert_int_equal(tested->kind->event_at(tested, jobs[0].number, 0, &stored), STORE_OK);
    assert_string_equal(stored.json, event.json);
    free(stored.json);
    /* size of the header, texts and rows of each member; the event of the first member is added below */
    size_t each = strlen(header) + strlen(ends[0].end.summary) + strlen(ends[0].end.collected) + sizeof values;
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.bytes - bytes, count * each + strlen(event.json));
    /* a late attempt changes nothing */
    assert_int_equal(tested->kind->finish_members(tested, ends, count), STORE_OK);
    for (size_t k = 0; k < count; k++) assert_int_equal(ends[k].status, STORE_ABSENT);
    clear_jobs(jobs, count);
    batch_clear(&made);
}

/* If the results of all members together exceed the quota, no result is stored. */
static void results_beyond_the_quota_are_not_stored(void **state) {
    (void)state;
    double values[ROWS * COLUMNS] = {0};
    job_batch made;
    job jobs[TOGETHER], found;
    const size_t admitted = MEMBERS * (JOB_BASE_BYTES + 1 + 7) + JOB_BASE_BYTES + 1 + 2 + 2;
    submit_sweep("q", (store_quota){.bytes = (double)admitted + 10}, &made);
    size_t count = claim_some(jobs, &made, &made);
    member_end ends[TOGETHER];
    for (size_t k = 0; k < count; k++) ends[k] = end_of(&jobs[k], values);
    assert_int_equal(tested->kind->finish_members(tested, ends, count), STORE_FULL);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(tested->kind->find(tested, jobs[k].id, NULL, &found), STORE_OK);
        assert_int_equal(found.status, JOB_RUNNING);
        assert_null(found.header);
        job_clear(&found);
    }
    clear_jobs(jobs, count);
    batch_clear(&made);
}

/* A requeued member has no stored rows, so it may be claimed together with other members. */
static void requeued_members_are_claimed_again(void **state) {
    (void)state;
    job_batch made;
    job jobs[TOGETHER];
    size_t count, seen = 0;
    submit_sweep("a", (store_quota){0}, &made);
    count = claim_some(jobs, &made, &made);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(tested->kind->requeue(tested, jobs[k].number, jobs[k].attempt, NULL), STORE_OK);
    clear_jobs(jobs, count);
    while ((count = claim_some(jobs, &made, &made)) > 0) {
        seen += count;
        clear_jobs(jobs, count);
    }
    assert_int_equal(seen, MEMBERS);
    batch_clear(&made);
}

/* A submission whose members are generated when the store requests them. */
typedef struct source {
    size_t requests, fails_after; /* number of requests, and number of requests that succeed */
    bool has_snapshots, seen_incomplete;
} source;

/* Runs on the thread of the writer. Readers have their own connections. In a store in memory, which has no snapshots, a
 * reader would wait for the writer. */
static bool fill(void *context, size_t first, size_t number, batch_member *out) {
    source *from = context;
    job_query query = {.limit = 1};
    job_batch found;
    size_t count;
    bool more;
    if (from->has_snapshots && first > MANY / 2 && !from->seen_incomplete &&
        tested->kind->list_batches(tested, &query, &found, &count, &more) == STORE_OK && count == 1) {
        from->seen_incomplete = !found.complete && !batch_ended(&found);
        batch_clear(&found);
    }
    for (size_t k = 0; k < number; k++) out[k] = (batch_member){.name = "m", .assignments = "[\"a=1\"]"};
    return ++from->requests <= from->fails_after;
}

static batch_submission many_from(source *from) {
    return (batch_submission){.whole = {.owner = "a", .name = "many", .body = "{}", .length = 2},
                              .plan = "{}",
                              .count = MANY,
                              .fill = fill,
                              .context = from};
}

/* Checks that the members of a batch are numbered 0 to `wanted` - 1 in order. */
static void check_members(const job_batch *b, size_t wanted) {
    job found[100];
    size_t count = 1, seen = 0;
    for (int64_t next = 0; count > 0;) {
        assert_int_equal(tested->kind->members(tested, b->number, next, 100, found, &count), STORE_OK);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(found[k].member, seen++);
            next = found[k].number + 1;
            job_clear(&found[k]);
        }
    }
    assert_int_equal(seen, wanted);
}

static void many_members_are_submitted_in_steps(void **state) {
    source from = {.fails_after = SIZE_MAX, .has_snapshots = strcmp(*state, "memory") != 0};
    job_batch made;
    const batch_submission sent = many_from(&from);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    assert_true(made.complete && !batch_ended(&made));
    assert_int_equal(made.counts[JOB_QUEUED], MANY);
    assert_int_equal(from.seen_incomplete, from.has_snapshots);
    check_members(&made, MANY);
    batch_clear(&made);
}

/* The first step requests 32 groups of members. The second step fails. */
static void a_submission_that_fails_leaves_nothing(void **state) {
    (void)state;
    source from = {.fails_after = 32 + 10};
    store_counts counts;
    job_batch made;
    const batch_submission sent = many_from(&from);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_FAILED);
    batch_clear(&made);
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.queued, 0);
    assert_int_equal(counts.bytes, 0);
}

static void in_file(const char *sql) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(sqlite_path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    sqlite3_create_function(db, "hamel_now", 0, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Changes a store as if the daemon had ended after the submission of half of the members. */
static const char interrupted[] = "DELETE FROM jobs WHERE member>=50; UPDATE batches SET submitted=50";

static batch_submission few(batch_member members[FEW]) {
    for (size_t k = 0; k < FEW; k++) members[k] = (batch_member){.name = "m", .assignments = "[\"a=1\"]"};
    return (batch_submission){.whole = {.owner = "a", .name = "few", .key = "k", .body = "{}", .length = 2},
                              .plan = "{}",
                              .members = members,
                              .count = FEW};
}

static void a_submission_with_the_same_key_completes_an_interrupted_one(void **state) {
    (void)state;
    batch_member members[FEW];
    job_batch made, again;
    const batch_submission sent = few(members);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    in_file(interrupted);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &again), STORE_EXISTS);
    assert_string_equal(again.id, made.id);
    assert_true(again.complete);
    assert_int_equal(again.counts[JOB_QUEUED], FEW);
    check_members(&again, FEW);
    batch_clear(&made);
    batch_clear(&again);
}

static void an_interrupted_submission_is_deleted_after_some_minutes(void **state) {
    (void)state;
    batch_member members[FEW];
    job_batch made;
    store_counts counts;
    size_t count;
    const batch_submission sent = few(members);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    in_file(interrupted);
    assert_int_equal(tested->kind->expire(tested, -1, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 0); /* the submission may still be in progress */
    in_file("UPDATE batches SET changed=changed-601000");
    assert_int_equal(tested->kind->expire(tested, -1, 0, 40, &count), STORE_OK);
    assert_int_equal(count, 40);
    assert_int_equal(tested->kind->expire(tested, -1, 0, 40, &count), STORE_OK);
    assert_int_equal(count, 10);
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.bytes, 0);
    batch_clear(&made);
}

/* If an interrupted submission is canceled, no further members are submitted. */
static void canceling_an_interrupted_submission_ends_it(void **state) {
    (void)state;
    batch_member members[FEW];
    job_batch made, canceled;
    int64_t from = 0;
    const batch_submission sent = few(members);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    in_file(interrupted);
    assert_int_equal(tested->kind->cancel_batch(tested, made.id, "a", 1000, &from, &canceled), STORE_OK);
    assert_true(canceled.complete && batch_ended(&canceled));
    assert_int_equal(canceled.counts[JOB_CANCELED], 50);
    batch_clear(&canceled);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &canceled), STORE_EXISTS);
    assert_int_equal(canceled.counts[JOB_CANCELED], 50);
    assert_int_equal(canceled.counts[JOB_QUEUED], 0);
    batch_clear(&made);
    batch_clear(&canceled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_EACH(members_of_one_sweep_are_claimed_together),
        ON_EACH(canceled_members_are_not_claimed),
        ON_EACH(results_of_members_are_stored_together),
        ON_EACH(results_beyond_the_quota_are_not_stored),
        ON_EACH(requeued_members_are_claimed_again),
        ON_EACH(many_members_are_submitted_in_steps),
        ON_EACH(a_submission_that_fails_leaves_nothing),
        ON(sqlite, a_submission_with_the_same_key_completes_an_interrupted_one),
        ON(sqlite, an_interrupted_submission_is_deleted_after_some_minutes),
        ON(sqlite, canceling_an_interrupted_submission_ends_it),
    };
    return cmocka_run_group_tests_name("store_members", tests, start_server, stop_server);
}
