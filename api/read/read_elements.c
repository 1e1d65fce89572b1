/* read_elements.c — reads parameters, coordinates, definitions, constraints, outputs, invariants and checks.
 *
 * The first field of each struct is the JSON Pointer of its element. The tables of keys define how the other fields are
 * filled. */
#include "api/read/read_parts.h"

#include <string.h>

const json_kind parameter_kind =
    JSON_KIND("a parameter", {"value", json_read_expression, offsetof(hamel_parameter, value), true},
              {"unit", json_read_text, offsetof(hamel_parameter, unit), false},
              {"description", json_read_text, offsetof(hamel_parameter, description), false});

static void read_parameter(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_parameter *p = field;
    p->pointer = pointer;
    p->name = json_copy(r, value->string);
    if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &parameter_kind, p);
    else if (cJSON_IsNumber(value) || cJSON_IsString(value))
        json_read_expression(r, value, pointer, &p->value);
    else
        json_expected(r, value, pointer, "a number, an expression or an object with `value`");
}

void read_parameters(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->parameters = json_read_map(r, value, pointer, "an object of names and values", sizeof *d->parameters,
                                  read_parameter, &d->parameter_count);
}

JSON_CHOICE(read_table_kind, hamel_table_kind, "linear", "cubic")
JSON_CHOICE(read_table_outside, hamel_table_outside, "error", "hold")

static void read_values_of_table(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_values(r, value, pointer, false, 0, SIZE_MAX, "a list of numbers", field);
}

const json_kind table_kind = JSON_KIND("a table", {"x", read_values_of_table, offsetof(hamel_table, x), true},
                                       {"y", read_values_of_table, offsetof(hamel_table, y), true},
                                       {"kind", read_table_kind, offsetof(hamel_table, kind), false},
                                       {"outside", read_table_outside, offsetof(hamel_table, outside), false});

static void read_table(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_table *t = field;
    t->pointer = pointer;
    t->name = json_copy(r, value->string);
    json_read_object(r, value, pointer, &table_kind, t);
}

void read_tables(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->tables = json_read_map(r, value, pointer, "an object of names and tables", sizeof *d->tables, read_table,
                              &d->table_count);
}

const json_kind coordinate_kind =
    JSON_KIND("a coordinate", {"name", json_read_name, offsetof(hamel_coordinate, name), true},
              {"initial", json_read_expression, offsetof(hamel_coordinate, initial), false},
              {"velocity", json_read_expression, offsetof(hamel_coordinate, velocity), false},
              {"unit", json_read_text, offsetof(hamel_coordinate, unit), false},
              {"description", json_read_text, offsetof(hamel_coordinate, description), false},
              {"for", json_read_family, offsetof(hamel_coordinate, family), false});

static void read_coordinate(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_coordinate *c = field;
    c->pointer = pointer;
    if (cJSON_IsString(value))
        json_read_name(r, value, pointer, &c->name);
    else if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &coordinate_kind, c);
    else
        json_expected(r, value, pointer, "a name or an object with `name`");
}

READ_SECTION(coordinate, coordinates, "a list of coordinates")

const json_kind quasi_velocity_kind =
    JSON_KIND("a quasi-velocity", {"name", json_read_name, offsetof(hamel_quasi_velocity, name), true},
              {"definition", json_read_scalar_list, offsetof(hamel_quasi_velocity, definition), true},
              {"initial", json_read_expression, offsetof(hamel_quasi_velocity, initial), false},
              {"description", json_read_text, offsetof(hamel_quasi_velocity, description), false});

READ_OBJECTS(quasi_velocity, quasi_velocities, "a list of quasi-velocities")

const json_kind definition_kind = JSON_KIND("a definition", {"name", json_read_name, offsetof(hamel_named, name), true},
                                            {"expression", json_read_one_or_vector, offsetof(hamel_named, value), true},
                                            {"for", json_read_family, offsetof(hamel_named, family), false});

const json_kind named_kind =
    JSON_KIND("a named expression", {"name", json_read_name, offsetof(hamel_named, name), true},
              {"expression", json_read_scalar_list, offsetof(hamel_named, value), true},
              {"for", json_read_family, offsetof(hamel_named, family), false});

/* Reads the value of a member {name: value}, or an object of this kind in a list. */
static void read_named_value(json_reader *r, const cJSON *value, const char *pointer, hamel_named *out,
                             const json_kind *kind, json_read_function *read) {
    out->pointer = pointer;
    out->name = value->string != NULL ? json_copy(r, value->string) : NULL;
    if (value->string != NULL)
        read(r, value, pointer, &out->value);
    else
        json_read_object(r, value, pointer, kind, out);
}

static void read_definition_item(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_named_value(r, value, pointer, field, &definition_kind, json_read_one_or_vector);
}

static void read_named_item(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_named_value(r, value, pointer, field, &named_kind, json_read_scalar_list);
}

