/* poisson.c — Poisson brackets from derivatives of expressions; see poisson.h.
 *
 * The momenta are added to the description as coordinates p_x, so that expressions can contain them. The functions are
 * bound as outputs of this extended system. If a function contains velocities, the equations p = ∂L/∂q' are solved for
 * them by Gauss–Jordan elimination with expressions. The momenta must be linear in the velocities. */
#include "engine/analyze/poisson.h"

#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/algebra/identity.h"
#include "engine/analyze/analysis_int.h"

#include <math.h>
#include <string.h>

/* POINTS: number of random states at which an expression is evaluated if algebra does not reduce it to 0. TEXT_MOST:
 * largest length of the text of a bracket, in bytes. */
enum { POINTS = 8, TEXT_MOST = 1 << 18 };

typedef struct phase_space {
    analysis *a;
    arena scratch;
    hamel_description description; /* the given description, with momenta as coordinates and the functions as outputs */
    /* number of coordinates of the given system; coordinate n + i is the momentum of coordinate i */
    size_t n;
    hamel_observed observed;
    graph_node *functions; /* the functions in terms of coordinates and momenta */
    const hamel_argument *given;
    size_t count;        /* number of functions */
    const char *pointer; /* JSON pointer for errors about the number of functions */
} phase_space;

/* --- binding ------------------------------------------------------------------------------------------------------ */

/* Creates the extended description: adds a coordinate p_x for each coordinate x, and the functions as outputs. Returns
 * false if out of memory. */
static bool extend_description(phase_space *s) {
    const hamel_description *d = s->a->request.description;
    arena *memory = s->a->memory;
    s->description = *d;
    s->description.invariant_count = s->description.check_count = s->description.event_count = 0;
    s->description.alternatives.count = 0;
    s->description.simulation =
        (hamel_simulation){.pointer = d->simulation.pointer, .start = d->simulation.start, .timeless = true};
    hamel_coordinate *all = arena_alloc(memory, 2 * d->coordinate_count, sizeof *all);
    hamel_named *outputs = arena_alloc(memory, s->count, sizeof *outputs);
    hamel_expression *texts = arena_alloc(memory, s->count, sizeof *texts);
    if (!all || !outputs || !texts) return false;
    for (size_t i = 0; i < d->coordinate_count; i++) {
        hamel_coordinate *p = &all[d->coordinate_count + i];
        all[i] = *p = d->coordinates[i];
        p->name = arena_format(memory, "p_%s", all[i].name);
        p->unit = NULL;
        p->initial = p->velocity = (hamel_expression){0};
    }
    for (size_t k = 0; k < s->count; k++) {
        texts[k] = (hamel_expression){.pointer = s->given[k].pointer, .text = s->given[k].name};
        outputs[k] = (hamel_named){.pointer = s->given[k].pointer,
                                   .name = arena_format(memory, "function_%zu", k + 1),
                                   .value = {s->given[k].pointer, &texts[k], 1}};
    }
    s->description.coordinates = all;
    s->description.coordinate_count *= 2;
    s->description.outputs = (hamel_named_list){outputs, s->count};
    return !memory->failed;
}

static hamel_status bind_functions(phase_space *s) {
    analysis *a = s->a;
    hamel_equations *e = &a->equations;
    if (!extend_description(s)) return analysis_no_memory(a);
    hamel_status status = system_create(&a->system, a->memory, &s->scratch, &s->description, a->request.limits,
                                        a->request.poll, a->error);
    if (status != HAMEL_OK) return status;
    s->n = a->system->coordinate_count / 2;
    a->n = a->system->coordinate_count;
    *e = (hamel_equations){.system = a->system, .n = a->n, .m = a->system->constraint_count};
    status = lagrange_derive(e);
    if (status != HAMEL_OK) return status;
    graph_node *momentum = e->momentum; /* binds momentum(x) to the symbol p_x */
    e->momentum = arena_alloc(a->memory, a->n, sizeof *e->momentum);
    if (!e->momentum) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++) e->momentum[i] = a->system->q[i < s->n ? s->n + i : i];
    status = outputs_bind(&s->observed, a->system, e);
    e->momentum = momentum;
    return status;
}

/* --- velocities --------------------------------------------------------------------------------------------------- */

