/* cpu_slots.c — scheduler of CPU slots; see cpu_slots.h. The queue is a linked list of waiters, each on the stack of
 * its thread. Each waiter has a condition variable, so that granting a slot wakes exactly one thread. */
#include "server/cpu_slots.h"

#include "server/clock.h"

/* Time slice, measured with tests/load/run.sh. With this value the cost of switching is below the noise of the
 * measurement, and a small run of another owner waits for less time than it computes. Each of 200 streams on two cores
 * advances about twice a second. */
#define SLICE_SECONDS 0.004

struct cpu_waiter {
    pthread_cond_t granted_signal;
    bool granted, without;
    cpu_share *share;
    cpu_waiter *next;
};

void cpu_slots_init(cpu_slots *slots, size_t count) {
    *slots = (cpu_slots){.free = count};
    pthread_mutex_init(&slots->lock, NULL);
}

void cpu_slots_destroy(cpu_slots *slots) {
    pthread_mutex_destroy(&slots->lock);
}

static cpu_share *share_of(cpu_slots *slots, const cpu_slot *slot) {
    return slot->share ? slot->share : &slots->common;
}

static bool goes_before(const cpu_share *a, const cpu_share *b) {
    bool has = atomic_load(&a->held) > 0, other_has = atomic_load(&b->held) > 0;
    return has != other_has ? other_has : a->used < b->used;
}

/* Removes and returns the next waiter, or returns NULL if the queue is empty. */
static cpu_waiter *next_in_line(cpu_slots *slots) {
    cpu_waiter *before_best = NULL, *best = slots->first;
    for (cpu_waiter *w = slots->first; w && w->next; w = w->next) {
        if (!goes_before(w->next->share, best->share)) continue;
        before_best = w;
        best = w->next;
    }
    if (!best) return NULL;
    *(before_best ? &before_best->next : &slots->first) = best->next;
    if (slots->last == best) slots->last = before_best;
    return best;
}

static void grant_next(cpu_slots *slots) {
    cpu_waiter *next = next_in_line(slots);
    if (!next) {
        slots->free++;
        return;
    }
    if (next->share->used > slots->level) slots->level = next->share->used;
    if (next->without) atomic_fetch_sub(&slots->without, 1);
    atomic_fetch_add(&next->share->held, 1);
    next->granted = true;
    pthread_cond_signal(&next->granted_signal);
}

static void wait_in_line(cpu_slots *slots, cpu_share *share) {
    cpu_waiter self = {.share = share, .without = atomic_load(&share->held) == 0};
    if (self.without) atomic_fetch_add(&slots->without, 1);
    pthread_cond_init(&self.granted_signal, NULL);
    /* `self` is removed from the queue before this function returns. */
    *(slots->last ? &slots->last->next : &slots->first) = &self; /* cppcheck-suppress autoVariables */
    slots->last = &self;                                         /* cppcheck-suppress autoVariables */
    while (!self.granted) pthread_cond_wait(&self.granted_signal, &slots->lock);
    pthread_cond_destroy(&self.granted_signal);
}

static void join_share(cpu_slots *slots, cpu_share *share) {
    if (share->users++ == 0 && share->used < slots->level) share->used = slots->level;
}

void cpu_slot_take(cpu_slots *slots, cpu_slot *slot) {
    if (slot->held) return;
    pthread_mutex_lock(&slots->lock);
    join_share(slots, share_of(slots, slot));
    if (slots->free > 0) {
        slots->free--;
        atomic_fetch_add(&share_of(slots, slot)->held, 1);
    } else {
        wait_in_line(slots, share_of(slots, slot));
    }
    pthread_mutex_unlock(&slots->lock);
    slot->held = true;
    slot->since = clock_seconds();
}

void cpu_slot_release(cpu_slots *slots, cpu_slot *slot) {
    if (!slot->held) return;
    slot->held = false;
    pthread_mutex_lock(&slots->lock);
    share_of(slots, slot)->used += clock_seconds() - slot->since;
    share_of(slots, slot)->users--;
    atomic_fetch_sub(&share_of(slots, slot)->held, 1);
    grant_next(slots);
    pthread_mutex_unlock(&slots->lock);
}

bool cpu_slots_are_wanted(cpu_slots *slots) {
    pthread_mutex_lock(&slots->lock);
    bool wanted = slots->first != NULL;
    pthread_mutex_unlock(&slots->lock);
    return wanted;
}

bool cpu_slot_is_owed(cpu_slots *slots, const cpu_slot *slot) {
    return atomic_load_explicit(&slots->without, memory_order_relaxed) > 0 &&
           atomic_load_explicit(&share_of(slots, slot)->held, memory_order_relaxed) > 1;
}

void cpu_slot_yield(cpu_slots *slots, cpu_slot *slot) {
    cpu_share *share = share_of(slots, slot);
    double now = clock_seconds();
    if (!slot->held || (now - slot->since < SLICE_SECONDS && !cpu_slot_is_owed(slots, slot))) return;
    pthread_mutex_lock(&slots->lock);
    share->used += now - slot->since;
    if (slots->first) {
        atomic_fetch_sub(&share->held, 1);
        grant_next(slots);
        wait_in_line(slots, share);
    }
    pthread_mutex_unlock(&slots->lock);
    slot->since = clock_seconds();
}
