/* read_bodies.c — reads positions, particles, bodies, points and frames; springs, dampers, loads and joints.
 *
 * The first field of each struct is its pointer, which the list reader sets. The tables below fill the other fields. */
#include "api/read/read_parts.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* --- positions and orientations ------------------------------------------------------------------------------------- */

READ_LOCATED_NAME(read_frame_name, hamel_position, frame, frame_pointer)

static const json_key framed_keys[] = {
    {"frame", read_frame_name, 0, true},
    {"at", json_read_vector, offsetof(hamel_position, at), true},
};
const json_kind framed_position_kind = JSON_KIND("a position in a frame", framed_keys);

static void read_position(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_position *p = field;
    p->pointer = pointer;
    if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &framed_position_kind, p);
    else
        json_read_vector(r, value, pointer, &p->at);
}

static bool make_values(json_reader *r, const char *pointer, size_t count, hamel_expressions *out) {
    out->pointer = pointer;
    out->items = json_alloc(r, count, sizeof *out->items);
    return out->items != NULL;
}

/* Reads exactly `count` expressions. */
static void read_values(json_reader *r, const cJSON *value, const char *pointer, size_t count, const char *what,
                        hamel_expressions *out) {
    size_t found = json_child_count(value), k = 0;
    if (!cJSON_IsArray(value)) {
        json_expected(r, value, pointer, what);
    } else if (found != count) {
        json_fault_at(r, pointer, "expected %s, found a list of %zu", what, found);
    } else if (make_values(r, pointer, count, out)) {
        for (const cJSON *item = value->child; item != NULL; item = item->next, k++)
            json_read_expression(r, item, json_pointer_of_index(r, pointer, k), &out->items[k]);
        out->count = count;
    }
}

/* Reads a 3 × 3 list, row by row. */
static void read_rows(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_expressions *out = field;
    bool good = cJSON_IsArray(value) && json_child_count(value) == 3;
    for (const cJSON *row = good ? value->child : NULL; row != NULL; row = row->next)
        good = good && cJSON_IsArray(row) && json_child_count(row) == 3;
    if (!good) {
        json_fault_at(r, pointer, "expected three rows of three expressions");
        return;
    }
    if (!make_values(r, pointer, 9, out)) return;
    size_t i = 0;
    for (const cJSON *row = value->child; row != NULL; row = row->next, i++) {
        const char *at = json_pointer_of_index(r, pointer, i);
        size_t k = 0;
        for (const cJSON *item = row->child; item != NULL; item = item->next, k++)
            json_read_expression(r, item, json_pointer_of_index(r, at, k), &out->items[3 * i + k]);
    }
    out->count = 9;
}

static void read_angle(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->kind = HAMEL_ANGLE;
    json_read_scalar_list(r, value, pointer, &o->values);
}

READ_LOCATED_NAME(read_sequence, hamel_orientation, sequence, sequence_pointer)

static void read_angles(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_values(r, value, pointer, 3, "a list of three angles", &((hamel_orientation *)field)->values);
}

static const json_key euler_keys[] = {
    {"sequence", read_sequence, 0, true},
    {"angles", read_angles, 0, true},
};
const json_kind euler_kind = JSON_KIND("Euler angles", euler_keys);

static void read_euler(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_orientation *)field)->kind = HAMEL_EULER;
    json_read_object(r, value, pointer, &euler_kind, field);
}

static void read_quaternion(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->kind = HAMEL_QUATERNION;
    read_values(r, value, pointer, 4, "a list of four components, the scalar first", &o->values);
}

static void read_matrix(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->kind = HAMEL_MATRIX;
    read_rows(r, value, pointer, &o->values);
}

static const json_key orientation_keys[] = {
    {"angle", read_angle, 0, false},
    {"euler", read_euler, 0, false},
    {"quaternion", read_quaternion, 0, false},
    {"matrix", read_matrix, 0, false},
};
const json_kind orientation_kind = JSON_KIND("an orientation", orientation_keys);

static void read_orientation(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->pointer = pointer;
    json_read_object(r, value, pointer, &orientation_kind, o);
    if (cJSON_IsObject(value) && json_child_count(value) != 1)
        json_fault_at(r, pointer, "an orientation has exactly one of `angle`, `euler`, `quaternion` and `matrix`");
}

static void read_inertia(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_expressions *out = field;
    if (!cJSON_IsArray(value))
        json_read_scalar_list(r, value, pointer, out);
    else if (cJSON_IsArray(value->child))
        read_rows(r, value, pointer, out);
    else
        read_values(r, value, pointer, 3, "one expression, three principal moments, or a 3×3 list", out);
}

