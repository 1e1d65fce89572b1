/* test_cpu_slots.c — server/cpu_slots.c: the order in which slots are granted, without a clock. */
#include "server/cpu_slots.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct visitor {
    cpu_slots *slots;
    cpu_slot slot;
    atomic_bool entered, leaves;
    pthread_t thread;
} visitor;

static void *visit(void *context) {
    visitor *v = context;
    cpu_slot_take(v->slots, &v->slot);
    atomic_store(&v->entered, true);
    while (!atomic_load(&v->leaves)) sched_yield();
    cpu_slot_release(v->slots, &v->slot);
    return NULL;
}

static void send(visitor *v, cpu_slots *slots, cpu_share *share) {
    *v = (visitor){.slots = slots, .slot = {.share = share}};
    assert_int_equal(pthread_create(&v->thread, NULL, visit, v), 0);
}

static void wait_for_waiters(cpu_slots *slots, size_t without) {
    while (atomic_load(&slots->without) < without || !cpu_slots_are_wanted(slots)) sched_yield();
}

/* Although an owner has used neither of its slots for the regular four milliseconds, the owner must yield one
 * immediately. */
static void an_owner_with_several_slots_yields_one_immediately_to_an_owner_without(void **state) {
    (void)state;
    cpu_slots slots;
    cpu_share rich = {0}, poor = {.used = 1000};
    cpu_slot first = {.share = &rich}, second = {.share = &rich};
    visitor v;
    cpu_slots_init(&slots, 2);
    cpu_slot_take(&slots, &first);
    cpu_slot_take(&slots, &second);
    assert_false(cpu_slot_is_owed(&slots, &first));
    send(&v, &slots, &poor);
    wait_for_waiters(&slots, 1);
    assert_true(cpu_slot_is_owed(&slots, &first));
    atomic_store(&v.leaves, true);
    for (int i = 0; i < 1000 && !atomic_load(&v.entered); i++)
        cpu_slot_yield(&slots, &first); /* the first call yields the slot */
    assert_true(atomic_load(&v.entered));
    assert_true(first.held && !cpu_slot_is_owed(&slots, &first));
    pthread_join(v.thread, NULL);
    cpu_slot_release(&slots, &first);
    cpu_slot_release(&slots, &second);
    assert_int_equal(slots.free, 2);
    assert_int_equal(atomic_load(&slots.without) + atomic_load(&rich.held) + atomic_load(&poor.held), 0);
    cpu_slots_destroy(&slots);
}

/* Each owner has one slot, so neither owner must yield its slot to a second request of the other owner. */
static void owners_with_one_slot_each_keep_it(void **state) {
    (void)state;
    cpu_slots slots;
    cpu_share one = {0}, other = {0};
    cpu_slot first = {.share = &one}, second = {.share = &other};
    visitor v;
    cpu_slots_init(&slots, 2);
    cpu_slot_take(&slots, &first);
    cpu_slot_take(&slots, &second);
    send(&v, &slots, &other);
    wait_for_waiters(&slots, 0);
    assert_false(cpu_slot_is_owed(&slots, &first));
    assert_false(cpu_slot_is_owed(&slots, &second));
    atomic_store(&v.leaves, true);
    cpu_slot_release(&slots, &second);
    pthread_join(v.thread, NULL);
    cpu_slot_release(&slots, &first);
    assert_int_equal(slots.free, 2);
    cpu_slots_destroy(&slots);
}

/* A free slot is granted to the owner without a slot, even if that owner has used more CPU time and waited for less
 * time. */
static void a_free_slot_is_granted_to_the_owner_without_one(void **state) {
    (void)state;
    cpu_slots slots;
    cpu_share rich = {0}, poor = {.used = 1000};
    cpu_slot first = {.share = &rich}, second = {.share = &rich};
    visitor early, late;
    cpu_slots_init(&slots, 2);
    cpu_slot_take(&slots, &first);
    cpu_slot_take(&slots, &second);
    send(&early, &slots, &rich);
    wait_for_waiters(&slots, 0);
    send(&late, &slots, &poor);
    wait_for_waiters(&slots, 1);
    cpu_slot_release(&slots, &first);
    while (!atomic_load(&late.entered)) sched_yield();
    assert_false(atomic_load(&early.entered));
    atomic_store(&late.leaves, true);
    atomic_store(&early.leaves, true);
    pthread_join(late.thread, NULL);
    pthread_join(early.thread, NULL);
    cpu_slot_release(&slots, &second);
    assert_int_equal(slots.free, 2);
    cpu_slots_destroy(&slots);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_with_several_slots_yields_one_immediately_to_an_owner_without),
        cmocka_unit_test(owners_with_one_slot_each_keep_it),
        cmocka_unit_test(a_free_slot_is_granted_to_the_owner_without_one),
    };
    return cmocka_run_group_tests_name("cpu_slots", tests, NULL, NULL);
}
