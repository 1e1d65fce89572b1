/* graph_fixture.h — an empty graph, for the tests of graphs and of programs made of them. */
#pragma once

#include "engine/compile/program.h"
#include "tests/unit/random.h"

typedef struct graph_fixture {
    arena memory;
    graph *g;
    hamel_error error;
    uint64_t seed; /* for random.h */
} graph_fixture;

/* cmocka's fixtures of a test; its state is the graph_fixture. */
int open_graph(void **state);
int close_graph(void **state);

graph_node q(graph_fixture *f, int i); /* the coordinate */
graph_node number(graph_fixture *f, double value);

/* Compiles without error. */
program *compile(graph_fixture *f, const graph_node *nodes, size_t count);
