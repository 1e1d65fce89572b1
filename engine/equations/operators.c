/* operators.c — the forms of Nielsen, Tsenov, and Mangeron and Deleanu. The left-hand sides are combinations of
 * derivatives of T and of one of its rates T', T'' and T''' (mechanics/kinetic_rates.h). */
#include "engine/equations/written.h"

#include "engine/mechanics/kinetic_rates.h"
#include "engine/system/binder.h"

#include <assert.h>

/* Writes K and its rates up to K^(m), where K is T or L and m is the order of the form. */
static bool write_rates(written *w, const kinetic_rates *rates, bool natural) {
    written_begin(w, natural ? "kinetic energy and its rates" : "Lagrangian and its rates");
    for (int j = 0; j <= rates->order; j++) {
        const char *name = arena_format(w->memory, "%s%.*s", natural ? "T" : "L", j, "'''");
        if (!written_definition(w, name, rates->rate[j])) return false;
    }
    return true;
}

static bool write_derivatives(written *w, const kinetic_rates *rates, bool natural) {
    const char *K = natural ? "T" : "L";
    written_begin(w, arena_format(w->memory, "derivatives: D[k] = d%s%.*s/dk%.*s, B[k] = d%s/dk", K, rates->order,
                                  "'''", rates->order, "'''", K));
    for (size_t i = 0; i < w->n; i++)
        if (!written_entry(w, "D", (const char *const[3]){w->system->coordinates[i].name}, rates->upper[i]))
            return false;
    for (size_t i = 0; i < w->n; i++)
        if (!written_entry(w, "B", (const char *const[3]){w->system->coordinates[i].name}, rates->lower[i]))
            return false;
    return true;
}

bool write_operators(written *w) {
    kinetic_rates rates;
    bool natural;
    int order = 1 + (int)w->form - (int)HAMEL_FORM_NIELSEN;
    graph_node K;
    assert(1 <= order && order <= KINETIC_RATES_MOST);
    w->stride =
        w->n + w->system->quasi_count + 2 * w->m; /* above the indices of all velocities that freedoms_solve may add */
    if (!written_use_energy(w, &K, &natural) || !kinetic_rates_derive(&rates, w->system, K, order, w->stride))
        return false;
    if (!write_rates(w, &rates, natural) || !write_derivatives(w, &rates, natural)) return false;
    for (size_t i = 0; i < w->n; i++) w->inertia[i] = kinetic_rates_operator(&rates, w->system, i);
    const char *forces = natural ? "forces" : WRITTEN_IMPRESSED;
    w->law = order == 1
                 ? arena_format(w->memory, "motion: D[k] - 2*B[k] = %s + reactions", forces)
                 : arena_format(w->memory, "motion: (D[k] - %d*B[k])/%d = %s + reactions", order + 1, order, forces);
    return w->law && graph_status(w->system->graph) == HAMEL_OK;
}
