/* error.c — list of errors.
 *
 * The texts of an error are copied before the list changes, so an error is stored with all its texts or not at all. If
 * the list is full or memory has run out, the list is closed. Later errors are then only counted, so hamel_suggest and
 * hamel_quote never attach their text to an older error. After memory has run out, only HAMEL_NO_MEMORY is reported,
 * because later errors may be consequences. Texts are truncated to a fixed length at a code point boundary, because
 * users can choose names of any length. */
#include "engine/base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULT_TEXT_MAX = 4096, SHOWN_MAX = 60 };

typedef struct status_text {
    const char *slug, *meaning;
} status_text;

static const status_text STATUS_TEXTS[] = {
#define X(name, slug, meaning) [HAMEL_##name] = {slug, meaning},
    HAMEL_STATUS_LIST(X)
#undef X
};

static const status_text *status_texts(hamel_status status) {
    return &STATUS_TEXTS[(size_t)status < sizeof STATUS_TEXTS / sizeof *STATUS_TEXTS ? status : HAMEL_INTERNAL];
}

const char *hamel_status_slug(hamel_status status) {
    return status_texts(status)->slug;
}

const char *hamel_status_meaning(hamel_status status) {
    return status_texts(status)->meaning;
}

/* Returns the largest length <= `length` at which `text` can be cut without splitting a UTF-8 sequence. */
static size_t cut_length(const char *text, size_t length) {
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    return length;
}

static char *copy_text(const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Returns the length of the UTF-8 sequence that starts with `lead`, or 1 if `lead` does not start a sequence. */
static size_t sequence_length(unsigned char lead) {
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
}

/* Removes partial code points, because they make a JSON response invalid. Truncation by a format such as "%.300s" or by
 * a buffer of fixed size can leave partial code points. Returns the new length. */
static size_t drop_partial_sequences(char *text, size_t length) {
    size_t kept = 0;
    for (size_t at = 0, n; at < length; at += n) {
        n = 1;
        unsigned char lead = (unsigned char)text[at];
        size_t wanted = sequence_length(lead);
        while (n < wanted && at + n < length && ((unsigned char)text[at + n] & 0xC0) == 0x80) n++;
        if (n < wanted || (lead & 0xC0) == 0x80) continue;
        memmove(text + kept, text + at, n);
        kept += n;
    }
    return kept;
}

char *hamel_text(const char *format, va_list arguments) {
    char text[FAULT_TEXT_MAX + 4];
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (length < 0) return copy_text("", 0);
    size_t kept = (size_t)length;
    if (kept > FAULT_TEXT_MAX) kept = cut_length(text, FAULT_TEXT_MAX);
    return copy_text(text, drop_partial_sequences(text, kept));
}

void hamel_keep_code_points(char *text) {
    text[drop_partial_sequences(text, strlen(text))] = '\0';
}

int hamel_shown(const char *text, size_t length) {
    return (int)(length <= SHOWN_MAX ? length : cut_length(text, SHOWN_MAX));
}

static void fault_free(hamel_fault *fault) {
    free(fault->pointer);
    free(fault->message);
    free(fault->suggestion);
    free(fault->expression);
}

void hamel_error_clear(hamel_error *error) {
    if (error == NULL) return;
    for (size_t i = 0; i < error->count; i++) fault_free(&error->faults[i]);
    free(error->faults);
    memset(error, 0, sizeof *error);
}

static bool same_fault(const hamel_fault *a, const hamel_fault *b) {
    return a->column == b->column && strcmp(a->pointer, b->pointer) == 0 && strcmp(a->message, b->message) == 0;
}

void hamel_error_once(hamel_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < error->count; i++) {
        size_t k = 0;
        while (k < kept && !same_fault(&error->faults[k], &error->faults[i])) k++;
        if (k < kept)
            fault_free(&error->faults[i]);
        else
            error->faults[kept++] = error->faults[i];
    }
    error->count = kept;
}

static bool grow_list(hamel_error *error) {
    assert(error->count <= error->capacity && error->count <= HAMEL_FAULTS_MAX);
    if (error->count < error->capacity) return true;
    size_t capacity = error->capacity == 0 ? 4 : error->capacity * 2;
    hamel_fault *faults = realloc(error->faults, capacity * sizeof *faults);
    if (faults == NULL) return false;
    error->faults = faults;
    error->capacity = capacity;
    return true;
}

static bool keep_fault(hamel_error *error, hamel_fault fault) {
    if (fault.pointer == NULL || fault.message == NULL || !grow_list(error)) {
        fault_free(&fault);
        return false;
    }
    error->faults[error->count++] = fault;
    return true;
}

hamel_status hamel_fail(hamel_error *error, hamel_status status, const char *pointer, int column, const char *format,
                        ...) {
    if (error == NULL || error->status == HAMEL_NO_MEMORY) return status;
    if (status == HAMEL_NO_MEMORY) hamel_error_clear(error);
    if (error->status == HAMEL_OK) error->status = status;
    if (error->omitted > 0 || error->count >= HAMEL_FAULTS_MAX) {
        error->omitted++;
        return status;
    }
    if (pointer == NULL) pointer = "";
    hamel_fault fault = {.status = status, .column = column, .pointer = copy_text(pointer, strlen(pointer))};
    va_list arguments;
    va_start(arguments, format);
    fault.message = hamel_text(format, arguments);
    va_end(arguments);
    if (!keep_fault(error, fault)) error->omitted++;
    return status;
}

hamel_status hamel_out_of_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "out of memory");
}

/* Returns the error added last, or NULL if it was not stored. */
static hamel_fault *last_fault(hamel_error *error) {
    if (error == NULL || error->count == 0 || error->omitted > 0 || error->status == HAMEL_NO_MEMORY) return NULL;
    return &error->faults[error->count - 1];
}

/* Replaces a text of an error unless the new text is NULL (out of memory). */
static bool replace_text(char **text, char *by) {
    if (by == NULL) return false;
    free(*text);
    *text = by;
    return true;
}

void hamel_relocate(hamel_error *error, const char *pointer, int column) {
    hamel_fault *fault = last_fault(error);
    if (fault != NULL && replace_text(&fault->pointer, copy_text(pointer, strlen(pointer)))) fault->column = column;
}

hamel_status hamel_restate(hamel_error *error, hamel_status status) {
    hamel_fault *fault = last_fault(error);
    if (error->status == HAMEL_NO_MEMORY) return error->status;
    error->status = status;
    if (fault != NULL) fault->status = status;
    return status;
}

void hamel_suggest(hamel_error *error, const char *format, ...) {
    hamel_fault *fault = last_fault(error);
    if (fault == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    (void)replace_text(&fault->suggestion, hamel_text(format, arguments));
    va_end(arguments);
}

void hamel_quote(hamel_error *error, const char *expression, size_t length) {
    hamel_fault *fault = last_fault(error);
    if (fault == NULL || expression == NULL || length > HAMEL_QUOTE_MAX) return;
    (void)replace_text(&fault->expression, copy_text(expression, length));
}
