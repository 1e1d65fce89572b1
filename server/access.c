/* access.c — token owners, their rights and their usage; see access.h. The parser of descriptions also parses the file
 * of tokens, so every error is reported with its position. */
#include "server/access.h"

#include "api/json/reader.h"
#include "api/problem.h"
#include "server/clock.h"
#include "server/log.h"
#include "server/regular_file.h"

#include <math.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char token_prefix[] = "hamel_"; /* makes a leaked token recognizable */
static const double day_seconds = 86400;

struct access_list {
    token_owner *known;   /* owners of all tokens loaded since the start, including removed ones */
    bool anyone;          /* true without a file of tokens; the only owner is then `anyone` */
    pthread_mutex_t lock; /* guards the members below and the hashes of owners */
    token_owner **owners; /* owners in the file */
    size_t count;
    double used[ACCESS_RESOURCES]; /* amount of each resource in use */
};

void access_close(access_list *a) {
    if (!a) return;
    for (token_owner *owner = a->known, *next; owner; owner = next) {
        next = owner->next;
        pthread_mutex_destroy(&owner->lock);
        free(owner);
    }
    pthread_mutex_destroy(&a->lock);
    free(a->owners);
    free(a);
}

bool access_open_to_anyone(const access_list *a) {
    return a->anyone;
}

size_t access_count(access_list *a) {
    pthread_mutex_lock(&a->lock);
    size_t count = a->count;
    pthread_mutex_unlock(&a->lock);
    return count;
}

token_owner *access_of(access_list *a, const char *authorization) {
    static const char scheme[] = "Bearer ";
    char hash[DIGEST_HEX + 1];
    token_owner *found = NULL;
    if (access_open_to_anyone(a)) return a->known;
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) return NULL;
    authorization += sizeof scheme - 1;
    authorization += strspn(authorization, " ");
    api_digest(authorization, strlen(authorization), hash);
    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; k < a->count; k++) { /* no early exit: the time must not depend on the token */
        if (memeql_sec(a->owners[k]->hash, hash, DIGEST_HEX)) found = a->owners[k];
    }
    pthread_mutex_unlock(&a->lock);
    return found;
}

token_owner *access_named(access_list *a, const char *name) {
    token_owner *found = NULL;
    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; k < a->count && !found; k++)
        if (strcmp(a->owners[k]->name, name) == 0) found = a->owners[k];
    pthread_mutex_unlock(&a->lock);
    return found;
}

bool access_may(token_owner *owner, unsigned scope) {
    if (scope == 0) return true;
    pthread_mutex_lock(&owner->lock);
    bool may = (owner->scopes & (scope | SCOPE_ADMIN)) != 0;
    pthread_mutex_unlock(&owner->lock);
    return may;
}

access_quotas access_quotas_of(token_owner *owner) {
    pthread_mutex_lock(&owner->lock);
    access_quotas quotas = owner->quotas;
    pthread_mutex_unlock(&owner->lock);
    return quotas;
}

/* ---- the file of tokens ------------------------------------------------------------------------------------------ */

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
        json_fault_at(r, json_pointer_of_key(r, pointer, "name"), "a name must have 1 to %d printable ASCII characters",
                      TOKEN_NAME_BYTES - 1);
    }
    if (strlen(e->hash) != DIGEST_HEX || strspn(e->hash, "0123456789abcdef") != DIGEST_HEX)
        json_fault_at(r, json_pointer_of_key(r, pointer, "sha256"), "expected 64 hexadecimal digits in lower case");
    compare_with_others(r, file, k, pointer);
    snprintf(owner->name, sizeof owner->name, "%s", e->name);
    snprintf(owner->hash, sizeof owner->hash, "%s", e->hash);
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
    const hamel_fault *first = error.count > 0 ? &error.faults[0] : NULL;
    if (!good && first)
        snprintf(message, room, "--tokens: %.200s: %.100s: %.150s", path, first->pointer, first->message);
    hamel_error_clear(&error);
    arena_free(&memory);
    return good;
}

static bool read_token_file(access_list *a, const char *path, char *message, size_t room) {
    char why[400];
    cJSON *tree = json_file_read(path, FILE_BYTES_MAX, why, sizeof why);
    if (!tree) return failed_with(message, room, "--tokens: %s", why);
    bool good = read_tree(a, tree, path, message, room);
    cJSON_Delete(tree);
    return good;
}

