/* validity.c — rejects orientations that are not rotations, and impossible masses and moments of inertia.
 *
 * Expressions of numbers and parameters are checked when they are bound. For an expression that depends on time or
 * coordinates, the condition is kept as a claim. All claims are checked together, at the initial state and at three
 * random states. The cost is therefore linear in the size of the system. Random states are projected onto the
 * constraints between coordinates of orientations: nine direction cosines are a rotation only if their constraints
 * hold. */
#include "engine/system/elements.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Largest accepted error of a rotation or of the symmetry of a matrix. Values rounded to seven decimals are accepted:
 * their errors of 5e-8 change the product of two rows by less than 2e-7. */
static const double ROUNDED = 1e-6;
/* Constant rotations with a larger error are replaced by the nearest rotation. The bound is 45 ε (ε = 2.2e-16), about
 * ten times the rounding error of an entry of R Rᵀ. */
static const double EXACT = 1e-14;
/* Accepted violation of (I1 + I2 − I3)/2 ≥ 0, relative to the largest entry. Moments rounded to three digits have
 * errors of up to 0.5 %. A thin rod or disk then violates the inequality by up to 0.5 %. */
static const double INERTIA_ROUNDING = 0.01;

/* Claims of the kinds up to CLAIM_INERTIA must hold in every state. Claims of the later kinds must hold only in the
 * initial state. */
typedef enum claim_kind {
    CLAIM_MATRIX,
    CLAIM_QUATERNION,
    CLAIM_INERTIA,
    CLAIM_MASS,
    CLAIM_SIDE,
    CLAIM_SCALAR_FIRST
} claim_kind;
enum { CLAIM_NODES = 10 };
static const size_t claim_sizes[] = {9, 4, 9, 1, CLAIM_NODES, 4}; /* number of nodes in a claim of each kind */

struct validity_claim {
    claim_kind kind;
    const char *name, *pointer;
    graph_node nodes[CLAIM_NODES];
};
typedef struct validity_claim claim;

/* A constraint that contains coordinates of orientations only, with its gradient. */
typedef struct claim_constraint {
    graph_node equation;
    const int32_t *coordinates;
    const graph_node *slopes;
    size_t count;
} claim_constraint;

typedef struct validity_work {
    hamel_system *s;
    graph_node last;
    double *q, *step, t;   /* state (q, t), and Newton step of q */
    double *value, *error; /* value of each node and its error */
    bool *held;            /* for each coordinate: true if an orientation contains the coordinate */
    claim_constraint *constraints;
    size_t constraint_count, constraint_capacity;
    uint64_t random;
} validity_work;

/* The values of a claim's nodes at one state. */
typedef struct claim_state {
    const double *x;
    const validity_work *work; /* NULL: the claim is constant */
    bool initial;
} claim_state;

enum { STATES = 4, NEWTON_STEPS = 30, SWEEPS = 40, NAMED_MAX = 3 };
static const double SMALL_STEP =
    1e-6; /* a Newton step of this size leaves an error of about 1e-12; the next step reduces it to rounding */

/* Returns " at a = 0.53, b = 1.2" for at most NAMED_MAX coordinates that occur in the claim, or "" for a constant
 * claim. */
static const char *describe_state(const claim_state *at, const claim *c) {
    const validity_work *w = at->work;
    const int32_t *found;
    const char *text = "";
    int named = 0;
    bool *seen = w ? arena_alloc(w->s->memory, w->s->coordinate_count, sizeof *seen) : NULL;
    if (!seen) return "";
    for (size_t k = 0; k < claim_sizes[c->kind]; k++) {
        size_t n = graph_support(w->s->graph, c->nodes[k], SYMBOL_COORDINATE, &found);
        for (size_t i = 0; i < n && named < NAMED_MAX && text; i++) {
            if (seen[found[i]]) continue;
            seen[found[i]] = true;
            text = arena_format(w->s->memory, "%s%s%s = %.6g", text, named++ ? ", " : " at ",
                                w->s->coordinates[found[i]].name, w->q[found[i]]);
        }
    }
    if (named == 0) text = arena_format(w->s->memory, " at t = %.6g", w->t);
    return text ? text : "";
}

