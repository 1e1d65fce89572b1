/* binder.h — what the files of engine/system share: name spaces, slots, families. */
#ifndef HAMEL_SYSTEM_BINDER_H
#define HAMEL_SYSTEM_BINDER_H

#include "engine/system/system.h"

/* Names of quantities point to one of these. */
typedef enum entry_kind { ENTRY_PARAMETER, ENTRY_COORDINATE, ENTRY_SLOT, ENTRY_QUASI, ENTRY_KINDS } entry_kind;

/* A definition, a position or an orientation: some expressions that are bound when first needed, since they may refer to
 * each other in any order. */
enum { SLOT_NODES = 9 };
typedef enum slot_state { SLOT_WAITING, SLOT_OPEN, SLOT_BOUND, SLOT_FAULTY } slot_state;
typedef struct bind_slot {
    const char *name, *pointer;
    const hamel_expressions *value;
    system_place place;
    uint8_t state; /* slot_state */
    uint8_t count; /* 1; 2-3 components; up to 9 of a matrix */
    graph_node nodes[SLOT_NODES];
    size_t loop_count;
    loop_variable *loops;
} bind_slot;

/* A table: made when first needed; the slots hold those of its values that are expressions, in their order. */
typedef struct system_table {
    const hamel_table *described;
    uint8_t state; /* slot_state, never open */
    int32_t index; /* in the graph, when bound */
    int32_t first_slot, end_slot;
} system_table;

typedef struct machine_value {
    graph_node node;  /* GRAPH_NONE: `name` */
    const char *name; /* a bare name, in the arena */
} machine_value;

struct system_binder {
    symbol_table quantities;                         /* value = kind + ENTRY_KINDS · index */
    symbol_table coordinates, elements, constraints; /* name → index; elements: of `located` */
    symbol_table links;                              /* names of springs and dampers */
    symbol_table table_names;
    system_table *tables;
    size_t table_count;
    bind_slot *slots;
    size_t slot_count, slot_capacity;
    int32_t *quasi_slots; /* definitions of the quasi-velocities */
    struct system_located *located;
    size_t located_count, located_capacity;
    size_t walk_count; /* of the searches through them */
    machine_value *stack;
    size_t stack_capacity;
    int32_t *waiting; /* slots found unbound while an expression was walked */
    size_t waiting_count, waiting_capacity;
    int32_t *noted; /* elements asked for by position(P, k) and its like, while `noting` */
    size_t noted_count, noted_capacity;
    bool noting;
    graph_node *parameter_numbers; /* replacement for PARAMETER symbols; GRAPH_NONE until known */
    struct validity_claim *claims; /* that wait for a state to be judged at (validity.c) */
    size_t claim_count, claim_capacity;
    double steps; /* of the postfix machine and of families so far; bounded */
    bool canceled;
};

static inline int32_t entry_make(entry_kind kind, size_t index) {
    return (int32_t)(index * ENTRY_KINDS + (size_t)kind);
}

/* Whether a name has the form of one; an index may follow. False with a fault. */
bool binder_check_name(hamel_system *s, const char *name, const char *pointer);

/* Adds a slot; returns its index or −1. */
int32_t binder_add_slot(hamel_system *s, const char *name, const char *pointer, const hamel_expressions *value,
                        system_place place, const loop_scope *scope);

/* Binds a slot and all that it needs. False with faults added. */
bool binder_resolve_slot(hamel_system *s, int32_t slot);

/* Notes that the expression being walked needs this slot bound first; true when it is already. */
bool binder_need_slot(hamel_system *s, int32_t slot);

/* The number of a bound slot that is made of parameters. False with a fault when it is not finite. */
bool binder_slot_number(hamel_system *s, int32_t slot, double *value);

/* One more item of an array in the arena; NULL with a fault. */
void *binder_grow(hamel_system *s, void *items, size_t *capacity, size_t count, size_t size, const char *pointer);

/* Adds a name to a space of elements. False with a fault when it is taken. */
bool binder_declare_element(hamel_system *s, symbol_table *table, const char *name, size_t index, const char *pointer,
                            const char *kind);

/* A constraint without an equation yet; its index in *index. False with a fault. */
bool binder_add_constraint(hamel_system *s, const char *name, const char *pointer, size_t *index);

