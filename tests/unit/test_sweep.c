/* test_sweep.c — members of a sweep, and the values into which their rows are reduced. */
#include "api/sweep/sweep_member.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static api_limits limits;
static char body[4000];

static int set_up(void **state) {
    (void)state;
    limits = api_limits_default();
    return 0;
}

static const char *with(const char *sweep_text) {
    snprintf(body, sizeof body,
             "{\"hamel\":1,\"parameters\":{\"m\":1,\"k\":{\"value\":2}},\"coordinates\":[\"x\",{\"name\":\"y\"}],"
             "\"kinetic_energy\":\"m*(x'^2+y'^2)/2\",\"potential_energy\":\"k*(x^2+y^2)/2\","
             "\"simulation\":{\"stop\":1},\"sweep\":%s}",
             sweep_text);
    return body;
}

static api_sweep opened(const char *sweep_text) {
    api_sweep s;
    api_failure failure = {0};
    with(sweep_text);
    bool good = api_sweep_open(&s, body, strlen(body), NULL, 0, &limits, 1000, "test", &failure);
    if (!good) print_error("%s\n", failure.text);
    api_failure_clear(&failure);
    assert_true(good);
    return s;
}

static void expect_member(const api_sweep *s, size_t member, const char *expected) {
    text_buffer out;
    text_buffer_init(&out, 10000);
    assert_true(sweep_assignments(&s->sweep, member, &out));
    assert_string_equal(out.bytes, expected);
    text_buffer_free(&out);
}

/* Reads the value of one target from the assignments of a member. */
static double value_of(const api_sweep *s, size_t member, size_t target) {
    text_buffer out;
    text_buffer_init(&out, 10000);
    assert_true(sweep_assignments(&s->sweep, member, &out));
    cJSON *list = cJSON_Parse(out.bytes);
    const char *text = cJSON_GetArrayItem(list, (int)target)->valuestring;
    double value = strtod(strchr(text, '=') + 1, NULL);
    cJSON_Delete(list);
    text_buffer_free(&out);
    return value;
}

static void in_a_grid_the_last_target_varies_fastest(void **state) {
    (void)state;
    api_sweep s = opened("{\"over\":{\"m\":[1,\"2*3\"],\"x.initial\":{\"from\":0,\"to\":1,\"count\":3}}}");
    assert_int_equal(s.sweep.count, 6);
    expect_member(&s, 0, "[\"m=1\",\"x.initial=0\"]");
    expect_member(&s, 1, "[\"m=1\",\"x.initial=0.5\"]");
    expect_member(&s, 2, "[\"m=1\",\"x.initial=1\"]");
    expect_member(&s, 5, "[\"m=6\",\"x.initial=1\"]");
    api_sweep_close(&s);
}

/* The sweep table contains the values of constant expressions. Expressions of parameters depend on the member. */
static void values_may_be_expressions(void **state) {
    (void)state;
    api_sweep s = opened("{\"over\":{\"m\":[\"sqrt(9)\",\"2*k\",\"-2^2\",\"if(1 < 2, 1/4, 0)\"],"
                         "\"x.initial\":{\"from\":\"pi/4\",\"to\":\"3*pi/4\",\"count\":2}}}");
    assert_int_equal(s.sweep.count, 8);
    expect_member(&s, 0, "[\"m=3\",\"x.initial=0.7853981633974483\"]");
    expect_member(&s, 2, "[\"m=2*k\",\"x.initial=0.7853981633974483\"]");
    expect_member(&s, 4, "[\"m=-4\",\"x.initial=0.7853981633974483\"]");
    expect_member(&s, 7, "[\"m=0.25\",\"x.initial=2.356194490192345\"]");
    api_sweep_close(&s);
}

static void zip_combines_values_of_equal_index(void **state) {
    (void)state;
    api_sweep s = opened("{\"mode\":\"zip\",\"over\":{\"m\":[1,2,3],\"k\":{\"from\":3,\"to\":1,\"count\":3}}}");
    assert_int_equal(s.sweep.count, 3);
    expect_member(&s, 0, "[\"m=1\",\"k=3\"]");
    expect_member(&s, 1, "[\"m=2\",\"k=2\"]");
    expect_member(&s, 2, "[\"m=3\",\"k=1\"]");
    api_sweep_close(&s);
}

