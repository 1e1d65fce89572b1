/* native.c — translates a program's tape to machine code. See native.h.
 *
 * One pass over the tape translates one instruction after the other. Values are in vector registers 0 to 13. If no
 * register is free, the value with the latest next use is evicted to memory. An output is stored in the outputs, any
 * other value in its slot. A value is stored at most once. Registers 14 and 15 are scratch registers. RBX points to the
 * workspace, RBP to the outputs, R14 to the numbers and functions that recipes use. The interpreter evaluates
 * operations that depend on parameters only, once per run.
 *
 * No page is writable and executable at the same time, and no mapping changes from writable to executable. The code is
 * written through one mapping of an anonymous file, which is unmapped before the file is sealed and mapped for
 * execution. This works under systemd's MemoryDenyWriteExecute. */
#include "engine/compile/native.h"

#include "engine/compile/native_int.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* LONGEST_CODE bounds the code to 64 MiB, about three million instructions. Longer code is reported as
 * NATIVE_NO_MEMORY. With at most MOST_SLOTS slots, the offsets of tangent lanes, 64 bytes per slot, fit into 32
 * bits. */
enum { LONGEST_CODE = 64 << 20, MOST_SLOTS = INT32_MAX / 128 };

#define OP(name, ...)                                         \
    static double call_##name(double x, double y, double z) { \
        return value_##name(x, y, z);                         \
    }
PROGRAM_OPERATION_LIST
#undef OP

static void call_sincos(double x, double *sine, double *cosine) {
    scalar_sincos(x, sine, cosine);
}

#define SIGN_BIT (UINT64_C(1) << 63)
static const native_environment surroundings = {
    .one = {1, 1, 1, 1, 1, 1, 1, 1},
    .sign = {SIGN_BIT, SIGN_BIT, SIGN_BIT, SIGN_BIT, SIGN_BIT, SIGN_BIT, SIGN_BIT, SIGN_BIT},
    .magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
#define OP(name, ...) .value[PROGRAM_##name] = call_##name,
    PROGRAM_OPERATION_LIST
#undef OP
        .sincos = call_sincos,
    .table = table_value,
};

static void read_tape(native_translation *t) {
    const program_instruction *i = t->p->instructions;
    native_reading *r = t->all;
    for (const program_run *run = t->p->runs; run < t->p->runs + t->p->run_count; run++) {
        for (uint32_t k = 0; k < run->count; k++, i++, r++) {
            *r = (native_reading){.op = (uint8_t)run->op, .reads = (uint8_t)program_operands(run->op), .writes = 1};
            r->slot[0] = program_a(*i), r->slot[1] = program_b(*i), r->slot[2] = program_c(*i);
            r->result[0] = program_dst(*i), r->result[1] = program_c(*i);
            if (run->op == PROGRAM_SINCOS) r->writes = 2;
        }
    }
}

/* Returns true if exponents, table numbers and orders of derivatives are constants, because they become part of the
 * code. */
static bool has_constants(const native_translation *t, const native_reading *r) {
    if (r->op == PROGRAM_POWI) return r->slot[1] < t->p->constant_count;
    return r->op != GRAPH_TABLE || (r->slot[1] < t->p->constant_count && r->slot[2] < t->p->constant_count);
}

/* Returns true if every operand is written before it is read, no result is written to a constant or input, and every
 * output is written. Marks written slots in t->stored. */
static bool is_valid(native_translation *t) {
    const program *p = t->p;
    size_t given = p->constant_count + p->input_start[SYMBOL_KIND_COUNT];
    if (given > p->slot_count || p->slot_count > MOST_SLOTS) return false;
    for (size_t i = 0; i < given; i++) t->stored[i] = true;
    for (const native_reading *r = t->all; r < t->end; r++) {
        if (r->op >= PROGRAM_OP_COUNT || !has_constants(t, r)) return false;
        for (int k = 0; k < r->reads; k++)
            if (r->slot[k] >= p->slot_count || !t->stored[r->slot[k]]) return false;
        for (int k = 0; k < r->writes; k++) {
            if (r->result[k] < given || r->result[k] >= p->slot_count) return false;
            t->again[r->result[k]] = t->again[r->result[k]] || t->stored[r->result[k]];
            t->stored[r->result[k]] = true;
        }
    }
    for (size_t i = 0; i < p->output_count; i++)
        if (p->output_slots[i] >= p->slot_count || !t->stored[p->output_slots[i]]) return false;
    return true;
}

