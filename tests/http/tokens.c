/* tokens.c — creation of tokens and token files. */
#include "tests/http/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

test_token token_make(const char *name, const char *scopes, const char *quotas) {
    test_token made = {.name = name, .scopes = scopes, .quotas = quotas};
    char text[TOKEN_TEXT_BYTES];
    assert_true(access_make_token(text, made.hash));
    snprintf(made.header, sizeof made.header, "Authorization: Bearer %s", text);
    return made;
}

void token_file_make(char *path) {
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

void token_file_write(const char *path, const test_token *tokens, size_t count) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"tokens\": [", file);
    for (size_t k = 0; k < count; k++) {
        fprintf(file, "%s{\"name\": \"%s\", \"sha256\": \"%s\", \"scopes\": [%s], \"quotas\": %s}", k ? "," : "",
                tokens[k].name, tokens[k].hash, tokens[k].scopes, tokens[k].quotas);
    }
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
}

answer ask_with(const test_daemon *d, const test_token *t, const char *method, const char *path, const char *body) {
    return ask(d, method, path, (const char *const[]){"Content-Type: application/json", t->header, NULL}, body);
}

long status_with(const test_daemon *d, const test_token *t, const char *method, const char *path, const char *body) {
    answer a = ask_with(d, t, method, path, body);
    long status = a.status;
    answer_clear(&a);
    return status;
}
