/* main.c — hameld: reads the configuration, opens the store, starts the workers and the HTTP front, and waits for the
 * signal to end; SIGHUP has it read the file of tokens and the certificate again. Order of ending: jobs go back to the queue, then HTTP (it
 * uses the workers and the store), then workers, then the store. */
#include "server/analysis_process.h"
#include "server/config.h"
#include "server/http/http.h"
#include "server/jobs/retention.h"
#include "server/memory.h"
#include "server/stamp.h"
#include "server/usage.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_SERVE = 5, SPARE_DESCRIPTORS = 128 };

/* The parts of --grace after SIGTERM in which streamed runs may still come to their end, and in which their last words and
 * slow readers are waited for: the daemon is gone when all of it is over. */
#define SHARE_TO_FINISH 0.5
#define SHARE_TO_END 0.95

extern char **environ;

static void ignore_signal(int number) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(number, &action, NULL);
}

/* The signals that mean something are waited for, not handled: blocked here, before any thread exists. */
static void block_signals(sigset_t *awaited) {
    sigemptyset(awaited);
    sigaddset(awaited, SIGTERM);
    sigaddset(awaited, SIGINT);
    sigaddset(awaited, SIGHUP);
    sigaddset(awaited, SIGCHLD); /* of the spawner */
    pthread_sigmask(SIG_BLOCK, awaited, NULL);
    ignore_signal(SIGPIPE);
    ignore_signal(SIGHUP); /* by threads of libraries, if there are any; here it is blocked, and so waits */
}

/* Each connection is a descriptor, and each process for analyses. */
static bool raise_descriptor_limit(const server_config *config, char *message, size_t room) {
    struct rlimit limit;
    rlim_t needed = (rlim_t)(config->connections + config->analysis_processes) + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return true;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= needed) return true;
    snprintf(message, room, "--connections: %.0f needs %llu open files, the system allows %llu", config->connections,
             (unsigned long long)needed, (unsigned long long)limit.rlim_max);
    return false;
}

/* Makes the directory and those above it. */
static bool make_directory(const char *path, char *message, size_t room) {
    char part[CONFIG_TEXT_BYTES];
    for (size_t i = 1; path[i - 1]; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0700) == 0 || errno == EEXIST) continue;
        struct stat about;
        int reason = errno;
        if (stat(part, &about) == 0 && S_ISDIR(about.st_mode)) continue; /* made by others, not ours to make */
        snprintf(message, room, "%.300s: %s", part, strerror(reason));
        return false;
    }
    return true;
}

/* Only for a store that lies in it. */
static bool make_data_directory(const server_config *config, char *message, size_t room) {
    const char *path = strncmp(config->store, "sqlite:", 7) == 0 ? config->store + 7 : "";
    size_t length = strlen(config->data);
    bool inside = length > 0 && strncmp(path, config->data, length) == 0 && path[length] == '/';
    return !inside || make_directory(config->data, message, room);
}

static store *open_store(const server_config *config, server_log *log, metrics *counters, char *message, size_t room) {
    const store_options options = {
        .log = log, .metrics = counters, .lease_seconds = config->lease, .min_free = config->min_free};
    if (!make_data_directory(config, message, room)) return NULL;
    return store_open(config->store, &options, message, room);
}

static void log_start(server_log *log, const server_config *config, const http_server *server) {
    char url[CONFIG_TEXT_BYTES + 16], shown[STORE_URL_BYTES];
    const char *colon = strrchr(config->listen, ':');
    snprintf(url, sizeof url, "%s://%.*s:%u", config->tls_cert[0] ? "https" : "http", (int)(colon - config->listen),
             config->listen, http_port(server));
    log_write(log, LOG_INFO, "listening",
              LOG_FIELDS(log_text("url", url), log_number("port", http_port(server)),
                         log_text("store", store_shown(config->store, shown)), log_number("workers", config->workers),
                         log_text("version", HAMEL_VERSION), log_number("pid", getpid())));
}

