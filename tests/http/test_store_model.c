/* test_store_model.c — random operations on a store, compared with a model of the expected state of each job. */
#include "tests/http/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The expected state of a job. */
typedef struct model_job {
    char id[JOB_ID_BYTES];
    int64_t number, attempt, rows;
    job_status status;
    bool forgotten, header, cancel;
    int owner;
    int64_t body;  /* size in bytes, counted at submission */
    int64_t texts; /* size of the summary in bytes */
    int64_t batch; /* number of the batch; 0 if none */
} model_job;

typedef struct model_batch {
    char id[JOB_ID_BYTES];
    int64_t number;
    bool forgotten;
} model_batch;

enum { MODEL_JOBS = 1000, MODEL_BATCHES = 20, MODEL_COLUMNS = 3 };
static model_job model[MODEL_JOBS];
static model_batch model_batches[MODEL_BATCHES];
static size_t modeled, batches_modeled;
static uint64_t dice_state;

static const char *const model_owners[] = {"ann", "bob", "eve"};

static size_t dice(size_t faces) { /* random number below `faces` by xorshift64 (Marsaglia 2003) */
    dice_state ^= dice_state << 13;
    dice_state ^= dice_state >> 7;
    dice_state ^= dice_state << 17;
    return (size_t)(dice_state % faces);
}

/* Returns one of the jobs with this status, or NULL. */
static model_job *any_of(job_status status) {
    size_t from = modeled ? dice(modeled) : 0;
    for (size_t k = 0; k < modeled; k++) {
        model_job *m = &model[(from + k) % modeled];
        if (!m->forgotten && m->status == status) return m;
    }
    return NULL;
}

static void submit_one(void) {
    job made;
    char key[24];
    if (modeled == MODEL_JOBS) return;
    model_job *m = &model[modeled];
    size_t owner = dice(3);
    snprintf(key, sizeof key, "key-%zu", modeled);
    job_submission sent = {
        .owner = model_owners[owner], .name = dice(2) ? "even" : "odd", .key = key, .body = "{}", .length = 2};
    assert_int_equal(tested->kind->submit(tested, &sent, &made), STORE_OK);
    *m = (model_job){
        .number = made.number, .owner = (int)owner, .body = JOB_BASE_BYTES + (int64_t)strlen(sent.name) + 2};
    snprintf(m->id, sizeof m->id, "%s", made.id);
    job_clear(&made);
    modeled++;
    assert_int_equal(tested->kind->submit(tested, &sent, &made), STORE_EXISTS);
    assert_string_equal(made.id, m->id);
    job_clear(&made);
    sent.body = "[]";
    assert_int_equal(tested->kind->submit(tested, &sent, &made), STORE_CONFLICT);
    job_clear(&made);
}

/* Submits a batch. The members have a common description or one description each. The batch has few members, or more
 * members than one INSERT statement can contain. */
static void submit_batch(void) {
    static batch_member members[SQL_GROUP + 9];
    static job found[SQL_GROUP + 9];
    job_batch made;
    size_t size = dice(3) ? 1 + dice(9) : SQL_GROUP + dice(9), owner = dice(3), count;
    bool shared = dice(2);
    if (batches_modeled == MODEL_BATCHES || modeled + size > MODEL_JOBS) return;
    for (size_t k = 0; k < size; k++) {
        members[k] = shared ? (batch_member){.name = "m", .assignments = "[]"}
                            : (batch_member){.name = "m", .body = "{}", .length = 2};
    }
    batch_submission sent = {.whole = {.owner = model_owners[owner], .name = "b", .body = "{}", .length = 2},
                             .plan = "{}",
                             .members = members,
                             .count = size};
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    assert_int_equal(tested->kind->members(tested, made.number, 0, size + 1, found, &count), STORE_OK);
    assert_int_equal(count, size);
    for (size_t k = 0; k < size; k++) {
        model_job *m = &model[modeled++];
        *m = (model_job){
            .number = found[k].number, .owner = (int)owner, .body = JOB_BASE_BYTES + 3, .batch = made.number};
        snprintf(m->id, sizeof m->id, "%s", found[k].id);
        job_clear(&found[k]);
    }
    model_batch *b = &model_batches[batches_modeled++];
    *b = (model_batch){.number = made.number};
    snprintf(b->id, sizeof b->id, "%s", made.id);
    batch_clear(&made);
}

