/* program_vec8.c — evaluates a program for eight members at once: the interpreter's loops, with vec8 values.
 *
 * Arithmetic is vector arithmetic. Library functions are called for one member after the other. Sine and cosine, the
 * most frequent functions, are computed here. The argument is reduced to |x| ≤ π/4 with three parts of π/2 (Cody &
 * Waite). The polynomials are those of fdlibm's kernels. The results differ from those of the library by at most 1 ulp
 * (test_program_vec8.c). Arguments too large for the reduction are passed to the library. */
#include "engine/compile/program_int.h"

#include "engine/compile/vec8.h"

#include <stdlib.h>
#include <string.h>

vec8 *vec8_alloc(size_t count) {
    if (count > SIZE_MAX / sizeof(vec8) - 1) return NULL;
    vec8 *x = aligned_alloc(sizeof *x, (count + 1) * sizeof *x);
    if (x) memset(x, 0, (count + 1) * sizeof *x);
    return x;
}

/* Upper bound of |x| for the reduction. Up to this bound, multiples n of π/2 have at most 20 bits, so products of n and
 * the parts of π/2 are exact. */
static const double REDUCIBLE = 0x1p19;

/* Computes high + low = x − n π/2; the last two bits of *multiple are n modulo 4. */
VEC8_INLINE void reduce(const vec8 *x, vec8 *high, vec8 *low, vec8_bits *multiple) {
    /* π/2 = first + second + third, with 33 bits, 33 bits and the remaining bits */
    const double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
    const double two_by_pi = 0x1.45f306dc9c883p-1, to_integer = 0x1.8p52;
    vec8 shifted = *x * two_by_pi + to_integer, n = shifted - to_integer;
    vec8 a = *x - n * first, product = n * second, b = a - product;
    vec8 rest = ((a - b) - product) - n * third;
    *high = b + rest;
    *low = (b - *high) + rest;
    *multiple = (vec8_bits)shifted;
}

/* Computes sin and cos of high + low for |high| ≤ π/4, by fdlibm's __kernel_sin and __kernel_cos (Sun Microsystems,
 * 1993). */
VEC8_INLINE void kernels(const vec8 *high, const vec8 *low, vec8 *sine, vec8 *cosine) {
    vec8 x = *high, y = *low, z = x * x, cube = z * x;
    vec8 s = 2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    s = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * s);
    *sine = x - ((z * (0.5 * y - cube * s) - y) - cube * -1.66666666666666324348e-01);
    vec8 c = -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11);
    c = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * c)));
    vec8 half = 0.5 * z, one = 1 - half;
    *cosine = one + (((1 - one) - half) + (z * c - x * y));
}

__attribute__((noinline, cold)) static void library_sincos(const vec8 *x, vec8 *sine, vec8 *cosine) {
    for (int k = 0; k < VEC8_SIZE; k++) {
        double s, c;
        if (fabs((*x)[k]) <= REDUCIBLE) continue;
        sincos((*x)[k], &s, &c);
        (*sine)[k] = s;
        (*cosine)[k] = c;
    }
}

/* Computes sin and cos of x; `sine` or `cosine` may equal x. */
VEC8_INLINE void vec8_sincos(const vec8 *x, vec8 *sine, vec8 *cosine) {
    vec8 high, low, s, c, given = *x;
    vec8_bits n;
    reduce(&given, &high, &low, &n);
    kernels(&high, &low, &s, &c);
    vec8_bits odd = -(n & 1), sign = (vec8_bits)s, cosign = (vec8_bits)c;
    vec8_bits first = (sign & ~odd) | (cosign & odd), second = (cosign & ~odd) | (sign & odd);
    vec8 of_sine = (vec8)(first ^ ((n & 2) << 62)), of_cosine = (vec8)(second ^ (((n + 1) & 2) << 62));
    bool all = true;
    for (int k = 0; k < VEC8_SIZE; k++) all &= fabs(given[k]) <= REDUCIBLE;
    if (!all) library_sincos(&given, &of_sine, &of_cosine);
    *sine = of_sine;
    *cosine = of_cosine;
}

