/* explicit.h — the explicit form of the equations of motion: the kinetic energy by degree in the velocities, and the
 * coefficients of the equations that follow from its parts. README.md contains the definitions. */
#pragma once

#include "engine/hamel.h"

/* An entry of the explicit form, for example M[x, y]: the symbol "M", the indices "x" and "y". */
typedef struct hamel_explicit_entry {
    const char *symbol;     /* "T2", "T1", "T0", "M", "b", "Gamma", "G", "Mt", "c", ..., or the name of a velocity, a
                             * force or a common subexpression */
    const char *indices[3]; /* names of coordinates or quasi-velocities; NULL after the last index */
    const char *value;      /* expression in the requested notation */
} hamel_explicit_entry;

typedef struct hamel_explicit {
    char *text; /* all entries with titles */
    bool simplified;
    const hamel_explicit_entry *entries; /* zero entries are omitted */
    size_t count;
    hamel_names omitted; /* symbols whose entries are omitted, because the work budget was spent */
} hamel_explicit;

/* Writes the explicit form of the equations of motion as text or LaTeX. The formulation selects the function that is
 * split by degree in the velocities: T for Lagrange's equations, the Routhian for routh, and T in the free velocities
 * of constraints for kane, maggi, gibbs-appell and boltzmann-hamel. The other arguments and errors are as for
 * hamel_write_equations. If the function is not quadratic, or the formulation is hamilton, returns HAMEL_INVALID. On
 * success the caller owns *out and frees it with hamel_explicit_free. */
hamel_status hamel_write_explicit(hamel_explicit **out, const hamel_description *d, hamel_notation notation,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_explicit_free(hamel_explicit *found);