/* Returns the point with the initial coordinates, and with velocities and momenta 1. The array of coordinates is NULL
 * if out of memory. */
static graph_point initial_point(phase_space *s) {
    const hamel_system *system = s->a->system;
    double *q = arena_doubles(s->a->memory, 2 * s->a->n), *v = q + s->a->n;
    graph_point point = {{0}, {0}, {0}};
    for (size_t i = 0; q && i < s->a->n; i++) {
        q[i] = i < s->n ? system->coordinates[i].initial : 1;
        v[i] = 1;
    }
    point.values[SYMBOL_PARAMETER] = system->parameter_values;
    point.values[SYMBOL_COORDINATE] = q;
    point.values[SYMBOL_VELOCITY] = v;
    return point;
}

static hamel_status fail_velocities(analysis *a, const char *pointer, const char *why) {
    (void)hamel_fail(a->error, HAMEL_INVALID, pointer, 0, "the velocities cannot be replaced by momenta: %s", why);
    hamel_suggest(a->error, "write the function in coordinates and momenta: p_x or momentum(x)");
    return HAMEL_INVALID;
}

/* Solves p_i = Σ_j ∂p_i/∂q'_j q'_j + p_i(q' = 0) for the velocities. Stores the expression of q'_i in velocity[i]. */
static hamel_status solve_velocities(phase_space *s, const char *pointer, graph_node *velocity) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    size_t n = s->n;
    graph_node *table = arena_alloc(a->memory, n * (n + 1), sizeof *table), *zeros = node_array(a->system, a->n);
    int *pivots = arena_alloc(a->memory, n, sizeof *pivots);
    graph_point near = initial_point(s);
    if (!table || !zeros || !pivots || !near.values[SYMBOL_COORDINATE]) return analysis_stopped(a);
    if (a->system->acceleration_energy >= 0)
        return fail_velocities(a, pointer, "an acceleration energy defines no momenta");
    for (size_t i = 0; i < n; i++) {
        graph_node p = a->equations.momentum[i], *row = table + i * (n + 1);
        for (size_t j = 0; j < n; j++) {
            row[j] = graph_partial(g, p, a->system->v[j]);
            if (row[j] >= 0 && (graph_depends(g, row[j]) & GRAPH_DEPENDS(SYMBOL_VELOCITY)))
                return fail_velocities(a, pointer, "the momenta are not linear in the velocities");
        }
        row[n] = graph_sub(g, a->system->q[n + i], graph_substitute(g, p, SYMBOL_VELOCITY, zeros, a->n));
    }
    if (!eliminate_within(g, table, n, n, &near, pivots, n, &a->work, a->memory)) return analysis_stopped(a);
    for (size_t i = 0; i < n; i++) {
        if (pivots[i] < 0)
            return fail_velocities(a, pointer,
                                   a->work.spent ? "the elimination exceeds the work budget"
                                                 : "the equations p = dL/dq' have no unique solution");
        velocity[pivots[i]] = table[i * (n + 1) + n];
    }
    return HAMEL_OK;
}

/* Fills s->functions with the bound outputs, in which momenta replace velocities. */
static hamel_status replace_velocities(phase_space *s) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    const unsigned good =
        GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME) | GRAPH_DEPENDS(SYMBOL_COORDINATE);
    graph_node *velocity = arena_alloc(a->memory, a->n, sizeof *velocity);
    bool solved = false;
    s->functions = arena_alloc(a->memory, s->count, sizeof *s->functions);
    if (!velocity || !s->functions) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++) velocity[i] = GRAPH_NONE;
    for (size_t k = 0; k < s->count; k++) {
        graph_node node = s->observed.outputs[k];
        if (node < 0) return hamel_fail(a->error, HAMEL_INVALID, s->given[k].pointer, 0, "an expression is missing");
        if (graph_depends(g, node) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) {
            hamel_status status = solved ? HAMEL_OK : solve_velocities(s, s->given[k].pointer, velocity);
            if (status != HAMEL_OK) return status;
            solved = true;
            node = graph_substitute(g, node, SYMBOL_VELOCITY, velocity, a->n);
        }
        if (node < 0) return analysis_stopped(a);
        if (graph_depends(g, node) & ~good)
            return hamel_fail(a->error, HAMEL_INVALID, s->given[k].pointer, 0,
                              "`%s` must be a function of coordinates, momenta and time", s->given[k].name);
        s->functions[k] = node;
    }
    return HAMEL_OK;
}

