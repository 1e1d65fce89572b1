/* config.h — options of a daemon, by precedence: flags, HAMELD_* in the environment, a JSON file, defaults.
 *
 * Every option can be set in all three sources under one name: `--max-body N`, HAMELD_MAX_BODY, {"max_body": N}. A
 * table in config.c defines the options and their help texts. An unknown or malformed option is an error. */
#pragma once

#include "engine/hamel.h"
#include "server/log.h"
#include "server/seccomp.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { CONFIG_TEXT_BYTES = 1024, CONFIG_MESSAGE_BYTES = 512 };

typedef char config_text[CONFIG_TEXT_BYTES];

/* Values of the options; the table in config.c describes them. */
typedef struct server_config {
    config_text config, listen, store, data, backup, tokens, new_token, tls_cert, tls_key, cors, hosts;
    config_text log_level_text, jit_text, seccomp_text;
    double workers, streams, waiting, followers, connections, per_address, handshakes, analysis_processes;
    double max_body, answers, min_free, keep_bytes, analysis_memory, cache, models; /* bytes */
    double time_limit, derive_limit, stall, grace, lease, idle;                     /* s */
    double max_steps, max_rows, max_members, keep_days;
    bool worker, quiet, check_config, help, version;

    /* Values derived from the options. */
    log_level level;
    hamel_jit jit;
    seccomp_mode seccomp;
    bool loopback; /* listens on a loopback address */
    struct sockaddr_storage address;
    socklen_t address_length;
} server_config;

/* Fills *config. If an option is invalid, returns false with a one-line message that names this option. `environment`
 * has the form of environ. After --help or --version, which are recorded in *config, no other source is read. */
bool config_read(server_config *config, int argc, char *const *argv, char *const *environment,
                 char message[CONFIG_MESSAGE_BYTES]);

void config_print_help(void); /* to stdout */
