/* text.c — writes JSON trees as compact text, or as canonical text (members sorted) for hashing.
 *
 * The traversal keeps its stack in an arena, so that a deep tree cannot overflow the stack of the thread. */
#include "api/json/text.h"

#include "api/json/strict_json.h"
#include "engine/base/arena.h"

#include <math.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512 * 1024 * 1024 };

void json_text_string(text_buffer *out, const char *text) {
    text_buffer_put(out, '"');
    const char *plain = text; /* start of the characters still to be added, which need no escape */
    const char *p = text;
    for (; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        text_buffer_add(out, plain, (size_t)(p - plain));
        plain = p + 1;
        if (c == '"' || c == '\\')
            text_buffer_printf(out, "\\%c", c);
        else if (c == '\n')
            text_buffer_puts(out, "\\n");
        else
            text_buffer_printf(out, "\\u%04x", (unsigned)c);
    }
    text_buffer_add(out, plain, (size_t)(p - plain));
    text_buffer_put(out, '"');
}

void json_text_number(text_buffer *out, double value) {
    if (!isfinite(value))
        text_buffer_puts(out, "null");
    else
        text_buffer_number(out, value);
}

void json_text_numbers(text_buffer *out, const double *values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (k > 0) text_buffer_put(out, ',');
        json_text_number(out, values[k]);
    }
}

enum { USUAL_DEPTH = 16 }; /* levels without heap memory; chosen larger than the depth of usual documents */

/* A list or object whose end has not been written. */
typedef struct level {
    const cJSON *next;   /* next item in the order of the tree; used if `items` is NULL */
    const cJSON **items; /* NULL, or the remaining items sorted by their keys, followed by NULL */
    bool object, begun;  /* object: not a list; begun: an item has been written */
} level;

typedef struct walk {
    arena memory;
    level *levels;
    size_t depth, capacity;
    bool sorted;
    text_buffer *out;
} walk;

static int compare_keys(const void *a, const void *b) {
    const cJSON *const *left = a, *const *right = b;
    return strcmp((*left)->string, (*right)->string);
}

/* Returns the items of `object` sorted by their keys, followed by NULL. The array belongs to w->memory. Returns NULL if
 * memory could not be allocated. */
static const cJSON **sorted_items(walk *w, const cJSON *object) {
    size_t count = 0;
    for (const cJSON *c = object->child; c != NULL; c = c->next) count++;
    const cJSON **items = arena_alloc(&w->memory, count + 1, sizeof(const cJSON *));
    if (items == NULL) return NULL;
    size_t k = 0;
    for (const cJSON *c = object->child; c != NULL; c = c->next) items[k++] = c;
    items[count] = NULL;
    qsort(items, count, sizeof(const cJSON *), compare_keys);
    return items;
}

static bool enter_list(walk *w, const cJSON *value) {
    bool object = cJSON_IsObject(value);
    level entered = {.next = value->child, .object = object};
    level *levels = arena_grow(&w->memory, w->levels, &w->capacity, w->depth + 1, sizeof *levels);
    if (levels == NULL) return false;
    w->levels = levels;
    if (object && w->sorted && !(entered.items = sorted_items(w, value))) return false;
    levels[w->depth++] = entered;
    text_buffer_put(w->out, object ? '{' : '[');
    return true;
}

/* Advances `l` by one item and returns this item, or returns NULL after the last item. */
static const cJSON *next_item(level *l) {
    if (l->items != NULL) return *l->items != NULL ? *l->items++ : NULL;
    const cJSON *item = l->next;
    if (item != NULL) l->next = item->next;
    return item;
}

static bool write_value(walk *w, const cJSON *value) {
    if (cJSON_IsObject(value) || cJSON_IsArray(value)) return enter_list(w, value);
    if (cJSON_IsString(value))
        json_text_string(w->out, value->valuestring);
    else if (cJSON_IsNumber(value))
        json_text_number(w->out, value->valuedouble);
    else if (cJSON_IsBool(value))
        text_buffer_puts(w->out, cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsRaw(value))
        text_buffer_puts(w->out, value->valuestring);
    else
        text_buffer_puts(w->out, "null");
    return true;
}

static bool write_tree(walk *w, const cJSON *tree) {
    if (!write_value(w, tree)) return false;
    while (w->depth > 0) {
        level *top = &w->levels[w->depth - 1];
        const cJSON *item = next_item(top);
        if (item == NULL) {
            text_buffer_put(w->out, top->object ? '}' : ']');
            w->depth--;
            continue;
        }
        if (top->begun) text_buffer_put(w->out, ',');
        top->begun = true;
        if (top->object) {
            json_text_string(w->out, item->string);
            text_buffer_put(w->out, ':');
        }
        if (!write_value(w, item)) return false;
    }
    return true;
}

static char *print(const cJSON *tree, bool sorted) {
    if (tree == NULL) return NULL;
    text_buffer out;
    level usual[USUAL_DEPTH];
    text_buffer_init(&out, TEXT_MAX);
    walk w = {.levels = usual, .capacity = USUAL_DEPTH, .sorted = sorted, .out = &out};
    arena_init(&w.memory, 0);
    bool done = write_tree(&w, tree);
    arena_free(&w.memory);
    char *text = done ? text_buffer_take(&out, NULL) : NULL;
    text_buffer_free(&out);
    return text;
}

char *json_text(const cJSON *tree) {
    return print(tree, false);
}

char *json_canonical(const cJSON *tree) {
    return print(tree, true);
}

void api_digest(const char *bytes, size_t length, char hex[DIGEST_HEX + 1]) {
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, length, (const uint8_t *)bytes);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t k = 0; k < sizeof digest; k++) {
        hex[2 * k] = "0123456789abcdef"[digest[k] >> 4];
        hex[2 * k + 1] = "0123456789abcdef"[digest[k] & 15];
    }
    hex[DIGEST_HEX] = '\0';
}
