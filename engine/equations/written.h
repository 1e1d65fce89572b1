/* written.h — equations of motion as they would stand on paper, in the variables of a formulation.
 *
 * Lines are gathered in parts with a title. Beside them the same equations stand in a form for machines: q' as
 * expressions of (t, q, w), and residuals that are linear in the unknowns w' and λ. Symbols beyond those of the system
 * (quasi-velocities, momenta) are velocities with indices n, n + 1, ...: their rates are accelerations of the same
 * index, so that the graph differentiates them along the motion as it does all others. */
#ifndef HAMEL_EQUATIONS_WRITTEN_H
#define HAMEL_EQUATIONS_WRITTEN_H

#include "engine/algebra/effort.h"
#include "engine/mechanics/equations.h"
#include "engine/model/model.h"

typedef struct written_line {
    const char *name;       /* what the line is about: a coordinate, a constraint */
    const char *defines;    /* "x'": the line reads `defines = right`; NULL: `left = right` */
    graph_node left, right; /* left GRAPH_NONE where `defines` stands for it */
} written_line;

typedef struct written_part {
    const char *title;
    written_line *lines;
    size_t count, capacity;
} written_part;

enum { WRITTEN_PARTS = 10 };

/* An expression in the denominators of the rates that is not in those of the description. */
typedef struct written_divisor {
    graph_node node;
    double start;   /* its value at the start */
    const char *of; /* the rates that contain it, for a reader */
} written_divisor;

typedef struct written {
    arena *memory;
    hamel_model *model; /* whose graph is extended */
    hamel_system *system;
    hamel_error *error;
    effort effort;             /* for all that is brought into order here */
    hamel_equations equations; /* Lagrange's, derived in that graph */
    size_t n, m;
    const bool *acts;    /* m: constraints that act at the start; the others are left out */
    graph_node *resting; /* m: 0 in the place of their multipliers */
    size_t acting;
    bool lines_read; /* the notation prints the lines; otherwise none are gathered */
    written_part parts[WRITTEN_PARTS];
    size_t part_count;
    const char **extra_names; /* of velocities n, n + 1, ... */
    size_t extra_count, extra_capacity;
    graph_point start;       /* the initial configuration, where pivots are compared */
    const char *shared_name; /* "z" in z1, z2, ... of named subexpressions: parameters beyond the system's */
    graph_node *reactions;   /* n: Σ λ_c A_ci */
    graph_node *zero;        /* conditions that the lines may use: what holonomic constraints make 0 */
    size_t zero_count;
    graph_node *nonideal; /* n: what constraints that are not ideal exert beside: C + F|λ|; 0 where nothing */

    /* For machines: */
    graph_node *rates;   /* n: q' of (t, q, w) */
    graph_node *w;       /* the symbols of the velocity variables */
    graph_node *w_given; /* the same as expressions of (t, q, q') */
    size_t w_count;
    graph_node *unknowns;  /* symbols of w', then of λ where they are found */
    graph_node *residuals; /* as many; linear in the unknowns */
    size_t unknown_count;
    bool with_multipliers;
    written_divisor *divisors; /* the rates hold at states between their zeros */
    size_t divisor_count;
} written;

/* The number of coordinates up to which velocities are solved for by hand. */
enum { WRITTEN_SOLVED = 24 };

/* Adds an empty part; the lines that follow belong to it. */
void written_begin(written *w, const char *title);

/* Adds `name: left = right`; both sides are arranged first. False without memory. */
bool written_equation(written *w, const char *name, graph_node left, graph_node right);

/* Adds `defines = right`. */
bool written_definition(written *w, const char *name, const char *defines, graph_node right);

/* `node` in the form a book would print, as far as the effort goes. */
graph_node written_arranged(written *w, graph_node node);

/* Solves a table in the system's graph for `most` unknowns at most, see eliminate_within, pivots compared at the start.
 * False, with a fault, when what is left is not 0: `why`, or that the effort is spent. */
bool written_eliminate(written *w, graph_node *table, size_t rows, size_t columns, size_t most, int *pivots,
                       const char *why);

/* A new velocity-like symbol: an index, or −1 without memory. */
int32_t written_symbol(written *w, const char *name);

/* The text in the arena; NULL without memory. */
const char *written_text(written *w, const char *format, ...) HAMEL_PRINTF(2, 3);

/* d/dt ∂L/∂q'_i − ∂L/∂q_i; generalized force on q_i that is no reaction; Σ λ_c A_ci. */
graph_node written_inertia(written *w, size_t i);
graph_node written_force(written *w, size_t i);
graph_node written_reaction(written *w, size_t i);
bool written_forces_depend_on_reactions(written *w);

/* The constraints as given, f = 0. */
bool written_constraints(written *w);

/* Room for the form for machines: w_count variables w, and as many residuals as unknowns. */
bool written_machine(written *w, size_t w_count, size_t unknown_count);

/* Fails with HAMEL_INVALID: why these equations cannot be written out. Always false. */
bool written_cannot(written *w, const char *why, const char *hint);

/* What a reader should know of the whole; NULL: nothing. */
const char *written_remark(const written *w);

/* Names symbols as the description does, and the new ones: a graph_namer whose context is the written. */
void written_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);

/* shared.c: symbols and operations of the text of a node, 1e15 at most. */
double written_length(written *w, graph_node node);

/* shared.c: gives names to subexpressions of nodes[count] that recur: all of them where they are to be computed, those
 * whose names make the whole easier to take in where it is `read`. Nodes are rewritten; the named ones follow as
 * definitions[*found], each made of earlier ones. A name is that of parameter number parameter_count + index. False
 * without memory. */
bool written_share(written *w, graph_node **nodes, size_t count, bool read, graph_node **definitions, size_t *found);

/* A quasi-velocity: one of the description, or one chosen here. */
typedef struct quasi_velocity {
    const char *name;
    graph_node definition; /* in q' */
} quasi_velocity;

/* Velocities chosen along what constraints leave free. Velocity n + k is the k-th. */
typedef struct written_directions {
    quasi_velocity *quasi; /* m at most */
    size_t count;
    graph_node *velocity; /* n + m: those solved for, by what is left; GRAPH_NONE: not solved for */
    bool *used;           /* m: constraints that these velocities satisfy */
} written_directions;

/* directions.c: adds all that are found; the arrays are the caller's, the last two cleared. False without memory. */
bool written_find_directions(written *w, written_directions *d);

/* divisors.c: finds the divisors of w->rates that are not in given[given_count]. solved_from[n] is the constraint that a
 * coordinate's velocity was solved from, or NULL. False, with a fault, where one is 0 at the start. */
bool written_find_divisors(written *w, const graph_node *given, size_t given_count, const char *const *solved_from);

/* --- one writer a family of formulations ------------------------------------------------------------------------------ */

bool write_multipliers(written *w, const char *as);      /* multipliers.c: lagrange, udwadia-kalaba, gauss */
bool write_quasi_velocities(written *w, const char *as); /* quasi_velocities.c: maggi, kane, ... */
bool write_hamilton(written *w, const char *as);         /* canonical.c */
bool write_routh(written *w, const char *as);

/* --- printers --------------------------------------------------------------------------------------------------------- */

void print_text(const written *w, text_buffer *out);
void print_latex(const written *w, text_buffer *out);
bool print_c(written *w, text_buffer *out); /* false without memory */

/* The tables and the C function table(x, NUMBER, ORDER) that looks things up in them; nothing without tables. */
void print_tables(const graph *g, text_buffer *out);

#endif