static void read_tokens_again(server_log *log, const server_config *config, access_list *holders) {
    char message[CONFIG_MESSAGE_BYTES];
    if (access_reload(holders, config->tokens, message, sizeof message)) {
        log_write(log, LOG_INFO, "tokens", LOG_FIELDS(log_number("holders", (double)access_count(holders))));
    } else {
        log_write(log, LOG_ERROR, "tokens",
                  LOG_FIELDS(log_text("message", message), log_text("outcome", "those known before stay")));
    }
}

static void read_certificate_again(server_log *log, tls_server *tls) {
    char message[CONFIG_MESSAGE_BYTES], expires[STAMP_TIME_BYTES];
    if (tls_reload(tls, message, sizeof message)) {
        stamp_text(expires, tls_expires_ms(tls));
        log_write(log, LOG_INFO, "certificate", LOG_FIELDS(log_text("expires", expires)));
    } else {
        log_write(log, LOG_ERROR, "certificate",
                  LOG_FIELDS(log_text("message", message), log_text("outcome", "the former one stays in use")));
    }
}

static void note_end(server_log *log, const char *signal_name) {
    /* A library may have made a thread before the signals were blocked: one that comes now must not reach it. */
    ignore_signal(SIGTERM);
    ignore_signal(SIGINT);
    ignore_signal(SIGHUP);
    log_write(log, LOG_INFO, "ending", LOG_FIELDS(log_text("signal", signal_name)));
}

/* The budgets of one description, lowered to what this daemon allows. */
static api_limits limits_of(const server_config *config) {
    api_limits limits = api_limits_default();
    limits.json.bytes = (size_t)config->max_body;
    limits.jit = config->jit;
    /* one description may not take the daemon with it */
    limits.engine.memory = (size_t)1 << 30;
    limits.engine.nodes = 5000000;
    limits.engine.max_steps = config->max_steps;
    limits.engine.max_rows = config->max_rows;
    return limits;
}

static budget_limits budget_of(const server_config *config) {
    return (budget_limits){.wall_seconds = config->time_limit, .derive_seconds = config->derive_limit};
}

static int make_token(const char *name) {
    char text[TOKEN_TEXT_BYTES], hash[2 * TOKEN_HASH_BYTES + 1];
    if (!access_make_token(text, hash)) {
        fputs("hameld: the system gives no random bytes\n", stderr);
        return EXIT_CANNOT_SERVE;
    }
    cJSON *entry = cJSON_CreateString(name);
    char *quoted = entry ? cJSON_PrintUnformatted(entry) : NULL;
    cJSON_Delete(entry);
    if (!quoted) return EXIT_CANNOT_SERVE;
    printf("%s\n", text);
    fflush(stdout);
    fprintf(stderr,
            "This is the only time it is shown. Its entry in the file of --tokens:\n"
            "{\"name\": %s, \"sha256\": \"%s\", \"scopes\": [\"read\", \"run\"]}\n",
            quoted, hash);
    cJSON_free(quoted);
    return EXIT_SUCCESS;
}

static int fail(server_log *log, const char *message) {
    log_write(log, LOG_ERROR, "start", LOG_FIELDS(log_text("message", message)));
    return EXIT_CANNOT_SERVE;
}

static bool store_is_elsewhere(const server_config *config) {
    return strncmp(config->store, "postgresql:", 11) == 0;
}

static bool worker_makes_sense(const server_config *config, char *message, size_t room) {
    if (!config->worker || store_is_elsewhere(config)) return true;
    snprintf(message, room, "--worker: needs a store that others share: --store postgresql://...");
    return false;
}

/* Waits for a signal to end, heeding others, and returns it; or, with `idle` given, until there has been nothing to do
 * for long enough. SIGCHLD: the spawner has ended, and cannot be forked again. */
