/* translate.c — decides which programs of a model are translated to machine code.
 *
 * All programs share one memory mapping, because each mapping needs system calls and whole pages. */
#include "engine/model/model.h"

#include <stdlib.h>
#include <string.h>

/* A translation takes about 12 µs plus 0.1 µs per instruction, and saves 0.5 ns per instruction in each evaluation
 * (engine/compile/README.md). The cost, in units of 0.5 ns, is therefore 24,000 plus 200 per instruction. Runs of the
 * shipped examples evaluate their equations 700 times in the median, and 3,000 times at the ninth decile. */
enum { FIXED_COST = 24000, COST = 200, EVALUATIONS = 700 };

static size_t size_of(const program *p) {
    return p ? program_instruction_count(p) : 0;
}

/* Returns true if a run is expected to save more time than the translation costs. The number of steps is unknown before
 * a run, but affects the decision little. If there is a program for accelerations, steps seldom evaluate the dynamics
 * program and the programs for corrections. Each row evaluates these programs and the outputs. */
static bool repays(const hamel_model *model, size_t instructions) {
    const model_dynamics *d = &model->dynamics;
    size_t dynamics = size_of(d->program), corrections = size_of(d->correct_positions) + size_of(d->correct_velocities);
    size_t in_steps = instructions - (d->accelerations ? dynamics + corrections : 0);
    size_t in_rows = model->settings.row_count * (dynamics + corrections + size_of(model->observation.program));
    return EVALUATIONS * in_steps + in_rows >= FIXED_COST + COST * instructions;
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
    if (status == NATIVE_NO_MACHINE) return "this machine has no x86-64 processor with AVX2";
    return status == NATIVE_NO_MEMORY ? "executable memory is not available" : "a program is not valid";
}

void model_run_programs(const hamel_model *model, program *list[MODEL_RUN_PROGRAMS]) {
    program *const all[MODEL_RUN_PROGRAMS] = {model->dynamics.program,
                                              model->dynamics.accelerations,
                                              model->dynamics.correct_positions,
                                              model->dynamics.correct_velocities,
                                              model->transitivity ? model->transitivity->program : NULL,
                                              model->dynamics.reaction_shift,
                                              model->dynamics.nonideal,
                                              model->dynamics.energy_rate,
                                              model->momenta.program,
                                              model->momenta.rates,
                                              model->friction.bounds,
                                              model->observation.program,
                                              model->observation.integrands,
                                              model->events.roots,
                                              model->events.nonsmooth};
    memcpy(list, all, sizeof all);
}

/* Returns the largest number of columns with a nonzero in the same row. A Newton matrix needs at least this number of
 * tangents, which are evaluated in groups of PROGRAM_LANES. */
static size_t columns_apart(const hamel_model *model) {
    const sparse_block *p = &model->dynamics.residual_pattern;
    size_t most = 0, *in_row = calloc(model->n + model->m + 1, sizeof *in_row);
    for (size_t e = 0; in_row && e < p->count; e++)
        if (++in_row[p->row[e]] > most) most = in_row[p->row[e]];
    free(in_row);
    return most;
}

/* The time that translated tangents save exceeds their translation time after about REPAYING calls. In runs of
 * the shipped examples with BDF, the median number of Newton matrices is MATRICES, and the ninth decile is 90. `auto`
 * rarely chooses BDF. */
static bool tangents_repay(const hamel_model *model) {
    enum { MATRICES = 16, REPAYING = 100 };
    if (model->settings.method != HAMEL_METHOD_BDF) return false;
    return MATRICES * (columns_apart(model) / PROGRAM_LANES + 1) >= REPAYING;
}

void hamel_model_translate(hamel_model *model, hamel_jit jit) {
    model->jit = jit;
    if (jit == HAMEL_JIT_OFF) return;
    program *programs[MODEL_RUN_PROGRAMS];
    native_task tasks[MODEL_RUN_PROGRAMS + 2];
    size_t count = 0, instructions = 0;
    model_run_programs(model, programs);
    for (size_t i = 0; i < MODEL_RUN_PROGRAMS; i++) {
        tasks[count++] = (native_task){programs[i], NATIVE_VALUES};
        instructions += size_of(programs[i]);
    }
    if (jit == HAMEL_JIT_AUTO && !repays(model, instructions)) return;
    if (jit == HAMEL_JIT_ON || tangents_repay(model)) {
        tasks[count++] = (native_task){model->dynamics.residual, SYMBOL_COORDINATE};
        tasks[count++] = (native_task){model->dynamics.residual, SYMBOL_VELOCITY};
    }
    native_status status = native_translate(&model->native, tasks, count);
    if (status != NATIVE_DONE && jit == HAMEL_JIT_ON) model->not_translated = reason(status);
}