static void random_members_depend_only_on_the_seed(void **state) {
    (void)state;
    const char *text = "{\"mode\":\"random\",\"count\":500,\"seed\":%d,\"over\":{\"m\":{\"from\":2,\"to\":4},\"k\":{"
                       "\"from\":0,\"to\":1}}}";
    char one[300], other[300];
    snprintf(one, sizeof one, text, 7);
    snprintf(other, sizeof other, text, 8);
    api_sweep a = opened(one), b = opened(one), c = opened(other);
    double mean = 0, product = 0;
    int same = 0;
    for (size_t i = 0; i < 500; i++) {
        double m = value_of(&a, i, 0), k = value_of(&a, i, 1);
        assert_true(m >= 2 && m < 4 && k >= 0 && k < 1);
        assert_true(m == value_of(&b, i, 0));
        same += m == value_of(&c, i, 0);
        mean += m / 500;
        product += (m - 3) * (k - 0.5) / 500;
    }
    assert_int_equal(same, 0);
    /* The bounds are 5 standard deviations. The standard deviation of the mean is 2/sqrt(12*500) = 0.0258, and the
     * standard deviation of the product is (2/sqrt 12)(1/sqrt 12)/sqrt 500 = 0.00745. */
    assert_true(fabs(mean - 3) < 5 * 0.0258);
    assert_true(fabs(product) < 5 * 0.00745);
    api_sweep_close(&a);
    api_sweep_close(&b);
    api_sweep_close(&c);
}

static void a_latin_hypercube_has_one_member_in_each_stratum(void **state) {
    (void)state;
    api_sweep s = opened("{\"mode\":\"latin_hypercube\",\"count\":100,\"over\":{\"m\":{\"from\":0,\"to\":100},\"k\":{"
                         "\"from\":-1,\"to\":1}}}");
    int seen[2][100] = {{0}};
    int in_order = 0;
    for (size_t i = 0; i < 100; i++) {
        size_t first = (size_t)value_of(&s, i, 0), second = (size_t)floor((value_of(&s, i, 1) + 1) * 50);
        assert_true(first < 100 && second < 100);
        seen[0][first]++;
        seen[1][second]++;
        in_order += first == i;
    }
    for (size_t i = 0; i < 100; i++) assert_true(seen[0][i] == 1 && seen[1][i] == 1);
    assert_true(in_order < 20);
    api_sweep_close(&s);
}

static void a_member_is_a_description_without_a_sweep(void **state) {
    (void)state;
    api_sweep s =
        opened("{\"over\":{\"k\":[5],\"x.initial\":[0.25]},\"collect\":[{\"name\":\"peak\",\"reduce\":\"max\","
               "\"expression\":\"abs(x)\"}]}");
    api_failure failure = {0};
    size_t length;
    char *text = api_sweep_member(&s, "[\"k=5\",\"x.initial=0.25\"]", &length, &failure);
    assert_non_null(text);
    cJSON *tree = cJSON_ParseWithLength(text, length);
    assert_false(cJSON_HasObjectItem(tree, "sweep"));
    const cJSON *k = cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "parameters"), "k");
    assert_true(cJSON_GetObjectItem(k, "value")->valuedouble == 5);
    const cJSON *x = cJSON_GetObjectItem(tree, "coordinates")->child;
    assert_true(cJSON_GetObjectItem(x, "initial")->valuedouble == 0.25);
    assert_string_equal(cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "outputs"), "peak")->valuestring, "abs(x)");
    cJSON_Delete(tree);
    free(text);
    api_sweep_close(&s);
}

static void rows_are_reduced_to_the_requested_numbers(void **state) {
    (void)state;
    static const char *const columns[] = {"t", "x", "E"};
    static const double rows[][3] = {{0, 1, 5}, {1, 3, 4}, {3, -1, 6}};
    api_sweep s = opened(
        "{\"over\":{\"m\":[1]},\"collect\":[\"final\",{\"name\":\"x\",\"reduce\":\"max\"},{\"name\":\"x\","
        "\"reduce\":\"min\"},{\"name\":\"x\",\"reduce\":\"mean\"},{\"name\":\"E\",\"expression\":\"energy()\"}]}");
    size_t unknown;
    sweep_reducer *c = sweep_reduce_open(&s.sweep, columns, 3, &unknown);
    assert_non_null(c);
    assert_int_equal(sweep_reduce_count(c), 6); /* the sweep adds E to the columns, and E is reduced only once */
    text_buffer out;
    text_buffer_init(&out, 1000);
    assert_true(sweep_reduce_text(c, &out));
    assert_string_equal(out.bytes, "{\"t\":null,\"x\":null,\"x\":null,\"x\":null,\"x\":null,\"E\":null}");
    for (size_t k = 0; k < 3; k++) sweep_reduce_row(c, rows[k]);
    text_buffer_reset(&out);
    assert_true(sweep_reduce_text(c, &out));
    /* mean: ((1+3)/2 + 2 (3-1)/2)/3 */
    assert_string_equal(out.bytes, "{\"t\":3,\"x\":-1,\"x\":3,\"x\":-1,\"x\":1.3333333333333333,\"E\":6}");
    text_buffer_free(&out);
    sweep_reduce_close(c);
    api_sweep_close(&s);
}

