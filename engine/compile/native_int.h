/* native_int.h — declarations shared by native.c, native_loops.c, native_tangent.c and native_vec8.c. */
#pragma once

#include "engine/compile/native.h"
#include "engine/compile/native_recipes.h"

enum {
    NATIVE_REGISTERS = 14,         /* registers 0 to 13 hold values */
    NATIVE_REGISTERS_TANGENTS = 8, /* in tangent mode, registers 0 to 7 hold values, and tangents use the others */
    SCRATCH_S = 15,
    SCRATCH_T = 14,
    NOWHERE = UINT8_MAX,
    OPERANDS = 3,
    RESULTS = 2,
    NONE = UINT32_MAX, /* no slot, no output, no instruction */
    UNSETTLED = UINT32_MAX - 1,
    NATIVE_VEC8 = -2,   /* kind of a translation for eight members, in registers of eight numbers (native_vec8.c) */
    NATIVE_VEC8_4 = -3, /* the same in registers of four numbers */
    NATIVE_WIDEST = 8   /* numbers in the widest registers */
};

/* The constants and functions that R14 points to. */
typedef struct native_environment {
    double one[NATIVE_WIDEST];
    uint64_t sign[NATIVE_WIDEST], magnitude[NATIVE_WIDEST]; /* masks; a vector load reads the array */
    double (*value[PROGRAM_OP_COUNT])(double x, double y, double z);
    void (*sincos)(double x, double *sine, double *cosine);
    double (*table)(const graph_table *table, double x, int order);
} native_environment;

/* One decoded instruction. next[k] and result_next[k] are the positions of the next instructions that read the k-th
 * operand and the k-th result. */
typedef struct native_reading {
    uint8_t op, reads, writes; /* operation, number of operands, number of results */
    uint32_t slot[OPERANDS], next[OPERANDS];
    uint32_t result[RESULTS], result_next[RESULTS];
} native_reading;

typedef struct native_translation {
    assembler *out;
    const program *p;
    int kind;      /* NATIVE_VALUES, NATIVE_VEC8, NATIVE_VEC8_4, or the kind of the seeded symbols */
    size_t stride; /* bytes from one number to the next */
    int registers; /* number of registers for values */
    native_reading *all, *begin, *end; /* the decoded tape; `begin` to `end` is the part to translate */
    uint32_t *output;                  /* output[slot]: first output computed in the slot, or NONE */
    uint32_t *first;                   /* first[slot]: first instruction that reads the initial value of the slot */
    uint32_t *last;                    /* last[slot]: last instruction that reads the slot, or NONE */
    bool *again;                       /* again[slot]: more than one instruction writes the slot */
    uint8_t *reg;                      /* reg[slot]: register that holds the value, or NOWHERE */
    bool *stored;                      /* stored[slot]: the value is in memory */
    bool *moves;                       /* moves[slot]: the tangent may be nonzero */
    struct {
        uint32_t slot, next; /* NONE: free */
    } held[NATIVE_REGISTERS];
} native_translation;

/* --- native.c ---------------------------------------------------------------------------------------------------- */

/* Returns the address at which the value of a slot is or will be stored. */
asm_operand native_home(const native_translation *t, uint32_t slot);

/* Sets place[] to the operands that a recipe reads, and adds their registers to *kept. next[k] is the next instruction
 * that reads the k-th operand. */
void native_fetch(native_translation *t, const native_reading *r, const native_recipe *recipe, const uint32_t *next,
                  asm_operand *place, unsigned *kept);

/* Writes the steps of a recipe. place[] contains the operands and the result. All other places are fixed. */
void native_steps(native_translation *t, const native_recipe *recipe, asm_operand *place);

/* Counts how often a recipe reads an operand. A read that needs a register counts twice. */
int native_readings(const native_recipe *recipe, int place);

/* Stores the values that are only in registers, and releases all registers. */
void native_store_all(native_translation *t);

/* Stores the operands that are only in registers. Releases the registers of operands that are not read again. */
void native_store_operands(native_translation *t, const native_reading *r);

/* Writes the code of one program to `out`. Returns false if the program is not valid. */
bool native_write(assembler *out, const program *p, int kind);

/* Returns an executable copy of code[size], or NULL if the system denies such memory. */
void *native_make_executable(const void *code, size_t size);

bool native_is_supported(void); /* the processor has AVX2 */

/* Prepares a function call. Moves at most two operands to the argument registers. Stores the values that are needed
 * later, because a function may change every vector register. `last` is true if the instruction does not read its
 * operands after the call. */
void native_leave(native_translation *t, const native_reading *r, bool last);
void native_call(native_translation *t, int base, size_t offset); /* calls the address stored at base + offset */

/* --- native_tangent.c -------------------------------------------------------------------------------------------- */

/* Compute the tangent lanes of an instruction's results from those of its operands. SINCOS is processed after its
 * values are computed. Other operations are processed before, while their operands are valid. */
void native_lanes_before(native_translation *t, const native_reading *r);
void native_lanes_after(native_translation *t, const native_reading *r);

/* Writes zeros to the lanes of outputs whose tangents vanish. */
void native_lanes_end(native_translation *t);

/* --- native_vec8.c ----------------------------------------------------------------------------------------------- */

static inline bool native_is_vec8(const native_translation *t) {
    return t->kind < NATIVE_VALUES;
}

/* Writes the call of a function that computes the results of an instruction in memory. */
void native_call_wide(native_translation *t, const native_reading *r);

/* --- native_loops.c ---------------------------------------------------------------------------------------------- */

/* Writes a loop for the instructions from r on. Returns how many instructions the loop executes, or 0 if they do not
 * form a loop. */
size_t native_write_loop(native_translation *t, const native_reading *r);

/* Copies `count` numbers, or one number `count` times if `shared`, in a loop. Returns false if `count` is too small. */
bool native_write_copy_loop(native_translation *t, asm_operand from, bool shared, asm_operand to, size_t count);