/* Finds the next reader of each value, and the last reader of each slot, in a backward pass. */
static void find_next_reads(native_translation *t) {
    uint32_t *seen = t->first;
    for (size_t i = 0; i < t->p->slot_count; i++) seen[i] = t->last[i] = NONE;
    for (native_reading *r = t->end; r-- > t->begin;) {
        for (int k = 0; k < r->writes; k++) r->result_next[k] = seen[r->result[k]];
        for (int k = 0; k < r->writes; k++) seen[r->result[k]] = NONE;
        for (int k = 0; k < r->reads; k++) r->next[k] = seen[r->slot[k]];
        for (int k = 0; k < r->reads; k++) {
            seen[r->slot[k]] = (uint32_t)(r - t->all);
            if (t->last[r->slot[k]] == NONE) t->last[r->slot[k]] = (uint32_t)(r - t->all);
        }
    }
}

/* Assigns outputs to slots. In tangent mode, the values of outputs are not stored. */
static void find_outputs(native_translation *t) {
    const program *p = t->p;
    for (size_t i = 0; i < p->slot_count; i++) t->output[i] = NONE;
    if (t->kind >= 0) return;
    for (const native_reading *r = t->begin; r < t->end; r++)
        for (int k = 0; k < r->writes; k++) t->output[r->result[k]] = UNSETTLED;
    for (size_t i = 0; i < p->output_count; i++)
        if (t->output[p->output_slots[i]] == UNSETTLED) t->output[p->output_slots[i]] = (uint32_t)i;
    for (size_t i = 0; i < p->slot_count; i++)
        if (t->output[i] == UNSETTLED) t->output[i] = NONE;
}

static int32_t bytes_to(const native_translation *t, size_t index) {
    return (int32_t)(index * t->stride);
}

asm_operand native_home(const native_translation *t, uint32_t slot) {
    if (t->output[slot] != NONE) return asm_memory(RBP, bytes_to(t, t->output[slot]));
    return asm_memory(RBX, bytes_to(t, slot));
}

static void store(native_translation *t, int reg, uint32_t slot) {
    asm_vector_op(t->out, ASM_STORE_SD, reg, 0, native_home(t, slot), 0);
    t->stored[slot] = true;
}

static void let_go(native_translation *t, int reg) {
    if (t->held[reg].slot != NONE) t->reg[t->held[reg].slot] = NOWHERE;
    t->held[reg].slot = NONE;
}

static void hold(native_translation *t, int reg, uint32_t slot, uint32_t next) {
    assert(reg < t->registers && t->held[reg].slot == NONE);
    t->held[reg].slot = slot;
    t->held[reg].next = next;
    t->reg[slot] = (uint8_t)reg;
}

/* Returns a free register. If all are in use, evicts the value with the latest next use. Registers in the mask `kept`
 * are not evicted. */
static int take(native_translation *t, unsigned kept) {
    int last = 0;
    while (kept >> last & 1) last++; /* `kept` has at most three registers */
    for (int i = 0; i < t->registers; i++) {
        if (t->held[i].slot == NONE) return i;
        if (!(kept >> i & 1) && t->held[i].next > t->held[last].next) last = i;
    }
    if (!t->stored[t->held[last].slot]) store(t, last, t->held[last].slot);
    let_go(t, last);
    return last;
}

/* Returns the operand with the value of a slot. If `must` is true or the value will be read again, the operand is a
 * register. Otherwise it may be memory. */
static asm_operand fetch(native_translation *t, uint32_t slot, uint32_t next, bool must, unsigned *kept) {
    int reg = t->reg[slot];
    if (reg == NOWHERE) {
        if (!must && next == NONE) return native_home(t, slot);
        reg = take(t, *kept);
        asm_vector_op(t->out, ASM_LOAD_SD, reg, 0, native_home(t, slot), 0);
        hold(t, reg, slot, next);
    }
    *kept |= 1u << reg;
    return asm_register(reg);
}

