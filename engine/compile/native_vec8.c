/* native_vec8.c — machine code for eight members at once.
 *
 * The code is that of one member with instructions for four or eight numbers (assembler.h). With registers of four
 * numbers, each evaluation runs the code twice, for members 0 to 3 and for members 4 to 7. Numbers that belong together
 * are 64 bytes apart in both cases. Functions are called for the numbers of a register, which are passed in memory. */
#include "engine/compile/native_int.h"

#include "engine/base/sincos.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Upper bound on the machine code of one program, in bytes. With about 22 bytes per instruction, this is room for
 * 750,000 instructions. A program with longer machine code is interpreted. */
enum { CODE_MOST = 16 << 20 };

enum { FOUR = 4, EIGHT = 8 };

#define OP(name, ...)                                                                            \
    static void four_##name(double *result, double *second, const double *x, const double *y) {  \
        (void)second;                                                                            \
        for (int k = 0; k < FOUR; k++) result[k] = value_##name(x[k], y[k], (double)0);          \
    }                                                                                            \
    static void eight_##name(double *result, double *second, const double *x, const double *y) { \
        four_##name(result, second, x, y);                                                       \
        four_##name(result + FOUR, second, x + FOUR, y + FOUR);                                  \
    }
PROGRAM_OPERATION_LIST
#undef OP

typedef double vec4 __attribute__((vector_size(FOUR * sizeof(double))));
typedef uint64_t vec4_bits __attribute__((vector_size(FOUR * sizeof(uint64_t))));

#define SINCOS_REAL vec4
#define SINCOS_BITS vec4_bits
#define SINCOS_NAME(name) vec4_sincos_##name
#define SINCOS_TO_BITS(x) ((vec4_bits)(x))
#define SINCOS_TO_REAL(b) ((vec4)(b))
#include "engine/base/sincos_template.h"

#ifdef __x86_64__
#define FOR_AVX2 __attribute__((target("avx2")))
#define FOR_AVX512 __attribute__((target("avx512f")))
#else
#define FOR_AVX2
#define FOR_AVX512
#endif

/* Replaces the results of arguments that are too large for the reduction. */
__attribute__((noinline, cold)) static void sincos_of_large(const vec4 *x, vec4 *sine, vec4 *cosine) {
    for (int k = 0; k < FOUR; k++) {
        double s, c;
        if (fabs((*x)[k]) <= SINCOS_REDUCIBLE) continue;
        sincos((*x)[k], &s, &c);
        (*sine)[k] = s;
        (*cosine)[k] = c;
    }
}

FOR_AVX2 static void four_sincos(double *sine, double *cosine, const double *x, const double *y) {
    vec4 given, of_sine, of_cosine;
    (void)y;
    memcpy(&given, x, sizeof given);
    vec4_sincos_within(&given, &of_sine, &of_cosine);
    vec4_bits large = ~(vec4_bits)((given <= SINCOS_REDUCIBLE) & (given >= -SINCOS_REDUCIBLE));
    if (large[0] | large[1] | large[2] | large[3]) sincos_of_large(&given, &of_sine, &of_cosine);
    memcpy(sine, &of_sine, sizeof of_sine);
    memcpy(cosine, &of_cosine, sizeof of_cosine);
}

FOR_AVX512 static void eight_sincos(double *sine, double *cosine, const double *x, const double *y) {
    vec8 given, of_sine, of_cosine;
    (void)y;
    memcpy(&given, x, sizeof given);
    vec8_sincos(&given, &of_sine, &of_cosine);
    memcpy(sine, &of_sine, sizeof of_sine);
    memcpy(cosine, &of_cosine, sizeof of_cosine);
}

/* Functions that compute the first and second result of an operation from at most two operands, for registers of four
 * and of eight numbers. */
static void (*const functions[2][PROGRAM_OP_COUNT])(double *, double *, const double *,
                                                    const double *) = {{
#define OP(name, ...) [PROGRAM_##name] = four_##name,
                                                                           PROGRAM_OPERATION_LIST
#undef OP
                                                                               [PROGRAM_SINCOS] = four_sincos},
                                                                       {
#define OP(name, ...) [PROGRAM_##name] = eight_##name,
                                                                           PROGRAM_OPERATION_LIST
#undef OP
                                                                               [PROGRAM_SINCOS] = eight_sincos}};

void native_call_wide(native_translation *t, const native_reading *r) {
    int last_result = r->writes - 1, last_operand = r->reads - 1;
    native_store_operands(t, r);
    native_store_all(t);
    asm_general_op(t->out, ASM_ADDRESS, RDI, native_home(t, r->result[0]));
    asm_general_op(t->out, ASM_ADDRESS, RSI, native_home(t, r->result[last_result]));
    asm_general_op(t->out, ASM_ADDRESS, RDX, native_home(t, r->slot[0]));
    asm_general_op(t->out, ASM_ADDRESS, RCX, native_home(t, r->slot[last_operand]));
    asm_constant(t->out, RAX, (uint64_t)(uintptr_t)&functions[t->kind == NATIVE_VEC8][r->op]);
    native_call(t, RAX, 0);
    for (int k = 0; k < r->writes; k++) t->stored[r->result[k]] = true;
}

/* Returns true if each operation has a recipe or a function with at most two operands. */
static bool is_supported(const program *p) {
    for (const program_run *run = p->runs; run < p->runs + p->run_count; run++)
        if (run->op == GRAPH_TABLE) return false;
    return true;
}

size_t native_widest(void) {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? EIGHT : FOUR;
#else
    return FOUR;
#endif
}

native_status native_translate_vec8(native_code *code, size_t width, const program *const *programs, size_t count,
                                    program_native *made) {
    const int kind = width == EIGHT ? NATIVE_VEC8 : NATIVE_VEC8_4;
    assert(width == EIGHT || width == FOUR);
    *code = (native_code){0};
    memset(made, 0, count * sizeof *made);
    if (!native_is_supported() || width > native_widest()) return NATIVE_NO_MACHINE;
    assembler out = {.limit = CODE_MOST};
    size_t *starts = malloc((count + 1) * sizeof *starts);
    bool *written = calloc(count + 1, sizeof *written);
    for (size_t i = 0; i < count && starts && written; i++) {
        starts[i] = out.count;
        written[i] = programs[i] && is_supported(programs[i]) && native_write(&out, programs[i], kind);
    }
    if (starts && written && !out.failed && out.count) code->bytes = native_make_executable(out.bytes, out.count);
    if (code->bytes) code->size = out.count;
    for (size_t i = 0; i < count && code->bytes; i++)
        if (written[i]) made[i] = (program_native)((uintptr_t)code->bytes + starts[i]);
    free(starts);
    free(written);
    assembler_free(&out);
    return code->bytes ? NATIVE_DONE : NATIVE_NO_MEMORY;
}

void native_evaluate_vec8(program_native made, size_t width, const program_inputs *inputs, vec8 *workspace,
                          vec8 *outputs) {
    if (width == EIGHT) {
        made((double *)workspace, inputs->values, (double *)outputs);
        return;
    }
    for (size_t first = 0; first < VEC8_SIZE; first += FOUR) {
        const double *values[SYMBOL_KIND_COUNT];
        for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++)
            values[kind] = inputs->values[kind] ? inputs->values[kind] + first : NULL;
        made((double *)workspace + first, values, (double *)outputs + first);
    }
}
