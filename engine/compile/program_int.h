/* program_int.h — what the files of this folder share: the operations of a tape, its layout, and the stages between
 * graph and tape.
 *
 *     cone.c       nodes -> the part of the graph below them, operands first
 *     select.c     cone -> operations (powers by multiplication, fused products, sine and cosine together)
 *     schedule.c   operations -> an order in which equal operations stand in runs
 *     program.c    order -> slots, instructions, program
 *
 * Why runs: one dispatch an operation costs a mispredicted branch at nearly every operation once the tape outgrows the
 * branch predictor. A run costs one dispatch, however long it is. */
#ifndef HAMEL_COMPILE_PROGRAM_INT_H
#define HAMEL_COMPILE_PROGRAM_INT_H

#include "engine/compile/program.h"

/* Operations that a tape has beyond the graph's. Columns: enum, arity, value, ∂/∂x, ∂/∂y, ∂/∂z, in the language of
 * operators.h. Values are plain products and sums, rounded one by one: a fused operation gives the same bits as the
 * two it stands for. POWI's exponent y is an integer constant, so its ∂/∂y is never asked for. */
/* clang-format off */
#define PROGRAM_EXTRA_LIST(OP)                                                                                         \
    OP(SQUARE,   1, x * x,                     ADD_(X, X),                               N_(0),        N_(0))          \
    OP(CUBE,     1, x * x * x,                 MUL_(N_(3), MUL_(X, X)),                  N_(0),        N_(0))          \
    OP(INVERSE,  1, 1 / x,                     NEG_(MUL_(F, F)),                         N_(0),        N_(0))          \
    OP(POWI,     2, program_power(x, y),       MUL_(Y, POWI_(X, SUB_(Y, N_(1)))),        N_(0),        N_(0))          \
    OP(POW3_2,   1, x * sqrt(x),               MUL_(N_(1.5), SQRT_(X)),                  N_(0),        N_(0))          \
    OP(POWM1_2,  1, 1 / sqrt(x),               DIV_(MUL_(N_(-0.5), F), X),               N_(0),        N_(0))          \
    OP(POWM3_2,  1, 1 / (x * sqrt(x)),         DIV_(MUL_(N_(-1.5), F), X),               N_(0),        N_(0))          \
    OP(MULADD,   3, x * y + z,                 Y,                                        X,            N_(1))          \
    OP(MULSUB,   3, x * y - z,                 Y,                                        X,            N_(-1))         \
    OP(SUBMUL,   3, z - x * y,                 NEG_(Y),                                  NEG_(X),      N_(1))
/* clang-format on */

/* The tape's operations: the graph's with the same numbers, then the extra ones. SINCOS has two results. */
enum {
    PROGRAM_FIRST_EXTRA = GRAPH_OP_COUNT - 1,
#define OP(name, arity, value, dx, dy, dz) PROGRAM_##name,
    PROGRAM_EXTRA_LIST(OP)
#undef OP
        PROGRAM_SINCOS, /* dst := sin a, c := cos a */
    PROGRAM_OP_COUNT
};
_Static_assert(PROGRAM_OP_COUNT <= 64, "the schedule keeps a bit per operation in one word");

/* Slots of the workspace: constants, then inputs by kind, then computed values. Unused operands are slot 0. Two slots
 * share a word, since the interpreter is bound by its loads: two loads and shifts instead of four loads measured a
 * fifth faster. */
typedef struct program_instruction {
    uint64_t dst_a, b_c; /* low half, high half */
} program_instruction;

static inline uint32_t program_dst(program_instruction i) {
    return (uint32_t)i.dst_a;
}
static inline uint32_t program_a(program_instruction i) {
    return (uint32_t)(i.dst_a >> 32);
}
static inline uint32_t program_b(program_instruction i) {
    return (uint32_t)i.b_c;
}
static inline uint32_t program_c(program_instruction i) {
    return (uint32_t)(i.b_c >> 32);
}

typedef struct program_run {
    uint32_t op;
    uint32_t count;
} program_run;

/* Machine code (native.c) that evaluates a program; or, with tangents in the place of outputs, computes the lanes of
 * the outputs' slots from those of the inputs that it is for. */
typedef void (*program_native)(double *workspace, const double *const *inputs, double *outputs);

