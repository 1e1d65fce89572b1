/* tangent.c — directional derivatives of a program by forward mode, PROGRAM_LANES directions at once.
 *
 * Each slot has tangent lanes and a flag that is set if any of them may be nonzero. Only flagged operands are
 * processed. If the tangent of an operand is zero, the partial derivative with respect to that operand is not computed.
 * This rule saves work and avoids NaN from 0 · ∞: the partial derivative may be infinite or undefined (sqrt at 0, the
 * exponent of x^n at x <= 0). Likewise, if a partial derivative is not finite, zero lanes remain zero.
 *
 * The partial derivatives are the columns of operators.h and of PROGRAM_EXTRA_LIST, expanded here as arithmetic. */
#include "engine/base/finite.h"
#include "engine/compile/program_int.h"

#include <assert.h>
#include <string.h>

enum { LANES = PROGRAM_LANES, PARTIALS = 3 /* doubles after the lanes, for partial derivatives in machine code */ };

/* clang-format off */
#define N_(c)       ((double)(c))
#define ADD_(a, b)  ((a) + (b))
#define SUB_(a, b)  ((a) - (b))
#define MUL_(a, b)  ((a) * (b))
#define DIV_(a, b)  ((a) / (b))
#define NEG_(a)     (-(a))
#define POW_(a, b)  pow((a), (b))
#define POWI_(a, b) program_power((a), (b))
#define SIN_(a)     scalar_sin(a)
#define COS_(a)     scalar_cos(a)
#define SINH_(a)    sinh(a)
#define COSH_(a)    cosh(a)
#define TANH_(a)    tanh(a)
#define SECH_(a)    (1 / cosh(a))
#define LOG_(a)     log(a)
#define SQRT_(a)    sqrt(a)
#define SIGN_(a)    ((double)(((a) > 0) - ((a) < 0)))
#define FLOOR_(a)   floor(a)
#define LE_(a, b)   ((double)((a) <= (b)))
#define LT_(a, b)   ((double)((a) < (b)))
#define GE_(a, b)   ((double)((a) >= (b)))
#define GT_(a, b)   ((double)((a) > (b)))
/* clang-format on */

/* Define by_x_SIN(x, y, z, f), by_y_..., by_z_...: the partial derivatives of an operation with the result f. */
#define PARTIAL(prefix, name, expression)                                          \
    static inline double prefix##_##name(double X, double Y, double Z, double F) { \
        (void)X, (void)Y, (void)Z, (void)F;                                        \
        return expression;                                                         \
    }
/* Define at_x_SIN(x, y, z), ...: the partial derivatives without the result as an argument. */
#define AT(name, k)                                               \
    static double at_##k##_##name(double x, double y, double z) { \
        return by_##k##_##name(x, y, z, value_##name(x, y, z));   \
    }
#define OP(name, arity, value, dx, dy, dz) \
    PARTIAL(by_x, name, dx) PARTIAL(by_y, name, dy) PARTIAL(by_z, name, dz) AT(name, x) AT(name, y) AT(name, z)
PROGRAM_OPERATION_LIST
#undef OP

const program_partial program_partials[PROGRAM_OP_COUNT][3] = {
#define OP(name, ...) [PROGRAM_##name] = {at_x_##name, at_y_##name, at_z_##name},
    PROGRAM_OPERATION_LIST
#undef OP
};

/* The lanes of one tangent, in vector registers (a GNU extension that gcc and clang support on any machine). They are
 * not an array, because the compiler would store an array on the stack between the two terms of a product rule. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));
typedef struct lanes {
    pair p[LANES / 2];
} lanes;
_Static_assert(LANES == 8, "the functions below name four pairs");

static inline lanes lanes_load(const double *t) {
    lanes x;
    memcpy(&x, t, sizeof x);
    return x;
}

static inline lanes lanes_scale(double c, lanes x) {
    pair s = {c, c};
    return (lanes){{s * x.p[0], s * x.p[1], s * x.p[2], s * x.p[3]}};
}

static inline lanes lanes_add(lanes x, lanes y) {
    return (lanes){{x.p[0] + y.p[0], x.p[1] + y.p[1], x.p[2] + y.p[2], x.p[3] + y.p[3]}};
}

/* Returns partial · t for a partial derivative that is not finite. Zero lanes remain zero. The function is not inlined,
 * so that the loops are short. */
__attribute__((noinline, cold)) static lanes scale_guarded(double partial, const double *t) {
    double r[LANES];
    for (int k = 0; k < LANES; k++) r[k] = t[k] != 0 ? partial * t[k] : 0;
    return lanes_load(r);
}

