/* access.c — see access.h. The file is read in access_file.c. */
#include "server/access_int.h"

#include "server/stamp.h"

#include <math.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char token_prefix[] = "hamel_"; /* so that a leaked one can be told from other strings */
static const double day_seconds = 86400;

void access_close(access_list *a) {
    if (!a) return;
    for (access_holder *holder = a->known, *next; holder; holder = next) {
        next = holder->next;
        pthread_mutex_destroy(&holder->lock);
        free(holder);
    }
    pthread_mutex_destroy(&a->lock);
    free(a->holders);
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

static void hash_of(const char *text, uint8_t hash[TOKEN_HASH_BYTES]) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, strlen(text), (const uint8_t *)text);
    sha256_digest(&context, TOKEN_HASH_BYTES, hash);
}

access_holder *access_of(access_list *a, const char *authorization) {
    static const char scheme[] = "Bearer ";
    uint8_t hash[TOKEN_HASH_BYTES];
    access_holder *found = NULL;
    if (access_open_to_anyone(a)) return a->known;
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) return NULL;
    authorization += sizeof scheme - 1;
    hash_of(authorization + strspn(authorization, " "), hash);
    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; k < a->count; k++) { /* all of them, each as a whole */
        if (memeql_sec(a->holders[k]->hash, hash, TOKEN_HASH_BYTES)) found = a->holders[k];
    }
    pthread_mutex_unlock(&a->lock);
    return found;
}

access_holder *access_named(access_list *a, const char *name) {
    access_holder *found = NULL;
    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; k < a->count && !found; k++) {
        if (strcmp(a->holders[k]->name, name) == 0) found = a->holders[k];
    }
    pthread_mutex_unlock(&a->lock);
    return found;
}

bool access_may(access_holder *holder, unsigned scope) {
    if (scope == 0) return true;
    pthread_mutex_lock(&holder->lock);
    bool may = (holder->scopes & (scope | SCOPE_ADMIN)) != 0;
    pthread_mutex_unlock(&holder->lock);
    return may;
}

access_quotas access_quotas_of(access_holder *holder) {
    pthread_mutex_lock(&holder->lock);
    access_quotas quotas = holder->quotas;
    pthread_mutex_unlock(&holder->lock);
    return quotas;
}

/* ---- another file ----------------------------------------------------------------------------------------------- */

static access_holder *known_as(const access_list *a, const char *name) {
    access_holder *holder = a->known;
    while (holder && strcmp(holder->name, name) != 0) holder = holder->next;
    return holder;
}

/* With the list's lock held: the rights of another holder, who has the same name. */
static void take_rights(access_holder *holder, const access_holder *from) {
    memcpy(holder->hash, from->hash, TOKEN_HASH_BYTES);
    pthread_mutex_lock(&holder->lock);
    holder->scopes = from->scopes;
    holder->quotas = from->quotas;
    pthread_mutex_unlock(&holder->lock);
}

/* Those who are known already in place of those of the same name in the file; the search is done without the lock. */
static access_holder **match(const access_list *a, const access_list *fresh) {
    access_holder **now = calloc(fresh->count, sizeof(access_holder *));
    for (size_t k = 0; now && k < fresh->count; k++) {
        access_holder *same = known_as(a, fresh->holders[k]->name);
        now[k] = same ? same : fresh->holders[k];
    }
    return now;
}

/* All at once for whoever asks: from now on the holders are `now`, an array like that of `fresh`. */
static void take_over(access_list *a, access_list *fresh, access_holder **now) {
    access_holder **old = a->holders, *unused = NULL;
    pthread_mutex_lock(&a->lock);
    for (size_t k = 0; k < fresh->count; k++) {
        if (now[k] != fresh->holders[k]) take_rights(now[k], fresh->holders[k]);
    }
    a->holders = now;
    a->count = fresh->count;
    pthread_mutex_unlock(&a->lock);
    for (size_t k = 0; k < fresh->count; k++) {
        access_holder *holder = fresh->holders[k], **list = now[k] == holder ? &a->known : &unused;
        holder->next = *list;
        *list = holder;
    }
    fresh->known = unused;
    free(old);
    free(fresh->holders);
    fresh->holders = NULL;
}

bool access_reload(access_list *a, const char *path, char *message, size_t room) {
    if (a->anyone) return true;
    access_list *fresh = access_open(path, message, room);
    access_holder **now = fresh ? match(a, fresh) : NULL;
    if (now) {
        take_over(a, fresh, now);
    } else if (fresh) {
        snprintf(message, room, "out of memory");
    }
    access_close(fresh);
    return now != NULL;
}

/* ---- what has been used ----------------------------------------------------------------------------------------- */

bool access_take_request(access_holder *holder, double *seconds) {
    pthread_mutex_lock(&holder->lock);
    double rate = holder->quotas.requests_per_second;
    bool taken = rate <= 0 || bucket_take(&holder->requests, rate, rate > 5 ? 2 * rate : 10, seconds);
    pthread_mutex_unlock(&holder->lock);
    return taken;
}

/* With both locks held. Whoever takes no more than is left to others leaves one part of n + 1 free when n do so. The
 * pool of run slots bounds their sum itself, by those that are still computing. */
