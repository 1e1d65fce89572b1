/* reader.c — see reader.h. Reads objects (as specified by tables of keys), lists, and single values. */
#include "api/json/reader.h"

#include "engine/base/symbol_table.h"
#include "engine/base/text_buffer.h"
#include "engine/text/constant.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS_MAX = 64, /* maximum number of keys of one json_kind; json_read_object marks the found keys in 64 bits */
    /* bytes of a message, which is a sentence with a quotation of at most 60 bytes (hamel_shown) */
    MESSAGE_MAX = 512
};

void json_fault_at(json_reader *r, const char *pointer, const char *format, ...) {
    char message[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)hamel_fail(r->error, HAMEL_INVALID, pointer, 0, "%s", message);
}

static const char *type_name(const cJSON *value) {
    if (cJSON_IsString(value)) return "a string";
    if (cJSON_IsNumber(value)) return "a number";
    if (cJSON_IsArray(value)) return value->child ? "a list" : "an empty list";
    if (cJSON_IsObject(value)) return "an object";
    if (cJSON_IsBool(value)) return cJSON_IsTrue(value) ? "true" : "false";
    return "null";
}

void json_expected(json_reader *r, const cJSON *value, const char *pointer, const char *what) {
    json_fault_at(r, pointer, "expected %s, found %s", what, type_name(value));
}

void *json_alloc(json_reader *r, size_t count, size_t size) {
    void *memory = arena_alloc(r->memory, count, size);
    if (memory == NULL) r->no_memory = true;
    return memory;
}

const char *json_copy(json_reader *r, const char *text) {
    const char *copy = arena_text(r->memory, text, strlen(text));
    if (copy == NULL) r->no_memory = true;
    return copy;
}

