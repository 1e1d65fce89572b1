/* write_analysis.c — writes the results of analyses as JSON. */
#include "api/analyze.h"
#include "api/json/builder.h"
#include "engine/analyze/integrability.h"

static void add_names(json_builder *b, cJSON *object, const char *key, const hamel_names *given) {
    json_add_texts(b, object, key, given->items, given->count);
}

void api_add_redundancy(json_builder *b, cJSON *object, const hamel_redundancy *r) {
    const hamel_redundancy none = {0}, *found = r != NULL ? r : &none;
    cJSON *redundancy = json_add_object(b, object, "redundancy"), *sets = json_add_list(b, redundancy, "sets");
    for (size_t k = 0; k < found->set_count && !b->failed; k++)
        json_append_texts(b, json_append(b, sets, cJSON_CreateArray()), found->sets[k].items, found->sets[k].count);
    add_names(b, redundancy, "not_unique", &found->not_unique);
}

static void add_constraint(json_builder *b, cJSON *to, const hamel_constraint_facts *facts) {
    cJSON *object = json_append_object(b, to);
    json_add_text(b, object, "name", facts->name);
    json_add_text(b, object, "kind", facts->kind);
    json_add_truth(b, object, "linear", facts->linear);
    json_add_truth(b, object, "time_dependent", facts->time_dependent);
    json_add_truth(b, object, "rheonomic", facts->rheonomic);
    json_add_truth(b, object, "catastatic", facts->catastatic);
    json_add_truth(b, object, "homogeneous", facts->homogeneous);
    json_add_truth(b, object, "ideal", facts->ideal);
    json_add_truth(b, object, "conservative", facts->conservative);
    json_add_truth(b, object, "redundant", facts->redundant);
    json_add_truth(b, object, "unique", facts->unique);
}

static void add_integral(json_builder *b, cJSON *to, const hamel_integral *integral) {
    cJSON *object = json_append_object(b, to);
    json_add_text(b, object, "integral", integral->integral);
    cJSON *terms = json_add_list(b, object, "constraints");
    for (size_t k = 0; k < integral->term_count && !b->failed; k++) {
        cJSON *term = json_append_object(b, terms);
        json_add_text(b, term, "name", integral->terms[k].constraint);
        json_add_text(b, term, "factor", integral->terms[k].factor);
    }
}

static void add_dimensions(json_builder *b, cJSON *object, const char *key, const size_t *dimensions, size_t count) {
    cJSON *list = json_add_list(b, object, key);
    for (size_t k = 0; k < count && !b->failed; k++) json_append(b, list, cJSON_CreateNumber((double)dimensions[k]));
}

static void add_flags(json_builder *b, cJSON *object, const hamel_report *r) {
    static const char *const keys[] = {"derived_flag", "growth", "degree", "with_time", "exact", "decided_by"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys && !r->growth_vector; k++) json_add_null(b, object, keys[k]);
    if (!r->growth_vector) return;
    add_dimensions(b, object, keys[0], r->derived_flag, r->derived_flag_count);
    add_dimensions(b, object, keys[1], r->growth_vector, r->growth_vector_count);
    json_add_number(b, object, keys[2], (double)r->growth_vector_count);
    json_add_truth(b, object, keys[3], r->with_time);
    json_add_truth(b, object, keys[4], r->exact);
    json_add_text(b, object, keys[5], r->flags_decided_by);
}

static void add_start(json_builder *b, cJSON *holonomy, const hamel_start_verdict *s) {
    if (!s->differs) {
        json_add_null(b, holonomy, "at_start");
        return;
    }
    cJSON *object = json_add_object(b, holonomy, "at_start");
    bool known = s->verdict != HAMEL_VERDICT_UNDETERMINED;
    json_add_number(b, object, "velocity_constraints", (double)s->velocity_rank);
    json_add_text(b, object, "verdict", hamel_verdict_name(s->verdict));
    json_add_number_or_null(b, object, "integrable", known, (double)s->integrable);
    json_add_number_or_null(b, object, "accessible_dimension", known, (double)s->accessible_dimension);
    add_names(b, object, "while", &s->conditions);
}

