/* parser_fault.h — checks of the errors of engine/text/parser.c. */
#pragma once

#include "engine/text/parser.h"

/* Checks that `text` has one error with this column, and that its message or suggestion contains `part`. */
void check_fault(const char *text, syntax_goal goal, int column, const char *part, const char *file, int line);
#define ASSERT_FAULT(text, column, part) check_fault(text, SYNTAX_EXPRESSION, column, part, __FILE__, __LINE__)
#define ASSERT_EQUATION_FAULT(text, column, part) check_fault(text, SYNTAX_EQUATION, column, part, __FILE__, __LINE__)
