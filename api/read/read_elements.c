/* read_elements.c — reads parameters, coordinates, definitions, constraints, outputs, invariants and checks.
 *
 * The first field of each struct is its pointer, which the list reader sets. The tables below fill the other fields. */
#include "api/read/read_parts.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const json_key parameter_keys[] = {
    {"value", json_read_expression, offsetof(hamel_parameter, value), true},
    {"unit", json_read_text, offsetof(hamel_parameter, unit), false},
    {"description", json_read_text, offsetof(hamel_parameter, description), false},
};
const json_kind parameter_kind = JSON_KIND("a parameter", parameter_keys);

static void read_parameter(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_parameter *p = field;
    p->pointer = pointer;
    p->name = json_copy(r, value->string);
    if (cJSON_IsObject(value)) {
        json_read_object(r, value, pointer, &parameter_kind, p);
    } else if (cJSON_IsNumber(value) || cJSON_IsString(value)) {
        json_read_expression(r, value, pointer, &p->value);
    } else {
        json_expected(r, value, pointer, "a number, an expression or an object with `value`");
    }
}

void read_parameters(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->parameters = json_read_map(r, value, pointer, "an object of names and values", sizeof *d->parameters,
                                  read_parameter, &d->parameter_count);
}

static void read_table_kind(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const names[] = {"linear", "cubic"};
    int choice = json_read_choice(r, value, pointer, names, COUNT(names));
    if (choice >= 0) ((hamel_table *)field)->kind = choice == 0 ? HAMEL_TABLE_LINEAR : HAMEL_TABLE_CUBIC;
}

static void read_table_outside(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const names[] = {"error", "hold"};
    int choice = json_read_choice(r, value, pointer, names, COUNT(names));
    if (choice >= 0) ((hamel_table *)field)->outside = choice == 0 ? HAMEL_TABLE_ERROR : HAMEL_TABLE_HOLD;
}

/* Reads a list of numbers and expressions of any length. */
static void read_values_of_table(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_expressions *list = field;
    list->items =
        json_read_list(r, value, pointer, "a list of numbers", sizeof *list->items, json_read_expression, &list->count);
    if (list->items != NULL) list->pointer = pointer;
}

static const json_key table_keys[] = {
    {"x", read_values_of_table, offsetof(hamel_table, x), true},
    {"y", read_values_of_table, offsetof(hamel_table, y), true},
    {"kind", read_table_kind, 0, false},
    {"outside", read_table_outside, 0, false},
};
const json_kind table_kind = JSON_KIND("a table", table_keys);

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

static const json_key coordinate_keys[] = {
    {"name", json_read_name, offsetof(hamel_coordinate, name), true},
    {"initial", json_read_expression, offsetof(hamel_coordinate, initial), false},
    {"velocity", json_read_expression, offsetof(hamel_coordinate, velocity), false},
    {"unit", json_read_text, offsetof(hamel_coordinate, unit), false},
    {"description", json_read_text, offsetof(hamel_coordinate, description), false},
    {"for", json_read_family, offsetof(hamel_coordinate, family), false},
};
const json_kind coordinate_kind = JSON_KIND("a coordinate", coordinate_keys);

static void read_coordinate(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_coordinate *c = field;
    c->pointer = pointer;
    if (cJSON_IsString(value)) {
        json_read_name(r, value, pointer, &c->name);
    } else if (cJSON_IsObject(value)) {
        json_read_object(r, value, pointer, &coordinate_kind, c);
    } else {
        json_expected(r, value, pointer, "a name or an object with `name`");
    }
}

READ_SECTION(read_coordinates, coordinates, coordinate_count, read_coordinate, "a list of coordinates")

static const json_key quasi_velocity_keys[] = {
    {"name", json_read_name, offsetof(hamel_quasi_velocity, name), true},
    {"definition", json_read_scalar_list, offsetof(hamel_quasi_velocity, definition), true},
    {"initial", json_read_expression, offsetof(hamel_quasi_velocity, initial), false},
    {"description", json_read_text, offsetof(hamel_quasi_velocity, description), false},
};
const json_kind quasi_velocity_kind = JSON_KIND("a quasi-velocity", quasi_velocity_keys);

READ_OBJECT(read_quasi_velocity, quasi_velocity_kind)

READ_SECTION(read_quasi_velocities, quasi_velocities, quasi_velocity_count, read_quasi_velocity,
             "a list of quasi-velocities")