static bool row_fault(hamel_system *s, const claim *c, const claim_state *at, int i, int j, double product) {
    const char *pointer = arena_format(s->memory, "%s/%d", c->pointer, j);
    if (!pointer) return binder_graph_fault(s, c->pointer);
    if (i == j)
        system_fail(s, pointer, "row %d of the matrix of `%s` has length %.9g%s, not 1", i + 1, c->name, sqrt(product),
                    describe_state(at, c));
    else
        system_fail(s, pointer, "rows %d and %d of the matrix of `%s` are not perpendicular: their product is %.9g%s",
                    i + 1, j + 1, c->name, product, describe_state(at, c));
    return hamel_suggest(s->error, "check the signs, and make the rows perpendicular and of length 1"), false;
}

/* Returns the largest error of R Rᵀ = 1. Sets rows[0] and rows[1] to the rows of R with this error, and *product to
 * their product. */
static double rotation_error(const double *R, int rows[2], double *product) {
    double most = 0;
    rows[0] = rows[1] = 0;
    *product = 1;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = i; j < 3; j++) {
            double found = R[3 * i] * R[3 * j] + R[3 * i + 1] * R[3 * j + 1] + R[3 * i + 2] * R[3 * j + 2];
            if (!(fabs(found - (i == j)) > most)) continue;
            most = fabs(found - (i == j));
            *product = found;
            rows[0] = (int)i;
            rows[1] = (int)j;
        }
    return most;
}

static bool is_rotation(hamel_system *s, const claim *c, const claim_state *at) {
    const double *R = at->x;
    int rows[2];
    double product;
    if (rotation_error(R, rows, &product) > ROUNDED) return row_fault(s, c, at, rows[0], rows[1], product);
    double determinant =
        R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
    if (determinant > 0) return true;
    system_fail(s, c->pointer, "the matrix of `%s` has determinant -1%s: it is a reflection, not a rotation", c->name,
                describe_state(at, c));
    return hamel_suggest(s->error, "reverse one axis, or exchange two, so that the axes are right-handed"), false;
}

static bool is_unit(hamel_system *s, const claim *c, const claim_state *at) {
    const double *e = at->x;
    double norm = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    if (fabs(norm - 1) <= ROUNDED) return true;
    system_fail(s, c->pointer, "the quaternion of `%s` has norm %.9g%s, not 1", c->name, norm, describe_state(at, c));
    return hamel_suggest(s->error,
                         "divide the components by their norm; if they are coordinates, the constraint `%s.norm` keeps "
                         "the norm at 1",
                         c->name),
           false;
}

static bool is_symmetric(hamel_system *s, const claim *c, const claim_state *at) {
    const double *I = at->x;
    double size = 0;
    for (int k = 0; k < 9; k++) size = fmax(size, fabs(I[k]));
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) {
            if (fabs(I[3 * i + j] - I[3 * j + i]) <= ROUNDED * size) continue;
            system_fail(s, c->pointer,
                        "the inertia matrix of `%s` is not symmetric: entry %d,%d is %.9g and entry %d,%d is %.9g%s",
                        c->name, i + 1, j + 1, I[3 * i + j], j + 1, i + 1, I[3 * j + i], describe_state(at, c));
            return hamel_suggest(
                       s->error,
                       "write the same value on both sides of the diagonal: minus a product of inertia, such as "
                       "-int(x*y dm)"),
                   false;
        }
    return true;
}

/* Returns true if ∫ x xᵀ dm = ½ tr(I) 1 − I is positive semidefinite. For principal moments the condition is equivalent
 * to the triangle inequalities I1 ≤ I2 + I3, ... (Papastavridis A24). */
