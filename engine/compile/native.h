/* native.h — translates programs to machine code for x86-64 with AVX2.
 *
 * Machine code executes the operations of the interpreter and gives bit-identical results. Only the payload of a NaN
 * may differ. Only valid programs are translated: each operand must be a slot of the workspace that has been written
 * before. The constants of the program are not in the code but in the workspace, which is not executable. A description
 * determines only four kinds of numbers in the code. They are distances between slots, lengths of loops, exponents up
 * to 16 (as products), and numbers and orders of table lookups. */
#pragma once

#include "engine/compile/program.h"

typedef enum native_status {
    NATIVE_DONE,
    NATIVE_NOT_VALID,  /* a program is not valid; nothing is translated */
    NATIVE_NO_MACHINE, /* not built for x86-64, or the processor lacks AVX2 */
    NATIVE_NO_MEMORY   /* out of memory, executable memory is denied, or the code is too long */
} native_status;

typedef struct native_code {
    void *bytes;
    size_t size;
} native_code;

/* A function to translate: program_evaluate, or program_tangent with seeds for one kind of symbols and with `outputs` =
 * NULL. */
enum { NATIVE_VALUES = -1 };
typedef struct native_task {
    program *program; /* NULL: nothing to translate */
    int kind;         /* NATIVE_VALUES, or a graph_symbol_kind other than SYMBOL_PARAMETER */
} native_task;

/* Translates the tasks. Until native_free, these functions of the programs run the machine code. No other thread may
 * use the programs during the call. On failure the programs do not change. Cost: linear. */
native_status native_translate(native_code *code, const native_task *tasks, size_t count);

/* Returns the numbers in the widest registers of this machine: 8 with AVX-512, otherwise 4. */
size_t native_widest(void);

/* Translates programs for program_evaluate_vec8, with registers of `width` numbers. Sets made[i] to the code of
 * programs[i], or to NULL if programs[i] is NULL, not valid, or contains tables. native_evaluate_vec8 runs the code
 * until native_free. The programs do not change. Cost: linear. */
native_status native_translate_vec8(native_code *code, size_t width, const program *const *programs, size_t count,
                                    program_native *made);

/* Runs code made by native_translate_vec8. Arguments and results are those of program_evaluate_vec8. */
void native_evaluate_vec8(program_native made, size_t width, const program_inputs *inputs, vec8 *workspace,
                          vec8 *outputs);

/* Frees the code. The programs must not be evaluated afterwards. Does nothing for an all-zero `code`. */
void native_free(native_code *code);
