/* store_postgres_url.c — connection parameters in a URL.
 *
 * A URL may contain a password, and messages of libpq about an invalid URL repeat parts of the URL. So messages of
 * libpq about URLs are never shown. */
#include "server/jobs/store_postgres_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default parameters. With these keepalives a lost machine is detected within 15 s. Probes begin after 5 s without
 * data. The connection ends after three unanswered probes at intervals of 3 s. */
static const char *const standard[][2] = {
    {"connect_timeout", "5"},    {"keepalives_idle", "5"},      {"keepalives_interval", "3"},
    {"keepalives_count", "3"},   {"tcp_user_timeout", "15000"}, {"fallback_application_name", "hameld"},
    {"client_encoding", "UTF8"},
};
enum { STANDARD = sizeof standard / sizeof standard[0] };

static bool add_parameter(postgres_store *s, size_t at, const char *keyword, const char *value) {
    s->keywords[at] = strdup(keyword);
    s->values[at] = strdup(value);
    return s->keywords[at] && s->values[at];
}

/* Returns false if port or database look like part of a password: libpq splits a password at an unescaped `/`. */
static bool is_plain(const char *port, const char *database) {
    return strspn(port, "0123456789,") == strlen(port) && !strchr(database, '@');
}

static const char *option(const PQconninfoOption *o, const char *keyword) {
    while (o->keyword && strcmp(o->keyword, keyword) != 0) o++;
    return o->keyword && o->val ? o->val : "";
}

bool pg_read_url(postgres_store *s, const char *url, char *message, size_t room) {
    char *reason = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &reason);
    PQfreemem(reason);
    if (!options || !is_plain(option(options, "port"), option(options, "dbname"))) {
        PQconninfoFree(options);
        return failed_with(message, room,
                           "--store: not a PostgreSQL URL: expected postgresql://USER@HOST:PORT/DATABASE, with "
                           "%%2F, %%3F, %%40 for /, ?, @ in names and passwords");
    }
    size_t total = STANDARD, at = 0;
    for (const PQconninfoOption *o = options; o->keyword; o++) total++;
    s->keywords = calloc(total + 1, sizeof *s->keywords);
    s->values = calloc(total + 1, sizeof *s->values);
    bool good = s->keywords && s->values;
    /* If a parameter is given twice, libpq uses the last. */
    for (size_t k = 0; good && k < STANDARD; k++) good = add_parameter(s, at++, standard[k][0], standard[k][1]);
    for (const PQconninfoOption *o = options; good && o->keyword; o++)
        if (o->val && strcmp(o->keyword, "client_encoding") != 0) good = add_parameter(s, at++, o->keyword, o->val);
    PQconninfoFree(options);
    return good || failed_with(message, room, "out of memory");
}

void pg_show_url(const char *url, char out[STORE_URL_BYTES]) {
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    snprintf(out, STORE_URL_BYTES, "postgresql://...");
    if (!options) return;
    const char *user = option(options, "user"), *port = option(options, "port"), *name = option(options, "dbname");
    if (is_plain(port, name)) {
        snprintf(out, STORE_URL_BYTES, "postgresql://%.200s%s%.200s%s%.20s/%.200s", user, *user ? "@" : "",
                 option(options, "host"), *port ? ":" : "", port, name);
    }
    PQconninfoFree(options);
}

void pg_forget_url(postgres_store *s) {
    for (size_t k = 0; s->keywords && s->keywords[k]; k++) free(s->keywords[k]);
    for (size_t k = 0; s->values && s->values[k]; k++) free(s->values[k]);
    free(s->keywords);
    free(s->values);
}
