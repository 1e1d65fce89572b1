/* fixture.h — descriptions, systems, equations and models for unit tests of the engine.
 *
 * Descriptions in C strings use backquotes instead of double quotes. An unexpected failure fails the running cmocka
 * test and prints the reason. */
#pragma once

#include "engine/mechanics/equations.h"
#include "engine/model/model.h"

typedef struct fixture {
    arena text_memory; /* memory of the description */
    arena memory;      /* memory of the system */
    hamel_description description;
    hamel_limits limits;
    hamel_poll *poll; /* polled during binding; NULL if not needed */
    hamel_error error;
    hamel_system *system;
    hamel_equations equations;
} fixture;

/* Reads a description without binding it. `members` is the JSON text of the description without the members `hamel` and
 * `simulation`. `simulation` is the text inside the object `simulation`. */
void fixture_read(fixture *f, const char *members, const char *simulation);
void fixture_close(fixture *f);

hamel_status fixture_bind(fixture *f);                /* calls system_create, which stores errors in f->error */
void fixture_open(fixture *f, const char *members);   /* reads and binds; an error fails the test */
void fixture_derive(fixture *f, const char *members); /* calls fixture_open and derives Lagrange's equations */

/* Read a description and return its model, for runs or for analyses. The caller frees the model. */
hamel_model *fixture_model(const char *members, const char *simulation);
hamel_model *fixture_analysis_model(const char *members, const char *simulation);

/* Returns the analysis report of a description; an error fails the test. The caller frees the report. */
hamel_report *fixture_report(const char *members);

/* Returns the node of an expression, which may contain accelerations and all names that energies may contain. */
graph_node fixture_node(fixture *f, const char *text);

/* Evaluates a node by a loop over the graph, independently of compiled programs. If an array of *in is NULL, its values
 * are zero. */
double fixture_value(const graph *g, graph_node node, const program_inputs *in);

/* A state at which fixture_value_at and fixture_entry_at evaluate nodes. These functions use the parameter values of
 * the description. */
enum { FIXTURE_MOST = 12 };
typedef struct fixture_point {
    double t, q[FIXTURE_MOST], v[FIXTURE_MOST], a[FIXTURE_MOST], lambda[FIXTURE_MOST];
} fixture_point;
fixture_point fixture_point_anywhere(uint64_t *seed);
double fixture_value_at(const fixture *f, graph_node node, const fixture_point *p);
double fixture_entry_at(const fixture *f, const matrix_pattern *m, int row, int column, const fixture_point *p);

/* Checks that `found` and `expected` have the same value at random states. */
void assert_same(const fixture *f, const char *what, graph_node found, graph_node expected);

/* Checks that binding fails with exactly one error, whose message contains `text`. */
void assert_fault(const char *members, const char *text);

/* Checks that the model cannot be created or that its run from t = 0 to 1 fails. An error message or its suggestion
 * must contain `text`. */
void assert_run_fault(const char *members, const char *text);

/* Returns true if an error message or its suggestion contains `text`. */
bool fixture_says(const fixture *f, const char *text);

/* Checks that |x − y| is at most `bound` times the largest of 1, |x| and |y|. */
void assert_near(const char *what, double x, double y, double bound);
