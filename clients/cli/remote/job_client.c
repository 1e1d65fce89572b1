/* job_client.c — see job_client.h. */
#include "clients/cli/remote/job_client.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 2048, ID_MAX_BYTES = 64 };

/* Returns true if the id consists of letters, digits, - and _. Other characters could change the path of the
 * request. */
static bool names_a_job(const char *id) {
    size_t length = strlen(id);
    for (size_t k = 0; k < length; k++)
        if (!isalnum((unsigned char)id[k]) && id[k] != '-' && id[k] != '_') return false;
    return length > 0 && length <= ID_MAX_BYTES;
}

int job_client_open(job_client *c, const cli_arguments *arguments, bool operands_are_jobs) {
    *c = (job_client){.arguments = arguments, .server = cli_server_of(arguments)};
    for (size_t k = 0; operands_are_jobs && k < arguments->operand_count; k++) {
        if (names_a_job(arguments->operands[k])) continue;
        cli_say("`%.80s` is not a job id", arguments->operands[k]);
        return CLI_USAGE;
    }
    if (c->server.url != NULL) return CLI_OK;
    cli_say("%s needs a server: give --server URL or set HAMEL_SERVER", arguments->command->name);
    return CLI_USAGE;
}

int job_ask(const job_client *c, const char *method, const char *rest, cJSON **answer) {
    char path[PATH_MAX_BYTES];
    *answer = NULL;
    int length = snprintf(path, sizeof path, "/v1/jobs%s", rest);
    if (length < 0 || (size_t)length >= sizeof path) {
        cli_say("the path of the request is too long; shorten the options");
        return CLI_USAGE;
    }
    exchange x = {.method = method, .path = path, .accept = "application/json"};
    bool good = exchange_run(&x, &c->server) && x.status >= 200 && x.status < 300;
    if (good && x.status != 204) {
        *answer = exchange_json(&x);
        good = cJSON_IsObject(*answer);
    }
    int status = good ? CLI_OK : exchange_failed(&x, &c->server);
    if (!good) {
        cJSON_Delete(*answer);
        *answer = NULL;
    }
    exchange_clear(&x);
    return status;
}

int job_ask_one(const job_client *c, const char *method, const char *id, const char *rest, cJSON **answer) {
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "/%s%s", id, rest);
    return job_ask(c, method, path, answer);
}

double job_progress(const cJSON *job) {
    double progress = json_number_at(job, "progress");
    return progress < 0 ? 0 : progress > 1 ? 1 : progress;
}

bool job_has_ended(const cJSON *job) {
    const char *status = json_text_at(job, "status");
    return strcmp(status, "queued") != 0 && strcmp(status, "running") != 0;
}

/* Appends the text to *out. Encodes all characters as %XX, except the unreserved characters (RFC 3986, 2.3). */
static void add_escaped(text_buffer *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c < 0x80 && isalnum(c)) || strchr("-._~", c) != NULL)
            text_buffer_add(out, p, 1);
        else
            text_buffer_printf(out, "%%%02X", c);
    }
}

void job_query_add(text_buffer *query, const char *name, const char *value) {
    if (value == NULL) return;
    text_buffer_printf(query, "%s%s=", query->length > 0 ? "&" : "?", name);
    add_escaped(query, value);
}