/* Releases the registers of operands that are not read again. */
static void pass(native_translation *t, const native_reading *r) {
    for (int k = 0; k < r->reads; k++) {
        int reg = t->reg[r->slot[k]];
        if (reg == NOWHERE) continue;
        t->held[reg].next = r->next[k];
        if (r->next[k] == NONE) let_go(t, reg);
    }
}

/* Records that a result has been computed in a free register, and stores the result if it is an output. */
static void keep_result(native_translation *t, const native_reading *r, int reg) {
    uint32_t slot = r->result[0];
    t->stored[slot] = false;
    if (t->output[slot] != NONE) store(t, reg, slot);
    if (r->result_next[0] != NONE) hold(t, reg, slot, r->result_next[0]);
}

static bool has_first(uint8_t op) {
    return op != ASM_LOAD_SD && op != ASM_WIDE_LOAD && op != ASM_WIDE_SQRT && op != ASM_BROADCAST;
}

int native_readings(const native_recipe *recipe, int place) {
    int count = 0;
    for (const native_step *s = recipe->steps; s < recipe->steps + NATIVE_STEPS && s->op != ASM_NONE; s++) {
        if (has_first(s->op) && s->first == place) count += 2;
        count += s->second == place;
    }
    return count;
}

void native_fetch(native_translation *t, const native_reading *r, const native_recipe *recipe, const uint32_t *next,
                  asm_operand *place, unsigned *kept) {
    for (int k = 0; k < r->reads; k++) {
        int count = native_readings(recipe, k);
        if (count) place[k] = fetch(t, r->slot[k], next[k], count > 1, kept);
    }
}

void native_steps(native_translation *t, const native_recipe *recipe, asm_operand *place) {
    place[PLACE_S] = asm_register(SCRATCH_S);
    place[PLACE_T] = asm_register(SCRATCH_T);
    place[PLACE_ONE] = asm_memory(R14, offsetof(native_environment, one));
    place[PLACE_SIGN] = asm_memory(R14, offsetof(native_environment, sign));
    place[PLACE_MAGNITUDE] = asm_memory(R14, offsetof(native_environment, magnitude));
    for (const native_step *s = recipe->steps; s < recipe->steps + NATIVE_STEPS && s->op != ASM_NONE; s++) {
        int first = has_first(s->op) ? place[s->first].reg : 0;
        asm_vector_op(t->out, s->op, place[s->to].reg, first, place[s->second], s->byte);
    }
}

static void write_recipe(native_translation *t, const native_reading *r, const native_recipe *recipe) {
    asm_operand place[PLACE_COUNT] = {{0}};
    unsigned kept = 0;
    native_fetch(t, r, recipe, r->next, place, &kept);
    pass(t, r);
    int result = take(t, 0);
    place[PLACE_R] = asm_register(result);
    native_steps(t, recipe, place);
    keep_result(t, r, result);
}

/* Writes the products of program_power, in the same order. */
static void write_power(native_translation *t, const native_reading *r) {
    asm_operand one = asm_memory(R14, offsetof(native_environment, one)), s = asm_register(SCRATCH_S);
    asm_operand f = asm_register(SCRATCH_T);
    int n = (int)t->p->constants[r->slot[1]];
    unsigned m = (unsigned)(n < 0 ? -n : n), kept = 0;
    asm_operand x = fetch(t, r->slot[0], r->next[0], false, &kept);
    asm_vector_op(t->out, x.memory ? ASM_LOAD_SD : ASM_MOVE, s.reg, 0, x, 0);
    asm_vector_op(t->out, ASM_LOAD_SD, f.reg, 0, one, 0);
    for (; m; m >>= 1) {
        if (m & 1) asm_vector_op(t->out, ASM_MUL_SD, f.reg, f.reg, s, 0);
        if (m > 1) asm_vector_op(t->out, ASM_MUL_SD, s.reg, s.reg, s, 0);
    }
    pass(t, r);
    int result = take(t, 0);
    asm_vector_op(t->out, n < 0 ? ASM_LOAD_SD : ASM_MOVE, result, 0, n < 0 ? one : f, 0);
    if (n < 0) asm_vector_op(t->out, ASM_DIV_SD, result, result, f, 0);
    keep_result(t, r, result);
}

