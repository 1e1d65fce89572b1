/* json_reader.h — the machinery that turns JSON objects into C structs by tables.
 *
 * A kind of object is a table of keys: name, where its value goes in the struct, and the function that reads it.
 * json_read_object walks the members once, reads each known key, and reports unknown ones (with the nearest known
 * key) and missing ones. Reading never stops at a fault, so that all of them are reported together.
 *
 * Readers take the value, its JSON Pointer, and the field to fill. Everything kept is copied into the arena. */
#ifndef HAMEL_API_JSON_READER_H
#define HAMEL_API_JSON_READER_H

#include "engine/base/arena.h"
#include "engine/system/description.h"

#include <cjson/cJSON.h>

typedef struct json_reader json_reader;

typedef void json_read_function(json_reader *r, const cJSON *value, const char *pointer, void *field);

typedef struct json_key {
    const char *name;
    json_read_function *read;
    size_t offset;
    bool required;
} json_key;

typedef struct json_kind {
    const char *name; /* as in "a constraint" */
    const json_key *keys;
    size_t count;
} json_kind;

struct json_reader {
    arena *memory;
    hamel_error *error;
    bool no_memory;             /* the arena gave out: what was read is incomplete */
    const json_kind *elsewhere; /* NULL, or a kind whose keys are often written where they do not belong */
};

/* Adds HAMEL_INVALID at `pointer`. */
void json_fault_at(json_reader *r, const char *pointer, const char *format, ...) HAMEL_PRINTF(3, 4);

/* "expected WHAT, found a list" */
void json_expected(json_reader *r, const cJSON *value, const char *pointer, const char *what);

/* Arena memory; on failure notes no_memory and returns NULL. */
void *json_alloc(json_reader *r, size_t count, size_t size);
const char *json_copy(json_reader *r, const char *text);
const char *json_format(json_reader *r, const char *format, ...) HAMEL_PRINTF(2, 3);

/* Pointers of a member and of an item (RFC 6901: "~" and "/" in keys are escaped). */
const char *json_pointer_of_key(json_reader *r, const char *pointer, const char *key);
const char *json_pointer_of_index(json_reader *r, const char *pointer, size_t index);

size_t json_child_count(const cJSON *value);

/* Reads an object of this kind into `out`; a value of another type is a fault. */
void json_read_object(json_reader *r, const cJSON *value, const char *pointer, const json_kind *kind, void *out);

/* Reads a list; each item by `read` into its struct of `size` bytes. Returns the array (NULL: none) and its length. */
void *json_read_list(json_reader *r, const cJSON *value, const char *pointer, const char *what, size_t size,
                     json_read_function *read, size_t *count);

/* Readers of single values; the type of the field is named. */
json_read_function json_read_text;        /* const char * */
json_read_function json_read_name;        /* const char *, not empty */
json_read_function json_read_boolean;     /* bool */
json_read_function json_read_expression;  /* hamel_expression: a number or a text */
json_read_function json_read_expressions; /* hamel_expressions: one, or a list */
json_read_function json_read_vector;      /* hamel_expressions: a list of 2 or 3 */
json_read_function json_read_scalar_list; /* hamel_expressions: exactly one, no list */
json_read_function json_read_one_or_vector;
json_read_function json_read_positive; /* double > 0 */
json_read_function json_read_family;   /* hamel_family */

/* A number as JSON, or as a text that is one. Adds a fault and returns false otherwise. */
bool json_read_double(json_reader *r, const cJSON *value, const char *pointer, double *out);

/* The index of the text in `names`, or -1 with a fault that suggests the nearest. */
int json_read_choice(json_reader *r, const cJSON *value, const char *pointer, const char *const *names, size_t count);

#endif
