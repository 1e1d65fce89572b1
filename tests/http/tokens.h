/* tokens.h — tokens and token files for tests. A failed step fails the running cmocka test. */
#pragma once

#include "server/access.h"
#include "tests/http/daemon.h"

typedef struct test_token {
    const char *name;
    const char *scopes; /* comma-separated items of a JSON array */
    const char *quotas; /* a JSON object */
    char header[128];   /* complete header line: Authorization: Bearer ... */
    char hash[DIGEST_HEX + 1];
} test_token;

test_token token_make(const char *name, const char *scopes, const char *quotas);

#define TOKEN_FILE_NAME P_tmpdir "/hamel-tokens-XXXXXX"
/* Creates an empty file. `path` is initially TOKEN_FILE_NAME; its letters X are replaced as by mkstemp. */
void token_file_make(char *path);
void token_file_write(const char *path, const test_token *tokens, size_t count);

answer ask_with(const test_daemon *d, const test_token *t, const char *method, const char *path, const char *body);
long status_with(const test_daemon *d, const test_token *t, const char *method, const char *path, const char *body);
