/* test_batches.c — sweeps and lists of descriptions: members, counts, the table, cancelation and deletion. */
#include "tests/http/daemon.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PATH_BYTES = 160 };
static test_daemon d;

/* x = a cos(sqrt(k) t), over a quarter of a period for k = 1 */
static const char *swept(char *out, size_t room, const char *sweep, const char *stop) {
    snprintf(
        out, room,
        "{\"hamel\":1,\"name\":\"swept\",\"parameters\":{\"k\":1,\"s\":3},\"coordinates\":[{\"name\":\"x\",\"initial\":"
        "1}],"
        "\"kinetic_energy\":\"x'^2/2\",\"potential_energy\":\"k*x^2/2\","
        "\"simulation\":{\"stop\":%s,\"samples\":2001,\"rtol\":1e-10,\"atol\":1e-12,\"max_steps\":1e9},\"sweep\":%s}",
        stop, sweep);
    return out;
}

static const char oscillators[] =
    "{\"over\":{\"k\":[1,4,9],\"x.initial\":[1,2]},\"collect\":[\"final\",{\"name\":\"top\","
    "\"reduce\":\"max\",\"expression\":\"abs(x')\"}]}";

static char *submit_batch(const char *body) {
    cJSON *made = ask_json(&d, "POST", "/v1/batches", json_type, body, 201);
    char *id = strdup(json_text_of(made, "id"));
    cJSON_Delete(made);
    return id;
}

static cJSON *ended_batch(const char *id) {
    char path[PATH_BYTES];
    double until = hang_time();
    snprintf(path, sizeof path, "/v1/batches/%s", id);
    for (;;) {
        cJSON *found = ask_json(&d, "GET", path, NULL, NULL, 200);
        if (strcmp(json_text_of(found, "status"), "ended") == 0) return found;
        cJSON_Delete(found);
        assert_true(now_seconds() < until);
        sleep_seconds(0.02);
    }
}

static cJSON *table_of(const char *id) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/v1/batches/%s/results", id);
    return ask_json(&d, "GET", path, (const char *const[]){"Accept: application/json", NULL}, NULL, 200);
}

static void a_sweep_becomes_a_table_of_its_members(void **state) {
    (void)state;
    char body[2000];
    char *id = submit_batch(swept(body, sizeof body, oscillators, "1.5"));
    cJSON *done = ended_batch(id);
    assert_true(json_number_of(done, "members") == 6);
    assert_true(json_number_of(cJSON_GetObjectItemCaseSensitive(done, "counts"), "completed") == 6);
    cJSON_Delete(done);
    cJSON *table = table_of(id);
    const cJSON *columns =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(table, "header"), "columns");
    static const char *const expected[] = {"member", "job", "name", "k",   "x.initial", "status",
                                           "t",      "x",   "x'",   "top", "problem"};
    assert_int_equal(cJSON_GetArraySize(columns), 11);
    for (int k = 0; k < 11; k++) assert_string_equal(cJSON_GetArrayItem(columns, k)->valuestring, expected[k]);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 6);
    static const double stiffness[] = {1, 1, 4, 4, 9, 9};
    int member = 0;
    for (const cJSON *row = rows->child; row; row = row->next, member++) {
        double k = cJSON_GetArrayItem(row, 3)->valuedouble, a = cJSON_GetArrayItem(row, 4)->valuedouble;
        double w = sqrt(k);
        assert_true(cJSON_GetArrayItem(row, 0)->valuedouble == member);
        assert_true(k == stiffness[member] && a == 1 + member % 2);
        assert_string_equal(cJSON_GetArrayItem(row, 5)->valuestring, "completed");
        /* The bound, relative to a, is the sum of 100 step errors at the tolerance 1e-10. A run covers at most three
         * quarters of a period. */
        assert_true(fabs(cJSON_GetArrayItem(row, 7)->valuedouble - a * cos(w * 1.5)) < 1e-8 * a);
        /* |x'| <= a w. Rows are 0.75e-3 apart, and the maximum may be between two rows. Its relative error is then at
         * most w^2 (0.75e-3/2)^2/2 = 6.3e-7. */
        double top = w * 1.5 > acos(0) ? a * w : a * w * sin(w * 1.5);
        assert_true(fabs(cJSON_GetArrayItem(row, 9)->valuedouble - top) < 1e-6 * a * w);
    }
    cJSON_Delete(table);
    free(id);
}

