/* graph_fixture.h — an empty graph, for tests of graphs and of programs compiled from them. */
#pragma once

#include "engine/compile/program.h"
#include "tests/unit/random.h"

typedef struct graph_fixture {
    arena memory;
    graph *g;
    hamel_error error;
    uint64_t seed; /* state of the random number generator */
} graph_fixture;

/* Setup and teardown functions for cmocka. *state points to a graph_fixture. */
int open_graph(void **state);
int close_graph(void **state);

graph_node q(graph_fixture *f, int i); /* returns the node of a coordinate */
graph_node number(graph_fixture *f, double value);

/* Compiles the nodes; an error fails the test. */
program *compile(graph_fixture *f, const graph_node *nodes, size_t count);