static void an_unknown_column_is_reported(void **state) {
    (void)state;
    static const char *const columns[] = {"t", "x"};
    api_sweep s = opened("{\"over\":{\"m\":[1]},\"collect\":[\"final\",{\"name\":\"z\"}]}");
    size_t unknown;
    assert_null(sweep_reduce_open(&s.sweep, columns, 2, &unknown));
    assert_int_equal(unknown, 1);
    api_sweep_close(&s);
}

static void errors_have_their_pointer(void **state) {
    (void)state;
    static const struct {
        const char *sweep, *pointer;
    } bad[] = {
        {"{}", "over"},
        {"{\"over\":{}}", "/sweep/over"},
        {"{\"over\":{\"m\":[]}}", "/sweep/over/m"},
        {"{\"over\":{\"m\":[true]}}", "/sweep/over/m/0"},
        {"{\"over\":{\"m\":{\"from\":0}}}", "/sweep/over/m"},
        {"{\"over\":{\"m\":{\"from\":0,\"to\":1}}}", "/sweep/over/m"},
        {"{\"over\":{\"m\":{\"from\":0,\"to\":1,\"count\":1.5}}}", "/sweep/over/m/count"},
        {"{\"mode\":\"zip\",\"over\":{\"m\":[1,2],\"k\":[1]}}", "/sweep/over/k"},
        {"{\"mode\":\"random\",\"over\":{\"m\":[1]}}", "count"},
        {"{\"mode\":\"sobol\",\"count\":3,\"over\":{\"m\":[1]}}", "/sweep/mode"},
        {"{\"count\":3,\"over\":{\"m\":[1]}}", "/sweep/count"},
        {"{\"over\":{\"m\":{\"from\":0,\"to\":1,\"count\":1001}}}", "1001 members"},
        {"{\"over\":{\"m\":[1]},\"collect\":[\"last\"]}", "/sweep/collect/0"},
        {"{\"over\":{\"m\":[1]},\"collect\":[{\"name\":\"x\",\"reduce\":\"sum\"}]}", "/sweep/collect/0/reduce"},
        {"{\"over\":{\"m\":[1]},\"seed\":-1}", "/sweep/seed"},
        {"{\"over\":{\"m\":[1]},\"seeds\":1}", "seeds"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        api_sweep s;
        api_failure failure = {0};
        with(bad[k].sweep);
        assert_false(api_sweep_open(&s, body, strlen(body), NULL, 0, &limits, 1000, "test", &failure));
        if (!strstr(failure.text, bad[k].pointer)) print_error("%s: %s\n", bad[k].sweep, failure.text);
        assert_non_null(strstr(failure.text, bad[k].pointer));
        assert_int_equal(failure.http, 422);
        api_failure_clear(&failure);
    }
}

static void an_unknown_target_is_reported_with_its_pointer(void **state) {
    (void)state;
    api_sweep s = opened("{\"over\":{\"m\":[1],\"kk\":[2]}}");
    api_failure failure = {0};
    size_t length;
    assert_null(api_sweep_member(&s, "[\"m=1\",\"kk=2\"]", &length, &failure));
    assert_non_null(strstr(failure.text, "/sweep/over/kk: the system has no parameter `kk`"));
    assert_non_null(strstr(failure.text, "try: k"));
    api_failure_clear(&failure);
    api_sweep_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_grid_the_last_target_varies_fastest),
        cmocka_unit_test(values_may_be_expressions),
        cmocka_unit_test(zip_combines_values_of_equal_index),
        cmocka_unit_test(random_members_depend_only_on_the_seed),
        cmocka_unit_test(a_latin_hypercube_has_one_member_in_each_stratum),
        cmocka_unit_test(a_member_is_a_description_without_a_sweep),
        cmocka_unit_test(rows_are_reduced_to_the_requested_numbers),
        cmocka_unit_test(an_unknown_column_is_reported),
        cmocka_unit_test(errors_have_their_pointer),
        cmocka_unit_test(an_unknown_target_is_reported_with_its_pointer),
    };
    return cmocka_run_group_tests_name("sweep", tests, set_up, NULL);
}
