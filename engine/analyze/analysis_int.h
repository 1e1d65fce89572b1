/* analysis_int.h — declarations shared by the files of engine/analyze only.
 *
 * An analysis owns its model, so it may add nodes to that model's graph: derivatives and tests that a run does not
 * need. An expression is treated as identically zero if simplification reduces it to 0, or if its values vanish at
 * random states that satisfy the constraints. */
#pragma once

#include "engine/algebra/work_budget.h"
#include "engine/analyze/groups.h"
#include "engine/base/random.h"
#include "engine/mechanics/equations.h"
#include "engine/model/model.h"

enum { SAMPLE_COUNT = 4, REGIONS_MOST = 64 };

/* A random state near the initial values that satisfies the constraints, with values for all other symbols. The arrays
 * are one block that begins with q. */
typedef struct sample {
    double t, *q, *v;          /* q, v: n entries each; v satisfies the velocity-level constraints */
    double *free_v, *a;        /* n velocities and n accelerations that need not satisfy the constraints */
    double *nonideal, *lambda; /* nonideal: n entries; lambda: one entry per constraint of the model, active or not */
    bool clear;                /* true if the rank of the constraints is unambiguous at this state */
} sample;

/* A state at which the nonsmooth operator `which` is on another branch than in the initial state. */
typedef struct region {
    sample at;
    size_t which;
} region;

/* A test of whether `node` is identically zero. If the node differs from 0 at a sample, the test sets *nonzero to true.
 * If the node differs from 0 in region k, the test sets bit k of *beyond. */
typedef struct zero_test {
    graph_node node;
    bool *nonzero;
    uint64_t *beyond; /* if NULL, regions are treated as samples */
} zero_test;

/* The arguments of hamel_analyze and of the other entry points; limits and error may be NULL. */
typedef struct analysis_request {
    const hamel_description *description;
    const hamel_limits *limits;
    hamel_poll *poll;
    hamel_error *error;
    bool latex; /* analysis_text writes LaTeX */
} analysis_request;

typedef struct analysis {
    analysis_request request; /* limits and error are not NULL: analysis_perform inserts defaults */
    arena *memory;            /* owns all arrays below; the model has its own arena */
    hamel_model *model;
    hamel_system *system;
    hamel_equations equations;
    groups groups; /* groups of the constraints that act initially */
    /* Inputs shared by the programs of all groups. inputs_q: n entries; seeds_q: n · PROGRAM_LANES entries. */
    double *inputs_q, *seeds_q;
    size_t n, m;         /* n: number of coordinates; m: number of constraints that act initially */
    bool *linear;        /* m entries: true for holonomic constraints and for linear velocity constraints */
    graph_node *at_rest; /* m entries: a_ct, the part of the velocity form without velocities, or GRAPH_NONE */
    sample samples[SAMPLE_COUNT];
    sample start;     /* the consistent initial state */
    bool start_known; /* true if a consistent initial state was found */
    region *others;   /* states on other branches of the nonsmooth operators */
    size_t other_count;
    double *branches; /* branch of each nonsmooth operator in the initial state */
    /* `kept` and `energy_kept`: whether the momentum of each coordinate (n entries) and the Jacobi integral are
     * conserved on all branches. `kept_at_start` and `energy_kept_at_start`: the same for the initial branches only.
     * Set by structure_derive. */
    bool *kept, *kept_at_start, energy_kept, energy_kept_at_start;
    zero_test *tests;
    size_t test_count, test_capacity;
    work_budget work; /* remaining budget of the algebra in the current part of the analysis */
    hamel_report *report;
    hamel_error *error;
} analysis;

/* --- analyze.c ---------------------------------------------------------------------------------------------------- */

/* Fills a zeroed result. Arrays and texts of the result are allocated in a->memory. The caller frees a->model. On
 * failure, *result must own nothing outside a->memory. */
typedef hamel_status analysis_body(analysis *a, void *result, void *context);

/* Runs `body` on a new result of `size` bytes. `out` is the address of a pointer. On success, sets the pointer to the
 * result; free the result with analysis_result_free. Otherwise sets the pointer to NULL and adds an error. */
hamel_status analysis_perform(const analysis_request *request, size_t size, analysis_body *body, void *context,
                              void *out) HAMEL_CHECKED;
void analysis_result_free(void *result); /* NULL is ignored */

/* Creates a->model with the formulation of the description. Does not fill a->equations and a->groups. */
hamel_status analysis_create_model(analysis *a, const hamel_description *d) HAMEL_CHECKED;

/* Checks the description and sets the fields model, system, equations, groups, n and m of *a. The caller sets request,
 * memory and error before the call, and frees a->model, also on failure. The equations are Lagrange's, whichever
 * formulation the description selects. */
hamel_status analysis_open(analysis *a) HAMEL_CHECKED;

/* Allocates the lists of a->report. Fills the names and kinds of the constraints, and the warnings. Returns false if
 * out of memory. */
bool analysis_begin_report(analysis *a);

/* Copies the names of all coordinates to a->memory. Returns the copies, or NULL if out of memory. */
const char *const *analysis_coordinate_names(analysis *a);

