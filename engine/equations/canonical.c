/* canonical.c — equations in momenta: Hamilton's (Greenwood 2.3), and Routh's (2.4).
 *
 * p_i = ∂L/∂q'_i is solved for the velocities by elimination. The elimination requires that L is quadratic in the
 * velocities. Hamilton's equations use all momenta: q' = ∂H/∂p is the solution, and p' = −∂H/∂q + Q + Σ λ A follows
 * from ∂L/∂q at fixed q'. Routh's equations use only the momenta of the cyclic coordinates, which are constant. The
 * velocities of the cyclic coordinates are substituted into Lagrange's equations of the other coordinates. */
#include "engine/equations/written.h"

#include <assert.h>
#include <string.h>

typedef struct legendre {
    graph_node *velocity;     /* velocity[n]: q'_i in terms of momenta and other q', or GRAPH_NONE if not solved for */
    graph_node *acceleration; /* acceleration[n]: rates of `velocity` */
    graph_node *p;            /* p[n]: symbols of momenta; GRAPH_NONE for a coordinate without momentum symbol */
    const char **name;        /* name[n]: names of the momenta */
    size_t count;             /* number of momentum symbols */
} legendre;

static bool allocate_legendre(written *w, legendre *l) {
    l->velocity = arena_alloc(w->memory, w->n, sizeof *l->velocity);
    l->acceleration = arena_alloc(w->memory, w->n, sizeof *l->acceleration);
    l->p = arena_alloc(w->memory, w->n, sizeof *l->p);
    l->name = arena_alloc(w->memory, w->n, sizeof *l->name);
    if (!l->velocity || !l->acceleration || !l->p || !l->name) return false;
    for (size_t i = 0; i < w->n; i++) l->velocity[i] = l->acceleration[i] = l->p[i] = GRAPH_NONE;
    return true;
}

static bool name_momentum(written *w, legendre *l, size_t i) {
    l->name[i] = arena_format(w->memory, "p_%s", w->system->coordinates[i].name);
    int32_t index = l->name[i] ? written_symbol(w, l->name[i]) : -1;
    if (index < 0) return false;
    l->p[i] = graph_symbol(w->system->graph, SYMBOL_VELOCITY, index);
    l->count++;
    return true;
}

static bool read_velocities(written *w, legendre *l, const graph_node *table, const int *pivots) {
    for (size_t r = 0; r < l->count; r++) {
        const graph_node *row = table + r * (w->n + 1);
        if (pivots[r] < 0) return written_cannot(w, "the momenta do not determine the velocities", WRITTEN_BY_LAGRANGE);
        l->velocity[pivots[r]] = row[w->n];
    }
    written_accelerations(w, l->velocity, l->acceleration);
    return graph_status(w->system->graph) == HAMEL_OK;
}

static bool solve_momenta(written *w, legendre *l) {
    assert(l->count <= w->n);
    graph *g = w->system->graph;
    graph_node *table = arena_alloc(w->memory, l->count * (w->n + 1), sizeof *table);
    graph_node *rest = arena_alloc(w->memory, w->n, sizeof *rest);
    int *pivots = arena_alloc(w->memory, l->count, sizeof *pivots);
    if (!table || !rest || !pivots) return false;
    for (size_t j = 0; j < w->n; j++) rest[j] = l->p[j] >= 0 ? graph_number(g, 0) : GRAPH_NONE;
    for (size_t i = 0, r = 0; i < w->n; i++) {
        if (l->p[i] < 0) continue;
        if (!written_row(w, table + r++ * (w->n + 1), w->equations.momentum[i], l->p[i], rest, w->n))
            return written_cannot(w, "the momenta are not linear in the velocities", WRITTEN_BY_LAGRANGE);
    }
    return written_eliminate(w, table, l->count, w->n, NULL, l->count, pivots, NULL) &&
           read_velocities(w, l, table, pivots);
}

static graph_node in_momenta(written *w, const legendre *l, graph_node node) {
    graph *g = w->system->graph;
    node = graph_substitute(g, node, SYMBOL_ACCELERATION, l->acceleration, w->n);
    return graph_substitute(g, node, SYMBOL_VELOCITY, l->velocity, w->n);
}

static bool momenta(written *w, const legendre *l, const char *title) {
    written_begin(w, title);
    for (size_t i = 0; i < w->n; i++)
        if (l->p[i] >= 0 && !written_definition(w, l->name[i], w->equations.momentum[i])) return false;
    return true;
}

static graph_node momentum_rate(written *w, const legendre *l, size_t i) {
    graph *g = w->system->graph;
    graph_node rate = graph_add(g, w->equations.momentum_rate[i], written_reaction(w, i));
    return in_momenta(w, l, graph_add(g, rate, w->nonideal[i]));
}

static bool canonical_equations(written *w, const legendre *l) {
    written_begin(w, "Hamiltonian");
    if (!written_definition(w, "H", in_momenta(w, l, w->equations.jacobi))) return false;
    written_begin(w, "canonical equations");
    if (!written_velocities(w, l->velocity)) return false;
    for (size_t i = 0; i < w->n; i++) {
        const char *rate = arena_format(w->memory, "%s'", l->name[i]);
        if (!written_definition(w, rate, momentum_rate(w, l, i))) return false;
    }
    return true;
}