const char *json_format(json_reader *r, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : json_alloc(r, (size_t)length + 1, 1);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

const char *json_number_text(json_reader *r, double number) {
    text_buffer buffer;
    text_buffer_init(&buffer, 64);
    text_buffer_number(&buffer, number);
    const char *text = buffer.failed ? NULL : json_copy(r, buffer.bytes);
    r->no_memory |= buffer.failed;
    text_buffer_free(&buffer);
    return text;
}

const char *json_pointer_of_key(json_reader *r, const char *pointer, const char *key) {
    size_t prefix = strlen(pointer);
    size_t length = prefix + 1;
    for (const char *p = key; *p != '\0'; p++) length += *p == '~' || *p == '/' ? 2 : 1;
    char *text = json_alloc(r, length + 1, 1);
    if (text == NULL) return "";
    char *out = mempcpy(text, pointer, prefix);
    *out++ = '/';
    for (const char *p = key; *p != '\0'; p++) {
        if (*p == '~' || *p == '/') {
            *out++ = '~';
            *out++ = *p == '~' ? '0' : '1';
        } else {
            *out++ = *p;
        }
    }
    return text;
}

const char *json_pointer_of_index(json_reader *r, const char *pointer, size_t index) {
    const char *text = json_format(r, "%s/%zu", pointer, index);
    return text != NULL ? text : "";
}

size_t json_child_count(const cJSON *value) {
    size_t count = 0;
    for (const cJSON *c = value->child; c != NULL; c = c->next) count++;
    return count;
}

/* Adds the most similar name to the last error as a suggestion. Returns false if all names are too different. */
static bool suggest_nearest(json_reader *r, const char *const *names, size_t count, const char *name) {
    const char *nearest = nearest_name(names, count, name, strlen(name));
    if (nearest != NULL) hamel_suggest(r->error, "%s", nearest);
    return nearest != NULL;
}

/* Lists all keys of the kind in a suggestion for the last error. */
static void suggest_keys(json_reader *r, const json_kind *kind) {
    char text[1200];
    int at = 0;
    for (size_t k = 0; k < kind->count && at >= 0 && (size_t)at < sizeof text; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", k ? ", " : "", kind->keys[k].name);
    hamel_suggest(r->error, "use one of the keys of %s: %s", kind->name, text);
}

/* Returns how many bytes of the user's string a message quotes. */
static int shown_length(const char *text) {
    return hamel_shown(text, strlen(text));
}

static const json_key *find_key(const json_kind *kind, const char *name) {
    for (size_t k = 0; k < kind->count; k++)
        if (strcmp(kind->keys[k].name, name) == 0) return &kind->keys[k];
    return NULL;
}

static void unknown_key(json_reader *r, const char *pointer, const json_kind *kind, const char *name) {
    const char *where = json_pointer_of_key(r, pointer, name);
    const char *names[KEYS_MAX];
    for (size_t k = 0; k < kind->count; k++) names[k] = kind->keys[k].name;
    json_fault_at(r, where, "%s has no key `%.*s`", kind->name, shown_length(name), name);
    if (r->elsewhere != NULL && find_key(r->elsewhere, name) != NULL)
        hamel_suggest(r->error, "move `%s` to %s", name, r->elsewhere->name);
    else if (!suggest_nearest(r, names, kind->count, name))
        suggest_keys(r, kind);
}

void json_read_object(json_reader *r, const cJSON *value, const char *pointer, const json_kind *kind, void *out) {
    if (!cJSON_IsObject(value)) {
        json_expected(r, value, pointer, "an object");
        suggest_keys(r, kind);
        return;
    }
    uint64_t seen = 0;
    assert(kind->count <= KEYS_MAX);
    for (const cJSON *member = value->child; member != NULL && !r->no_memory; member = member->next) {
        const json_key *key = find_key(kind, member->string);
        if (key == NULL) {
            unknown_key(r, pointer, kind, member->string);
            continue;
        }
        seen |= UINT64_C(1) << (key - kind->keys);
        key->read(r, member, json_pointer_of_key(r, pointer, key->name), (char *)out + key->offset);
    }
    for (size_t k = 0; k < kind->count; k++) {
        if (!kind->keys[k].required || (seen >> k & 1)) continue;
        json_fault_at(r, pointer, "%s needs the key `%s`", kind->name, kind->keys[k].name);
    }
}

static void *read_children(json_reader *r, const cJSON *value, const char *pointer, size_t size,
                           json_read_function *read, size_t *count) {
    size_t length = json_child_count(value), k = 0;
    char *items = json_alloc(r, length, size);
    if (items == NULL) return NULL;
    for (const cJSON *c = value->child; c != NULL && !r->no_memory; c = c->next, k++) {
        const char *place =
            c->string != NULL ? json_pointer_of_key(r, pointer, c->string) : json_pointer_of_index(r, pointer, k);
        read(r, c, place, items + k * size);
    }
    *count = length;
    return items;
}

void *json_read_list(json_reader *r, const cJSON *value, const char *pointer, const char *what, size_t size,
                     json_read_function *read, size_t *count) {
    *count = 0;
    if (cJSON_IsArray(value)) return read_children(r, value, pointer, size, read, count);
    json_expected(r, value, pointer, what);
    return NULL;
}

void *json_read_map(json_reader *r, const cJSON *value, const char *pointer, const char *what, size_t size,
                    json_read_function *read, size_t *count) {
    *count = 0;
    if (cJSON_IsObject(value)) return read_children(r, value, pointer, size, read, count);
    json_expected(r, value, pointer, what);
    return NULL;
}

static void read_string(json_reader *r, const cJSON *value, const char *pointer, const char *what, const char **field) {
    if (cJSON_IsString(value))
        *field = json_copy(r, value->valuestring);
    else
        json_expected(r, value, pointer, what);
}

void json_read_text(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    read_string(r, value, pointer, "a string", field);
}

void json_read_name(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsString(value) && value->valuestring[0] == '\0')
        json_fault_at(r, pointer, "a name must not be empty");
    else
        read_string(r, value, pointer, "a name", field);
}

bool json_read_names(json_reader *r, const cJSON *value, const char *pointer, const char *what, const char ***names,
                     const char ***pointers, size_t *count) {
    size_t found;
    *names = json_read_list(r, value, pointer, what, sizeof **names, json_read_name, &found);
    *pointers = json_alloc(r, found, sizeof **pointers);
    if (*names == NULL || *pointers == NULL) return false;
    for (size_t k = 0; k < found; k++) (*pointers)[k] = json_pointer_of_index(r, pointer, k);
    *count = found;
    return true;
}

void json_read_boolean(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsBool(value))
        *(bool *)field = cJSON_IsTrue(value);
    else
        json_expected(r, value, pointer, "true or false");
}

void json_read_expression(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_expression *e = field;
    e->pointer = pointer;
    if (cJSON_IsNumber(value)) {
        e->is_number = true;
        e->number = value->valuedouble;
    } else if (cJSON_IsString(value)) {
        e->text = json_copy(r, value->valuestring);
    } else {
        json_expected(r, value, pointer, "a number or an expression");
    }
}

void json_read_values(json_reader *r, const cJSON *value, const char *pointer, bool scalar, size_t least, size_t most,
                      const char *what, hamel_expressions *list) {
    bool one = scalar && (cJSON_IsNumber(value) || cJSON_IsString(value));
    size_t count = json_child_count(value);
    if (!one && (!cJSON_IsArray(value) || most == 0)) {
        json_expected(r, value, pointer, what);
    } else if (!one && (count < least || count > most)) {
        json_fault_at(r, pointer, "expected %s, found a list of length %zu", what, count);
    } else {
        list->pointer = pointer;
        list->items = one ? json_alloc(r, 1, sizeof *list->items)
                          : read_children(r, value, pointer, sizeof *list->items, json_read_expression, &list->count);
        if (!one || list->items == NULL) return;
        json_read_expression(r, value, pointer, list->items);
        list->count = 1;
    }
}

