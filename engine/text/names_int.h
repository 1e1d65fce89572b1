/* names_int.h — the words of the expression language: private to engine/text. */
#pragma once

#include "engine/graph/operators.h"
#include "engine/text/parser.h"

/* The function of a name. FUNCTION_OPERATOR: `code` is a graph_op; FUNCTION_QUANTITY: a syntax_quantity. */
typedef enum function_kind { FUNCTION_NONE, FUNCTION_OPERATOR, FUNCTION_QUANTITY, FUNCTION_SUM } function_kind;
typedef struct function_name {
    function_kind kind;
    uint16_t code;
} function_name;

function_name function_find(const char *text, size_t length);

/* The function with the nearest name, or NULL. */
const char *function_nearest(const char *text, size_t length);

/* One letter for each argument: n a name, e an expression, k an expression for an integer. */
const char *quantity_signature(syntax_quantity quantity);

bool word_is(const char *text, size_t length, const char *word);

/* The list of its arguments, for messages: "name, expression". */
void quantity_arguments(syntax_quantity quantity, char *text, size_t size);
