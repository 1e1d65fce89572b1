/* cpu_slots.h — how many runs compute at the same time, and which.
 *
 * There may be hundreds of streams, each with a thread, but only as many compute as there are slots. A run takes a
 * slot, gives it up while it waits for a slow reader, and passes it on after a short turn when others wait: so every
 * stream moves on, and none holds a core for a client that does not read.
 *
 * Runs belong to shares, one for each token owner. A free slot goes to a share that holds none, among these to the one
 * that has computed least, and within a share to whoever has waited longest: a hundred streams of one owner get as much
 * as one of another. A share that holds several slots passes one to a share that waits without any at once, before its
 * turn is over. A share that was idle starts level with the others, so that idling earns no credit. */
#ifndef HAMEL_SERVER_CPU_SLOTS_H
#define HAMEL_SERVER_CPU_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cpu_waiter cpu_waiter;

/* Zero-initialize; outlives its turns. Changed under the lock of the slots. */
typedef struct cpu_share {
    double used;  /* seconds */
    size_t turns; /* waiting or held */
    atomic_size_t held;
} cpu_share;

typedef struct cpu_slots {
    pthread_mutex_t lock;
    size_t free;
    double level;          /* `used` of the share that was served last */
    atomic_size_t without; /* waiters whose share held no slot when they came */
    cpu_share common;      /* of turns that name none */
    cpu_waiter *first, *last;
} cpu_slots;

/* One thread's hold on the slots. Zero-initialize. */
typedef struct cpu_turn {
    cpu_share *share; /* NULL: one that all such turns have in common. Set before the turn is first used */
    bool held;
    double since; /* seconds; start of the turn */
} cpu_turn;

void cpu_slots_init(cpu_slots *slots, size_t count);
void cpu_slots_destroy(cpu_slots *slots);

void cpu_take(cpu_slots *slots, cpu_turn *turn);  /* waits; no-op when held */
void cpu_leave(cpu_slots *slots, cpu_turn *turn); /* no-op when not held */
bool cpu_is_wanted(cpu_slots *slots);             /* someone waits */

/* Whether the share of this turn holds several slots while another share waits without any. */
bool cpu_is_owed(cpu_slots *slots, const cpu_turn *turn);

/* Passes the slot to the next waiter, and waits for another, if the turn is over or the slot is owed to another share. */
void cpu_pass(cpu_slots *slots, cpu_turn *turn);

#endif