/* Returns R = L − Σ β_c q'_c = −h + Σ p_i q'_i, where i runs over the coordinates that are not cyclic. */
static graph_node routhian_of(written *w, const legendre *l) {
    graph *g = w->system->graph;
    graph_node sum = graph_neg(g, w->equations.jacobi);
    for (size_t i = 0; i < w->n; i++)
        if (l->p[i] < 0) sum = graph_add(g, sum, graph_mul(g, w->equations.momentum[i], w->system->v[i]));
    return in_momenta(w, l, sum);
}

static bool routhian(written *w, const legendre *l) {
    written_begin(w, "Routhian");
    return written_definition(w, "R", routhian_of(w, l));
}

/* Splits the Routhian as a function of the velocities that are not cyclic (Kelvin and Tait). */
static bool explicit_routhian(written *w, const legendre *l) {
    graph_node *velocity = arena_alloc(w->memory, w->n, sizeof *velocity);
    const char **name = arena_alloc(w->memory, w->n, sizeof *name);
    size_t count = 0;
    if (!velocity || !name) return false;
    for (size_t i = 0; i < w->n; i++) {
        if (l->p[i] >= 0) continue;
        velocity[count] = w->system->v[i];
        name[count++] = w->system->coordinates[i].name;
    }
    if (!momenta(w, l, "constant momenta of the cyclic coordinates") ||
        !write_explicit(
            w, &(written_quadratic){"Routhian", "R", routhian_of(w, l), velocity, name, count, WRITTEN_IMPRESSED}))
        return false;
    written_begin(w, "cyclic velocities");
    return written_velocities(w, l->velocity);
}

static bool routh_motion(written *w, const legendre *l) {
    graph *g = w->system->graph;
    written_begin(w, "motion: d/dt dR/dq' - dR/dq = forces + reactions");
    for (size_t i = 0; i < w->n; i++) {
        if (l->p[i] >= 0) continue;
        graph_node right = graph_add(g, written_force(w, i), written_reaction(w, i));
        if (!written_equation(w, w->system->coordinates[i].name, in_momenta(w, l, written_inertia(w, i)),
                              in_momenta(w, l, right)))
            return false;
    }
    written_begin(w, "cyclic velocities");
    return written_velocities(w, l->velocity);
}

/* Fills the expressions of the C output. The variables w are the velocities of the coordinates without a momentum
 * symbol, followed by the momenta. If `constant` is true, the rates of the momenta are 0. */
static bool canonical_program(written *w, const legendre *l, bool constant) {
    graph *g = w->system->graph;
    size_t at = 0;
    if (!written_machine(w, w->n, w->n + w->acting)) return false;
    for (int momentum = 0; momentum < 2; momentum++)
        for (size_t i = 0; i < w->n; i++) {
            if ((l->p[i] >= 0) != momentum) continue;
            w->w[at] = momentum ? l->p[i] : w->system->v[i];
            w->w_given[at] = momentum ? w->equations.momentum[i] : w->system->v[i];
            w->unknowns[at] = graph_symbol(g, SYMBOL_ACCELERATION, graph_at(g, w->w[at])->as.index);
            w->residuals[at] = momentum ? w->unknowns[at] : in_momenta(w, l, w->equations.residual[i]);
            if (momentum && !constant) w->residuals[at] = graph_sub(g, w->unknowns[at], momentum_rate(w, l, i));
            at++;
        }
    for (size_t i = 0; i < w->n; i++) w->rates[i] = l->velocity[i] >= 0 ? l->velocity[i] : w->system->v[i];
    written_add_multipliers(w, at);
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c]) w->residuals[at++] = in_momenta(w, l, w->equations.residual[w->n + c]);
    return true;
}

/* Sets the rates of the momenta of cyclic coordinates to 0. */
static void hold_momenta(written *w, legendre *l) {
    graph *g = w->system->graph;
    size_t most = w->n + w->extra_count;
    graph_node *to = arena_alloc(w->memory, most, sizeof *to);
    for (size_t i = 0; to && i < most; i++) to[i] = i < w->n ? GRAPH_NONE : graph_number(g, 0);
    for (size_t i = 0; to && i < w->n; i++)
        if (l->acceleration[i] >= 0)
            l->acceleration[i] = graph_substitute(g, l->acceleration[i], SYMBOL_ACCELERATION, to, most);
}

bool write_canonical(written *w, const char *as) {
    bool routh = strcmp(as, "routh") == 0;
    legendre l = {0};
    if (w->form != HAMEL_FORM_MOTION && w->form != HAMEL_FORM_EXPLICIT)
        return written_cannot(w, "momenta replace velocities in this formulation", WRITTEN_BY_LAGRANGE);
    if (!allocate_legendre(w, &l)) return false;
    for (size_t i = 0; i < w->n; i++)
        if ((!routh || w->equations.cyclic[i]) && !name_momentum(w, &l, i)) return false;
    if (!solve_momenta(w, &l)) return false;
    if (routh) hold_momenta(w, &l);
    if (w->form == HAMEL_FORM_EXPLICIT)
        return routh ? explicit_routhian(w, &l)
                     : written_cannot(w, "Hamilton's equations have no explicit form",
                                      "use --formulation lagrange or --formulation routh");
    return momenta(w, &l, routh ? "constant momenta of the cyclic coordinates" : "momenta") &&
           (routh ? routhian(w, &l) && routh_motion(w, &l) : canonical_equations(w, &l)) && written_constraints(w) &&
           canonical_program(w, &l, routh);
}
