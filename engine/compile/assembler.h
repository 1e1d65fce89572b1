/* assembler.h — encodes the x86-64, AVX2 and AVX-512 instructions that native.c writes.
 *
 * The encodings are those of the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, section 2.3
 * (VEX prefix) and 2.7 (EVEX prefix), and the pages of the instructions. Vector instructions have three operands and do
 * not change their sources. The second source may be memory, which need not be aligned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing buffer. If memory is exhausted or `limit` is exceeded, `failed` is set and further bytes are dropped.
 * Initialize the buffer with zeros and `limit`; release it with assembler_free. */
typedef struct assembler {
    uint8_t *bytes;
    size_t count, capacity, limit; /* limit: upper bound of `count` */
    bool failed;
    int wide; /* 4 or 8: asm_vector_op writes the instruction for this many numbers in place of that for one */
} assembler;

void assembler_free(assembler *a);

/* General registers, with their numbers in the encoding. */
enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RBP = 5, RSI = 6, RDI = 7, R14 = 14 };

/* An operand: a register, or memory at base + displacement. */
typedef struct asm_operand {
    bool memory;
    bool indexed; /* memory at base + RCX + displacement */
    uint8_t reg;  /* the register, or the base register, whose low bits must not be 100 (those of RSP) */
    int32_t displacement;
} asm_operand;

static inline asm_operand asm_register(int reg) {
    return (asm_operand){false, false, (uint8_t)reg, 0};
}
static inline asm_operand asm_memory(int base, int32_t displacement) {
    return (asm_operand){true, false, (uint8_t)base, displacement};
}

/* Columns: enum, opcode map, prefix (0: none, 1: 66, 2: F3, 3: F2), opcode, vector length (0: 128 bits or scalar,
 * 1: 256 bits), number of immediate bytes. */
/* clang-format off */
#define ASM_VECTOR_LIST(OP)                                                                                            \
    OP(LOAD_SD,    1, 3, 0x10, 0, 0)  /* from memory */                                                                \
    OP(STORE_SD,   1, 3, 0x11, 0, 0)                                                                                   \
    OP(MOVE,       1, 1, 0x28, 0, 0)  /* register to register */                                                       \
    OP(SQRT_SD,    1, 3, 0x51, 0, 0)                                                                                   \
    OP(AND,        1, 1, 0x54, 0, 0)                                                                                   \
    OP(OR,         1, 1, 0x56, 0, 0)                                                                                   \
    OP(XOR,        1, 1, 0x57, 0, 0)                                                                                   \
    OP(ADD_SD,     1, 3, 0x58, 0, 0)                                                                                   \
    OP(MUL_SD,     1, 3, 0x59, 0, 0)                                                                                   \
    OP(SUB_SD,     1, 3, 0x5C, 0, 0)                                                                                   \
    OP(DIV_SD,     1, 3, 0x5E, 0, 0)                                                                                   \
    OP(COMPARE_SD, 1, 3, 0xC2, 0, 1)  /* immediate: predicate */                                                       \
    OP(WIDE_LOAD,  1, 1, 0x10, 1, 0)                                                                                   \
    OP(WIDE_STORE, 1, 1, 0x11, 1, 0)                                                                                   \
    OP(WIDE_AND,   1, 1, 0x54, 1, 0)                                                                                   \
    OP(WIDE_OR,    1, 1, 0x56, 1, 0)                                                                                   \
    OP(WIDE_XOR,   1, 1, 0x57, 1, 0)                                                                                   \
    OP(WIDE_ADD,   1, 1, 0x58, 1, 0)                                                                                   \
    OP(WIDE_MUL,   1, 1, 0x59, 1, 0)                                                                                   \
    OP(WIDE_SUB,   1, 1, 0x5C, 1, 0)                                                                                   \
    OP(WIDE_DIV,   1, 1, 0x5E, 1, 0)                                                                                   \
    OP(WIDE_SQRT,  1, 1, 0x51, 1, 0)                                                                                   \
    OP(WIDE_COMPARE, 1, 1, 0xC2, 1, 1)                                                                                 \
    OP(WIDE_ROUND, 3, 1, 0x09, 1, 1)                                                                                   \
    OP(WIDE_BLEND, 3, 1, 0x4B, 1, 1)                                                                                   \
    OP(BROADCAST,  2, 1, 0x19, 1, 0)  /* copies one number to all four elements */                                     \
    OP(ROUND_SD,   3, 1, 0x0B, 0, 1)  /* immediate: 9 down, 10 up */                                                   \
    OP(BLEND,      3, 1, 0x4B, 0, 1)  /* second source if the mask is negative; immediate: mask register · 16 */
/* clang-format on */

typedef enum asm_vector {
    ASM_NONE,
#define OP(name, map, prefix, opcode, length, bytes) ASM_##name,
    ASM_VECTOR_LIST(OP)
#undef OP
} asm_vector;

/* Writes to := first OP second. LOAD_SD, MOVE, BROADCAST, WIDE_LOAD, WIDE_SQRT and WIDE_ROUND
 * ignore `first` (0). STORE_SD and
 * WIDE_STORE store register `to` in `second`. `byte` is the immediate byte, if any. */
void asm_vector_op(assembler *a, asm_vector op, int to, int first, asm_operand second, uint8_t byte);

/* Opcodes of 64-bit operations on general registers. */
typedef enum asm_general {
    ASM_COPY = 0x8B,    /* reg := operand */
    ASM_ADDRESS = 0x8D, /* reg := address of the operand */
    ASM_CALL = 0xFF     /* calls the function whose address is the operand; `reg` is 2, a part of the opcode */
} asm_general;
void asm_general_op(assembler *a, asm_general op, int reg, asm_operand operand);
void asm_constant(assembler *a, int to, uint64_t value);

void asm_enter(assembler *a);  /* saves RBX, RBP and R14; the stack is then aligned for calls */
void asm_leave(assembler *a);  /* restores RBX, RBP and R14, and returns */
void asm_narrow(assembler *a); /* clears the upper halves of vector registers; later SSE code would otherwise be slow */

/* Begins a loop: RCX is 0 in the first pass. Returns the start of its body. */
size_t asm_loop_begin(assembler *a);

/* Ends a loop over `count` >= `members` doubles, `members` of which are processed in each pass. RCX is the offset of
 * the first double of the pass. The last pass ends at the last double, so it may overlap the pass before it. Clears the
 * upper halves of vector registers. */
void asm_loop_end(assembler *a, size_t begin, size_t count, size_t members);