static void add_residuals(json_builder *b, cJSON *object, const char *key, const hamel_integrability_residual *items,
                          size_t count) {
    cJSON *list = json_add_list(b, object, key);
    for (size_t k = 0; k < count && !b->failed; k++) {
        cJSON *item = json_append_object(b, list);
        if (items[k].of) json_add_text(b, item, "of", items[k].of);
        json_add_texts(b, item, "variables", items[k].variables, items[k].variables[2] ? 3 : 2);
        json_add_text(b, item, "expression", items[k].expression);
        json_add_number_or_null(b, item, "value", items[k].has_value, items[k].value);
    }
}

static void add_integrability(json_builder *b, cJSON *holonomy, const hamel_integrability *i) {
    cJSON *object = json_add_object(b, holonomy, "integrability");
    cJSON *list = json_add_list(b, object, "forms");
    for (size_t k = 0; k < i->form_count && !b->failed; k++) {
        const hamel_integrability_form *form = &i->forms[k];
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "constraint", form->constraint);
        if (form->has_components)
            add_residuals(b, item, "frobenius", form->frobenius, form->frobenius_count);
        else
            json_add_null(b, item, "frobenius");
        json_add_number(b, item, "rank", (double)form->rank);
        json_add_number(b, item, "joint_rank", (double)form->joint_rank);
        json_add_number(b, item, "system_rank", (double)form->system_rank);
    }
    add_residuals(b, object, "solved", i->solved, i->solved_count);
}

static void add_holonomy(json_builder *b, cJSON *root, const hamel_report *r) {
    cJSON *object = json_add_object(b, root, "holonomy");
    bool known = r->verdict != HAMEL_VERDICT_UNDETERMINED;
    json_add_number(b, object, "velocity_constraints", (double)r->velocity_rank);
    json_add_number_or_null(b, object, "integrable", known, (double)r->integrable);
    json_add_text(b, object, "verdict", hamel_verdict_name(r->verdict));
    json_add_number_or_null(b, object, "accessible_dimension", known, (double)r->accessible_dimension);
    json_add_number(b, object, "holonomic_constraints", (double)r->holonomic_rank);
    add_flags(b, object, r);
    add_start(b, object, &r->at_start);
    add_integrability(b, object, r->integrability);
    add_names(b, object, "left_out", &r->left_out);
    cJSON *integrals = json_add_list(b, object, "integrals");
    for (size_t k = 0; k < r->integral_count && !b->failed; k++) add_integral(b, integrals, &r->integrals[k]);
}

static void add_symmetries(json_builder *b, cJSON *root, const hamel_symmetries *list) {
    cJSON *array = json_add_list(b, root, "symmetries");
    for (size_t k = 0; k < list->count && !b->failed; k++) {
        const hamel_symmetry *symmetry = &list->items[k];
        cJSON *item = json_append_object(b, array);
        json_add_text(b, item, "conserved", symmetry->conserved);
        json_add_number(b, item, "time_shift", symmetry->time_shift);
        cJSON *displacement = json_add_object(b, item, "displacement");
        for (size_t i = 0; i < symmetry->displacement_count && !b->failed; i++)
            json_add_text(b, displacement, symmetry->displacements[i].coordinate, symmetry->displacements[i].value);
    }
    if (!list->quadrature) return;
    cJSON *quadrature = json_add_object(b, root, "quadrature");
    json_add_text(b, quadrature, "variable", list->quadrature->variable);
    json_add_text(b, quadrature, "rate_squared", list->quadrature->rate_squared);
    json_add_text(b, quadrature, "time", list->quadrature->time);
}

static void add_transitivity(json_builder *b, cJSON *root, const hamel_report *r) {
    cJSON *object = json_add_object(b, root, "transitivity");
    add_names(b, object, "velocities", &r->frame);
    cJSON *list = json_add_list(b, object, "coefficients");
    for (size_t k = 0; k < r->coefficient_count && !b->failed; k++) {
        const hamel_coefficient *c = &r->coefficients[k];
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "of", c->of);
        json_add_text(b, item, "first", c->first);
        json_add_text(b, item, "second", c->second);
        json_add_text(b, item, "value", c->value);
    }
}

