/* scene.c — adds the output columns from which the shapes of the scene are drawn.
 *
 * A shape is drawn from positions, axes and lengths. Each component or length becomes an output that follows the
 * outputs of the description, so rows in every output format contain the value. Shapes of the same element share its
 * columns. */
#include "engine/system/elements.h"

#include <assert.h>
#include <string.h>

/* Names of the columns of each located element; NULL if the element has no columns yet. */
typedef struct column_table {
    const char ***columns;
    size_t capacity;
} column_table;

typedef struct scene_maker {
    hamel_system *s;
    hamel_scene *scene;
    size_t capacity;
    column_table positions, axes;
    int dimension;
} scene_maker;

static const char *const kind_names[] = {"point", "line", "spring", "circle", "disk", "box", "path"};

/* Adds an output for a node. Returns the name of the output, or NULL after adding an error. */
static const char *add_number(scene_maker *m, const char *name, graph_node node, const char *pointer) {
    hamel_system *s = m->s;
    if (!name) return binder_graph_fault(s, pointer), NULL;
    return binder_add_output(s, (system_output){.name = name, .pointer = pointer, .node = node}) ? name : NULL;
}

/* Returns the part of a column name that identifies the element: its name, or a number if it has no name. */
static const char *label_of(const scene_maker *m, int32_t element) {
    const char *name = m->s->binder->located[element].name;
    return *name ? name : arena_format(m->s->memory, "%d", (int)element + 1);
}

/* Returns the columns of the position (axes = 0) or of the first `axes` body axes of an element. New columns are added
 * as outputs. Returns NULL after adding an error. */
static const char **columns_of(scene_maker *m, column_table *table, int32_t element, size_t axes, const char *pointer) {
    hamel_system *s = m->s;
    size_t d = (size_t)m->dimension;
    const char ***grown = arena_grow(s->memory, table->columns, &table->capacity, (size_t)element + 1, sizeof *grown);
    if (!grown) return binder_graph_fault(s, "/scene"), NULL;
    table->columns = grown;
    if (grown[element]) return grown[element];
    const char **names = binder_alloc(s, 9, sizeof *names, pointer), *label = label_of(m, element);
    if (!names || !label) return binder_graph_fault(s, pointer), NULL;
    assert(axes <= d && (size_t)element < s->binder->located_count);
    const system_located *e = &s->binder->located[element];
    for (size_t k = 0; k < (axes ? axes * d : d); k++) {
        size_t axis = k / d, row = k % d;
        const char *name = axes ? arena_format(s->memory, "scene.%s.R%zu%zu", label, row + 1, axis + 1)
                                : arena_format(s->memory, "scene.%s.%c", label, "xyz"[k]);
        names[k] = add_number(m, name, axes ? e->rotation[3 * row + axis] : e->position[k], pointer);
        if (!names[k]) return NULL;
    }
    return grown[element] = names;
}

static hamel_shape *add_shape(scene_maker *m, hamel_shape_kind kind, const int32_t *elements, size_t count,
                              const char *pointer) {
    hamel_scene *scene = m->scene;
    m->dimension = scene->dimension = m->s->dimension;
    hamel_shape shape = {.kind = kind_names[kind], .point_count = count};
    shape.name = count == 1 ? m->s->binder->located[elements[0]].name : "";
    shape.points = binder_alloc(m->s, 3 * count, sizeof *shape.points, pointer);
    for (size_t k = 0; k < count; k++) {
        const char **columns = shape.points ? columns_of(m, &m->positions, elements[k], 0, pointer) : NULL;
        if (!columns) return NULL;
        memcpy(shape.points + k * (size_t)m->dimension, columns, (size_t)m->dimension * sizeof *columns);
    }
    return binder_append(m->s, &scene->shapes, &scene->count, &m->capacity, &shape, sizeof shape, pointer);
}

/* Binds the lengths of a shape, which may contain the same symbols as positions. */
static bool add_sizes(scene_maker *m, hamel_shape *shape, const hamel_expression *items, size_t count, const char *word,
                      const loop_scope *scope) {
    shape->sizes = binder_alloc(m->s, count, sizeof *shape->sizes, "/scene");
    if (!shape->sizes) return false;
    for (size_t k = 0; k < count; k++) {
        graph_node node = system_bind(m->s, &items[k], PLACE_POSITION, scope, SYNTAX_EXPRESSION, NULL);
        if (node < 0) return false;
        const char *name = count == 1 ? arena_format(m->s->memory, "scene.%zu.%s", m->scene->count, word)
                                      : arena_format(m->s->memory, "scene.%zu.%s%zu", m->scene->count, word, k + 1);
        shape->sizes[k] = add_number(m, name, node, items[k].pointer);
        if (!shape->sizes[k]) return false;
    }
    shape->size_count = count;
    return true;
}

static bool must_turn(hamel_system *s, const hamel_scene_shape *d, int32_t element) {
    const system_located *e = &s->binder->located[element];
    if (e->turns) return true;
    return system_fail(s, d->ends[0].pointer, "a %s needs a body or frame, but `%s` is a %s", kind_names[d->kind],
                       e->name, e->kind);
}

