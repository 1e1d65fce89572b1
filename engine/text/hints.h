/* hints.h — how to mend an expression: what is written here for what other languages write otherwise. Private to
 * engine/text. Each adds to the fault made last, or gives the text to add. */
#ifndef HAMEL_TEXT_HINTS_H
#define HAMEL_TEXT_HINTS_H

#include "engine/text/lexer.h"
#include "engine/text/parser.h"

/* A condition stands where a number is expected. */
const char *hint_for_condition(syntax_goal goal);

/* "=" stands where none may. */
const char *hint_for_equal_sign(syntax_goal goal);

/* There is no function of this name. */
void hint_for_function(hamel_error *error, const char *text, size_t length);

/* An operator is missing between what `last` means and `next`; in a range or not. */
void hint_before(hamel_error *error, const syntax_item *last, const token *next, bool range);

#endif
