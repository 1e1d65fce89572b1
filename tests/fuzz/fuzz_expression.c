/* fuzz_expression.c — passes arbitrary bytes to the parser as an expression, an equation and a range.
 *
 * The target checks the parser's contract, in addition to the sanitizers. A failure adds exactly one error with a
 * message and a column inside the input. Postfix code never pops from an empty stack, never needs more than `depth`
 * values, and leaves one value. Each sum has an end item after its body. */
#include "engine/text/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* Returns the number of values that an item pops; each item pushes one. */
static size_t taken(const syntax_item *item) {
    switch ((syntax_kind)item->kind) {
    case SYNTAX_NUMBER: return 0;
    case SYNTAX_NAME:
    case SYNTAX_ARGUMENT:
    case SYNTAX_QUANTITY: return (size_t)item->count;
    case SYNTAX_OPERATOR: return (size_t)graph_op_get((graph_op)item->op)->arity;
    case SYNTAX_SUM:
    case SYNTAX_SUM_END: return 2;
    }
    return 0;
}

static void check_code(const syntax *code) {
    size_t values = 0, deepest = 0;
    for (size_t i = 0; i < code->count; i++) {
        const syntax_item *item = &code->items[i];
        require(item->column >= 1 && (size_t)item->column <= code->length + 1, "a column is inside the text");
        require(taken(item) <= values, "an item pops no more values than the stack contains");
        values += 1 - taken(item);
        if (values > deepest) deepest = values;
        if (item->kind != SYNTAX_SUM) continue;
        size_t end = i + 1 + (size_t)item->count;
        require(item->count > 0 && end < code->count && code->items[end].kind == SYNTAX_SUM_END,
                "each sum has an end item");
        require((size_t)code->items[end].count == end - i,
                "the end item of a sum contains the distance to the start of the sum");
    }
    require(values == 1, "the code leaves one value");
    require(deepest == code->depth, "`depth` is the largest number of values on the stack");
}

static void check_failure(const hamel_error *error, hamel_status status, size_t size) {
    require(status == HAMEL_INVALID || status == HAMEL_LIMIT || status == HAMEL_NO_MEMORY,
            "a failure has an expected status");
    require(error->count == 1 && error->faults[0].status == status, "a failure adds one error");
    const hamel_fault *fault = &error->faults[0];
    require(fault->message[0] != '\0' && strcmp(fault->pointer, "/e") == 0,
            "the error has a message and the pointer /e");
    require(status != HAMEL_INVALID || (fault->column >= 1 && (size_t)fault->column <= size + 1),
            "the error has a column inside the text");
}

static void try_expression(const char *text, size_t size, syntax_goal goal) {
    arena memory;
    arena_init(&memory, 0);
    hamel_error error = {0};
    syntax code;
    hamel_status status = syntax_parse(&code, &memory, text, size, goal, "/e", &error);
    if (status == HAMEL_OK) {
        check_code(&code);
        require(error.count == 0, "success adds no error");
    } else {
        check_failure(&error, status, size);
    }
    hamel_error_clear(&error);
    arena_free(&memory);
}

static void try_range(const char *text, size_t size) {
    arena memory;
    arena_init(&memory, 0);
    hamel_error error = {0};
    syntax_range range;
    hamel_status status = syntax_parse_range(&range, &memory, text, size, "/e", &error);
    if (status == HAMEL_OK) {
        check_code(&range.first);
        check_code(&range.last);
        require(syntax_is_name(range.variable, range.variable_length), "the variable of a range is a name");
    } else {
        check_failure(&error, status, size);
    }
    hamel_error_clear(&error);
    arena_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    try_expression(text, size, SYNTAX_EXPRESSION);
    try_expression(text, size, SYNTAX_EQUATION);
    try_range(text, size);
    (void)syntax_is_name(text, size);
    (void)syntax_is_reserved(text, size);
    return 0;
}
