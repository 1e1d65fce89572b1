/* interpreter.c — evaluates a program.
 *
 * The tape is a list of runs of one operation each (program_int.h gives the reason). The outer switch is evaluated once
 * per run, and each case is a loop over the run. The interpreter writes only the workspace and the outputs. */
#include "engine/compile/program_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void run_tape(const program_run *run, const program_run *end, const program_instruction *i, double *w,
                     const graph_table *const *tables) {
#define RUN(name)                                                                            \
    for (; i < stop; i++) {                                                                  \
        program_instruction u = *i;                                                          \
        w[program_dst(u)] = value_##name(w[program_a(u)], w[program_b(u)], w[program_c(u)]); \
    }                                                                                        \
    break;
    for (; run < end; run++) {
        const program_instruction *stop = i + run->count;
        switch (run->op) {
            /* clang-format off */
#define OP(name, ...) case PROGRAM_##name: RUN(name)
        PROGRAM_OPERATION_LIST
#undef OP
            /* clang-format on */
        case GRAPH_TABLE:
            for (; i < stop; i++) w[program_dst(*i)] = program_look_up(tables, *i, w, 0);
            break;
        case PROGRAM_SINCOS:
            for (; i < stop; i++) scalar_sincos(w[program_a(*i)], &w[program_dst(*i)], &w[program_c(*i)]);
            break;
        }
    }
#undef RUN
}

void program_load(const program *p, const program_inputs *inputs, int from, int to, double *workspace) {
    double *slot = workspace + p->constant_count;
    for (int kind = from; kind < to; kind++) {
        const double *values = inputs->values[kind];
        for (size_t i = p->input_start[kind]; i < p->input_start[kind + 1]; i++) slot[i] = values[p->input_index[i]];
    }
}

void program_prepare(const program *p, const program_inputs *inputs, double *workspace) {
    assert(p->prepared_runs <= p->run_count && p->prepared_count <= p->instruction_count);
    if (p->constant_count) memcpy(workspace, p->constants, p->constant_count * sizeof *workspace);
    program_load(p, inputs, SYMBOL_PARAMETER, SYMBOL_PARAMETER + 1, workspace);
    run_tape(p->runs, p->runs + p->prepared_runs, p->instructions, workspace, p->tables);
}

void program_evaluate(const program *p, const program_inputs *inputs, double *workspace, double *outputs) {
    if (p->native) {
        p->native(workspace, inputs->values, outputs);
        return;
    }
    program_load(p, inputs, SYMBOL_PARAMETER + 1, SYMBOL_KIND_COUNT, workspace);
    run_tape(p->runs + p->prepared_runs, p->runs + p->run_count, p->instructions + p->prepared_count, workspace,
             p->tables);
    for (size_t i = 0; i < p->output_count; i++) outputs[i] = workspace[p->output_slots[i]];
}

int program_operands(uint32_t op) {
    static const unsigned char reads[PROGRAM_OP_COUNT] = {
#define OP(name, arity, value, dx, dy, dz) [PROGRAM_##name] = arity,
        PROGRAM_OPERATION_LIST
#undef OP
            [PROGRAM_TABLE] = 1,
        [PROGRAM_SINCOS] = 1};
    assert(op < PROGRAM_OP_COUNT);
    return op == PROGRAM_POWI ? 1 : reads[op]; /* the exponent is a constant, not a value */
}

/* Lists the operands that determine the value. For IF, lists the condition and the branch taken. For other operations,
 * lists all operands that are read. */
static int operands_of(uint32_t op, program_instruction i, const double *w, uint32_t operand[3]) {
    operand[0] = program_a(i);
    operand[1] = program_b(i);
    operand[2] = program_c(i);
    if (op != GRAPH_IF) return program_operands(op);
    operand[1] = w[program_a(i)] != 0 ? program_b(i) : program_c(i);
    return 2;
}

/* Returns the cause if the value of `node` is not finite. If all operands are finite, the cause is `node`. Otherwise,
 * the cause is that of the first operand that is not finite. For an input that is not finite, the cause is
 * GRAPH_NONE. */
static graph_node blame(const double *w, const graph_node *fault, const uint32_t *operand, int count, graph_node node) {
    for (int k = 0; k < count; k++)
        if (!isfinite(w[operand[k]])) return fault[operand[k]];
    return node;
}

static void trace(const program *p, double *w, graph_node *fault) {
    const program_instruction *i = p->instructions;
    const graph_node *node = p->nodes;
    for (const program_run *run = p->runs; run < p->runs + p->run_count; run++) {
        for (uint32_t k = 0; k < run->count; k++, i++, node++) {
            uint32_t operand[3] = {0};
            int count = operands_of(run->op, *i, w, operand);
            graph_node found = blame(w, fault, operand, count, *node);
            program_run one = {run->op, 1};
            run_tape(&one, &one + 1, i, w, p->tables);
            uint32_t dst = program_dst(*i);
            fault[dst] = isfinite(w[dst]) ? GRAPH_NONE : found;
            if (run->op == PROGRAM_SINCOS) fault[program_c(*i)] = fault[dst];
        }
    }
}

graph_node program_first_fault(const program *p, const program_inputs *inputs, double *workspace) {
    graph_node *fault = malloc(p->slot_count * sizeof *fault);
    if (!fault) return GRAPH_NONE;
    for (size_t i = 0; i < p->slot_count; i++) fault[i] = GRAPH_NONE;
    bool has_parameters = p->input_start[SYMBOL_PARAMETER + 1] > 0;
    if (inputs->values[SYMBOL_PARAMETER] || !has_parameters) program_prepare(p, inputs, workspace);
    program_load(p, inputs, SYMBOL_PARAMETER + 1, SYMBOL_KIND_COUNT, workspace);
    trace(p, workspace, fault);
    graph_node found = GRAPH_NONE;
    for (size_t i = 0; i < p->output_count && found == GRAPH_NONE; i++) found = fault[p->output_slots[i]];
    free(fault);
    return found;
}