/* --- brackets ----------------------------------------------------------------------------------------------------- */

static graph_node bracket_of(phase_space *s, graph_node F, graph_node G) {
    graph *g = s->a->system->graph;
    const graph_node *q = s->a->system->q, *p = q + s->n;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < s->n; i++) {
        graph_node first = graph_mul(g, graph_partial(g, F, q[i]), graph_partial(g, G, p[i]));
        graph_node second = graph_mul(g, graph_partial(g, F, p[i]), graph_partial(g, G, q[i]));
        sum = graph_add(g, sum, graph_sub(g, first, second));
    }
    return sum;
}

/* Returns true if the node is 0, within its rounding error, at all random states at which it is finite. Returns false
 * if there is no such state. */
static bool vanishes_at_random(phase_space *s, graph_node node) {
    analysis *a = s->a;
    graph_point point = initial_point(s);
    double *q = (double *)point.values[SYMBOL_COORDINATE], value, error, t;
    uint64_t seed = 1;
    size_t found = 0;
    if (!q) return false;
    point.values[SYMBOL_TIME] = &t;
    for (int k = 0; k < POINTS; k++) {
        t = random_uniform(&seed, 0.1, 1);
        for (size_t i = 0; i < a->n; i++) {
            double centre = i < s->n ? a->system->coordinates[i].initial : 0;
            q[i] = centre + random_uniform(&seed, 0.1, 1);
        }
        if (!graph_values(a->system->graph, &node, 1, &point, &value, &error)) return false;
        if (!isfinite(value) || !isfinite(error)) continue;
        /* margin of 16, because the error bound neglects terms of higher order */
        if (fabs(value) > 16 * error) return false;
        found++;
    }
    return found > 0;
}

/* Stores the simplified node in *simple, and in *zero whether the node is 0. Fails only if a node cannot be created. */
static hamel_status simplify(phase_space *s, graph_node node, graph_node *simple, hamel_zero *zero) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    double number;
    bool is_zero = false;
    *simple = arrange_within(g, node, &a->work, a->memory);
    if (*simple < 0 || !identity_find_zeros(g, &node, 1, &is_zero, a->memory)) return analysis_stopped(a);
    if (graph_is_number(g, *simple, &number)) is_zero = number == 0;
    if (is_zero) *simple = graph_number(g, 0);
    *zero = is_zero                                                                ? HAMEL_IS_ZERO
            : !graph_is_number(g, *simple, NULL) && vanishes_at_random(s, *simple) ? HAMEL_ZERO_UNKNOWN
                                                                                   : HAMEL_NOT_ZERO;
    return HAMEL_OK;
}

/* Fills *to with the bracket of two functions. to->zero states whether the bracket equals `required`. */
static hamel_status describe_bracket(phase_space *s, size_t first, size_t second, double required, hamel_bracket *to) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    graph_node node = bracket_of(s, s->functions[first], s->functions[second]), simple, rest;
    if (node < 0 || system_interrupted(a->system)) return analysis_stopped(a);
    hamel_status status = simplify(s, graph_sub(g, node, graph_number(g, required)), &rest, &to->zero);
    if (status != HAMEL_OK) return status;
    hamel_zero unused;
    status = simplify(s, node, &simple, &unused);
    if (status != HAMEL_OK) return status;
    to->value = analysis_text(a, simple, TEXT_MOST);
    if (to->value) return HAMEL_OK;
    return a->memory->failed
               ? analysis_no_memory(a)
               : hamel_fail(a->error, HAMEL_LIMIT, "", 0, "the bracket is longer than %d bytes", TEXT_MOST);
}

/* Binds the functions in the phase space, replaces velocities, calls `body`, and frees the scratch memory. */
static hamel_status in_phase_space(analysis *a, const hamel_argument *given, size_t count, const char *pointer,
                                   void *result, hamel_status (*body)(phase_space *s, void *result)) {
    phase_space s = {.a = a, .given = given, .count = count, .pointer = pointer};
    arena_init(&s.scratch, a->request.limits->memory);
    hamel_status status = bind_functions(&s);
    if (status == HAMEL_OK) {
        analysis_begin_work(a);
        status = replace_velocities(&s);
    }
    if (status == HAMEL_OK) status = body(&s, result);
    arena_free(&s.scratch);
    return status;
}