static void the_table_is_also_available_as_csv_and_ndjson(void **state) {
    (void)state;
    char body[2000], path[PATH_BYTES];
    char *id = submit_batch(
        swept(body, sizeof body, "{\"over\":{\"k\":[1,\"max(2,s)\"]},\"collect\":[{\"name\":\"x\"}]}", "1"));
    cJSON_Delete(ended_batch(id));
    snprintf(path, sizeof path, "/v1/batches/%s/results", id);
    answer a = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
    assert_int_equal(strncmp(a.body, "member,job,name,k,status,x,problem\n0,", 37), 0);
    assert_non_null(strstr(a.body, ",swept,\"max(2,s)\",completed,-0.16"));
    answer_clear(&a);
    a = ask(&d, "GET", path, NULL, NULL);
    assert_int_equal(strncmp(a.body, "{\"header\":{\"columns\":[\"member\"", 30), 0);
    assert_non_null(strstr(a.body, "\n{\"summary\":{\"counts\":{\"queued\":0,"));
    answer_clear(&a);
    a = ask(&d, "GET", path, (const char *const[]){"Accept: application/x-npy", NULL}, NULL);
    assert_int_equal(a.status, 406);
    answer_clear(&a);
    free(id);
}

/* A member is an ordinary job. A live run of its description must give the same result. */
static void members_are_jobs(void **state) {
    (void)state;
    char body[2000], path[PATH_BYTES];
    char *id = submit_batch(swept(body, sizeof body, oscillators, "1.5"));
    cJSON_Delete(ended_batch(id));
    snprintf(path, sizeof path, "/v1/jobs?batch=%s&status=completed", id);
    cJSON *list = ask_json(&d, "GET", path, NULL, NULL, 200);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items");
    assert_int_equal(cJSON_GetArraySize(items), 6);
    assert_string_equal(json_text_of(items->child, "batch"), id);
    snprintf(path, sizeof path, "/v1/jobs/%s/system",
             json_text_of(items->child, "id")); /* the newest job is the last member */
    answer system = ask(&d, "GET", path, NULL, NULL);
    assert_int_equal(system.status, 200);
    assert_null(strstr(system.body, "sweep"));
    const char *headers[] = {"Content-Type: application/json", "Accept: text/csv", NULL};
    answer again = ask(&d, "POST", "/v1/simulations", headers, system.body);
    snprintf(path, sizeof path, "/v1/jobs/%s/results", json_text_of(items->child, "id"));
    answer stored = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
    assert_int_equal(again.status, 200);
    assert_string_equal(again.body, stored.body);
    answer_clear(&system);
    answer_clear(&again);
    answer_clear(&stored);
    cJSON_Delete(list);
    free(id);
}

static void a_list_of_descriptions_is_a_batch(void **state) {
    (void)state;
    char body[4000], one[512], two[512];
    snprintf(body, sizeof body, "{\"name\":\"both\",\"systems\":[%s,%s]}", oscillator(one, sizeof one, "first", 1, 3),
             oscillator(two, sizeof two, "second", 1, 5));
    char *id = submit_batch(body);
    cJSON *done = ended_batch(id);
    assert_string_equal(json_text_of(done, "name"), "both");
    cJSON_Delete(done);
    cJSON *table = table_of(id);
    const cJSON *row = cJSON_GetObjectItemCaseSensitive(table, "rows")->child;
    assert_string_equal(cJSON_GetArrayItem(row, 2)->valuestring, "first");
    assert_string_equal(cJSON_GetArrayItem(row, 3)->valuestring, "completed");
    cJSON_Delete(table);
    free(id);
}