static bool has_possible_moments(const hamel_system *s, const double I[9]) {
    double a[3][3], trace = I[0] + I[4] + I[8], size = 0;
    if (s->dimension == 2) return I[8] >= 0;
    for (int k = 0; k < 9; k++) size = fmax(size, fabs(I[k]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = (i == j ? 0.5 * trace + INERTIA_ROUNDING * size : 0) - 0.5 * (I[3 * i + j] + I[3 * j + i]);
    for (int k = 0; k < 3 && size > 0; k++) { /* pivots of a Cholesky factorization */
        if (!(a[k][k] > 0)) return false;
        for (int i = k + 1; i < 3; i++)
            for (int j = k + 1; j < 3; j++) a[i][j] -= a[i][k] * a[k][j] / a[k][k];
    }
    return true;
}

static bool is_inertia(hamel_system *s, const claim *c, const claim_state *at) {
    if (!is_symmetric(s, c, at)) return false;
    if (has_possible_moments(s, at->x)) return true;
    if (!at->initial) /* only a warning, because the motion may never reach this random state */
        return system_warn(s, c->pointer, "no body can have the moments of inertia of `%s`%s", c->name,
                           describe_state(at, c)),
               false;
    system_fail(s, c->pointer, "no body can have the moments of inertia of `%s`%s", c->name, describe_state(at, c));
    return hamel_suggest(s->error, s->dimension == 2 ? "give a moment of inertia that is not negative"
                                                     : "give each moment a value from 0 to the sum of the other two"),
           false;
}

static bool is_mass(hamel_system *s, const claim *c, const claim_state *at) {
    if (at->x[0] >= 0 || !at->initial) return true;
    return system_fail(s, c->pointer, "the mass of `%s` is %.9g%s; a mass must not be negative", c->name, at->x[0],
                       describe_state(at, c));
}

/* Warns if the initial quaternion is 0, 0, 0, 1, which is the identity if the scalar is written last. */
static bool has_scalar_first(hamel_system *s, const claim *c, const claim_state *at) {
    const double *e = at->x;
    if (!at->initial || e[0] != 0 || e[1] != 0 || e[2] != 0 || fabs(e[3]) != 1) return true;
    system_warn(
        s, c->pointer,
        "`%s` starts rotated by 180 degrees about the third axis: the first component of a quaternion is the scalar",
        c->name);
    return false;
}

/* Warns if a wheel touches the plane from the side opposite to the normal. x contains the normal n, the positions of
 * wheel and surface, and the radius. Other positions and curved surfaces are not checked. */
static bool is_on_its_side(hamel_system *s, const claim *c, const claim_state *at) {
    const double *n = at->x, *wheel = at->x + 3, *surface = at->x + 6, radius = at->x[9];
    double height = 0, size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) height += n[k] / size * (wheel[k] - surface[k]);
    if (!at->initial || !(radius > 0) || fabs(height + radius) > ROUNDED * radius) return true;
    system_warn(
        s, c->pointer,
        "the wheel of `%s` starts behind the surface; reverse the normal, or swap the ends if both are rotating "
        "bodies",
        c->name);
    return false;
}

static bool holds(hamel_system *s, const claim *c, const claim_state *at) {
    static bool (*const checks[])(hamel_system *, const claim *, const claim_state *) = {
        is_rotation, is_unit, is_inertia, is_mass, is_on_its_side, has_scalar_first};
    assert((size_t)c->kind < sizeof checks / sizeof *checks);
    return checks[c->kind](s, c, at);
}

/* Computes the values of a claim that contains only numbers and parameters. Returns false for other claims, or if a
 * value is not finite. */
static bool constant_numbers(hamel_system *s, const claim *c, double x[CLAIM_NODES]) {
    for (size_t k = 0; k < claim_sizes[c->kind]; k++)
        if (!binder_is_constant(s, c->nodes[k])) return false;
    for (size_t k = 0; k < claim_sizes[c->kind]; k++) {
        if (c->kind != CLAIM_MASS) binder_note_judged(s, c->nodes[k]);
        if (!binder_number(s, c->nodes[k], &x[k])) return false;
    }
    return true;
}

static bool add_claim(hamel_system *s, const claim *c) {
    system_binder *b = s->binder;
    return binder_append(s, &b->claims, &b->claim_count, &b->claim_capacity, c, sizeof *c, c->pointer);
}

/* Checks a constant claim immediately, and stores any other claim for validity_check. Adds an error and returns false
 * on failure. */
static bool check_claim(hamel_system *s, const claim *c, double x[CLAIM_NODES], bool *constant) {
    *constant = constant_numbers(s, c, x);
    return *constant ? holds(s, c, &(claim_state){x, NULL, true}) : add_claim(s, c);
}

/* Replaces R by R (3·1 − Rᵀ R)/2, a Newton step to the nearest rotation: an error ε becomes about ε². */
static void straighten(graph *g, graph_node R[9]) {
    graph_node step[9], product[9];
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            graph_node a[3] = {R[i], R[3 + i], R[6 + i]}, b[3] = {R[j], R[3 + j], R[6 + j]};
            graph_node part = graph_mul(g, graph_number(g, -0.5), node_vector_dot(g, a, b));
            step[3 * i + j] = i == j ? graph_add(g, graph_number(g, 1.5), part) : part;
        }
    node_matrix_times(g, R, step, product);
    memcpy(R, product, sizeof product);
}

