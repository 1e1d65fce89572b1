/* impact_record.c — fills the report about the impulses of an event, except for the theorems (impact_theorems.c). */
#include "engine/simulate/impact_record.h"

#include "engine/base/tolerances.h"
#include "engine/linear/redundancy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The part of T that is linear in the velocities is treated as 0 if it is below this fraction of T. Rounding errors are
 * about 1e-16 times the number of terms of T, so the bound allows 1e4 terms. */
static const double ODD_ROUNDING = 1e-12;

static size_t most_percussions(const hamel_model *model) {
    size_t most = 0;
    for (size_t i = 0; i < model->events.count; i++)
        if (model->events.list[i].percussion_count > most) most = model->events.list[i].percussion_count;
    return most;
}

impact_record *impact_record_create(const hamel_model *model, arena *memory) {
    size_t n = model->n, m = model->m, i = 0;
    while (i < model->events.count && !model_event_strikes(&model->events.list[i])) i++;
    if (i == model->events.count) return NULL;
    impact_record *r = arena_alloc(memory, 1, sizeof *r);
    if (!r) return NULL;
    r->model = model;
    r->before = arena_alloc(memory, m, sizeof *r->before);
    r->during = arena_alloc(memory, m, sizeof *r->during);
    r->list = arena_alloc(memory, m, sizeof *r->list);
    r->names = arena_alloc(memory, n, sizeof *r->names);
    r->kinetic_work = model_workspace(model, model->events.kinetic, memory);
    bool good =
        ARENA_DOUBLES(memory, {&r->v, n}, {&r->after, n}, {&r->momentum, n}, {&r->each, n * most_percussions(model)},
                      {&r->rate, m}, {&r->restitution, m}, {&r->multipliers, m}, {&r->impulses, m}, {&r->scratch, n});
    if (!good || memory->failed) return NULL;
    for (size_t k = 0; k < n; k++) r->names[k] = model->system->coordinates[k].name;
    r->impact = (hamel_impact){.impulses = r->impulses,
                               .percussion = r->momentum,
                               .coordinates = r->names,
                               .velocity_count = n,
                               .constraints = r->list,
                               .theorems = r->theorems};
    return r;
}

void impact_record_begin(impact_record *r, const bool *active) {
    memcpy(r->before, active, r->model->m * sizeof *active);
    r->struck = false;
}

static bool lists(const int32_t *list, size_t count, size_t c) {
    size_t i = 0;
    while (i < count && (size_t)list[i] != c) i++;
    return i < count;
}

/* Returns Appell's type, 1 to 4, of the constraint c, which acts during the shock. An event deactivates constraints
 * before the shock and activates constraints after the shock. */
static int type_of(const impact_record *r, const model_event *event, size_t c) {
    bool stays = r->before[c] && !lists(event->deactivate, event->deactivate_count, c);
    return model_impact_type(r->before[c], stays || lists(event->activate, event->activate_count, c));
}

/* Returns false if out of memory. */
static bool mark_unique(impact_record *r, const dynamics *k) {
    redundancy found;
    bool good = redundancy_find(&found, &r->model->dynamics.A, k->values, r->during, k->survey.usual, RANK_TOLERANCE) ==
                HAMEL_OK;
    for (size_t c = 0, at = 0; good && c < r->model->m; c++)
        if (r->during[c]) r->list[at++].unique = !found.involved[c];
    r->impact.redundant = good ? found.count : 0;
    redundancy_free(&found);
    return good;
}

/* Sets r->list to the constraints that act during the shock, except for their impulses. change[n] is v⁺ − v⁻. */
static void list_constraints(impact_record *r, const dynamics *k, const model_event *event, const double *change) {
    const hamel_model *model = r->model;
    hamel_impact *out = &r->impact;
    double *rates = r->multipliers; /* A (v⁺ − v⁻); the caller sets r->multipliers afterwards */
    memset(rates, 0, model->m * sizeof *rates);
    sparse_block_multiply(&model->dynamics.A, k->values, 1, change, rates);
    out->constraint_count = 0;
    out->equation_count = model->n;
    for (size_t c = 0; c < model->m; c++) {
        if (!r->during[c]) continue;
        hamel_impact_constraint *to = &r->list[out->constraint_count++];
        *to = (hamel_impact_constraint){.name = model->system->constraints[c].name,
                                        .type = type_of(r, event, c),
                                        .before = r->rate[c],
                                        .after = r->rate[c] + rates[c],
                                        .unique = true};
        out->equation_count += to->type <= 2;
    }
}

