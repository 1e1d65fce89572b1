/* formulation.c — the table of formulations. */
#include "engine/mechanics/formulation.h"

#include "engine/base/text_buffer.h"

#include <string.h>

enum { DENSE_MOST = 500 }; /* number of coordinates up to which a dense matrix of doubles takes at most 2 MB */

/* The explicit equation of motion of constrained systems:
 *
 *     q'' = a + M^(−1/2) (A M^(−1/2))⁺ (b − A a),     a = M⁻¹ Q           Udwadia & Kalaba 1992, eq. 2.5
 *
 * A pseudo-inverse gives the reaction of least M⁻¹-norm, so A may have any rank. Multipliers are computed from the
 * reaction afterwards. Any square root of M may be used. With M = L Lᵀ, the pseudo-inverse is that of A L⁻ᵀ
 * (engine/linear/kkt.c).
 * Gauss's principle of least constraint:
 *
 *     G(q'') = ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b,     M a = Q      Gauss 1829; Greenwood 4.320-4.340;
 *                                                                             Papastavridis A94
 *
 * The accelerations solve a least-squares problem (engine/linear/least_constraint.h) that allows redundant constraints
 * and has no multipliers. The principle also holds for constraints on accelerations. Both formulations use M, Q, A and
 * b of Lagrange's equations.
 * Hadamard's equations are Lagrange's equations E_k = Q_k, projected by the velocity constraints in solved form:
 *
 *     E_I + Σ_D b_DI E_D = Q_I + Σ_D b_DI Q_D,     q'_D = Σ_I b_DI q'_I + b_D      Papastavridis 3.3.20 and Intro 3.8
 *
 * They are Maggi's equations with the independent velocities q'_I as quasi-velocities. If a constraint is not linear in
 * the velocities, b_DI is ∂q'_D/∂q'_I. Runs compute the coefficients b numerically at each state
 * (engine/dynamics/velocity_basis.h). If the constraints no longer determine the velocities q'_D accurately, other
 * dependent coordinates are chosen. */

/* clang-format off */
const formulation formulation_lagrange = {
    "lagrange", "Lagrange's equations with multipliers, constraints differentiated to the level of accelerations",
    SOLVER_MULTIPLIERS, VARIABLES_VELOCITIES, NEED_ANY, lagrange_derive};
static const formulation udwadia_kalaba = {
    "udwadia-kalaba",
    "the Udwadia-Kalaba equation: reactions of least norm by a pseudo-inverse; redundant constraints are allowed",
    SOLVER_LEAST_REACTION, VARIABLES_VELOCITIES, NEED_ANY, lagrange_derive};
static const formulation gauss = {
    "gauss", "Gauss's principle of least constraint: accelerations as a least-squares problem",
    SOLVER_LEAST_CONSTRAINT, VARIABLES_VELOCITIES, NEED_ANY & ~NEED_SIZE, lagrange_derive};
static const formulation maggi = {
    "maggi", "Maggi's equations: Lagrange's equations projected onto the free directions, in quasi-velocities",
    SOLVER_PROJECTION, VARIABLES_VELOCITIES, NEED_ANY & ~NEED_SIZE, maggi_derive};
static const formulation kane = {
    "kane", "Kane's equations: d'Alembert's principle for particles and bodies, in quasi-velocities",
    SOLVER_PROJECTION, VARIABLES_VELOCITIES, NEED_NONLINEAR_CONSTRAINTS, kane_derive};
static const formulation gibbs_appell = {
    "gibbs-appell", "the Gibbs-Appell equations: derivatives of an energy of accelerations, in quasi-velocities",
    SOLVER_PROJECTION, VARIABLES_VELOCITIES, NEED_NONLINEAR_CONSTRAINTS | NEED_ACCELERATION_ENERGY, gibbs_appell_derive};
static const formulation boltzmann_hamel = {
    "boltzmann-hamel",
    "the Boltzmann-Hamel equations: Lagrange's equations in quasi-velocities, with Hamel's coefficients",
    SOLVER_TRANSITIVITY, VARIABLES_VELOCITIES, NEED_LAGRANGIAN, boltzmann_hamel_derive};
static const formulation hadamard = {
    "hadamard", "Hadamard's equations: Lagrange's equations projected by constraints solved for dependent velocities",
    SOLVER_PROJECTION, VARIABLES_VELOCITIES, NEED_ANY & ~NEED_SIZE, lagrange_derive};
static const formulation voronets = {
    "voronets", "Voronets' equations: dependent velocities eliminated from the kinetic energy, with coefficients w",
    SOLVER_TRANSITIVITY, VARIABLES_VELOCITIES, NEED_LAGRANGIAN, voronets_derive};
