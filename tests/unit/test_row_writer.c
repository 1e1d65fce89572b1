/* test_row_writer.c — the bytes of each format, the choice of a format by an Accept header, and sinks that return an
 * error. */
#include "api/write/row_writer.h"
#include "api/write/write_formats.h"
#include "server/http/accept.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A sink that stores its bytes and returns an error after `limit` bytes. */
typedef struct store {
    text_buffer bytes;
    size_t limit;
} store;

static bool keep(void *context, const char *bytes, size_t length) {
    store *s = context;
    if (s->bytes.length + length > s->limit) return false;
    text_buffer_add(&s->bytes, bytes, length);
    return true;
}

static const char *const columns[] = {"t", "x,1", "x'", "a\"b"};
static const row_header header = {.column_count = 4, .columns = columns, .json = "{\"name\":\"n\"}"};
static const double rows[2][4] = {{0, 0.1, -2, 1e300}, {0.30000000000000004, 1.0 / 3, 5e-324, 100}};

static row_writer *open_writer(store *s, const char *format) {
    *s = (store){.limit = SIZE_MAX};
    text_buffer_init(&s->bytes, 1 << 20);
    row_writer *w = row_writer_open(row_format_named(format), (byte_sink){s, keep});
    assert_non_null(w);
    return w;
}

/* Writes a header, two rows, an event, a progress record, and the end of the run. */
static void run(store *s, const char *format, bool problem) {
    row_writer *w = open_writer(s, format);
    assert_true(row_writer_begin(w, &header));
    assert_true(row_writer_row(w, rows[0], 4));
    assert_true(row_writer_object(w, ROW_EVENT, "{\"name\":\"e\"}"));
    assert_true(row_writer_object(w, ROW_PROGRESS, "{\"t\":1}"));
    assert_true(row_writer_object(w, ROW_HEARTBEAT, NULL));
    assert_true(row_writer_row(w, rows[1], 4));
    if (problem) {
        assert_true(row_writer_problem(w, "{\"type\":\"p\"}", "{\"status\":\"failed\"}"));
    } else {
        assert_true(row_writer_object(w, ROW_SUMMARY, "{\"status\":\"completed\"}"));
    }
    row_writer_close(w);
}

static void expect_run(const char *format, bool problem, const char *expected) {
    store s;
    run(&s, format, problem);
    assert_string_equal(s.bytes.bytes != NULL ? s.bytes.bytes : "", expected);
    text_buffer_free(&s.bytes);
}

#define CSV                     \
    "t,\"x,1\",x',\"a\"\"b\"\n" \
    "0,0.1,-2,1e+300\n"         \
    "0.30000000000000004,0.3333333333333333,5e-324,100\n"

static void csv_is_a_header_row_and_rows(void **state) {
    (void)state;
    expect_run("csv", false, CSV);
    expect_run("csv", true, CSV);
}

static void ndjson_is_one_object_per_line(void **state) {
    (void)state;
    expect_run("ndjson", false,
               "{\"header\":{\"name\":\"n\"}}\n"
               "{\"row\":[0,0.1,-2,1e+300]}\n"
               "{\"event\":{\"name\":\"e\"}}\n"
               "{\"progress\":{\"t\":1}}\n"
               "{\"progress\":{}}\n"
               "{\"row\":[0.30000000000000004,0.3333333333333333,5e-324,100]}\n"
               "{\"summary\":{\"status\":\"completed\"}}\n");
    expect_run("ndjson", true,
               "{\"header\":{\"name\":\"n\"}}\n"
               "{\"row\":[0,0.1,-2,1e+300]}\n"
               "{\"event\":{\"name\":\"e\"}}\n"
               "{\"progress\":{\"t\":1}}\n"
               "{\"progress\":{}}\n"
               "{\"row\":[0.30000000000000004,0.3333333333333333,5e-324,100]}\n"
               "{\"summary\":{\"status\":\"failed\"}}\n"
               "{\"problem\":{\"type\":\"p\"}}\n");
}

static void sse_has_the_same_objects_as_numbered_events(void **state) {
    (void)state;
    expect_run("sse", true,
               "event: header\nid: 1\ndata: {\"header\":{\"name\":\"n\"}}\n\n"
               "event: row\nid: 2\ndata: {\"row\":[0,0.1,-2,1e+300]}\n\n"
               "event: event\nid: 3\ndata: {\"event\":{\"name\":\"e\"}}\n\n"
               "event: progress\ndata: {\"progress\":{\"t\":1}}\n\n"
               ": still here\n\n"
               "event: row\nid: 4\ndata: {\"row\":[0.30000000000000004,0.3333333333333333,5e-324,100]}\n\n"
               "event: summary\nid: 5\ndata: {\"summary\":{\"status\":\"failed\"}}\n\n"
               "event: problem\nid: 6\ndata: {\"problem\":{\"type\":\"p\"}}\n\n");
}