static const json_key definition_keys[] = {
    {"name", json_read_name, offsetof(hamel_named, name), true},
    {"expression", json_read_one_or_vector, offsetof(hamel_named, value), true},
    {"for", json_read_family, offsetof(hamel_named, family), false},
};
const json_kind definition_kind = JSON_KIND("a definition", definition_keys);

static const json_key named_keys[] = {
    {"name", json_read_name, offsetof(hamel_named, name), true},
    {"expression", json_read_scalar_list, offsetof(hamel_named, value), true},
    {"for", json_read_family, offsetof(hamel_named, family), false},
};
const json_kind named_kind = JSON_KIND("a named expression", named_keys);

/* Reads {name: value}, or an object of this kind in a list. */
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

static const json_key friction_keys[] = {
    {"coefficient", json_read_expression, offsetof(hamel_friction, coefficient), true},
    {"static", json_read_expression, offsetof(hamel_friction, limit), false},
    {"regularization", json_read_expression, offsetof(hamel_friction, regularization), false},
    {"on", read_friction_end, offsetof(hamel_friction, on), false},
    {"against", read_friction_end, offsetof(hamel_friction, against), false},
};
const json_kind friction_kind = JSON_KIND("friction", friction_keys);

READ_OBJECT(read_friction, friction_kind)

static void read_active(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    bool active = true;
    json_read_boolean(r, value, pointer, &active);
    *(bool *)field = !active;
}

static const json_key constraint_keys[] = {
    {"name", json_read_name, offsetof(hamel_constraint, name), true},
    {"equation", json_read_expression, offsetof(hamel_constraint, equation), true},
    {"active", read_active, offsetof(hamel_constraint, inactive), false},
    {"nonideal", read_named, offsetof(hamel_constraint, nonideal), false},
    {"friction", read_friction, offsetof(hamel_constraint, friction), false},
    {"for", json_read_family, offsetof(hamel_constraint, family), false},
};
const json_kind constraint_kind = JSON_KIND("a constraint", constraint_keys);

READ_OBJECT(read_constraint, constraint_kind)

READ_SECTION(read_constraints, constraints, constraint_count, read_constraint, "a list of constraints")

static const json_key invariant_keys[] = {
    {"name", json_read_name, offsetof(hamel_invariant, name), false},
    {"expression", json_read_expression, offsetof(hamel_invariant, expression), true},
    {"tolerance", json_read_expression, offsetof(hamel_invariant, tolerance), false},
};
const json_kind invariant_kind = JSON_KIND("an invariant", invariant_keys);

static void read_invariant(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_invariant *invariant = field;
    invariant->pointer = pointer;
    if (cJSON_IsObject(value)) {
        json_read_object(r, value, pointer, &invariant_kind, invariant);
    } else if (cJSON_IsString(value) || cJSON_IsNumber(value)) {
        json_read_expression(r, value, pointer, &invariant->expression);
    } else {
        json_expected(r, value, pointer, "an expression or an object with `expression`");
    }
}

READ_SECTION(read_invariants, invariants, invariant_count, read_invariant, "a list of invariants")

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

static const json_key check_keys[] = {
    {"name", json_read_name, offsetof(hamel_check, name), false},
    {"expression", json_read_expression, offsetof(hamel_check, expression), true},
    {"at", read_at, 0, false},
    {"equals", json_read_expression, offsetof(hamel_check, equals), false},
    {"tolerance", json_read_expression, offsetof(hamel_check, tolerance), false},
    {"min", json_read_expression, offsetof(hamel_check, min), false},
    {"max", json_read_expression, offsetof(hamel_check, max), false},
};
const json_kind check_kind = JSON_KIND("a check", check_keys);

static void read_check(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_check *check = field;
    check->pointer = pointer;
    json_read_object(r, value, pointer, &check_kind, check);
    if (!cJSON_IsObject(value)) return;
    if (json_at(value, "equals") == NULL && json_at(value, "min") == NULL && json_at(value, "max") == NULL) {
        json_fault_at(r, pointer, "a check needs `equals`, `min` or `max`");
    }
    /* The expression names a check that has no name. */
    if (check->name == NULL) {
        check->name =
            check->expression.text != NULL ? check->expression.text : json_format(r, "%.17g", check->expression.number);
    }
}

READ_SECTION(read_checks, checks, check_count, read_check, "a list of checks")
