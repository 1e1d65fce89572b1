/* main.c — hameld: reads the configuration, opens the store, starts the workers and the HTTP server, and waits for a
 * signal. On SIGHUP it reads the file of tokens and the certificate again. On shutdown it requeues jobs, then stops
 * HTTP (which uses the workers and the store), then the workers, then the store. */
#include "api/json/text.h"
#include "server/analysis_process.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/http/http.h"
#include "server/jobs/workers.h"
#include "server/upkeep.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_SERVE = 5, SPARE_DESCRIPTORS = 128 };

/* Fractions of --grace. Streamed runs may complete within SHARE_TO_FINISH. Then the daemon waits for final problems and
 * slow clients until SHARE_TO_END. In the rest of the time it ends its threads, which takes milliseconds. */
#define SHARE_TO_FINISH 0.5
#define SHARE_TO_END 0.95

extern char **environ;

/* Settings of glibc's allocator. The allocator returns a block to the system if the block has its own mapping or is at
 * the end of its heap. By default the threshold for mappings grows up to 32 MiB when a mapped block is freed. Freed
 * parts of large models would then stay in the heaps. */
enum {
    HEAPS = 4,                      /* fewer partly empty heaps than with the default of up to eight for each core */
    OWN_MAPPING_BYTES = 512 * 1024, /* larger than the ring of a stream (256 KiB), which each run allocates */
    FREE_BYTES = 32 * 1024 * 1024,
};

static void set_up_memory(void) {
    mallopt(M_ARENA_MAX, HEAPS);
    mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
    mallopt(M_TRIM_THRESHOLD, FREE_BYTES);
}

static void ignore_signal(int number) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(number, &action, NULL);
}

/* Blocks the signals that the daemon receives by sigtimedwait. Must be called before any thread is started. */
static void block_signals(sigset_t *awaited) {
    sigemptyset(awaited);
    sigaddset(awaited, SIGTERM);
    sigaddset(awaited, SIGINT);
    sigaddset(awaited, SIGHUP);
    sigaddset(awaited, SIGCHLD); /* sent when the spawner ends */
    pthread_sigmask(SIG_BLOCK, awaited, NULL);
    ignore_signal(SIGPIPE);
    /* SIGHUP must not end the process if a library thread does not block it. sigtimedwait still receives the signal. */
    ignore_signal(SIGHUP);
}

/* Raises the limit of open files: each connection and each analysis process needs a descriptor. */
static bool raise_descriptor_limit(const server_config *config, char *message, size_t room) {
    struct rlimit limit;
    rlim_t needed = (rlim_t)(config->connections + config->analysis_processes) + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return true;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur >= needed ||
           failed_with(message, room,
                       "--connections: %.0f needs %llu open files, but the limit is %llu; raise it (ulimit -n) or "
                       "lower --connections",
                       config->connections, (unsigned long long)needed, (unsigned long long)limit.rlim_max);
}

/* Creates the directory and its parents. */
static bool make_directory(const char *path, char *message, size_t room) {
    char part[CONFIG_TEXT_BYTES];
    for (size_t i = 1; path[i - 1]; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0700) == 0 || errno == EEXIST) continue;
        struct stat about;
        int reason = errno;
        if (stat(part, &about) == 0 && S_ISDIR(about.st_mode)) continue; /* `part` exists, although mkdir failed */
        return failed_with(message, room, "%.300s: %s", part, strerror(reason));
    }
    return true;
}

/* Opens the store. If the store is in the data directory, creates this directory first. */
static store *open_store(const server_config *config, server_log *log, metrics *counters, char *message, size_t room) {
    const store_options options = {
        .log = log, .metrics = counters, .lease_seconds = config->lease, .min_free = config->min_free};
    const char *path = strncmp(config->store, "sqlite:", 7) == 0 ? config->store + 7 : "";
    size_t length = strlen(config->data);
    bool inside = length > 0 && strncmp(path, config->data, length) == 0 && path[length] == '/';
    return inside && !make_directory(config->data, message, room) ? NULL
                                                                  : store_open(config->store, &options, message, room);
}

