/* binder.h — declarations shared by the files of engine/system: name spaces, slots, families. */
#pragma once

#include "engine/system/system.h"

#include <string.h>

/* Kinds of names in the name space of quantities. */
typedef enum entry_kind { ENTRY_PARAMETER, ENTRY_COORDINATE, ENTRY_SLOT, ENTRY_QUASI, ENTRY_KINDS } entry_kind;

/* A slot holds a parameter, definition, position or orientation. Slots may refer to each other in any order, so each
 * slot is bound when an expression first needs it. */
enum { SLOT_NODES = 9 };
typedef enum slot_state { SLOT_WAITING, SLOT_OPEN, SLOT_BOUND, SLOT_FAULTY } slot_state;
typedef struct bind_slot {
    const char *name, *pointer;
    const hamel_expressions *value;
    system_place place;
    uint8_t state; /* slot_state */
    uint8_t count; /* number of components: 1, 2 or 3; up to 9 for a matrix */
    graph_node nodes[SLOT_NODES];
    size_t loop_count;
    loop_variable *loops;
} bind_slot;

/* A table of the description, bound when an expression first needs it. Slots [first_slot, end_slot) contain the values
 * that are expressions, in the order of the description. */
typedef struct system_table {
    const hamel_table *described;
    uint8_t state; /* slot_state; never SLOT_OPEN */
    int32_t index; /* index of the table in the graph; set once the table is bound */
    int32_t first_slot, end_slot;
} system_table;

typedef struct machine_value {
    graph_node node;  /* GRAPH_NONE: the argument is `name` */
    const char *name; /* bare name, stored in the arena */
} machine_value;

struct system_binder {
    symbol_table quantities;                         /* value = kind + ENTRY_KINDS · index */
    symbol_table coordinates, elements, constraints; /* name → index; elements: index in `located` */
    symbol_table contacts;                           /* names of rolling joints → index in `contact_list` */
    struct system_contact *contact_list;
    size_t contact_count, contact_capacity;
    symbol_table links; /* names of springs and dampers */
    symbol_table table_names;
    system_table *tables;
    size_t table_count;
    bind_slot *slots;
    size_t slot_count, slot_capacity;
    int32_t *quasi_slots; /* slots that define the quasi-velocities */
    struct system_located *located;
    size_t located_count, located_capacity;
    size_t walk_count; /* number of searches through the located elements so far (located.c) */
    machine_value *stack;
    size_t stack_capacity;
    int32_t *waiting; /* unbound slots that the last expression needs */
    size_t waiting_count, waiting_capacity;
    int32_t *noted; /* elements P in position(P, k) and similar calls; collected while `noting` is true */
    size_t noted_count, noted_capacity;
    bool noting;
    graph_node *parameter_numbers; /* nodes with the values of the parameters; GRAPH_NONE until computed */
    struct validity_claim *claims; /* conditions to check at one or more states (validity.c) */
    size_t claim_count, claim_capacity;
    double steps; /* postfix items and family members expanded so far; at most STEPS_MAX (bind.c) */
    bool canceled;
};

static inline int32_t entry_make(entry_kind kind, size_t index) {
    return (int32_t)(index * ENTRY_KINDS + (size_t)kind);
}

/* Returns the entry or index that a symbol table stores for a name, or −1 if the table does not contain the name. */
static inline int32_t binder_find(const symbol_table *names, const char *name) {
    int32_t found = symbol_find(names, name, strlen(name));
    return found < 0 ? -1 : names->symbols[found].value;
}

/* Suggests the name in the table that is nearest to `name`, if any, for the last error. Returns false. */
bool binder_suggest_nearest(hamel_system *s, const symbol_table *names, const char *name);

/* Returns true if a node contains only numbers and parameters. */
static inline bool binder_is_constant(const hamel_system *s, graph_node node) {
    return !(graph_depends(s->graph, node) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER));
}

/* Returns true if a node is linear in the velocities: its derivatives with respect to the velocities contain no
 * velocity. */
bool binder_is_linear(hamel_system *s, graph_node node);

