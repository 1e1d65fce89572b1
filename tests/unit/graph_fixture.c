/* graph_fixture.c — graphs and programs for unit tests. */
#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

int open_graph(void **state) {
    graph_fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    arena_init(&f->memory, 0);
    f->g = graph_create(&f->memory, &f->memory, 1000000);
    assert_non_null(f->g);
    f->seed = 20240229;
    *state = f;
    return 0;
}

int close_graph(void **state) {
    graph_fixture *f = *state;
    hamel_error_clear(&f->error);
    arena_free(&f->memory);
    free(f);
    return 0;
}

graph_node q(graph_fixture *f, int i) {
    return graph_symbol(f->g, SYMBOL_COORDINATE, i);
}

graph_node number(graph_fixture *f, double value) {
    return graph_number(f->g, value);
}

program *compile(graph_fixture *f, const graph_node *nodes, size_t count) {
    program *p = NULL;
    assert_int_equal(program_compile(&p, &f->memory, f->g, nodes, count, &f->error), HAMEL_OK);
    assert_non_null(p);
    assert_int_equal(program_output_count(p), count);
    return p;
}
