/* prefer.c — replies that wait for the end of a job; see prefer.h. */
#include "server/http/prefer.h"

#include "server/clock.h"
#include "server/http/admission.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double wait_most = 120; /* upper bound on N, s; documented in api/openapi.json */
#define PAUSE_SECONDS 0.002          /* shortest interval between two reads of a batch */

/* Reads `wait` from a Prefer header (RFC 7240): token BWS "=" BWS word; the word may be quoted. */
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

typedef struct waiting {
    request *r;
    awaited what;
    double until;
} waiting;

static follow_wait prefer_step(void *context) {
    waiting *w = context;
    follow_wait wait = {.from = clock_seconds() + PAUSE_SECONDS, .until = w->until};
    bool over = clock_seconds() >= w->until || atomic_load(stream_cancel_flag(w->r->stream));
    if (!w->what.ended(w->r, w->what.context, &wait) && !over) return wait;
    w->what.reply(w->r, w->what.context);
    request_reply(w->r);
    w->what.clear(w->what.context);
    free(w);
    return (follow_wait){.ended = true};
}

handled prefer_wait(request *r, const awaited *what) {
    double asked = seconds_asked(request_header(r, "Prefer"));
    bool waits = asked > 0 && !atomic_load(stream_cancel_flag(r->stream)) && admission_change(r, ACCESS_FOLLOWER);
    waiting *w = waits ? malloc(sizeof *w) : NULL;
    if (w) {
        *w = (waiting){.r = r, .what = *what, .until = clock_seconds() + asked};
        r->reply.waited = (int)asked;
        text_buffer_free(&r->body);
        if (request_follow(r, prefer_step, w)) return REPLY_STREAMED;
        r->reply.waited = 0;
        free(w);
    }
    what->reply(r, what->context);
    what->clear(what->context);
    return REPLY_READY;
}