/* Returns zeroed memory in the arena, or NULL after adding an error at `pointer`. */
void *binder_alloc(hamel_system *s, size_t count, size_t size, const char *pointer);

/* Returns a copy of a text, or NULL after adding an error. The copy is in the arena, which outlives the description. */
const char *binder_text(hamel_system *s, const char *text, const char *pointer);

/* Appends a copy of an item to an array in the arena; `items` is the address of the pointer to the array. Returns the
 * address of the copy, or NULL after adding an error. */
void *binder_append(hamel_system *s, void *items, size_t *count, size_t *capacity, const void *item, size_t size,
                    const char *pointer);

/* Checks the form of a name, which may have an index. If the name is invalid, adds an error and returns false. */
bool binder_check_name(hamel_system *s, const char *name, const char *pointer);

/* Adds a slot. Returns its index, or −1 after an error. */
int32_t binder_add_slot(hamel_system *s, const char *name, const char *pointer, const hamel_expressions *value,
                        system_place place, const loop_scope *scope);

/* Binds a slot and all slots that it refers to. Adds errors and returns false on failure. */
bool binder_resolve_slot(hamel_system *s, int32_t slot);

/* Returns true if the slot is bound or has an error. Otherwise notes that the slot must be bound first. */
bool binder_need_slot(hamel_system *s, int32_t slot);

/* Computes the value of a bound slot whose expression contains only numbers and parameters. If the value is not finite,
 * adds an error and returns false. */
bool binder_slot_number(hamel_system *s, int32_t slot, double *value);

/* Returns an array in the arena with capacity for one more item, or NULL after adding an error. */
void *binder_grow(hamel_system *s, void *items, size_t *capacity, size_t count, size_t size, const char *pointer);

/* Adds a name to a name space of elements. Adds an error and returns false if the name is already used. */
bool binder_declare_element(hamel_system *s, symbol_table *table, const char *name, size_t index, const char *pointer,
                            const char *kind);

/* Adds a constraint, sets *index to its index, and leaves its equation unset. Adds an error and returns false on
 * failure. */
bool binder_add_constraint(hamel_system *s, const char *name, const char *pointer, size_t *index);

/* Does the same as binder_add_constraint, but does not declare the name, so expressions cannot refer to the
 * constraint. */
bool binder_add_row(hamel_system *s, const char *name, const char *pointer, size_t *index);

/* Sets the equation f = 0 of a constraint, and derives its order from the symbols in f. */
void binder_set_equation(hamel_system *s, size_t index, graph_node f);

/* binder_add_energy adds the terms of a node to the kinetic or potential energy. binder_add_force adds a force that
 * acts on coordinate i. */
void binder_add_energy(hamel_system *s, graph_node node, bool kinetic, const char *pointer);
void binder_add_force(hamel_system *s, int32_t i, graph_node force);

/* Records a force and the quantity along which the force does work (system_work). */
void binder_note_work(hamel_system *s, graph_node force, graph_node along, graph_symbol_kind kind);

/* Returns an interaction of a kind between two elements, with GRAPH_NONE as nodes and `first` and `second` as ends.
 * `second` may be NULL. */
system_interaction binder_interaction(hamel_system *s, interaction_kind kind, const struct system_located *first,
                                      const struct system_located *second);
void binder_add_interaction(hamel_system *s, const system_interaction *interaction);

/* Computes the value of a node that contains only numbers and parameters. Returns false if the node contains other
 * symbols or if its value is not finite. */
bool binder_number(hamel_system *s, graph_node node, double *value);

/* Binds an expression as far as possible. If the expression needs unbound slots, lists them in `waiting` and sets
 * *complete to false. Returns GRAPH_NONE after adding an error. Returns GRAPH_NONE without an error if the expression
 * is absent. */
graph_node binder_walk(hamel_system *s, const hamel_expression *e, system_place place, const loop_scope *scope,
                       syntax_goal goal, const system_quantities *quantities, bool *complete);

/* Marks the parameters in a node as structural (system.h: parameter_structural). */
void binder_note_structural(hamel_system *s, graph_node node);

