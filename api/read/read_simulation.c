/* read_simulation.c — reads the key `simulation`: time span, output times, tolerances, method and limits. */
#include "api/read/read_parts.h"

#include <string.h>

JSON_CHOICE(read_method, hamel_method, "auto", "bdf", "adams", "erk")
JSON_CHOICE(read_initialization, hamel_initialization, "strict", "project")

static void read_times(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsArray(value) && value->child == NULL)
        json_fault_at(r, pointer, "the list of times is empty; list at least one time");
    else
        json_read_values(r, value, pointer, false, 1, SIZE_MAX, "a list of times", field);
}

static void read_atol(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    if (cJSON_IsObject(value))
        read_named(r, value, pointer, &s->atol_by_name);
    else if (cJSON_IsNumber(value) || cJSON_IsString(value))
        json_read_expression(r, value, pointer, &s->atol);
    else
        json_expected(r, value, pointer, "a number, or an object of coordinates and numbers");
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

const json_kind projection_kind = JSON_KIND("a projection", {"baumgarte", read_baumgarte, 0, true});

static void read_projection(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    if (cJSON_IsBool(value))
        s->projection = cJSON_IsTrue(value) ? HAMEL_PROJECTION_ON : HAMEL_PROJECTION_OFF;
    else if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &projection_kind, s);
    else
        json_expected(r, value, pointer, "true, false or {\"baumgarte\": [alpha, beta]}");
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

const json_kind simulation_kind =
    JSON_KIND("simulation", {"start", json_read_expression, offsetof(hamel_simulation, start), false},
              {"stop", json_read_expression, offsetof(hamel_simulation, stop), false},
              {"samples", json_read_expression, offsetof(hamel_simulation, samples), false},
              {"step", json_read_expression, offsetof(hamel_simulation, step), false},
              {"times", read_times, offsetof(hamel_simulation, times), false},
              {"rtol", json_read_expression, offsetof(hamel_simulation, rtol), false}, {"atol", read_atol, 0, false},
              {"method", read_method, offsetof(hamel_simulation, method), false},
              {"formulation", read_formulation, 0, false}, {"projection", read_projection, 0, false},
              {"initialization", read_initialization, offsetof(hamel_simulation, initialization), false},
              {"max_steps", json_read_expression, offsetof(hamel_simulation, max_steps), false},
              {"max_step", json_read_expression, offsetof(hamel_simulation, max_step), false},
              {"time_limit", json_read_expression, offsetof(hamel_simulation, time_limit), false},
              {"record", read_record, 0, false}, {"sensitivities", read_sensitivities, 0, false},
              {"certify", json_read_boolean, offsetof(hamel_simulation, certify), false},
              {"scene", json_read_boolean, offsetof(hamel_simulation, scene), false});

void read_simulation(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_simulation *s = field;
    s->pointer = pointer;
    json_read_object(r, value, pointer, &simulation_kind, s);
    int ways = hamel_expression_given(&s->samples) + hamel_expression_given(&s->step) + (s->times.count != 0);
    if (ways > 1) json_fault_at(r, pointer, "`samples`, `step` and `times` exclude each other: remove all but one");
}
