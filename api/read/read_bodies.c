/* read_bodies.c — reads positions, particles, bodies, points and frames; springs, dampers, loads and joints.
 *
 * The first field of each struct is the JSON Pointer of its object. The tables of keys define how the other fields are
 * filled. */
#include "api/read/read_parts.h"

#include <string.h>

/* --- positions and orientations ----------------------------------------------------------------------------------- */

READ_LOCATED_NAME(read_frame_name, hamel_position, frame, frame_pointer)

const json_kind framed_position_kind = JSON_KIND("a position in a frame", {"frame", read_frame_name, 0, true},
                                                 {"at", json_read_vector, offsetof(hamel_position, at), true});

static void read_position(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_position *p = field;
    p->pointer = pointer;
    if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &framed_position_kind, p);
    else
        json_read_vector(r, value, pointer, &p->at);
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
    out->pointer = pointer;
    out->items = json_alloc(r, 9, sizeof *out->items);
    if (out->items == NULL) return;
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
    json_read_values(r, value, pointer, false, 3, 3, "a list of three angles", &((hamel_orientation *)field)->values);
}

const json_kind euler_kind =
    JSON_KIND("Euler angles", {"sequence", read_sequence, 0, true}, {"angles", read_angles, 0, true});

static void read_euler(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_orientation *)field)->kind = HAMEL_EULER;
    json_read_object(r, value, pointer, &euler_kind, field);
}

static void read_quaternion(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->kind = HAMEL_QUATERNION;
    json_read_values(r, value, pointer, false, 4, 4, "a list of four components, the scalar first", &o->values);
}

static void read_matrix(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->kind = HAMEL_MATRIX;
    read_rows(r, value, pointer, &o->values);
}

const json_kind orientation_kind =
    JSON_KIND("an orientation", {"angle", read_angle, 0, false}, {"euler", read_euler, 0, false},
              {"quaternion", read_quaternion, 0, false}, {"matrix", read_matrix, 0, false});

static void read_orientation(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_orientation *o = field;
    o->pointer = pointer;
    json_read_object(r, value, pointer, &orientation_kind, o);
    if (cJSON_IsObject(value) && json_child_count(value) != 1)
        json_fault_at(r, pointer, "an orientation has exactly one of `angle`, `euler`, `quaternion` and `matrix`");
}

static void read_inertia(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char what[] = "one expression, three principal moments, or a 3×3 list";
    if (cJSON_IsArray(value) && cJSON_IsArray(value->child))
        read_rows(r, value, pointer, field);
    else
        json_read_values(r, value, pointer, true, 3, 3, what, field);
}

/* --- particles, bodies, points, frames ---------------------------------------------------------------------------- */

const json_kind particle_kind = JSON_KIND("a particle", {"name", json_read_name, offsetof(hamel_particle, name), true},
                                          {"mass", json_read_expression, offsetof(hamel_particle, mass), true},
                                          {"position", read_position, offsetof(hamel_particle, position), true},
                                          {"for", json_read_family, offsetof(hamel_particle, family), false});

READ_LOCATED_NAME(read_body_in, hamel_body, in, in_pointer)

const json_kind body_kind =
    JSON_KIND("a body", {"name", json_read_name, offsetof(hamel_body, name), true},
              {"mass", json_read_expression, offsetof(hamel_body, mass), true},
              {"position", read_position, offsetof(hamel_body, position), true},
              {"orientation", read_orientation, offsetof(hamel_body, orientation), false},
              {"in", read_body_in, 0, false}, {"inertia", read_inertia, offsetof(hamel_body, inertia), false},
              {"for", json_read_family, offsetof(hamel_body, family), false});

READ_LOCATED_NAME(read_point_body, hamel_point, position.frame, position.frame_pointer)

static void read_point_at(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_point *p = field;
    p->position.pointer = pointer;
    json_read_vector(r, value, pointer, &p->position.at);
}

const json_kind point_kind =
    JSON_KIND("a point", {"name", json_read_name, offsetof(hamel_point, name), true},
              {"position", read_position, offsetof(hamel_point, position), false}, {"body", read_point_body, 0, false},
              {"at", read_point_at, 0, false}, {"for", json_read_family, offsetof(hamel_point, family), false});

READ_LOCATED_NAME(read_in, hamel_point, in, in_pointer)

const json_kind frame_kind =
    JSON_KIND("a frame", {"name", json_read_name, offsetof(hamel_point, name), true},
              {"origin", read_position, offsetof(hamel_point, position), false},
              {"orientation", read_orientation, offsetof(hamel_point, orientation), false}, {"in", read_in, 0, false},
              {"for", json_read_family, offsetof(hamel_point, family), false});

static void read_point(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_point *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &point_kind, field);
    if (!cJSON_IsObject(value)) return;
    bool position = json_at(value, "position") != NULL;
    bool body = json_at(value, "body") != NULL, at = json_at(value, "at") != NULL;
    if (body != at || position == body) json_fault_at(r, pointer, "a point has either `position`, or `body` and `at`");
}