/* Marks the parameters in a node as used in a check (system.h: parameter_judged). */
void binder_note_judged(hamel_system *s, graph_node node);

/* Adds a warning about the description at `pointer`; summaries list it. */
void system_warn(hamel_system *s, const char *pointer, const char *format, ...) HAMEL_PRINTF(3, 4);

/* Warns if an expression of numbers and parameters is negative. The message is "WHAT is -1: EFFECT". */
void system_warn_negative(hamel_system *s, const hamel_expression *e, graph_node node, const char *what,
                          const char *effect);

/* Warns if an angle x is probably in degrees. */
void system_warn_degrees(hamel_system *s, const char *pointer, const char *what, double x);

/* Appends an output. Adds an error and returns false if the limit on outputs is exceeded or memory runs out. */
bool binder_add_output(hamel_system *s, system_output output);

/* Copies the variables of a scope into the arena. The scope may be NULL. Adds an error and returns false on failure. */
bool scope_copy(hamel_system *s, const loop_scope *scope, loop_variable **loops, size_t *count);
void scope_from(loop_scope *scope, const loop_variable *loops, size_t count);

/* Counts one step of the expansion of sums and families. Adds an error and returns false beyond the limit or after
 * cancellation. */
bool binder_step(hamel_system *s, const char *pointer, int column);

/* Reports why the graph cannot add nodes (memory or number of nodes), and returns false. Adds nothing if this error has
 * already been reported. */
bool binder_graph_fault(hamel_system *s, const char *pointer);

/* Adds the error HAMEL_INVALID at `pointer` and returns false. */
bool system_fail(hamel_system *s, const char *pointer, const char *format, ...) HAMEL_PRINTF(3, 4);

void tables_declare(hamel_system *s); /* declares names, and slots for values that are expressions */
void tables_resolve(hamel_system *s); /* binds the remaining tables, which no expression has needed */

/* Returns true if the table is bound. Returns false after adding an error, or after noting slots to bind first. */
bool binder_need_table(hamel_system *s, int32_t table);

/* --- applied_forces.c --------------------------------------------------------------------------------------------- */

void forces_dissipation(hamel_system *s);
void forces_given(hamel_system *s); /* binds `generalized_forces` */
void forces_nonideal(hamel_system *s);
bool binder_is_nonsmooth(hamel_system *s, graph_node f); /* true if f contains a function with a jump or a kink */
void servos_lower(hamel_system *s); /* servo.c: binds `direction` of constraints; call after constraints are bound */

/* Binds a force, which may contain multipliers and reactions; the equations of all constraints must be set. */
graph_node binder_force(hamel_system *s, const hamel_expression *e, const loop_scope *scope);

/* Iterates over the members of a family: `while (family_next(&f)) use f.scope`. An element without "for" has one
 * member. */
typedef struct family_iterator {
    hamel_system *system;
    const hamel_family *family;
    syntax_range *ranges;
    long long at[FAMILY_DEPTH], last[FAMILY_DEPTH];
    loop_scope scope;
    bool started, failed;
} family_iterator;

void family_begin(family_iterator *f, hamel_system *s, const hamel_family *family);
bool family_next(family_iterator *f); /* returns false after the last member, or after an error, which sets `failed` */

/* Returns "x[3]", in the arena, for the name "x[i]" with i = 3 in scope. Returns NULL after adding an error. */
const char *family_name(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope);

/* If `text` is dx, xdot, x_dot, x_d, xd or xp (other notations of x'), returns the name of the coordinate x. Otherwise
 * returns NULL. */
const char *binder_coordinate_of_velocity(const hamel_system *s, const char *text);

/* Returns true if a text is a name, with or without indices. */
bool binder_looks_like_name(const char *text);

/* Does the same as family_name for the name of an element that is being declared. The name of a family must have an
 * index. */
const char *family_member(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope);

/* Computes the integers (indices, bounds of ranges) that `count` items of postfix code leave on the stack (bind.c). */
bool binder_integers(hamel_system *s, const syntax *code, size_t count, const loop_scope *scope, const char *pointer,
                     long long *values, size_t value_count);