VEC8_INLINE void run(const program_run *run, const program_run *end, const program_instruction *i, vec8 *w,
                     const graph_table *const *tables) {
#define RUN(name)                                                                     \
    for (; i < stop; i++) {                                                           \
        vec8 x = w[program_a(*i)], y = w[program_b(*i)], z = w[program_c(*i)], r = x; \
        for (int k = 0; k < VEC8_SIZE; k++) r[k] = value_##name(x[k], y[k], z[k]);    \
        w[program_dst(*i)] = r;                                                       \
    }                                                                                 \
    break;
    for (vec8 unused; run < end; run++) {
        const program_instruction *stop = i + run->count;
        switch (run->op) {
        case GRAPH_TABLE:
            for (; i < stop; i++) {
                const graph_table *table = tables[(size_t)w[program_b(*i)][0]];
                vec8 x = w[program_a(*i)], r = x;
                int order = (int)w[program_c(*i)][0];
                for (int k = 0; k < VEC8_SIZE; k++) r[k] = table_value(table, x[k], order);
                w[program_dst(*i)] = r;
            }
            break;
        case PROGRAM_SINCOS:
            for (; i < stop; i++) vec8_sincos(&w[program_a(*i)], &w[program_dst(*i)], &w[program_c(*i)]);
            break;
            /* clang-format off */
#define OP(name, ...)                                                                                                  \
        case PROGRAM_##name:                                                                                           \
            if (PROGRAM_##name == PROGRAM_SIN || PROGRAM_##name == PROGRAM_COS) {                                      \
                for (; i < stop; i++)                                                                                  \
                    vec8_sincos(&w[program_a(*i)], PROGRAM_##name == PROGRAM_SIN ? &w[program_dst(*i)] : &unused,      \
                                 PROGRAM_##name == PROGRAM_COS ? &w[program_dst(*i)] : &unused);                       \
                break;                                                                                                 \
            }                                                                                                          \
            RUN(name)
        PROGRAM_OPERATION_LIST
#undef OP
            /* clang-format on */
        }
    }
#undef RUN
}

VEC8_INLINE void load(const program *p, const program_inputs *inputs, int from, int to, vec8 *w) {
    vec8 *slot = w + p->constant_count;
    for (int kind = from; kind < to; kind++) {
        const vec8 *values = (const vec8 *)(const void *)inputs->values[kind];
        for (size_t i = p->input_start[kind]; i < p->input_start[kind + 1]; i++) slot[i] = values[p->input_index[i]];
    }
}

void program_prepare_vec8(const program *p, const program_inputs *inputs, vec8 *w) {
    for (size_t i = 0; i < p->constant_count; i++)
        for (int k = 0; k < VEC8_SIZE; k++) w[i][k] = p->constants[i];
    load(p, inputs, SYMBOL_PARAMETER, SYMBOL_PARAMETER + 1, w);
    run(p->runs, p->runs + p->prepared_runs, p->instructions, w, p->tables);
}

VEC8_INLINE void evaluate_body(const program *p, const program_inputs *inputs, vec8 *w, vec8 *outputs) {
    load(p, inputs, SYMBOL_PARAMETER + 1, SYMBOL_KIND_COUNT, w);
    run(p->runs + p->prepared_runs, p->runs + p->run_count, p->instructions + p->prepared_count, w, p->tables);
    for (size_t i = 0; i < p->output_count; i++) outputs[i] = w[p->output_slots[i]];
}
VEC8_FUNCTION(void, evaluate, (const program *p, const program_inputs *inputs, vec8 *w, vec8 *outputs),
              (p, inputs, w, outputs))

void program_evaluate_vec8(const program *p, const program_inputs *inputs, vec8 *w, vec8 *outputs) {
    evaluate(p, inputs, w, outputs);
}
