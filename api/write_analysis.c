/* write_analysis.c — the report of an analysis as JSON.
 *
 * Building takes many small allocations; `failed` gathers their failures and is looked at once, at the end. */
#include "api/analyze.h"

typedef struct builder {
    bool failed;
} builder;

static void check(builder *b, const cJSON *item) {
    if (item == NULL) b->failed = true;
}

static void count(builder *b, cJSON *object, const char *key, size_t value) {
    if (!b->failed) check(b, cJSON_AddNumberToObject(object, key, (double)value));
}

static void truth(builder *b, cJSON *object, const char *key, bool value) {
    if (!b->failed) check(b, cJSON_AddBoolToObject(object, key, value));
}

static void text(builder *b, cJSON *object, const char *key, const char *value) {
    if (!b->failed) check(b, cJSON_AddStringToObject(object, key, value));
}

static cJSON *list(builder *b, cJSON *object, const char *key) {
    cJSON *added = b->failed ? NULL : cJSON_AddArrayToObject(object, key);
    check(b, added);
    return added;
}

/* Appends `item`, which may be NULL; returns it while it is part of the tree. */
static cJSON *append(builder *b, cJSON *to, cJSON *item) {
    if (!b->failed && item != NULL && cJSON_AddItemToArray(to, item)) return item;
    cJSON_Delete(item);
    b->failed = true;
    return NULL;
}

static void names(builder *b, cJSON *object, const char *key, const hamel_names *given) {
    cJSON *items = list(b, object, key);
    for (size_t k = 0; k < given->count && !b->failed; k++) append(b, items, cJSON_CreateString(given->items[k]));
}

static void add_constraint(builder *b, cJSON *to, const hamel_constraint_facts *facts) {
    cJSON *object = append(b, to, cJSON_CreateObject());
    text(b, object, "name", facts->name);
    text(b, object, "kind", facts->kind);
    truth(b, object, "linear", facts->linear);
    truth(b, object, "time_dependent", facts->time_dependent);
    truth(b, object, "catastatic", facts->catastatic);
    truth(b, object, "homogeneous", facts->homogeneous);
    truth(b, object, "ideal", facts->ideal);
    truth(b, object, "conservative", facts->conservative);
    truth(b, object, "redundant", facts->redundant);
}

static void add_holonomy(builder *b, cJSON *root, const hamel_report *r) {
    cJSON *object = b->failed ? NULL : cJSON_AddObjectToObject(root, "holonomy");
    bool known = r->verdict != HAMEL_VERDICT_UNDETERMINED;
    check(b, object);
    count(b, object, "velocity_constraints", r->velocity_rank);
    if (known)
        count(b, object, "integrable", r->integrable);
    else if (!b->failed)
        check(b, cJSON_AddNullToObject(object, "integrable"));
    text(b, object, "verdict", hamel_verdict_name(r->verdict));
    if (known)
        count(b, object, "accessible_dimension", r->accessible_dimension);
    else if (!b->failed)
        check(b, cJSON_AddNullToObject(object, "accessible_dimension"));
    count(b, object, "holonomic_constraints", r->holonomic_rank);
    names(b, object, "left_out", &r->left_out);
}

cJSON *api_report_json(const hamel_report *r) {
    builder b = {0};
    cJSON *root = cJSON_CreateObject();
    check(&b, root);
    text(&b, root, "name", r->name);
    count(&b, root, "coordinates", r->coordinate_count);
    count(&b, root, "degrees_of_freedom", r->degrees_of_freedom);
    cJSON *constraints = list(&b, root, "constraints");
    for (size_t k = 0; k < r->constraint_count && !b.failed; k++) add_constraint(&b, constraints, &r->constraints[k]);
    add_holonomy(&b, root, r);
    names(&b, root, "cyclic", &r->cyclic);
    names(&b, root, "conserved", &r->conserved);
    truth(&b, root, "conservative", r->conservative);
    if (!b.failed) return root;
    cJSON_Delete(root);
    return NULL;
}