/* Logs the start of the daemon; `server` is NULL if the daemon does not listen. */
static void log_start(server_log *log, const server_config *config, const http_server *server) {
    char url[CONFIG_TEXT_BYTES + 16] = "", shown[STORE_URL_BYTES];
    unsigned port = server ? http_port(server) : 0;
    const char *colon = strrchr(config->listen, ':');
    if (server)
        snprintf(url, sizeof url, "%s://%.*s:%u", config->tls_cert[0] ? "https" : "http", (int)(colon - config->listen),
                 config->listen, port);
    const log_field fields[] = {log_text("url", url),
                                log_number("port", port),
                                log_text("store", store_shown(config->store, shown)),
                                log_number("workers", config->workers),
                                log_text("version", HAMEL_VERSION),
                                log_number("pid", getpid())};
    size_t skipped = server ? 0 : 2;
    log_write(log, LOG_INFO, server ? "listening" : "working", fields + skipped, 6 - skipped);
}

/* Reads the file of tokens and the certificate again. If a file is invalid, the former contents remain in use. */
static void read_files_again(const daemon_services *s) {
    char message[CONFIG_MESSAGE_BYTES], expires[CLOCK_TEXT_BYTES];
    if (access_reload(s->access, s->config->tokens, message, sizeof message))
        log_write(s->log, LOG_INFO, "tokens", LOG_FIELDS(log_number("owners", (double)access_count(s->access))));
    else
        log_write(s->log, LOG_ERROR, "tokens",
                  LOG_FIELDS(log_text("message", message), log_text("outcome", "the former tokens remain in use")));
    if (!s->tls) return;
    if (tls_reload(s->tls, message, sizeof message)) {
        clock_text(expires, tls_expires_ms(s->tls));
        log_write(s->log, LOG_INFO, "certificate", LOG_FIELDS(log_text("expires", expires)));
        return;
    }
    log_write(s->log, LOG_ERROR, "certificate",
              LOG_FIELDS(log_text("message", message), log_text("outcome", "the former certificate remains in use")));
}

static void note_end(server_log *log, const char *signal_name) {
    /* A second signal must not end the process, even if a library started a thread before the signals were blocked. */
    ignore_signal(SIGTERM);
    ignore_signal(SIGINT);
    ignore_signal(SIGHUP);
    log_write(log, LOG_INFO, "ending", LOG_FIELDS(log_text("signal", signal_name)));
}

/* Returns the limits for parsing, deriving and running one description. */
static api_limits limits_of(const server_config *config) {
    api_limits limits = api_limits_default();
    limits.json.bytes = (size_t)config->max_body;
    limits.jit = config->jit;
    /* One description gets at most 1 GiB, so that it cannot exhaust the memory. SECURITY.md gives the total for all
     * descriptions. */
    limits.engine.memory = (size_t)1 << 30;
    limits.engine.nodes = 5000000;
    limits.engine.max_steps = config->max_steps;
    limits.engine.max_rows = config->max_rows;
    return limits;
}

static int make_token(const char *name) {
    char text[TOKEN_TEXT_BYTES], hash[DIGEST_HEX + 1];
    if (!access_make_token(text, hash)) {
        fputs("hameld: cannot read random bytes\n", stderr);
        return EXIT_CANNOT_SERVE;
    }
    cJSON *entry = cJSON_CreateString(name);
    char *quoted = json_text(entry);
    cJSON_Delete(entry);
    if (!quoted) return EXIT_CANNOT_SERVE;
    printf("%s\n", text);
    fflush(stdout);
    fprintf(stderr,
            "The token is not shown again. Add this entry to the file of --tokens:\n"
            "{\"name\": %s, \"sha256\": \"%s\", \"scopes\": [\"read\", \"run\"]}\n",
            quoted, hash);
    free(quoted);
    return EXIT_SUCCESS;
}

