/* native_loops.c — writes equal instructions on adjacent slots as loops over four members at once.
 *
 * families.c lists equal operations of equal bodies one after the other and gives them adjacent slots. A segment is a
 * sequence of such instructions. Each operand is at the next slot in each member, or at the same slot in all members.
 * Consecutive segments of one length form one loop. The loop passes values between them in registers. A value is stored
 * only if an instruction after the loop reads it, or if it is an output.
 *
 * RCX is the offset of the first of the four members in bytes. If the length is not a multiple of four, the last pass
 * computes some members a second time. This is correct because loops write only slots that no other instruction
 * writes. */
#include "engine/compile/native_int.h"

#include <assert.h>
#include <string.h>

/* A loop replaces at least LOOP_SHORTEST instructions of each segment, which are two passes. */
enum { LOOP_SHORTEST = 8, LOOP_SEGMENTS = 24, LOOP_VALUES = 4 * LOOP_SEGMENTS, MEMBERS = 4, UNUSED = INT32_MAX };

/* A value of each member, at adjacent addresses, or a value that all members share. */
typedef struct loop_value {
    asm_operand home; /* address of the value of the first member */
    bool shared, stored;
    int reg; /* register that holds the value, or NOWHERE */
} loop_value;

typedef struct loop_segment {
    const native_reading *first;
    int operand[OPERANDS], result; /* indices in `values` */
} loop_segment;

typedef struct native_loop {
    native_translation *t;
    size_t length; /* number of members in each segment */
    loop_segment segments[LOOP_SEGMENTS];
    int segment_count;
    loop_value values[LOOP_VALUES];
    int value_count;
    int held[NATIVE_REGISTERS]; /* value in each register, or NONE_HELD */
} native_loop;

enum { NONE_HELD = -1 };

/* Returns the instruction for four numbers, or ASM_NONE. */
static asm_vector wide(uint8_t op) {
    static const uint8_t table[] = {
        [ASM_LOAD_SD] = ASM_WIDE_LOAD, [ASM_ADD_SD] = ASM_WIDE_ADD, [ASM_SUB_SD] = ASM_WIDE_SUB,
        [ASM_MUL_SD] = ASM_WIDE_MUL,   [ASM_DIV_SD] = ASM_WIDE_DIV, [ASM_SQRT_SD] = ASM_WIDE_SQRT,
        [ASM_XOR] = ASM_WIDE_XOR,      [ASM_AND] = ASM_WIDE_AND,    [ASM_OR] = ASM_WIDE_OR};
    return op < sizeof table ? (asm_vector)table[op] : ASM_NONE;
}

static bool has_wide_recipe(uint8_t op) {
    const native_step *s = native_recipes[op].steps;
    if (s->op == ASM_NONE) return false;
    for (int i = 0; i < NATIVE_STEPS && s[i].op != ASM_NONE; i++)
        if (wide(s[i].op) == ASM_NONE) return false;
    return true;
}

/* Returns the distance in bytes between two addresses, or UNUSED if their base registers differ. */
static int64_t distance(asm_operand from, asm_operand to) {
    return from.reg == to.reg ? (int64_t)to.displacement - from.displacement : UNUSED;
}

/* Returns the length of the segment that begins at r, or 1. Sets shared[k] if all members read the same operand k. */
static size_t segment_length(const native_translation *t, const native_reading *r, bool shared[OPERANDS]) {
    if (t->end - r < 2 || !has_wide_recipe(r->op) || t->again[r->result[0]]) return 1;
    asm_operand result = native_home(t, r->result[0]), operand[OPERANDS];
    size_t most = (size_t)(t->end - r);
    for (int k = 0; k < r->reads; k++) {
        operand[k] = native_home(t, r->slot[k]);
        shared[k] = r[1].slot[k] == r->slot[k];
        int64_t apart = distance(operand[k], result) / (int64_t)sizeof(double); /* positive in a recurrence */
        if (apart > 0 && (size_t)apart < most) most = (size_t)apart;
    }
    for (size_t n = 1; n < most; n++) {
        const native_reading *next = r + n;
        int64_t bytes = (int64_t)(n * sizeof(double));
        bool fits = next->op == r->op && !t->again[next->result[0]] &&
                    distance(result, native_home(t, next->result[0])) == bytes;
        for (int k = 0; fits && k < r->reads; k++)
            fits = distance(operand[k], native_home(t, next->slot[k])) == (shared[k] ? 0 : bytes);
        if (!fits) return n;
    }
    return most;
}

