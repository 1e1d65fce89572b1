/* hints.h — suggestions for expressions in the notation of other languages. Private to engine/text. Each function
 * adds a suggestion to the last error, or returns its text. */
#pragma once

#include "engine/text/lexer.h"
#include "engine/text/parser.h"

/* A condition in the place of a number. */
const char *hint_for_condition(syntax_goal goal);

/* "=" in a place where it is not allowed. */
const char *hint_for_equal_sign(syntax_goal goal);

/* An unknown function. */
void hint_for_function(hamel_error *error, const char *text, size_t length);

/* A missing operator between `last` and `next`; `range`: in a range. */
void hint_before(hamel_error *error, const syntax_item *last, const token *next, bool range);