/* The same without a name by which a description could refer to it. */
bool binder_add_row(hamel_system *s, const char *name, const char *pointer, size_t *index);

/* Gives a constraint its equation f = 0 and finds its order by what f contains. */
void binder_set_equation(hamel_system *s, size_t index, graph_node f);

/* Adds a term to the kinetic or potential energy, taken apart into its own terms; a force on coordinate i. */
void binder_add_energy(hamel_system *s, graph_node node, bool kinetic, const char *pointer);
void binder_add_force(hamel_system *s, int32_t i, graph_node force);

/* Notes the work that forces added with it do. */
void binder_note_work(hamel_system *s, graph_node force, graph_node along, graph_symbol_kind kind);

/* The number that a node of numbers and parameters has; false when it contains anything else, or is not finite. */
bool binder_number(hamel_system *s, graph_node node, double *value);

/* Notes that something was settled by the numbers of the parameters in a node (system.h: parameter_judged). */
void binder_note_judged(hamel_system *s, graph_node node);

/* Adds a warning about what is written at `pointer`: the run goes on, and its summary shows it. */
void system_warn(hamel_system *s, const char *pointer, const char *format, ...) HAMEL_PRINTF(3, 4);

/* Warns of an expression of numbers and parameters that is negative: "WHAT is -1: EFFECT". */
void system_warn_negative(hamel_system *s, const hamel_expression *e, graph_node node, const char *what,
                          const char *effect);

/* Warns of a number that is taken as an angle and looks like one in degrees. */
void system_warn_degrees(hamel_system *s, const char *pointer, const char *what, double x);

/* Warns of a component of an angular velocity that is always 0, in a system in the plane. */
void system_warn_in_plane(hamel_system *s, const char *pointer, const char *quantity);

/* Appends an output. False with a fault when there are too many. */
bool binder_add_output(hamel_system *s, system_output output);

/* Copies the variables of a scope into the arena. */
bool scope_copy(hamel_system *s, const loop_scope *scope, loop_variable **loops, size_t *count);
void scope_from(loop_scope *scope, const loop_variable *loops, size_t count);

/* Counts one operation of the expansion. False with a fault when there were too many, or it was canceled. */
bool binder_step(hamel_system *s, const char *pointer, int column);

/* A fault for memory, node budget or cancellation, whichever stopped the graph. Always returns false. */
bool binder_graph_fault(hamel_system *s, const char *pointer);

/* --- tables.c ----------------------------------------------------------------------------------------------------- */

void tables_declare(hamel_system *s); /* names, and slots of their values */
void tables_resolve(hamel_system *s); /* makes those that nothing needs */

/* True when the table is made. False when its slots have to be bound first, which are then noted, or with a fault told
 * where the table stands. */
bool binder_need_table(hamel_system *s, int32_t table);

/* --- applied_forces.c --------------------------------------------------------------------------------------------- */

void forces_dissipation(hamel_system *s);
void forces_given(hamel_system *s); /* generalized_forces */
void forces_nonideal(hamel_system *s);

/* The node of a force, which may ask for multipliers and reactions: constraints have their equations. */
graph_node binder_force(hamel_system *s, const hamel_expression *e, const loop_scope *scope);

/* --- families.c -------------------------------------------------------------------------------------------------- */

/* Runs through the members of a family: `while (family_next(&f)) use f.scope`. An element without "for" has one. */
typedef struct family_iterator {
    hamel_system *system;
    const hamel_family *family;
    syntax_range *ranges;
    long long at[8], last[8];
    loop_scope scope;
    bool started, failed;
} family_iterator;

void family_begin(family_iterator *f, hamel_system *s, const hamel_family *family);
bool family_next(family_iterator *f); /* false at the end or after a fault (failed) */

/* "x[i]" with the scope's values → "x[3]" in the arena; NULL with a fault added. */
const char *family_name(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope);

/* Whether a text is a name, with or without indices, and nothing else. */
bool binder_looks_like_name(const char *text);

/* The same as family_name for a name that is being declared: inside a family it must have an index. */
const char *family_member(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope);

/* Runs postfix items whose results are integers (indices, ends of ranges): bind.c. */
bool binder_integers(hamel_system *s, const syntax *code, size_t count, const loop_scope *scope, const char *pointer,
                     long long *values, size_t value_count);

#endif
