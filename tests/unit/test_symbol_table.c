/* Tests of engine/base/symbol_table.c. */
#include "engine/base/symbol_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    arena memory;
    symbol_table table;
} fixture;

static void fixture_start(fixture *f) {
    arena_init(&f->memory, 0);
    assert_int_equal(symbol_table_init(&f->table, &f->memory), HAMEL_OK);
}

static void add(fixture *f, const char *name, int32_t value) {
    assert_int_equal(symbol_add(&f->table, name, strlen(name), value, NULL), HAMEL_OK);
}

static void an_added_name_is_found_with_its_value(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    int32_t index = -5;
    char name[] = "theta";
    assert_int_equal(symbol_add(&f.table, name, 5, 42, &index), HAMEL_OK);
    memset(name, 'x', 5); /* the table must have its own copy of the name */
    assert_int_equal(index, 0);
    assert_int_equal(symbol_find(&f.table, "theta", 5), 0);
    assert_int_equal(f.table.symbols[0].value, 42);
    assert_string_equal(f.table.symbols[0].name, "theta");
    assert_int_equal(symbol_find(&f.table, "thet", 4), -1);
    assert_int_equal(symbol_find(&f.table, "theta1", 6), -1);
    assert_int_equal(symbol_find(&f.table, "", 0), -1);
    arena_free(&f.memory);
}

static void a_second_addition_returns_the_first_index(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    add(&f, "x", 1);
    add(&f, "y", 2);
    int32_t index = -5;
    assert_int_equal(symbol_add(&f.table, "x", 1, 9, &index), HAMEL_INVALID);
    assert_int_equal(index, 0);
    assert_int_equal(f.table.symbols[0].value, 1);
    assert_int_equal(f.table.count, 2);
    arena_free(&f.memory);
}

static void many_names_keep_the_order_of_addition(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    char name[32];
    for (int i = 0; i < 50000; i++) {
        snprintf(name, sizeof name, "x[%d]", i);
        add(&f, name, i);
    }
    for (int i = 0; i < 50000; i++) {
        int length = snprintf(name, sizeof name, "x[%d]", i);
        assert_int_equal(symbol_find(&f.table, name, (size_t)length), i);
    }
    assert_int_equal(symbol_find(&f.table, "x[50000]", 8), -1);
    arena_free(&f.memory);
}

/* Reference vectors of SipHash-2-4 (Aumasson and Bernstein): key 00 01 ... 0f, texts 00 01 ... of length n. */
static void the_hash_is_siphash_2_4(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.table.key[0] = 0x0706050403020100u;
    f.table.key[1] = 0x0f0e0d0c0b0a0908u;
    char text[15];
    for (int i = 0; i < 15; i++) text[i] = (char)i;
    assert_int_equal(symbol_add(&f.table, text, 1, 0, NULL), HAMEL_OK);
    assert_int_equal(f.table.symbols[0].hash, (uint32_t)0x74f839c593dc67fdu);
    assert_int_equal(symbol_add(&f.table, text, 15, 0, NULL), HAMEL_OK);
    assert_int_equal(f.table.symbols[1].hash, (uint32_t)0xa129ca6149be45e5u); /* example in the paper */
    arena_free(&f.memory);
}

static void keys_differ_between_tables(void **state) {
    (void)state;
    fixture f, g;
    fixture_start(&f);
    fixture_start(&g);
    assert_memory_not_equal(f.table.key, g.table.key, sizeof f.table.key);
    arena_free(&f.memory);
    arena_free(&g.memory);
}

static void running_out_of_memory_leaves_the_table_intact(void **state) {
    (void)state;
    fixture f;
    arena_init(&f.memory, 16384);
    assert_int_equal(symbol_table_init(&f.table, &f.memory), HAMEL_OK);
    char name[32];
    int added = 0;
    for (;; added++) {
        int length = snprintf(name, sizeof name, "name%d", added);
        if (symbol_add(&f.table, name, (size_t)length, added, NULL) != HAMEL_OK) break;
    }
    assert_int_equal(f.table.count, added);
    for (int i = 0; i < added; i++) {
        int length = snprintf(name, sizeof name, "name%d", i);
        assert_int_equal(symbol_find(&f.table, name, (size_t)length), i);
    }
    arena_free(&f.memory);
}