static void note_percussions(impact_record *r, const model_event *event, const double *values) {
    size_t n = r->model->n;
    r->percussion_count = event->percussion_count;
    r->impact.has_percussion = event->percussion_count > 0;
    memset(r->each, 0, n * event->percussion_count * sizeof *r->each);
    for (size_t k = 0; k < event->momentum_count; k++)
        r->each[(size_t)event->momentum_rows[k] * n + (size_t)event->momentum_columns[k]] =
            values[event->at_momentum + k];
}

static double kinetic(const impact_record *r, const dynamics *k, const double *v) {
    double out;
    program_inputs in = model_inputs(r->model, &k->t, k->q, v, NULL, NULL, NULL);
    program_evaluate(r->model->events.kinetic, &in, r->kinetic_work, &out);
    return out;
}

/* Sets has_energy, the kinetic energies and `work` of the report. Returns true if T has terms linear in the
 * velocities. */
static bool note_energies(impact_record *r, const dynamics *k) {
    hamel_impact *out = &r->impact;
    size_t n = r->model->n;
    double *impulse = r->scratch, mirrored[2];
    out->has_energy = false;
    if (!r->model->events.kinetic) return false;
    out->kinetic_before = kinetic(r, k, r->v);
    out->kinetic_after = kinetic(r, k, r->after);
    out->work = 0;
    out->has_energy = isfinite(out->kinetic_before) && isfinite(out->kinetic_after);
    memcpy(impulse, r->momentum, n * sizeof *impulse);
    sparse_block_multiply_transposed(&r->model->dynamics.A, k->values, 1, r->multipliers, impulse);
    for (size_t i = 0; i < n; i++) out->work += 0.5 * impulse[i] * (r->v[i] + r->after[i]);
    for (size_t i = 0; i < n; i++) impulse[i] = -r->v[i];
    mirrored[0] = kinetic(r, k, impulse);
    for (size_t i = 0; i < n; i++) impulse[i] = -r->after[i];
    mirrored[1] = kinetic(r, k, impulse);
    double linear[2] = {0.5 * (out->kinetic_before - mirrored[0]), 0.5 * (out->kinetic_after - mirrored[1])};
    double size = fmax(fabs(out->kinetic_before), fabs(out->kinetic_after));
    bool odd = fmax(fabs(linear[0]), fabs(linear[1])) > ODD_ROUNDING * size;
    if (odd) out->work += linear[1] - linear[0];
    return odd;
}

hamel_status impact_record_note(impact_record *r, dynamics *k, const model_event *event, const double *values,
                                const impact_data *data) {
    const hamel_model *model = r->model;
    size_t n = model->n, m = model->m;
    assert(k->model == model && model_event_strikes(event));
    r->struck = true;
    memcpy(r->v, data->v, n * sizeof *r->v);
    for (size_t i = 0; i < n; i++) r->after[i] = data->v[i] + data->change[i];
    memcpy(r->momentum, data->momentum, n * sizeof *r->momentum);
    memcpy(r->during, k->discrete_state.active, m * sizeof *r->during);
    for (size_t c = 0; c < m; c++) r->during[c] = r->during[c] && model->order[c] != CONSTRAINT_ACCELERATION;
    memcpy(r->rate, dynamics_velocity(k), m * sizeof *r->rate);
    memset(r->restitution, 0, m * sizeof *r->restitution);
    for (size_t i = 0; i < event->impulse_count; i++) {
        r->restitution[event->impulses[i]] = data->restitutions[i];
        r->impulses[i] = data->multipliers[event->impulses[i]];
    }
    r->impact.impulse_count = event->impulse_count;
    note_percussions(r, event, values);
    list_constraints(r, k, event, data->change);
    memcpy(r->multipliers, data->multipliers, m * sizeof *r->multipliers);
    for (size_t c = 0, at = 0; c < m; c++)
        if (r->during[c]) r->list[at++].impulse = r->multipliers[c];
    if (!mark_unique(r, k)) return HAMEL_NO_MEMORY;
    bool odd = note_energies(r, k);
    return impact_theorems_check(r, k, odd);
}
