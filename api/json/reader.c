/* reader.c — table-driven objects, lists, and the readers of single values that all kinds share. */
#include "api/json/reader.h"

#include "engine/base/symbol_table.h"
#include "engine/base/text_buffer.h"
#include "engine/text/constant.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS_MAX = 64,     /* keys of one kind: each is one bit of the set of keys seen */
    SUGGEST_MAX = 64,  /* longest name, in bytes, for which a suggestion is searched */
    MESSAGE_MAX = 512, /* bytes of a message */
    SHOWN_MAX = 60     /* longest part of a client's text, in bytes, that a message repeats */
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
    if (cJSON_IsString(value)) return "a text";
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

static const char *nearest_of(const char *const *names, size_t count, const char *name) {
    size_t length = strlen(name);
    return length <= SUGGEST_MAX ? nearest_name(names, count, name, length) : NULL;
}

/* Adds the nearest of `names` as a suggestion to the last error. */
static void suggest_nearest(json_reader *r, const char *const *names, size_t count, const char *name) {
    const char *nearest = nearest_of(names, count, name);
    if (nearest != NULL) hamel_suggest(r->error, "%s", nearest);
}

/* Suggests all keys of the kind. */
static void suggest_keys(json_reader *r, const json_kind *kind) {
    char text[1200];
    int at = 0;
    for (size_t k = 0; k < kind->count && at >= 0 && (size_t)at < sizeof text; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", k ? ", " : "", kind->keys[k].name);
    hamel_suggest(r->error, "the keys of %s are %s", kind->name, text);
}

/* Length of the part of `text` that a message repeats: SHOWN_MAX bytes at most, and whole code points. */
static int shown_length(const char *text) {
    size_t length = strnlen(text, SHOWN_MAX + 1);
    if (length <= SHOWN_MAX) return (int)length;
    length = SHOWN_MAX;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    return (int)length;
}

static const json_key *find_key(const json_kind *kind, const char *name) {
    for (size_t k = 0; k < kind->count; k++) {
        if (strcmp(kind->keys[k].name, name) == 0) return &kind->keys[k];
    }
    return NULL;
}

static void unknown_key(json_reader *r, const char *pointer, const json_kind *kind, const char *name) {
    const char *where = json_pointer_of_key(r, pointer, name);
    const char *names[KEYS_MAX];
    for (size_t k = 0; k < kind->count; k++) names[k] = kind->keys[k].name;
    json_fault_at(r, where, "%s has no key `%.*s`", kind->name, shown_length(name), name);
    const char *nearest = nearest_of(names, kind->count, name);
    if (r->elsewhere != NULL && find_key(r->elsewhere, name) != NULL)
        hamel_suggest(r->error, "`%s` is a key of %s", name, r->elsewhere->name);
    else if (nearest != NULL)
        hamel_suggest(r->error, "%s", nearest);
    else
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

void json_read_text(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (!cJSON_IsString(value)) {
        json_expected(r, value, pointer, "a text");
        return;
    }
    *(const char **)field = json_copy(r, value->valuestring);
}

void json_read_name(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (!cJSON_IsString(value)) {
        json_expected(r, value, pointer, "a name");
    } else if (value->valuestring[0] == '\0') {
        json_fault_at(r, pointer, "a name must not be empty");
    } else {
        *(const char **)field = json_copy(r, value->valuestring);
    }
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
    if (!cJSON_IsBool(value)) {
        json_expected(r, value, pointer, "true or false");
        return;
    }
    *(bool *)field = cJSON_IsTrue(value);
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

static void read_one(json_reader *r, const cJSON *value, const char *pointer, hamel_expressions *list) {
    list->pointer = pointer;
    list->items = json_alloc(r, 1, sizeof *list->items);
    if (list->items == NULL) return;
    json_read_expression(r, value, pointer, list->items);
    list->count = 1;
}

static void read_several(json_reader *r, const cJSON *value, const char *pointer, hamel_expressions *list) {
    list->pointer = pointer;
    list->items = json_read_list(r, value, pointer, "a list of expressions", sizeof *list->items, json_read_expression,
                                 &list->count);
}

void json_read_expressions(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsArray(value)) {
        read_several(r, value, pointer, field);
    } else if (cJSON_IsNumber(value) || cJSON_IsString(value)) {
        read_one(r, value, pointer, field);
    } else {
        json_expected(r, value, pointer, "a number, an expression or a list of them");
    }
}

void json_read_scalar_list(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsNumber(value) || cJSON_IsString(value)) {
        read_one(r, value, pointer, field);
    } else {
        json_expected(r, value, pointer, "a number or an expression");
    }
}

void json_read_vector(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (!cJSON_IsArray(value)) {
        json_expected(r, value, pointer, "a list of 2 or 3 expressions");
        return;
    }
    size_t length = json_child_count(value);
    if (length < 2 || length > 3) {
        json_fault_at(r, pointer, "expected 2 or 3 components, found %zu", length);
        return;
    }
    read_several(r, value, pointer, field);
}

void json_read_one_or_vector(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsArray(value)) {
        json_read_vector(r, value, pointer, field);
    } else if (cJSON_IsNumber(value) || cJSON_IsString(value)) {
        read_one(r, value, pointer, field);
    } else {
        json_expected(r, value, pointer, "a number, an expression or a list of 2 or 3 of them");
    }
}