static void json_is_one_document_with_columns(void **state) {
    (void)state;
    expect_run("json", false,
               "{\"header\":{\"name\":\"n\"},\"columns\":{\"t\":[0,0.30000000000000004],"
               "\"x,1\":[0.1,0.3333333333333333],\"x'\":[-2,5e-324],\"a\\\"b\":[1e+300,100]},"
               "\"events\":[{\"name\":\"e\"}],\"summary\":{\"status\":\"completed\"}}\n");
    expect_run("json", true,
               "{\"header\":{\"name\":\"n\"},\"columns\":{\"t\":[0,0.30000000000000004],"
               "\"x,1\":[0.1,0.3333333333333333],\"x'\":[-2,5e-324],\"a\\\"b\":[1e+300,100]},"
               "\"events\":[{\"name\":\"e\"}],\"summary\":{\"status\":\"failed\"},\"problem\":{\"type\":\"p\"}}\n");
}

/* Binary output is little-endian on every machine. */
static void check_npy_data(const char *data) {
    for (size_t k = 0; k < 8; k++) {
        uint64_t bits = 0, expected;
        for (size_t i = 0; i < 8; i++) bits |= (uint64_t)(unsigned char)data[8 * k + i] << (8 * i);
        memcpy(&expected, &rows[k / 4][k % 4], sizeof expected);
        assert_int_equal(bits, expected);
    }
}

static void npy_is_a_structured_array(void **state) {
    (void)state;
    static const char dictionary[] = "{'descr': [('t', '<f8'), ('x,1', '<f8'), ('x\\'', '<f8'), ('a\"b', '<f8')], "
                                     "'fortran_order': False, 'shape': (2,), }";
    store s;
    run(&s, "npy", false);
    const unsigned char *b = (const unsigned char *)s.bytes.bytes;
    assert_memory_equal(b, "\x93NUMPY\x01\x00", 8);
    size_t length = b[8] + 256u * b[9];
    assert_int_equal((10 + length) % 64, 0);
    assert_int_equal(b[10 + length - 1], '\n');
    assert_memory_equal(b + 10, dictionary, sizeof dictionary - 1);
    assert_int_equal(s.bytes.length, 10 + length + sizeof rows);
    check_npy_data(s.bytes.bytes + 10 + length);
    text_buffer_free(&s.bytes);
}

static void npy_of_a_failed_run_is_empty(void **state) {
    (void)state;
    expect_run("npy", true, "");
}

static void npy_streams_if_the_number_of_rows_is_known(void **state) {
    (void)state;
    row_header known = header;
    known.expected_rows = 2;
    store s;
    row_writer *w = open_writer(&s, "npy");
    assert_true(row_writer_begin(w, &known));
    size_t head = s.bytes.length;
    assert_int_equal(head % 64, 0);
    assert_true(row_writer_row(w, rows[0], 4));
    assert_true(row_writer_row(w, rows[1], 4));
    assert_false(row_writer_row(w, rows[1], 4));
    assert_non_null(w->reason);
    w->reason = NULL;
    assert_true(row_writer_object(w, ROW_SUMMARY, "{}"));
    check_npy_data(s.bytes.bytes + head);
    row_writer_close(w);
    text_buffer_free(&s.bytes);

    w = open_writer(&s, "npy");
    assert_true(row_writer_begin(w, &known));
    assert_true(row_writer_row(w, rows[0], 4));
    assert_false(row_writer_object(w, ROW_SUMMARY, "{}"));
    assert_non_null(strstr(w->reason, "fewer"));
    row_writer_close(w);
    text_buffer_free(&s.bytes);
}

static void npy_names_beyond_ascii_need_version_3(void **state) {
    (void)state;
    static const char *const greek[] = {"t", "\xCE\xB8"};
    store s;
    row_writer *w = open_writer(&s, "npy");
    assert_true(row_writer_begin(w, &(row_header){.column_count = 2, .columns = greek, .json = "{}"}));
    assert_true(row_writer_object(w, ROW_SUMMARY, "{}"));
    assert_memory_equal(s.bytes.bytes, "\x93NUMPY\x03\x00", 8);
    assert_int_equal(s.bytes.length % 64, 0);
    row_writer_close(w);
    text_buffer_free(&s.bytes);
}

static void an_error_of_the_sink_ends_the_writing(void **state) {
    (void)state;
    for (size_t k = 0; row_format_at(k) != NULL; k++) {
        store s;
        row_writer *w = open_writer(&s, row_format_at(k)->name);
        s.limit = 5;
        bool taken =
            row_writer_begin(w, &header) && row_writer_row(w, rows[0], 4) && row_writer_object(w, ROW_SUMMARY, "{}");
        assert_false(taken);
        assert_null(w->reason);
        row_writer_close(w);
        text_buffer_free(&s.bytes);
    }
}