static void normalize(graph *g, graph_node e[4]) {
    graph_node sum = graph_number(g, 0), two = graph_number(g, 2);
    for (int k = 0; k < 4; k++) sum = graph_add(g, sum, graph_binary(g, GRAPH_POW, e[k], two));
    graph_node norm = graph_unary(g, GRAPH_SQRT, sum);
    for (int k = 0; k < 4; k++) e[k] = graph_div(g, e[k], norm);
}

static double miss_of(const claim *c, const double *x) {
    int rows[2];
    double product;
    if (c->kind == CLAIM_QUATERNION) return fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 1);
    return rotation_error(x, rows, &product);
}

bool validity_orientation(hamel_system *s, const system_located *e, graph_node *values) {
    hamel_orientation_kind kind = e->orientation->kind;
    double x[CLAIM_NODES];
    bool constant;
    if (kind != HAMEL_QUATERNION && kind != HAMEL_MATRIX) return true;
    claim c = {.kind = kind == HAMEL_MATRIX ? CLAIM_MATRIX : CLAIM_QUATERNION,
               .name = e->name,
               .pointer = e->orientation->values.pointer};
    memcpy(c.nodes, values, claim_sizes[c.kind] * sizeof *values);
    if (c.kind == CLAIM_QUATERNION) {
        claim order = c;
        order.kind = CLAIM_SCALAR_FIRST;
        if (!check_claim(s, &order, x, &constant) && graph_status(s->graph) != HAMEL_OK) return false;
    }
    unsigned depends = 0;
    for (size_t k = 0; k < claim_sizes[c.kind]; k++) depends |= graph_depends(s->graph, c.nodes[k]);
    if (e->norm >= 0 && (depends & GRAPH_DEPENDS(SYMBOL_COORDINATE))) return true; /* NAME.norm keeps the norm */
    if (!check_claim(s, &c, x, &constant)) return false;
    if (!constant || miss_of(&c, x) <= EXACT) return true;
    if (c.kind == CLAIM_MATRIX)
        straighten(s->graph, values);
    else
        normalize(s->graph, values);
    return true;
}

/* Records that a quantity must not become negative if its parameters get other values. */
static void note_sign(hamel_system *s, const char *pointer, graph_node node, const char *what) {
    if (!(graph_depends(s->graph, node) & GRAPH_DEPENDS(SYMBOL_PARAMETER))) return;
    system_sign own = {node, binder_text(s, pointer, pointer), what};
    if (!own.pointer || !own.what ||
        !binder_append(s, &s->signs, &s->sign_count, &s->sign_capacity, &own, sizeof own, pointer))
        binder_graph_fault(s, pointer);
}

void validity_mass(hamel_system *s, const hamel_expression *mass, graph_node node, const char *name) {
    double x[CLAIM_NODES];
    bool constant;
    claim c = {.kind = CLAIM_MASS, .name = name, .pointer = mass->pointer, .nodes = {node}};
    if (check_claim(s, &c, x, &constant) && constant)
        note_sign(s, mass->pointer, node, arena_format(s->memory, "the mass of `%s`", name));
}

void validity_inertia(hamel_system *s, const hamel_expressions *inertia, const graph_node nodes[9], const char *name) {
    double x[CLAIM_NODES];
    bool constant;
    if (inertia->count == 0) return;
    claim c = {.kind = CLAIM_INERTIA, .name = name, .pointer = inertia->pointer};
    memcpy(c.nodes, nodes, 9 * sizeof *nodes);
    (void)check_claim(s, &c, x, &constant);
}