static access_taken look_for_place(const access_list *a, const access_holder *holder, access_place kind, double amount,
                                   double most) {
    const double quotas[ACCESS_PLACES] = {
        [PLACE_STREAM] = holder ? holder->quotas.streams : 0, [PLACE_FOLLOWER] = holder ? holder->quotas.followers : 0};
    double left = most - a->places[kind];
    if (kind != PLACE_STREAM && amount > left) return PLACE_ALL_USED;
    if (!holder) return PLACE_TAKEN;
    double used = holder->places[kind];
    if (quotas[kind] > 0 && used >= quotas[kind]) return PLACE_OWN_USED;
    return a->count == 1 || used <= 0 || used + amount <= left ? PLACE_TAKEN : PLACE_OWN_USED;
}

static void change_places(access_list *a, access_holder *holder, access_place kind, double by) {
    a->places[kind] += by;
    if (holder) holder->places[kind] += by;
}

access_taken access_take_place(access_list *a, access_holder *holder, access_place kind, double amount, double most) {
    pthread_mutex_lock(&a->lock);
    if (holder) pthread_mutex_lock(&holder->lock);
    access_taken taken = look_for_place(a, holder, kind, amount, most);
    if (taken == PLACE_TAKEN) change_places(a, holder, kind, amount);
    if (holder) pthread_mutex_unlock(&holder->lock);
    pthread_mutex_unlock(&a->lock);
    return taken;
}

void access_leave_place(access_list *a, access_holder *holder, access_place kind, double amount) {
    pthread_mutex_lock(&a->lock);
    if (holder) pthread_mutex_lock(&holder->lock);
    change_places(a, holder, kind, -amount);
    if (holder) pthread_mutex_unlock(&holder->lock);
    pthread_mutex_unlock(&a->lock);
}

double access_used(access_list *a, access_place kind) {
    pthread_mutex_lock(&a->lock);
    double used = a->places[kind];
    pthread_mutex_unlock(&a->lock);
    return used;
}

/* With the lock held: seconds used today, and how long today still lasts. */
static double used_today(access_holder *holder, double *left) {
    double now = 1e-3 * (double)stamp_wall_ms();
    int64_t day = (int64_t)floor(now / day_seconds);
    if (day != holder->cpu_day) {
        holder->cpu_day = day;
        holder->cpu_used = holder->cpu_unsaved = 0;
    }
    *left = (double)(day + 1) * day_seconds - now;
    return holder->cpu_used;
}

bool access_has_cpu(access_holder *holder, double *seconds) {
    double left;
    pthread_mutex_lock(&holder->lock);
    double most = holder->quotas.cpu_seconds_per_day;
    bool has = used_today(holder, &left) < most || most <= 0;
    pthread_mutex_unlock(&holder->lock);
    if (!has) *seconds = left;
    return has;
}

bool access_charge(access_holder *holder, double seconds) {
    double left;
    pthread_mutex_lock(&holder->lock);
    used_today(holder, &left);
    holder->cpu_used += seconds;
    holder->cpu_unsaved += seconds;
    double most = holder->quotas.cpu_seconds_per_day;
    bool has = holder->cpu_used < most || most <= 0;
    pthread_mutex_unlock(&holder->lock);
    return has;
}

/* With both locks held. Nothing is looked up for an owner without a quota who uses nothing. */
static bool take_usage(access_holder *holder, access_usage *out) {
    double left;
    used_today(holder, &left);
    bool wanted = holder->cpu_unsaved > 0 || (!holder->cpu_known && holder->quotas.cpu_seconds_per_day > 0);
    *out = (access_usage){.holder = holder, .day = holder->cpu_day, .seconds = holder->cpu_unsaved};
    if (wanted) holder->cpu_unsaved = 0;
    return wanted;
}

bool access_take_usage(access_list *a, size_t *from, access_usage *out) {
    bool taken = false;
    pthread_mutex_lock(&a->lock);
    while (!taken && *from < a->count) {
        access_holder *holder = a->holders[(*from)++];
        pthread_mutex_lock(&holder->lock);
        taken = take_usage(holder, out);
        pthread_mutex_unlock(&holder->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return taken;
}

void access_settle_usage(const access_usage *usage, bool saved, double total) {
    access_holder *holder = usage->holder;
    pthread_mutex_lock(&holder->lock);
    if (holder->cpu_day == usage->day && saved) {
        holder->cpu_used = total + holder->cpu_unsaved;
        holder->cpu_known = true;
    } else if (holder->cpu_day == usage->day) {
        holder->cpu_unsaved += usage->seconds;
    }
    pthread_mutex_unlock(&holder->lock);
}

/* ---- new ones --------------------------------------------------------------------------------------------------- */

bool access_make_token(char text[TOKEN_TEXT_BYTES], char hash[2 * TOKEN_HASH_BYTES + 1]) {
    char first[STAMP_ID_BYTES], second[STAMP_ID_BYTES];
    uint8_t digest[TOKEN_HASH_BYTES];
    if (!stamp_id(first) || !stamp_id(second)) return false;
    snprintf(text, TOKEN_TEXT_BYTES, "%s%s%s", token_prefix, first, second);
    hash_of(text, digest);
    for (size_t k = 0; k < TOKEN_HASH_BYTES; k++) snprintf(hash + 2 * k, 3, "%02x", digest[k]);
    return true;
}