static void the_nearest_name_differs_in_at_most_a_third(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    add(&f, "stiffness", 0);
    add(&f, "theta", 0);
    add(&f, "phi", 0);
    assert_string_equal(symbol_nearest(&f.table, "stifness", 8), "stiffness");
    assert_string_equal(symbol_nearest(&f.table, "thtea", 5), "theta"); /* a transposition counts as one change */
    assert_string_equal(symbol_nearest(&f.table, "ph", 2), "phi");
    assert_null(symbol_nearest(&f.table, "omega", 5));
    assert_null(symbol_nearest(&f.table, "tXXta", 5)); /* two of five characters differ */
    arena_free(&f.memory);
}

static void the_nearer_of_two_names_wins(void **state) {
    (void)state;
    static const char *const NAMES[] = {"acceleration", "velocity", "velocities", "position"};
    assert_string_equal(nearest_name(NAMES, 4, "velocitys", 9), "velocity");
    assert_string_equal(nearest_name(NAMES, 4, "velocitis", 9), "velocities");
    assert_string_equal(nearest_name(NAMES, 4, "position", 8), "position");
    assert_null(nearest_name(NAMES, 0, "position", 8));
}

static void a_short_form_and_another_case_are_near(void **state) {
    (void)state;
    static const char *const KEYS[] = {"unit", "initial", "points", "joints", "rtol"};
    assert_string_equal(nearest_name(KEYS, 5, "init", 4), "initial");
    assert_string_equal(nearest_name(KEYS, 5, "Init", 4), "initial");
    assert_string_equal(nearest_name(KEYS, 5, "Joints", 6), "joints"); /* `points` also differs by one replacement */
    assert_string_equal(nearest_name(KEYS, 5, "RTOL", 4), "rtol");
    assert_null(nearest_name(KEYS, 5, "in", 2)); /* the name is too short to be unambiguous */
    assert_null(nearest_name(KEYS, 5, "RULE", 4));
}

static void a_name_with_nothing_in_common_is_not_suggested(void **state) {
    (void)state;
    static const char *const NAMES[] = {"x"};
    assert_null(nearest_name(NAMES, 1, "m", 1));
    assert_null(nearest_name(NAMES, 1, "", 0));
    assert_string_equal(nearest_name(NAMES, 1, "x1", 2), "x");
}

static void very_long_names_are_not_compared(void **state) {
    (void)state;
    char name[200];
    memset(name, 'a', sizeof name);
    fixture f;
    fixture_start(&f);
    assert_int_equal(symbol_add(&f.table, name, 199, 0, NULL), HAMEL_OK);
    assert_null(symbol_nearest(&f.table, name, 198));
    assert_null(symbol_nearest(&f.table, name, 48));
    arena_free(&f.memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_added_name_is_found_with_its_value),
        cmocka_unit_test(a_second_addition_returns_the_first_index),
        cmocka_unit_test(many_names_keep_the_order_of_addition),
        cmocka_unit_test(the_hash_is_siphash_2_4),
        cmocka_unit_test(keys_differ_between_tables),
        cmocka_unit_test(running_out_of_memory_leaves_the_table_intact),
        cmocka_unit_test(the_nearest_name_differs_in_at_most_a_third),
        cmocka_unit_test(the_nearer_of_two_names_wins),
        cmocka_unit_test(a_short_form_and_another_case_are_near),
        cmocka_unit_test(a_name_with_nothing_in_common_is_not_suggested),
        cmocka_unit_test(very_long_names_are_not_compared),
    };
    return cmocka_run_group_tests_name("symbol_table", tests, NULL, NULL);
}
