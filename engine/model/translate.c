/* translate.c — machine code for the programs of a model, where that repays.
 *
 * One piece of memory for all of them: each costs some system calls, and whole pages. */
#include "engine/model/model.h"

#include <stdlib.h>
#include <string.h>

/* A translation takes about 12 µs and 0.1 µs an instruction, and spares each evaluation 0.5 ns an instruction
 * (engine/compile/README.md): in units of what one evaluation of one instruction spares, 24,000 and 200 an instruction. Runs
 * of the shipped examples evaluate their equations 700 times (median; one in ten 3,000 times). */
enum { FIXED_COST = 24000, COST = 200, EVALUATIONS = 700 };

/* From 48 instructions on, where all are evaluated. The number of evaluations is not known before a run, and little hangs
 * on it. */
static bool repays(const hamel_model *model, size_t instructions) {
    size_t evaluated = instructions - (model->accelerations ? program_instruction_count(model->dynamics) : 0);
    return EVALUATIONS * evaluated >= FIXED_COST + COST * instructions;
}

bool hamel_jit_named(const char *name, hamel_jit *out) {
    static const char *const names[] = {[HAMEL_JIT_AUTO] = "auto", [HAMEL_JIT_ON] = "on", [HAMEL_JIT_OFF] = "off"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (hamel_jit)i;
        return true;
    }
    return false;
}

static const char *reason(native_status status) {
    if (status == NATIVE_NO_MACHINE) return "this machine is no x86-64 processor with AVX2";
    return status == NATIVE_NO_MEMORY ? "there is no memory for it that may be executed" : "a program is not valid";
}

void model_run_programs(const hamel_model *model, program *list[MODEL_RUN_PROGRAMS]) {
    program *const all[MODEL_RUN_PROGRAMS] = {
        model->dynamics,       model->accelerations,  model->transitivity ? model->transitivity->program : NULL,
        model->reaction_shift, model->nonideal,       model->energy_rate,
        model->momenta,        model->momentum_rates, model->bounds,
        model->observed,       model->roots,          model->switches};
    memcpy(list, all, sizeof all);
}

/* A Newton matrix takes the columns that share a row one by one, PROGRAM_LANES at a time: this many at least. */
static size_t columns_apart(const hamel_model *model) {
    const model_pattern *p = &model->residual_pattern;
    size_t most = 0, *in_row = calloc(model->n + model->m + 1, sizeof *in_row);
    for (size_t e = 0; in_row && e < p->count; e++)
        if (++in_row[p->row[e]] > most) most = in_row[p->row[e]];
    free(in_row);
    return most;
}

/* Tangents repay after some REPAYING calls; runs of the shipped examples with BDF make MATRICES Newton matrices (median;
 * one in ten 90). A method that is still to be found is rarely BDF. */
static bool tangents_repay(const hamel_model *model) {
    enum { MATRICES = 16, REPAYING = 100 };
    if (model->settings.method != HAMEL_METHOD_BDF) return false;
    return MATRICES * (columns_apart(model) / PROGRAM_LANES + 1) >= REPAYING;
}

void hamel_model_translate(hamel_model *model, hamel_jit jit) {
    if (jit == HAMEL_JIT_OFF) return;
    program *programs[MODEL_RUN_PROGRAMS];
    native_task tasks[MODEL_RUN_PROGRAMS + 2];
    size_t count = 0, instructions = 0;
    model_run_programs(model, programs);
    for (size_t i = 0; i < MODEL_RUN_PROGRAMS; i++) {
        tasks[count++] = (native_task){programs[i], NATIVE_VALUES};
        instructions += programs[i] ? program_instruction_count(programs[i]) : 0;
    }
    if (jit == HAMEL_JIT_AUTO && !repays(model, instructions)) return;
    if (jit == HAMEL_JIT_ON || tangents_repay(model)) {
        tasks[count++] = (native_task){model->residual, SYMBOL_COORDINATE};
        tasks[count++] = (native_task){model->residual, SYMBOL_VELOCITY};
    }
    native_status status = native_translate(&model->native, tasks, count);
    if (status != NATIVE_DONE && jit == HAMEL_JIT_ON) model->not_translated = reason(status);
}
