/* native_recipes.h — the machine instructions for each operation of a tape.
 *
 * A recipe is a list of steps. Steps use the operands X, Y, Z, the scratch registers S and T, and the result R. The
 * constants are the number ONE and the masks SIGN (the sign bit) and MAGNITUDE (the other bits). Only the last step
 * writes R, because R may be the register of an operand. Each product and each sum is rounded separately, in the order
 * given by the tables in operators.h and program_int.h. For an operation without a recipe, the code calls the function
 * of the interpreter. */
#pragma once

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
    PLACE_P,   /* factor or mask for all lanes, computed by the recipe of a partial derivative */
    PLACE_ONE, /* from PLACE_ONE on, a place can only be the second source */
    PLACE_SIGN,
    PLACE_MAGNITUDE,
    PLACE_COUNT
} native_place;

typedef struct native_step {
    uint8_t op, to, first, second, byte; /* op: asm_vector; to, first, second: native_place */
} native_step;

typedef struct native_recipe {
    native_step steps[NATIVE_STEPS]; /* ends at the first ASM_NONE */
} native_recipe;

/* Predicates of COMPARE_SD. If an operand is NaN, only IS_OTHER is true. */
enum { IS_EQUAL = 0, IS_LESS = 1, IS_AT_MOST = 2, IS_AT_LEAST = 13, IS_MORE = 14, IS_OTHER = 4 };

enum { MASK_S = 15 << 4 }; /* immediate of BLEND: the mask is in S */

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

/* The contribution of an operand's tangent to the tangent of the result. It is the tangent, its negative, or its
 * product with the factor or mask P that the recipe computes. PARTIAL_CALL calls the function of the interpreter for
 * the partial derivative. Conditions have no entries, because their operands contribute nothing. */
typedef enum native_partial_kind {
    PARTIAL_CALL,
    PARTIAL_NONE,
    PARTIAL_ONE,
    PARTIAL_MINUS_ONE,
    PARTIAL_FACTOR,
    PARTIAL_MASK
} native_partial_kind;

typedef struct native_partial {
    native_partial_kind kind;
    native_recipe recipe;
} native_partial;

#define NOTHING {PARTIAL_NONE, {{{0}}}}
#define ITSELF {PARTIAL_ONE, {{{0}}}}
#define NEGATIVE {PARTIAL_MINUS_ONE, {{{0}}}}
#define FACTOR(place) {PARTIAL_FACTOR, {{STEP(BROADCAST, P, X, place)}}}
#define MINUS(place) {PARTIAL_FACTOR, {{STEP(XOR, S, place, SIGN), STEP(BROADCAST, P, X, S)}}}
#define WHERE(predicate) {PARTIAL_MASK, {{BYTE(COMPARE_SD, S, X, Y, predicate), STEP(BROADCAST, P, X, S)}}}
#define WHERE_X(predicate) {PARTIAL_MASK, {{ZERO(S), BYTE(COMPARE_SD, S, X, S, predicate), STEP(BROADCAST, P, X, S)}}}

static const native_partial native_partials[PROGRAM_OP_COUNT][3] = {
    [GRAPH_ADD]      = {ITSELF, ITSELF},
    [GRAPH_SUB]      = {ITSELF, NEGATIVE},
    [GRAPH_MUL]      = {FACTOR(Y), FACTOR(X)},
    [GRAPH_DIV]      = {{PARTIAL_FACTOR, {{STEP(LOAD_SD, S, X, ONE), STEP(DIV_SD, S, S, Y), STEP(BROADCAST, P, X, S)}}},
                        {PARTIAL_FACTOR, {{STEP(DIV_SD, S, X, Y), STEP(DIV_SD, S, S, Y), STEP(XOR, S, S, SIGN), STEP(BROADCAST, P, X, S)}}}},
    [GRAPH_NEG]      = {NEGATIVE},
    [GRAPH_SIGN]     = {NOTHING},
    [GRAPH_MIN]      = {WHERE(IS_AT_MOST), WHERE(IS_MORE)},
    [GRAPH_MAX]      = {WHERE(IS_AT_LEAST), WHERE(IS_LESS)},
    [GRAPH_FLOOR]    = {NOTHING},
    [GRAPH_CEIL]     = {NOTHING},
    [GRAPH_MOD]      = {ITSELF},
    [GRAPH_IF]       = {NOTHING, WHERE_X(IS_OTHER), WHERE_X(IS_EQUAL)},
    [PROGRAM_SQUARE] = {{PARTIAL_FACTOR, {{STEP(ADD_SD, S, X, X), STEP(BROADCAST, P, X, S)}}}},
    [PROGRAM_MULADD] = {FACTOR(Y), FACTOR(X), ITSELF},
    [PROGRAM_MULSUB] = {FACTOR(Y), FACTOR(X), NEGATIVE},
    [PROGRAM_SUBMUL] = {MINUS(Y), MINUS(X), ITSELF},
};
/* clang-format on */