static void a_bare_list_of_descriptions_is_a_batch_too(void **state) {
    (void)state;
    char body[4000], one[512], two[512];
    oscillator(one, sizeof one, "first", 1, 3);
    snprintf(body, sizeof body, "[%s,%s]", one, oscillator(two, sizeof two, "second", 1, 5));
    char *id = submit_batch(body);
    cJSON *table = (cJSON_Delete(ended_batch(id)), table_of(id));
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(table, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    assert_string_equal(cJSON_GetArrayItem(rows->child->next, 2)->valuestring, "second");
    cJSON_Delete(table);
    free(id);
    snprintf(body, sizeof body, "[%s,{\"hamel\":1}]", one);
    cJSON *problem = ask_json(&d, "POST", "/v1/batches", json_type, body, 422);
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    assert_int_equal(strncmp(json_text_of(errors->child, "pointer"), "/1", 2), 0);
    cJSON_Delete(problem);
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", json_type, "[]", 422));
}

static void nothing_is_stored_if_there_are_errors(void **state) {
    (void)state;
    static const struct {
        const char *sweep, *pointer;
        long status;
    } bad[] = {
        {"{\"over\":{\"kk\":[1]}}", "/sweep/over/kk", 422},
        {"{\"over\":{\"k\":{\"from\":1,\"to\":2,\"count\":51}}}", "/sweep", 422},
        {"{\"over\":{\"k\":[1]},\"collect\":[{\"name\":\"z\"}]}", "/sweep/collect/0/name", 422},
        {"{\"over\":{\"k\":[1]},\"collect\":[{\"name\":\"z\",\"expression\":\"x+q\"}]}", "/sweep/collect/0/expression",
         422},
        {"{\"over\":{\"k\":[\"1+\"]}}", "/sweep/over/k/0", 422},
        {"{\"over\":{\"x.initial\":[1,\"2*kk\"]}}", "/sweep/over/x.initial/1", 422},
    };
    char body[2000], one[512];
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        cJSON *problem =
            ask_json(&d, "POST", "/v1/batches", json_type, swept(body, sizeof body, bad[k].sweep, "1"), bad[k].status);
        const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
        assert_true(cJSON_IsArray(errors) && errors->child);
        assert_string_equal(json_text_of(errors->child, "pointer"), bad[k].pointer);
        cJSON_Delete(problem);
    }
    snprintf(body, sizeof body, "{\"systems\":[%s,{\"hamel\":1}]}", oscillator(one, sizeof one, "good", 1, 3));
    cJSON *problem = ask_json(&d, "POST", "/v1/batches", json_type, body, 422);
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    assert_int_equal(strncmp(json_text_of(errors->child, "pointer"), "/systems/1", 10), 0);
    /* the detail contains the pointer of the first error */
    assert_non_null(strstr(json_text_of(problem, "detail"), "/systems/1"));
    cJSON_Delete(problem);
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", json_type, "{\"systems\":[]}", 422));
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", json_type, "{\"systems\":[1],\"sweeps\":1}", 422));
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", json_type, one, 422));
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", json_type, "[", 400));
}

static void a_retry_finds_the_batch_of_the_first_attempt(void **state) {
    (void)state;
    char body[2000], ids[2][40];
    const char *headers[] = {"Content-Type: application/json", "Idempotency-Key: batch-1", NULL};
    for (int k = 0; k < 2; k++) {
        cJSON *made = ask_json(&d, "POST", "/v1/batches", headers, swept(body, sizeof body, oscillators, "1"), 201);
        snprintf(ids[k], sizeof ids[k], "%s", json_text_of(made, "id"));
        cJSON_Delete(made);
    }
    assert_string_equal(ids[0], ids[1]);
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", headers, swept(body, sizeof body, oscillators, "2"), 409));
}

