/* worker.c — `hamel worker`: serves the queue of a shared store. The daemon does it (`hameld --worker`); this command
 * becomes that program, so that an allocation of a cluster has one name to start. The store's URL goes by the
 * environment, where other users of the machine do not see it. */
#include "clients/cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 12 };

static const cli_option options[] = {
    {"store", "URL", NULL, "the queue: postgresql://USER@HOST/DATABASE (default: HAMELD_STORE)"},
    {"workers", "N", NULL, "runs at the same time (default: cores)"},
    {"idle", "SECONDS", NULL, "end when there was nothing to do for so long (default: never)"},
    {"lease", "SECONDS", NULL, "silence after which the jobs go to others (default: 30)"},
    {"grace", "SECONDS", NULL, "time to end in after SIGTERM (default: 10)"},
    {"log-level", "LEVEL", NULL, "debug, info, warning, error or silent"},
    {0},
};

/* The daemon that was installed with this program. */
static void find_daemon(char *path, size_t room) {
    ssize_t length = readlink("/proc/self/exe", path, room - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) + sizeof "/hameld" <= room) {
        memcpy(slash, "/hameld", sizeof "/hameld");
        if (access(path, X_OK) == 0) return;
    }
    snprintf(path, room, "hameld");
}

static int become_daemon(const cli_arguments *arguments) {
    static const char *const passed[] = {"workers", "idle", "lease", "grace", "log-level"};
    char path[PATH_MAX], flags[sizeof passed / sizeof passed[0]][16];
    const char *words[WORDS_MAX + 1] = {"hameld", "--worker"};
    const char *store = cli_option_value(arguments, "store");
    size_t count = 2;
    for (size_t k = 0; k < sizeof passed / sizeof passed[0]; k++) {
        const char *value = cli_option_value(arguments, passed[k]);
        if (!value) continue;
        snprintf(flags[k], sizeof flags[k], "--%s", passed[k]);
        words[count++] = flags[k];
        words[count++] = value;
    }
    if (!store && !getenv("HAMELD_STORE")) {
        cli_say("worker needs --store postgresql://USER@HOST/DATABASE, or HAMELD_STORE");
        return CLI_USAGE;
    }
    if (store && setenv("HAMELD_STORE", store, 1) != 0) {
        cli_say("%s", strerror(errno));
        return CLI_IO;
    }
    find_daemon(path, sizeof path);
    execvp(path, (char *const *)words);
    cli_say("%s: %s", path, strerror(errno));
    return CLI_IO;
}

const cli_command cli_worker = {
    .name = "worker",
    .synopsis = "[--store URL] [OPTIONS]",
    .summary = "serve the queue that daemons share in PostgreSQL",
    .about = "SIGTERM hands back what runs. Passwords belong into ~/.pgpass, or into HAMELD_STORE.\n\n"
             "Example:\n"
             "  hamel worker --store postgresql://hamel@db.example.org/hamel --idle 300\n",
    .options = options,
    .run = become_daemon,
};
