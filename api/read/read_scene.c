/* read_scene.c — reads the key `scene`: a list of shapes. Each shape is an object whose key is its kind; the key `for`
 * is optional. */
#include "api/read/read_parts.h"

/* Sets the kind of a shape and allocates its ends. If the shape already has a kind, adds an error and returns false. */
static bool begin_shape(json_reader *r, const char *pointer, hamel_scene_shape *shape, hamel_shape_kind kind,
                        size_t count) {
    if (shape->ends != NULL) {
        json_fault_at(r, pointer, "a shape has exactly one kind; split it into two shapes");
        return false;
    }
    shape->kind = kind;
    shape->ends = json_alloc(r, count, sizeof *shape->ends);
    return shape->ends != NULL;
}

static void read_shape_at(json_reader *r, const cJSON *value, const char *pointer, void *field, hamel_shape_kind kind) {
    hamel_scene_shape *shape = field;
    if (!begin_shape(r, pointer, shape, kind, 1)) return;
    read_end(r, value, pointer, &shape->ends[0]);
    shape->end_count = 1;
}

static void read_through(json_reader *r, const cJSON *value, const char *pointer, void *field, hamel_shape_kind kind,
                         size_t most) {
    hamel_scene_shape *shape = field;
    size_t count = cJSON_IsArray(value) ? json_child_count(value) : 0, k = 0;
    const char *what = most == 2 ? "a list of two elements" : "a list of two elements or more";
    if (!cJSON_IsArray(value)) {
        json_expected(r, value, pointer, what);
        return;
    }
    if (count < 2 || count > most) json_fault_at(r, pointer, "expected %s, found a list of length %zu", what, count);
    if (count < 2 || count > most || !begin_shape(r, pointer, shape, kind, count)) return;
    for (const cJSON *item = value->child; item != NULL; item = item->next, k++)
        read_end(r, item, json_pointer_of_index(r, pointer, k), &shape->ends[k]);
    shape->end_count = count;
}

static void read_point(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_shape_at(r, value, pointer, field, HAMEL_SHAPE_POINT);
}
static void read_path(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_shape_at(r, value, pointer, field, HAMEL_SHAPE_PATH);
}
static void read_line(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_through(r, value, pointer, field, HAMEL_SHAPE_LINE, (size_t)-1);
}
static void read_spring_line(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_through(r, value, pointer, field, HAMEL_SHAPE_SPRING, 2);
}

static void read_center(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_scene_shape *shape = field;
    read_end(r, value, pointer, &shape->ends[0]);
    shape->end_count = 1;
}

static void read_body_name(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_scene_shape *shape = field;
    shape->ends[0].pointer = pointer;
    json_read_name(r, value, pointer, &shape->ends[0].name);
    shape->end_count = shape->ends[0].name != NULL;
}

const json_kind circle_kind = JSON_KIND("a circle", {"center", read_center, 0, true},
                                        {"radius", json_read_scalar_list, offsetof(hamel_scene_shape, sizes), true});

const json_kind disk_kind = JSON_KIND("a disk", {"body", read_body_name, 0, true},
                                      {"radius", json_read_scalar_list, offsetof(hamel_scene_shape, sizes), true});

const json_kind box_kind = JSON_KIND("a box", {"body", read_body_name, 0, true},
                                     {"size", json_read_vector, offsetof(hamel_scene_shape, sizes), true});

static void read_circle(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (begin_shape(r, pointer, field, HAMEL_SHAPE_CIRCLE, 1)) json_read_object(r, value, pointer, &circle_kind, field);
}
static void read_disk(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (begin_shape(r, pointer, field, HAMEL_SHAPE_DISK, 1)) json_read_object(r, value, pointer, &disk_kind, field);
}
static void read_box(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (begin_shape(r, pointer, field, HAMEL_SHAPE_BOX, 1)) json_read_object(r, value, pointer, &box_kind, field);
}

const json_kind shape_kind = JSON_KIND(
    "a shape", {"point", read_point, 0, false}, {"line", read_line, 0, false}, {"spring", read_spring_line, 0, false},
    {"circle", read_circle, 0, false}, {"disk", read_disk, 0, false}, {"box", read_box, 0, false},
    {"path", read_path, 0, false}, {"for", json_read_family, offsetof(hamel_scene_shape, family), false});

static void read_shape(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_scene_shape *shape = field;
    size_t faults = r->error->count + r->error->omitted;
    shape->pointer = pointer;
    json_read_object(r, value, pointer, &shape_kind, shape);
    if (shape->ends == NULL && !r->no_memory && r->error->count + r->error->omitted == faults)
        json_fault_at(r, pointer, "a shape is a point, line, spring, circle, disk, box or path");
}

void read_scene(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->scene = json_read_list(r, value, pointer, "a list of shapes", sizeof *d->scene, read_shape, &d->scene_count);
    d->has_scene = true;
}