bool validity_radius(hamel_system *s, const hamel_expression *radius, graph_node node) {
    double value;
    if (!binder_is_constant(s, node)) return true;
    binder_note_judged(s, node);
    if (!binder_number(s, node, &value) || value >= 0) return true;
    system_fail(s, radius->pointer, "a radius must not be negative, found %.9g", value);
    return hamel_suggest(s->error, "let the normal point from the surface to the centre of the wheel"), false;
}

void validity_side(hamel_system *s, const char *pointer, const char *name, const graph_node normal[3],
                   graph_node radius, const system_located *wheel, const system_located *surface) {
    claim c = {.kind = CLAIM_SIDE, .name = name, .pointer = pointer};
    memcpy(c.nodes, normal, 3 * sizeof *normal);
    memcpy(c.nodes + 3, wheel->position, sizeof wheel->position);
    memcpy(c.nodes + 6, surface->position, sizeof surface->position);
    c.nodes[9] = radius;
    (void)add_claim(s, &c);
}

/* Returns a number in [−1, 1) from a linear congruential generator (Knuth's MMIX constants). Each run has the same
 * sequence. */
static double next_random(validity_work *w) {
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(w->random >> 11) / (double)((int64_t)1 << 52) - 1;
}

static void evaluate_claims(validity_work *w) {
    assert((size_t)w->last < graph_count(w->s->graph));
    graph_point at = {
        .values = {[SYMBOL_PARAMETER] = w->s->parameter_values, [SYMBOL_TIME] = &w->t, [SYMBOL_COORDINATE] = w->q}};
    graph_evaluate(w->s->graph, w->last, &at, w->value, w->error);
}

static void hold_coordinates(validity_work *w, const claim *c) {
    const int32_t *found;
    if (c->kind != CLAIM_MATRIX && c->kind != CLAIM_QUATERNION) return;
    for (size_t k = 0; k < claim_sizes[c->kind]; k++) {
        size_t n = graph_support(w->s->graph, c->nodes[k], SYMBOL_COORDINATE, &found);
        for (size_t i = 0; i < n; i++) w->held[found[i]] = true;
    }
}

/* Adds a holonomic constraint if it contains only coordinates of orientations. */
static bool add_constraint(validity_work *w, const system_constraint *c) {
    hamel_system *s = w->s;
    const int32_t *found;
    size_t n = c->equation < 0 ? 0 : graph_support(s->graph, c->equation, SYMBOL_COORDINATE, &found);
    if (n == 0 || c->inactive || c->order != CONSTRAINT_HOLONOMIC) return true;
    for (size_t i = 0; i < n; i++)
        if (!w->held[found[i]]) return true;
    int32_t *coordinates = binder_alloc(s, n, sizeof *coordinates, c->pointer);
    graph_node *slopes = binder_alloc(s, n, sizeof *slopes, c->pointer);
    claim_constraint own = {c->equation, coordinates, slopes, n};
    if (!coordinates || !slopes ||
        !binder_append(s, &w->constraints, &w->constraint_count, &w->constraint_capacity, &own, sizeof own, c->pointer))
        return false;
    memcpy(coordinates, found, n * sizeof *coordinates);
    for (size_t i = 0; i < n; i++) slopes[i] = graph_partial(s->graph, c->equation, s->q[coordinates[i]]);
    return graph_status(s->graph) == HAMEL_OK || binder_graph_fault(s, c->pointer);
}

/* Solves A step = −f by Kaczmarz's method: passes over the rows of A, the Jacobian of the constraints f = 0. At a
 * rotation, the gradients of orthonormality constraints are perpendicular, and one pass suffices. Adds the step to q
 * and returns the size of the step. */
static double take_step(validity_work *w) {
    assert(w->value && w->error);
    double most = 0;
    memset(w->step, 0, w->s->coordinate_count * sizeof *w->step);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t k = 0; k < w->constraint_count; k++) {
            const claim_constraint *c = &w->constraints[k];
            double miss = w->value[c->equation], size = 0;
            for (size_t i = 0; i < c->count; i++) {
                miss += w->value[c->slopes[i]] * w->step[c->coordinates[i]];
                size += w->value[c->slopes[i]] * w->value[c->slopes[i]];
            }
            for (size_t i = 0; i < c->count && size > 0; i++)
                w->step[c->coordinates[i]] -= miss / size * w->value[c->slopes[i]];
        }
    for (size_t i = 0; i < w->s->coordinate_count; i++) {
        double size = fabs(w->step[i]) / fmax(1, fabs(w->q[i]));
        most = fmax(most, isfinite(size) ? size : HUGE_VAL);
        w->q[i] += w->step[i];
    }
    return most;
}