static int wait_for_end(const http_services *services, workers *idle, spawner *forks, const sigset_t *awaited) {
    const server_config *config = services->config;
    server_log *log = services->log;
    const struct timespec round = {.tv_sec = idle ? 0 : 1, .tv_nsec = idle ? 200000000 : 0};
    for (;;) {
        int number = sigtimedwait(awaited, NULL, &round);
        memory_give_back();
        if (number == SIGHUP) read_tokens_again(log, config, services->access);
        if (number == SIGHUP && services->tls) read_certificate_again(log, services->tls);
        if (number == SIGTERM || number == SIGINT) {
            note_end(log, number == SIGTERM ? "SIGTERM" : "SIGINT");
            return number;
        }
        if (number == SIGCHLD && spawner_has_ended(forks)) {
            log_write(
                log, LOG_ERROR, "spawner lost",
                LOG_FIELDS(log_text("message", "the process that forks those for analyses was ended from outside")));
            note_end(log, "SIGCHLD");
            return SIGCHLD;
        }
        if (idle && workers_idle_seconds(idle) >= config->idle) {
            note_end(log, "idle");
            return SIGTERM;
        }
    }
}

static void log_working(server_log *log, const server_config *config) {
    char shown[STORE_URL_BYTES];
    log_write(log, LOG_INFO, "working",
              LOG_FIELDS(log_text("store", store_shown(config->store, shown)), log_number("workers", config->workers),
                         log_text("version", HAMEL_VERSION), log_number("pid", getpid())));
}

static unsigned kept_calls(const server_config *config) {
    return (config->jit == HAMEL_JIT_OFF ? 0 : KEEP_CODE) | (store_is_elsewhere(config) ? KEEP_CONNECT : 0);
}

/* Processes for analyses, forked from one that is as new as this one: it has no threads, files or secrets. */
static bool start_spawner(spawner *forks, server_config *config, char *message, size_t room) {
    analysis_setup setup = {.limits = limits_of(config),
                            .memory = config->analysis_memory,
                            .cpu_seconds = config->time_limit,
                            .secrets = config->store,
                            .secret_bytes = sizeof config->store};
    const spawner_work work = {
        .name = "hamel-analysis", .prepare = analysis_process_prepare, .run = analysis_process_run, .context = &setup};
    if (config->worker || config->analysis_processes < 1) return true;
    if (!confine_filter_make(&setup.filter, config->seccomp, kept_calls(config) & KEEP_CODE, message, room))
        return false;
    return spawner_start(forks, &work, message, room);
}

static int serve(const server_config *config, server_log *log, access_list *holders, tls_server *tls, spawner *forks,
                 const sigset_t *awaited) {
    char message[CONFIG_MESSAGE_BYTES] = "out of memory";
    cpu_slots slots;
    static metrics counters; /* of this process; too many for the stack */
    http_services services = {.config = config,
                              .log = log,
                              .slots = &slots,
                              .metrics = &counters,
                              .access = holders,
                              .tls = tls,
                              .limits = limits_of(config),
                              .budget = budget_of(config)};
    if (!raise_descriptor_limit(config, message, sizeof message) ||
        !confine(config->seccomp, kept_calls(config), message, sizeof message)) {
        return fail(log, message);
    }
    services.store = open_store(config, log, services.metrics, message, sizeof message);
    if (!services.store) return fail(log, message);
    cpu_slots_init(&slots, (size_t)config->workers);
    usage *saved = usage_start(holders, services.store);
    int code = EXIT_SUCCESS;
    const model_bounds bounds = {.kept = (size_t)config->cache,
                                 .used = (size_t)config->models,
                                 .derivations = 2 * (size_t)config->workers}; /* half of them for one token owner */
    services.models = model_cache_open(&services.limits, &counters, &bounds);
    const worker_services for_workers = {.store = services.store,
                                         .log = log,
                                         .metrics = &counters,
                                         .access = holders,
                                         .models = services.models,
                                         .limits = services.limits,
                                         .slots = &slots,
                                         .budget = services.budget};
    services.workers = services.models ? workers_start(&for_workers, (size_t)config->workers) : NULL;
    bool listens = services.workers && !config->worker;
    if (listens && forks->started) {
        services.analyses = analysis_pool_open(forks, (size_t)config->analysis_processes, log);
        listens = services.analyses != NULL;
    }
    http_server *server = listens ? http_start(&services, message, sizeof message) : NULL;
    retention *tidy = retention_start(services.store, log, config->keep_days, config->keep_bytes);
    if (services.workers && config->worker) {
        log_working(log, config);
        wait_for_end(&services, config->idle > 0 ? services.workers : NULL, forks, awaited);
    } else if (server) {
        log_start(log, config, server);
        int signal_number = wait_for_end(&services, NULL, forks, awaited);
        workers_hand_back(services.workers); /* streamed runs have the processors for themselves */
        http_stop(server, config->grace * SHARE_TO_END, signal_number != SIGINT ? config->grace * SHARE_TO_FINISH : 0);
        if (signal_number == SIGCHLD) code = EXIT_CANNOT_SERVE;
    } else {
        code = fail(log, message);
    }
    analysis_pool_close(services.analyses);
    workers_stop(services.workers);
    retention_stop(tidy);
    usage_stop(saved);
    model_cache_close(services.models);
    services.store->kind->close(services.store);
    cpu_slots_destroy(&slots);
    if (code == EXIT_SUCCESS) log_write(log, LOG_INFO, "ended", LOG_PLAIN);
    return code;
}

