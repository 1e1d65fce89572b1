/* fixture.h — descriptions, systems, equations and models for the tests of the engine's files.
 *
 * In descriptions given here a backquote stands for a double quote, so that they can be read in C. A failure
 * where it must not fails the running cmocka test with the reason. */
#pragma once

#include "engine/mechanics/equations.h"
#include "engine/model/model.h"

typedef struct fixture {
    arena text_memory; /* of the description */
    arena memory;      /* of the system */
    hamel_description description;
    hamel_limits limits;
    hamel_poll *poll; /* of the binding; may be NULL */
    hamel_error error;
    hamel_system *system;
    hamel_equations equations;
} fixture;

/* Reads a description; `members` are those of the document but `hamel` and `simulation`, `simulation` the members of
 * that object. Nothing is bound yet. */
void fixture_read(fixture *f, const char *members, const char *simulation);
void fixture_close(fixture *f);

hamel_status fixture_bind(fixture *f);                /* system_create; errors are kept in f->error */
void fixture_open(fixture *f, const char *members);   /* read and bound without error */
void fixture_derive(fixture *f, const char *members); /* and Lagrange's equations derived */

/* A model; the caller frees it. */
hamel_model *fixture_model(const char *members, const char *simulation);

/* The report of a description that has one; the caller frees it. */
hamel_report *fixture_report(const char *members);

/* The node of an expression that may use anything an energy may, and accelerations. */
graph_node fixture_node(fixture *f, const char *text);

/* The value of a node by a loop over the graph, independent of compiled programs. Missing arrays are zeros. */
double fixture_value(const graph *g, graph_node node, const program_inputs *in);

/* A state, and what nodes and entries of a matrix are there; parameters are those of the description. */
enum { FIXTURE_MOST = 12 };
typedef struct fixture_point {
    double t, q[FIXTURE_MOST], v[FIXTURE_MOST], a[FIXTURE_MOST], lambda[FIXTURE_MOST];
} fixture_point;
fixture_point fixture_point_anywhere(uint64_t *seed);
double fixture_value_at(const fixture *f, graph_node node, const fixture_point *p);
double fixture_entry_at(const fixture *f, const matrix_pattern *m, int row, int column, const fixture_point *p);

/* Both nodes have the same value at random states. */
void assert_same(const fixture *f, const char *what, graph_node found, graph_node expected);

/* Binding fails with exactly one error, which contains `text`. */
void assert_fault(const char *members, const char *text);

/* True when some error's message or suggestion contains `text`. */
bool fixture_says(const fixture *f, const char *text);

/* |x − y| within `bound` of the larger of 1, |x|, |y|. */
void assert_near(const char *what, double x, double y, double bound);
