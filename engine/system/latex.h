/* latex.h — prints the names and symbols of a description in LaTeX, for math mode. */
#pragma once

#include "engine/system/system.h"

/* Prints the letters of a name: the name of a Greek letter as a LaTeX command, a single letter unchanged, and any other
 * word upright. */
void latex_stem(const char *text, size_t length, text_buffer *out);

/* Prints a name such as m1, l_max, x[3], J.1 or p_phi. The characters after the first letters become a subscript. */
void latex_name(const char *name, text_buffer *out);

/* Prints a symbol in LaTeX: a graph_namer whose `context` is the hamel_system. */
void system_latex_symbol(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);
