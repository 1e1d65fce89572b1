/* equations.h — equations of motion, written out as text, LaTeX or C, in the formulation of a description's simulation.
 *
 * hamel_forms lists the forms of the equations. For each form, the result is a hamel_written: a text, and a list of the
 * quantities that the text defines. README.md contains the definitions of the quantities. */
#pragma once

#include "engine/hamel.h"

typedef enum hamel_notation { HAMEL_NOTATION_TEXT, HAMEL_NOTATION_LATEX, HAMEL_NOTATION_C } hamel_notation;

typedef enum hamel_form {
    HAMEL_FORM_MOTION,
    HAMEL_FORM_EXPLICIT,
    HAMEL_FORM_NIELSEN,
    HAMEL_FORM_TSENOV,
    HAMEL_FORM_MANGERON_DELEANU,
    HAMEL_FORM_JOURDAIN,
    HAMEL_FORM_CENTRAL,
    HAMEL_FORM_ENERGY_RATE,
    HAMEL_FORM_COUNT
} hamel_form;

/* The forms, indexed by hamel_form. `name` is the value of the option --form. `summary` is a line of its help. */
typedef struct hamel_form_entry {
    const char *name, *summary;
} hamel_form_entry;
extern const hamel_form_entry hamel_forms[HAMEL_FORM_COUNT];

/* A quantity that a text defines. The entry of M[x, y] has the symbol "M" and the indices "x" and "y". The entry of
 * lambda(rod), the multiplier of the constraint rod, has the symbol "lambda" and the index "rod". */
typedef struct hamel_written_entry {
    const char *symbol;     /* a symbol such as "M", or the name of a velocity, force or common subexpression */
    const char *indices[3]; /* names of coordinates, quasi-velocities or constraints; NULL after the last index */
    const char *value;      /* expression in the notation of the text */
    const char *note;       /* remark about the value, such as the reason why it is 0, or NULL */
} hamel_written_entry;

typedef struct hamel_written {
    char *text;
    bool simplified; /* false if the work budget was spent */
    /* entries[count]: the quantities that the text defines, in the order of the text. Entries with indices, such as
     * M[x, y], are omitted if they are 0. The last entries define names such as z1 of common subexpressions. If the
     * notation is C, count is 0. */
    const hamel_written_entry *entries;
    size_t count;
    hamel_names omitted; /* symbols whose entries are omitted because the work budget was spent */
} hamel_written;

/* Writes the equations of motion of `d`. The notation is that of descriptions, LaTeX (an align environment for each
 * part) or C. The C function computes the rates of the state and needs only <math.h>. In text and LaTeX, formulations
 * that eliminate the multipliers, except kane, have an entry lambda(c) for each unique multiplier. Coefficients are collected,
 * factored and reduced by identities of sines and cosines, within the work budget limits->arranging. If the budget is
 * spent, the remaining terms are written as derived, and the text contains a note. `limits`, `poll` and `error` are as
 * for hamel_model_create. If the equations of the formulation cannot be written, returns HAMEL_INVALID, with the
 * reason. On success the caller owns *out and frees it with hamel_written_free. */
hamel_status hamel_write_equations(hamel_written **out, const hamel_description *d, hamel_notation notation,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;

/* Writes the equations of motion of `d` in the form `form`. The other arguments and errors are those of
 * hamel_write_equations, which writes HAMEL_FORM_MOTION. HAMEL_FORM_EXPLICIT contains the kinetic energy by degree in
 * the velocities, and the coefficients of the equations of motion. The formulation selects the function that is split
 * by degree. The function is T for Lagrange's equations, and the Routhian for routh. For formulations that eliminate
 * the multipliers, it is T in the free velocities of the constraints. Returns HAMEL_INVALID, with the reason, if the
 * formulation does not support the form. C is supported for HAMEL_FORM_MOTION only. */
hamel_status hamel_write_form(hamel_written **out, const hamel_description *d, hamel_form form, hamel_notation notation,
                              const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;

/* Returns true if the entry defines the multiplier of a constraint c, lambda(c). */
bool hamel_entry_is_reaction(const hamel_written_entry *entry);

void hamel_written_free(hamel_written *equations);
