/* access_file.c — reads the file of tokens. The parser is that of descriptions, so every error is reported with its
 * position. */
#include "server/access_int.h"

#include "api/json/reader.h"
#include "api/problem.h"
#include "server/regular_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 4 * 1024 * 1024, OWNERS_MAX = 10000 };

typedef struct token_entry {
    const char *name, *hash;
    unsigned scopes;
    access_quotas quotas;
} token_entry;

typedef struct token_file {
    token_entry *entries;
    size_t count;
    json_reader *reader;
} token_file;

static void read_scopes(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    static const char *const names[] = {"read", "run", "admin"};
    unsigned *scopes = field;
    size_t index = 0;
    if (!cJSON_IsArray(value) || !value->child) {
        json_expected(r, value, pointer, "a list of scopes: read, run, admin");
        return;
    }
    for (const cJSON *item = value->child; item; item = item->next, index++) {
        int choice = json_read_choice(r, item, json_pointer_of_index(r, pointer, index), names, 3);
        if (choice >= 0) *scopes |= 1u << (unsigned)choice;
    }
}

static const json_key quota_keys[] = {
    {"requests_per_second", json_read_positive, offsetof(access_quotas, requests_per_second), false},
    {"streams", json_read_positive, offsetof(access_quotas, streams), false},
    {"followers", json_read_positive, offsetof(access_quotas, followers), false},
    {"jobs", json_read_positive, offsetof(access_quotas, jobs), false},
    {"stored_bytes", json_read_positive, offsetof(access_quotas, stored_bytes), false},
    {"cpu_seconds_per_day", json_read_positive, offsetof(access_quotas, cpu_seconds_per_day), false},
};
static const json_kind quota_kind = {"quotas", quota_keys, sizeof quota_keys / sizeof quota_keys[0]};

static void read_quotas(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_object(r, value, pointer, &quota_kind, field);
}

static const json_key token_keys[] = {
    {"name", json_read_name, offsetof(token_entry, name), true},
    {"sha256", json_read_name, offsetof(token_entry, hash), true},
    {"scopes", read_scopes, offsetof(token_entry, scopes), true},
    {"quotas", read_quotas, offsetof(token_entry, quotas), false},
};
static const json_kind token_kind = {"a token", token_keys, sizeof token_keys / sizeof token_keys[0]};

static void read_token(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_object(r, value, pointer, &token_kind, field);
}

static void read_tokens(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    token_file *file = field;
    file->entries =
        json_read_list(r, value, pointer, "a list of tokens", sizeof *file->entries, read_token, &file->count);
}

static const json_key file_keys[] = {{"tokens", read_tokens, 0, true}};
static const json_kind file_kind = {"a file of tokens", file_keys, 1};

