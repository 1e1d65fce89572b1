/* model_cache.c — cache of derived models; see model_cache.h. One lock guards one list, most recently used entry first.
 * The list has at most ENTRIES_MAX entries, and comparing all their hashes takes less time than parsing a description.
 * Models are derived without the lock.
 *
 * An entry also records the hashes of the last BODIES request bodies, so that an identical body need not be parsed. */
#include "server/model_cache.h"

#include "api/json/text.h"
#include "server/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 4, ENTRIES_MAX = 512 };
/* Interval between polls of a waiting request's budget. A cancellation is delayed by at most 0.05 s. */
#define LOOK_SECONDS 0.05

typedef struct hash {
    char hex[DIGEST_HEX + 1];
} hash;

struct cache_entry {
    hash canonical, bodies[BODIES];
    size_t body_count;  /* number of bodies recorded so far; the hashes of the last BODIES are kept */
    hamel_model *model; /* NULL while the model is being derived */
    bool failed;        /* the derivation failed: the entry is not in the list and is freed with its last reference */
    size_t bytes, references;
    token_owner *user; /* owner charged for the model in use; NULL: no owner */
    cache_entry *previous, *next;
};

struct model_cache {
    api_limits limits;
    metrics *metrics;
    model_bounds bounds;

    pthread_mutex_t lock;
    pthread_cond_t derived;
    cache_entry *first, *last;
    size_t count, bytes; /* totals of the entries in the list */
    size_t used;         /* bytes of models in use */
    size_t deriving;
};

model_cache *model_cache_open(const api_limits *limits, metrics *counters, const model_bounds *bounds) {
    model_cache *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->limits = *limits;
    c->metrics = counters;
    c->bounds = *bounds;
    pthread_mutex_init(&c->lock, NULL);
    clock_condition_init(&c->derived);
    return c;
}

static void unlink_entry(model_cache *c, cache_entry *e) {
    *(e->previous ? &e->previous->next : &c->first) = e->next;
    *(e->next ? &e->next->previous : &c->last) = e->previous;
    e->previous = e->next = NULL;
    c->count--;
    c->bytes -= e->bytes;
}

static void link_first(model_cache *c, cache_entry *e) {
    e->previous = NULL;
    e->next = c->first;
    *(c->first ? &c->first->previous : &c->last) = e;
    c->first = e;
    c->count++;
    c->bytes += e->bytes;
}

/* Destroys a list of entries that are linked by `next`. */
static void destroy_chain(cache_entry *e) {
    while (e) {
        cache_entry *next = e->next;
        hamel_model_free(e->model);
        free(e);
        e = next;
    }
}

void model_cache_close(model_cache *c) {
    if (!c) return;
    destroy_chain(c->first);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->derived);
    free(c);
}

static bool same_hash(const hash *a, const hash *b) {
    return memcmp(a->hex, b->hex, DIGEST_HEX) == 0;
}

/* Removes unused entries from the end of the list until the list is within its bounds. Returns the removed entries; the
 * caller destroys them after releasing the lock. */
static cache_entry *take_surplus(model_cache *c) {
    cache_entry *surplus = NULL;
    for (cache_entry *e = c->last, *before; e && (c->bytes > c->bounds.kept || c->count > ENTRIES_MAX); e = before) {
        before = e->previous;
        if (e->references > 0) continue;
        unlink_entry(c, e);
        e->next = surplus;
        surplus = e;
    }
    return surplus;
}

/* ---- functions called with the lock held ------------------------------------------------------------------------ */

static cache_entry *find_body(const model_cache *c, const hash *body) {
    for (cache_entry *e = c->first; e; e = e->next) {
        for (size_t k = 0; k < BODIES && k < e->body_count; k++)
            if (same_hash(&e->bodies[k], body)) return e;
    }
    return NULL;
}

static cache_entry *find_canonical(const model_cache *c, const hash *canonical) {
    cache_entry *e = c->first;
    while (e && !same_hash(&e->canonical, canonical)) e = e->next;
    return e;
}

static void note_body(cache_entry *e, const hash *body) {
    e->bodies[e->body_count++ % BODIES] = *body;
}

/* Charges a model in use to its first user. */
static void charge_entry(model_cache *c, cache_entry *e, token_owner *user) {
    e->user = user;
    c->used += e->bytes;
    if (user) user->model_bytes += e->bytes;
}

static void uncharge(model_cache *c, cache_entry *e) {
    c->used -= e->bytes;
    if (e->user) e->user->model_bytes -= e->bytes;
}

