/* written.h — equations of motion in the variables of a formulation, as text and as C code.
 *
 * For text and LaTeX, lines are collected in parts with a title. The form for C code contains q' as expressions in (t,
 * q, w), and residuals that are linear in the unknowns w' and λ. Extra symbols (quasi-velocities, momenta) are
 * velocities with the indices n, n + 1, ... The rate of an extra symbol is the acceleration with the same index.
 * graph_rate therefore differentiates extra symbols like other velocities. */
#pragma once

#include "engine/algebra/work_budget.h"
#include "engine/equations/equations.h"
#include "engine/mechanics/equations.h"
#include "engine/model/model.h"

typedef struct written_line {
    const char *name;       /* name of the coordinate or constraint to which an equation belongs */
    const char *defines;    /* left-hand side of a definition, such as "x'"; NULL: the left-hand side is `left` */
    graph_node left, right; /* left is GRAPH_NONE if `defines` is not NULL */
    /* The entry of the result for the quantity that the line defines: */
    const char *symbol;   /* "M" in M[x, y], "lambda" in lambda(rod); NULL if the line is an equation */
    const char *index[3]; /* names of the indices of an entry; NULL after the last index */
    bool upright;         /* LaTeX prints the indices as one upright text, as in Q_{\text{x; gravity}} */
    const char *note;     /* remark, printed after the value, or NULL */
} written_line;

typedef struct written_part {
    const char *title;
    written_line *lines;
    size_t count, capacity;
    bool keeps_title; /* print the title even if there are no lines */
} written_part;

enum { WRITTEN_PARTS = 16 };

/* A divisor of the rates that does not occur in the description. */
typedef struct written_divisor {
    graph_node node;
    double start;   /* initial value */
    const char *of; /* text that lists the rates in which the divisor occurs */
} written_divisor;

typedef struct written {
    arena *memory;
    hamel_model *model; /* the writer adds nodes to its graph */
    hamel_system *system;
    hamel_error *error;
    work_budget work_budget;   /* bounds all simplification for the output */
    hamel_equations equations; /* Lagrange's equations, derived in the graph of `model` */
    size_t n, m;
    const bool *acts;    /* acts[m]: the constraint acts at the initial state; other constraints are omitted */
    graph_node *resting; /* resting[m]: the multiplier, or 0 if the constraint does not act */
    size_t acting;       /* number of constraints that act */
    hamel_form form;
    const char *form_name; /* such as "explicit form"; NULL: the equations of motion */
    const char *law;       /* equation of motion in which the entries of the explicit form occur, or NULL */
    const char *omitted[WRITTEN_PARTS]; /* symbols of parts that are omitted, because the work budget is spent */
    size_t omitted_count;
    size_t stride;   /* of the symbols of third and higher derivatives (kinetic_rates.h); 0: no such symbols */
    bool lines_read; /* true if the notation prints lines; otherwise lines are not collected */
    written_part parts[WRITTEN_PARTS];
    size_t part_count;
    const char **extra_names; /* names of velocities n, n + 1, ... */
    size_t extra_count, extra_capacity;
    graph_point start;       /* the initial state, at which pivots are compared */
    const char *shared_name; /* prefix of the names of common subexpressions: "z" for z1, z2, ... */
    graph_node *reactions;   /* reactions[n]: Σ λ_c A_ci */
    graph_node *inertia;     /* inertia[n]: d/dt ∂L/∂q'_i − ∂L/∂q_i */
    graph_node *momentum;    /* momentum[n]: ∂K/∂q'_i, where K is T or L (written_use_energy) */
    graph_node *zero;        /* expressions that are 0 by holonomic constraints, for simplification */
    size_t zero_count;
    graph_node *excess;   /* excess[m]: ω of each acting constraint f = ω (quasi_velocities.c); 0 if f does not act */
    graph_node *nonideal; /* nonideal[n]: force of nonideal constraints, C + F|λ|, or 0 */

    /* The form for C code: */
    graph_node *rates;   /* rates[n]: q' in terms of (t, q, w) */
    graph_node *w;       /* the symbols of the velocity variables */
    graph_node *w_given; /* w in terms of (t, q, q') */
    size_t w_count;
    graph_node *unknowns;  /* the symbols of w', then the symbols of λ if multipliers are unknowns */
    graph_node *residuals; /* residuals[unknown_count], linear in the unknowns */
    size_t unknown_count;
    bool with_multipliers;
    graph_node *multipliers;   /* multipliers[multiplier_count]: λ of the acting constraints, linear in w' */
    size_t multiplier_count;   /* 0 if multipliers are unknowns or not unique */
    written_divisor *divisors; /* the rates are valid between the zeros of the divisors */
    size_t divisor_count;
} written;

/* Upper bound on the number of coordinates if velocities are solved for symbolically. For larger systems, an error is
 * reported. With more coordinates, the expressions are usually too long to read. */
enum { WRITTEN_SOLVED = 24 };

/* Derives the reactions, nonideal forces and inertia terms from w->equations. Call it before the lines are added. */
bool written_prepare(written *w);

