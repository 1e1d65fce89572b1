/* config.h — how one daemon is set up: flags, then HAMELD_* in the environment, then a JSON file, then defaults.
 *
 * Every option exists in all three places under one name: `--max-body N`, HAMELD_MAX_BODY, {"max_body": N}. One table
 * in config.c describes them; the help text is made of it. An unknown or malformed option is an error, never ignored. */
#ifndef HAMEL_SERVER_CONFIG_H
#define HAMEL_SERVER_CONFIG_H

#include "engine/hamel.h"
#include "server/confine.h"
#include "server/log.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { CONFIG_TEXT_BYTES = 1024, CONFIG_MESSAGE_BYTES = 512 };

typedef struct server_config {
    char config[CONFIG_TEXT_BYTES];
    char listen[CONFIG_TEXT_BYTES];
    char store[CONFIG_TEXT_BYTES];
    char data[CONFIG_TEXT_BYTES];
    char tokens[CONFIG_TEXT_BYTES];
    char new_token[CONFIG_TEXT_BYTES];                            /* name; not "": make one and exit */
    char tls_cert[CONFIG_TEXT_BYTES], tls_key[CONFIG_TEXT_BYTES]; /* both or none */
    char backup[CONFIG_TEXT_BYTES];                               /* not "": copy the store there and exit */
    char cors[CONFIG_TEXT_BYTES];                                 /* origins; see http/cors.h */
    char hosts[CONFIG_TEXT_BYTES];                                /* names besides localhost in Host headers */
    char log_level_text[CONFIG_TEXT_BYTES];
    char jit_text[CONFIG_TEXT_BYTES];
    char seccomp_text[CONFIG_TEXT_BYTES];
    double workers;               /* runs that compute at the same time, and as many jobs */
    double streams;               /* streams open at the same time */
    double waiting;               /* requests that wait for a stream to end; more are answered 503 */
    double followers;             /* answers that wait for a job or a reader without a run slot */
    double answers;               /* bytes of answers that have not been read; small ones do not count */
    double connections;           /* open sockets */
    double per_address;           /* of these from one address; 0: all */
    double handshakes;            /* new TLS connections from one address a second; 0: any number */
    double max_body;              /* bytes of a request body */
    double time_limit;            /* seconds of wall time of one request or job */
    double derive_limit;          /* seconds of processor time of the derivations of one request */
    double max_steps;             /* of the integrator, in one run */
    double max_rows;              /* of one run */
    double max_members;           /* of a batch */
    double keep_days, keep_bytes; /* of ended jobs; 0: for ever, any number */
    double min_free;              /* bytes of the store's disk below which nothing new is stored; 0: no bound */
    double analysis_processes;    /* 0: analyses run in the daemon's own */
    double analysis_memory;       /* bytes that one of these may allocate */
    double cache;                 /* bytes of models kept for equal descriptions */
    double models;                /* bytes of models in use; 0: any number */
    double stall;                 /* seconds a stream waits for a reader that takes nothing */
    double grace;                 /* seconds from SIGTERM to the end */
    double lease;                 /* seconds of silence after which a shared store gives the jobs to others */
    double idle;                  /* seconds without a job after which a worker ends; 0: never */
    bool worker;                  /* serves the queue only */
    bool quiet, check_config, help, version;

    /* Made of the above. */
    log_level level;
    hamel_jit jit;
    confinement seccomp;
    bool loopback; /* serves this machine only */
    struct sockaddr_storage address;
    socklen_t address_length;
} server_config;

/* Fills *config. Returns true; false with a one-line message that names the option at fault. `environment` is
 * environ-like. --help and --version stop the reading early and are reported in *config. */
bool config_read(server_config *config, int argc, char *const *argv, char *const *environment,
                 char message[CONFIG_MESSAGE_BYTES]);

void config_print_help(void); /* to stdout */

#endif