bool api_add_structure(cJSON *root, const hamel_report *r) {
    json_builder b = {0};
    json_add_text(&b, root, "name", r->name);
    json_add_number(&b, root, "coordinates", (double)r->coordinate_count);
    json_add_number(&b, root, "degrees_of_freedom", (double)r->degrees_of_freedom);
    cJSON *structure = json_add_object(&b, root, "structure");
    json_add_number(&b, structure, "index", (double)r->index);
    json_add_number(&b, structure, "blocks", (double)r->blocks);
    json_add_number(&b, structure, "mass_entries", (double)r->mass_entries);
    json_add_number(&b, structure, "constraint_entries", (double)r->constraint_entries);
    cJSON *constraints = json_add_list(&b, root, "constraints");
    for (size_t k = 0; k < r->constraint_count && !b.failed; k++) add_constraint(&b, constraints, &r->constraints[k]);
    api_add_redundancy(&b, root, r->redundancy);
    add_holonomy(&b, root, r);
    if (r->frame.count > 0) add_transitivity(&b, root, r);
    add_names(&b, root, "cyclic", &r->cyclic);
    add_names(&b, root, "conserved", &r->conserved);
    add_symmetries(&b, root, r->symmetries);
    cJSON *regional = json_add_list(&b, root, "conserved_while");
    for (size_t k = 0; k < r->conserved_while_count && !b.failed; k++) {
        cJSON *item = json_append_object(&b, regional);
        json_add_text(&b, item, "name", r->conserved_while[k].name);
        add_names(&b, item, "while", &r->conserved_while[k].conditions);
    }
    add_names(&b, root, "assumed", &r->assumed);
    json_add_truth(&b, root, "conservative", r->conservative);
    add_names(&b, root, "warnings", &r->warnings);
    add_names(&b, root, "unfinished", &r->unfinished);
    return !b.failed;
}

static void add_differences(json_builder *b, cJSON *verification, const hamel_difference_check *d) {
    cJSON *object = json_add_object(b, verification, "finite_differences");
    json_add_number(b, object, "states", (double)d->states);
    json_add_number(b, object, "motion", d->motion);
    json_add_number(b, object, "gradients", d->gradients);
    json_add_number(b, object, "rates", d->rates);
    if (d->worst) json_add_text(b, object, "worst", d->worst);
    json_add_number(b, object, "decided", (double)d->decided);
    json_add_number(b, object, "undecided", (double)d->undecided);
    json_add_number(b, object, "tolerance", d->tolerance);
    json_add_truth(b, object, "agree", d->agree);
}

bool api_add_verification(cJSON *root, const hamel_verification *v) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, root, "verification");
    cJSON *formulations = json_add_list(&b, object, "formulations");
    for (size_t k = 0; k < v->compared_count && !b.failed; k++)
        json_append_texts(&b, formulations, &v->compared[k].formulation, 1);
    json_add_number(&b, object, "max_relative_difference", v->max_relative_difference);
    json_add_number(&b, object, "states", (double)v->states);
    json_add_number(&b, object, "singular", (double)v->singular);
    json_add_number(&b, object, "tolerance", v->tolerance);
    json_add_truth(&b, object, "agree", v->agree);
    add_differences(&b, object, &v->differences);
    cJSON *differences = json_add_list(&b, object, "differences");
    for (size_t k = 1; k < v->compared_count && !b.failed; k++) {
        cJSON *item = json_append_object(&b, differences);
        json_add_text(&b, item, "formulation", v->compared[k].formulation);
        json_add_number(&b, item, "accelerations", v->compared[k].accelerations);
        json_add_number(&b, item, "reactions", v->compared[k].reactions);
        json_add_number(&b, item, "states", (double)v->compared[k].states);
    }
    cJSON *refused = json_add_list(&b, object, "not_applicable");
    for (size_t k = 0; k < v->refused_count && !b.failed; k++) {
        cJSON *item = json_append_object(&b, refused);
        json_add_text(&b, item, "formulation", v->refused[k].formulation);
        json_add_text(&b, item, "reason", v->refused[k].reason);
    }
    return !b.failed;
}

