/* scene.c — adds the output columns from which the shapes of the scene are drawn.
 *
 * A shape is drawn from positions, axes and lengths. Each of these numbers becomes an output after those of the
 * description, so that rows contain them in every format. Shapes that share an element share its columns. */
#include "engine/system/elements.h"

#include <string.h>

typedef struct scene_maker {
    hamel_system *s;
    hamel_scene *scene;
    size_t capacity;
    const char ***places, ***axes; /* columns of each located element; NULL until needed */
    size_t places_capacity, axes_capacity;
    int dimension;
} scene_maker;

static const char *const kind_names[] = {"point", "line", "spring", "circle", "disk", "box", "path"};

/* Adds an output for a node. Returns its name, or NULL after adding an error. */
static const char *add_number(scene_maker *m, const char *name, graph_node node, const char *pointer) {
    hamel_system *s = m->s;
    if (!name) return binder_graph_fault(s, pointer), NULL;
    return binder_add_output(s, (system_output){.name = name, .pointer = pointer, .node = node}) ? name : NULL;
}

/* Returns the element's name for its columns; unnamed positions are numbered. */
static const char *label_of(const scene_maker *m, int32_t element) {
    const char *name = m->s->binder->located[element].name;
    return *name ? name : arena_format(m->s->memory, "%d", (int)element + 1);
}

/* Grows the table of columns to contain the element, and returns the element's entry. */
static const char ***columns_of(scene_maker *m, const char ****table, size_t *capacity, int32_t element) {
    const char ***grown = arena_grow(m->s->memory, *table, capacity, (size_t)element + 1, sizeof *grown);
    if (!grown) return binder_graph_fault(m->s, "/scene"), NULL;
    *table = grown;
    return &grown[element];
}

static bool add_place(scene_maker *m, int32_t element, const char *pointer, const char **out) {
    const char ***known = columns_of(m, &m->places, &m->places_capacity, element);
    if (!known) return false;
    if (!*known) {
        const char **names = arena_alloc(m->s->memory, 3, sizeof *names), *label = label_of(m, element);
        if (!names || !label) return binder_graph_fault(m->s, pointer);
        for (int k = 0; k < m->dimension; k++) {
            const char *name = arena_format(m->s->memory, "scene.%s.%c", label, "xyz"[k]);
            names[k] = add_number(m, name, m->s->binder->located[element].position[k], pointer);
            if (!names[k]) return false;
        }
        *known = names;
    }
    memcpy(out, *known, (size_t)m->dimension * sizeof *out);
    return true;
}

/* Returns the number of body axes that are output: the first in the plane, all three in space. */
static size_t axis_count(const scene_maker *m) {
    return m->dimension == 2 ? 1 : 3;
}

static bool add_axes(scene_maker *m, int32_t element, const char *pointer, hamel_shape *shape) {
    const char ***known = columns_of(m, &m->axes, &m->axes_capacity, element);
    size_t d = (size_t)m->dimension;
    if (!known) return false;
    if (!*known) {
        const char **names = arena_alloc(m->s->memory, 9, sizeof *names), *label = label_of(m, element);
        if (!names || !label) return binder_graph_fault(m->s, pointer);
        for (size_t k = 0; k < axis_count(m) * d; k++) {
            size_t axis = k / d, row = k % d;
            const char *name = arena_format(m->s->memory, "scene.%s.R%zu%zu", label, row + 1, axis + 1);
            names[k] = add_number(m, name, m->s->binder->located[element].rotation[3 * row + axis], pointer);
            if (!names[k]) return false;
        }
        *known = names;
    }
    shape->axes = *known;
    shape->axis_count = axis_count(m);
    return true;
}

static hamel_shape *add_shape(scene_maker *m, hamel_shape_kind kind, const int32_t *elements, size_t count,
                              const char *pointer) {
    hamel_scene *scene = m->scene;
    hamel_shape *all = binder_grow(m->s, scene->shapes, &m->capacity, scene->count, sizeof *all, pointer);
    if (!all) return NULL;
    scene->shapes = all;
    m->dimension = scene->dimension = m->s->dimension;
    hamel_shape shape = {.kind = kind_names[kind], .point_count = count};
    shape.name = count == 1 ? m->s->binder->located[elements[0]].name : "";
    shape.points = arena_alloc(m->s->memory, 3 * count, sizeof *shape.points);
    if (!shape.points) return binder_graph_fault(m->s, pointer), NULL;
    for (size_t k = 0; k < count; k++)
        if (!add_place(m, elements[k], pointer, shape.points + k * (size_t)m->dimension)) return NULL;
    all[scene->count] = shape;
    return &all[scene->count++];
}

