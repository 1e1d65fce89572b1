/* native_recipes.h — which instructions an operation of a tape becomes.
 *
 * A recipe is a few steps over the operands X, Y, Z, scratch S and T, the numbers ONE, SIGN (its bit) and MAGNITUDE
 * (the other bits), and the result R, which only the last step writes since R may be where an operand is. Products and
 * sums are rounded one by one in the order of the tables in operators.h and program_int.h. Operations without recipe
 * call the function that the interpreter's loop contains. */
#ifndef HAMEL_COMPILE_NATIVE_RECIPES_H
#define HAMEL_COMPILE_NATIVE_RECIPES_H

#include "engine/compile/assembler.h"
#include "engine/compile/program_int.h"

enum { NATIVE_STEPS = 5 };

typedef enum native_place {
    PLACE_X,
    PLACE_Y,
    PLACE_Z,
    PLACE_S,
    PLACE_T,
    PLACE_R,
    PLACE_ONE, /* these can be a second source only */
    PLACE_SIGN,
    PLACE_MAGNITUDE
} native_place;

typedef struct native_step {
    uint8_t op, to, first, second, byte; /* asm_vector, native_place three times */
} native_step;

typedef struct native_recipe {
    native_step steps[NATIVE_STEPS]; /* up to the first ASM_NONE */
} native_recipe;

/* Predicates of COMPARE_SD. Of a NaN only the last is true. */
enum { IS_EQUAL = 0, IS_LESS = 1, IS_AT_MOST = 2, IS_AT_LEAST = 13, IS_MORE = 14, IS_OTHER = 4 };

enum { MASK_S = 15 << 4 }; /* BLEND by the mask in S */

/* clang-format off */
#define STEP(op, to, first, second) {ASM_##op, PLACE_##to, PLACE_##first, PLACE_##second, 0}
#define BYTE(op, to, first, second, byte) {ASM_##op, PLACE_##to, PLACE_##first, PLACE_##second, byte}
#define ZERO(to) STEP(XOR, to, S, S)
#define CONDITION(predicate) {{BYTE(COMPARE_SD, S, X, Y, predicate), STEP(AND, R, S, ONE)}}
#define CHOICE(predicate) {{BYTE(COMPARE_SD, S, X, Y, predicate), BYTE(BLEND, R, Y, X, MASK_S)}}
#define BOTH(op) {{ZERO(S), BYTE(COMPARE_SD, T, Y, S, IS_OTHER), BYTE(COMPARE_SD, S, X, S, IS_OTHER), STEP(op, S, S, T), STEP(AND, R, S, ONE)}}

static const native_recipe native_recipes[PROGRAM_OP_COUNT] = {
    [GRAPH_ADD]       = {{STEP(ADD_SD, R, X, Y)}},
    [GRAPH_SUB]       = {{STEP(SUB_SD, R, X, Y)}},
    [GRAPH_MUL]       = {{STEP(MUL_SD, R, X, Y)}},
    [GRAPH_DIV]       = {{STEP(DIV_SD, R, X, Y)}},
    [GRAPH_NEG]       = {{STEP(XOR, R, X, SIGN)}},
    [GRAPH_SQRT]      = {{STEP(SQRT_SD, R, X, X)}},
    [GRAPH_ABS]       = {{STEP(AND, R, X, MAGNITUDE)}},
    [GRAPH_MIN]       = CHOICE(IS_AT_MOST),
    [GRAPH_MAX]       = CHOICE(IS_AT_LEAST),
    [GRAPH_FLOOR]     = {{BYTE(ROUND_SD, R, X, X, 9)}},
    [GRAPH_CEIL]      = {{BYTE(ROUND_SD, R, X, X, 10)}},
    [GRAPH_MOD]       = {{STEP(DIV_SD, S, X, Y), BYTE(ROUND_SD, S, S, S, 9), STEP(MUL_SD, S, Y, S), STEP(SUB_SD, R, X, S)}},
    [GRAPH_LT]        = CONDITION(IS_LESS),
    [GRAPH_LE]        = CONDITION(IS_AT_MOST),
    [GRAPH_GT]        = CONDITION(IS_MORE),
    [GRAPH_GE]        = CONDITION(IS_AT_LEAST),
    [GRAPH_EQ]        = CONDITION(IS_EQUAL),
    [GRAPH_NE]        = CONDITION(IS_OTHER),
    [GRAPH_AND]       = BOTH(AND),
    [GRAPH_OR]        = BOTH(OR),
    [GRAPH_NOT]       = {{ZERO(S), BYTE(COMPARE_SD, S, X, S, IS_EQUAL), STEP(AND, R, S, ONE)}},
    [GRAPH_IF]        = {{ZERO(S), BYTE(COMPARE_SD, S, X, S, IS_OTHER), BYTE(BLEND, R, Z, Y, MASK_S)}},
    [PROGRAM_SQUARE]  = {{STEP(MUL_SD, R, X, X)}},
    [PROGRAM_CUBE]    = {{STEP(MUL_SD, S, X, X), STEP(MUL_SD, R, S, X)}},
    [PROGRAM_INVERSE] = {{STEP(LOAD_SD, S, X, ONE), STEP(DIV_SD, R, S, X)}},
    [PROGRAM_POW3_2]  = {{STEP(SQRT_SD, S, X, X), STEP(MUL_SD, R, X, S)}},
    [PROGRAM_POWM1_2] = {{STEP(SQRT_SD, S, X, X), STEP(LOAD_SD, T, X, ONE), STEP(DIV_SD, R, T, S)}},
    [PROGRAM_POWM3_2] = {{STEP(SQRT_SD, S, X, X), STEP(MUL_SD, S, X, S), STEP(LOAD_SD, T, X, ONE), STEP(DIV_SD, R, T, S)}},
    [PROGRAM_MULADD]  = {{STEP(MUL_SD, S, X, Y), STEP(ADD_SD, R, S, Z)}},
    [PROGRAM_MULSUB]  = {{STEP(MUL_SD, S, X, Y), STEP(SUB_SD, R, S, Z)}},
    [PROGRAM_SUBMUL]  = {{STEP(MUL_SD, S, X, Y), STEP(SUB_SD, R, Z, S)}},
};
/* clang-format on */

#endif