void api_add_entries(json_builder *b, cJSON *object, const hamel_written *form) {
    cJSON *list = json_add_list(b, object, "entries");
    for (size_t k = 0; k < form->count && !b->failed; k++) {
        const hamel_written_entry *entry = &form->entries[k];
        cJSON *item = json_append_object(b, list);
        size_t indices = 0;
        while (indices < 3 && entry->indices[indices] != NULL) indices++;
        json_add_text(b, item, "symbol", entry->symbol);
        json_add_texts(b, item, "indices", entry->indices, indices);
        json_add_text(b, item, "value", entry->value);
        if (entry->note != NULL) json_add_text(b, item, "note", entry->note);
    }
    json_add_texts(b, object, "omitted", form->omitted.items, form->omitted.count);
}

bool api_add_equations(cJSON *answer, const api_analysis_options *options, const hamel_written *equations) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, answer, "equations");
    json_add_text(&b, object, "format", api_notations[options->notation]);
    json_add_text(&b, object, "text", equations->text);
    json_add_truth(&b, object, "simplified", equations->simplified);
    cJSON *reactions = json_add_list(&b, object, "reactions");
    for (size_t k = 0; k < equations->count && !b.failed; k++) {
        if (!hamel_entry_is_reaction(&equations->entries[k])) continue;
        cJSON *item = json_append_object(&b, reactions);
        json_add_text(&b, item, "constraint", equations->entries[k].indices[0]);
        json_add_text(&b, item, "expression", equations->entries[k].value);
    }
    if (options->notation != HAMEL_NOTATION_C) api_add_entries(&b, object, equations);
    return !b.failed;
}

/* --- equilibria and linearizations -------------------------------------------------------------------------------- */

static void add_named(json_builder *b, cJSON *to, const char *key, const char *const *items, const double *values,
                      size_t count) {
    cJSON *object = json_add_object(b, to, key);
    for (size_t i = 0; i < count; i++) json_add_number(b, object, items[i], values[i]);
}

/* Adds a list of `rows` lists of `columns` numbers. */
static void add_matrix(json_builder *b, cJSON *to, const char *key, const double *values, size_t rows, size_t columns) {
    cJSON *list = json_add_list(b, to, key);
    for (size_t i = 0; i < rows && !b->failed; i++)
        json_append(b, list, cJSON_CreateDoubleArray(values + i * columns, (int)columns));
}

static void add_equilibrium(json_builder *b, cJSON *to, const hamel_equilibria *all, const hamel_equilibrium *e) {
    cJSON *object = json_append_object(b, to);
    add_named(b, object, "coordinates", all->coordinates, e->q, all->coordinate_count);
    if (all->steady) add_named(b, object, "velocities", all->coordinates, e->v, all->coordinate_count);
    add_named(b, object, "multipliers", all->constraints, e->lambda, all->constraint_count);
    json_add_truth(b, object, "determined", e->determined);
    json_add_truth_or_null(b, object, "stable", e->decided, e->stable);
    json_add_text(b, object, "decided_by", e->decided ? e->decided_by : NULL);
    if (!e->decided) json_add_text(b, object, "reason", e->reason);
    json_add_truth(b, object, "isolated", e->isolated);
    json_add_number(b, object, "family_dimension", (double)e->family_dimension);
    if (e->accuracy > 0) json_add_number(b, object, "accuracy", e->accuracy);
    add_matrix(b, object, "eigenvalues", e->eigenvalues, e->eigenvalue_count, 2);
}

