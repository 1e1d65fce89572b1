/* write_forces.c — writes the results of the analyses `forces` and `relaxation` as JSON. */
#include "api/analyze.h"
#include "api/json/builder.h"

static void add_force(json_builder *b, cJSON *item, const char *key, const hamel_generalized_force *force) {
    json_add_text(b, item, key, force->coordinate);
    json_add_number(b, item, "value", force->value);
    json_add_text(b, item, "expression", force->expression);
}

static void add_generalized(json_builder *b, cJSON *to, const char *key, const hamel_generalized_force *forces,
                            size_t count) {
    cJSON *list = json_add_list(b, to, key);
    for (size_t k = 0; k < count && !b->failed; k++)
        add_force(b, json_append_object(b, list), "coordinate", &forces[k]);
}

/* Adds {"value", "expression"} of a temporal component, or null if the component is unknown. */
static void add_temporal(json_builder *b, cJSON *to, const char *key, bool known,
                         const hamel_generalized_force *force) {
    if (!known) {
        json_add_null(b, to, key);
        return;
    }
    cJSON *object = json_add_object(b, to, key);
    json_add_number(b, object, "value", force->value);
    json_add_text(b, object, "expression", force->expression);
}

/* Adds the keys `nature`, `scope` and, if both ends of the force are known, `between`. */
static void add_classes(json_builder *b, cJSON *item, const hamel_action *action) {
    json_add_text(b, item, "nature", action->nature);
    json_add_text(b, item, "scope", action->scope);
    if (action->between[0] && action->between[1]) json_add_texts(b, item, "between", action->between, 2);
}

static void add_action(json_builder *b, cJSON *list, const char *key, const hamel_action *action) {
    cJSON *item = json_append_object(b, list);
    json_add_text(b, item, key, action->origin);
    add_classes(b, item, action);
    add_generalized(b, item, "on", action->on, action->count);
    add_temporal(b, item, "temporal", action->temporal_known, &action->temporal);
    if (!action->quasi) return;
    cJSON *quasi = json_add_list(b, item, "quasi");
    for (size_t k = 0; k < action->quasi_count && !b->failed; k++)
        add_force(b, json_append_object(b, quasi), "velocity", &action->quasi[k]);
    add_temporal(b, item, "quasi_temporal", action->temporal_known, &action->quasi_temporal);
}

static void add_body(json_builder *b, cJSON *list, const hamel_forces *forces, const hamel_body_work *body) {
    cJSON *item = json_append_object(b, list), *own;
    json_add_text(b, item, "name", body->name);
    json_add_text(b, item, "kind", body->kind);
    own = json_add_list(b, item, "forces");
    for (size_t k = 0; k < body->force_count && !b->failed; k++) {
        cJSON *force = json_append_object(b, own);
        json_add_text(b, force, "from", body->forces[k].origin);
        add_classes(b, force, &body->forces[k]);
        add_generalized(b, force, "on", body->forces[k].on, body->forces[k].count);
    }
    add_generalized(b, item, "inertia", body->inertia, body->inertia_count);
    if (forces->reactions_omitted)
        json_add_null(b, item, "reactions");
    else
        add_generalized(b, item, "reactions", body->reactions, body->reaction_count);
}

static void add_relative(json_builder *b, cJSON *list, const hamel_relative_motion *motion) {
    cJSON *item = json_append_object(b, list);
    json_add_text(b, item, "particle", motion->particle);
    json_add_text(b, item, "frame", motion->frame);
    for (size_t k = 0; k < sizeof motion->parts / sizeof *motion->parts && !b->failed; k++) {
        cJSON *part = json_add_object(b, item, motion->parts[k].part);
        json_add_numbers(b, part, "values", motion->parts[k].values, motion->dimension);
        json_add_texts(b, part, "expressions", motion->parts[k].components, motion->dimension);
    }
}

bool api_add_forces(cJSON *root, const hamel_forces *forces) {
    json_builder b = {0};
    cJSON *list = json_add_list(&b, root, "forces");
    for (size_t k = 0; k < forces->count && !b.failed; k++) add_action(&b, list, "from", &forces->actions[k]);
    list = json_add_list(&b, root, "reactions");
    for (size_t k = 0; k < forces->reaction_count && !b.failed; k++)
        add_action(&b, list, "constraint", &forces->reactions[k]);
    cJSON *work = json_add_object(&b, root, "virtual_work");
    list = json_add_list(&b, work, "bodies");
    for (size_t k = 0; k < forces->body_count && !b.failed; k++) add_body(&b, list, forces, &forces->bodies[k]);
    if (forces->reaction_sum) add_generalized(&b, work, "sum", forces->reaction_sum, forces->reaction_sum_count);
    json_add_text(&b, work, "omitted", forces->work_omitted);
    json_add_text(&b, work, "reactions_omitted", forces->reactions_omitted);
    list = json_add_list(&b, root, "inertial_forces");
    for (size_t k = 0; k < forces->relative_count && !b.failed; k++) add_relative(&b, list, &forces->relative[k]);
    return !b.failed;
}

bool api_add_relaxation(cJSON *root, const hamel_relaxation *relaxation) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, root, "relaxation");
    json_add_text(&b, object, "constraint", relaxation->constraint);
    json_add_number(&b, object, "multiplier", relaxation->multiplier);
    add_generalized(&b, object, "reactions", relaxation->reactions, relaxation->count);
    return !b.failed;
}
