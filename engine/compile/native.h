/* native.h — programs as machine code of x86-64 with AVX2.
 *
 * The same operations on the same values: translated programs give the same bits as the interpreter (of a NaN, only
 * that it is one). Only programs that are valid are translated: each operand is a slot of the workspace that has been
 * written before. The code holds no number of the program: constants stay in the workspace, where nothing is executed;
 * what a description can choose in it are distances of slots, exponents up to 17 by their products, and orders of derivatives. */
#ifndef HAMEL_COMPILE_NATIVE_H
#define HAMEL_COMPILE_NATIVE_H

#include "engine/compile/program.h"

typedef enum native_status {
    NATIVE_DONE,
    NATIVE_NOT_VALID,  /* some program was refused; none is translated */
    NATIVE_NO_MACHINE, /* not built for x86-64, or the processor lacks AVX2 */
    NATIVE_NO_MEMORY   /* memory is short, there is none that may be executed, or the code would be too long */
} native_status;

typedef struct native_code {
    void *bytes;
    size_t size;
} native_code;

/* What of a program is translated: what program_evaluate does, or what program_tangent does with seeds of one kind of
 * symbols only and without asking for values. */
enum { NATIVE_VALUES = -1 };
typedef struct native_task {
    program *program; /* may be NULL: nothing */
    int kind;         /* NATIVE_VALUES, or a graph_symbol_kind but SYMBOL_PARAMETER */
} native_task;

/* From now on these functions run the code, until native_free; before that, nobody else may use the programs. On failure
 * the programs stay as they were. Cost: linear. */
native_status native_translate(native_code *code, const native_task *tasks, size_t count);

/* The programs must not be evaluated any more. Of a code that is zero: nothing. */
void native_free(native_code *code);

#endif
