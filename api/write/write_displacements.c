/* write_displacements.c — writes the result of the analysis `displacements` as JSON. */
#include "api/analyze.h"
#include "api/json/builder.h"

static void add_vectors(json_builder *b, cJSON *to, const char *key, const char *time_key, const hamel_vectors *vectors,
                        size_t dimension) {
    if (!vectors->items) return;
    cJSON *list = json_add_list(b, to, key);
    for (size_t k = 0; k < vectors->count && !b->failed; k++) {
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "of", vectors->items[k].of);
        json_add_texts(b, item, "vector", vectors->items[k].items, dimension);
    }
    if (vectors->time.items[0])
        json_add_texts(b, to, time_key, vectors->time.items, dimension);
    else
        json_add_null(b, to, time_key);
}

static void add_displacement(json_builder *b, cJSON *to, const char *key, const hamel_displacement *d) {
    if (d->dimension == 0) return;
    cJSON *object = json_add_object(b, to, key);
    json_add_texts(b, object, "virtual", d->virtual_form, d->dimension);
    json_add_texts(b, object, "real", d->real_form, d->dimension);
    add_vectors(b, object, "e", "e_0", &d->coordinates, d->dimension);
    add_vectors(b, object, "eps", "eps_0", &d->quasi, d->dimension);
    add_vectors(b, object, "beta", "beta_0", &d->independent, d->dimension);
}

static void add_entries(json_builder *b, cJSON *to, const char *key, const hamel_entries *entries) {
    cJSON *list = json_add_list(b, to, key);
    for (size_t k = 0; k < entries->count && !b->failed; k++) {
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "coordinate", entries->items[k].coordinate);
        json_add_text(b, item, "value", entries->items[k].value);
    }
}

static void add_virtual_constraints(json_builder *b, cJSON *to, const hamel_displacements *found) {
    cJSON *list = json_add_list(b, to, "constraints");
    for (size_t k = 0; k < found->constraint_count && !b->failed; k++) {
        const hamel_virtual_constraint *c = &found->constraints[k];
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "name", c->name);
        json_add_text(b, item, "rule", c->rule);
        json_add_text(b, item, "virtual", c->virtual_form);
        json_add_text(b, item, "real", c->real_form);
        add_entries(b, item, "normal", &c->normal);
    }
}

static void add_regularity(json_builder *b, cJSON *to, const hamel_displacements *found) {
    cJSON *object = json_add_object(b, to, "regularity");
    json_add_number(b, object, "holonomic_constraints", (double)found->holonomic);
    json_add_number_or_null(b, object, "rank", found->start_known, (double)found->rank);
    json_add_truth_or_null(b, object, "regular", found->start_known, found->regular);
    json_add_number_or_null(b, object, "branches", found->branches > 0, (double)found->branches);
    json_add_texts(b, object, "adapted", found->adapted.items, found->adapted.count);
    if (found->undecided) json_add_text(b, object, "reason", found->undecided);
}

static void add_tangents(json_builder *b, cJSON *to, const hamel_displacements *found) {
    if (!found->tangents_known) {
        json_add_null(b, to, "tangents");
        return;
    }
    cJSON *object = json_add_object(b, to, "tangents"), *list;
    json_add_texts(b, object, "dependent", found->dependent.items, found->dependent.count);
    list = json_add_list(b, object, "vectors");
    for (size_t k = 0; k < found->tangent_count && !b->failed; k++) {
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "of", found->tangents[k].of);
        add_entries(b, item, "entries", &found->tangents[k]);
    }
    if (found->drift_known)
        add_entries(b, object, "drift", &found->drift);
    else
        json_add_null(b, object, "drift");
}

static void add_quasi_derivatives(json_builder *b, cJSON *to, const hamel_displacements *found) {
    if (found->quasi_omitted) json_add_null(b, to, "quasi_derivatives");
    if (found->derivative_count == 0) return;
    cJSON *list = json_add_list(b, to, "quasi_derivatives");
    for (size_t k = 0; k < found->derivative_count && !b->failed; k++) {
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "of", found->derivatives[k].of);
        json_add_text(b, item, "expression", found->derivatives[k].expression);
    }
    list = json_add_list(b, to, "commutators");
    for (size_t k = 0; k < found->commutator_count && !b->failed; k++) {
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "first", found->commutators[k].first);
        json_add_text(b, item, "second", found->commutators[k].second);
        json_add_text(b, item, "expression", found->commutators[k].expression);
    }
}

bool api_add_displacements(cJSON *answer, const hamel_displacements *found) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, answer, "displacements"), *list = json_add_list(&b, object, "elements");
    for (size_t k = 0; k < found->element_count && !b.failed; k++) {
        const hamel_element_displacements *e = &found->elements[k];
        cJSON *item = json_append_object(&b, list);
        json_add_text(&b, item, "name", e->name);
        json_add_text(&b, item, "kind", e->kind);
        add_displacement(&b, item, "position", &e->position);
        add_displacement(&b, item, "rotation", &e->rotation);
        add_displacement(&b, item, "body_rotation", &e->body_rotation);
    }
    add_virtual_constraints(&b, object, found);
    add_regularity(&b, object, found);
    add_tangents(&b, object, found);
    add_quasi_derivatives(&b, object, found);
    json_add_truth(&b, object, "simplified", found->simplified);
    return !b.failed;
}