/* Returns true if an owner that uses `own` may use more: each owner must leave free as much as the owner uses. If n
 * owners use their maximum, 1/(n + 1) of the whole is therefore free. */
static bool leaves_enough(size_t own, size_t all, size_t most) {
    return most == 0 || (all < most && (own == 0 || own < most - all));
}

static void use(model_cache *c, cache_entry *e, token_owner *user) {
    if (e->references++ == 0) charge_entry(c, e, user);
    unlink_entry(c, e);
    link_first(c, e);
}

/* Waits until the entry has a model or its derivation has failed. The caller has a reference to the entry. While
 * waiting, releases the caller's CPU slot, since the deriving thread may need it. Returns false if the caller's budget
 * has ended. */
static bool wait_for_model(model_cache *c, const cache_entry *e, budget *b) {
    while (!e->model && !e->failed) {
        budget_release_slot(b);
        if (hamel_ask(&b->poll) != HAMEL_OK) return false;
        clock_wait(&c->derived, &c->lock, LOOK_SECONDS);
    }
    return true;
}

/* Releases a reference. Returns the entries that the caller must destroy. */
static cache_entry *let_go(model_cache *c, cache_entry *e) {
    if (--e->references == 0) uncharge(c, e);
    if (!e->failed) return take_surplus(c);
    return e->references == 0 ? e : NULL;
}

/* ---- acquire ---------------------------------------------------------------------------------------------------- */

static bool canonical_of(const model_cache *c, const char *body, size_t length, hash *out) {
    json_fault fault;
    cJSON *tree = json_parse(body, length, &c->limits.json, &fault);
    char *text = tree ? json_canonical(tree) : NULL;
    cJSON_Delete(tree);
    if (!text) return false;
    api_digest(text, strlen(text), out->hex);
    free(text);
    return true;
}

static bool fail_with(api_failure *failure, hamel_status status) {
    failure->http = api_status_http(status);
    failure->exit_code = api_status_exit(status);
    failure->problem =
        api_problem_plain(failure->http, hamel_status_slug(status), hamel_status_meaning(status), NULL, NULL);
    return false;
}

/* Waits until another derivation may begin; returns false if the budget is used up. The CPU slots do not bound the
 * number of derivations: a derivation that yields its slot keeps its memory. */
static bool take_place(model_cache *c, budget *b) {
    bool computes = b->slot.held, wanted = true;
    token_owner *owner = b->owner;
    pthread_mutex_lock(&c->lock);
    while (!leaves_enough(owner ? owner->derivations : 0, c->deriving, c->bounds.derivations)) {
        budget_release_slot(b);
        wanted = hamel_ask(&b->poll) == HAMEL_OK;
        if (!wanted) break;
        clock_wait(&c->derived, &c->lock, LOOK_SECONDS);
    }
    if (wanted) {
        c->deriving++;
        if (owner) owner->derivations++;
    }
    pthread_mutex_unlock(&c->lock);
    if (computes) budget_take_slot(b);
    return wanted;
}

static void leave_place(model_cache *c, budget *b) {
    pthread_mutex_lock(&c->lock);
    c->deriving--;
    if (b->owner) b->owner->derivations--;
    pthread_mutex_unlock(&c->lock);
}

static bool may_use_more(model_cache *c, const budget *b) {
    pthread_mutex_lock(&c->lock);
    bool may = b->is_job || leaves_enough(b->owner ? b->owner->model_bytes : 0, c->used, c->bounds.used);
    pthread_mutex_unlock(&c->lock);
    return may;
}

static void refuse_for_memory(model_cache *c, api_failure *failure) {
    static const char detail[] = "models of other requests use all memory allowed by --models; retry shortly";
    metrics_reject(c->metrics, REJECT_BUSY);
    *failure = (api_failure){.http = 503, .exit_code = api_status_exit(HAMEL_NO_MEMORY)};
    failure->problem = api_problem_plain(503, "busy", "Busy", detail, NULL);
}

/* Derives a model, subject to the bounds on the size of all models together. On failure returns NULL and fills
 * *failure. The size of a model is not known before it is derived, so the bound is checked after the wait for other
 * derivations. */
static hamel_model *derive_within_bounds(model_cache *c, const char *body, size_t length, budget *b, const char *file,
                                         api_failure *failure) {
    hamel_model *model = NULL;
    if (!take_place(c, b)) {
        fail_with(failure, HAMEL_CANCELED);
        return NULL;
    }
    if (may_use_more(c, b)) {
        budget_derive(b, true);
        model = api_prepare(body, length, NULL, 0, &c->limits, &b->poll, file, failure);
        budget_derive(b, false);
    } else {
        refuse_for_memory(c, failure);
    }
    leave_place(c, b);
    return model;
}

