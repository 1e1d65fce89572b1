/* displacements_int.h — declarations shared by the files that compute displacements. */
#pragma once

#include "engine/analyze/displacements.h"
#include "engine/analyze/moving_frame.h"

/* Upper bound on the number of coordinates for which the tangent vectors are computed. With more coordinates, the
 * solved form of the constraints is usually too long to read. */
enum { CONFIGURATION_SOLVED = 24 };

/* Acceleration symbols represent displacements: symbol i represents the displacement of coordinate i, and symbol n
 * represents dt. Symbol n + 1 + k represents the displacement of velocity k of the moving frame. The coefficients of
 * displacements never contain accelerations, so the symbols are unambiguous. */
typedef struct displacement_work {
    analysis *a;
    hamel_displacements *out;
    moving_frame frame;
    bool framed; /* true if `frame` is valid */
    /* tangent: n × tangent_count entries, row by row. Column k is the tangent vector whose independent coordinate is
     * free[k]. drift: n entries; drift[i] is q'_i if the rates of all independent coordinates are 0. */
    graph_node *tangent, *drift;
    size_t *free, tangent_count;
} displacement_work;

/* Returns the simplified node, or `node` itself if the work budget is spent. */
graph_node displacement_arranged(displacement_work *w, graph_node node);

/* Return the symbols of the displacement of coordinate i, of dt, and of velocity k of the frame. */
graph_node displacement_of(const displacement_work *w, size_t i);
graph_node displacement_of_time(const displacement_work *w);
graph_node displacement_of_velocity(const displacement_work *w, size_t k);

/* Notation of the displacement symbol of x: D(x), d(x) or d/d(x). In LaTeX: \delta x, \mathrm{d} x or
 * \frac{\partial}{\partial x}. */
typedef enum displacement_style { STYLE_VIRTUAL, STYLE_REAL, STYLE_OPERATOR } displacement_style;

/* Returns the text of a node in a->memory. Returns NULL after adding an error. */
const char *displacement_text(displacement_work *w, graph_node node, displacement_style style);

/* Returns the nonzero entries of the vector nodes[n]. `good` points to a flag, which is set to false after an error. */
hamel_entries displacement_entries(displacement_work *w, const char *of, const graph_node *nodes, bool *good);

/* configuration.c: computes the rank of the holonomic constraints, adapted coordinates, and tangent vectors. */
hamel_status configuration_derive(displacement_work *w) HAMEL_CHECKED;

/* quasi_derivatives.c: computes the quasi-derivatives and their commutators. w->framed must be true. */
hamel_status quasi_derivatives_derive(displacement_work *w) HAMEL_CHECKED;