static void print_configuration(const server_config *config, const access_list *holders) {
    char shown[STORE_URL_BYTES];
    printf("%s, store %s, %s: good\n", config->worker ? "no listening" : config->listen,
           store_shown(config->store, shown), access_open_to_anyone(holders) ? "open to this machine" : "by token");
}

int main(int argc, char **argv) {
    static server_config config; /* some kilobytes, and one for the life of the process */
    char message[CONFIG_MESSAGE_BYTES];
    sigset_t awaited;
    if (!config_read(&config, argc, argv, environ, message)) {
        fprintf(stderr, "hameld: %s\ntry: hameld --help\n", message);
        return EXIT_USAGE;
    }
    if (config.help) {
        config_print_help();
        return EXIT_SUCCESS;
    }
    if (config.version) {
        puts("hameld " HAMEL_VERSION);
        return EXIT_SUCCESS;
    }
    if (config.new_token[0]) return make_token(config.new_token);
    if (!store_check(config.store, message, sizeof message) || !worker_makes_sense(&config, message, sizeof message)) {
        fprintf(stderr, "hameld: %s\n", message);
        return EXIT_USAGE;
    }
    if (config.backup[0]) {
        if (store_backup(config.store, config.backup, message, sizeof message)) return EXIT_SUCCESS;
        fprintf(stderr, "hameld: %s\n", message);
        return EXIT_CANNOT_SERVE;
    }
    spawner forks = {0};
    block_signals(&awaited);
    umask(077);
    memory_set_up();
    if (!config.check_config && !start_spawner(&forks, &config, message, sizeof message)) {
        fprintf(stderr, "hameld: %s\n", message);
        return EXIT_CANNOT_SERVE;
    }
    access_list *holders = access_open(config.tokens, message, sizeof message);
    bool secure = holders && config.tls_cert[0];
    tls_server *tls = secure ? tls_open(config.tls_cert, config.tls_key, message, sizeof message) : NULL;
    int code = EXIT_USAGE;
    if (!holders || (secure && !tls)) {
        fprintf(stderr, "hameld: %s\n", message);
    } else if (config.check_config) {
        print_configuration(&config, holders);
        code = EXIT_SUCCESS;
    } else {
        server_log log;
        log_init(&log, config.level, STDERR_FILENO);
        code = serve(&config, &log, holders, tls, &forks, &awaited);
        log_destroy(&log);
    }
    access_close(holders);
    tls_close(tls);
    spawner_stop(&forks);
    return code;
}
