/* assembler.c — see assembler.h. */
#include "engine/compile/assembler.h"

#include <assert.h>
#include <stdlib.h>

void assembler_free(assembler *a) {
    free(a->bytes);
    *a = (assembler){0};
}

enum { LONGEST = 16 }; /* longest instruction in bytes: 15 (Intel SDM, volume 2, 2.3.11), rounded up */

/* Reserves memory for one more instruction. If the function returns false, the caller must not write the
 * instruction. */
static bool reserve(assembler *a) {
    if (a->failed) return false;
    if (a->count + LONGEST <= a->capacity) return true;
    size_t capacity = a->capacity ? 2 * a->capacity : 4096;
    uint8_t *bytes = a->count < a->limit ? realloc(a->bytes, capacity) : NULL;
    if (!bytes) return !(a->failed = true);
    a->bytes = bytes;
    a->capacity = capacity;
    return true;
}

static void put(assembler *a, unsigned byte) {
    assert(a->count < a->capacity);
    a->bytes[a->count++] = (uint8_t)byte;
}

static void put_32(assembler *a, uint32_t value) {
    for (int k = 0; k < 4; k++) put(a, value >> 8 * k & 0xFF);
}

/* Writes the ModRM byte for `reg` and a register or memory operand. A base register with the low bits 100 would require
 * a SIB byte and is not used. A base register with the low bits 101 and no displacement would encode an
 * instruction-relative address, so a displacement is always written. */
static void put_operand(assembler *a, int reg, asm_operand o) {
    assert(!o.memory || (o.reg & 7) != 4);
    unsigned bits = (unsigned)(reg & 7) << 3 | (o.indexed ? 4u : o.reg & 7u);
    bool is_short = o.displacement >= INT8_MIN && o.displacement <= INT8_MAX;
    if (!o.memory) {
        put(a, 0xC0 | bits);
        return;
    }
    put(a, (is_short ? 0x40 : 0x80) | bits);
    if (o.indexed) put(a, 1u << 3 | (o.reg & 7u)); /* SIB byte: RCX, unscaled, and the base */
    if (is_short)
        put(a, (uint8_t)o.displacement);
    else
        put_32(a, (uint32_t)o.displacement);
}

typedef struct encoding {
    uint8_t map, prefix, opcode, length, bytes;
} encoding;

static const encoding encodings[] = {
#define OP(name, map, prefix, opcode, length, bytes) [ASM_##name] = {map, prefix, opcode, length, bytes},
    ASM_VECTOR_LIST(OP)
#undef OP
};

/* The instructions for four numbers. */
static asm_vector widened(asm_vector op) {
    static const uint8_t table[] = {
        [ASM_LOAD_SD] = ASM_WIDE_LOAD,   [ASM_STORE_SD] = ASM_WIDE_STORE, [ASM_MOVE] = ASM_WIDE_LOAD,
        [ASM_ADD_SD] = ASM_WIDE_ADD,     [ASM_SUB_SD] = ASM_WIDE_SUB,     [ASM_MUL_SD] = ASM_WIDE_MUL,
        [ASM_DIV_SD] = ASM_WIDE_DIV,     [ASM_SQRT_SD] = ASM_WIDE_SQRT,   [ASM_XOR] = ASM_WIDE_XOR,
        [ASM_AND] = ASM_WIDE_AND,        [ASM_OR] = ASM_WIDE_OR,          [ASM_COMPARE_SD] = ASM_WIDE_COMPARE,
        [ASM_ROUND_SD] = ASM_WIDE_ROUND, [ASM_BLEND] = ASM_WIDE_BLEND};
    return op < sizeof table && table[op] ? (asm_vector)table[op] : op;
}

/* Writes an instruction for eight numbers, with the EVEX prefix. Registers above 15 are not used, so the bits that
 * select them are those of unused registers. A short displacement counts 64 bytes. `mask`: mask register, or 0. */
static void put_eight(assembler *a, encoding e, int to, int first, asm_operand second, unsigned mask) {
    unsigned not_r = to < 8, not_b = second.reg < 8;
    if (!reserve(a)) return;
    put(a, 0x62);
    put(a, not_r << 7 | 1u << 6 | not_b << 5 | 1u << 4 | e.map);
    put(a, 1u << 7 | (~(unsigned)first & 15) << 3 | 1u << 2 | e.prefix);
    put(a, 2u << 5 | 1u << 3 | mask);
    put(a, e.opcode);
    bool in_units = second.memory && second.displacement % 64 == 0 && second.displacement / 64 <= INT8_MAX &&
                    second.displacement / 64 >= INT8_MIN;
    if (second.memory && !in_units) {
        put(a, 0x80u | (unsigned)(to & 7) << 3 | (second.reg & 7u));
        put_32(a, (uint32_t)second.displacement);
        return;
    }
    second.displacement /= 64;
    put_operand(a, to, second);
}

