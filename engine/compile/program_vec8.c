/* abreast.c — a program for eight members at once: the interpreter's loops, over octets.
 *
 * Arithmetic is vector arithmetic; functions of the library are called for one member after the other. Sine and cosine,
 * which motions in angles are full of, are computed here: reduction by three parts of π/2 (Cody & Waite), whose products
 * with the multiple are exact, and the polynomials of fdlibm's kernels on |x| ≤ π/4. Measured against the library's: within
 * 1 ulp (test_abreast.c). Arguments that are too large for the reduction go to the library. */
#include "engine/compile/program_int.h"

#include "engine/compile/octet.h"

#include <stdlib.h>
#include <string.h>

octet *octets_alloc(size_t count) {
    if (count > SIZE_MAX / sizeof(octet) - 1) return NULL;
    octet *x = aligned_alloc(sizeof *x, (count + 1) * sizeof *x);
    if (x) memset(x, 0, (count + 1) * sizeof *x);
    return x;
}

/* --- sine and cosine ------------------------------------------------------------------------------------------------ */

static const double REDUCIBLE = 0x1p19; /* multiples of π/2 up to here have so few bits that their products are exact */

/* x − n π/2 = high + low, and n modulo 4 in the last bits of *multiple. */
OCTET_INLINE void reduce(const octet *x, octet *high, octet *low, octet_bits *multiple) {
    /* π/2 in parts: 33 bits, 33 bits, the rest */
    const double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
    const double two_by_pi = 0x1.45f306dc9c883p-1, to_integer = 0x1.8p52;
    octet shifted = *x * two_by_pi + to_integer, n = shifted - to_integer;
    octet a = *x - n * first, product = n * second, b = a - product;
    octet rest = ((a - b) - product) - n * third;
    *high = b + rest;
    *low = (b - *high) + rest;
    *multiple = (octet_bits)shifted;
}

/* sin and cos of high + low, |high| ≤ π/4: fdlibm's __kernel_sin and __kernel_cos (Sun Microsystems, 1993). */
OCTET_INLINE void kernels(const octet *high, const octet *low, octet *sine, octet *cosine) {
    octet x = *high, y = *low, z = x * x, cube = z * x;
    octet s = 2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    s = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * s);
    *sine = x - ((z * (0.5 * y - cube * s) - y) - cube * -1.66666666666666324348e-01);
    octet c = -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11);
    c = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * c)));
    octet half = 0.5 * z, one = 1 - half;
    *cosine = one + (((1 - one) - half) + (z * c - x * y));
}

__attribute__((noinline, cold)) static void library_sincos(const octet *x, octet *sine, octet *cosine) {
    for (int k = 0; k < OCTET; k++) {
        double s, c;
        if (fabs((*x)[k]) <= REDUCIBLE) continue;
        sincos((*x)[k], &s, &c);
        (*sine)[k] = s;
        (*cosine)[k] = c;
    }
}

/* `sine` and `cosine` may be x. */
OCTET_INLINE void octet_sincos(const octet *x, octet *sine, octet *cosine) {
    octet high, low, s, c, given = *x;
    octet_bits n;
    reduce(&given, &high, &low, &n);
    kernels(&high, &low, &s, &c);
    octet_bits odd = -(n & 1), sign = (octet_bits)s, cosign = (octet_bits)c;
    octet_bits first = (sign & ~odd) | (cosign & odd), second = (cosign & ~odd) | (sign & odd);
    octet of_sine = (octet)(first ^ ((n & 2) << 62)), of_cosine = (octet)(second ^ (((n + 1) & 2) << 62));
    bool all = true;
    for (int k = 0; k < OCTET; k++) all &= fabs(given[k]) <= REDUCIBLE;
    if (!all) library_sincos(&given, &of_sine, &of_cosine);
    *sine = of_sine;
    *cosine = of_cosine;
}

