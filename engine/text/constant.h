/* constant.h — the value of an expression of numbers. */
#ifndef HAMEL_TEXT_CONSTANT_H
#define HAMEL_TEXT_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>

/* True with the value of text[length] where it is an expression of numbers, pi and functions of numbers, and finite:
 * "pi/6", "2*sqrt(3)", "1e-3". False for everything else, also without memory. */
bool syntax_constant(const char *text, size_t length, double *value);

#endif
