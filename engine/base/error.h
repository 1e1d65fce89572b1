/* error.h — list of errors, the error type of all modules.
 *
 * A function that can fail returns a hamel_status, and adds at least one error to the list if that status is not
 * HAMEL_OK. The check of a description adds all errors before it returns, so that all errors are reported together.
 * Every other function adds one error.
 *
 * An error has a position, a message and a suggestion. The position is a JSON Pointer into the description and, in an
 * expression, a column. The message states what was found and what was expected. Texts are one line without function
 * names.
 *
 * The list owns its texts; hamel_error_clear frees them. There is no state outside the struct. Not thread-safe. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define HAMEL_PRINTF(text_argument, first) __attribute__((__format__(__printf__, text_argument, first)))
#define HAMEL_CHECKED __attribute__((warn_unused_result))

/* clang-format off */
/* Columns: enum, stable slug (part of the problem type), one-line meaning. */
#define HAMEL_STATUS_LIST(X)                                                                       \
    X(OK, "ok", "no error")                                                                        \
    X(INVALID, "invalid-system", "the description is not a valid system")                          \
    X(INCONSISTENT, "inconsistent-initial-values", "initial values do not satisfy a constraint")   \
    X(INCOMPATIBLE, "incompatible-constraints", "constraints contradict each other")               \
    X(SINGULAR, "singular-system", "the equations of motion do not determine the accelerations")   \
    X(UNSUPPORTED, "unsupported", "the chosen formulation or method does not support this system")   \
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
    HAMEL_QUOTE_MAX = 16384 /* bytes; longer expressions are not stored, so 100 errors take at most 1.6 MB */
};

typedef struct hamel_fault {
    hamel_status status;
    int column;       /* 1-based position in the expression, in code points; 0 for the whole value */
    char *pointer;    /* JSON Pointer to the invalid value, "" for the document; never NULL */
    char *message;    /* never NULL */
    char *suggestion; /* how to correct the error, or NULL */
    char *expression; /* text to which `column` refers, or NULL */
} hamel_fault;

typedef struct hamel_error {
    hamel_status status; /* status of the first error; HAMEL_OK for an empty list */
    size_t count, capacity;
    size_t omitted; /* number of errors not stored: the list was full (HAMEL_FAULTS_MAX) or memory had run out */
    hamel_fault *faults;
} hamel_error;

/* An empty list is all zeros: hamel_error error = {0}. */
void hamel_error_clear(hamel_error *error);

/* Removes duplicates, which occur because some elements are checked more than once. */
void hamel_error_once(hamel_error *error);

/* Changes the position of the error added last, for example to the position of a reference whose target is missing. */
void hamel_relocate(hamel_error *error, const char *pointer, int column);

/* Changes the status of the list and of its last error, but not their texts. The status HAMEL_NO_MEMORY does not
 * change. Returns the status of the list. */
hamel_status hamel_restate(hamel_error *error, hamel_status status);

/* Adds an error and returns `status`, so that callers can write `return hamel_fail(...)`. If `error` is NULL, nothing
 * is stored. If memory runs out, the status is stored without the text. HAMEL_NO_MEMORY replaces all earlier and later
 * errors. A NULL `pointer` means "". */
hamel_status hamel_fail(hamel_error *error, hamel_status status, const char *pointer, int column, const char *format,
                        ...) HAMEL_PRINTF(5, 6);

/* Adds the error HAMEL_NO_MEMORY, "out of memory", and returns that status. `error` may be NULL. */
hamel_status hamel_out_of_memory(hamel_error *error);

/* hamel_suggest adds a suggestion to the last error. hamel_quote adds the expression to which its column refers. Both
 * functions do nothing if the last error was not stored. Formatted texts are truncated to 4096 bytes. */
void hamel_suggest(hamel_error *error, const char *format, ...) HAMEL_PRINTF(2, 3);
void hamel_quote(hamel_error *error, const char *expression, size_t length);

/* Formats a text according to the rules for error texts: at most 4096 bytes, without partial code points. The caller
 * frees the text. Returns NULL if out of memory. */
char *hamel_text(const char *format, va_list arguments);

/* Removes partial UTF-8 sequences from a text in a buffer. */
void hamel_keep_code_points(char *text);

/* Returns the number of bytes of a user's text that a message may contain: at most 60, without a partial code point. */
int hamel_shown(const char *text, size_t length);

const char *hamel_status_slug(hamel_status status);
const char *hamel_status_meaning(hamel_status status);
