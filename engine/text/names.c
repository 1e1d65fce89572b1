/* names.c — reserved words and names of functions.
 *
 * The list of function names is expanded from the tables that define the functions. The meaning of a name follows from
 * its position in the list. The list has fewer than a hundred names, so a linear search is fast enough. */
#include "engine/base/symbol_table.h"
#include "engine/text/parser_int.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const char *const FUNCTION_NAMES[] = {
#define OP(name, text, arity, kind, value, dx, dy) text,
    GRAPH_FUNCTION_LIST(OP)
#undef OP
#define X(name, text, signature) text,
        SYNTAX_QUANTITY_LIST(X)
#undef X
    "if", "sum", NULL
};

/* The operators of GRAPH_FUNCTION_LIST follow one another in graph_op, from the first to the last of that list. */
enum {
    OPERATOR_FUNCTIONS = 0
#define OP(name, text, arity, kind, value, dx, dy) +1
    GRAPH_FUNCTION_LIST(OP)
#undef OP
    , OPERATOR_FIRST = GRAPH_SIN,
    QUANTITIES_END = OPERATOR_FUNCTIONS + QUANTITY_COUNT,
    FUNCTION_COUNT = QUANTITIES_END + 2
};
/* clang-format on */
_Static_assert(sizeof FUNCTION_NAMES / sizeof *FUNCTION_NAMES == FUNCTION_COUNT + 1, "one name for each function");
_Static_assert(OPERATOR_FIRST + OPERATOR_FUNCTIONS - 1 == GRAPH_MOD, "functions are contiguous in graph_op");

bool word_is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static function_name function_at(int index) {
    if (index < OPERATOR_FUNCTIONS) return (function_name){FUNCTION_OPERATOR, (uint16_t)(OPERATOR_FIRST + index)};
    if (index < QUANTITIES_END) return (function_name){FUNCTION_QUANTITY, (uint16_t)(index - OPERATOR_FUNCTIONS)};
    if (index == QUANTITIES_END) return (function_name){FUNCTION_OPERATOR, GRAPH_IF};
    return (function_name){FUNCTION_SUM, 0};
}

function_name function_find(const char *text, size_t length) {
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (FUNCTION_NAMES[i][0] == text[0] && word_is(text, length, FUNCTION_NAMES[i])) return function_at(i);
    return (function_name){FUNCTION_NONE, 0};
}

const char *function_nearest(const char *text, size_t length) {
    return nearest_name(FUNCTION_NAMES, FUNCTION_COUNT, text, length);
}

static const struct {
    const char *text, *signature;
} QUANTITIES[QUANTITY_COUNT] = {
#define X(name, text, signature) [QUANTITY_##name] = {text, signature},
    SYNTAX_QUANTITY_LIST(X)
#undef X
};

const char *quantity_signature(syntax_quantity quantity) {
    assert(quantity < QUANTITY_COUNT);
    return QUANTITIES[quantity].signature;
}

const char *quantity_text(syntax_quantity quantity) {
    assert(quantity < QUANTITY_COUNT);
    return QUANTITIES[quantity].text;
}

bool syntax_is_name(const char *text, size_t length) {
    if (length == 0 || length > SYNTAX_TEXT_MAX) return false;
    lexer l;
    lexer_init(&l, text, length);
    token t = lexer_next(&l);
    return t.kind == TOKEN_NAME && t.length == length;
}

bool syntax_is_reserved(const char *text, size_t length) {
    static const char *const WORDS[] = {"t", "pi", "and", "or", "not"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (word_is(text, length, WORDS[i])) return true;
    return length > 0 && function_find(text, length).kind != FUNCTION_NONE;
}

const char *const *syntax_function_names(void) {
    return FUNCTION_NAMES;
}

void quantity_arguments(syntax_quantity quantity, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const char *letter = quantity_signature(quantity); *letter != '\0'; letter++) {
        const char *word = *letter == 'n'   ? "name"
                           : *letter == 'k' ? "integer"
                           : *letter == 'o' ? "[integer]"
                           : *letter == 'm' ? "[name]"
                                            : "expression";
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", word);
        assert(used < size);
    }
}
