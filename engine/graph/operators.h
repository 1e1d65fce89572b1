/* operators.h — the list of operators. These parts of the engine expand the list: the parser (names, arities), the
 * graph (constant folding, derivatives), the printers, and the programs (numerical evaluation, tangents).
 *
 * The operators are in three lists: arithmetic symbols, named functions, and conditions together with IF. The parser
 * reads the names of functions from the second list.
 *
 * Columns: enum, printed name, arity, kind, value, ∂/∂x, ∂/∂y. The kind of a result is NUM (a number) or COND (a
 * condition, 0 or 1). The operands of AND, OR and NOT and the first operand of IF are conditions. The value is a C
 * expression in doubles x, y, z. The partial derivatives are expressions in X, Y, Z and the result F, written with
 * builder names (ADD_, MUL_, SIN_, ...). The graph defines these names as node constructors, and
 * engine/compile/tangent.c defines them as arithmetic, so each rule is written once. The derivative of IF is the
 * derivative of the selected branch. MOD, MIN, MAX and ABS have the one-sided derivative of the piece that applies.
 * SIGN, FLOOR and conditions have derivative zero; the jumps of these operators are located as events. TABLE is in no
 * list, because its evaluation needs the tables of the graph. Code that expands a list therefore handles TABLE
 * separately.
 *
 * The rules avoid cancellation. The expression 1 - x^2 is written (1 - x)(1 + x), because each factor is exact near its
 * zero. The derivative of tanh is written sech^2, because the digits of 1 - tanh^2 cancel for |x| > 4. The operator
 * sech exists because derivatives of 1/cosh^2 would be 0 * infinity where cosh overflows.
 *
 * Derivatives: Abramowitz & Stegun 3.3, 4.3.105-110, 4.4.52-57, 4.5.71-76, 4.6.37-42. */
#pragma once

#include "engine/base/sincos.h"

#include <math.h>

/* clang-format off */
#define GRAPH_ARITHMETIC_LIST(OP)                                                                                      \
    OP(ADD,   "+",     2, NUM,  x + y,                 N_(1),                            N_(1))                        \
    OP(SUB,   "-",     2, NUM,  x - y,                 N_(1),                            N_(-1))                       \
    OP(MUL,   "*",     2, NUM,  x * y,                 Y,                                X)                            \
    OP(DIV,   "/",     2, NUM,  x / y,                 DIV_(N_(1), Y),                   NEG_(DIV_(F, Y)))             \
    OP(POW,   "^",     2, NUM,  pow(x, y),             MUL_(Y, POW_(X, SUB_(Y, N_(1)))), MUL_(F, LOG_(X)))             \
    OP(NEG,   "-",     1, NUM,  -x,                    N_(-1),                           N_(0))