/* The arrays of a tangent evaluation. The structure is passed by value: a store through `moves` may alias any memory,
 * so the compiler would otherwise reload the pointers for every operation. */
typedef struct tangent {
    double *w;            /* the workspace */
    double *dot;          /* dot[slot * LANES + lane]: the tangents */
    unsigned char *moves; /* moves[slot]: a lane of the slot may be nonzero */
} tangent;

static bool any_nonzero(const double *t) {
    bool any = false;
    for (int k = 0; k < LANES; k++) any |= t[k] != 0;
    return any;
}

/* Returns true for operations such as min, which have several pieces. If a partial derivative of such an operation is 0
 * because another piece applies, 0 · ∞ counts as 0. */
static inline bool is_piecewise(uint32_t op) {
    return op == GRAPH_MIN || op == GRAPH_MAX || op == GRAPH_SIGN || op == GRAPH_FLOOR || op == GRAPH_CEIL ||
           (op >= GRAPH_LT && op <= GRAPH_NOT);
}

/* Returns r + partial · tangent of `slot`. On entry and on return, *moves is true if r contains a contribution. */
static inline lanes contribute(tangent t, uint32_t op, uint32_t slot, double partial, lanes r, bool *moves) {
    if (is_piecewise(op) && partial == 0) return r;
    const double *dot = t.dot + (size_t)slot * LANES;
    lanes part = isfinite(partial) ? lanes_scale(partial, lanes_load(dot)) : scale_guarded(partial, dot);
    r = *moves ? lanes_add(r, part) : part;
    *moves = true;
    return r;
}

static inline void store(tangent t, uint32_t slot, double value, lanes r, bool moves) {
    t.w[slot] = value;
    t.moves[slot] = moves;
    if (moves) memcpy(t.dot + (size_t)slot * LANES, &r, sizeof r);
}

/* Processes a run of one operation with `arity` operands. The destination is written last, because it may be the slot
 * of an operand. */
