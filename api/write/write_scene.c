/* write_scene.c — writes the shapes of a scene as JSON, each with the columns that hold its numbers. */
#include "api/write/write_scene.h"

/* Adds a list of lists of `width` names. */
static void add_groups(json_builder *b, cJSON *shape, const char *key, const char *const *names, size_t count,
                       size_t width) {
    cJSON *groups = json_add_list(b, shape, key);
    for (size_t k = 0; k < count; k++)
        json_append_texts(b, json_append(b, groups, cJSON_CreateArray()), names + k * width, width);
}

static void add_shape(json_builder *b, cJSON *list, const hamel_shape *s, size_t dimension) {
    cJSON *shape = json_append(b, list, cJSON_CreateObject());
    json_add_text(b, shape, "shape", s->kind);
    json_add_text(b, shape, "name", s->name);
    add_groups(b, shape, "points", s->points, s->point_count, dimension);
    add_groups(b, shape, "axes", s->axes, s->axis_count, dimension);
    json_append_texts(b, json_add_list(b, shape, "sizes"), s->sizes, s->size_count);
}

void api_add_scene(json_builder *b, cJSON *header, const hamel_scene *scene) {
    cJSON *object = json_add_object(b, header, "scene");
    json_add_number(b, object, "dimension", scene->dimension);
    cJSON *shapes = json_add_list(b, object, "shapes");
    for (size_t k = 0; k < scene->count; k++) add_shape(b, shapes, &scene->shapes[k], (size_t)scene->dimension);
}