static void change_batch(model_batch *b, bool forget) {
    job_batch found = {0};
    int64_t from = 0;
    store_status status;
    if (b->forgotten) return;
    do {
        batch_clear(&found);
        status = forget ? tested->kind->delete_batch(tested, b->id, NULL, 7)
                        : tested->kind->cancel_batch(tested, b->id, NULL, 7, &from, &found);
    } while (status == STORE_EXISTS);
    assert_int_equal(status, STORE_OK);
    batch_clear(&found);
    b->forgotten = forget;
    for (model_job *m = model; m < model + modeled; m++) {
        if (m->batch != b->number) continue;
        m->forgotten = m->forgotten || forget;
        m->cancel = m->cancel || (m->status == JOB_RUNNING && !forget);
        if (m->status == JOB_QUEUED && !forget) m->status = JOB_CANCELED;
    }
}

static void claim_one(void) {
    job taken = {0};
    job_claim claim = {.jobs = &taken};
    store_status status = tested->kind->claim(tested, &claim);
    if (!any_of(JOB_QUEUED)) {
        assert_int_equal(status, STORE_ABSENT);
        return;
    }
    assert_int_equal(status, STORE_OK);
    model_job *m = model;
    while (strcmp(m->id, taken.id) != 0) assert_true(++m < model + modeled);
    assert_int_equal(m->status, JOB_QUEUED);
    assert_int_equal(taken.attempt, ++m->attempt);
    m->status = JOB_RUNNING;
    claim_clear(&claim);
}

static void begin_one(model_job *m) {
    int64_t rows, events;
    assert_int_equal(tested->kind->begin(tested, m->number, m->attempt + 1, "[1]", &rows, &events), STORE_ABSENT);
    bool other = m->header && dice(8) == 0;
    assert_int_equal(tested->kind->begin(tested, m->number, m->attempt, other ? "[2]" : "[1]", &rows, &events),
                     STORE_OK);
    if (other) {
        assert_int_equal(rows, 0);
        assert_int_equal(tested->kind->begin(tested, m->number, m->attempt, "[1]", &rows, &events), STORE_OK);
        m->rows = 0;
    }
    m->header = true;
    assert_int_equal(rows, m->rows);
    assert_int_equal(events, m->rows / 2);
}

/* Fills in two rows and an event between them. The times of all rows of a job are 0, 1, 2, ... */
static void fill_output(const model_job *m, double *values, job_event *event, job_output *output) {
    for (size_t k = 0; k < 2 * MODEL_COLUMNS; k++) {
        values[k] = (double)(m->rows + (int64_t)(k / MODEL_COLUMNS)) + (k % MODEL_COLUMNS ? 0.1 * (double)k : 0);
    }
    static char json[] = "{}";
    *event = (job_event){.row = m->rows + 1, .json = json};
    *output = (job_output){.rows = {.first = m->rows, .rows = 2, .columns = MODEL_COLUMNS, .values = values},
                           .events = event,
                           .event_count = 1,
                           .first_event = m->rows / 2};
}