#define GRAPH_FUNCTION_LIST(OP)                                                                                        \
    OP(SIN,   "sin",   1, NUM,  scalar_sin(x),         COS_(X),                          N_(0))                        \
    OP(COS,   "cos",   1, NUM,  scalar_cos(x),         NEG_(SIN_(X)),                    N_(0))                        \
    OP(TAN,   "tan",   1, NUM,  tan(x),                ADD_(N_(1), MUL_(F, F)),          N_(0))                        \
    OP(ASIN,  "asin",  1, NUM,  asin(x),               DIV_(N_(1), SQRT_(MUL_(SUB_(N_(1), X), ADD_(N_(1), X)))), N_(0)) \
    OP(ACOS,  "acos",  1, NUM,  acos(x),               NEG_(DIV_(N_(1), SQRT_(MUL_(SUB_(N_(1), X), ADD_(N_(1), X))))), N_(0)) \
    OP(ATAN,  "atan",  1, NUM,  atan(x),               DIV_(N_(1), ADD_(N_(1), MUL_(X, X))),               N_(0))      \
    OP(ATAN2, "atan2", 2, NUM,  atan2(x, y),           DIV_(Y, ADD_(MUL_(X, X), MUL_(Y, Y))), NEG_(DIV_(X, ADD_(MUL_(X, X), MUL_(Y, Y))))) \
    OP(SINH,  "sinh",  1, NUM,  sinh(x),               COSH_(X),                         N_(0))                        \
    OP(COSH,  "cosh",  1, NUM,  cosh(x),               SINH_(X),                         N_(0))                        \
    OP(TANH,  "tanh",  1, NUM,  tanh(x),               MUL_(SECH_(X), SECH_(X)),         N_(0))                        \
    OP(SECH,  "sech",  1, NUM,  1 / cosh(x),           NEG_(MUL_(F, TANH_(X))),          N_(0))                        \
    OP(ASINH, "asinh", 1, NUM,  asinh(x),              DIV_(N_(1), SQRT_(ADD_(MUL_(X, X), N_(1)))),        N_(0))      \
    OP(ACOSH, "acosh", 1, NUM,  acosh(x),              DIV_(N_(1), SQRT_(MUL_(SUB_(X, N_(1)), ADD_(X, N_(1))))), N_(0)) \
    OP(ATANH, "atanh", 1, NUM,  atanh(x),              DIV_(N_(1), MUL_(SUB_(N_(1), X), ADD_(N_(1), X))),  N_(0))      \
    OP(EXP,   "exp",   1, NUM,  exp(x),                F,                                N_(0))                        \
    OP(LOG,   "log",   1, NUM,  log(x),                DIV_(N_(1), X),                   N_(0))                        \
    OP(LOG10, "log10", 1, NUM,  log10(x),              DIV_(N_(0.43429448190325182765), X), N_(0))                     \
    OP(SQRT,  "sqrt",  1, NUM,  sqrt(x),               DIV_(N_(0.5), F),                 N_(0))                        \
    OP(CBRT,  "cbrt",  1, NUM,  cbrt(x),               DIV_(N_(1), MUL_(N_(3), MUL_(F, F))), N_(0))                    \
    OP(ABS,   "abs",   1, NUM,  fabs(x),               SIGN_(X),                         N_(0))                        \
    OP(SIGN,  "sign",  1, NUM,  (x > 0) - (x < 0),     N_(0),                            N_(0))                        \
    OP(MIN,   "min",   2, NUM,  x <= y ? x : y,        LE_(X, Y),                        GT_(X, Y))                    \
    OP(MAX,   "max",   2, NUM,  x >= y ? x : y,        GE_(X, Y),                        LT_(X, Y))                    \
    OP(HYPOT, "hypot", 2, NUM,  hypot(x, y),           DIV_(X, F),                       DIV_(Y, F))                   \
    OP(FLOOR, "floor", 1, NUM,  floor(x),              N_(0),                            N_(0))                        \
    OP(CEIL,  "ceil",  1, NUM,  ceil(x),               N_(0),                            N_(0))                        \
    OP(MOD,   "mod",   2, NUM,  x - y * floor(x / y),  N_(1),                            NEG_(FLOOR_(DIV_(X, Y))))

#define GRAPH_CONDITION_LIST(OP)                                                                                       \
    OP(LT,    "<",     2, COND, x < y,                 N_(0),                            N_(0))                        \
    OP(LE,    "<=",    2, COND, x <= y,                N_(0),                            N_(0))                        \
    OP(GT,    ">",     2, COND, x > y,                 N_(0),                            N_(0))                        \
    OP(GE,    ">=",    2, COND, x >= y,                N_(0),                            N_(0))                        \
    OP(EQ,    "==",    2, COND, x == y,                N_(0),                            N_(0))                        \
    OP(NE,    "!=",    2, COND, x != y,                N_(0),                            N_(0))                        \
    OP(AND,   "and",   2, COND, x != 0 && y != 0,      N_(0),                            N_(0))                        \
    OP(OR,    "or",    2, COND, x != 0 || y != 0,      N_(0),                            N_(0))                        \
    OP(NOT,   "not",   1, COND, x == 0,                N_(0),                            N_(0))                        \
    OP(IF,    "if",    3, NUM,  x != 0 ? y : z,        N_(0),                            N_(0))

#define GRAPH_OPERATOR_LIST(OP) GRAPH_ARITHMETIC_LIST(OP) GRAPH_FUNCTION_LIST(OP) GRAPH_CONDITION_LIST(OP)
/* clang-format on */

typedef enum graph_op {
#define OP(name, text, arity, kind, value, dx, dy) GRAPH_##name,
    GRAPH_OPERATOR_LIST(OP)
#undef OP
        GRAPH_LISTED_COUNT,
    GRAPH_TABLE = GRAPH_LISTED_COUNT, /* operands: x, the index of the table, the order of the derivative */
    GRAPH_OP_COUNT
} graph_op;

typedef struct graph_op_info {
    const char *text;
    int arity;
    int condition; /* 1 if the result is a condition */
} graph_op_info;

const graph_op_info *graph_op_get(graph_op op);

/* Evaluates any operator except TABLE for numerical operands. Unused operands are ignored. */
double graph_op_value(graph_op op, double x, double y, double z);