static void a_client_may_wait_for_all_members(void **state) {
    (void)state;
    char body[2000], applied[32], path[PATH_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Prefer: wait=60", NULL};
    answer a = ask(&d, "POST", "/v1/batches", headers, swept(body, sizeof body, oscillators, "1.5"));
    assert_int_equal(a.status, 201);
    assert_true(answer_header(&a, "Preference-Applied", applied, sizeof applied));
    assert_string_equal(applied, "wait=60");
    cJSON *batch = answer_json(&a);
    assert_string_equal(json_text_of(batch, "status"), "ended");
    cJSON_Delete(batch);
    answer_clear(&a);
    const char *brief[] = {"Content-Type: application/json", "Prefer: wait=1", NULL};
    double begin = now_seconds();
    batch = ask_json(&d, "POST", "/v1/batches", brief,
                     swept(body, sizeof body, "{\"over\":{\"k\":[1,4]},\"collect\":[\"final\"]}", "1e9"), 201);
    assert_true(now_seconds() - begin >= 0.9);
    assert_string_equal(json_text_of(batch, "status"), "running");
    snprintf(path, sizeof path, "/v1/batches/%s", json_text_of(batch, "id"));
    a = ask(&d, "DELETE", path, NULL, NULL);
    assert_int_equal(a.status, 204);
    assert_false(answer_header(&a, "Allow", applied, sizeof applied)); /* Allow belongs to OPTIONS and status 405 */
    answer_clear(&a);
    cJSON_Delete(batch);
}

static void a_batch_is_canceled_and_deleted_as_one(void **state) {
    (void)state;
    char body[2000], path[PATH_BYTES];
    char *id = submit_batch(swept(body, sizeof body, "{\"over\":{\"k\":{\"from\":1,\"to\":2,\"count\":30}}}", "1e7"));
    snprintf(path, sizeof path, "/v1/batches/%s/cancel", id);
    cJSON *canceled = ask_json(&d, "POST", path, NULL, NULL, 202);
    assert_true(json_number_of(cJSON_GetObjectItemCaseSensitive(canceled, "counts"), "queued") == 0);
    cJSON_Delete(canceled);
    cJSON *done = ended_batch(id);
    assert_true(json_number_of(cJSON_GetObjectItemCaseSensitive(done, "counts"), "canceled") == 30);
    cJSON_Delete(done);
    snprintf(path, sizeof path, "/v1/batches/%s", id);
    answer a = ask(&d, "DELETE", path, NULL, NULL);
    assert_int_equal(a.status, 204);
    answer_clear(&a);
    cJSON_Delete(ask_json(&d, "GET", path, NULL, NULL, 404));
    snprintf(path, sizeof path, "/v1/jobs?batch=%s", id);
    cJSON *list = ask_json(&d, "GET", path, NULL, NULL, 200);
    assert_null(cJSON_GetObjectItemCaseSensitive(list, "items")->child);
    cJSON_Delete(list);
    free(id);
}

static void batches_are_listed_newest_first_in_pages(void **state) {
    (void)state;
    char body[2000], path[PATH_BYTES] = "/v1/batches?limit=2", last[40] = "";
    char *ids[3];
    for (int k = 0; k < 3; k++) ids[k] = submit_batch(swept(body, sizeof body, "{\"over\":{\"k\":[1]}}", "1"));
    size_t seen = 0;
    while (path[0]) {
        cJSON *list = ask_json(&d, "GET", path, NULL, NULL, 200);
        const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items");
        for (const cJSON *item = items->child; item; item = item->next, seen++) {
            if (seen < 3) assert_string_equal(json_text_of(item, "id"), ids[2 - seen]);
            assert_string_not_equal(json_text_of(item, "id"), last);
            snprintf(last, sizeof last, "%s", json_text_of(item, "id"));
        }
        const char *next = json_text_of(list, "next");
        path[0] = '\0';
        if (*next) snprintf(path, sizeof path, "/v1/batches?limit=2&cursor=%s", next);
        cJSON_Delete(list);
    }
    assert_true(seen >= 3);
    for (int k = 0; k < 3; k++) free(ids[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_becomes_a_table_of_its_members),
        cmocka_unit_test(the_table_is_also_available_as_csv_and_ndjson),
        cmocka_unit_test(members_are_jobs),
        cmocka_unit_test(a_list_of_descriptions_is_a_batch),
        cmocka_unit_test(a_bare_list_of_descriptions_is_a_batch_too),
        cmocka_unit_test(nothing_is_stored_if_there_are_errors),
        cmocka_unit_test(a_retry_finds_the_batch_of_the_first_attempt),
        cmocka_unit_test(a_client_may_wait_for_all_members),
        cmocka_unit_test(a_batch_is_canceled_and_deleted_as_one),
        cmocka_unit_test(batches_are_listed_newest_first_in_pages),
    };
    daemon_share(&d, (const char *const[]){"--max-members", "50", NULL});
    return cmocka_run_group_tests_name("batches", tests, start_shared_daemon, end_shared_daemon);
}
