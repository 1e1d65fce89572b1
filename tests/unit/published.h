/* published.h — comparison of a line of generated equations with an equation of a source. */
#pragma once

#include "tests/unit/written_text.h"

/* Finds the line `name: LEFT = RIGHT` (an equation) or `name = RIGHT` (a definition) in the generated text, and
 * replaces the abbreviations z1 to z9 by their definitions. On return, `*left` and `*right` point to the two sides;
 * `*left` is NULL for a definition. Returns the buffer that contains both strings; the caller frees it. Returns NULL if
 * the text does not contain the line. */
char *published_find_line(const char *text, const char *name, char **left, char **right);

/* Compares LEFT − RIGHT of the equation `name`, or RIGHT of the definition `name`, with `wanted` at random states. The
 * test fails if the relative difference is above 1e-11, or if the text does not contain the line. */
void published_compare_line(written_example *e, const char *text, const char *name, const char *wanted);

/* The length of an expression. A word is a name or a number. Expansion multiplies out products and powers of sums,
 * except in denominators and arguments of functions. The words of these count once for each term. */
typedef struct published_length {
    int terms;          /* after expansion */
    int words;          /* as written */
    int expanded_words; /* after expansion */
} published_length;

published_length published_measure(const char *expression);

/* The test fails if the line of `name` has more terms after expansion than the equation `wanted` of the source. It also
 * fails if the line has more words as written than `wanted` has after expansion. Expansion allows for common factors,
 * by which sources divide. */
void published_compare_length(const char *text, const char *name, const char *wanted);