access_list *access_open(const char *path, char *message, size_t room) {
    access_list *a = calloc(1, sizeof *a);
    snprintf(message, room, "out of memory");
    if (!a) return NULL;
    pthread_mutex_init(&a->lock, NULL);
    a->anyone = !*path;
    if (a->anyone ? add_owners(a, 1) : read_token_file(a, path, message, room)) {
        if (a->anyone) a->known->scopes = SCOPE_READ | SCOPE_RUN | SCOPE_ADMIN;
        return a;
    }
    access_close(a);
    return NULL;
}

static token_owner *known_as(const access_list *a, const char *name) {
    token_owner *owner = a->known;
    while (owner && strcmp(owner->name, name) != 0) owner = owner->next;
    return owner;
}

/* Copies the token, scopes and quotas of `from`, which has the same name. The caller holds the list's lock. */
static void take_rights(token_owner *owner, const token_owner *from) {
    memcpy(owner->hash, from->hash, sizeof owner->hash);
    pthread_mutex_lock(&owner->lock);
    owner->scopes = from->scopes;
    owner->quotas = from->quotas;
    pthread_mutex_unlock(&owner->lock);
}

/* Returns the owners of the new file. An existing owner replaces a new owner of the same name. Needs no lock. */
static token_owner **match(const access_list *a, const access_list *fresh) {
    token_owner **now = calloc(fresh->count, sizeof(token_owner *));
    for (size_t k = 0; now && k < fresh->count; k++) {
        token_owner *same = known_as(a, fresh->owners[k]->name);
        now[k] = same ? same : fresh->owners[k];
    }
    return now;
}

/* Replaces the owners by `now`, the result of match(), in one step. */
static void take_over(access_list *a, access_list *fresh, token_owner **now) {
    token_owner **old = a->owners, *unused = NULL;
    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; k < fresh->count; k++)
        if (now[k] != fresh->owners[k]) take_rights(now[k], fresh->owners[k]);
    a->owners = now;
    a->count = fresh->count;
    pthread_mutex_unlock(&a->lock);
    for (size_t k = 0; k < fresh->count; k++) {
        token_owner *owner = fresh->owners[k], **list = now[k] == owner ? &a->known : &unused;
        owner->next = *list;
        *list = owner;
    }
    fresh->known = unused;
    free(old);
    free(fresh->owners);
    fresh->owners = NULL;
}

bool access_reload(access_list *a, const char *path, char *message, size_t room) {
    if (a->anyone) return true;
    access_list *fresh = access_open(path, message, room);
    token_owner **now = fresh ? match(a, fresh) : NULL;
    if (now) take_over(a, fresh, now);
    if (fresh && !now) snprintf(message, room, "out of memory");
    access_close(fresh);
    return now != NULL;
}

/* ---- usage ------------------------------------------------------------------------------------------------------ */

bool access_take_request(token_owner *owner, double *seconds) {
    pthread_mutex_lock(&owner->lock);
    double rate = owner->quotas.requests_per_second;
    bool taken = rate <= 0 || bucket_take(&owner->requests, rate, rate > 5 ? 2 * rate : 10, seconds);
    pthread_mutex_unlock(&owner->lock);
    return taken;
}

/* The caller holds the locks of the list and of the owner. If there are several owners, the use of each must not exceed
 * the amount that remains free. If n owners use their maximum, 1/(n + 1) of the resource is therefore free. The sum of
 * run slots is not checked here, since the pool of streams bounds it. */
static access_grant decide_grant(const access_list *a, const token_owner *owner, access_resource kind, double amount,
                                 double most) {
    const double quotas[ACCESS_RESOURCES] = {
        [ACCESS_RUN_SLOT] = owner ? owner->quotas.streams : 0, [ACCESS_FOLLOWER] = owner ? owner->quotas.followers : 0};
    double left = most - a->used[kind];
    if (kind != ACCESS_RUN_SLOT && amount > left) return ACCESS_ALL_USED;
    if (!owner) return ACCESS_GRANTED;
    double used = owner->used[kind];
    if (quotas[kind] > 0 && used >= quotas[kind]) return ACCESS_QUOTA_USED;
    return a->count == 1 || used <= 0 || used + amount <= left ? ACCESS_GRANTED : ACCESS_QUOTA_USED;
}

static void change_used(access_list *a, token_owner *owner, access_resource kind, double by) {
    a->used[kind] += by;
    if (owner) owner->used[kind] += by;
}

access_grant access_take(access_list *a, token_owner *owner, access_resource kind, double amount, double most) {
    pthread_mutex_lock(&a->lock);
    if (owner) pthread_mutex_lock(&owner->lock);
    access_grant grant = decide_grant(a, owner, kind, amount, most);
    if (grant == ACCESS_GRANTED) change_used(a, owner, kind, amount);
    if (owner) pthread_mutex_unlock(&owner->lock);
    pthread_mutex_unlock(&a->lock);
    return grant;
}

