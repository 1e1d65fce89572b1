/* published.h — comparison of a line of generated equations with the text of a source. */
#pragma once

#include "tests/unit/written_text.h"

/* Finds the line for `name` in the generated text (an equation, or the definition of a quantity). Replaces abbreviations
 * that the text lists in its part "with". Sets *left and *right to the sides of the equation; *left is NULL for a
 * definition. Returns the buffer of both strings, which the caller frees, or NULL if there is no such line. */
char *published_find_line(const char *text, const char *name, char **left, char **right);

/* Fails unless left minus right of the line equals `wanted` at random states. */
void published_compare_line(written_example *e, const char *text, const char *name, const char *wanted);

/* The length of an expression: the number of its terms after sums are multiplied out, the number of its names and
 * numbers as written, and their number after sums are multiplied out. A denominator, and the argument of a function,
 * are not multiplied out; their names and numbers count once for each term. */
typedef struct published_length {
    int terms, words, expanded_words;
} published_length;

published_length published_measure(const char *expression);

/* Fails if the line for `name` has more terms than the equation `wanted` of the source, or more names and numbers. The
 * sums of the source are multiplied out first, because the generated equation contains the common factors by which a
 * source divides. */
void published_compare_length(const char *text, const char *name, const char *wanted);
