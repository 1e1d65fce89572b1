/* bind_int.h — the stack machine that translates expressions to nodes. bind.c handles names, operators and sums, and
 * bind_quantities.c handles functions whose arguments are names. */
#pragma once

#include "engine/system/elements.h"

enum { SUM_MEMORIES = 16 };

typedef struct sum_frame {
    size_t body; /* index of the first item of the sum's body */
    long long at, last;
    graph_node total;
    size_t variable;
} sum_frame;

/* The total of a sum from `first` to `last`. A later sum with the same body, the same lower end and the same values of
 * the outer variables continues from this total. sum(i, 1, N, sum(j, 1, i, ...)) therefore takes N steps instead of
 * N²/2. */
typedef struct sum_memory {
    size_t body; /* index of the first item of the sum's body; 0: no total is stored */
    long long first, last;
    graph_node total;
    long long outer[SCOPE_MAX]; /* values of the outer loop variables that the body contains; 0 for other variables */
} sum_memory;

typedef struct machine {
    hamel_system *s;
    const syntax *code;
    const char *pointer;
    system_place place;
    const system_quantities *quantities;
    loop_scope scope;
    size_t depth; /* number of values on the stack */
    sum_frame frames[SYNTAX_SUMS_MAX];
    size_t frame_count;
    sum_memory memories[SUM_MEMORIES]; /* indexed by body % SUM_MEMORIES */
} machine;

/* Adds an error with the column of `item` and a quotation of the expression. Always returns false. */
HAMEL_PRINTF(3, 4)
bool machine_fault(machine *m, const syntax_item *item, const char *format, ...);

/* Pushes a node, with `name` = NULL, or a name, with `node` = GRAPH_NONE. Returns false after an error, or if out of
 * memory. */
bool machine_push(machine *m, graph_node node, const char *name);
machine_value machine_pop(machine *m);

/* Stores the value of `node` in *value if `node` is a constant integer. Otherwise adds an error and returns false; the
 * message begins with `what`, such as "the degree". While parameters are not bound yet, may store 1 instead. */
bool machine_integer(machine *m, const syntax_item *item, graph_node node, const char *what, long long *value);

/* Returns true if `node` contains only symbols that are allowed at the place of the expression. Otherwise adds an
 * error, in which `text` is the name of the node, and returns false. */
bool machine_allows(machine *m, const syntax_item *item, graph_node node, const char *text);

/* bind_quantities.c: pops the arguments of a SYNTAX_QUANTITY item and pushes its value. Returns false after an
 * error. */
bool machine_run_quantity(machine *m, const syntax_item *item);