/* Returns true if an operand is the result of another member, so that the members must be computed in order. */
static bool is_of_other_member(const native_loop *l, asm_operand result, asm_operand operand, bool shared) {
    int64_t from = distance(result, operand), bytes = (int64_t)(l->length * sizeof(double));
    if (from == UNUSED || from >= bytes) return false;
    return shared ? from >= 0 : from > -bytes && from != 0;
}

/* Returns the index of the value at an address. If the value is new, adds it. Returns NONE_HELD if the value depends on
 * another member, or if the same address is shared and not shared. */
static int find_value(native_loop *l, asm_operand home, bool shared) {
    for (int s = 0; s < l->segment_count; s++)
        if (is_of_other_member(l, l->values[l->segments[s].result].home, home, shared)) return NONE_HELD;
    for (int v = 0; v < l->value_count; v++)
        if (distance(l->values[v].home, home) == 0) return l->values[v].shared == shared ? v : NONE_HELD;
    l->values[l->value_count] = (loop_value){.home = home, .shared = shared, .stored = true, .reg = NOWHERE};
    return l->value_count++;
}

/* Adds a segment to the loop. Returns false if the segment must not be in the same loop as the segments before it. */
static bool add_segment(native_loop *l, const native_reading *r, const bool shared[OPERANDS]) {
    loop_segment s = {.first = r};
    asm_operand result = native_home(l->t, r->result[0]);
    if (l->segment_count == LOOP_SEGMENTS) return false;
    for (int k = 0; k < r->reads; k++) {
        if (is_of_other_member(l, result, native_home(l->t, r->slot[k]), shared[k])) return false;
        s.operand[k] = find_value(l, native_home(l->t, r->slot[k]), shared[k]);
        if (s.operand[k] == NONE_HELD) return false;
    }
    s.result = find_value(l, result, false);
    if (s.result == NONE_HELD) return false;
    l->values[s.result].stored = false;
    l->segments[l->segment_count++] = s;
    return true;
}

/* Collects the segments of a loop that begins at r, the first of which has the length l->length. Returns the number of
 * instructions. */
static size_t collect(native_loop *l, const native_reading *r, bool shared[OPERANDS]) {
    const native_reading *at = r;
    do {
        if (!add_segment(l, at, shared)) break;
        at += l->length;
    } while (at < l->t->end && segment_length(l->t, at, shared) == l->length);
    return (size_t)(at - r);
}

/* Returns the first segment from `from` on that reads a value, or UNUSED. */
static int next_read(const native_loop *l, int value, int from) {
    for (int s = from; s < l->segment_count; s++)
        for (int k = 0; k < l->segments[s].first->reads; k++)
            if (l->segments[s].operand[k] == value) return s;
    return UNUSED;
}

static asm_operand member_home(const loop_value *v) {
    asm_operand home = v->home;
    home.indexed = !v->shared;
    return home;
}

static void store_value(native_loop *l, loop_value *v) {
    asm_vector_op(l->t->out, ASM_WIDE_STORE, v->reg, 0, member_home(v), 0);
    v->stored = true;
}

static void drop(native_loop *l, int value) {
    l->held[l->values[value].reg] = NONE_HELD;
    l->values[value].reg = NOWHERE;
}

/* Returns a free register. If all are in use, evicts the value outside `kept` that is read last. */
static int take_register(native_loop *l, unsigned kept, int segment) {
    int best = NONE_HELD, latest = -1;
    for (int i = 0; i < NATIVE_REGISTERS; i++) {
        if (l->held[i] == NONE_HELD) return i;
        int next = next_read(l, l->held[i], segment);
        if (kept >> i & 1 || next <= latest) continue;
        best = i;
        latest = next;
    }
    assert(best != NONE_HELD);
    loop_value *v = &l->values[l->held[best]];
    if (!v->stored) store_value(l, v);
    drop(l, l->held[best]);
    return best;
}

