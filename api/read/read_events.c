/* read_events.c — the key `events`: what happens where a function of the state crosses zero. */
#include "api/read_parts.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void read_direction(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const names[] = {"both", "rising", "falling"};
    static const hamel_direction directions[] = {HAMEL_BOTH, HAMEL_RISING, HAMEL_FALLING};
    int choice = json_read_choice(r, value, pointer, names, COUNT(names));
    if (choice >= 0) *(hamel_direction *)field = directions[choice];
}

static void read_set(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsObject(value))
        read_named(r, value, pointer, field);
    else
        json_expected(r, value, pointer, "an object of coordinates or velocities and expressions");
}

static const json_key impulse_keys[] = {
    {"constraint", json_read_expression, offsetof(hamel_impulse, constraint), true},
    {"restitution", json_read_expression, offsetof(hamel_impulse, restitution), false},
};
const json_kind impulse_kind = {"an impulse", impulse_keys, COUNT(impulse_keys)};

static void read_impulse(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_impulse *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &impulse_kind, field);
}

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

static void read_reference(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_name(r, value, pointer, field);
}

static void read_references(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_references *list = field;
    size_t count;
    list->names =
        json_read_list(r, value, pointer, "a list of constraints", sizeof *list->names, read_reference, &count);
    list->pointers = json_alloc(r, count, sizeof *list->pointers);
    if (list->names == NULL || list->pointers == NULL) return;
    for (size_t k = 0; k < count; k++) list->pointers[k] = json_pointer_of_index(r, pointer, k);
    list->count = count;
}

static const json_key event_keys[] = {
    {"name", json_read_name, offsetof(hamel_event, name), true},
    {"when", json_read_expression, offsetof(hamel_event, when), true},
    {"direction", read_direction, offsetof(hamel_event, direction), false},
    {"set", read_set, offsetof(hamel_event, set), false},
    {"impulse", read_impulses, offsetof(hamel_event, impulses), false},
    {"activate", read_references, offsetof(hamel_event, activate), false},
    {"deactivate", read_references, offsetof(hamel_event, deactivate), false},
    {"terminate", json_read_boolean, offsetof(hamel_event, terminate), false},
    {"for", json_read_family, offsetof(hamel_event, family), false},
};
const json_kind event_kind = {"an event", event_keys, COUNT(event_keys)};

static void read_event(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    ((hamel_event *)field)->pointer = pointer;
    json_read_object(r, value, pointer, &event_kind, field);
}

void read_events(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    d->events = json_read_list(r, value, pointer, "a list of events", sizeof *d->events, read_event, &d->event_count);
}
