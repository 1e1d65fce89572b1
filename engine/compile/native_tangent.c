/* native_tangent.c — machine code for tangent lanes.
 *
 * Lanes are in memory, PROGRAM_LANES for each slot; RBP points to the lanes of slot 0. The translation determines from
 * the kind of seeded symbols which slots may have nonzero tangents. The code contains no tests. Contributions are added
 * in the interpreter's order. A zero tangent that the interpreter skips may contribute −0; program_tangent replaces −0
 * by +0.
 *
 * Vector registers: 8 and 9 hold the sum, 10 the factor or mask, 11 and 12 one contribution. */
#include "engine/compile/native_int.h"

enum { SUM = 8, FACTOR_REGISTER = 10, PART = 11, HALVES = 2, HALF_BYTES = 32 };
_Static_assert(PROGRAM_LANES * sizeof(double) == (size_t)HALVES * HALF_BYTES, "lanes are two registers");

static asm_operand lanes_at(uint32_t slot, int half) {
    return asm_memory(RBP, (int32_t)(slot * sizeof(double) * PROGRAM_LANES) + half * HALF_BYTES);
}

/* Returns the memory operand for a partial derivative that a function returns. It is stored after all lanes. */
static asm_operand waiting_at(const native_translation *t, int operand) {
    return asm_memory(RBP, (int32_t)((t->p->slot_count * PROGRAM_LANES + (size_t)operand) * sizeof(double)));
}

static void wide(native_translation *t, asm_vector op, int to, int first, asm_operand second) {
    asm_vector_op(t->out, op, to, first, second, 0);
}

static native_partial_kind kind_of(const native_reading *r, int operand) {
    return native_partials[r->op][operand].kind;
}

static bool contributes(const native_translation *t, const native_reading *r, int operand) {
    bool condition = r->op >= PROGRAM_LT && r->op <= PROGRAM_NOT;
    return t->moves[r->slot[operand]] && !condition && kind_of(r, operand) != PARTIAL_NONE;
}

/* Calls the function for a partial derivative. No register may hold a value, because the function may change every
 * register. */
static void call_partial(native_translation *t, const native_reading *r, int operand) {
    native_reading arguments = *r;
    if (r->op == PROGRAM_POWI) arguments.reads = 2;
    native_leave(t, &arguments, false);
    if (r->op == GRAPH_TABLE) {
        const double *constants = t->p->constants;
        asm_constant(t->out, RDI, (uint64_t)(uintptr_t)t->p->tables[(size_t)constants[r->slot[1]]]);
        asm_constant(t->out, RSI, (uint64_t)constants[r->slot[2]] + 1);
        native_call(t, R14, offsetof(native_environment, table));
    } else {
        asm_constant(t->out, RAX, (uint64_t)(uintptr_t)&program_partials[r->op][operand]);
        native_call(t, RAX, 0);
    }
    asm_vector_op(t->out, ASM_STORE_SD, 0, 0, waiting_at(t, operand), 0);
}

/* Computes the factor or mask of a contribution. Keeps the operands, because the value is computed next. */
static void write_factor(native_translation *t, const native_reading *r, int operand) {
    const native_partial *partial = &native_partials[r->op][operand];
    asm_operand place[PLACE_COUNT] = {[PLACE_P] = asm_register(FACTOR_REGISTER)};
    uint32_t here = (uint32_t)(r - t->all), next[OPERANDS] = {here, here, here};
    unsigned kept = 0;
    if (partial->kind == PARTIAL_CALL) {
        wide(t, ASM_BROADCAST, FACTOR_REGISTER, 0, waiting_at(t, operand));
    } else {
        native_fetch(t, r, &partial->recipe, next, place, &kept);
        native_steps(t, &partial->recipe, place);
    }
}

static void contribute(native_translation *t, const native_reading *r, int operand, bool first) {
    native_partial_kind kind = kind_of(r, operand);
    if (kind != PARTIAL_ONE && kind != PARTIAL_MINUS_ONE) write_factor(t, r, operand);
    for (int half = 0; half < HALVES; half++) {
        asm_operand lanes = lanes_at(r->slot[operand], half);
        int sum = SUM + half, part = first ? sum : PART + half;
        if (kind == PARTIAL_ONE || kind == PARTIAL_MINUS_ONE) {
            if (first)
                wide(t, ASM_WIDE_LOAD, sum, 0, lanes);
            else
                wide(t, kind == PARTIAL_ONE ? ASM_WIDE_ADD : ASM_WIDE_SUB, sum, sum, lanes);
            if (first && kind == PARTIAL_MINUS_ONE)
                wide(t, ASM_WIDE_XOR, sum, sum, asm_memory(R14, offsetof(native_environment, sign)));
        } else {
            bool mask = kind == PARTIAL_MASK;
            wide(t, mask ? ASM_WIDE_AND : ASM_WIDE_MUL, part, FACTOR_REGISTER, lanes);
            if (!first) wide(t, mask ? ASM_WIDE_OR : ASM_WIDE_ADD, sum, sum, asm_register(part));
        }
    }
}

static void store_lanes(native_translation *t, int registers, uint32_t slot) {
    for (int half = 0; half < HALVES; half++) wide(t, ASM_WIDE_STORE, registers + half, 0, lanes_at(slot, half));
}

void native_lanes_before(native_translation *t, const native_reading *r) {
    if (r->op == PROGRAM_SINCOS) return;
    for (int k = 0; k < r->reads; k++)
        if (contributes(t, r, k) && kind_of(r, k) == PARTIAL_CALL) call_partial(t, r, k);
    bool moves = false;
    for (int k = 0; k < r->reads; k++) {
        if (!contributes(t, r, k)) continue;
        contribute(t, r, k, !moves);
        moves = true;
    }
    if (moves) store_lanes(t, SUM, r->result[0]);
    t->moves[r->result[0]] = moves;
}

/* The sine and the cosine of SINCOS are in memory. The lanes of the angle are still valid. A result may use the same
 * memory for its lanes. */
void native_lanes_after(native_translation *t, const native_reading *r) {
    if (r->op != PROGRAM_SINCOS) return;
    bool moves = t->moves[r->slot[0]];
    t->moves[r->result[0]] = t->moves[r->result[1]] = moves;
    if (!moves) return;
    asm_operand sign = asm_memory(R14, offsetof(native_environment, sign)), factor = asm_register(FACTOR_REGISTER);
    for (int half = 0; half < HALVES; half++) wide(t, ASM_WIDE_LOAD, SUM + half, 0, lanes_at(r->slot[0], half));
    wide(t, ASM_BROADCAST, FACTOR_REGISTER, 0, native_home(t, r->result[0]));
    wide(t, ASM_WIDE_XOR, FACTOR_REGISTER, FACTOR_REGISTER, sign);
    for (int half = 0; half < HALVES; half++) wide(t, ASM_WIDE_MUL, PART + half, SUM + half, factor);
    wide(t, ASM_BROADCAST, FACTOR_REGISTER, 0, native_home(t, r->result[1]));
    for (int half = 0; half < HALVES; half++) wide(t, ASM_WIDE_MUL, SUM + half, SUM + half, factor);
    store_lanes(t, SUM, r->result[0]);
    store_lanes(t, PART, r->result[1]);
}

void native_lanes_end(native_translation *t) {
    for (int half = 0; half < HALVES; half++) wide(t, ASM_WIDE_XOR, SUM + half, SUM + half, asm_register(SUM + half));
    for (size_t i = 0; i < t->p->output_count; i++)
        if (!t->moves[t->p->output_slots[i]]) store_lanes(t, SUM, t->p->output_slots[i]);
}