/* Prints `node` in the language of descriptions or, if the request selects LaTeX, in LaTeX. The text is in a->memory.
 * Returns NULL if the text is longer than `most` bytes or if out of memory. */
enum { ANALYSIS_TEXT_MOST = 1 << 16 };
const char *analysis_text(analysis *a, graph_node node, size_t most);

/* If the error has no entry yet, adds HAMEL_NO_MEMORY. Returns the status of the error. */
hamel_status analysis_no_memory(analysis *a);

/* If a node of the graph could not be created, adds the error of graph_status; otherwise adds HAMEL_NO_MEMORY. Returns
 * the status of the error. */
hamel_status analysis_stopped(analysis *a);

/* Starts a new work budget for the algebra of one part of the analysis. */
void analysis_begin_work(analysis *a);

/* Adds `what` to the `unfinished` parts of the report, because the work budget or the length limit of this part was
 * exceeded. */
void analysis_unfinished(analysis *a, const char *what);

/* --- samples.c ---------------------------------------------------------------------------------------------------- */

/* Fills a->samples. Returns HAMEL_INCOMPATIBLE if no configuration near the initial values satisfies the
 * constraints. */
hamel_status samples_draw(analysis *a) HAMEL_CHECKED;

/* Creates a source of random states at most `span` seconds after the initial time. Returns NULL if out of memory. */
typedef struct sampler sampler;
sampler *sampler_create(analysis *a, double span);
void sampler_free(sampler *p);

/* Allocates the arrays in a->memory. Returns false if out of memory. */
bool sample_allocate(const analysis *a, sample *s);
void sample_copy(const analysis *a, sample *to, const sample *from);

/* Projects a state onto the constraints. Returns false if the projection fails or a value at the result is not
 * finite. */
bool sampler_settle(sampler *p, sample *s);

/* Draws the next state. Returns false if no state was found or the analysis was canceled. In both cases the caller
 * calls samples_none, which adds the error and returns the status of the error. */
bool sampler_draw(sampler *p, sample *s);
hamel_status samples_none(analysis *a) HAMEL_CHECKED;

/* --- regions.c ---------------------------------------------------------------------------------------------------- */

/* Fills a->others with states on other branches of the nonsmooth operators. */
hamel_status regions_draw(analysis *a) HAMEL_CHECKED;

/* Bit k of `beyond` represents region k. Sets *names to the conditions of the initial branches that do not hold in
 * these regions. Each condition occurs once. Returns false if out of memory. */
bool regions_name(analysis *a, uint64_t beyond, hamel_names *names);

/* --- zero.c ------------------------------------------------------------------------------------------------------- */

/* Adds a test. If `node` is a number, sets the result immediately. Returns false if the node is invalid or if out of
 * memory. */
bool zero_test_add(analysis *a, graph_node node, bool *nonzero, uint64_t *beyond);

/* Runs all tests at all samples and regions, then removes the tests. */
hamel_status zero_tests_run(analysis *a) HAMEL_CHECKED;

/* Returns the values of all symbols at a sample, with error bounds. If `free_velocities` is true, the velocities are
 * free_v; otherwise they are v. The sample owns the arrays. */
graph_point sample_point(const analysis *a, const sample *at, bool free_velocities);

/* Evaluates `count` nodes at the point that sample_point returns. */
hamel_status zero_values(analysis *a, const sample *at, bool free_velocities, const graph_node *nodes, size_t count,
                         double *values) HAMEL_CHECKED;

/* --- analyses that fill the report -------------------------------------------------------------------------------- */

/* structure.c: kinds and properties of the constraints, cyclic coordinates and conserved quantities. */
hamel_status structure_derive(analysis *a) HAMEL_CHECKED;
hamel_status structure_coupling(analysis *a) HAMEL_CHECKED; /* index, blocks, and entries of M and A */

/* symmetries.c: adds the conserved quantities of combined shifts and rotations to the report. Lists the symmetry that
 * belongs to each conserved quantity. Requires the results of structure_derive. */
hamel_status symmetries_derive(analysis *a) HAMEL_CHECKED;

/* redundancy.c: the rank of A, the redundant constraints, and the smallest sets of redundant constraints in the initial
 * state. */
hamel_status redundancy_derive(analysis *a) HAMEL_CHECKED;

/* holonomy.c: integrable combinations of the velocity constraints. */
hamel_status holonomy_derive(analysis *a) HAMEL_CHECKED;

/* integrals.c: closed-form integrals of the groups of linear constraints. Group k has integrable[k] integrable
 * combinations. */
hamel_status integrals_derive(analysis *a, const groups *g, const size_t *integrable) HAMEL_CHECKED;

/* integrability.c: sets report->integrability to the residuals and ranks of the linear velocity constraints. */
hamel_status integrability_derive(analysis *a) HAMEL_CHECKED;

/* transitivity.c: Hamel's coefficients of the quasi-velocities. */
hamel_status transitivity_derive(analysis *a) HAMEL_CHECKED;

/* differences.c: compares the equations with finite differences at states[count], which must satisfy the constraints,
 * and fills *out. In large systems only some coordinates are compared. On failure, adds an error. */
hamel_status differences_compare(analysis *a, const sample *const *states, size_t count,
                                 hamel_difference_check *out) HAMEL_CHECKED;