bool api_add_equilibria(cJSON *answer, const hamel_equilibria *equilibria) {
    json_builder b = {0};
    cJSON *list = json_add_list(&b, answer, "equilibria");
    for (size_t k = 0; k < equilibria->count; k++) add_equilibrium(&b, list, equilibria, &equilibria->items[k]);
    cJSON *search = json_add_object(&b, answer, "equilibrium_search");
    json_add_number(&b, search, "starts", (double)equilibria->starts);
    json_add_number(&b, search, "unsolved", (double)equilibria->unsolved);
    json_add_truth(&b, search, "complete", equilibria->complete);
    if (equilibria->note) json_add_text(&b, search, "note", equilibria->note);
    return !b.failed;
}

static void add_steady_motion(json_builder *b, cJSON *to, const hamel_steady_motions *all,
                              const hamel_steady_motion *m) {
    cJSON *object = json_append_object(b, to);
    add_named(b, object, "coordinates", all->coordinates, m->q, all->coordinate_count);
    add_named(b, object, "velocities", all->coordinates, m->v, all->coordinate_count);
    add_named(b, object, "constant", all->constant.items, m->u, all->constant.count);
    json_add_truth(b, object, "kept", m->kept);
    json_add_truth_or_null(b, object, "stable", m->decided, m->stable);
    json_add_text(b, object, "decided_by", m->decided ? m->decided_by : NULL);
    if (!m->decided) json_add_text(b, object, "reason", m->reason);
    json_add_truth(b, object, "linearly_stable", m->linearly_stable);
    json_add_truth(b, object, "isolated", m->family_dimension == 0);
    json_add_number(b, object, "family_dimension", (double)m->family_dimension);
    add_matrix(b, object, "eigenvalues", m->eigenvalues, m->eigenvalue_count, 2);
}

bool api_add_steady_motions(cJSON *answer, const hamel_steady_motions *found) {
    json_builder b = {0};
    if (!found->searched) return true;
    cJSON *object = json_add_object(&b, answer, "steady_motions");
    add_names(&b, object, "ignorable", &found->ignorable);
    add_names(&b, object, "constant", &found->constant);
    cJSON *list = json_add_list(&b, object, "motions");
    for (size_t k = 0; k < found->count && !b.failed; k++) add_steady_motion(&b, list, found, &found->items[k]);
    json_add_text(&b, object, "note", found->note);
    return !b.failed;
}

static void add_mode(json_builder *b, cJSON *to, const hamel_linearization *l, const hamel_mode *mode) {
    cJSON *object = json_append_object(b, to);
    json_add_numbers(b, object, "eigenvalue", mode->eigenvalue, 2);
    json_add_number(b, object, "frequency", mode->frequency);
    json_add_number(b, object, "damping", mode->damping);
    cJSON *shape = json_add_object(b, object, "shape");
    for (size_t i = 0; i < l->coordinate_count && !b->failed; i++)
        json_add_numbers(b, shape, l->coordinates[i], mode->shape + 2 * i, 2);
}

bool api_add_linearization(cJSON *answer, const hamel_linearization *l) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, answer, "linearization");
    json_add_number(&b, object, "t", l->t);
    add_named(&b, object, "coordinates", l->coordinates, l->q, l->coordinate_count);
    add_named(&b, object, "velocities", l->coordinates, l->v, l->coordinate_count);
    json_add_texts(&b, object, "state", l->state, l->state_count);
    add_matrix(&b, object, "A", l->A, l->state_count, l->state_count);
    json_add_texts(&b, object, "inputs", l->inputs, l->input_count);
    add_matrix(&b, object, "B", l->B, l->state_count, l->input_count);
    add_matrix(&b, object, "eigenvalues", l->eigenvalues, l->state_count, 2);
    cJSON *modes = json_add_list(&b, object, "modes");
    for (size_t k = 0; k < l->mode_count; k++) add_mode(&b, modes, l, &l->modes[k]);
    json_add_truth(&b, object, "equilibrium", l->at_rest);
    json_add_truth(&b, object, "steady", l->steady);
    json_add_truth_or_null(&b, object, "stable", l->steady, l->stable);
    return !b.failed;
}