/* --- the tape ------------------------------------------------------------------------------------------------------- */

OCTET_INLINE void run(const program_run *run, const program_run *end, const program_instruction *i, octet *w,
                      const graph_table *const *tables) {
#define RUN(name)                                                                      \
    for (; i < stop; i++) {                                                            \
        octet x = w[program_a(*i)], y = w[program_b(*i)], z = w[program_c(*i)], r = x; \
        for (int k = 0; k < OCTET; k++) r[k] = value_##name(x[k], y[k], z[k]);         \
        w[program_dst(*i)] = r;                                                        \
    }                                                                                  \
    break;
    for (octet unused; run < end; run++) {
        const program_instruction *stop = i + run->count;
        switch (run->op) {
        case GRAPH_TABLE:
            for (; i < stop; i++) {
                const graph_table *table = tables[(size_t)w[program_b(*i)][0]];
                octet x = w[program_a(*i)], r = x;
                int order = (int)w[program_c(*i)][0];
                for (int k = 0; k < OCTET; k++) r[k] = table_value(table, x[k], order);
                w[program_dst(*i)] = r;
            }
            break;
        case PROGRAM_SINCOS:
            for (; i < stop; i++) octet_sincos(&w[program_a(*i)], &w[program_dst(*i)], &w[program_c(*i)]);
            break;
            /* clang-format off */
#define OP(name, text, arity, kind, value, dx, dy)                                                                     \
        case GRAPH_##name:                                                                                             \
            if (GRAPH_##name == GRAPH_SIN || GRAPH_##name == GRAPH_COS) {                                              \
                for (; i < stop; i++)                                                                                  \
                    octet_sincos(&w[program_a(*i)], GRAPH_##name == GRAPH_SIN ? &w[program_dst(*i)] : &unused,         \
                                 GRAPH_##name == GRAPH_COS ? &w[program_dst(*i)] : &unused);                           \
                break;                                                                                                 \
            }                                                                                                          \
            RUN(name)
        GRAPH_OPERATOR_LIST(OP)
#undef OP
#define OP(name, arity, value, dx, dy, dz) case PROGRAM_##name: RUN(name)
        PROGRAM_EXTRA_LIST(OP)
#undef OP
            /* clang-format on */
        }
    }
#undef RUN
}
OCTET_INLINE void load(const program *p, const program_inputs *inputs, int from, int to, octet *w) {
    octet *slot = w + p->constant_count;
    for (int kind = from; kind < to; kind++) {
        const octet *values = (const octet *)(const void *)inputs->values[kind];
        for (size_t i = p->input_start[kind]; i < p->input_start[kind + 1]; i++) slot[i] = values[p->input_index[i]];
    }
}

void program_prepare_abreast(const program *p, const program_inputs *inputs, octet *w) {
    for (size_t i = 0; i < p->constant_count; i++)
        for (int k = 0; k < OCTET; k++) w[i][k] = p->constants[i];
    load(p, inputs, SYMBOL_PARAMETER, SYMBOL_PARAMETER + 1, w);
    run(p->runs, p->runs + p->prepared_runs, p->instructions, w, p->tables);
}

OCTET_INLINE void evaluate_body(const program *p, const program_inputs *inputs, octet *w, octet *outputs) {
    load(p, inputs, SYMBOL_PARAMETER + 1, SYMBOL_KIND_COUNT, w);
    run(p->runs + p->prepared_runs, p->runs + p->run_count, p->instructions + p->prepared_count, w, p->tables);
    for (size_t i = 0; i < p->output_count; i++) outputs[i] = w[p->output_slots[i]];
}
OCTET_FUNCTION(void, evaluate, (const program *p, const program_inputs *inputs, octet *w, octet *outputs),
               (p, inputs, w, outputs))

void program_evaluate_abreast(const program *p, const program_inputs *inputs, octet *w, octet *outputs) {
    evaluate(p, inputs, w, outputs);
}
