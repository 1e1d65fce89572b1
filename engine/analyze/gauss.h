/* gauss.h — Gauss's principle of least constraint at the initial state, for ideal and nonideal constraints. */
#pragma once

#include "engine/hamel.h"

/* The parts of the reaction on one coordinate (Udwadia, J. Math. Anal. Appl. 251 (2000) 341, eqs. 26 to 28). */
typedef struct hamel_reaction_parts {
    const char *coordinate;
    double ideal;    /* Q_i^c: the reaction that would act if the same constraints were ideal */
    double nonideal; /* Q_ni^c: the total reaction minus Q_i^c */
    /* C: prescribed forces and friction, which do virtual work on the displacements that the constraints allow */
    double prescribed;
} hamel_reaction_parts;

/* Gauss's functions at the accelerations of the motion:
 *
 *   gauss            G = ½ (q'' − a)ᵀ M (q'' − a), with a = M⁻¹Q                (Udwadia, eq. 18, times ½)
 *   gauss_nonideal   G_ni = ½ (q'' − a − M⁻¹C)ᵀ M (q'' − a − M⁻¹C)            (Udwadia, eq. 15, times ½)
 *
 * The accelerations that the constraints A q'' = b allow are q'' + d with A d = 0. A slope is the derivative of G or
 * G_ni along a direction d with dᵀ M d = 1. At the accelerations of the motion, all slopes of G_ni vanish. The slopes
 * of G vanish only if C does no virtual work. On the set of accelerations q'' + d, each function exceeds its minimum by
 * half the square of its largest slope. */
typedef struct hamel_gauss {
    double gauss, gauss_nonideal;
    hamel_reaction_parts *reactions; /* one for each coordinate */
    size_t count;
    size_t directions;            /* number of independent directions d */
    double slope, slope_nonideal; /* largest slopes of G and G_ni */
    /* √(2 max(G, G_ni)), an upper bound on both slopes; rounding errors of the slopes are relative to this bound */
    double slope_scale;
} hamel_gauss;

/* Computes Gauss's functions and their slopes at the initial state. The arguments are as for hamel_find_forces. Returns
 * HAMEL_SINGULAR if the mass matrix is singular, and HAMEL_LIMIT if there are more than HAMEL_GAUSS_MOST coordinates.
 * On success the caller owns *out and frees it with hamel_gauss_free. */
enum { HAMEL_GAUSS_MOST = 1000 };
hamel_status hamel_find_gauss(hamel_gauss **out, const hamel_description *d, const hamel_limits *limits,
                              hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_gauss_free(hamel_gauss *found);