static void write_one(model_job *m) {
    double values[2 * MODEL_COLUMNS];
    job_event event;
    job_output output;
    if (!m->header) begin_one(m);
    fill_output(m, values, &event, &output);
    assert_int_equal(tested->kind->append(tested, m->number, m->attempt - 1, &output, 0.5), STORE_ABSENT);
    switch (dice(3)) {
    case 0: assert_int_equal(tested->kind->append(tested, m->number, m->attempt, &output, 0.5), STORE_OK); break;
    case 1:
        assert_int_equal(tested->kind->requeue(tested, m->number, m->attempt, &output), STORE_OK);
        m->status = JOB_QUEUED;
        break;
    default:
        m->status = m->cancel ? JOB_CANCELED : JOB_COMPLETED;
        m->texts = 2;
        const job_end end = {.status = m->status, .progress = 1, .summary = "{}"};
        assert_int_equal(tested->kind->finish(tested, m->number, m->attempt - 1, &output, &end), STORE_ABSENT);
        assert_int_equal(tested->kind->finish(tested, m->number, m->attempt, &output, &end), STORE_OK);
        assert_int_equal(tested->kind->finish(tested, m->number, m->attempt, &output, &end), STORE_ABSENT);
    }
    m->rows += 2;
}

static void cancel_one(model_job *m) {
    job found;
    const char *stranger = model_owners[(m->owner + 1) % 3];
    assert_int_equal(tested->kind->cancel(tested, m->id, stranger, &found), STORE_ABSENT);
    assert_int_equal(tested->kind->cancel(tested, m->id, model_owners[m->owner], &found), STORE_OK);
    if (m->status == JOB_QUEUED) m->status = JOB_CANCELED;
    if (m->status == JOB_RUNNING) m->cancel = true;
    assert_int_equal(found.status, m->status);
    assert_int_equal(found.cancel_requested, m->cancel || found.cancel_requested);
    job_clear(&found);
}

static void forget_one(model_job *m) {
    int64_t number, rows;
    assert_int_equal(tested->kind->delete (tested, m->id, NULL, &number), STORE_OK);
    assert_int_equal(number, m->number);
    assert_int_equal(tested->kind->begin(tested, m->number, m->attempt, "[1]", &rows, &rows), STORE_ABSENT);
    m->forgotten = true;
}

static void look_at_one(const model_job *m) {
    job found;
    row_chunk chunk;
    job_event event;
    int64_t row;
    store_status status = tested->kind->find(tested, m->id, model_owners[m->owner], &found);
    assert_int_equal(status, m->forgotten ? STORE_ABSENT : STORE_OK);
    if (status == STORE_OK) {
        assert_int_equal(found.status, m->status);
        assert_int_equal(found.attempt, m->attempt);
        assert_int_equal(found.created > 0, 1);
        assert_int_equal(found.finished > 0, job_ended(m->status));
    }
    job_clear(&found);
    int64_t rows = m->forgotten ? 0 : m->rows;
    assert_int_equal(tested->kind->chunk_at(tested, m->number, rows, &chunk), STORE_ABSENT);
    assert_int_equal(tested->kind->event_at(tested, m->number, rows / 2, &event), STORE_ABSENT);
    assert_int_equal(tested->kind->row_at_time(tested, m->number, (double)rows, &row), STORE_ABSENT);
    if (rows == 0) return;
    int64_t at = (int64_t)dice((size_t)rows);
    assert_int_equal(tested->kind->chunk_at(tested, m->number, at, &chunk), STORE_OK);
    assert_int_equal(chunk.first, at - at % 2);
    assert_int_equal(chunk.columns, MODEL_COLUMNS);
    assert_true(chunk.values[MODEL_COLUMNS] == (double)(chunk.first + 1));
    assert_true(chunk.values[MODEL_COLUMNS + 1] == (double)(chunk.first + 1) + 0.1 * (MODEL_COLUMNS + 1));
    row_chunk_clear(&chunk);
    assert_int_equal(tested->kind->event_at(tested, m->number, at / 2, &event), STORE_OK);
    assert_int_equal(event.row, at - at % 2 + 1);
    free(event.json);
    assert_int_equal(tested->kind->row_at_time(tested, m->number, (double)at, &row), STORE_OK);
    assert_int_equal(row, at - at % 2);
}

