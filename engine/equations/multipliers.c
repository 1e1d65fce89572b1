/* multipliers.c — writes equations in the accelerations of all coordinates. Lagrange's equations contain multipliers
 * (Greenwood 2.36). For formulations that compute the reaction by linear algebra (Udwadia & Kalaba 1992; Gauss), the
 * file writes the matrices M, Q, A and b instead. */
#include "engine/equations/written.h"

#include <assert.h>
#include <string.h>

static bool motion(written *w) {
    written_begin(w, w->form == HAMEL_FORM_MOTION ? "motion: d/dt dL/dq' - dL/dq = forces + reactions" : "motion");
    for (size_t i = 0; i < w->n; i++) {
        graph_node right = graph_add(w->system->graph, written_force(w, i), written_reaction(w, i));
        if (!written_equation(w, w->system->coordinates[i].name, written_inertia(w, i), right)) return false;
    }
    return true;
}

static bool pattern_lines(written *w, const char *letter, const matrix_pattern *p, bool rows_are_constraints) {
    hamel_system *s = w->system;
    for (size_t k = 0; k < p->count; k++) {
        const matrix_entry *entry = &p->entries[k];
        if (rows_are_constraints && !w->acts[entry->row]) continue;
        const char *row = rows_are_constraints ? s->constraints[entry->row].name : s->coordinates[entry->row].name;
        const char *const index[3] = {row, s->coordinates[entry->column].name};
        if (!written_upright_entry(w, letter, index, entry->node)) return false;
    }
    return true;
}

static bool vector_lines(written *w, const char *letter, const graph_node *values, size_t count, bool constraints) {
    assert(count == (constraints ? w->m : w->n));
    for (size_t i = 0; i < count; i++) {
        const char *of = constraints ? w->system->constraints[i].name : w->system->coordinates[i].name;
        if (graph_is_zero(w->system->graph, values[i]) || (constraints && !w->acts[i])) continue;
        if (!written_upright_entry(w, letter, (const char *const[3]){of}, values[i])) return false;
    }
    return true;
}

/* Writes M, Q, A and b, and the force C of nonideal constraints (Udwadia 2000), which is added to Q. */
static bool matrices(written *w, const char *title) {
    written_begin(w, title);
    return pattern_lines(w, "M", &w->equations.M, false) && vector_lines(w, "Q", w->equations.Q, w->n, false) &&
           vector_lines(w, "C", w->nonideal, w->n, false) && pattern_lines(w, "A", &w->equations.A, true) &&
           vector_lines(w, "b", w->equations.b, w->m, true);
}

static bool machine(written *w) {
    hamel_system *s = w->system;
    if (!written_machine(w, w->n, w->n + w->acting)) return false;
    written_add_multipliers(w, w->n);
    for (size_t i = 0; i < w->n; i++) {
        w->rates[i] = w->w[i] = w->w_given[i] = s->v[i];
        w->unknowns[i] = s->a[i];
    }
    memcpy(w->residuals, w->equations.residual, w->n * sizeof *w->residuals);
    for (size_t c = 0, at = w->n; c < w->m; c++)
        if (w->acts[c]) w->residuals[at++] = w->equations.residual[w->n + c];
    return true;
}

bool write_multipliers(written *w, const char *name) {
    bool done, ideal = !w->equations.nonideal && w->equations.F.count == 0;
    const char *force = ideal ? "Q" : "(Q + C)";
    if (w->form == HAMEL_FORM_EXPLICIT) return write_explicit_lagrange(w);
    if (w->form == HAMEL_FORM_JOURDAIN) return write_jourdain(w);
    if (w->form == HAMEL_FORM_CENTRAL) return write_central(w);
    if (w->form == HAMEL_FORM_ENERGY_RATE) return write_energy_rate(w);
    if (w->form != HAMEL_FORM_MOTION || strcmp(name, "lagrange") == 0)
        done = motion(w);
    else if (strcmp(name, "gauss") == 0)
        done = matrices(w, arena_format(w->memory,
                                        "motion: q'' minimizes (q'' - a)^T M (q'' - a)/2 subject to A q'' = b, where "
                                        "a = M^-1 %s (M is symmetric; entries not listed are 0)",
                                        force));
    else
        done = matrices(w, arena_format(w->memory,
                                        "motion: M q'' = %s + A^T (A M^-1 A^T)^+ (b - A M^-1 %s) "
                                        "(M is symmetric; entries not listed are 0)",
                                        ideal ? "Q" : "Q + C", force));
    return done && written_constraints(w) && machine(w);
}