/* Derives the model of an entry that the caller has added, and wakes all requests that wait for it. */
static bool derive_entry(model_cache *c, cache_entry *e, const char *body, size_t length, budget *b, const char *file,
                         api_failure *failure) {
    hamel_model *model = derive_within_bounds(c, body, length, b, file, failure);
    cache_entry *gone = NULL;
    pthread_mutex_lock(&c->lock);
    unlink_entry(c, e);
    e->model = model;
    e->failed = !model;
    if (model) {
        e->bytes = hamel_model_bytes(model);
        charge_entry(c, e, b->owner);
        link_first(c, e);
    } else {
        gone = let_go(c, e);
    }
    pthread_cond_broadcast(&c->derived);
    pthread_mutex_unlock(&c->lock);
    destroy_chain(gone);
    return model != NULL;
}

typedef enum found { FOUND_MODEL, FOUND_FAILURE, FOUND_NOTHING, FOUND_CANCELED } found;

/* Takes a reference to an existing entry and waits for its model. The caller holds the lock, which is released during
 * the wait. */
static found take_existing(model_cache *c, cache_entry *e, const hash *body, budget *b, cache_entry **gone) {
    if (!e) return FOUND_NOTHING;
    use(c, e, b->owner);
    bool wanted = wait_for_model(c, e, b);
    if (wanted && e->model) {
        if (body) note_body(e, body);
        return FOUND_MODEL;
    }
    *gone = let_go(c, e);
    return wanted ? FOUND_FAILURE : FOUND_CANCELED;
}

static cache_entry *add_model_entry(model_cache *c, const hash *canonical, const hash *body) {
    cache_entry *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->canonical = *canonical;
    e->references = 1;
    note_body(e, body);
    link_first(c, e);
    return e;
}

/* Searches once, by `body` if `canonical` is NULL. If a search by `canonical` finds nothing, adds an entry that the
 * caller must derive; *entry is NULL if out of memory. */
static found find_model(model_cache *c, const hash *body, const hash *canonical, budget *b, cache_entry **entry) {
    cache_entry *gone = NULL;
    bool computes = b->slot.held;
    pthread_mutex_lock(&c->lock);
    *entry = canonical ? find_canonical(c, canonical) : find_body(c, body);
    found result = take_existing(c, *entry, canonical ? body : NULL, b, &gone);
    if (result == FOUND_NOTHING && canonical) *entry = add_model_entry(c, canonical, body);
    pthread_mutex_unlock(&c->lock);
    destroy_chain(gone);
    if (computes) budget_take_slot(b); /* call without the lock, since this may wait */
    return result;
}

bool model_cache_take(model_cache *c, const char *body, size_t length, budget *b, const char *file, model_lease *out,
                      api_failure *failure) {
    cache_entry *entry = NULL;
    hash as_sent, canonical;
    api_digest(body, length, as_sent.hex);
    *out = (model_lease){0};
    found result = find_model(c, &as_sent, NULL, b, &entry);
    if (result == FOUND_NOTHING || result == FOUND_FAILURE) {
        /* Invalid JSON has no canonical form; the derivation reports the error. */
        if (!canonical_of(c, body, length, &canonical)) canonical = as_sent;
        /* Retry if the derivation of another request failed, perhaps because that request was canceled. */
        do result = find_model(c, &as_sent, &canonical, b, &entry);
        while (result == FOUND_FAILURE);
    }
    metrics_count(result == FOUND_MODEL ? &c->metrics->cache_hits : &c->metrics->cache_misses, 1);
    if (result == FOUND_CANCELED) return fail_with(failure, HAMEL_CANCELED);
    if (!entry) return fail_with(failure, HAMEL_NO_MEMORY);
    if (result == FOUND_NOTHING && !derive_entry(c, entry, body, length, b, file, failure)) return false;
    *out = (model_lease){.model = entry->model, .known = result == FOUND_MODEL, .entry = entry};
    return true;
}

void model_cache_release(model_cache *c, model_lease *lease) {
    if (!lease->entry) return;
    pthread_mutex_lock(&c->lock);
    cache_entry *gone = let_go(c, lease->entry);
    pthread_mutex_unlock(&c->lock);
    destroy_chain(gone);
    *lease = (model_lease){0};
}

cache_size model_cache_size(model_cache *c) {
    pthread_mutex_lock(&c->lock);
    cache_size size = {.models = c->count, .bytes = c->bytes, .used_bytes = c->used, .derivations = c->deriving};
    pthread_mutex_unlock(&c->lock);
    return size;
}
