/* exchange.h — one request to a daemon and its answer (RFC 9110), by libcurl.
 *
 * An answer of the type that is asked for may be taken line by line while it comes, without end; every other one is
 * gathered, up to a bound. What a server sends is not trusted more than a file: documents go through the strict JSON
 * scan. */
#ifndef HAMEL_CLI_EXCHANGE_H
#define HAMEL_CLI_EXCHANGE_H

#include "api/strict_json.h"
#include "clients/cli/options.h"
#include "engine/base/text_buffer.h"

/* Where a command works. */
typedef struct cli_place {
    const char *server; /* URL; NULL: this process */
    const char *token;  /* bearer token, or NULL */
} cli_place;

/* --server and HAMEL_SERVER, HAMEL_TOKEN. */
cli_place cli_place_of(const cli_arguments *arguments);

typedef struct exchange {
    /* What is asked. Borrowed. */
    const char *method, *path; /* path and query below the server's address: "/v1/jobs" */
    const char *accept;        /* a media type */
    const char *body;          /* JSON, or NULL */
    size_t body_length;
    const char *key; /* Idempotency-Key, or NULL */
    bool lively;     /* the server gives signs of life: an answer that stays quiet for a minute is given up */
    /* Given each line of an answer with status 200 and the type `accept`, without its end and not NUL-terminated;
     * false ends the exchange. NULL: no answer is taken by lines. */
    bool (*line)(void *context, const char *bytes, size_t length);
    void *context;

    /* What has come. */
    long status;        /* of HTTP; 0: no answer */
    bool streamed;      /* the answer went to `line` */
    bool ended;         /* by `line` */
    text_buffer answer; /* the body that was not streamed */
    char reason[256];   /* why it has not come whole */
} exchange;

/* True when a whole answer has come, whatever its status, or `line` has ended it; else x->reason tells.
 * exchange_clear in both cases. */
bool exchange_run(exchange *x, const cli_place *place);
void exchange_clear(exchange *x);

/* The answer as JSON (cJSON_Delete); NULL when it is none. */
cJSON *exchange_json(const exchange *x);

/* Says that there was no answer, or that it was no success. CLI_SERVER. */
int exchange_failed(const exchange *x, const cli_place *place);

#endif
