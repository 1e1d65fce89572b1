/* write_inertia.c — writes the result of the analysis `inertia` as JSON. */
#include "api/analyze.h"

/* Adds a 3 × 3 matrix as a list of rows. In the plane, adds only its last entry: the moment about the third axis. */
static void add_tensor(json_builder *b, cJSON *object, const char *key, const double tensor[9], int dimension) {
    if (dimension == 2) {
        json_add_number(b, object, key, tensor[8]);
        return;
    }
    cJSON *rows = json_add_list(b, object, key);
    for (size_t i = 0; i < 3 && !b->failed; i++) json_append(b, rows, cJSON_CreateDoubleArray(tensor + 3 * i, 3));
}

static void add_inertia_item(json_builder *b, cJSON *to, const hamel_inertia_item *item, int dimension) {
    json_add_number(b, to, "mass", item->mass);
    json_add_numbers(b, to, "center", item->center, (size_t)dimension);
    add_tensor(b, to, "inertia", item->tensor, dimension);
    json_add_numbers(b, to, "principal", item->principal, dimension == 2 ? 1 : 3);
    if (dimension == 3) add_tensor(b, to, "axes", item->axes, dimension);
    add_tensor(b, to, "about", item->about, dimension);
}

bool api_add_inertia(cJSON *root, const hamel_inertia *inertia) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, root, "inertia");
    json_add_text(&b, object, "about", inertia->about);
    json_add_numbers(&b, object, "point", inertia->point, (size_t)inertia->dimension);
    cJSON *bodies = json_add_list(&b, object, "bodies");
    for (size_t k = 0; k < inertia->count && !b.failed; k++) {
        cJSON *body = json_append_object(&b, bodies);
        json_add_text(&b, body, "name", inertia->bodies[k].name);
        add_inertia_item(&b, body, &inertia->bodies[k], inertia->dimension);
    }
    if (inertia->reason) {
        json_add_null(&b, object, "system");
        json_add_text(&b, object, "reason", inertia->reason);
    } else {
        add_inertia_item(&b, json_add_object(&b, object, "system"), &inertia->system, inertia->dimension);
    }
    return !b.failed;
}