/* Adds the generalized forces and the definitions of common subexpressions. Call it after the lines of the form are
 * added. written_prepare and written_finish return false after an error, or if out of memory. */
bool written_finish(written *w);

/* Adds an empty part, to which the lines added later belong. There are at most WRITTEN_PARTS parts. */
void written_begin(written *w, const char *title);

/* Adds the line `name: left = right`. Both sides are arranged first. Returns false if out of memory. */
bool written_equation(written *w, const char *name, graph_node left, graph_node right);

/* Adds `defines = right`, an entry without indices. Returns false if out of memory or if `defines` is NULL. */
bool written_definition(written *w, const char *defines, graph_node right);

/* Adds the line `letter[index] = right`, unless the arranged `right` is 0. Returns false if out of memory. */
bool written_entry(written *w, const char *letter, const char *const index[3], graph_node right);

/* Differs from written_entry in LaTeX, which prints the indices as one upright text. */
bool written_upright_entry(written *w, const char *letter, const char *const index[3], graph_node right);

/* Adds the line `letter[index] = right`, or `letter = right` if index is NULL, followed by the remark `note`, which may
 * be NULL. Unlike written_entry, adds the line even if `right` is 0. Returns false if out of memory. */
bool written_remarked(written *w, const char *letter, const char *index, graph_node right, const char *note);

/* Adds the line `lambda(name of constraint c) = right`. Returns false if out of memory. */
bool written_multiplier(written *w, size_t c, graph_node right);
#define WRITTEN_MULTIPLIER "lambda" /* symbol of the entry */

/* Removes the lines of the current part and records that the entries of `letter` are omitted. Returns true. */
bool written_omit(written *w, const char *letter);

/* Adds the definitions of q'_i for the coordinates with velocity[i] >= 0. */
bool written_velocities(written *w, const graph_node *velocity);

/* Sets acceleration[i] to the rate of velocity[i], in terms of the velocities that are not solved for. If velocity i is
 * not solved for, sets acceleration[i] to GRAPH_NONE. */
void written_accelerations(written *w, const graph_node *velocity, graph_node *acceleration);

/* Fills a row of a table: Σ ∂f/∂w_j w_j = right − f(w = rest). The sum is over the velocities with rest[j] = 0. For
 * other velocities, rest[j] is GRAPH_NONE. Returns false if f is not linear in these velocities. */
bool written_row(written *w, graph_node *row, graph_node f, graph_node right, const graph_node *rest, size_t count);

/* Returns `node` in arranged form, or unchanged if the work budget is spent. */
graph_node written_arranged(written *w, graph_node node);

/* Solves a table for at most `most` unknowns (eliminate_preferring). Pivots are chosen by their size at the initial
 * state. `preferred` has an element for each column, or is NULL. If a row without a pivot is not 0, adds an error and
 * returns false. The error gives `why` as the reason, or states that the work budget is spent. */
bool written_eliminate(written *w, graph_node *table, size_t rows, size_t columns, const bool *preferred, size_t most,
                       int *pivots, const char *why);

/* Adds an extra velocity symbol. Returns the index of the symbol, or −1 if out of memory. */
int32_t written_symbol(written *w, const char *name);

/* Return d/dt ∂L/∂q'_i − ∂L/∂q_i, the generalized force on q_i without reactions, and the reaction Σ λ_c A_ci. */
graph_node written_inertia(written *w, size_t i);
graph_node written_force(written *w, size_t i);
graph_node written_reaction(written *w, size_t i);
bool written_forces_depend_on_reactions(written *w);

/* Writes the constraints of the description, f = 0. */
bool written_constraints(written *w);

/* Allocates the form for C code: w_count variables w, and as many residuals as unknowns. Returns false if out of
 * memory. */
bool written_machine(written *w, size_t w_count, size_t unknown_count);

/* Adds the multipliers of the acting constraints to the unknowns, beginning with index `at`. */
void written_add_multipliers(written *w, size_t at);

/* Fails with HAMEL_INVALID and the reason why the equations cannot be written out. `hint` is a suggestion, such as
 * WRITTEN_BY_LAGRANGE. Always returns false. */
bool written_cannot(written *w, const char *why, const char *hint);
#define WRITTEN_BY_LAGRANGE "write the equations with multipliers: --formulation lagrange"
#define WRITTEN_AS_TEXT "use --format text or --format latex"

/* Returns a remark that applies to the whole output, or NULL if there is none. */
const char *written_remark(const written *w);

/* Returns the order of the time derivative of a coordinate that the symbol is, or 0 for other symbols. */
int written_derivative(const written *w, graph_symbol_kind kind, int32_t index);

/* Prints the name of a symbol of the description or of an extra symbol: a graph_namer with a `written` as context. */
void written_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);

/* shared.c: returns the number of symbols and operations in the text of a node, at most 1e15. */
double written_length(written *w, graph_node node);

