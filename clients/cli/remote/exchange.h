/* exchange.h — one HTTP request to a daemon and its response (RFC 9110), with libcurl.
 *
 * A response of the requested type can be received line by line, with no limit on its length. Other responses are
 * collected in memory, up to a limit. Responses are not trusted: JSON documents are parsed by json_parse. */
#pragma once

#include "api/json/strict_json.h"
#include "clients/cli/options.h"
#include "engine/base/text_buffer.h"

/* The server on which a command runs, if any. */
typedef struct cli_server {
    const char *url;   /* NULL if the command runs in this process */
    const char *token; /* bearer token; may be NULL */
} cli_server;

/* Reads --server and, if it was not given, HAMEL_SERVER. Reads the token from HAMEL_TOKEN. */
cli_server cli_server_of(const cli_arguments *arguments);

typedef struct exchange {
    /* The request. The strings are borrowed. */
    const char *method, *path; /* `path` includes the query: "/v1/jobs?limit=50" */
    const char *accept;        /* media type requested */
    const char *body;          /* JSON, or NULL */
    size_t body_length;
    const char *key; /* Idempotency-Key; may be NULL */
    bool lively;     /* true if the server sends heartbeats; the exchange then fails after a minute without data */
    /* Called for each line of a response with status 200 and the type `accept`. The line has no newline and is not
     * NUL-terminated. The callback returns false to end the exchange. If `line` is NULL, the response is collected in
     * `answer`. */
    bool (*line)(void *context, const char *bytes, size_t length);
    void *context;

    /* The response. */
    long status;        /* HTTP status; 0 if there was no response */
    bool streamed;      /* the response was passed to `line` */
    bool ended;         /* `line` has returned false */
    text_buffer answer; /* body of a response that was not passed to `line` */
    char reason[256];   /* reason why the response is incomplete; otherwise "" */
} exchange;

/* Returns a POST request with a JSON body, for a JSON response. */
exchange exchange_post(const char *path, const char *body);

/* Sends the request and receives the response. If the response is complete, with any status, or `line` ended the
 * exchange, returns true. Otherwise sets x->reason and returns false. Call exchange_clear in both cases. */
bool exchange_run(exchange *x, const cli_server *server);
void exchange_clear(exchange *x);

/* Parses the response as JSON. Returns a tree that the caller deletes (cJSON_Delete), or NULL if the response is not
 * JSON. */
cJSON *exchange_json(const exchange *x);

/* Reports a missing or unexpected response. Returns CLI_SERVER. */
int exchange_failed(const exchange *x, const cli_server *server);
