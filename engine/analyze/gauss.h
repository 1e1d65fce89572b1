/* gauss.h — Gauss's principle of least constraint at the initial state, for ideal and nonideal constraints. */
#pragma once

#include "engine/hamel.h"

/* The parts of the reaction on one coordinate (Udwadia, J. Math. Anal. Appl. 251 (2000) 341, eqs. 26 to 28). */
typedef struct hamel_reaction_parts {
    const char *coordinate;
    double ideal;      /* Q_i^c: reaction if the same constraints were ideal */
    double nonideal;   /* Q_ni^c: the rest of the total reaction */
    double prescribed; /* C: prescribed force and friction, whose virtual work the constraints do */
} hamel_reaction_parts;

/* Gauss's functions at the accelerations of the motion:
 *
 *   gauss            G = ½ (q'' − a)ᵀ M (q'' − a), with a = M⁻¹Q                (Udwadia, eq. 18, times ½)
 *   gauss_nonideal   G_ni = ½ (q'' − a − M⁻¹C)ᵀ M (q'' − a − M⁻¹C)            (Udwadia, eq. 15, times ½)
 *
 * The accelerations that the constraints A q'' = b allow are q'' + d with A d = 0. A slope is the derivative along a
 * direction d with dᵀ M d = 1. In the motion, all slopes of G_ni vanish. Slopes of G vanish only if C does no virtual
 * work. Over these accelerations, a function exceeds its minimum by half the square of its largest slope. */
typedef struct hamel_gauss {
    double gauss, gauss_nonideal;
    hamel_reaction_parts *reactions; /* one for each coordinate */
    size_t count;
    size_t directions;            /* number of independent directions d */
    double slope, slope_nonideal; /* largest slopes of G and G_ni */
    double slope_scale;           /* size of the terms of the slopes; rounding errors are relative to it */
} hamel_gauss;

/* Computes both functions at the initial state. The arguments are as for hamel_find_forces. If the mass matrix is
 * singular, returns HAMEL_SINGULAR; if there are more than HAMEL_GAUSS_MOST coordinates, HAMEL_LIMIT. On success the
 * caller owns *out and frees it with hamel_gauss_free. */
enum { HAMEL_GAUSS_MOST = 1000 };
hamel_status hamel_find_gauss(hamel_gauss **out, const hamel_description *d, const hamel_limits *limits,
                              hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_gauss_free(hamel_gauss *found);