void json_read_expressions(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_values(r, value, pointer, true, 0, SIZE_MAX, "a number, an expression or a list of them", field);
}

void json_read_scalar_list(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_values(r, value, pointer, true, 0, 0, "a number or an expression", field);
}

void json_read_vector(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_values(r, value, pointer, false, 2, 3, "a list of 2 or 3 expressions", field);
}

void json_read_one_or_vector(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_values(r, value, pointer, true, 2, 3, "a number, an expression or a list of 2 or 3 of them", field);
}

/* Reads a number, or a string that is a constant expression. For any other value, adds an error and returns false. */
static bool read_double(json_reader *r, const cJSON *value, const char *pointer, double *out) {
    const char *text = cJSON_IsString(value) ? value->valuestring : NULL;
    if (text != NULL && syntax_constant(text, strlen(text), out)) return true;
    if (text != NULL)
        json_fault_at(r, pointer, "expected a number, or an expression of numbers, found the string `%.*s`",
                      shown_length(text), text);
    else if (!cJSON_IsNumber(value))
        json_expected(r, value, pointer, "a number");
    else
        *out = value->valuedouble;
    return cJSON_IsNumber(value);
}

void json_read_real(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    double number;
    if (read_double(r, value, pointer, &number)) *(double *)field = number;
}

void json_read_positive(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    double number;
    if (!read_double(r, value, pointer, &number)) return;
    if (number > 0)
        *(double *)field = number;
    else
        json_fault_at(r, pointer, "expected a number above 0, found %g", number);
}

void json_read_whole(json_reader *r, const cJSON *value, const char *pointer, double least, double most, double *out) {
    double number;
    if (!read_double(r, value, pointer, &number)) return;
    if (number == floor(number) && number >= least && number <= most)
        *out = number;
    else
        json_fault_at(r, pointer, "expected a whole number from %.0f to %.0f, found %g", least, most, number);
}

int json_read_choice(json_reader *r, const cJSON *value, const char *pointer, const char *const *names, size_t count) {
    char list[200];
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        const char *joint = k == 0 ? "" : k + 1 == count ? " or " : ", ";
        int added = snprintf(list + used, sizeof list - used, "%s`%s`", joint, names[k]);
        used += added > 0 && (size_t)added < sizeof list - used ? (size_t)added : 0;
    }
    if (!cJSON_IsString(value)) {
        json_expected(r, value, pointer, list);
        return -1;
    }
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], value->valuestring) == 0) return (int)k;
    json_fault_at(r, pointer, "expected %s, found `%.*s`", list, shown_length(value->valuestring), value->valuestring);
    (void)suggest_nearest(r, names, count, value->valuestring);
    return -1;
}

/* Returns one bound of a range as a string: "1" or "N" for [1, "N"]. */
static const char *family_bound(json_reader *r, const cJSON *value, const char *pointer) {
    if (cJSON_IsString(value)) return json_copy(r, value->valuestring);
    if (cJSON_IsNumber(value)) return json_number_text(r, value->valuedouble);
    json_expected(r, value, pointer, "a number or an expression");
    return NULL;
}

/* Converts {"i": [1, "N"]} to "i = 1..N". */
static const char *family_range(json_reader *r, const cJSON *member, const char *pointer) {
    if (!cJSON_IsArray(member) || json_child_count(member) != 2) {
        json_fault_at(r, pointer, "expected a list of two bounds, as in [1, \"N\"]");
        return NULL;
    }
    const char *from = family_bound(r, member->child, json_pointer_of_index(r, pointer, 0));
    const char *to = family_bound(r, member->child->next, json_pointer_of_index(r, pointer, 1));
    return from != NULL && to != NULL ? json_format(r, "%s = %s..%s", member->string, from, to) : NULL;
}

void json_read_family(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_family *family = field;
    bool text = cJSON_IsString(value);
    if (!text && !cJSON_IsObject(value)) {
        json_expected(r, value, pointer, "a string such as \"i = 1..N\" or an object");
        return;
    }
    size_t count = text ? 1 : json_child_count(value);
    if (count == 0) {
        json_fault_at(r, pointer, "a family needs an index and its range, such as {\"i\": [1, 3]}");
        return;
    }
    const char **ranges = json_alloc(r, count, sizeof *ranges);
    if (ranges == NULL) return;
    size_t k = 0, read = 0;
    if (text) ranges[read++] = json_copy(r, value->valuestring);
    for (const cJSON *c = text ? NULL : value->child; c != NULL; c = c->next, k++) {
        ranges[k] = family_range(r, c, json_pointer_of_key(r, pointer, c->string));
        read += ranges[k] != NULL;
    }
    if (read == count) *family = (hamel_family){.pointer = pointer, .ranges = ranges, .count = count};
}
