/* Tests of engine/base/arena.c. */
#include "engine/base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void memory_is_zeroed_aligned_and_disjoint(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 0);
    unsigned char *before = NULL;
    size_t before_size = 0;
    for (size_t size = 1; size < 20000; size = size * 3 / 2 + 1) {
        unsigned char *bytes = arena_alloc(&a, size, 1);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], 0);
        memset(bytes, 0xAB, size);
        if (before != NULL) assert_true(bytes >= before + before_size || bytes + size <= before);
        before = bytes;
        before_size = size;
    }
    arena_free(&a);
}

static void an_overflowing_size_is_rejected(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 0);
    assert_null(arena_alloc(&a, SIZE_MAX / 2, 3));
    assert_null(arena_alloc(&a, SIZE_MAX, 1));
    assert_null(arena_alloc(&a, PTRDIFF_MAX, 1));
    assert_non_null(arena_alloc(&a, 1, 1)); /* the arena remains usable */
    arena_free(&a);
}

static void zero_bytes_give_a_valid_pointer(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 0);
    void *first = arena_alloc(&a, 0, 8), *second = arena_alloc(&a, 8, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    arena_free(&a);
}

static void the_limit_bounds_the_allocated_memory(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 100000);
    size_t taken = 0;
    while (arena_alloc(&a, 1000, 1) != NULL) taken += 1000;
    assert_in_range(taken, 80000, 100000);
    assert_true(a.used <= a.limit);
    assert_null(arena_alloc(&a, 100000, 1));
    arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 1000, 1)); /* the arena is reusable after arena_free, with the same limit */
    assert_null(arena_alloc(&a, 100000, 1));
    arena_free(&a);
}

static void a_large_request_leaves_the_rest_of_the_chunk_in_use(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 0);
    arena_alloc(&a, 16, 1);
    const arena_chunk *head = a.head;
    assert_non_null(arena_alloc(&a, 1 << 20, 1));
    assert_ptr_equal(a.head, head);
    arena_free(&a);
}

static void a_grown_array_keeps_its_items(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 0);
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 10000; i++) {
        items = arena_grow(&a, items, &capacity, (size_t)i + 1, sizeof *items);
        assert_non_null(items);
        items[i] = i;
    }
    assert_in_range(capacity, 10000, 20000);
    for (int i = 0; i < 10000; i++) assert_int_equal(items[i], i);
    arena_free(&a);
}

static void an_array_that_cannot_grow_keeps_its_items(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 8192);
    size_t capacity = 0;
    int *items = arena_grow(&a, NULL, &capacity, 8, sizeof *items);
    assert_non_null(items);
    items[7] = 7;
    size_t old = capacity;
    assert_null(arena_grow(&a, items, &capacity, 100000, sizeof *items));
    assert_null(arena_grow(&a, items, &capacity, SIZE_MAX, sizeof *items));
    assert_int_equal(capacity, old);
    assert_int_equal(items[7], 7);
    arena_free(&a);
}

static void texts_are_copied_with_a_terminator(void **state) {
    (void)state;
    arena a;
    arena_init(&a, 0);
    assert_string_equal(arena_text(&a, "pendulum", 4), "pend");
    assert_string_equal(arena_text(&a, NULL, 0), "");
    assert_string_equal(arena_format(&a, "%s[%d]", "rod", 12), "rod[12]");
    assert_null(arena_text(&a, "", SIZE_MAX));
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_disjoint),
        cmocka_unit_test(an_overflowing_size_is_rejected),
        cmocka_unit_test(zero_bytes_give_a_valid_pointer),
        cmocka_unit_test(the_limit_bounds_the_allocated_memory),
        cmocka_unit_test(a_large_request_leaves_the_rest_of_the_chunk_in_use),
        cmocka_unit_test(a_grown_array_keeps_its_items),
        cmocka_unit_test(an_array_that_cannot_grow_keeps_its_items),
        cmocka_unit_test(texts_are_copied_with_a_terminator),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
