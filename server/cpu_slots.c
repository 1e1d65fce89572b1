/* cpu_slots.c — see cpu_slots.h. The line is a list of waiters on their own stacks, each with its own condition
 * variable, so that handing on a slot wakes exactly the thread it goes to. */
#include "server/cpu_slots.h"

#include "server/stamp.h"

/* Long enough that switching costs nothing (tests/load/run.sh), short enough that another token's small run waits for less
 * than its own time, and 200 streams on two cores each move twice a second. */
#define TURN_SECONDS 0.004

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

static cpu_share *share_of(cpu_slots *slots, const cpu_turn *turn) {
    return turn->share ? turn->share : &slots->common;
}

static bool goes_before(const cpu_share *a, const cpu_share *b) {
    bool has = atomic_load(&a->held) > 0, other_has = atomic_load(&b->held) > 0;
    return has != other_has ? other_has : a->used < b->used;
}

/* Takes the next waiter out of the line; NULL when nobody waits. */
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

static void enter(cpu_slots *slots, cpu_share *share) {
    if (share->turns++ == 0 && share->used < slots->level) share->used = slots->level;
}

void cpu_take(cpu_slots *slots, cpu_turn *turn) {
    if (turn->held) return;
    pthread_mutex_lock(&slots->lock);
    enter(slots, share_of(slots, turn));
    if (slots->free > 0) {
        slots->free--;
        atomic_fetch_add(&share_of(slots, turn)->held, 1);
    } else {
        wait_in_line(slots, share_of(slots, turn));
    }
    pthread_mutex_unlock(&slots->lock);
    turn->held = true;
    turn->since = stamp_seconds();
}

void cpu_leave(cpu_slots *slots, cpu_turn *turn) {
    if (!turn->held) return;
    turn->held = false;
    pthread_mutex_lock(&slots->lock);
    share_of(slots, turn)->used += stamp_seconds() - turn->since;
    share_of(slots, turn)->turns--;
    atomic_fetch_sub(&share_of(slots, turn)->held, 1);
    grant_next(slots);
    pthread_mutex_unlock(&slots->lock);
}

bool cpu_is_wanted(cpu_slots *slots) {
    pthread_mutex_lock(&slots->lock);
    bool wanted = slots->first != NULL;
    pthread_mutex_unlock(&slots->lock);
    return wanted;
}

bool cpu_is_owed(cpu_slots *slots, const cpu_turn *turn) {
    return atomic_load_explicit(&slots->without, memory_order_relaxed) > 0 &&
           atomic_load_explicit(&share_of(slots, turn)->held, memory_order_relaxed) > 1;
}

void cpu_pass(cpu_slots *slots, cpu_turn *turn) {
    cpu_share *share = share_of(slots, turn);
    double now = stamp_seconds();
    if (!turn->held || (now - turn->since < TURN_SECONDS && !cpu_is_owed(slots, turn))) return;
    pthread_mutex_lock(&slots->lock);
    share->used += now - turn->since;
    if (slots->first) {
        atomic_fetch_sub(&share->held, 1);
        grant_next(slots);
        wait_in_line(slots, share);
    }
    pthread_mutex_unlock(&slots->lock);
    turn->since = stamp_seconds();
}