static void read_frame(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_point *p = field;
    p->pointer = pointer;
    json_read_object(r, value, pointer, &frame_kind, field);
    if (p->in && p->position.frame)
        json_fault_at(r, pointer, "`in` and the frame of `origin` exclude each other: remove one of them");
}

/* --- springs, dampers, loads, joints ------------------------------------------------------------------------------ */

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

const json_kind spring_kind = JSON_KIND("a spring", {"name", json_read_name, offsetof(hamel_link, name), false},
                                        {"between", read_link_ends, 0, true},
                                        {"stiffness", json_read_expression, offsetof(hamel_link, strength), true},
                                        {"length", json_read_expression, offsetof(hamel_link, length), false},
                                        {"for", json_read_family, offsetof(hamel_link, family), false});

const json_kind damper_kind = JSON_KIND("a damper", {"name", json_read_name, offsetof(hamel_link, name), false},
                                        {"between", read_link_ends, 0, true},
                                        {"coefficient", json_read_expression, offsetof(hamel_link, strength), true},
                                        {"for", json_read_family, offsetof(hamel_link, family), false});

READ_LOCATED_NAME(read_on, hamel_load, on, on_pointer)

static void read_torque(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_values(r, value, pointer, true, 3, 3, "one expression (planar) or a list of three", field);
}

const json_kind load_kind =
    JSON_KIND("a load", {"on", read_on, 0, true}, {"force", json_read_vector, offsetof(hamel_load, force), false},
              {"torque", read_torque, offsetof(hamel_load, torque), false},
              {"for", json_read_family, offsetof(hamel_load, family), false});

READ_LOCATED_NAME(read_type, hamel_joint, type, type_pointer)

const json_kind friction_couples_kind = JSON_KIND(
    "friction of a joint", {"rolling", json_read_expression, offsetof(hamel_friction_couples, rolling), false},
    {"pivoting", json_read_expression, offsetof(hamel_friction_couples, pivoting), false},
    {"regularization", json_read_expression, offsetof(hamel_friction_couples, regularization), false});

READ_OBJECT(friction_couples)

const json_kind joint_kind = JSON_KIND("a joint", {"name", json_read_name, offsetof(hamel_joint, name), true},
                                       {"type", read_type, 0, true}, {"between", read_joint_ends, 0, true},
                                       {"length", json_read_expression, offsetof(hamel_joint, length), false},
                                       {"radius", json_read_expression, offsetof(hamel_joint, radius), false},
                                       {"axis", json_read_vector, offsetof(hamel_joint, direction), false},
                                       {"normal", json_read_vector, offsetof(hamel_joint, direction), false},
                                       {"direction", json_read_vector, offsetof(hamel_joint, direction), false},
                                       {"friction", read_friction_couples, offsetof(hamel_joint, friction), false},
                                       {"for", json_read_family, offsetof(hamel_joint, family), false});

static void read_load(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_load *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &load_kind, field);
    if (cJSON_IsObject(value) && json_at(value, "force") == NULL && json_at(value, "torque") == NULL)
        json_fault_at(r, pointer, "a load has a `force`, a `torque`, or both");
}

/* Keys of each type of joint, in addition to `name`, `type`, `between` and `for`. Any other key has no effect and is an
 * error. */
/* clang-format off */
static const struct {
    const char *type, *keys[3];
} joint_types[] = {
    {"coincident", {"", "", ""}},
    {"distance",   {"length", "", ""}},
    {"revolute",   {"axis", "", ""}},
    {"prismatic",  {"axis", "", ""}},
    {"fixed",      {"", "", ""}},
    {"rolling",    {"radius", "normal", "friction"}},
    {"knife_edge", {"direction", "", ""}},
};
/* clang-format on */

static void read_joint(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const special[] = {"length", "radius", "axis", "normal", "direction", "friction"};
    enum { TYPES = sizeof joint_types / sizeof *joint_types };
    hamel_joint *j = field;
    j->pointer = pointer;
    json_read_object(r, value, pointer, &joint_kind, field);
    size_t type = 0;
    while (type < TYPES && !(j->type && strcmp(j->type, joint_types[type].type) == 0)) type++;
    if (type == TYPES) return; /* the engine reports an unknown type when it binds names */
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        const char *const *keys = joint_types[type].keys;
        bool taken =
            strcmp(keys[0], special[k]) == 0 || strcmp(keys[1], special[k]) == 0 || strcmp(keys[2], special[k]) == 0;
        if (json_at(value, special[k]) && !taken)
            json_fault_at(r, json_pointer_of_key(r, pointer, special[k]), "a `%s` joint has no `%s`", j->type,
                          special[k]);
    }
}

/* --- the sections ------------------------------------------------------------------------------------------------- */

READ_OBJECTS(particle, particles, "a list of particles")
READ_OBJECTS(body, bodies, "a list of bodies")
READ_SECTION(point, points, "a list of points")
READ_SECTION(frame, frames, "a list of frames")
READ_OBJECTS(spring, springs, "a list of springs")
READ_OBJECTS(damper, dampers, "a list of dampers")
READ_SECTION(load, loads, "a list of loads")
READ_SECTION(joint, joints, "a list of joints")