/* The derivative of a value by one of its operands; tangent.c. NULL: of SINCOS, TABLE. */
typedef double (*program_partial)(double x, double y, double z);
extern const program_partial program_partials[PROGRAM_OP_COUNT][3];

struct program {
    program_native native; /* NULL: the interpreter does it */
    program_native native_tangents[SYMBOL_KIND_COUNT];
    const program_instruction *instructions;
    const graph_node *nodes; /* the node an instruction computes, for first_fault */
    const program_run *runs;
    size_t instruction_count, prepared_count; /* the prepared ones come first */
    size_t run_count, prepared_runs;
    const graph_table *const *tables; /* the graph's */
    const double *constants;          /* of slots 0.. */
    size_t constant_count;
    const uint32_t *input_index;               /* of slots constant_count.. */
    size_t input_start[SYMBOL_KIND_COUNT + 1]; /* of a kind, in input_index */
    const uint32_t *output_slots;
    size_t output_count;
    size_t slot_count; /* at least 1 */
    unsigned depends;
};

/* x^y for an integer y, |y| <= 17, by squaring. */
static inline double program_power(double x, double y) {
    int n = (int)y;
    unsigned m = (unsigned)(n < 0 ? -n : n);
    double f = 1, s = x;
    for (; m; m >>= 1) {
        if (m & 1) f *= s;
        s *= s;
    }
    return n < 0 ? 1 / f : f;
}

/* value_ADD(x, y, z), ... for every operation with one result. */
#define PROGRAM_VALUE(name, value)                                    \
    static inline double value_##name(double x, double y, double z) { \
        (void)x, (void)y, (void)z;                                    \
        return value;                                                 \
    }
#define OP(name, text, arity, kind, value, dx, dy) PROGRAM_VALUE(name, value)
GRAPH_OPERATOR_LIST(OP)
#undef OP
#define OP(name, arity, value, dx, dy, dz) PROGRAM_VALUE(name, value)
PROGRAM_EXTRA_LIST(OP)
#undef OP

/* A TABLE instruction's value, or a further derivative of it. */
static inline double program_look_up(const graph_table *const *tables, program_instruction i, const double *w,
                                     int further) {
    return table_value(tables[(size_t)w[program_b(i)]], w[program_a(i)], (int)w[program_c(i)] + further);
}

/* interpreter.c: how many of a, b, c an operation reads as values. */
int program_operands(uint32_t op);

/* interpreter.c: copies inputs of the kinds from..to-1 to their slots. */
void program_load(const program *p, const program_inputs *inputs, int from, int to, double *workspace);

/* --- cone.c ------------------------------------------------------------------------------------------------------ */

/* The nodes below some nodes, operands before results; an index into it is a "value" in the stages that follow. */
typedef struct program_cone {
    graph_node *nodes;
    size_t count, capacity;
    graph_node *keys; /* open addressing: node to value */
    uint32_t *values;
    size_t key_mask;
} program_cone;

hamel_status program_cone_collect(program_cone *cone, const graph *g, const graph_node *nodes, size_t count);
uint32_t program_cone_find(const program_cone *cone, graph_node node);
void program_cone_free(program_cone *cone);

/* --- select.c ---------------------------------------------------------------------------------------------------- */

enum { PROGRAM_NO_VALUE = UINT32_MAX, PROGRAM_NO_OP = UINT8_MAX };

typedef struct program_operation {
    uint8_t op;       /* PROGRAM_NO_OP: a number, a symbol, absorbed by another operation or not needed */
    uint8_t arity;    /* operands that are read */
    bool prepared;    /* depends on parameters only */
    bool output;      /* is asked for */
    uint32_t uses;    /* operations that read the value, in the cone */
    uint32_t arg[3];  /* values */
    uint32_t second;  /* SINCOS: the value of the cosine */
    uint32_t definer; /* the operation that computes this value: itself, or the SINCOS it is part of */
} program_operation;

/* operations[cone->count], one a value. `values` are the requested ones. */
hamel_status program_select(program_operation *operations, const program_cone *cone, const graph *g,
                            const uint32_t *values, size_t count);

/* --- schedule.c -------------------------------------------------------------------------------------------------- */

/* Orders the operations: order[*order_count] holds values, the prepared ones first. `order` has room for all. */
hamel_status program_schedule(const program_operation *operations, size_t count, uint32_t *order, size_t *order_count,
                              size_t *prepared_count);

#endif