static void a_result_too_large_for_one_document_is_rejected_with_a_reason(void **state) {
    (void)state;
    static const char *const formats[] = {"json", "npy"};
    enum { WIDTH = 1000 };
    static const char *names[WIDTH];
    static double values[WIDTH];
    for (size_t k = 0; k < WIDTH; k++) names[k] = "c";
    for (size_t k = 0; k < 2; k++) {
        store s;
        row_writer *w = open_writer(&s, formats[k]);
        assert_true(row_writer_begin(w, &(row_header){.column_count = WIDTH, .columns = names, .json = "{}"}));
        size_t taken = 0;
        while (row_writer_row(w, values, WIDTH)) taken++;
        assert_int_equal(taken, ROW_TABLE_BYTES / (8 * WIDTH));
        assert_non_null(strstr(w->reason, "ndjson"));
        assert_int_equal(s.bytes.length, 0);
        row_writer_close(w);
        text_buffer_free(&s.bytes);
    }
}

static void a_problem_before_the_header_is_written_as_a_complete_json_document(void **state) {
    (void)state;
    store s;
    row_writer *w = open_writer(&s, "json");
    assert_true(row_writer_problem(w, "{\"type\":\"p\"}", NULL));
    assert_string_equal(s.bytes.bytes, "{\"problem\":{\"type\":\"p\"}}\n");
    row_writer_close(w);
    text_buffer_free(&s.bytes);
}

static void expect_accepted(const char *accept, const char *expected) {
    const row_format *f = accept_row_format(accept, row_format_named("ndjson"));
    const char *name = f != NULL ? f->name : "none";
    if (strcmp(name, expected) != 0) fail_msg("`%s`: expected %s, got %s", accept, expected, name);
}

static void accept_headers_choose_the_format(void **state) {
    (void)state;
    assert_ptr_equal(accept_row_format(NULL, row_format_named("csv")), row_format_named("csv"));
    expect_accepted("", "ndjson");
    expect_accepted(" , ", "ndjson");
    expect_accepted("*/*", "ndjson");
    expect_accepted("text/csv", "csv");
    expect_accepted("TEXT/CSV; header=present", "csv");
    expect_accepted("application/json", "json");
    expect_accepted("application/x-npy", "npy");
    expect_accepted("text/event-stream", "sse");
    expect_accepted("application/x-ndjson", "ndjson");
    expect_accepted("text/html, application/json;q=0.9, */*;q=0.8", "json");
    expect_accepted("text/csv;q=0.5, application/json;q=0.4", "csv");
    expect_accepted("text/csv;q=0.5, application/json;q=0.501", "json");
    expect_accepted("application/json, text/csv", "json");
    expect_accepted("text/csv, application/json", "csv");
    expect_accepted("*/*, text/csv", "csv");
    expect_accepted("*/*;q=0.1, text/csv;q=0", "ndjson");
    expect_accepted("application/*", "ndjson");
    expect_accepted("application/*, application/x-ndjson;q=0", "json");
    expect_accepted("text/*;q=0.3, text/csv;q=0.2", "sse");
    expect_accepted("text/*", "sse");
    expect_accepted("text/html", "none");
    expect_accepted("text/html, image/*;q=0.5", "none");
    expect_accepted("text/csv;q=0", "none");
    expect_accepted("text/csv;q=x", "none");
    expect_accepted("text/x;a=\"text/csv,;\", application/json", "json");
    expect_accepted("garbage", "none");
    expect_accepted("text/csv ; q=0.7 ,application/json; q=0.8", "json");
}

static void formats_are_found_by_name_and_media_type(void **state) {
    (void)state;
    assert_ptr_equal(row_format_named("csv"), row_format_named("text/csv"));
    assert_null(row_format_named("xml"));
    size_t count = 0;
    while (row_format_at(count) != NULL) count++;
    assert_int_equal(count, 5);
}

static void numbers_read_back_to_the_same_double(void **state) {
    (void)state;
    static const char *const one[] = {"t"};
    uint64_t seed = 1;
    store s;
    row_writer *w = open_writer(&s, "csv");
    assert_true(row_writer_begin(w, &(row_header){.column_count = 1, .columns = one, .json = "{}"}));
    for (int k = 0; k < 20000; k++) {
        uint64_t bits = random_bits(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        text_buffer_reset(&s.bytes);
        assert_true(row_writer_row(w, &value, 1));
        double back = strtod(s.bytes.bytes, NULL);
        assert_memory_equal(&back, &value, sizeof value);
    }
    row_writer_close(w);
    text_buffer_free(&s.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_a_header_row_and_rows),
        cmocka_unit_test(ndjson_is_one_object_per_line),
        cmocka_unit_test(sse_has_the_same_objects_as_numbered_events),
        cmocka_unit_test(json_is_one_document_with_columns),
        cmocka_unit_test(npy_is_a_structured_array),
        cmocka_unit_test(npy_of_a_failed_run_is_empty),
        cmocka_unit_test(npy_streams_if_the_number_of_rows_is_known),
        cmocka_unit_test(npy_names_beyond_ascii_need_version_3),
        cmocka_unit_test(an_error_of_the_sink_ends_the_writing),
        cmocka_unit_test(a_result_too_large_for_one_document_is_rejected_with_a_reason),
        cmocka_unit_test(a_problem_before_the_header_is_written_as_a_complete_json_document),
        cmocka_unit_test(accept_headers_choose_the_format),
        cmocka_unit_test(formats_are_found_by_name_and_media_type),
        cmocka_unit_test(numbers_read_back_to_the_same_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
