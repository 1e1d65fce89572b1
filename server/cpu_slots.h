/* cpu_slots.h — CPU slots: a bound on the number of computing threads, shared fairly between token owners.
 *
 * There may be hundreds of streams, each with a thread, but a thread computes only while it holds a slot. While a run
 * waits for a slow reader, it releases its slot. If other threads wait for a slot, a run yields its slot after a short
 * time slice. So every stream advances, and no slot is held for a client that does not read.
 *
 * Runs belong to shares, one for each token owner. A free slot goes to a share that holds no slot. Among several shares
 * without a slot, the free slot goes to the share that has computed for the shortest time. Within a share the slot goes
 * to the run that has waited longest. So a hundred streams of one owner get as much processor time as one stream of
 * another owner. If a share waits without a slot, a share that holds several slots yields one of its slots immediately.
 * A share that was idle starts with at least the usage of the share that got a slot last, so a share gains nothing by
 * being idle. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cpu_waiter cpu_waiter;

/* Zero-initialize. A share must outlive its slots. The lock of cpu_slots guards the share. */
typedef struct cpu_share {
    double used;  /* computing time, s */
    size_t users; /* threads that wait for a slot or hold one */
    atomic_size_t held;
} cpu_share;

typedef struct cpu_slots {
    pthread_mutex_t lock;
    size_t free;
    double level;          /* `used` of the last share that got a slot */
    atomic_size_t without; /* waiters whose share held no slot when they began to wait */
    cpu_share common;      /* share of slots whose `share` is NULL */
    cpu_waiter *first, *last;
} cpu_slots;

/* The slot of one thread. The thread holds the slot, waits for it, or does not need it. Zero-initialize. */
typedef struct cpu_slot {
    cpu_share *share; /* set before the first use; NULL means the common share */
    bool held;
    double since; /* start of the time slice (clock_seconds) */
} cpu_slot;

void cpu_slots_init(cpu_slots *slots, size_t count);
void cpu_slots_destroy(cpu_slots *slots);

void cpu_slot_take(cpu_slots *slots, cpu_slot *slot);    /* waits for a slot; no-op if the thread holds one */
void cpu_slot_release(cpu_slots *slots, cpu_slot *slot); /* no-op if no slot is held */
bool cpu_slots_are_wanted(cpu_slots *slots);             /* returns true if another thread waits for a slot */

/* Returns true if the share of this slot holds several slots while a share without slots waits. */
bool cpu_slot_is_owed(cpu_slots *slots, const cpu_slot *slot);

/* If the time slice has ended or cpu_slot_is_owed is true, yields the slot to the next waiter and waits for another. */
void cpu_slot_yield(cpu_slots *slots, cpu_slot *slot);
