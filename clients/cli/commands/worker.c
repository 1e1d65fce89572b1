/* worker.c — hamel worker: runs jobs from the queue of a shared store. The command replaces its own process with
 * `hameld --worker`, so that cluster scripts need only one program. The command passes the URL of the store in the
 * environment, which other users of the machine cannot read. */
#include "clients/cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 12 };

/* If the directory of this program contains hameld, sets `path` to that file. Otherwise sets `path` to `hameld`, which
 * execvp looks up in PATH. */
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
        cli_say("worker needs a store: give --store postgresql://USER@HOST/DATABASE or set HAMELD_STORE");
        return CLI_USAGE;
    }
    if (store && setenv("HAMELD_STORE", store, 1) != 0) {
        cli_say("%s", strerror(errno));
        return CLI_IO;
    }
    find_daemon(path, sizeof path);
    execvp(path, (char *const *)words);
    return cli_say_errno(path);
}

const cli_command cli_worker = {
    .name = "worker",
    .synopsis = "[--store URL] [OPTIONS]",
    .summary = "run jobs from a queue that daemons share in PostgreSQL",
    .about = "On SIGTERM the worker requeues running jobs. Put passwords into ~/.pgpass or HAMELD_STORE.\n\n"
             "Example:\n"
             "  hamel worker --store postgresql://hamel@db.example.org/hamel --idle 300\n",
    .options =
        (const cli_option[]){
            {"store", "URL", NULL, "run jobs from postgresql://USER@HOST/DATABASE (HAMELD_STORE)"},
            {"workers", "N", NULL, "run N jobs at the same time (number of cores)"},
            {"idle", "SECONDS", NULL, "end after SECONDS without a job (never)"},
            {"lease", "SECONDS", NULL, "let other workers run the jobs SECONDS after the last lease renewal (30)"},
            {"grace", "SECONDS", NULL, "end within SECONDS after SIGTERM (10)"},
            {"log-level", "LEVEL", NULL, "log debug, info, warning, error or silent (info)"},
            {0},
        },
    .run = become_daemon,
};
