/* read_events.c — reads the key `events`: actions at zero crossings of functions of the state. */
#include "api/read/read_parts.h"

JSON_CHOICE(read_direction, hamel_direction, "both", "rising", "falling")

static void read_set(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsObject(value))
        read_named(r, value, pointer, field);
    else
        json_expected(r, value, pointer, "an object of coordinates or velocities and expressions");
}

const json_kind impulse_kind =
    JSON_KIND("an impulse", {"constraint", json_read_expression, offsetof(hamel_impulse, constraint), true},
              {"restitution", json_read_expression, offsetof(hamel_impulse, restitution), false});

READ_OBJECT(impulse)

static void read_impulses(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_impulses *list = field;
    if (cJSON_IsArray(value)) {
        list->items = json_read_list(r, value, pointer, "an impulse", sizeof *list->items, read_impulse, &list->count);
        return;
    }
    list->items = json_alloc(r, 1, sizeof *list->items);
    if (list->items == NULL) return;
    list->count = 1;
    read_impulse(r, value, pointer, list->items);
}

static void read_references(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_references *list = field;
    (void)json_read_names(r, value, pointer, "a list of constraints", &list->names, &list->pointers, &list->count);
}

const json_kind event_kind = JSON_KIND("an event", {"name", json_read_name, offsetof(hamel_event, name), true},
                                       {"when", json_read_expression, offsetof(hamel_event, when), true},
                                       {"direction", read_direction, offsetof(hamel_event, direction), false},
                                       {"set", read_set, offsetof(hamel_event, set), false},
                                       {"impulse", read_impulses, offsetof(hamel_event, impulses), false},
                                       {"activate", read_references, offsetof(hamel_event, activate), false},
                                       {"deactivate", read_references, offsetof(hamel_event, deactivate), false},
                                       {"terminate", json_read_boolean, offsetof(hamel_event, terminate), false},
                                       {"for", json_read_family, offsetof(hamel_event, family), false});

READ_OBJECTS(event, events, "a list of events")