/* --- particles, bodies, points, frames ---------------------------------------------------------------------------------- */

static const json_key particle_keys[] = {
    {"name", json_read_name, offsetof(hamel_particle, name), true},
    {"mass", json_read_expression, offsetof(hamel_particle, mass), true},
    {"position", read_position, offsetof(hamel_particle, position), true},
    {"for", json_read_family, offsetof(hamel_particle, family), false},
};
const json_kind particle_kind = JSON_KIND("a particle", particle_keys);

READ_LOCATED_NAME(read_body_in, hamel_body, in, in_pointer)

static const json_key body_keys[] = {
    {"name", json_read_name, offsetof(hamel_body, name), true},
    {"mass", json_read_expression, offsetof(hamel_body, mass), true},
    {"position", read_position, offsetof(hamel_body, position), true},
    {"orientation", read_orientation, offsetof(hamel_body, orientation), false},
    {"in", read_body_in, 0, false},
    {"inertia", read_inertia, offsetof(hamel_body, inertia), false},
    {"for", json_read_family, offsetof(hamel_body, family), false},
};
const json_kind body_kind = JSON_KIND("a body", body_keys);

READ_LOCATED_NAME(read_point_body, hamel_point, position.frame, position.frame_pointer)

static void read_point_at(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_point *p = field;
    p->position.pointer = pointer;
    json_read_vector(r, value, pointer, &p->position.at);
}

static const json_key point_keys[] = {
    {"name", json_read_name, offsetof(hamel_point, name), true},
    {"position", read_position, offsetof(hamel_point, position), false},
    {"body", read_point_body, 0, false},
    {"at", read_point_at, 0, false},
    {"for", json_read_family, offsetof(hamel_point, family), false},
};
const json_kind point_kind = JSON_KIND("a point", point_keys);

READ_LOCATED_NAME(read_in, hamel_point, in, in_pointer)

static const json_key frame_keys[] = {
    {"name", json_read_name, offsetof(hamel_point, name), true},
    {"origin", read_position, offsetof(hamel_point, position), false},
    {"orientation", read_orientation, offsetof(hamel_point, orientation), false},
    {"in", read_in, 0, false},
    {"for", json_read_family, offsetof(hamel_point, family), false},
};
const json_kind frame_kind = JSON_KIND("a frame", frame_keys);

READ_OBJECT(read_particle, particle_kind)

READ_OBJECT(read_body, body_kind)

static void read_point(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_point *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &point_kind, field);
    if (!cJSON_IsObject(value)) return;
    bool in_body = json_at(value, "body") && json_at(value, "at");
    bool position = json_at(value, "position") != NULL;
    bool any = json_at(value, "body") || json_at(value, "at");
    if (position == any || (any && !in_body))
        json_fault_at(r, pointer, "a point has either `position`, or `body` and `at`");
}

static void read_frame(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_point *p = field;
    p->pointer = pointer;
    json_read_object(r, value, pointer, &frame_kind, field);
    if (p->in && p->position.frame)
        json_fault_at(r, pointer, "`in` and the frame of `origin` exclude each other: remove one of them");
}

/* --- springs, dampers, loads, joints -------------------------------------------------------------------------------------- */

void read_end(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_end *e = field;
    e->pointer = pointer;
    if (cJSON_IsString(value))
        json_read_name(r, value, pointer, &e->name);
    else
        read_position(r, value, pointer, &e->position);
}

typedef struct end_list {
    hamel_end *ends;
    size_t *count, least;
} end_list;

static void read_ends(json_reader *r, const cJSON *value, const char *pointer, end_list list) {
    size_t count = cJSON_IsArray(value) ? json_child_count(value) : 0;
    if (count < list.least || count > 2) {
        json_expected(r, value, pointer, list.least == 1 ? "a list of one or two elements" : "a list of two elements");
        return;
    }
    size_t k = 0;
    for (const cJSON *item = value->child; item != NULL; item = item->next, k++)
        read_end(r, item, json_pointer_of_index(r, pointer, k), &list.ends[k]);
    *list.count = count;
}

static void read_link_ends(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_link *l = field;
    read_ends(r, value, pointer, (end_list){l->between, &l->end_count, 2});
}

static void read_joint_ends(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_joint *j = field;
    read_ends(r, value, pointer, (end_list){j->between, &j->end_count, 1});
}

static const json_key spring_keys[] = {
    {"name", json_read_name, offsetof(hamel_link, name), false},
    {"between", read_link_ends, 0, true},
    {"stiffness", json_read_expression, offsetof(hamel_link, strength), true},
    {"length", json_read_expression, offsetof(hamel_link, length), false},
    {"for", json_read_family, offsetof(hamel_link, family), false},
};
const json_kind spring_kind = JSON_KIND("a spring", spring_keys);