bool json_read_double(json_reader *r, const cJSON *value, const char *pointer, double *out) {
    if (cJSON_IsNumber(value)) {
        *out = value->valuedouble;
        return true;
    }
    if (!cJSON_IsString(value)) {
        json_expected(r, value, pointer, "a number");
        return false;
    }
    if (syntax_constant(value->valuestring, strlen(value->valuestring), out)) return true;
    json_fault_at(r, pointer, "expected a number, or an expression of numbers, found the text `%.*s`",
                  shown_length(value->valuestring), value->valuestring);
    return false;
}

void json_read_positive(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    double number;
    if (!json_read_double(r, value, pointer, &number)) return;
    if (number > 0) {
        *(double *)field = number;
    } else {
        json_fault_at(r, pointer, "expected a number above 0, found %g", number);
    }
}

void json_read_whole(json_reader *r, const cJSON *value, const char *pointer, double least, double most, double *out) {
    double number;
    if (!json_read_double(r, value, pointer, &number)) return;
    if (number != floor(number) || number < least || number > most) {
        json_fault_at(r, pointer, "expected a whole number from %.0f to %.0f, found %g", least, most, number);
        return;
    }
    *out = number;
}

int json_read_choice(json_reader *r, const cJSON *value, const char *pointer, const char *const *names, size_t count) {
    char list[200];
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        int added = snprintf(list + used, sizeof list - used, "%s`%s`",
                             k == 0           ? ""
                             : k + 1 == count ? " or "
                                              : ", ",
                             names[k]);
        used += added > 0 && (size_t)added < sizeof list - used ? (size_t)added : 0;
    }
    if (!cJSON_IsString(value)) {
        json_expected(r, value, pointer, list);
        return -1;
    }
    for (size_t k = 0; k < count; k++) {
        if (strcmp(names[k], value->valuestring) == 0) return (int)k;
    }
    json_fault_at(r, pointer, "expected %s, found `%.*s`", list, shown_length(value->valuestring), value->valuestring);
    suggest_nearest(r, names, count, value->valuestring);
    return -1;
}

/* Reads one bound of a family in object form, as text. */
static const char *family_bound(json_reader *r, const cJSON *value, const char *pointer) {
    if (cJSON_IsString(value)) return json_copy(r, value->valuestring);
    if (cJSON_IsNumber(value)) {
        text_buffer number;
        text_buffer_init(&number, 64);
        text_buffer_number(&number, value->valuedouble);
        const char *text = number.failed ? NULL : json_copy(r, number.bytes);
        if (number.failed) r->no_memory = true;
        text_buffer_free(&number);
        return text;
    }
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
        json_expected(r, value, pointer, "a text such as \"i = 1..N\" or an object");
        return;
    }
    size_t count = text ? 1 : json_child_count(value);
    if (count == 0) {
        json_fault_at(r, pointer, "a family needs an index and its range");
        return;
    }
    const char **ranges = json_alloc(r, count, sizeof *ranges);
    if (ranges == NULL) return;
    bool good = true;
    size_t k = 0;
    if (text) ranges[k] = json_copy(r, value->valuestring);
    for (const cJSON *c = text ? NULL : value->child; c != NULL; c = c->next, k++) {
        ranges[k] = family_range(r, c, json_pointer_of_key(r, pointer, c->string));
        good = good && ranges[k] != NULL;
    }
    if (good) *family = (hamel_family){.pointer = pointer, .ranges = ranges, .count = count};
}