void native_store_all(native_translation *t) {
    for (int i = 0; i < t->registers; i++) {
        uint32_t slot = t->held[i].slot;
        if (slot != NONE && !t->stored[slot]) store(t, i, slot);
        let_go(t, i);
    }
}

void native_store_operands(native_translation *t, const native_reading *r) {
    for (int k = 0; k < r->reads; k++) {
        int reg = t->reg[r->slot[k]];
        if (reg != NOWHERE && !t->stored[r->slot[k]]) store(t, reg, r->slot[k]);
    }
    pass(t, r);
}

void native_leave(native_translation *t, const native_reading *r, bool last) {
    static const int waiting[] = {SCRATCH_S, SCRATCH_T};
    assert(r->reads <= 2);
    for (int k = 0; k < r->reads; k++) {
        int reg = t->reg[r->slot[k]];
        asm_operand x = reg == NOWHERE ? native_home(t, r->slot[k]) : asm_register(reg);
        asm_vector_op(t->out, x.memory ? ASM_LOAD_SD : ASM_MOVE, waiting[k], 0, x, 0);
    }
    if (last) pass(t, r);
    native_store_all(t);
    for (int k = 0; k < r->reads; k++) asm_vector_op(t->out, ASM_MOVE, k, 0, asm_register(waiting[k]), 0);
}

void native_call(native_translation *t, int base, size_t offset) {
    if (t->kind != NATIVE_VALUES) asm_narrow(t->out);
    asm_general_op(t->out, ASM_CALL, 2, asm_memory(base, (int32_t)offset));
}

static void write_call(native_translation *t, const native_reading *r) {
    const double *constants = t->p->constants;
    size_t function = offsetof(native_environment, value) + r->op * sizeof surroundings.value[0];
    native_leave(t, r, true);
    if (r->op == GRAPH_TABLE) {
        function = offsetof(native_environment, table);
        asm_constant(t->out, RDI, (uint64_t)(uintptr_t)t->p->tables[(size_t)constants[r->slot[1]]]);
        asm_constant(t->out, RSI, (uint64_t)constants[r->slot[2]]);
    }
    native_call(t, R14, function);
    keep_result(t, r, 0);
}

static void write_sincos(native_translation *t, const native_reading *r) {
    native_leave(t, r, true);
    static const int pointer[RESULTS] = {RDI, RSI};
    for (int k = 0; k < RESULTS; k++) {
        asm_general_op(t->out, ASM_ADDRESS, pointer[k], native_home(t, r->result[k]));
        t->stored[r->result[k]] = true;
    }
    native_call(t, R14, offsetof(native_environment, sincos));
}

static void write_operation(native_translation *t, const native_reading *r) {
    const native_recipe *recipe = &native_recipes[r->op];
    if (recipe->steps[0].op != ASM_NONE)
        write_recipe(t, r, recipe);
    else if (r->op == PROGRAM_POWI)
        write_power(t, r);
    else if (native_is_vec8(t))
        native_call_wide(t, r);
    else if (r->op == PROGRAM_SINCOS)
        write_sincos(t, r);
    else
        write_call(t, r);
}

/* If inputs with consecutive indices begin at i, copies them in a loop. Returns their number, or 0. */
static size_t copied_inputs(native_translation *t, size_t i, size_t end) {
    const program *p = t->p;
    const uint32_t slot = (uint32_t)(p->constant_count + i);
    size_t count = 1;
    while (i + count < end && p->input_index[i + count] == p->input_index[i] + count) count++;
    asm_operand from = asm_memory(RAX, bytes_to(t, p->input_index[i]));
    if (t->kind != NATIVE_VALUES || !native_write_copy_loop(t, from, false, asm_memory(RBX, bytes_to(t, slot)), count))
        return 0;
    for (size_t k = 0; k < count; k++) t->stored[slot + k] = true;
    return count;
}

