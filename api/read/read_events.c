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

/* Reads one item, or a JSON list of items, of `size` bytes each. Returns the items, which belong to the reader's memory,
 * and stores their number in *count. Returns NULL if memory could not be allocated. */
static void *read_one_or_list(json_reader *r, const cJSON *value, const char *pointer, const char *what, size_t size,
                              json_read_function *read, size_t *count) {
    if (cJSON_IsArray(value)) return json_read_list(r, value, pointer, what, size, read, count);
    void *item = json_alloc(r, 1, size);
    if (item == NULL) return NULL;
    *count = 1;
    read(r, value, pointer, item);
    return item;
}

static void read_impulses(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_impulses *list = field;
    list->items = read_one_or_list(r, value, pointer, "an impulse", sizeof *list->items, read_impulse, &list->count);
}

READ_LOCATED_NAME(read_percussion_on, hamel_percussion, on, on_pointer)

const json_kind percussion_kind = JSON_KIND("a percussion", {"at", read_end, offsetof(hamel_percussion, at), false},
                                            {"vector", json_read_vector, offsetof(hamel_percussion, vector), false},
                                            {"on", read_percussion_on, 0, false},
                                            {"value", json_read_expression, offsetof(hamel_percussion, value), false});

static void read_percussion(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_percussion *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &percussion_kind, field);
    if (!cJSON_IsObject(value)) return;
    bool at = json_at(value, "at") != NULL, on = json_at(value, "on") != NULL;
    if (at == on || at != (json_at(value, "vector") != NULL) || on != (json_at(value, "value") != NULL))
        json_fault_at(r, pointer, "a percussion requires either `at` and `vector`, or `on` and `value`");
}

static void read_percussions(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_percussions *list = field;
    list->items =
        read_one_or_list(r, value, pointer, "a percussion", sizeof *list->items, read_percussion, &list->count);
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
                                       {"percussion", read_percussions, offsetof(hamel_event, percussions), false},
                                       {"activate", read_references, offsetof(hamel_event, activate), false},
                                       {"deactivate", read_references, offsetof(hamel_event, deactivate), false},
                                       {"terminate", json_read_boolean, offsetof(hamel_event, terminate), false},
                                       {"for", json_read_family, offsetof(hamel_event, family), false});

READ_OBJECTS(event, events, "a list of events")
