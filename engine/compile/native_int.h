/* native_int.h — what native.c and native_tangent.c share. */
#ifndef HAMEL_COMPILE_NATIVE_INT_H
#define HAMEL_COMPILE_NATIVE_INT_H

#include "engine/compile/native.h"
#include "engine/compile/native_recipes.h"

enum {
    NATIVE_REGISTERS = 14,         /* that values may be in: from 0 on */
    NATIVE_REGISTERS_TANGENTS = 8, /* the same beside tangents, which take those from 8 on */
    SCRATCH_S = 15,
    SCRATCH_T = 14,
    NOWHERE = UINT8_MAX,
    OPERANDS = 3,
    RESULTS = 2,
    NONE = UINT32_MAX, /* no slot, no output, no instruction */
    UNSETTLED = UINT32_MAX - 1
};

/* What R14 points to. */
typedef struct native_environment {
    double one[2];
    uint64_t sign[4], magnitude[2]; /* as many bytes are read at once */
    double (*value[PROGRAM_OP_COUNT])(double x, double y, double z);
    void (*sincos)(double x, double *sine, double *cosine);
    double (*table)(const graph_table *table, double x, int order);
} native_environment;

/* One instruction with what is known of its values: `next` is the position of the instruction that reads one next. */
typedef struct native_reading {
    uint8_t op, reads, writes; /* operands and results */
    uint32_t slot[OPERANDS], next[OPERANDS];
    uint32_t result[RESULTS], result_next[RESULTS];
} native_reading;

typedef struct native_translation {
    assembler *out;
    const program *p;
    int kind;                          /* NATIVE_VALUES, or of the symbols by which tangents are taken */
    int registers;                     /* that values may be in */
    native_reading *all, *begin, *end; /* of the tape; what is evaluated begins at `begin` */
    uint32_t *output;                  /* of a slot: the first output that is computed there, or NONE */
    uint32_t *first; /* of a slot: the first instruction that reads what it holds before the code runs */
    uint8_t *reg;    /* of a slot: its register, or NOWHERE */
    bool *stored;    /* of a slot: its value is in memory */
    bool *moves;     /* of a slot: its tangent may be other than zero */
    struct {
        uint32_t slot, next; /* NONE: free */
    } held[NATIVE_REGISTERS];
} native_translation;

/* --- native.c ---------------------------------------------------------------------------------------------------- */

/* Where a slot's value is in memory, if it is. */
asm_operand native_home(const native_translation *t, uint32_t slot);

/* The operands that a recipe reads, in `place`; instruction next[k] reads the k-th again. Adds the registers they are in
 * to *kept. */
void native_fetch(native_translation *t, const native_reading *r, const native_recipe *recipe, const uint32_t *next,
                  asm_operand *place, unsigned *kept);

/* The steps of a recipe with operands and result in place[]; the other places are the same everywhere. */
void native_steps(native_translation *t, const native_recipe *recipe, asm_operand *place);

/* Operands go to where functions expect them, and what is needed later to memory: a function may change every vector
 * register. `last`: the operands are for this call only. Two operands at most. */
void native_leave(native_translation *t, const native_reading *r, bool last);
void native_call(native_translation *t, int base, size_t offset);

/* --- native_tangent.c -------------------------------------------------------------------------------------------- */

/* The lanes of an instruction's results from those of its operands: before its value is computed, when the operands are still
 * there, or, for SINCOS, afterwards. */
void native_lanes_before(native_translation *t, const native_reading *r);
void native_lanes_after(native_translation *t, const native_reading *r);

/* Lanes of the outputs that do not move. */
void native_lanes_end(native_translation *t);

#endif