static int start_failed(server_log *log, const char *message) {
    log_write(log, LOG_ERROR, "start", LOG_FIELDS(log_text("message", message)));
    return EXIT_CANNOT_SERVE;
}

static bool store_is_elsewhere(const server_config *config) {
    return strncmp(config->store, "postgresql:", 11) == 0;
}

/* Handles signals until a signal ends the daemon, and returns this signal. If `idle` is not NULL, also returns after
 * --idle seconds without a job. SIGCHLD ends the daemon, since the spawner cannot be forked again. */
static int wait_for_end(const daemon_services *services, workers *idle, spawner *forks, const sigset_t *awaited) {
    const server_config *config = services->config;
    server_log *log = services->log;
    const struct timespec round = {.tv_sec = idle ? 0 : 1, .tv_nsec = idle ? 200000000 : 0};
    for (;;) {
        int number = sigtimedwait(awaited, NULL, &round);
        if (mallinfo2().fordblks > (size_t)FREE_BYTES) malloc_trim(FREE_BYTES / 4); /* takes some milliseconds */
        if (number == SIGHUP) read_files_again(services);
        if (number == SIGTERM || number == SIGINT) {
            note_end(log, number == SIGTERM ? "SIGTERM" : "SIGINT");
            return number;
        }
        if (number == SIGCHLD && spawner_has_ended(forks)) {
            log_write(log, LOG_ERROR, "spawner lost",
                      LOG_FIELDS(log_text("message", "the spawner of analysis processes was killed")));
            note_end(log, "SIGCHLD");
            return SIGCHLD;
        }
        if (idle && workers_idle_seconds(idle) >= config->idle) {
            note_end(log, "idle");
            return SIGTERM;
        }
    }
}

static unsigned kept_calls(const server_config *config) {
    return (config->jit == HAMEL_JIT_OFF ? 0 : KEEP_CODE) | (store_is_elsewhere(config) ? KEEP_CONNECT : 0);
}

/* Starts the spawner of analysis processes. Call while this process has no threads, open files or secrets. */
static bool start_spawner(spawner *forks, server_config *config, char *message, size_t room) {
    analysis_setup setup = {.limits = limits_of(config),
                            .memory = config->analysis_memory,
                            .cpu_seconds = config->time_limit,
                            .secrets = config->store,
                            .secret_bytes = sizeof config->store};
    const spawner_work work = {
        .name = "hamel-analysis", .prepare = analysis_process_prepare, .run = analysis_process_run, .context = &setup};
    if (config->worker || config->analysis_processes < 1) return true;
    if (!seccomp_filter_make(&setup.filter, config->seccomp, kept_calls(config) & KEEP_CODE, message, room))
        return false;
    return spawner_start(forks, &work, message, room);
}