/* shared.c: gives names to common subexpressions of nodes[count] and rewrites the nodes. If `read` is true, the text
 * is meant to be read, and only long or frequent subexpressions are named. Sets *definitions to the named
 * subexpressions and *found to their number. A subexpression contains no names of later subexpressions. The name of
 * subexpression k is the parameter symbol with index parameter_count + k. Returns false if out of memory. */
bool written_share(written *w, graph_node **nodes, size_t count, bool read, graph_node **definitions, size_t *found);

/* A quasi-velocity of the description, or one along the free direction of a constraint. */
typedef struct quasi_velocity {
    const char *name;
    graph_node definition; /* expression in q' */
} quasi_velocity;

/* Quasi-velocities along the free directions of constraints. */
typedef struct written_directions {
    quasi_velocity *quasi; /* at most m; quasi[k] is velocity n + k */
    size_t count;
    graph_node *velocity; /* velocity[n + m]: in terms of velocities not solved for; GRAPH_NONE: not solved for */
    bool *used;           /* used[m]: the constraint is satisfied by these velocities */
} written_directions;

/* directions.c: adds a quasi-velocity for each direction found. The caller owns the arrays and initializes `velocity`
 * and `used`. Returns false if out of memory. */
bool written_find_directions(written *w, written_directions *d);

/* divisors.c: finds the divisors of w->rates that are not in given[given_count]. solved_from[i] is NULL or the
 * constraint from which velocity i was solved. If a divisor is 0 at the initial state, adds an error and returns
 * false. */
bool written_find_divisors(written *w, const graph_node *given, size_t given_count, const char *const *solved_from);

/* A function that is quadratic in velocities: T, L, the Routhian R or the restricted kinetic energy T*. */
typedef struct written_quadratic {
    const char *title, *symbol; /* "kinetic energy", "T" */
    graph_node function;
    const graph_node *velocity; /* velocity[count]: symbols */
    const char *const *name;    /* name[count]: names of the coordinates or quasi-velocities */
    size_t count;
    /* Generalized forces in Lagrange's equations of this function, as text. NULL: some velocities are not rates of
     * coordinates, so Lagrange's equations do not hold. */
    const char *forces;
} written_quadratic;
#define WRITTEN_IMPRESSED "forces without potential"

/* explicit.c: the first function writes the parts of a function by degree in the velocities. If the velocities are
 * rates, it also writes the coefficients of Lagrange's equations. The second function applies the first to T or L.
 * Both return false after an error, or if out of memory. */
bool write_explicit(written *w, const written_quadratic *of);
bool write_explicit_lagrange(written *w);

/* Returns the kinetic energy T, with *natural = true. If a Lagrangian L is given, or if the potential contains
 * velocities, returns L, with *natural = false; the forces then exclude those of the potential. Returns GRAPH_NONE
 * after adding an error, or if out of memory. */
graph_node written_energy(written *w, bool *natural);

/* Stores the result of written_energy in *K and *natural, and the momenta ∂K/∂q'_i in w->momentum. If K is the kinetic
 * energy, written_force then includes the forces of the potential, and written_inertia is d/dt ∂K/∂q'_i − ∂K/∂q_i. Call
 * it at most once. Returns false after adding an error, or if out of memory. */
bool written_use_energy(written *w, graph_node *K, bool *natural);
graph_node written_momentum(written *w, size_t i); /* returns w->momentum[i] */

/* operators.c: for the forms nielsen, tsenov and mangeron-deleanu, writes T or L, its rates, and the derivatives D and
 * B. Replaces w->inertia, so that equations of motion written later have left-hand sides of this form. Returns false
 * after adding an error, or if out of memory. */
bool write_operators(written *w);

/* principles.c: the first function writes Jourdain's principle, the second one the central equation, in the velocities
 * of all coordinates. Both return false after adding an error, or if out of memory. */
bool write_jourdain(written *w);
bool write_central(written *w);

/* energy_rate.c: writes the Jacobi integral h, the terms of its rate, and the sum of the terms. Returns false after
 * adding an error, or if out of memory. */
bool write_energy_rate(written *w);

/* --- writers of families of formulations -------------------------------------------------------------------------- */

bool write_multipliers(written *w, const char *as);      /* multipliers.c: lagrange, udwadia-kalaba, gauss */
bool write_quasi_velocities(written *w, const char *as); /* quasi_velocities.c: maggi, kane, ... */
bool write_solved_form(written *w, const char *as);      /* solved_form.c: hadamard, voronets, chaplygin */
bool write_canonical(written *w, const char *as);        /* canonical.c: hamilton, routh */

/* --- printers ----------------------------------------------------------------------------------------------------- */

void print_text(const written *w, text_buffer *out);
void print_latex(const written *w, text_buffer *out);
/* Sets to->entries, to->count and to->omitted from the lines that define quantities. Entries are printed as text or in
 * LaTeX. Returns false if out of memory. */
bool print_entries(const written *w, hamel_notation in, hamel_written *to, arena *memory);
bool print_c(written *w, text_buffer *out); /* returns false after an error or if out of memory */