#define RUN(op, name, arity)                                                                         \
    for (; i < stop; i++) {                                                                          \
        uint32_t a = program_a(*i), b = program_b(*i), c = program_c(*i);                            \
        double x = t.w[a], y = t.w[b], z = t.w[c], f = value_##name(x, y, z);                        \
        lanes r = {0};                                                                               \
        bool moves = false;                                                                          \
        if ((arity) > 0 && t.moves[a]) r = contribute(t, op, a, by_x_##name(x, y, z, f), r, &moves); \
        if ((arity) > 1 && t.moves[b]) r = contribute(t, op, b, by_y_##name(x, y, z, f), r, &moves); \
        if ((arity) > 2 && t.moves[c]) r = contribute(t, op, c, by_z_##name(x, y, z, f), r, &moves); \
        store(t, program_dst(*i), f, r, moves);                                                      \
    }                                                                                                \
    break;

static void run_sincos(tangent t, program_instruction i) {
    double sine, cosine;
    uint32_t a = program_a(i);
    scalar_sincos(t.w[a], &sine, &cosine);
    bool sine_moves = false, cosine_moves = false;
    lanes of_sine = {0}, of_cosine = {0};
    if (t.moves[a]) {
        of_sine = contribute(t, PROGRAM_SINCOS, a, cosine, of_sine, &sine_moves);
        of_cosine = contribute(t, PROGRAM_SINCOS, a, -sine, of_cosine, &cosine_moves);
    }
    store(t, program_dst(i), sine, of_sine, sine_moves);
    store(t, program_c(i), cosine, of_cosine, cosine_moves);
}

static void run_table(tangent t, const graph_table *const *tables, program_instruction i) {
    uint32_t a = program_a(i);
    double value = program_look_up(tables, i, t.w, 0);
    lanes r = {0};
    bool moves = false;
    if (t.moves[a]) r = contribute(t, GRAPH_TABLE, a, program_look_up(tables, i, t.w, 1), r, &moves);
    store(t, program_dst(i), value, r, moves);
}

/* Copies the tangent of the branch taken. */
static void run_if(tangent t, program_instruction i) {
    uint32_t taken = t.w[program_a(i)] != 0 ? program_b(i) : program_c(i);
    lanes r = {0};
    if (t.moves[taken]) r = lanes_load(t.dot + (size_t)taken * LANES);
    store(t, program_dst(i), t.w[taken], r, t.moves[taken]);
}

static void run_tape(const program_run *run, const program_run *end, const program_instruction *i, tangent t,
                     const graph_table *const *tables) {
    for (; run < end; run++) {
        const program_instruction *stop = i + run->count;
        switch (run->op) {
        case GRAPH_TABLE:
            for (; i < stop; i++) run_table(t, tables, *i);
            break;
        case PROGRAM_SINCOS:
            for (; i < stop; i++) run_sincos(t, *i);
            break;
            /* clang-format off */
#define OP(name, arity, value, dx, dy, dz)                                                                             \
        case PROGRAM_##name:                                                                                           \
            if (PROGRAM_##name == PROGRAM_IF) {                                                                        \
                for (; i < stop; i++) run_if(t, *i);                                                                   \
                break;                                                                                                 \
            }                                                                                                          \
            RUN(PROGRAM_##name, name, arity)
        PROGRAM_OPERATION_LIST
#undef OP
            /* clang-format on */
        }
    }
}

/* Copies the seeds to the slots of the inputs. */
static void load_seeds(const program *p, const program_inputs *seeds, tangent t) {
    for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++) {
        const double *values = seeds->values[kind];
        if (!values) continue;
        for (size_t i = p->input_start[kind]; i < p->input_start[kind + 1]; i++) {
            const double *seed = values + (size_t)p->input_index[i] * LANES;
            size_t slot = p->constant_count + i;
            memcpy(t.dot + slot * LANES, seed, LANES * sizeof *seed);
            t.moves[slot] = any_nonzero(seed);
        }
    }
}

size_t program_tangent_doubles(const program *p) {
    return LANES + p->slot_count * LANES + PARTIALS + (p->slot_count + sizeof(double) - 1) / sizeof(double);
}

/* Returns the first address in the tangent workspace aligned to a cache line, which contains the lanes of one slot. */
static double *aligned(double *tangent_workspace) {
    const uintptr_t line = LANES * sizeof(double);
    return (double *)(((uintptr_t)tangent_workspace + line - 1) / line * line);
}

/* Copies lanes. Adding +0 turns −0 into +0, so the result does not depend on zeros added before. */
static void copy_lanes(double *out, const double *lanes_of_slot) {
    for (int k = 0; k < LANES; k++) out[k] = lanes_of_slot[k] + 0.0;
}

/* Runs the machine code if exactly one kind of symbols is seeded. Returns false if the code does not exist, or if a
 * lane of an output is not finite. The caller then uses the interpreter. The machine code does not skip zero tangents.
 * If a partial derivative is not finite, the lanes of all outputs that depend on it are not finite either. */
static bool run_native(const program *p, const program_inputs *inputs, const program_inputs *seeds, double *workspace,
                       double *dot, double *outputs_dot) {
    int kind = 0, others = 0;
    for (int k = 0; k < SYMBOL_KIND_COUNT; k++)
        if (seeds->values[k]) others += kind != 0 || k == SYMBOL_PARAMETER, kind = k;
    if (others || !p->native_tangents[kind]) return false;
    for (size_t i = p->input_start[kind]; i < p->input_start[kind + 1]; i++)
        memcpy(dot + (p->constant_count + i) * LANES, seeds->values[kind] + (size_t)p->input_index[i] * LANES,
               LANES * sizeof *dot);
    p->native_tangents[kind](workspace, inputs->values, dot);
    for (size_t i = 0; i < p->output_count; i++)
        copy_lanes(outputs_dot + i * LANES, dot + (size_t)p->output_slots[i] * LANES);
    return all_finite(outputs_dot, p->output_count * LANES);
}

void program_tangent(const program *p, const program_inputs *inputs, const program_inputs *seeds, double *workspace,
                     double *tangent_workspace, double *outputs, double *outputs_dot) {
    double *dot = aligned(tangent_workspace);
    assert(workspace != tangent_workspace && outputs != outputs_dot);
    if (!outputs && run_native(p, inputs, seeds, workspace, dot, outputs_dot)) return;
    tangent t = {workspace, dot, (unsigned char *)(dot + p->slot_count * LANES + PARTIALS)};
    memset(t.moves, 0, p->slot_count);
    load_seeds(p, seeds, t);
    program_load(p, inputs, SYMBOL_PARAMETER + 1, SYMBOL_KIND_COUNT, workspace);
    /* the prepared part depends on parameters only, so its tangents are nonzero only if parameters are seeded */
    if (seeds->values[SYMBOL_PARAMETER]) run_tape(p->runs, p->runs + p->prepared_runs, p->instructions, t, p->tables);
    run_tape(p->runs + p->prepared_runs, p->runs + p->run_count, p->instructions + p->prepared_count, t, p->tables);
    for (size_t i = 0; i < p->output_count; i++) {
        uint32_t slot = p->output_slots[i];
        double *out = outputs_dot + i * LANES;
        if (t.moves[slot])
            copy_lanes(out, dot + (size_t)slot * LANES);
        else
            memset(out, 0, LANES * sizeof *out);
        if (outputs) outputs[i] = workspace[slot];
    }
}
