/* written_text.h — equations written out for a description, and their text read back by the parser. */
#pragma once

#include "api/read/describe.h"
#include "engine/model/model.h"

typedef struct written_example {
    api_description description;
    cJSON *tree;
    hamel_model *model;
} written_example;

/* A description (JSON; ` stands for "), or the shipped example of that name, in the formulation named `as`. */
void written_open(written_example *e, const char *json, const char *as);
void written_open_example(written_example *e, const char *name, const char *as);
void written_close(written_example *e);

/* The caller frees the text. */
char *written_equations(written_example *e, hamel_notation notation);

/* The same with that much work to simplify them. */
char *written_equations_within(written_example *e, hamel_notation notation, double arranging, bool *simplified);

/* An expression as written in a text, with multipliers for lambda(c). */
graph_node written_read(hamel_system *s, char *text);