static bool read_hash(const char *text, uint8_t hash[TOKEN_HASH_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    const size_t length = 2 * (size_t)TOKEN_HASH_BYTES;
    if (strlen(text) != length || strspn(text, digits) != length) return false;
    for (size_t k = 0; k < TOKEN_HASH_BYTES; k++) {
        size_t high = (size_t)(strchr(digits, text[2 * k]) - digits);
        size_t low = (size_t)(strchr(digits, text[2 * k + 1]) - digits);
        hash[k] = (uint8_t)(16 * high + low);
    }
    return true;
}

static bool name_is_sane(const char *name) {
    size_t length = strlen(name);
    for (const char *c = name; *c; c++)
        if (*c < 0x20 || *c > 0x7e) return false;
    return length > 0 && length < TOKEN_NAME_BYTES;
}

/* Names and hashes must be unique: a name owns jobs and quotas, and a hash identifies one name. */
static void compare_with_others(json_reader *r, const token_file *file, size_t k, const char *pointer) {
    const token_entry *e = &file->entries[k];
    bool name = false, hash = false;
    for (const token_entry *other = file->entries; other < e; other++) {
        name = name || (other->name && strcmp(other->name, e->name) == 0);
        hash = hash || (other->hash && strcmp(other->hash, e->hash) == 0);
    }
    if (name) json_fault_at(r, json_pointer_of_key(r, pointer, "name"), "another token has this name");
    if (hash) json_fault_at(r, json_pointer_of_key(r, pointer, "sha256"), "another token has this hash");
}

static void fill_owner(token_owner *owner, json_reader *r, const token_file *file, size_t k) {
    const token_entry *e = &file->entries[k];
    const char *pointer = json_pointer_of_index(r, "/tokens", k);
    if (!e->name || !e->hash) return; /* already reported */
    if (!name_is_sane(e->name)) {
        json_fault_at(r, json_pointer_of_key(r, pointer, "name"), "a name has 1 to %d printable ASCII characters",
                      TOKEN_NAME_BYTES - 1);
    }
    if (!read_hash(e->hash, owner->hash))
        json_fault_at(r, json_pointer_of_key(r, pointer, "sha256"), "expected 64 hexadecimal digits in lower case");
    compare_with_others(r, file, k, pointer);
    snprintf(owner->name, sizeof owner->name, "%s", e->name);
    owner->scopes = e->scopes;
    owner->quotas = e->quotas;
}

static bool add_owners(access_list *a, size_t count) {
    a->owners = calloc(count, sizeof *a->owners);
    for (; a->owners && a->count < count; a->count++) {
        token_owner *owner = calloc(1, sizeof *owner);
        if (!owner) return false;
        pthread_mutex_init(&owner->lock, NULL);
        owner->next = a->known;
        a->known = owner;
        a->owners[a->count] = owner;
    }
    return a->owners != NULL;
}

static void read_owners(access_list *a, const cJSON *tree, json_reader *r) {
    token_file file = {.reader = r};
    json_read_object(r, tree, "", &file_kind, &file);
    if (file.count == 0 || file.count > OWNERS_MAX) {
        if (r->error->status == HAMEL_OK) json_fault_at(r, "/tokens", "expected 1 to %d tokens", OWNERS_MAX);
        return;
    }
    if (!add_owners(a, file.count)) {
        r->no_memory = true;
        return;
    }
    for (size_t k = 0; k < file.count; k++) fill_owner(a->owners[k], r, &file, k);
}

static bool read_tree(access_list *a, const cJSON *tree, const char *path, char *message, size_t room) {
    arena memory;
    hamel_error error = {0};
    arena_init(&memory, 0);
    json_reader reader = {.memory = &memory, .error = &error};
    read_owners(a, tree, &reader);
    bool good = error.status == HAMEL_OK && !reader.no_memory;
    if (!good && error.count > 0) {
        const hamel_fault *first = &error.faults[0];
        snprintf(message, room, "--tokens: %.200s: %.100s: %.150s", path, first->pointer, first->message);
    } else if (!good) {
        snprintf(message, room, "out of memory");
    }
    hamel_error_clear(&error);
    arena_free(&memory);
    return good;
}

static bool read_token_file(access_list *a, const char *path, char *message, size_t room) {
    char why[FILE_REASON_BYTES];
    size_t length;
    char *text = regular_file_read(path, FILE_BYTES_MAX, &length, why);
    if (!text) {
        snprintf(message, room, "--tokens: %.300s: %s", path, why);
        return false;
    }
    json_limits limits = json_limits_default();
    json_fault fault;
    limits.bytes = FILE_BYTES_MAX;
    cJSON *tree = json_parse(text, length, &limits, &fault);
    free(text);
    if (!tree) {
        snprintf(message, room, "--tokens: %.200s:%zu:%zu: %.200s", path, fault.line, fault.column, fault.message);
        return false;
    }
    bool good = read_tree(a, tree, path, message, room);
    cJSON_Delete(tree);
    return good;
}

access_list *access_open(const char *path, char *message, size_t room) {
    access_list *a = calloc(1, sizeof *a);
    if (!a) {
        snprintf(message, room, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    a->anyone = !*path;
    if (a->anyone ? add_owners(a, 1) : read_token_file(a, path, message, room)) {
        if (a->anyone) a->known->scopes = SCOPE_READ | SCOPE_RUN | SCOPE_ADMIN;
        return a;
    }
    access_close(a);
    return NULL;
}