/* Projects q onto the constraints by Newton's method and evaluates the graph there. Returns false if the iteration does
 * not converge. Convergence is quadratic, so one step after a small step reduces the error to rounding. */
static bool project_state(validity_work *w) {
    bool close = false;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        evaluate_claims(w);
        if (w->constraint_count == 0 || close) return true;
        close = take_step(w) <= SMALL_STEP;
        if (close) {
            evaluate_claims(w);
            (void)take_step(w);
        }
    }
    return false;
}

/* Returns true if a claim holds at this state, or if its values are not finite there. */
static bool holds_here(const validity_work *w, const claim *c, bool initial) {
    double x[CLAIM_NODES];
    for (size_t k = 0; k < claim_sizes[c->kind]; k++)
        if (!isfinite(x[k] = w->value[c->nodes[k]])) return true;
    return holds(w->s, c, &(claim_state){x, w, initial});
}

static bool prepare_states(validity_work *w) {
    hamel_system *s = w->s;
    const system_binder *b = s->binder;
    w->q = binder_alloc(s, s->coordinate_count, sizeof *w->q, "");
    w->step = binder_alloc(s, s->coordinate_count, sizeof *w->step, "");
    w->held = binder_alloc(s, s->coordinate_count, sizeof *w->held, "");
    if (!w->q || !w->step || !w->held) return false;
    (void)system_number(s, &s->description->simulation.start, NULL, &w->t);
    for (size_t k = 0; k < b->claim_count; k++) hold_coordinates(w, &b->claims[k]);
    for (size_t k = 0; k < s->constraint_count; k++)
        if (!add_constraint(w, &s->constraints[k])) return false;
    w->last = (graph_node)graph_count(s->graph) - 1;
    w->value = binder_alloc(s, graph_count(s->graph), sizeof *w->value, "");
    w->error = binder_alloc(s, graph_count(s->graph), sizeof *w->error, "");
    return w->value && w->error;
}

/* Chooses the initial state (k = 0) or a random state near it. A coordinate varies by at most max(1, |initial value|).
 * In the last state, this bound is the largest one for all coordinates of orientations. A coordinate that starts at 0
 * may become as large as the others. */
static void choose_state(validity_work *w, int k) {
    const hamel_system *s = w->s;
    double largest = 1;
    for (size_t i = 0; i < s->coordinate_count; i++)
        if (w->held[i]) largest = fmax(largest, fabs(s->coordinates[i].initial));
    for (size_t i = 0; i < s->coordinate_count; i++) {
        double q = s->coordinates[i].initial, size = k == STATES - 1 && w->held[i] ? largest : fmax(1, fabs(q));
        w->q[i] = k == 0 ? q : q + next_random(w) * size;
    }
    if (k > 0) w->t += fabs(next_random(w));
}

/* Returns the number of states to check. If no claim must hold in every state, only the initial state is checked. */
static int count_states(const system_binder *b) {
    for (size_t i = 0; i < b->claim_count; i++)
        if (b->claims[i].kind <= CLAIM_INERTIA) return STATES;
    return 1;
}

void validity_check(hamel_system *s) {
    const system_binder *b = s->binder;
    validity_work w = {.s = s, .random = 1};
    if (b->claim_count == 0 || graph_status(s->graph) != HAMEL_OK || !prepare_states(&w)) return;
    bool *settled =
        binder_alloc(s, b->claim_count, sizeof *settled, ""); /* true if the claim failed at an earlier state */
    for (int k = 0; settled && k < count_states(b); k++) {
        choose_state(&w, k);
        if (!project_state(&w)) continue;
        for (size_t i = 0; i < b->claim_count; i++)
            if (!settled[i]) settled[i] = !holds_here(&w, &b->claims[i], k == 0);
    }
}
