/* write_analysis.c — what analyses find, as JSON. */
#include "api/analyze.h"
#include "api/write_redundancy.h"

static void names(json_builder *b, cJSON *object, const char *key, const hamel_names *given) {
    cJSON *items = json_add_list(b, object, key);
    for (size_t k = 0; k < given->count && !b->failed; k++) json_append(b, items, cJSON_CreateString(given->items[k]));
}

static void add_constraint(json_builder *b, cJSON *to, const hamel_constraint_facts *facts) {
    cJSON *object = json_append(b, to, cJSON_CreateObject());
    json_add_text(b, object, "name", facts->name);
    json_add_text(b, object, "kind", facts->kind);
    json_add_truth(b, object, "linear", facts->linear);
    json_add_truth(b, object, "time_dependent", facts->time_dependent);
    json_add_truth(b, object, "catastatic", facts->catastatic);
    json_add_truth(b, object, "homogeneous", facts->homogeneous);
    json_add_truth(b, object, "ideal", facts->ideal);
    json_add_truth(b, object, "conservative", facts->conservative);
    json_add_truth(b, object, "redundant", facts->redundant);
    json_add_truth(b, object, "unique", facts->unique);
}

static void add_holonomy(json_builder *b, cJSON *root, const hamel_report *r) {
    cJSON *object = b->failed ? NULL : cJSON_AddObjectToObject(root, "holonomy");
    bool known = r->verdict != HAMEL_VERDICT_UNDETERMINED;
    json_kept(b, object);
    json_add_number(b, object, "velocity_constraints", (double)r->velocity_rank);
    if (known)
        json_add_number(b, object, "integrable", (double)r->integrable);
    else if (!b->failed)
        json_kept(b, cJSON_AddNullToObject(object, "integrable"));
    json_add_text(b, object, "verdict", hamel_verdict_name(r->verdict));
    if (known)
        json_add_number(b, object, "accessible_dimension", (double)r->accessible_dimension);
    else if (!b->failed)
        json_kept(b, cJSON_AddNullToObject(object, "accessible_dimension"));
    json_add_number(b, object, "holonomic_constraints", (double)r->holonomic_rank);
    names(b, object, "left_out", &r->left_out);
}

bool api_add_structure(cJSON *root, const hamel_report *r) {
    json_builder b = {0};
    json_add_text(&b, root, "name", r->name);
    json_add_number(&b, root, "coordinates", (double)r->coordinate_count);
    json_add_number(&b, root, "degrees_of_freedom", (double)r->degrees_of_freedom);
    cJSON *constraints = json_add_list(&b, root, "constraints");
    for (size_t k = 0; k < r->constraint_count && !b.failed; k++) add_constraint(&b, constraints, &r->constraints[k]);
    api_add_redundancy(&b, root, r->redundancy);
    add_holonomy(&b, root, r);
    names(&b, root, "cyclic", &r->cyclic);
    names(&b, root, "conserved", &r->conserved);
    json_add_truth(&b, root, "conservative", r->conservative);
    return !b.failed;
}

bool api_add_verification(cJSON *root, const hamel_verification *v) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, root, "verification");
    cJSON *names_of = json_add_list(&b, object, "formulations");
    for (size_t k = 0; k < v->compared_count && !b.failed; k++)
        json_append(&b, names_of, cJSON_CreateString(v->compared[k].formulation));
    json_add_number(&b, object, "max_relative_difference", v->max_relative_difference);
    json_add_number(&b, object, "states", (double)v->states);
    json_add_number(&b, object, "singular", (double)v->singular);
    json_add_number(&b, object, "tolerance", v->tolerance);
    json_add_truth(&b, object, "agree", v->agree);
    cJSON *differences = json_add_list(&b, object, "differences");
    for (size_t k = 1; k < v->compared_count && !b.failed; k++) {
        cJSON *item = json_append(&b, differences, cJSON_CreateObject());
        json_add_text(&b, item, "formulation", v->compared[k].formulation);
        json_add_number(&b, item, "accelerations", v->compared[k].accelerations);
        json_add_number(&b, item, "reactions", v->compared[k].reactions);
        json_add_number(&b, item, "states", (double)v->compared[k].states);
    }
    cJSON *refused = json_add_list(&b, object, "not_applicable");
    for (size_t k = 0; k < v->refused_count && !b.failed; k++) {
        cJSON *item = json_append(&b, refused, cJSON_CreateObject());
        json_add_text(&b, item, "formulation", v->refused[k].formulation);
        json_add_text(&b, item, "reason", v->refused[k].reason);
    }
    return !b.failed;
}

bool api_add_equations(cJSON *answer, hamel_notation notation, const char *text) {
    json_builder b = {0};
    cJSON *object = json_kept(&b, cJSON_AddObjectToObject(answer, "equations"));
    json_add_text(&b, object, "format", api_notation_name(notation));
    json_add_text(&b, object, "text", text);
    return !b.failed;
}