/* Binds the lengths of a shape, which may contain the same symbols as positions. */
static bool add_sizes(scene_maker *m, hamel_shape *shape, const hamel_expression *items, size_t count, const char *word,
                      const loop_scope *scope) {
    shape->sizes = arena_alloc(m->s->memory, count, sizeof *shape->sizes);
    if (!shape->sizes) return binder_graph_fault(m->s, "/scene");
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

/* --- shapes of the description ------------------------------------------------------------------------------------------ */

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
    if ((solid || d->kind == HAMEL_SHAPE_CIRCLE) && s->binder->located[elements[0]].turns &&
        !add_axes(m, elements[0], d->pointer, shape))
        return;
    const char *word = d->kind == HAMEL_SHAPE_BOX ? "size" : "radius";
    if (d->sizes.count) (void)add_sizes(m, shape, d->sizes.items, d->sizes.count, word, scope);
}

static void make_all_described(scene_maker *m) {
    const hamel_description *d = m->s->description;
    family_iterator f;
    for (size_t i = 0; i < d->scene_count; i++)
        for (family_begin(&f, m->s, &d->scene[i].family); family_next(&f);) make_described(m, &d->scene[i], &f.scope);
}

/* --- default shapes of the elements ------------------------------------------------------------------------------------ */

static void make_default(scene_maker *m, hamel_shape_kind kind, const hamel_end *ends, size_t count, const char *name,
                         const loop_scope *scope) {
    int32_t elements[2];
    for (size_t k = 0; k < count; k++)
        if ((elements[k] = located_end(m->s, &ends[k], scope)) < 0) return;
    hamel_shape *shape = add_shape(m, kind, elements, count, ends[0].pointer);
    const char *expanded = name ? family_name(m->s, name, ends[0].pointer, scope) : NULL;
    if (shape && expanded) shape->name = expanded;
}

static void make_element(scene_maker *m, const char *pointer, const char *name, const hamel_family *family) {
    family_iterator f;
    hamel_end end = {.pointer = pointer, .name = name};
    if (!name) return;
    for (family_begin(&f, m->s, family); family_next(&f);) make_default(m, HAMEL_SHAPE_POINT, &end, 1, name, &f.scope);
}

/* Draws a point of space as a point, and a point of a body or frame as a line from the centre of the body or frame. */
static void make_point(scene_maker *m, const hamel_point *p) {
    family_iterator f;
    hamel_end ends[2] = {{.pointer = p->pointer, .name = p->position.frame}, {.pointer = p->pointer, .name = p->name}};
    if (!p->name) return;
    if (!p->position.frame) {
        make_element(m, p->pointer, p->name, &p->family);
        return;
    }
    for (family_begin(&f, m->s, &p->family); family_next(&f);)
        make_default(m, HAMEL_SHAPE_LINE, ends, 2, p->name, &f.scope);
}

static void make_link(scene_maker *m, hamel_shape_kind kind, const hamel_end *between, size_t count, const char *name,
                      const hamel_family *family) {
    family_iterator f;
    if (count != 2) return;
    for (family_begin(&f, m->s, family); family_next(&f);) make_default(m, kind, between, 2, name, &f.scope);
}

static void make_all_declared(scene_maker *m) {
    const hamel_description *d = m->s->description;
    for (size_t i = 0; i < d->particle_count; i++)
        make_element(m, d->particles[i].pointer, d->particles[i].name, &d->particles[i].family);
    for (size_t i = 0; i < d->body_count; i++)
        make_element(m, d->bodies[i].pointer, d->bodies[i].name, &d->bodies[i].family);
    for (size_t i = 0; i < d->point_count; i++) make_point(m, &d->points[i]);
    for (size_t i = 0; i < d->spring_count; i++) {
        const hamel_link *l = &d->springs[i];
        make_link(m, HAMEL_SHAPE_SPRING, l->between, l->end_count, l->name, &l->family);
    }
    for (size_t i = 0; i < d->damper_count; i++) {
        const hamel_link *l = &d->dampers[i];
        make_link(m, HAMEL_SHAPE_LINE, l->between, l->end_count, l->name, &l->family);
    }
    for (size_t i = 0; i < d->joint_count; i++) {
        const hamel_joint *j = &d->joints[i];
        if (j->type && strcmp(j->type, "distance") == 0)
            make_link(m, HAMEL_SHAPE_LINE, j->between, j->end_count, j->name, &j->family);
    }
}

void scene_lower(hamel_system *s) {
    const hamel_description *d = s->description;
    size_t outputs = s->output_count;
    bool shown = d->simulation.scene;
    if (!shown && !d->has_scene) return;
    scene_maker m = {.s = s, .scene = arena_alloc(s->memory, 1, sizeof *m.scene), .dimension = s->dimension};
    if (!m.scene) {
        binder_graph_fault(s, "/scene");
        return;
    }
    if (d->has_scene)
        make_all_described(&m);
    else
        make_all_declared(&m);
    if (!shown) s->output_count = outputs; /* not requested: only check for errors */
    if (shown) s->scene = m.scene;
    s->first_scene_output = outputs;
}
