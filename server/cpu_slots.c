/* cpu_slots.c — see cpu_slots.h. The line is a list of waiters on their own stacks, each with its own condition
 * variable, so that handing on a slot wakes exactly the thread it goes to. */
#include "server/cpu_slots.h"

#include "server/stamp.h"

/* Long enough that switching costs nothing, short enough that 200 streams on two cores each move once a second. */
#define TURN_SECONDS 0.01

struct cpu_waiter {
    pthread_cond_t granted_signal;
    bool granted;
    cpu_waiter *next;
};

void cpu_slots_init(cpu_slots *slots, size_t count) {
    pthread_mutex_init(&slots->lock, NULL);
    slots->free = count;
    slots->first = slots->last = NULL;
}

void cpu_slots_destroy(cpu_slots *slots) {
    pthread_mutex_destroy(&slots->lock);
}

static void grant_next(cpu_slots *slots) {
    cpu_waiter *next = slots->first;
    if (!next) {
        slots->free++;
        return;
    }
    slots->first = next->next;
    if (!slots->first) slots->last = NULL;
    next->granted = true;
    pthread_cond_signal(&next->granted_signal);
}

static void wait_in_line(cpu_slots *slots) {
    cpu_waiter self = {.granted = false, .next = NULL};
    pthread_cond_init(&self.granted_signal, NULL);
    /* The waiter is out of the line before this function returns. */
    if (slots->last) {
        slots->last->next = &self;
    } else {
        slots->first = &self; /* cppcheck-suppress autoVariables */
    }
    slots->last = &self; /* cppcheck-suppress autoVariables */
    while (!self.granted) pthread_cond_wait(&self.granted_signal, &slots->lock);
    pthread_cond_destroy(&self.granted_signal);
}

void cpu_take(cpu_slots *slots, cpu_turn *turn) {
    if (turn->held) return;
    pthread_mutex_lock(&slots->lock);
    if (slots->free > 0) {
        slots->free--;
    } else {
        wait_in_line(slots);
    }
    pthread_mutex_unlock(&slots->lock);
    turn->held = true;
    turn->since = stamp_seconds();
}

void cpu_leave(cpu_slots *slots, cpu_turn *turn) {
    if (!turn->held) return;
    turn->held = false;
    pthread_mutex_lock(&slots->lock);
    grant_next(slots);
    pthread_mutex_unlock(&slots->lock);
}

void cpu_pass(cpu_slots *slots, cpu_turn *turn) {
    if (!turn->held || stamp_seconds() - turn->since < TURN_SECONDS) return;
    pthread_mutex_lock(&slots->lock);
    if (slots->first) {
        grant_next(slots);
        wait_in_line(slots);
    }
    pthread_mutex_unlock(&slots->lock);
    turn->since = stamp_seconds();
}
