/* read_elements.c — parameters, coordinates, definitions, constraints, outputs, invariants and checks.
 *
 * A struct's first field is its pointer, which the list reader sets; the tables below fill the rest. */
#include "api/read_parts.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const json_key parameter_keys[] = {
    {"value", json_read_expression, offsetof(hamel_parameter, value), true},
    {"unit", json_read_text, offsetof(hamel_parameter, unit), false},
    {"description", json_read_text, offsetof(hamel_parameter, description), false},
};
const json_kind parameter_kind = {"a parameter", parameter_keys, COUNT(parameter_keys)};

static void read_parameter(json_reader *r, const cJSON *member, const char *pointer, hamel_parameter *p) {
    p->pointer = pointer;
    p->name = json_copy(r, member->string);
    if (cJSON_IsObject(member)) {
        json_read_object(r, member, pointer, &parameter_kind, p);
    } else if (cJSON_IsNumber(member) || cJSON_IsString(member)) {
        json_read_expression(r, member, pointer, &p->value);
    } else {
        json_expected(r, member, pointer, "a number, an expression or an object with `value`");
    }
}

void read_parameters(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    if (!cJSON_IsObject(value)) {
        json_expected(r, value, pointer, "an object of names and values");
        return;
    }
    size_t count = json_child_count(value);
    d->parameters = json_alloc(r, count, sizeof *d->parameters);
    if (d->parameters == NULL) return;
    size_t k = 0;
    for (const cJSON *member = value->child; member != NULL && !r->no_memory; member = member->next, k++) {
        read_parameter(r, member, json_pointer_of_key(r, pointer, member->string), &d->parameters[k]);
    }
    d->parameter_count = count;
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

/* A list of numbers and expressions of any length. */
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
const json_kind table_kind = {"a table", table_keys, COUNT(table_keys)};

void read_tables(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    if (!cJSON_IsObject(value)) {
        json_expected(r, value, pointer, "an object of names and tables");
        return;
    }
    d->tables = json_alloc(r, json_child_count(value), sizeof *d->tables);
    if (d->tables == NULL) return;
    hamel_table *t = d->tables;
    for (const cJSON *member = value->child; member != NULL && !r->no_memory; member = member->next, t++) {
        t->pointer = json_pointer_of_key(r, pointer, member->string);
        t->name = json_copy(r, member->string);
        json_read_object(r, member, t->pointer, &table_kind, t);
        d->table_count++;
    }
}

static const json_key coordinate_keys[] = {
    {"name", json_read_name, offsetof(hamel_coordinate, name), true},
    {"initial", json_read_expression, offsetof(hamel_coordinate, initial), false},
    {"velocity", json_read_expression, offsetof(hamel_coordinate, velocity), false},
    {"unit", json_read_text, offsetof(hamel_coordinate, unit), false},
    {"description", json_read_text, offsetof(hamel_coordinate, description), false},
    {"for", json_read_family, offsetof(hamel_coordinate, family), false},
};
const json_kind coordinate_kind = {"a coordinate", coordinate_keys, COUNT(coordinate_keys)};

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

void read_coordinates(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->coordinates = json_read_list(r, value, pointer, "a list of coordinates", sizeof *d->coordinates, read_coordinate,
                                    &d->coordinate_count);
}

static const json_key quasi_velocity_keys[] = {
    {"name", json_read_name, offsetof(hamel_quasi_velocity, name), true},
    {"definition", json_read_scalar_list, offsetof(hamel_quasi_velocity, definition), true},
    {"initial", json_read_expression, offsetof(hamel_quasi_velocity, initial), false},
    {"description", json_read_text, offsetof(hamel_quasi_velocity, description), false},
};
const json_kind quasi_velocity_kind = {"a quasi-velocity", quasi_velocity_keys, COUNT(quasi_velocity_keys)};

static void read_quasi_velocity(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_quasi_velocity *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &quasi_velocity_kind, field);
}

void read_quasi_velocities(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->quasi_velocities = json_read_list(r, value, pointer, "a list of quasi-velocities", sizeof *d->quasi_velocities,
                                         read_quasi_velocity, &d->quasi_velocity_count);
}

static const json_key definition_keys[] = {
    {"name", json_read_name, offsetof(hamel_named, name), true},
    {"expression", json_read_one_or_vector, offsetof(hamel_named, value), true},
    {"for", json_read_family, offsetof(hamel_named, family), false},
};
const json_kind definition_kind = {"a definition", definition_keys, COUNT(definition_keys)};