/* Copies inputs to their slots, and to registers while registers are free. */
static void write_inputs(native_translation *t) {
    const program *p = t->p;
    for (int kind = SYMBOL_PARAMETER + 1, reg = 0; kind < SYMBOL_KIND_COUNT; kind++) {
        if (p->input_start[kind] == p->input_start[kind + 1]) continue;
        asm_general_op(t->out, ASM_COPY, RAX, asm_memory(RSI, (int32_t)((size_t)kind * sizeof(double *))));
        for (size_t i = p->input_start[kind], end = p->input_start[kind + 1]; i < end; i++) {
            uint32_t slot = (uint32_t)(p->constant_count + i);
            size_t count = copied_inputs(t, i, end);
            i += count ? count - 1 : 0;
            if (count) continue;
            int to = reg < t->registers && t->first[slot] != NONE ? reg++ : SCRATCH_S;
            asm_vector_op(t->out, ASM_LOAD_SD, to, 0, asm_memory(RAX, bytes_to(t, p->input_index[i])), 0);
            store(t, to, slot);
            if (to != SCRATCH_S) hold(t, to, slot, t->first[slot]);
        }
    }
}

/* Returns how many outputs from i on are to be copied from the same slot (*shared) or from consecutive slots. */
static size_t copied_together(const native_translation *t, size_t i, bool *shared) {
    const program *p = t->p;
    size_t count = 1;
    asm_operand from = native_home(t, p->output_slots[i]);
    for (; i + count < p->output_count && t->output[p->output_slots[i + count]] != i + count; count++) {
        asm_operand next = native_home(t, p->output_slots[i + count]);
        int32_t bytes = next.displacement - from.displacement;
        if (count == 1) *shared = bytes == 0;
        if (next.reg != from.reg || bytes != (*shared ? 0 : bytes_to(t, count))) break;
    }
    return count;
}

/* Copies the outputs that are not computed by this code or that are requested more than once. */
static void write_copies(native_translation *t) {
    const program *p = t->p;
    for (size_t i = 0, count; i < p->output_count; i += count) {
        bool shared = false;
        asm_operand from = native_home(t, p->output_slots[i]), to = asm_memory(RBP, bytes_to(t, i));
        count = 1;
        if (t->output[p->output_slots[i]] == i) continue;
        count = copied_together(t, i, &shared);
        if (t->kind == NATIVE_VALUES && native_write_copy_loop(t, from, shared, to, count)) continue;
        count = 1;
        asm_vector_op(t->out, ASM_LOAD_SD, SCRATCH_S, 0, from, 0);
        asm_vector_op(t->out, ASM_STORE_SD, SCRATCH_S, 0, to, 0);
    }
}

static void write_with_tangents(native_translation *t) {
    const size_t *start = t->p->input_start;
    for (size_t i = start[t->kind]; i < start[t->kind + 1]; i++) t->moves[t->p->constant_count + i] = true;
    for (const native_reading *r = t->begin; r < t->end; r++) {
        native_lanes_before(t, r);
        write_operation(t, r);
        native_lanes_after(t, r);
    }
    native_lanes_end(t);
    asm_narrow(t->out);
}

/* Writes a function with the arguments workspace (RDI), inputs (RSI), and outputs or tangents (RDX). */
static void write_function(native_translation *t) {
    asm_enter(t->out);
    asm_general_op(t->out, ASM_COPY, RBX, asm_register(RDI));
    asm_general_op(t->out, ASM_COPY, RBP, asm_register(RDX));
    asm_constant(t->out, R14, (uint64_t)(uintptr_t)&surroundings);
    for (int i = 0; i < NATIVE_REGISTERS; i++) t->held[i].slot = NONE;
    memset(t->reg, NOWHERE, t->p->slot_count);
    write_inputs(t);
    if (t->kind < 0) {
        for (const native_reading *r = t->begin; r < t->end;) {
            size_t count = t->kind == NATIVE_VALUES ? native_write_loop(t, r) : 0;
            if (count == 0) write_operation(t, r);
            r += count ? count : 1;
        }
        write_copies(t);
        if (native_is_vec8(t)) asm_narrow(t->out);
    } else {
        write_with_tangents(t);
    }
    asm_leave(t->out);
}