static hamel_status fill_bracket(phase_space *s, void *result) {
    hamel_bracket *to = result;
    to->first = arena_format(s->a->memory, "%s", s->given[0].name);
    to->second = arena_format(s->a->memory, "%s", s->given[1].name);
    return to->first && to->second ? describe_bracket(s, 0, 1, 0, to) : analysis_no_memory(s->a);
}

static hamel_status find_bracket(analysis *a, void *result, void *context) {
    return in_phase_space(a, context, 2, "", result, fill_bracket);
}

/* Checks one fundamental bracket of the functions Q1, ..., Qn, P1, ..., Pn, which have the indices 0 to 2n − 1. */
static hamel_status check_bracket(phase_space *s, size_t i, size_t j, hamel_canonical *to) {
    size_t n = s->n;
    hamel_bracket found = {0};
    hamel_status status = describe_bracket(s, i, j, j == i + n ? 1 : 0, &found);
    if (status != HAMEL_OK) return status;
    to->brackets++;
    bool fails = found.zero == HAMEL_NOT_ZERO;
    if (found.zero == HAMEL_IS_ZERO || (to->failed && !(fails && to->failing.zero == HAMEL_ZERO_UNKNOWN)))
        return HAMEL_OK;
    found.first = arena_format(s->a->memory, "%c%zu", i < n ? 'Q' : 'P', i % n + 1);
    found.second = arena_format(s->a->memory, "%c%zu", j < n ? 'Q' : 'P', j % n + 1);
    to->failing = found;
    to->failed = true;
    return found.first && found.second ? HAMEL_OK : analysis_no_memory(s->a);
}

static hamel_status fill_canonical(phase_space *s, void *result) {
    hamel_canonical *to = result;
    hamel_status status = HAMEL_OK;
    if (s->count != 2 * s->n) /* the number of coordinates of a family is known only after binding */
        return hamel_fail(s->a->error, HAMEL_INVALID, s->pointer, 0,
                          "the transformation has %zu expressions, but the system has %zu coordinates and as many "
                          "momenta",
                          s->count, s->n);
    for (size_t i = 0; i < s->count && status == HAMEL_OK; i++)
        for (size_t j = i + 1; j < s->count && status == HAMEL_OK; j++) status = check_bracket(s, i, j, to);
    to->canonical = !to->failed;
    to->decided = !to->failed || to->failing.zero == HAMEL_NOT_ZERO;
    return status;
}

static hamel_status check_canonical(analysis *a, void *result, void *context) {
    const hamel_transformation *given = context;
    size_t count = given->Q_count + given->P_count;
    hamel_argument *all = arena_alloc(a->memory, count, sizeof *all);
    if (!all) return analysis_no_memory(a);
    if (given->Q_count != given->P_count || count == 0)
        return hamel_fail(a->error, HAMEL_INVALID, given->pointer, 0,
                          "a transformation must have as many new coordinates as new momenta, found %zu and %zu",
                          given->Q_count, given->P_count);
    if (given->Q_count > HAMEL_CANONICAL_MOST)
        return hamel_fail(a->error, HAMEL_LIMIT, given->pointer, 0, "a transformation may have at most %d coordinates",
                          HAMEL_CANONICAL_MOST);
    memcpy(all, given->Q, given->Q_count * sizeof *all);
    memcpy(all + given->Q_count, given->P, given->P_count * sizeof *all);
    return in_phase_space(a, all, count, given->pointer, result, fill_canonical);
}

hamel_status hamel_find_bracket(hamel_bracket **out, const hamel_description *d, const hamel_argument functions[2],
                                const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, find_bracket,
                            (void *)functions, out);
}

hamel_status hamel_check_canonical(hamel_canonical **out, const hamel_description *d,
                                   const hamel_transformation *transformation, const hamel_limits *limits,
                                   hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, check_canonical,
                            (void *)transformation, out);
}

void hamel_bracket_free(hamel_bracket *bracket) {
    analysis_result_free(bracket);
}

void hamel_canonical_free(hamel_canonical *found) {
    analysis_result_free(found);
}