static const json_key damper_keys[] = {
    {"name", json_read_name, offsetof(hamel_link, name), false},
    {"between", read_link_ends, 0, true},
    {"coefficient", json_read_expression, offsetof(hamel_link, strength), true},
    {"for", json_read_family, offsetof(hamel_link, family), false},
};
const json_kind damper_kind = JSON_KIND("a damper", damper_keys);

READ_LOCATED_NAME(read_on, hamel_load, on, on_pointer)

static void read_torque(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsArray(value))
        read_values(r, value, pointer, 3, "one expression (planar) or a list of three", field);
    else
        json_read_scalar_list(r, value, pointer, field);
}

static const json_key load_keys[] = {
    {"on", read_on, 0, true},
    {"force", json_read_vector, offsetof(hamel_load, force), false},
    {"torque", read_torque, offsetof(hamel_load, torque), false},
    {"for", json_read_family, offsetof(hamel_load, family), false},
};
const json_kind load_kind = JSON_KIND("a load", load_keys);

READ_LOCATED_NAME(read_type, hamel_joint, type, type_pointer)

static const json_key joint_keys[] = {
    {"name", json_read_name, offsetof(hamel_joint, name), true},
    {"type", read_type, 0, true},
    {"between", read_joint_ends, 0, true},
    {"length", json_read_expression, offsetof(hamel_joint, length), false},
    {"radius", json_read_expression, offsetof(hamel_joint, radius), false},
    {"axis", json_read_vector, offsetof(hamel_joint, direction), false},
    {"normal", json_read_vector, offsetof(hamel_joint, direction), false},
    {"direction", json_read_vector, offsetof(hamel_joint, direction), false},
    {"for", json_read_family, offsetof(hamel_joint, family), false},
};
const json_kind joint_kind = JSON_KIND("a joint", joint_keys);

READ_OBJECT(read_spring, spring_kind)

READ_OBJECT(read_damper, damper_kind)

static bool has(const cJSON *value, const char *key) {
    return json_at(value, key) != NULL;
}

static void read_load(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_load *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &load_kind, field);
    if (cJSON_IsObject(value) && !has(value, "force") && !has(value, "torque"))
        json_fault_at(r, pointer, "a load has a `force`, a `torque`, or both");
}

/* The keys of each type of joint, apart from `name`, `type`, `between` and `for`. Other keys are errors, as they would
 * have no effect. */
/* clang-format off */
static const struct {
    const char *type, *keys[2];
} joint_types[] = {
    {"coincident", {NULL, NULL}},
    {"distance",   {"length", NULL}},
    {"revolute",   {"axis", NULL}},
    {"prismatic",  {"axis", NULL}},
    {"fixed",      {NULL, NULL}},
    {"rolling",    {"radius", "normal"}},
    {"knife_edge", {"direction", NULL}},
};
/* clang-format on */

static void read_joint(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const special[] = {"length", "radius", "axis", "normal", "direction"};
    hamel_joint *j = field;
    j->pointer = pointer;
    json_read_object(r, value, pointer, &joint_kind, field);
    size_t type = 0;
    while (type < COUNT(joint_types) && !(j->type && strcmp(j->type, joint_types[type].type) == 0)) type++;
    if (type == COUNT(joint_types)) return; /* reported when names are bound */
    for (size_t k = 0; k < COUNT(special); k++) {
        bool taken = false;
        for (int i = 0; i < 2 && joint_types[type].keys[i]; i++)
            taken = taken || strcmp(joint_types[type].keys[i], special[k]) == 0;
        if (has(value, special[k]) && !taken)
            json_fault_at(r, json_pointer_of_key(r, pointer, special[k]), "a `%s` joint has no `%s`", j->type,
                          special[k]);
    }
}

/* --- the sections ----------------------------------------------------------------------------------------------------------- */

READ_SECTION(read_particles, particles, particle_count, read_particle, "a list of particles")
READ_SECTION(read_bodies, bodies, body_count, read_body, "a list of bodies")
READ_SECTION(read_points, points, point_count, read_point, "a list of points")
READ_SECTION(read_frames, frames, frame_count, read_frame, "a list of frames")
READ_SECTION(read_springs, springs, spring_count, read_spring, "a list of springs")
READ_SECTION(read_dampers, dampers, damper_count, read_damper, "a list of dampers")
READ_SECTION(read_loads, loads, load_count, read_load, "a list of loads")
READ_SECTION(read_joints, joints, joint_count, read_joint, "a list of joints")