static int serve(const server_config *config, server_log *log, access_list *owners, tls_server *tls, spawner *forks,
                 const sigset_t *awaited) {
    char message[CONFIG_MESSAGE_BYTES] = "out of memory";
    cpu_slots slots;
    static metrics counters; /* static, since it is too large for the stack */
    daemon_services services = {.config = config,
                                .log = log,
                                .slots = &slots,
                                .metrics = &counters,
                                .access = owners,
                                .tls = tls,
                                .limits = limits_of(config),
                                .budget = {config->time_limit, config->derive_limit}};
    if (!raise_descriptor_limit(config, message, sizeof message) ||
        !seccomp_install(config->seccomp, kept_calls(config), message, sizeof message)) {
        return start_failed(log, message);
    }
    services.store = open_store(config, log, services.metrics, message, sizeof message);
    if (!services.store) return start_failed(log, message);
    cpu_slots_init(&slots, (size_t)config->workers);
    upkeep *tidy = upkeep_start(&(upkeep_setup){.store = services.store,
                                                .log = log,
                                                .access = owners,
                                                .keep_days = config->keep_days,
                                                .keep_bytes = config->keep_bytes});
    int code = EXIT_SUCCESS;
    const model_bounds bounds = {
        .kept = (size_t)config->cache, .used = (size_t)config->models, .derivations = 2 * (size_t)config->workers};
    services.models = model_cache_open(&services.limits, &counters, &bounds);
    services.workers = services.models ? workers_start(&services, (size_t)config->workers) : NULL;
    bool listens = services.workers && !config->worker;
    if (listens && forks->started) {
        services.analyses = analysis_pool_open(forks, (size_t)config->analysis_processes, log);
        listens = services.analyses != NULL;
    }
    http_server *server = listens ? http_start(&services, message, sizeof message) : NULL;
    if (services.workers && config->worker) {
        log_start(log, config, NULL);
        wait_for_end(&services, config->idle > 0 ? services.workers : NULL, forks, awaited);
    } else if (server) {
        log_start(log, config, server);
        int signal_number = wait_for_end(&services, NULL, forks, awaited);
        workers_requeue(services.workers); /* frees the processors for streamed runs */
        http_stop(server, config->grace * SHARE_TO_END, signal_number != SIGINT ? config->grace * SHARE_TO_FINISH : 0);
        if (signal_number == SIGCHLD) code = EXIT_CANNOT_SERVE;
    } else {
        code = start_failed(log, message);
    }
    analysis_pool_close(services.analyses);
    workers_stop(services.workers);
    upkeep_stop(tidy);
    model_cache_close(services.models);
    services.store->kind->close(services.store);
    cpu_slots_destroy(&slots);
    if (code == EXIT_SUCCESS) log_write(log, LOG_INFO, "ended", NULL, 0);
    return code;
}

static int print_failure(const char *message, int code) {
    fprintf(stderr, "hameld: %s\n", message);
    return code;
}

int main(int argc, char **argv) {
    static server_config config; /* static, since it has several KiB and is used until the exit */
    char message[CONFIG_MESSAGE_BYTES];
    sigset_t awaited;
    if (!config_read(&config, argc, argv, environ, message)) {
        fprintf(stderr, "hameld: %s\ntry: hameld --help\n", message);
        return EXIT_USAGE;
    }
    if (config.help) config_print_help();
    if (config.version && !config.help) puts("hameld " HAMEL_VERSION);
    if (config.help || config.version) return EXIT_SUCCESS;
    if (config.new_token[0]) return make_token(config.new_token);
    if (!store_check(config.store, message, sizeof message)) return print_failure(message, EXIT_USAGE);
    if (config.worker && !store_is_elsewhere(&config))
        return print_failure("--worker: a shared store is required; give --store postgresql://...", EXIT_USAGE);
    if (config.backup[0]) {
        bool copied = store_backup(config.store, config.backup, message, sizeof message);
        return copied ? EXIT_SUCCESS : print_failure(message, EXIT_CANNOT_SERVE);
    }
    spawner forks = {0};
    block_signals(&awaited);
    umask(077);
    set_up_memory();
    if (!config.check_config && !start_spawner(&forks, &config, message, sizeof message))
        return print_failure(message, EXIT_CANNOT_SERVE);
    access_list *owners = access_open(config.tokens, message, sizeof message);
    bool secure = owners && config.tls_cert[0];
    tls_server *tls = secure ? tls_open(config.tls_cert, config.tls_key, message, sizeof message) : NULL;
    int code = EXIT_USAGE;
    if (!owners || (secure && !tls)) {
        print_failure(message, EXIT_USAGE);
    } else if (config.check_config) {
        char shown[STORE_URL_BYTES];
        printf("%s, store %s, %s: good\n", config.worker ? "not listening" : config.listen,
               store_shown(config.store, shown),
               access_open_to_anyone(owners) ? "any local user has access" : "access by token");
        code = EXIT_SUCCESS;
    } else {
        server_log log;
        log_init(&log, config.level, STDERR_FILENO);
        code = serve(&config, &log, owners, tls, &forks, &awaited);
        log_destroy(&log);
    }
    access_close(owners);
    tls_close(tls);
    spawner_stop(&forks);
    return code;
}
