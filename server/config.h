/* config.h — the options of a daemon: flags, then HAMELD_* in the environment, then a JSON file, then defaults.
 *
 * Every option exists in all three sources under one name: `--max-body N`, HAMELD_MAX_BODY, {"max_body": N}. One table
 * in config.c defines them and their help texts. An unknown or malformed option is an error. */
#pragma once

#include "engine/hamel.h"
#include "server/log.h"
#include "server/seccomp.h"

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
    char new_token[CONFIG_TEXT_BYTES]; /* "" by default; otherwise print a token with this name and exit */
    char tls_cert[CONFIG_TEXT_BYTES], tls_key[CONFIG_TEXT_BYTES]; /* either both are set or neither */
    char backup[CONFIG_TEXT_BYTES]; /* "" by default; otherwise copy the store to this file and exit */
    char cors[CONFIG_TEXT_BYTES];   /* origins; see http/response.c */
    char hosts[CONFIG_TEXT_BYTES];  /* names allowed in Host headers in addition to localhost */
    char log_level_text[CONFIG_TEXT_BYTES];
    char jit_text[CONFIG_TEXT_BYTES];
    char seccomp_text[CONFIG_TEXT_BYTES];
    double workers;               /* maximum number of computing runs, and of running jobs */
    double streams;               /* maximum number of open streams */
    double waiting;               /* maximum number of requests waiting for a stream; 503 beyond it */
    double followers;             /* maximum number of answers that wait without a run slot */
    double answers;               /* maximum bytes of unread answers; small answers are not counted */
    double connections;           /* maximum number of open connections */
    double per_address;           /* maximum number of connections from one address; 0: no limit */
    double handshakes;            /* new TLS connections per second from one address; 0: no limit */
    double max_body;              /* maximum bytes of a request body */
    double time_limit;            /* wall time of one request or job, s */
    double derive_limit;          /* processor time of all derivations of one request, s */
    double max_steps;             /* integration steps of one run */
    double max_rows;              /* rows of one run */
    double max_members;           /* members of a batch */
    double keep_days, keep_bytes; /* age and size of ended jobs; 0: no limit */
    double min_free;              /* no new data is stored while less of the disk is free, bytes; 0: no bound */
    double analysis_processes;    /* number of processes; 0: analyses run in the daemon */
    double analysis_memory;       /* bytes that one of these processes may allocate */
    double cache;                 /* bytes of unused models kept for repeated descriptions */
    double models;                /* maximum bytes of models in use; 0: no limit */
    double stall;                 /* a stream is closed if nothing is read for this time, s */
    double grace;                 /* time from SIGTERM to the exit, s */
    double lease;                 /* duration of a lease on a shared store, s */
    double idle;                  /* a worker exits after this time without a job, s; 0: never */
    bool worker;                  /* run jobs only, without listening */
    bool quiet, check_config, help, version;

    /* Derived from the options. */
    log_level level;
    hamel_jit jit;
    seccomp_mode seccomp;
    bool loopback; /* listens on a loopback address */
    struct sockaddr_storage address;
    socklen_t address_length;
} server_config;

/* Fills *config. If an option is invalid, returns false with a one-line message that names it. `environment` has the
 * form of environ. After --help or --version, which are recorded in *config, no other source is read. */
bool config_read(server_config *config, int argc, char *const *argv, char *const *environment,
                 char message[CONFIG_MESSAGE_BYTES]);

void config_print_help(void); /* to stdout */
