/* displacements_int.h — data that the files of the analysis of displacements share. */
#pragma once

#include "engine/analyze/displacements.h"
#include "engine/analyze/moving_frame.h"

/* Upper bound on the number of coordinates for which the tangent vectors are computed. With more coordinates, the
 * solved form of the constraints is usually too long to read. */
enum { CONFIGURATION_SOLVED = 24 };

/* In printed nodes, the acceleration symbol i stands for the displacement of coordinate i, symbol n for dt, and symbol
 * n + 1 + k for the displacement of velocity k of the moving frame. No coefficient of a displacement contains an
 * acceleration. */
typedef struct displacement_work {
    analysis *a;
    hamel_displacements *out;
    moving_frame frame;
    bool framed; /* whether `frame` is valid */
    /* Basis of the tangent directions: entry (i, k) is tangent[i * tangent_count + k]. free[k] is the independent
     * coordinate of direction k, drift[i] is q'_i at rest of all independent coordinates. */
    graph_node *tangent, *drift;
    size_t *free, tangent_count;
} displacement_work;

/* Returns the arranged node, or the node itself once the work budget is spent. */
graph_node displacement_arranged(displacement_work *w, graph_node node);

/* Return the symbols of the displacement of coordinate i, of dt, and of velocity k of the frame. */
graph_node displacement_of(const displacement_work *w, size_t i);
graph_node displacement_of_time(const displacement_work *w);
graph_node displacement_of_velocity(const displacement_work *w, size_t k);

/* How the displacement symbol of x is written: as D(x), d(x) or d/d(x), or in LaTeX as \delta x, \mathrm{d} x or
 * \frac{\partial}{\partial x}. */
typedef enum displacement_style { STYLE_VIRTUAL, STYLE_REAL, STYLE_OPERATOR } displacement_style;

/* Prints a node in a->memory. Returns NULL after adding an error. */
const char *displacement_text(displacement_work *w, graph_node node, displacement_style style);

/* Returns the entries of a vector of n nodes, without those that are 0. *good becomes false after an error. */
hamel_entries displacement_entries(displacement_work *w, const char *of, const graph_node *nodes, bool *good);

/* configuration.c: rank of the holonomic constraints, branches, normals and tangents. */
hamel_status configuration_derive(displacement_work *w) HAMEL_CHECKED;

/* quasi_derivatives.c: quasi-derivatives and their commutators. w->framed must be true. */
hamel_status quasi_derivatives_derive(displacement_work *w) HAMEL_CHECKED;
