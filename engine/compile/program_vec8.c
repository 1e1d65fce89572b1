/* program_vec8.c — evaluates a program for eight members at once: the interpreter's loops, with vec8 values.
 *
 * Vector arithmetic executes the operations of a scalar evaluation in each lane. Sine and cosine, the most frequent
 * functions, are computed by the same formulas as for one member (engine/base/sincos.h). Library functions are called
 * for one member after the other. */
#include "engine/compile/program_int.h"

#include "engine/base/sincos.h"

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
