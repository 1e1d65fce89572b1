/* written_text.h — equations generated for a description, and expressions parsed from their text. */
#pragma once

#include "api/read/describe.h"
#include "engine/equations/equations.h"
#include "engine/model/model.h"

typedef struct written_example {
    api_description description;
    cJSON *tree;
    hamel_model *model;
} written_example;

/* Open a description (JSON with ` instead of "), or the example with this name, in the formulation `as`. */
void written_open(written_example *e, const char *json, const char *as);
void written_open_example(written_example *e, const char *name, const char *as);

/* Opens a description, a JSON text of any length. If the formulation does not support the system, prints the reason and
 * returns false. */
bool written_open_text(written_example *e, const char *text, const char *as);
char *written_file(const char *path); /* returns the bytes of a file, which the caller frees */
void written_close(written_example *e);

/* Returns the equations in this notation as a string, which the caller frees. */
char *written_equations(written_example *e, hamel_notation notation);

/* Returns the equations as written_equations does, with this work budget for simplification. */
char *written_equations_within(written_example *e, hamel_notation notation, double arranging, bool *simplified);

/* Parses an expression that occurs in the generated text. Multipliers may be written as lambda(c). */
graph_node written_read(hamel_system *s, char *text);