/* Comparisons write mask registers, and a blend reads one. The masks of recipes are vectors. */
static void put_vector_of_eight(assembler *a, asm_vector op, int to, int first, asm_operand second, uint8_t byte) {
    static const encoding vector_from_mask = {.map = 2, .prefix = 2, .opcode = 0x38},
                          mask_from_vector = {.map = 2, .prefix = 2, .opcode = 0x39},
                          blend = {.map = 2, .prefix = 1, .opcode = 0x65};
    enum { MASK = 1 };
    assert(!second.indexed && (!second.memory || (second.reg & 7) != 4));
    if (op == ASM_WIDE_BLEND) {
        put_eight(a, mask_from_vector, MASK, 0, asm_register(byte >> 4), 0);
        put_eight(a, blend, to, first, second, MASK);
        return;
    }
    put_eight(a, encodings[op], op == ASM_WIDE_COMPARE ? MASK : to, first, second, 0);
    if (encodings[op].bytes && reserve(a)) put(a, byte);
    if (op == ASM_WIDE_COMPARE) put_eight(a, vector_from_mask, to, 0, asm_register(MASK), 0);
}

/* Writes the VEX prefix. The prefix stores the high bits of the registers and the first source register in inverted
 * form. The short form of the prefix implies opcode map 1 and has no B bit. */
void asm_vector_op(assembler *a, asm_vector op, int to, int first, asm_operand second, uint8_t byte) {
    if (a->wide) op = widened(op);
    if (op == ASM_WIDE_SQRT || op == ASM_WIDE_ROUND) first = 0;
    if (a->wide == 8) {
        put_vector_of_eight(a, op, to, first, second, byte);
        return;
    }
    if (!reserve(a)) return;
    const encoding *e = &encodings[op];
    unsigned not_r = to < 8, not_b = second.reg < 8, rest = ((~(unsigned)first & 15) << 3) | (unsigned)e->length << 2;
    rest |= e->prefix;
    if (e->map == 1 && not_b) {
        put(a, 0xC5);
        put(a, not_r << 7 | rest);
    } else {
        put(a, 0xC4);
        put(a, not_r << 7 | 1u << 6 | not_b << 5 | e->map);
        put(a, rest);
    }
    put(a, e->opcode);
    put_operand(a, to, second);
    if (e->bytes) put(a, byte);
}

void asm_enter(assembler *a) {
    static const uint8_t code[] = {0xF3, 0x0F, 0x1E, 0xFA, /* endbr64, required at targets of indirect calls */
                                   0x53, 0x55, 0x41, 0x56};
    for (size_t k = 0; reserve(a) && k < sizeof code; k++) put(a, code[k]);
}

void asm_leave(assembler *a) {
    static const uint8_t code[] = {0x41, 0x5E, 0x5D, 0x5B, 0xC3};
    for (size_t k = 0; reserve(a) && k < sizeof code; k++) put(a, code[k]);
}

/* Writes the prefix REX.W with the high bits of both registers. */
void asm_general_op(assembler *a, asm_general op, int reg, asm_operand operand) {
    if (!reserve(a)) return;
    put(a, 0x48u | (reg >= 8 ? 4u : 0u) | (operand.reg >= 8 ? 1u : 0u));
    put(a, op);
    put_operand(a, reg, operand);
}

void asm_constant(assembler *a, int to, uint64_t value) {
    if (!reserve(a)) return;
    put(a, to >= 8 ? 0x49 : 0x48);
    put(a, 0xB8u | (unsigned)(to & 7));
    put_32(a, (uint32_t)value);
    put_32(a, (uint32_t)(value >> 32));
}

void asm_narrow(assembler *a) {
    if (!reserve(a)) return;
    put(a, 0xC5);
    put(a, 0xF8);
    put(a, 0x77);
}

static void put_bytes(assembler *a, const uint8_t *bytes, size_t count) {
    for (size_t k = 0; k < count; k++) put(a, bytes[k]);
}

size_t asm_loop_begin(assembler *a) {
    static const uint8_t zero[] = {0x31, 0xC9}; /* xor ecx, ecx */
    if (reserve(a)) put_bytes(a, zero, sizeof zero);
    return a->count;
}

/* Writes a near jump back to `to`; `code` is the opcode. */
static void jump_back(assembler *a, const uint8_t *code, size_t count, size_t to) {
    if (!reserve(a)) return;
    put_bytes(a, code, count);
    put_32(a, (uint32_t)(to - (a->count + 4)));
}

/*     add rcx, pass; cmp rcx, last; jbe begin; cmp rcx, last + pass; je end; mov ecx, last; jmp begin; end: */
void asm_loop_end(assembler *a, size_t begin, size_t count, size_t members) {
    static const uint8_t add[] = {0x48, 0x83, 0xC1}, compare[] = {0x48, 0x81, 0xF9}, leave[] = {0x74, 5 + 5};
    static const uint8_t repeat[] = {0x0F, 0x86}, again[] = {0xE9};
    uint32_t last = (uint32_t)((count - members) * sizeof(double)), pass = (uint32_t)(members * sizeof(double));
    assert(count >= members && pass <= INT8_MAX);
    if (reserve(a)) put_bytes(a, add, sizeof add), put(a, pass);
    if (reserve(a)) put_bytes(a, compare, sizeof compare), put_32(a, last);
    jump_back(a, repeat, sizeof repeat, begin);
    if (reserve(a)) put_bytes(a, compare, sizeof compare), put_32(a, last + pass), put_bytes(a, leave, sizeof leave);
    if (reserve(a)) put(a, 0xB9), put_32(a, last);
    jump_back(a, again, sizeof again, begin);
    asm_narrow(a);
}
