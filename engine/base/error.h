/* error.h — the one error type of the house.
 *
 * A hamel_error is a list of faults. A function that can fail returns a hamel_status and adds at least one fault
 * when that status is not HAMEL_OK. Checking a description adds many faults before it gives up, so that a user
 * sees all of them at once; everything else adds one.
 *
 * A fault says where (a JSON Pointer into the description and, inside an expression, a column), what was found and
 * expected, and how to mend it. Texts are one factual line without function names.
 *
 * The list owns its texts; hamel_error_clear frees them. No state outside the struct; one thread at a time. */
#ifndef HAMEL_BASE_ERROR_H
#define HAMEL_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define HAMEL_PRINTF(text_argument, first) __attribute__((__format__(__printf__, text_argument, first)))
#define HAMEL_CHECKED __attribute__((warn_unused_result))
#else
#define HAMEL_PRINTF(text_argument, first)
#define HAMEL_CHECKED
#endif

/* clang-format off */
/* enum, stable slug (problem types are made of it), one-line meaning. */
#define HAMEL_STATUS_LIST(X)                                                                       \
    X(OK, "ok", "no error")                                                                        \
    X(INVALID, "invalid-system", "the description is not a valid system")                          \
    X(INCONSISTENT, "inconsistent-initial-values", "initial values do not satisfy a constraint")   \
    X(INCOMPATIBLE, "incompatible-constraints", "constraints contradict each other")               \
    X(SINGULAR, "singular-system", "the equations of motion do not determine the accelerations")   \
    X(UNSUPPORTED, "unsupported", "the chosen formulation or method cannot serve this system")     \
    X(LIMIT, "limit-exceeded", "a limit on size or work was reached")                              \
    X(NOT_FINITE, "not-finite", "a value became infinite or not a number")                         \
    X(INTEGRATION, "integration-failed", "the integrator could not continue")                      \
    X(CANCELED, "canceled", "the run was canceled")                                                \
    X(NO_MEMORY, "out-of-memory", "memory could not be allocated")                                 \
    X(INTERNAL, "internal", "an internal invariant was broken")
/* clang-format on */

typedef enum hamel_status {
#define X(name, slug, meaning) HAMEL_##name,
    HAMEL_STATUS_LIST(X)
#undef X
} hamel_status;

enum {
    HAMEL_FAULTS_MAX = 100,
    HAMEL_QUOTE_MAX = 16384 /* bytes; a longer expression is not kept, so that 100 faults stay small */
};

typedef struct hamel_fault {
    hamel_status status;
    int column;       /* 1-based, in code points, inside the expression; 0 when the whole value is meant */
    char *pointer;    /* JSON Pointer of the value at fault, "" for the document; never NULL */
    char *message;    /* never NULL */
    char *suggestion; /* how to mend it, or NULL */
    char *expression; /* the text that `column` counts in, or NULL */
} hamel_fault;

typedef struct hamel_error {
    hamel_status status; /* of the first fault; HAMEL_OK when there is none */
    size_t count, capacity;
    size_t omitted; /* faults beyond HAMEL_FAULTS_MAX or without memory, and all after them: counted, not kept */
    hamel_fault *faults;
} hamel_error;

/* An empty list is all zeros: hamel_error error = {0}. */
void hamel_error_clear(hamel_error *error);

/* Keeps of equal faults the first: an element that is looked at more than once is at fault once. */
void hamel_error_once(hamel_error *error);

/* Says of the fault added last that it lies at `pointer` and `column`: where something was asked for, instead of where it
 * was found not to be. */
void hamel_relocate(hamel_error *error, const char *pointer, int column);

/* Changes the status of the list and of its last fault, except HAMEL_NO_MEMORY; the texts stay. Returns `status`. */
hamel_status hamel_restate(hamel_error *error, hamel_status status);

/* Adds a fault and returns `status`, so that `return hamel_fail(...)` reads well. `error` may be NULL (nothing is
 * kept). When memory runs out the status is kept and the text is lost. HAMEL_NO_MEMORY takes the place of all other
 * faults, before and after. `pointer` NULL means "". */
hamel_status hamel_fail(hamel_error *error, hamel_status status, const char *pointer, int column, const char *format,
                        ...) HAMEL_PRINTF(5, 6);

/* Adds to the fault added last: how to mend it; the expression its column counts in. Nothing happens when that fault
 * was not kept. Formatted texts are cut after 4096 bytes. */
void hamel_suggest(hamel_error *error, const char *format, ...) HAMEL_PRINTF(2, 3);
void hamel_quote(hamel_error *error, const char *expression, size_t length);

/* A text as faults have it, for other parts of an answer: cut after 4096 bytes, never inside a code point, and without what
 * "%.300s" or a buffer of fixed size has left of one. The caller frees it; NULL without memory. */
char *hamel_text(const char *format, va_list arguments);

/* The same for a text in a buffer: takes out partial UTF-8 sequences. */
void hamel_keep_code_points(char *text);

const char *hamel_status_slug(hamel_status status);
const char *hamel_status_meaning(hamel_status status);

#endif