bool native_write(assembler *out, const program *p, int kind) {
    size_t slots = p->slot_count;
    arena scratch = {0};
    native_translation t = {.out = out,
                            .p = p,
                            .kind = kind,
                            .stride = kind < NATIVE_VALUES ? sizeof(vec8) : sizeof(double),
                            .registers = kind < 0 ? NATIVE_REGISTERS : NATIVE_REGISTERS_TANGENTS,
                            .all = arena_alloc(&scratch, p->instruction_count, sizeof *t.all),
                            .output = arena_alloc(&scratch, slots, sizeof *t.output),
                            .first = arena_alloc(&scratch, slots, sizeof *t.first),
                            .last = arena_alloc(&scratch, slots, sizeof *t.last),
                            .again = arena_alloc(&scratch, slots, sizeof *t.again),
                            .reg = arena_alloc(&scratch, slots, sizeof *t.reg),
                            .stored = arena_alloc(&scratch, slots, sizeof *t.stored),
                            .moves = arena_alloc(&scratch, slots, sizeof *t.moves)};
    bool allocated = !scratch.failed, valid = true;
    out->failed |= !allocated;
    out->wide = kind == NATIVE_VEC8 ? 8 : kind == NATIVE_VEC8_4 ? 4 : 0;
    if (allocated) {
        t.begin = t.all + p->prepared_count;
        t.end = t.all + p->instruction_count;
        read_tape(&t);
        valid = is_valid(&t);
    }
    if (allocated && valid) {
        find_next_reads(&t);
        find_outputs(&t);
        write_function(&t);
    }
    arena_free(&scratch);
    return valid;
}

static bool write_through_mapping(int file, const void *code, size_t size) {
    void *writable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (writable == MAP_FAILED) return false;
    memcpy(writable, code, size);
    return munmap(writable, size) == 0;
}

/* Returns an executable copy of code[size], or NULL if the system denies executable memory. */
void *native_make_executable(const void *code, size_t size) {
    int file = memfd_create("hamel-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return NULL;
    void *made = MAP_FAILED;
    if (ftruncate(file, (off_t)size) == 0 && write_through_mapping(file, code, size) &&
        fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        made = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    (void)close(file);
    return made == MAP_FAILED ? NULL : made;
}

bool native_is_supported(void) {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* Writes the code of all tasks to one block of memory. Sets starts[i] to the offset of task i. */
static native_status make(native_code *code, assembler *out, size_t *starts, const native_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        starts[i] = out->count;
        if (tasks[i].program && !native_write(out, tasks[i].program, tasks[i].kind)) return NATIVE_NOT_VALID;
    }
    if (out->failed) return NATIVE_NO_MEMORY;
    if (out->count) code->bytes = native_make_executable(out->bytes, out->count);
    if (out->count && !code->bytes) return NATIVE_NO_MEMORY;
    code->size = out->count;
    for (size_t i = 0; i < count; i++) {
        if (!tasks[i].program) continue;
        program_native made = (program_native)((uintptr_t)code->bytes + starts[i]);
        if (tasks[i].kind == NATIVE_VALUES)
            tasks[i].program->native = made;
        else
            tasks[i].program->native_tangents[tasks[i].kind] = made;
    }
    return NATIVE_DONE;
}

native_status native_translate(native_code *code, const native_task *tasks, size_t count) {
    *code = (native_code){0};
    if (!native_is_supported()) return NATIVE_NO_MACHINE;
    assembler out = {.limit = LONGEST_CODE};
    size_t *starts = malloc((count + 1) * sizeof *starts);
    native_status status = starts ? make(code, &out, starts, tasks, count) : NATIVE_NO_MEMORY;
    free(starts);
    assembler_free(&out);
    return status;
}

void native_free(native_code *code) {
    if (code->bytes) (void)munmap(code->bytes, code->size);
    *code = (native_code){0};
}