/* Compares the stored counts of a batch with a count over its members. */
static void look_at_batch(const model_batch *b) {
    static job listed[MODEL_JOBS];
    job_batch found;
    size_t count;
    bool more;
    store_status looked = tested->kind->find_batch(tested, b->id, NULL, &found);
    assert_int_equal(looked, b->forgotten ? STORE_ABSENT : STORE_OK);
    for (size_t status = 0; status < JOB_STATUSES; status++) {
        int64_t expected = 0;
        for (size_t k = 0; k < modeled; k++) {
            expected += model[k].batch == b->number && !model[k].forgotten && model[k].status == (job_status)status;
        }
        job_query query = {.by_status = true, .status = (job_status)status, .batch = b->id, .limit = MODEL_JOBS};
        assert_int_equal(tested->kind->list(tested, &query, listed, &count, &more), STORE_OK);
        assert_false(more);
        for (size_t k = 0; k < count; k++) job_clear(&listed[k]);
        assert_int_equal(count, expected);
        assert_int_equal(found.counts[status], expected);
    }
    batch_clear(&found);
}

/* Compares all lists and counts with the model. */
static void look_at_all(void) {
    static job found[MODEL_JOBS];
    int64_t by_status[JOB_STATUSES] = {0}, bytes = 0;
    size_t count;
    bool more;
    for (size_t k = 0; k < modeled; k++) {
        if (model[k].forgotten) continue;
        by_status[model[k].status]++;
        bytes += model[k].body + model[k].texts + (model[k].header ? 3 : 0);
        bytes += model[k].rows * MODEL_COLUMNS * (int64_t)sizeof(double) + model[k].rows / 2 * 2;
    }
    for (size_t status = 0; status < JOB_STATUSES; status++) {
        int64_t total = 0;
        for (size_t owner = 0; owner < 3; owner++) {
            job_query query = {
                .by_status = true, .status = (job_status)status, .owner = model_owners[owner], .limit = MODEL_JOBS};
            assert_int_equal(tested->kind->list(tested, &query, found, &count, &more), STORE_OK);
            assert_false(more);
            for (size_t k = 0; k < count; k++) {
                if (k > 0) assert_true(found[k].number < found[k - 1].number);
                assert_string_equal(found[k].owner, model_owners[owner]);
            }
            for (size_t k = 0; k < count; k++) job_clear(&found[k]);
            total += (int64_t)count;
        }
        assert_int_equal(total, by_status[status]);
    }
    for (size_t k = 0; k < batches_modeled; k++) bytes += model_batches[k].forgotten ? 0 : JOB_BASE_BYTES + 5;
    store_counts counts;
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.queued, by_status[JOB_QUEUED]);
    assert_int_equal(counts.running, by_status[JOB_RUNNING]);
    assert_int_equal(counts.bytes, bytes);
    for (size_t k = 0; k < batches_modeled; k++) look_at_batch(&model_batches[k]);
}

static void every_sequence_of_changes_leaves_the_expected_state(void **state) {
    (void)state;
    modeled = batches_modeled = 0;
    dice_state = 20261121;
    for (int step = 0; step < 1500; step++) {
        model_job *queued = any_of(JOB_QUEUED), *running = any_of(JOB_RUNNING);
        size_t what = dice(20);
        if (what < 4) submit_one();
        if (what >= 4 && what < 8) claim_one();
        if (what >= 8 && what < 16 && running) write_one(running);
        if (what == 16 && queued) cancel_one(queued);
        if (what == 17 && running) cancel_one(running);
        if (what == 18 && any_of(JOB_COMPLETED)) forget_one(any_of(JOB_COMPLETED));
        if (what == 19 && running) begin_one(running);
        if (what == 19 && dice(4) == 0) submit_batch();
        if (what == 18 && dice(8) == 0 && batches_modeled) {
            change_batch(&model_batches[dice(batches_modeled)], dice(3) == 0);
        }
        if (modeled) look_at_one(&model[dice(modeled)]);
        if (step % 500 == 499) look_at_all();
    }
    look_at_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_EACH(every_sequence_of_changes_leaves_the_expected_state),
    };
    return cmocka_run_group_tests_name("store model", tests, start_server, stop_server);
}