static const json_key named_keys[] = {
    {"name", json_read_name, offsetof(hamel_named, name), true},
    {"expression", json_read_scalar_list, offsetof(hamel_named, value), true},
    {"for", json_read_family, offsetof(hamel_named, family), false},
};
const json_kind named_kind = {"a named expression", named_keys, COUNT(named_keys)};

static void read_definition_item(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_named *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &definition_kind, field);
}

static void read_named_item(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_named *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &named_kind, field);
}

/* {name: value} or [{name, expression, for}]. */
static void read_map_or_list(json_reader *r, const cJSON *value, const char *pointer, hamel_named_list *list,
                             json_read_function *read_value, json_read_function *read_item) {
    if (!cJSON_IsObject(value)) {
        list->items = json_read_list(r, value, pointer, "an object of names and expressions, or a list",
                                     sizeof *list->items, read_item, &list->count);
        return;
    }
    size_t count = json_child_count(value);
    list->items = json_alloc(r, count, sizeof *list->items);
    if (list->items == NULL) return;
    hamel_named *item = list->items;
    for (const cJSON *member = value->child; member != NULL && !r->no_memory; member = member->next, item++) {
        item->pointer = json_pointer_of_key(r, pointer, member->string);
        item->name = json_copy(r, member->string);
        read_value(r, member, item->pointer, &item->value);
    }
    list->count = count;
}

void read_definitions(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_map_or_list(r, value, pointer, field, json_read_one_or_vector, read_definition_item);
}

void read_named(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_map_or_list(r, value, pointer, field, json_read_scalar_list, read_named_item);
}

static void read_friction_end(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_end *end = field;
    end->pointer = pointer;
    json_read_name(r, value, pointer, &end->name);
}

static const json_key friction_keys[] = {
    {"coefficient", json_read_expression, offsetof(hamel_friction, coefficient), true},
    {"static", json_read_expression, offsetof(hamel_friction, limit), false},
    {"regularization", json_read_expression, offsetof(hamel_friction, regularization), false},
    {"on", read_friction_end, offsetof(hamel_friction, on), false},
    {"against", read_friction_end, offsetof(hamel_friction, against), false},
};
const json_kind friction_kind = {"friction", friction_keys, COUNT(friction_keys)};

static void read_friction(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_friction *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &friction_kind, field);
}

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
const json_kind constraint_kind = {"a constraint", constraint_keys, COUNT(constraint_keys)};

static void read_constraint(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_constraint *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &constraint_kind, field);
}

void read_constraints(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->constraints = json_read_list(r, value, pointer, "a list of constraints", sizeof *d->constraints, read_constraint,
                                    &d->constraint_count);
}

static const json_key invariant_keys[] = {
    {"name", json_read_name, offsetof(hamel_invariant, name), false},
    {"expression", json_read_expression, offsetof(hamel_invariant, expression), true},
    {"tolerance", json_read_expression, offsetof(hamel_invariant, tolerance), false},
};
const json_kind invariant_kind = {"an invariant", invariant_keys, COUNT(invariant_keys)};

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

void read_invariants(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->invariants = json_read_list(r, value, pointer, "a list of invariants", sizeof *d->invariants, read_invariant,
                                   &d->invariant_count);
}

/* "final", "always", or a time. */
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
const json_kind check_kind = {"a check", check_keys, COUNT(check_keys)};

static void read_check(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_check *check = field;
    check->pointer = pointer;
    json_read_object(r, value, pointer, &check_kind, check);
    if (!cJSON_IsObject(value)) return;
    if (cJSON_GetObjectItemCaseSensitive(value, "equals") == NULL &&
        cJSON_GetObjectItemCaseSensitive(value, "min") == NULL &&
        cJSON_GetObjectItemCaseSensitive(value, "max") == NULL) {
        json_fault_at(r, pointer, "a check needs `equals`, `min` or `max`");
    }
    /* A check without a name goes by what it computes. */
    if (check->name == NULL) {
        check->name =
            check->expression.text != NULL ? check->expression.text : json_format(r, "%.17g", check->expression.number);
    }
}

void read_checks(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->checks = json_read_list(r, value, pointer, "a list of checks", sizeof *d->checks, read_check, &d->check_count);
}
