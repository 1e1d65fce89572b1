/* schedule.c — orders the operations so that operations of one kind form runs.
 *
 * List scheduling: an operation is ready if its operands are computed. The scheduler repeatedly chooses the kind with
 * the most ready operations and emits all operations of that kind, including operations that become ready in the
 * meantime. A tape is divided into windows, which are ordered separately. If the whole tape is ordered at once, more
 * values must be stored at the same time, and the program is no faster (measurements in README.md). Cost: linear in the
 * number of operations. */
#include "engine/compile/program_int.h"

#include <assert.h>
#include <stdlib.h>

/* Number of operations in a window; README.md compares it with 256 and with the whole tape. */
enum { WINDOW = 4096 };

typedef struct scheduler {
    const program_operation *operations;
    uint32_t *waiting; /* waiting[operation]: number of its operands in the window that are not computed yet */
    uint32_t *edge;    /* edge[3 * user + k]: next edge of the operation that computes operand k of `user` */
    uint32_t *users;   /* users[operation]: first edge of the operation */
    uint32_t *next;    /* links of the queues of ready operations, one queue per kind of operation */
    uint32_t head[PROGRAM_OP_COUNT], tail[PROGRAM_OP_COUNT], length[PROGRAM_OP_COUNT];
    uint64_t ready; /* bit k: queue k is not empty */
    uint32_t *order;
    size_t count; /* number of entries in `order` */
} scheduler;

enum { NONE = UINT32_MAX };

static void push(scheduler *s, uint32_t value) {
    unsigned op = s->operations[value].op;
    s->next[value] = NONE;
    if (s->length[op]++)
        s->next[s->tail[op]] = value;
    else
        s->head[op] = value;
    s->tail[op] = value;
    s->ready |= (uint64_t)1 << op;
}

static uint32_t pop(scheduler *s, unsigned op) {
    uint32_t value = s->head[op];
    s->head[op] = s->next[value];
    if (!--s->length[op]) s->ready &= ~((uint64_t)1 << op);
    return value;
}

static unsigned longest_queue(const scheduler *s) {
    unsigned best = 0;
    uint32_t length = 0;
    for (unsigned op = 0; op < PROGRAM_OP_COUNT; op++) {
        if (!(s->ready >> op & 1) || s->length[op] <= length) continue;
        best = op;
        length = s->length[op];
    }
    return best;
}

/* Makes edges from the operations of the window to their users in the window. If a user reads a value twice, there are
 * two edges. */
static void link_window(scheduler *s, const uint32_t *window, size_t count) {
    for (size_t i = 0; i < count; i++) {
        s->users[window[i]] = NONE;
        s->waiting[window[i]] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const program_operation *o = &s->operations[window[i]];
        for (uint32_t k = 0; k < o->arity; k++) {
            uint32_t definer = s->operations[o->arg[k]].definer;
            if (s->operations[definer].op == PROGRAM_NO_OP || s->waiting[definer] == NONE) continue;
            s->edge[3 * window[i] + k] = s->users[definer];
            s->users[definer] = 3 * window[i] + k;
            s->waiting[window[i]]++;
        }
    }
}

static void release_users(scheduler *s, uint32_t value) {
    for (uint32_t e = s->users[value]; e != NONE; e = s->edge[e])
        if (!--s->waiting[e / 3]) push(s, e / 3);
}

/* Orders the operations of a window. Then sets `waiting` of these operations to NONE, so that later windows treat them
 * as computed. */
static void schedule_window(scheduler *s, const uint32_t *window, size_t count) {
    assert(count <= WINDOW && s->ready == 0);
    link_window(s, window, count);
    for (size_t i = 0; i < count; i++)
        if (!s->waiting[window[i]]) push(s, window[i]);
    while (s->ready) {
        unsigned op = longest_queue(s);
        while (s->length[op]) {
            uint32_t value = pop(s, op);
            s->order[s->count++] = value;
            release_users(s, value);
        }
    }
    for (size_t i = 0; i < count; i++) s->waiting[window[i]] = NONE;
}

/* Orders the operations of one part, window by window. A SINCOS is listed at the position of the earlier of its two
 * values, so that it comes before the users of both values. */
static void schedule_part(scheduler *s, size_t count, bool prepared, uint32_t *window) {
    size_t filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = s->operations[i].definer;
        const program_operation *o = &s->operations[value];
        uint32_t first = o->op == PROGRAM_SINCOS && o->second < value ? o->second : value;
        if (i != first || o->op == PROGRAM_NO_OP || o->prepared != prepared) continue;
        window[filled++] = value;
        if (filled < WINDOW) continue;
        schedule_window(s, window, filled);
        filled = 0;
    }
    schedule_window(s, window, filled);
}

/* Counts the operations outside the prepared part. */
static size_t count_rest(const program_operation *operations, size_t count) {
    size_t rest = 0;
    for (uint32_t i = 0; i < count; i++)
        rest += operations[i].definer == i && operations[i].op != PROGRAM_NO_OP && !operations[i].prepared;
    return rest;
}

/* Programs with at least this many operations are ordered by families (families.c). With 13 to 21 bytes per instruction
 * (README.md), the code of a shorter program is at most 43 kB long, about the size of an instruction cache. */
enum { LONG_PROGRAM = 2048 };

hamel_status program_schedule(program_operation *operations, size_t count, uint32_t *order, size_t *order_count,
                              size_t *prepared_count, size_t *places) {
    scheduler s = {.operations = operations, .order = order};
    uint32_t *memory = malloc((6 * count + WINDOW) * sizeof *memory);
    if (!memory) return HAMEL_NO_MEMORY;
    s.waiting = memory;
    s.users = memory + count;
    s.next = memory + 2 * count;
    s.edge = memory + 3 * count;
    schedule_part(&s, count, true, memory + 6 * count);
    *prepared_count = s.count;
    *places = 0;
    hamel_status status = HAMEL_OK;
    size_t prepared = s.count;
    if (count_rest(operations, count) >= LONG_PROGRAM)
        status = program_order_families(operations, count, order, &s.count, places);
    if (s.count == prepared) schedule_part(&s, count, false, memory + 6 * count);
    *order_count = s.count;
    free(memory);
    return status;
}
