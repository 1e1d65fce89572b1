/* constant.h — evaluates expressions that contain only numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Evaluates text[length] if the text is an expression of numbers, pi and functions of numbers: "pi/6", "2*sqrt(3)",
 * "1e-3". Returns false if the text is not such an expression, if the value is not finite, or if out of memory. */
bool syntax_constant(const char *text, size_t length, double *value);
