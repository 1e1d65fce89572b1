/* read_simulation.c — reads the key `simulation`: time span, output times, tolerances, method and limits. */
#include "api/read/read_parts.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void read_times(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    if (cJSON_IsArray(value) && value->child == NULL) {
        json_fault_at(r, pointer, "the list of times is empty");
        return;
    }
    s->times.pointer = pointer;
    s->times.items = json_read_list(r, value, pointer, "a list of times", sizeof *s->times.items, json_read_expression,
                                    &s->times.count);
}

static void read_atol(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    if (cJSON_IsObject(value)) {
        read_named(r, value, pointer, &s->atol_by_name);
    } else if (cJSON_IsNumber(value) || cJSON_IsString(value)) {
        json_read_expression(r, value, pointer, &s->atol);
    } else {
        json_expected(r, value, pointer, "a number, or an object of coordinates and numbers");
    }
}

static void read_method(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const names[] = {"auto", "bdf", "adams", "erk"};
    static const hamel_method methods[] = {HAMEL_METHOD_AUTO, HAMEL_METHOD_BDF, HAMEL_METHOD_ADAMS, HAMEL_METHOD_ERK};
    hamel_simulation *s = field;
    int choice = json_read_choice(r, value, pointer, names, COUNT(names));
    if (choice >= 0) s->method = methods[choice];
}

static void read_formulation(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    json_read_name(r, value, pointer, &s->formulation);
    s->formulation_pointer = pointer;
    if (s->formulation != NULL && strcmp(s->formulation, "auto") == 0) s->formulation = NULL;
}

static void read_baumgarte(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    s->projection = HAMEL_PROJECTION_BAUMGARTE;
    if (!cJSON_IsArray(value) || json_child_count(value) != 2) {
        json_fault_at(r, pointer, "expected a list of two numbers, alpha and beta");
        return;
    }
    json_read_expression(r, value->child, json_pointer_of_index(r, pointer, 0), &s->baumgarte[0]);
    json_read_expression(r, value->child->next, json_pointer_of_index(r, pointer, 1), &s->baumgarte[1]);
}

static const json_key projection_keys[] = {{"baumgarte", read_baumgarte, 0, true}};
const json_kind projection_kind = JSON_KIND("a projection", projection_keys);

static void read_projection(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    if (cJSON_IsBool(value)) {
        s->projection = cJSON_IsTrue(value) ? HAMEL_PROJECTION_ON : HAMEL_PROJECTION_OFF;
    } else if (cJSON_IsObject(value)) {
        json_read_object(r, value, pointer, &projection_kind, s);
    } else {
        json_expected(r, value, pointer, "true, false or {\"baumgarte\": [alpha, beta]}");
    }
}

static void read_initialization(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const names[] = {"strict", "project"};
    hamel_simulation *s = field;
    int choice = json_read_choice(r, value, pointer, names, COUNT(names));
    if (choice >= 0) s->initialization = choice == 0 ? HAMEL_INITIALIZATION_STRICT : HAMEL_INITIALIZATION_PROJECT;
}

static void read_record(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    s->has_record =
        json_read_names(r, value, pointer, "a list of columns", &s->record, &s->record_pointers, &s->record_count);
}

static void read_sensitivities(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    (void)json_read_names(r, value, pointer, "a list of parameters and initial values", &s->sensitivities,
                          &s->sensitivity_pointers, &s->sensitivity_count);
}

static const json_key simulation_keys[] = {
    {"start", json_read_expression, offsetof(hamel_simulation, start), false},
    {"stop", json_read_expression, offsetof(hamel_simulation, stop), false},
    {"samples", json_read_expression, offsetof(hamel_simulation, samples), false},
    {"step", json_read_expression, offsetof(hamel_simulation, step), false},
    {"times", read_times, 0, false},
    {"rtol", json_read_expression, offsetof(hamel_simulation, rtol), false},
    {"atol", read_atol, 0, false},
    {"method", read_method, 0, false},
    {"formulation", read_formulation, 0, false},
    {"projection", read_projection, 0, false},
    {"initialization", read_initialization, 0, false},
    {"max_steps", json_read_expression, offsetof(hamel_simulation, max_steps), false},
    {"max_step", json_read_expression, offsetof(hamel_simulation, max_step), false},
    {"time_limit", json_read_expression, offsetof(hamel_simulation, time_limit), false},
    {"record", read_record, 0, false},
    {"sensitivities", read_sensitivities, 0, false},
    {"certify", json_read_boolean, offsetof(hamel_simulation, certify), false},
    {"scene", json_read_boolean, offsetof(hamel_simulation, scene), false},
};
const json_kind simulation_kind = JSON_KIND("simulation", simulation_keys);

void read_simulation(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    s->pointer = pointer;
    json_read_object(r, value, pointer, &simulation_kind, s);
    int ways = hamel_expression_given(&s->samples) + hamel_expression_given(&s->step) + (s->times.count != 0);
    if (ways > 1) json_fault_at(r, pointer, "`samples`, `step` and `times` exclude each other: remove all but one");
}
