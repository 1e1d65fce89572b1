/* store.c — registry of backends, and functions common to all of them. To add a backend, write its table of functions
 * and add the table to the list in this file. */
#include "server/jobs/store.h"

#include "server/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const store_kind *const kinds[] = {&store_kind_sqlite, &store_kind_memory, &store_kind_postgresql};
static const char *const status_names[] = {"queued", "running", "completed", "incomplete", "failed", "canceled"};

const char *job_status_name(job_status status) {
    return status_names[status];
}

bool job_status_named(const char *name, job_status *out) {
    for (size_t i = 0; i < sizeof status_names / sizeof status_names[0]; i++) {
        if (strcmp(name, status_names[i]) != 0) continue;
        *out = (job_status)i;
        return true;
    }
    return false;
}

void job_clear(job *j) {
    free(j->name);
    free(j->header);
    free(j->summary);
    free(j->problem);
    free(j->owner);
    free(j->assignments);
    free(j->collected);
    *j = (job){0};
}

void claim_clear(job_claim *c) {
    while (c->count > 0) job_clear(&c->jobs[--c->count]);
    free(c->body);
    c->body = NULL;
    c->length = 0;
}

bool batch_ended(const job_batch *b) {
    for (size_t k = 0; k < JOB_STATUSES; k++)
        if (!job_ended((job_status)k) && b->counts[k] > 0) return false;
    return b->complete;
}

void batch_clear(job_batch *b) {
    free(b->name);
    free(b->plan);
    *b = (job_batch){0};
}

void row_chunk_clear(row_chunk *chunk) {
    free(chunk->values);
    *chunk = (row_chunk){0};
}

static const store_kind *kind_of_url(const char *url) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(url, kinds[i]->scheme, strlen(kinds[i]->scheme)) == 0) return kinds[i];
    return NULL;
}

bool store_check(const char *url, char *message, size_t room) {
    const store_kind *kind = kind_of_url(url);
    char shown[STORE_URL_BYTES];
    if (kind) return !kind->check || kind->check(url, message, room);
    return failed_with(message, room, "--store: expected sqlite:PATH, memory: or postgresql://..., found '%.200s'",
                       store_shown(url, shown));
}

const char *store_shown(const char *url, char out[STORE_URL_BYTES]) {
    const store_kind *kind = kind_of_url(url);
    const char *path = strstr(url, "://");
    if (kind && kind->show) {
        kind->show(url, out);
    } else if (kind || !path) {
        snprintf(out, STORE_URL_BYTES, "%s", url);
    } else {
        snprintf(out, STORE_URL_BYTES, "%.*s://...", (int)(path - url), url); /* the URL may contain a password */
    }
    return out;
}

store *store_open(const char *url, const store_options *options, char *message, size_t room) {
    const store_kind *kind = kind_of_url(url);
    if (kind) return kind->open(url, options, message, room);
    store_check(url, message, room);
    return NULL;
}

void store_set_listener(store *s, const store_listener *listener) {
    if (s->kind->set_listener) s->kind->set_listener(s, listener);
}

bool store_backup(const char *url, const char *path, char *message, size_t room) {
    const store_kind *kind = kind_of_url(url);
    if (kind && kind->backup) return kind->backup(url, path, message, room);
    char shown[STORE_URL_BYTES];
    return failed_with(message, room, "--backup: the store '%.200s' cannot be copied; for PostgreSQL use pg_dump",
                       store_shown(url, shown));
}