const formulation formulation_chaplygin = {
    "chaplygin", "Chaplygin's equations: those of Voronets if nothing depends on the dependent coordinates",
    SOLVER_TRANSITIVITY, VARIABLES_VELOCITIES, NEED_LAGRANGIAN, chaplygin_derive};
const formulation formulation_hamilton = {
    "hamilton", "Hamilton's canonical equations in coordinates and momenta",
    SOLVER_MULTIPLIERS, VARIABLES_MOMENTA, NEED_ANY & ~NEED_ACCELERATION_ENERGY, hamilton_derive};
const formulation formulation_routh = {
    "routh", "Routh's equations: velocities of cyclic coordinates are eliminated by their momenta",
    SOLVER_MULTIPLIERS, VARIABLES_NONCYCLIC, NEED_LAGRANGIAN | NEED_NONLINEAR_CONSTRAINTS, routh_derive};
static const formulation *const formulations[] = {
    &formulation_lagrange, &udwadia_kalaba, &gauss, &maggi, &kane, &gibbs_appell, &boltzmann_hamel, &hadamard, &voronets,
    &formulation_chaplygin, &formulation_hamilton, &formulation_routh};
/* clang-format on */
enum { FORMULATION_COUNT = sizeof formulations / sizeof *formulations };

const formulation *formulation_at(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index] : NULL;
}

const formulation *formulation_named(const char *name) {
    /* Multipliers allow redundant constraints and are cheap to compute. Times were measured with the 162 shipped
     * examples that all compared formulations support. In the median, runs with Maggi's or Kane's equations take 1.4
     * times as long as with multipliers. Runs with the Boltzmann-Hamel equations take 1.6 times as long. Only one
     * example, which has redundant constraints, is faster in quasi-velocities by more than a tenth. */
    if (!name || strcmp(name, "auto") == 0) return &formulation_lagrange;
    for (size_t i = 0; i < FORMULATION_COUNT; i++)
        if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
    return NULL;
}

static const char *const reasons[] = {
#define X(name, reason) reason,
    FORMULATION_NEED_LIST(X)
#undef X
};

static bool has_nonlinear_constraint(hamel_system *s) {
    for (size_t c = 0; c < s->constraint_count; c++) {
        int32_t *list;
        if (s->constraints[c].order != CONSTRAINT_VELOCITY) continue;
        size_t count = node_support(s, s->constraints[c].equation, SYMBOL_VELOCITY, &list);
        for (size_t i = 0; i < count; i++) {
            graph_node slope = graph_partial(s->graph, s->constraints[c].equation, s->v[list[i]]);
            if (graph_depends(s->graph, slope) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return true;
        }
    }
    return false;
}

static unsigned needs_of(hamel_system *s) {
    unsigned needs = 0;
    if (s->lagrangian >= 0) needs |= NEED_LAGRANGIAN;
    if (s->acceleration_energy >= 0) needs |= NEED_ACCELERATION_ENERGY;
    if (s->coordinate_count > DENSE_MOST) needs |= NEED_SIZE;
    if (has_nonlinear_constraint(s)) needs |= NEED_NONLINEAR_CONSTRAINTS;
    return needs;
}

static hamel_status refuse_needs(const formulation *f, hamel_system *s, unsigned needs, const char *reason) {
    const char *pointer = s->description->simulation.formulation_pointer;
    text_buffer names;
    text_buffer_init(&names, 1024);
    for (size_t i = 0; i < FORMULATION_COUNT; i++)
        if (formulations[i] != f && !(needs & ~formulations[i]->serves))
            text_buffer_printf(&names, "%s%s", names.length ? ", " : "", formulations[i]->name);
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer ? pointer : "/simulation/formulation", 0,
                     "the formulation `%s` does not support this system: %s", f->name, reason);
    if (names.bytes && !names.failed) hamel_suggest(s->error, "use one of %s", names.bytes);
    text_buffer_free(&names);
    return s->error->status;
}

hamel_status formulation_serves(const formulation *f, hamel_system *s) {
    if (f->serves == NEED_ANY) return HAMEL_OK;
    unsigned needs = needs_of(s), unmet = needs & ~f->serves;
    for (size_t k = 0; k < NEED_COUNT; k++)
        if (unmet & (1u << k)) return refuse_needs(f, s, needs, reasons[k]);
    return equations_status(s);
}

hamel_status formulation_refuse(const formulation *f, hamel_system *s, const char *reason) {
    return refuse_needs(f, s, needs_of(s), reason);
}

const char *hamel_formulation_name(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index]->name : NULL;
}
const char *hamel_formulation_summary(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index]->summary : NULL;
}
