/* prefer.c — see prefer.h. */
#include "server/http/prefer.h"

#include "server/stamp.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Seconds; and how long at most the client's going is not noticed. */
static const double wait_most = 120, look_every = 0.5;

/* RFC 7240: token BWS "=" BWS word, where a word may stand in quotes. */
static double seconds_asked(const char *header) {
    while (header && *header) {
        header += strspn(header, " \t,;");
        const char *name = header;
        header += strcspn(header, ",;");
        if (strncasecmp(name, "wait", 4) != 0) continue;
        const char *value = name + 4 + strspn(name + 4, " \t");
        if (*value != '=') continue;
        value += 1 + strspn(value + 1, " \t\"");
        if (isdigit((unsigned char)*value)) return fmin(floor(strtod(value, NULL)), wait_most);
    }
    return 0;
}

/* `ended`, and then a pause of ten times what it took: a store that changes all the time is not asked all the time. */
static bool look(const request *r, bool (*ended)(const request *r, void *context), void *context) {
    double begin = stamp_seconds();
    if (ended(r, context)) return true;
    double pause = fmin(10 * (stamp_seconds() - begin), look_every);
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
    return false;
}

void prefer_wait(request *r, bool (*ended)(const request *r, void *context), void *context) {
    store *s = r->services->store;
    const atomic_bool *cancel = stream_cancel_flag(r->stream);
    double asked = seconds_asked(request_header(r, "Prefer")), until = stamp_seconds() + asked;
    uint64_t seen = 0;
    if (asked <= 0) return;
    r->reply.waited = (int)asked;
    while (!look(r, ended, context) && !atomic_load(cancel)) {
        double left = until - stamp_seconds();
        if (left <= 0) return;
        s->kind->wait(s, &seen, fmin(left, look_every));
    }
}