static bool sizes_fit(hamel_system *s, const hamel_scene_shape *d) {
    if (d->kind != HAMEL_SHAPE_BOX || d->sizes.count == (size_t)s->dimension) return true;
    return system_fail(s, d->sizes.pointer, "a box needs %d edge lengths here, found %zu", s->dimension,
                       d->sizes.count);
}

static void make_described(scene_maker *m, const hamel_scene_shape *d, const loop_scope *scope) {
    hamel_system *s = m->s;
    bool solid = d->kind == HAMEL_SHAPE_DISK || d->kind == HAMEL_SHAPE_BOX;
    int32_t *elements = arena_alloc(s->memory, d->end_count, sizeof *elements);
    if (!elements || d->end_count == 0) return; /* the reader has reported the error */
    for (size_t k = 0; k < d->end_count; k++)
        if ((elements[k] = located_end(s, &d->ends[k], scope)) < 0) return;
    if (solid && !must_turn(s, d, elements[0])) return;
    if (!sizes_fit(s, d)) return;
    hamel_shape *shape = add_shape(m, d->kind, elements, d->end_count, d->pointer);
    if (!shape) return;
    if ((solid || d->kind == HAMEL_SHAPE_CIRCLE) && s->binder->located[elements[0]].turns) {
        shape->axis_count = s->dimension == 2 ? 1 : 3;
        if (!(shape->axes = columns_of(m, &m->axes, elements[0], shape->axis_count, d->pointer))) return;
    }
    const char *word = d->kind == HAMEL_SHAPE_BOX ? "size" : "radius";
    if (d->sizes.count) (void)add_sizes(m, shape, d->sizes.items, d->sizes.count, word, scope);
}

static void make_all_described(scene_maker *m) {
    const hamel_description *d = m->s->description;
    family_iterator f;
    for (size_t i = 0; i < d->scene_count; i++)
        for (family_begin(&f, m->s, &d->scene[i].family); family_next(&f);) make_described(m, &d->scene[i], &f.scope);
}

static void make_default(scene_maker *m, hamel_shape_kind kind, const hamel_end *ends, size_t count, const char *name,
                         const loop_scope *scope) {
    int32_t elements[2];
    for (size_t k = 0; k < count; k++)
        if ((elements[k] = located_end(m->s, &ends[k], scope)) < 0) return;
    hamel_shape *shape = add_shape(m, kind, elements, count, ends[0].pointer);
    const char *expanded = name ? family_name(m->s, name, ends[0].pointer, scope) : NULL;
    if (shape && expanded) shape->name = expanded;
}

static void make_members(scene_maker *m, hamel_shape_kind kind, const hamel_end *ends, size_t count, const char *name,
                         const hamel_family *family) {
    family_iterator f;
    for (family_begin(&f, m->s, family); family_next(&f);) make_default(m, kind, ends, count, name, &f.scope);
}

/* Draws an element as a point or, if `frame` is not NULL, as a line from the origin of `frame`. */
static void make_element(scene_maker *m, const char *pointer, const char *name, const char *frame,
                         const hamel_family *family) {
    const hamel_end ends[2] = {{.pointer = pointer, .name = frame}, {.pointer = pointer, .name = name}};
    if (name) make_members(m, frame ? HAMEL_SHAPE_LINE : HAMEL_SHAPE_POINT, ends + !frame, frame ? 2 : 1, name, family);
}

static void make_links(scene_maker *m, hamel_shape_kind kind, const hamel_link *links, size_t count) {
    for (const hamel_link *l = links; l < links + count; l++)
        if (l->end_count == 2) make_members(m, kind, l->between, 2, l->name, &l->family);
}

static void make_all_declared(scene_maker *m) {
    const hamel_description *d = m->s->description;
    for (size_t i = 0; i < d->particle_count; i++)
        make_element(m, d->particles[i].pointer, d->particles[i].name, NULL, &d->particles[i].family);
    for (size_t i = 0; i < d->body_count; i++)
        make_element(m, d->bodies[i].pointer, d->bodies[i].name, NULL, &d->bodies[i].family);
    for (size_t i = 0; i < d->point_count; i++)
        make_element(m, d->points[i].pointer, d->points[i].name, d->points[i].position.frame, &d->points[i].family);
    make_links(m, HAMEL_SHAPE_SPRING, d->springs, d->spring_count);
    make_links(m, HAMEL_SHAPE_LINE, d->dampers, d->damper_count);
    for (size_t i = 0; i < d->joint_count; i++) {
        const hamel_joint *j = &d->joints[i];
        if (j->type && strcmp(j->type, "distance") == 0 && j->end_count == 2)
            make_members(m, HAMEL_SHAPE_LINE, j->between, 2, j->name, &j->family);
    }
}

void scene_lower(hamel_system *s) {
    const hamel_description *d = s->description;
    size_t outputs = s->output_count;
    bool shown = d->simulation.scene;
    if (!shown && !d->has_scene) return;
    scene_maker m = {.s = s, .scene = binder_alloc(s, 1, sizeof *m.scene, "/scene"), .dimension = s->dimension};
    if (!m.scene) return;
    if (d->has_scene)
        make_all_described(&m);
    else
        make_all_declared(&m);
    if (!shown) s->output_count = outputs; /* not requested: the shapes are only checked */
    if (shown) s->scene = m.scene;
    s->first_scene_output = outputs;
}