static asm_operand fetch_value(native_loop *l, int value, int segment, bool must, unsigned *kept) {
    loop_value *v = &l->values[value];
    if (v->reg == NOWHERE) {
        if (!must && !v->shared && next_read(l, value, segment + 1) == UNUSED) return member_home(v);
        int reg = take_register(l, *kept, segment);
        asm_vector_op(l->t->out, v->shared ? ASM_BROADCAST : ASM_WIDE_LOAD, reg, 0, member_home(v), 0);
        l->held[reg] = value;
        v->reg = reg;
    }
    *kept |= 1u << v->reg;
    return asm_register(v->reg);
}

/* Returns true if an instruction after the loop reads a result of the segment, or if a result is an output. */
static bool is_read_later(const native_loop *l, const loop_segment *s, const native_reading *end) {
    for (size_t n = 0; n < l->length; n++) {
        uint32_t slot = s->first[n].result[0], last = l->t->last[slot];
        if (l->t->output[slot] != NONE || (last != NONE && l->t->all + last >= end)) return true;
    }
    return false;
}

static void write_segment(native_loop *l, int number, const native_reading *end) {
    const loop_segment *s = &l->segments[number];
    const native_recipe *recipe = &native_recipes[s->first->op];
    native_recipe widened = *recipe;
    asm_operand place[PLACE_COUNT] = {{0}};
    unsigned kept = 0;
    for (int k = 0; k < s->first->reads; k++)
        place[k] = fetch_value(l, s->operand[k], number, native_readings(recipe, k) > 1, &kept);
    for (int k = 0; k < s->first->reads; k++)
        if (l->values[s->operand[k]].reg != NOWHERE && next_read(l, s->operand[k], number + 1) == UNUSED)
            drop(l, s->operand[k]);
    loop_value *result = &l->values[s->result];
    result->reg = take_register(l, 0, number + 1);
    l->held[result->reg] = s->result;
    place[PLACE_R] = asm_register(result->reg);
    for (int i = 0; i < NATIVE_STEPS && widened.steps[i].op != ASM_NONE; i++)
        widened.steps[i].op = (uint8_t)wide(widened.steps[i].op);
    native_steps(l->t, &widened, place);
    if (is_read_later(l, s, end)) store_value(l, result);
    if (next_read(l, s->result, number + 1) == UNUSED) drop(l, s->result);
}

size_t native_write_loop(native_translation *t, const native_reading *r) {
    bool shared[OPERANDS] = {false, false, false};
    if (t->end - r < LOOP_SHORTEST || r[LOOP_SHORTEST - 1].op != r->op) return 0;
    size_t length = segment_length(t, r, shared);
    if (length < LOOP_SHORTEST) return 0;
    native_loop l = {.t = t, .length = length};
    size_t count = collect(&l, r, shared);
    if (count == 0) return 0;
    for (int i = 0; i < NATIVE_REGISTERS; i++) l.held[i] = NONE_HELD;
    native_store_all(t);
    size_t begin = asm_loop_begin(t->out);
    for (int s = 0; s < l.segment_count; s++) write_segment(&l, s, r + count);
    asm_loop_end(t->out, begin, l.length, MEMBERS);
    for (int s = 0; s < l.segment_count; s++)
        for (size_t n = 0; n < l.length; n++) t->stored[l.segments[s].first[n].result[0]] = true;
    return count;
}

bool native_write_copy_loop(native_translation *t, asm_operand from, bool shared, asm_operand to, size_t count) {
    if (count < LOOP_SHORTEST) return false;
    from.indexed = !shared;
    to.indexed = true;
    size_t begin = asm_loop_begin(t->out);
    asm_vector_op(t->out, shared ? ASM_BROADCAST : ASM_WIDE_LOAD, SCRATCH_S, 0, from, 0);
    asm_vector_op(t->out, ASM_WIDE_STORE, SCRATCH_S, 0, to, 0);
    asm_loop_end(t->out, begin, count, MEMBERS);
    return true;
}
