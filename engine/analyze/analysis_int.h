/* analysis_int.h — what the files of engine/analyze share and nobody else sees.
 *
 * An analysis owns a model that nobody else sees, so it may add nodes to that model's graph: derivatives and tests that
 * no run needs. Every question of the kind "is this identically zero" is answered in the graph where simplification
 * shows it, and otherwise by its values at random states that satisfy the constraints. */
#ifndef HAMEL_ANALYZE_ANALYSIS_INT_H
#define HAMEL_ANALYZE_ANALYSIS_INT_H

#include "engine/algebra/effort.h"
#include "engine/analyze/groups.h"
#include "engine/analyze/row_basis.h"
#include "engine/base/random.h"
#include "engine/mechanics/equations.h"
#include "engine/model/model.h"

enum { SAMPLE_COUNT = 4, REGIONS_MOST = 64 };

/* A random state on the constraints near the initial values, and values for all other symbols. */
typedef struct sample {
    double t, *q, *v;          /* n; v satisfies the velocity-level constraints */
    double *free_v, *a;        /* n; any velocities; any accelerations */
    double *lambda, *nonideal; /* of the model, also of constraints that do not act at the start; n */
    bool clear;                /* which constraints depend on each other is no matter of tolerances */
} sample;

/* A state at which some switch of the system takes another branch than at the start. */
typedef struct region {
    sample at;
    size_t which;
} region;

/* "node is identically zero": *nonzero is set when some sample shows otherwise, and bit k of *beyond when region k does. */
typedef struct zero_test {
    graph_node node;
    bool *nonzero;
    uint64_t *beyond; /* NULL: a region counts as a sample */
} zero_test;

typedef struct analysis {
    arena *memory; /* of everything here; the model has its own */
    hamel_model *model;
    hamel_system *system;
    hamel_equations equations;
    groups groups;              /* of all constraints */
    double *inputs_q, *seeds_q; /* n; n · PROGRAM_LANES: inputs of one group's program after the other */
    size_t n, m;
    bool *linear;        /* m: holonomic, or a velocity constraint that is linear in the velocities */
    graph_node *at_rest; /* m: the part of the velocity form free of velocities, a_ct; GRAPH_NONE where there is none */
    sample samples[SAMPLE_COUNT];
    sample start;     /* the initial state, made consistent */
    bool start_known; /* whether that succeeded */
    region *others;
    size_t other_count;
    double *branches; /* of the system's switches at the start */
    zero_test *tests;
    size_t test_count, test_capacity;
    effort work; /* work budget of algebra for the current question */
    hamel_report *report;
    hamel_error *error;
} analysis;

/* --- analyze.c ---------------------------------------------------------------------------------------------------- */

/* Checks `d` and fills model, system, equations, groups, n, m and error; `memory` is given. The equations are Lagrange's,
 * whatever formulation a run would take. The caller frees the model in every case. */
hamel_status analysis_open(analysis *a, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                           hamel_error *error) HAMEL_CHECKED;

/* Starts a new work budget for the algebra of one question. */
void analysis_begin_work(analysis *a);

/* Lists the question in the report's `unfinished` if the work budget or a bound of length cut it short. False without
 * memory. */
bool analysis_unfinished(analysis *a, const char *what);

/* --- samples.c ---------------------------------------------------------------------------------------------------- */

/* Fills a->samples. HAMEL_INCOMPATIBLE when no configuration near the initial values satisfies the constraints. */
hamel_status samples_draw(analysis *a) HAMEL_CHECKED;

/* One state after the other; times lie within `span` of the start. NULL without memory. */
typedef struct sampler sampler;
sampler *sampler_create(analysis *a, double span);
void sampler_free(sampler *p);

/* Memory of the analysis. False without it. */
bool sample_allocate(const analysis *a, sample *s);

/* Moves a state onto the constraints. False when that fails, or something is not finite there. */
bool sampler_settle(sampler *p, sample *s);

/* False when none was found, or the analysis was canceled: samples_none tells, and adds the fault. */
bool sampler_draw(sampler *p, sample *s);
hamel_status samples_none(analysis *a) HAMEL_CHECKED;

/* --- regions.c --------------------------------------------------------------------------------------------------- */

/* Fills a->others. */
hamel_status regions_draw(analysis *a) HAMEL_CHECKED;

/* The branch of a switch at the start, as a condition of the description's language. False without memory. */
bool region_condition(analysis *a, size_t which, const char **text);

/* Adds the conditions of the regions in `beyond`, each once. False without memory. */
bool regions_name(analysis *a, uint64_t beyond, hamel_names *names);

/* --- zero.c ------------------------------------------------------------------------------------------------------- */

/* Adds a test; a node that is zero by its form needs none. False without memory. */
bool zero_test_add(analysis *a, graph_node node, bool *nonzero);

/* The same, with regions in *beyond instead. */
bool zero_test_add_regional(analysis *a, graph_node node, bool *nonzero, uint64_t *beyond);

/* Judges all tests at all samples. */
hamel_status zero_tests_run(analysis *a) HAMEL_CHECKED;

/* Values of `count` nodes at a sample, at its free velocities when `free_velocities`. */
hamel_status zero_values(analysis *a, const sample *at, bool free_velocities, const graph_node *nodes, size_t count,
                         double *values) HAMEL_CHECKED;

/* --- structure.c, dependence.c, holonomy.c -------------------------------------------------------------------------------------- */

/* Kinds and flags of the constraints, cyclic coordinates, conserved quantities. */
hamel_status structure_derive(analysis *a) HAMEL_CHECKED;

/* coupling.c: index, blocks, entries of M and A. */
hamel_status coupling_derive(analysis *a) HAMEL_CHECKED;

/* Rank of A and redundant constraints. */
hamel_status structure_rank(analysis *a) HAMEL_CHECKED;

/* Dependent sets at the initial state. */
hamel_status dependence_derive(analysis *a) HAMEL_CHECKED;

hamel_status holonomy_derive(analysis *a) HAMEL_CHECKED;

/* integrals.c: of groups of linear constraints, of which `integrable` combinations each can be integrated, those for
 * which that is done in closed form. */
hamel_status integrals_derive(analysis *a, const groups *g, const size_t *integrable) HAMEL_CHECKED;

/* transitivity.c: Hamel's coefficients of the quasi-velocities. */
hamel_status transitivity_derive(analysis *a) HAMEL_CHECKED;

/* `node` in the language of descriptions, in the analysis's memory. False without memory. */
bool analysis_text(analysis *a, graph_node node, const char **text);

/* HAMEL_NO_MEMORY with a fault. */
hamel_status analysis_no_memory(analysis *a);

#endif
