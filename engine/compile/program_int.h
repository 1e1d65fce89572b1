/* program_int.h — the operations and layout of a tape, and the stages between graph and tape. Private to
 * engine/compile.
 *
 *     reachable.c  nodes -> their reachable subgraph, operands first
 *     select.c     subgraph -> operations (powers by multiplication, fused products, sine and cosine together)
 *     schedule.c   operations -> an order in which equal operations form runs
 *     program.c    order -> slots, instructions, program
 *
 * A run is a sequence of instructions with the same operation, which the interpreter evaluates with one dispatch. With
 * one dispatch per instruction, nearly every branch is mispredicted once the tape outgrows the branch predictor. */
#pragma once

#include "engine/compile/program.h"

/* Operations of a tape in addition to those of the graph. Columns: enum, arity, value, ∂/∂x, ∂/∂y, ∂/∂z, written with
 * the builder names of operators.h. A fused operation rounds its product and its sum separately, so its result is
 * bit-identical to that of the two operations that it replaces. The exponent y of POWI is an integer constant, so the
 * derivative of POWI with respect to y is never needed. */
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

/* Expands OP(name, arity, value, dx, dy, dz) for each operation except TABLE and SINCOS. Define the macro OP before
 * use. */
#define PROGRAM_OF_GRAPH(name, text, arity, kind, value, dx, dy) OP(name, arity, value, dx, dy, N_(0))
#define PROGRAM_OPERATION_LIST GRAPH_OPERATOR_LIST(PROGRAM_OF_GRAPH) PROGRAM_EXTRA_LIST(OP)

/* The operations of a tape: first the operations of the graph, with the same numbers, then PROGRAM_EXTRA_LIST and
 * SINCOS. SINCOS has two results. */
enum {
#define OP(name, ...) PROGRAM_##name,
    GRAPH_OPERATOR_LIST(OP) PROGRAM_TABLE,
    PROGRAM_EXTRA_LIST(OP)
#undef OP
        PROGRAM_SINCOS, /* dst := sin a, c := cos a */
    PROGRAM_OP_COUNT
};
_Static_assert((int)PROGRAM_TABLE == (int)GRAPH_TABLE, "the operations of the graph have the same numbers");
_Static_assert(PROGRAM_OP_COUNT <= 64, "schedule.c stores one bit per operation in a 64-bit word");

/* An instruction: four slots of the workspace, which contains constants, inputs by kind, and computed values. Unused
 * operands are slot 0. Two slots share a word, because loads limit the speed of the interpreter: two loads with shifts
 * are a fifth faster than four loads (README.md). */
typedef struct program_instruction {
    uint64_t dst_a, b_c; /* dst and b in the low halves, a and c in the high halves */
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

/* Partial derivatives of operations with respect to each operand (tangent.c); NULL for SINCOS and TABLE. */
typedef double (*program_partial)(double x, double y, double z);
extern const program_partial program_partials[PROGRAM_OP_COUNT][3];

struct program {
    program_native native; /* NULL: use the interpreter */
    program_native native_tangents[SYMBOL_KIND_COUNT];
    const program_instruction *instructions;
    const graph_node *nodes; /* graph node of each instruction, for program_first_fault */
    const program_run *runs;
    size_t instruction_count, prepared_count; /* the first prepared_count instructions are the prepared part */
    size_t run_count, prepared_runs;
    const graph_table *const *tables; /* tables of the graph, by index */
    const double *constants;          /* values of slots 0 to constant_count − 1 */
    size_t constant_count;
    const uint32_t *input_index;               /* symbol indices of the inputs, whose slots follow the constants */
    size_t input_start[SYMBOL_KIND_COUNT + 1]; /* input_start[kind]: first entry of the kind in input_index */
    const uint32_t *output_slots;
    size_t output_count;
    size_t slot_count; /* at least 1 */
    unsigned depends;
};

/* Returns x^y for an integer y with |y| <= 17, by repeated squaring. */
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

/* Define value_ADD(x, y, z), ... for the operations of PROGRAM_OPERATION_LIST. */
#define OP(name, arity, value, dx, dy, dz)                            \
    static inline double value_##name(double x, double y, double z) { \
        (void)x, (void)y, (void)z;                                    \
        return value;                                                 \
    }
PROGRAM_OPERATION_LIST
#undef OP

/* Returns the derivative of order `further` of the result of a TABLE instruction. Order 0 is the result itself. */
static inline double program_look_up(const graph_table *const *tables, program_instruction i, const double *w,
                                     int further) {
    return table_value(tables[(size_t)w[program_b(i)]], w[program_a(i)], (int)w[program_c(i)] + further);
}

/* interpreter.c: returns how many of the slots a, b, c an operation reads as values. */
int program_operands(uint32_t op);

/* interpreter.c: copies each input whose kind is in [`from`, `to`) to its slot. */
void program_load(const program *p, const program_inputs *inputs, int from, int to, double *workspace);

/* --- reachable.c ------------------------------------------------------------------------------------------------- */

/* The reachable subgraph of some nodes, operands before results. Later stages refer to a node by its index in this
 * list. This index is called a value. */
typedef struct program_reachable {
    arena memory;
    graph_node *nodes;
    size_t count, capacity;
    graph_node *keys; /* hash table with open addressing: maps a node to its value */
    uint32_t *values;
    size_t key_mask;
} program_reachable;

/* Collects the subgraph. Returns HAMEL_OK or HAMEL_NO_MEMORY. Call program_reachable_free in both cases. */
hamel_status program_reachable_collect(program_reachable *r, const graph *g, const graph_node *nodes, size_t count);
uint32_t program_reachable_find(const program_reachable *r, graph_node node); /* returns the value of a node */
void program_reachable_free(program_reachable *r);

/* --- select.c ---------------------------------------------------------------------------------------------------- */

enum { PROGRAM_NO_VALUE = UINT32_MAX, PROGRAM_NO_OP = UINT8_MAX };

typedef struct program_operation {
    uint8_t op;       /* PROGRAM_NO_OP: a number, a symbol, a fused operation, or an operation that is not needed */
    uint8_t arity;    /* number of operands read */
    bool prepared;    /* the value depends on parameters only */
    bool output;      /* the caller requests the value */
    uint32_t uses;    /* number of operations in the subgraph that read the value */
    uint32_t arg[3];  /* the operands */
    uint32_t second;  /* SINCOS: the value that is the cosine */
    uint32_t place;   /* place of a value in a family, whose slot is not reused; otherwise PROGRAM_NO_VALUE */
    uint32_t definer; /* index of the operation that computes this value: this operation or a SINCOS */
} program_operation;

/* Fills operations[reachable->count], one per value. values[count] lists the values that the caller requests. */
hamel_status program_select(program_operation *operations, const program_reachable *reachable, const graph *g,
                            const uint32_t *values, size_t count);

/* --- schedule.c -------------------------------------------------------------------------------------------------- */

/* Orders the operations. Fills `order` with the indices of the values that the operations define, prepared values
 * first, and sets *order_count to their number. `order` has space for `count` entries. Sets the places of the values in
 * families, and sets *places to their number. */
hamel_status program_schedule(program_operation *operations, size_t count, uint32_t *order, size_t *order_count,
                              size_t *prepared_count, size_t *places);

/* --- families.c -------------------------------------------------------------------------------------------------- */

/* Orders the operations outside the prepared part by families. Appends to `order` and increases *ordered. Sets the
 * places of the values in families, and sets *places to their number. */
hamel_status program_order_families(program_operation *operations, size_t count, uint32_t *order, size_t *ordered,
                                    size_t *places);