void access_release(access_list *a, token_owner *owner, access_resource kind, double amount) {
    pthread_mutex_lock(&a->lock);
    if (owner) pthread_mutex_lock(&owner->lock);
    change_used(a, owner, kind, -amount);
    if (owner) pthread_mutex_unlock(&owner->lock);
    pthread_mutex_unlock(&a->lock);
}

double access_used(access_list *a, access_resource kind) {
    pthread_mutex_lock(&a->lock);
    double used = a->used[kind];
    pthread_mutex_unlock(&a->lock);
    return used;
}

bool answers_take(answers_share *s, size_t bytes) {
    if (access_take(s->list, s->owner, ACCESS_ANSWER_BYTES, (double)bytes, s->most) != ACCESS_GRANTED) return false;
    s->taken += (double)bytes;
    return true;
}

void answers_give_back(answers_share *s, size_t bytes) {
    access_release(s->list, s->owner, ACCESS_ANSWER_BYTES, (double)bytes);
    s->taken -= (double)bytes;
}

void answers_leave(answers_share *s) {
    if (s->taken > 0) access_release(s->list, s->owner, ACCESS_ANSWER_BYTES, s->taken);
    s->taken = 0;
}

/* Returns the seconds used today; sets *left to the seconds until midnight UTC. The caller holds the lock. */
static double used_today(token_owner *owner, double *left) {
    double now = 1e-3 * (double)clock_wall_ms();
    int64_t day = (int64_t)floor(now / day_seconds);
    if (day != owner->cpu_day) {
        owner->cpu_day = day;
        owner->cpu_used = owner->cpu_unsaved = 0;
    }
    *left = (double)(day + 1) * day_seconds - now;
    return owner->cpu_used;
}

bool access_has_cpu(token_owner *owner, double *seconds) {
    double left;
    pthread_mutex_lock(&owner->lock);
    double most = owner->quotas.cpu_seconds_per_day;
    bool has = used_today(owner, &left) < most || most <= 0;
    pthread_mutex_unlock(&owner->lock);
    if (!has) *seconds = left;
    return has;
}

bool access_charge(token_owner *owner, double seconds) {
    double left;
    pthread_mutex_lock(&owner->lock);
    used_today(owner, &left);
    owner->cpu_used += seconds;
    owner->cpu_unsaved += seconds;
    double most = owner->quotas.cpu_seconds_per_day;
    bool has = owner->cpu_used < most || most <= 0;
    pthread_mutex_unlock(&owner->lock);
    return has;
}

/* Takes the unstored usage of an owner. Returns false if there is no usage to store or to read. The caller holds the
 * locks of the list and of the owner. */
static bool take_usage(token_owner *owner, access_usage *out) {
    double left;
    used_today(owner, &left);
    bool wanted = owner->cpu_unsaved > 0 || (!owner->cpu_known && owner->quotas.cpu_seconds_per_day > 0);
    *out = (access_usage){.owner = owner, .day = owner->cpu_day, .seconds = owner->cpu_unsaved};
    if (wanted) owner->cpu_unsaved = 0;
    return wanted;
}

bool access_take_usage(access_list *a, size_t *from, access_usage *out) {
    bool taken = false;
    pthread_mutex_lock(&a->lock);
    while (!taken && *from < a->count) {
        token_owner *owner = a->owners[(*from)++];
        pthread_mutex_lock(&owner->lock);
        taken = take_usage(owner, out);
        pthread_mutex_unlock(&owner->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return taken;
}

void access_settle_usage(const access_usage *usage, bool saved, double total) {
    token_owner *owner = usage->owner;
    pthread_mutex_lock(&owner->lock);
    if (owner->cpu_day == usage->day && saved) {
        owner->cpu_used = total + owner->cpu_unsaved;
        owner->cpu_known = true;
    } else if (owner->cpu_day == usage->day) {
        owner->cpu_unsaved += usage->seconds;
    }
    pthread_mutex_unlock(&owner->lock);
}

bool access_make_token(char text[TOKEN_TEXT_BYTES], char hash[DIGEST_HEX + 1]) {
    char first[RANDOM_ID_BYTES], second[RANDOM_ID_BYTES];
    if (!random_id(first) || !random_id(second)) return false;
    snprintf(text, TOKEN_TEXT_BYTES, "%s%s%s", token_prefix, first, second);
    api_digest(text, strlen(text), hash);
    return true;
}