static void read_map_or_list(json_reader *r, const cJSON *value, const char *pointer, hamel_named_list *list,
                             json_read_function *read) {
    list->items = (cJSON_IsObject(value) ? json_read_map : json_read_list)(
        r, value, pointer, "an object of names and expressions, or a list", sizeof *list->items, read, &list->count);
}

void read_definitions(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_map_or_list(r, value, pointer, field, read_definition_item);
}

void read_named(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_map_or_list(r, value, pointer, field, read_named_item);
}

READ_LOCATED_NAME(read_friction_end, hamel_end, name, pointer)

const json_kind friction_kind =
    JSON_KIND("friction", {"coefficient", json_read_expression, offsetof(hamel_friction, coefficient), true},
              {"static", json_read_expression, offsetof(hamel_friction, limit), false},
              {"regularization", json_read_expression, offsetof(hamel_friction, regularization), false},
              {"on", read_friction_end, offsetof(hamel_friction, on), false},
              {"against", read_friction_end, offsetof(hamel_friction, against), false});

READ_OBJECT(friction)

const json_kind direction_kind =
    JSON_KIND("a direction", {"coordinates", read_named, offsetof(hamel_reaction_direction, coordinates), false},
              {"on", read_friction_end, offsetof(hamel_reaction_direction, on), false},
              {"vector", json_read_vector, offsetof(hamel_reaction_direction, vector), false});

READ_OBJECT(direction)

static void read_active(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    bool active = true;
    json_read_boolean(r, value, pointer, &active);
    *(bool *)field = !active;
}

const json_kind constraint_kind =
    JSON_KIND("a constraint", {"name", json_read_name, offsetof(hamel_constraint, name), true},
              {"equation", json_read_expression, offsetof(hamel_constraint, equation), true},
              {"active", read_active, offsetof(hamel_constraint, inactive), false},
              {"nonideal", read_named, offsetof(hamel_constraint, nonideal), false},
              {"friction", read_friction, offsetof(hamel_constraint, friction), false},
              {"direction", read_direction, offsetof(hamel_constraint, direction), false},
              {"for", json_read_family, offsetof(hamel_constraint, family), false});

READ_OBJECTS(constraint, constraints, "a list of constraints")

const json_kind invariant_kind =
    JSON_KIND("an invariant", {"name", json_read_name, offsetof(hamel_invariant, name), false},
              {"expression", json_read_expression, offsetof(hamel_invariant, expression), true},
              {"tolerance", json_read_expression, offsetof(hamel_invariant, tolerance), false});

static void read_invariant(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_invariant *invariant = field;
    invariant->pointer = pointer;
    if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &invariant_kind, invariant);
    else if (cJSON_IsString(value) || cJSON_IsNumber(value))
        json_read_expression(r, value, pointer, &invariant->expression);
    else
        json_expected(r, value, pointer, "an expression or an object with `expression`");
}

READ_SECTION(invariant, invariants, "a list of invariants")

/* Reads "final", "always", or a time. */
static void read_at(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_check *check = field;
    if (cJSON_IsString(value) && strcmp(value->valuestring, "final") == 0) {
        check->at = HAMEL_CHECK_FINAL;
    } else if (cJSON_IsString(value) && strcmp(value->valuestring, "always") == 0) {
        check->at = HAMEL_CHECK_ALWAYS;
    } else if (cJSON_IsString(value) || cJSON_IsNumber(value)) {
        check->at = HAMEL_CHECK_TIME;
        json_read_expression(r, value, pointer, &check->time);
    } else {
        json_expected(r, value, pointer, "a time, \"final\" or \"always\"");
    }
}

const json_kind check_kind =
    JSON_KIND("a check", {"name", json_read_name, offsetof(hamel_check, name), false},
              {"expression", json_read_expression, offsetof(hamel_check, expression), true}, {"at", read_at, 0, false},
              {"equals", json_read_expression, offsetof(hamel_check, equals), false},
              {"tolerance", json_read_expression, offsetof(hamel_check, tolerance), false},
              {"min", json_read_expression, offsetof(hamel_check, min), false},
              {"max", json_read_expression, offsetof(hamel_check, max), false});

static void read_check(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_check *check = field;
    check->pointer = pointer;
    json_read_object(r, value, pointer, &check_kind, check);
    if (!cJSON_IsObject(value)) return;
    if (json_at(value, "equals") == NULL && json_at(value, "min") == NULL && json_at(value, "max") == NULL)
        json_fault_at(r, pointer, "a check needs `equals`, `min` or `max`");
    /* the name of a check without a name is its expression */
    if (check->name == NULL) check->name = check->expression.text;
    if (check->name == NULL) check->name = json_format(r, "%.17g", check->expression.number);
}

READ_SECTION(check, checks, "a list of checks")
