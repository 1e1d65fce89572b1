/* reader.h — reads JSON objects into C structs, as specified by tables of keys.
 *
 * A json_kind describes one type of object: it lists the keys. Each key has a name, the offset of its field in the
 * struct, and a read function. json_read_object reads the known keys and reports missing and unknown keys. For an
 * unknown key json_read_object suggests the nearest known key. Reading continues after an error, so that all errors are
 * reported together.
 *
 * A read function takes the value, its JSON Pointer, and the field to fill. It copies strings and lists into the
 * arena. */
#pragma once

#include "api/json/strict_json.h"
#include "engine/base/arena.h"
#include "engine/system/description.h"

#include <stdint.h>

typedef struct json_reader json_reader;

typedef void json_read_function(json_reader *r, const cJSON *value, const char *pointer, void *field);

typedef struct json_key {
    const char *name;
    json_read_function *read;
    size_t offset;
    bool required;
} json_key;

typedef struct json_kind {
    const char *name; /* name with its article, for messages: "a constraint" */
    const json_key *keys;
    size_t count;
} json_kind;
#define JSON_KIND(name, ...) \
    { name, (const json_key[]){__VA_ARGS__}, sizeof((const json_key[]){__VA_ARGS__}) / sizeof(json_key) }

struct json_reader {
    arena *memory;
    hamel_error *error;
    bool no_memory;             /* an allocation in the arena has failed, so the result is incomplete */
    const json_kind *elsewhere; /* kind to suggest for a misplaced key; may be NULL */
};

/* Adds the error HAMEL_INVALID at `pointer`. */
void json_fault_at(json_reader *r, const char *pointer, const char *format, ...) HAMEL_PRINTF(3, 4);

/* Adds the error "expected WHAT, found a list" (or the actual type). */
void json_expected(json_reader *r, const cJSON *value, const char *pointer, const char *what);

/* Allocate in the arena. On failure, set no_memory and return NULL. */
void *json_alloc(json_reader *r, size_t count, size_t size);
const char *json_copy(json_reader *r, const char *text);
const char *json_format(json_reader *r, const char *format, ...) HAMEL_PRINTF(2, 3);
const char *json_number_text(json_reader *r, double number); /* shortest text that reads back to the same double */

/* Return the JSON Pointer of a member or item (RFC 6901: "~" and "/" in keys are escaped). */
const char *json_pointer_of_key(json_reader *r, const char *pointer, const char *key);
const char *json_pointer_of_index(json_reader *r, const char *pointer, size_t index);

size_t json_child_count(const cJSON *value);

/* Reads an object of this kind into `out`. Adds an error if the value has another type. */
void json_read_object(json_reader *r, const cJSON *value, const char *pointer, const json_kind *kind, void *out);

/* Reads a list: `read` fills one struct of `size` bytes for each item. Returns the array and sets *count to its length.
 * If the value is not a list or the array could not be allocated, returns NULL and sets *count to 0. */
void *json_read_list(json_reader *r, const cJSON *value, const char *pointer, const char *what, size_t size,
                     json_read_function *read, size_t *count);

/* Reads an object with arbitrary keys into an array, one struct for each member. `read` receives the key in
 * value->string. */
void *json_read_map(json_reader *r, const cJSON *value, const char *pointer, const char *what, size_t size,
                    json_read_function *read, size_t *count);

/* Reads a list of names into *names, and the JSON Pointer of each name into *pointers. On failure returns false and
 * leaves *count unchanged. */
bool json_read_names(json_reader *r, const cJSON *value, const char *pointer, const char *what, const char ***names,
                     const char ***pointers, size_t *count);

/* Reads a list of `least` to `most` expressions. If `scalar` is set, also accepts a single number or string. */
void json_read_values(json_reader *r, const cJSON *value, const char *pointer, bool scalar, size_t least, size_t most,
                      const char *what, hamel_expressions *list);

/* Read functions for one value each. Their comments give the type of the field, then the accepted values. */
json_read_function json_read_text;                     /* const char * */
json_read_function json_read_name;                     /* const char *, not empty */
json_read_function json_read_boolean;                  /* bool */
json_read_function json_read_real, json_read_positive; /* double; double > 0 */
json_read_function json_read_expression;               /* hamel_expression: a number or a string */
json_read_function json_read_expressions;              /* hamel_expressions: one expression, or a list of any length */
json_read_function json_read_scalar_list;              /* hamel_expressions: one expression; a list is an error */
json_read_function json_read_vector;                   /* hamel_expressions: a list of 2 or 3 expressions */
json_read_function json_read_one_or_vector;            /* hamel_expressions: one expression, or a list of 2 or 3 */
json_read_function json_read_family;                   /* hamel_family */

/* Reads a whole number from `least` to `most` into *out. For any other value, adds an error and leaves *out
 * unchanged. */
void json_read_whole(json_reader *r, const cJSON *value, const char *pointer, double least, double most, double *out);

/* Returns the index of the string in `names`. If `names` does not contain the string, adds an error that suggests the
 * nearest name, and returns -1. */
int json_read_choice(json_reader *r, const cJSON *value, const char *pointer, const char *const *names, size_t count);

/* Defines a function that reads the name of an enum value. The last arguments are the names of the values 0, 1, ... */
#define JSON_CHOICE(function, type, ...)                                                         \
    static void function(json_reader *r, const cJSON *value, const char *pointer, void *field) { \
        static const char *const names[] = {__VA_ARGS__};                                        \
        int choice = json_read_choice(r, value, pointer, names, sizeof names / sizeof *names);   \
        if (choice >= 0) *(type *)field = (type)choice;                                          \
    }
