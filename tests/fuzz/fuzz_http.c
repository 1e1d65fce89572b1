/* fuzz_http.c — sends arbitrary bytes to the HTTP server, which runs in this process with a store in memory.
 *
 * The sanitizers check the server, the routes, the job workers and the writers. The target also checks that the daemon
 * responds or closes the connection, and responds to later requests. A response must be valid HTTP and not 500 (an
 * internal error). */
#include "server/http/http.h"
#include "server/jobs/workers.h"
#include "server/upkeep.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 1, PATIENCE_MS = 20000, QUIET_MS = 5, ALIVE_EVERY = 256, HEAD = 16, ENDED_JOBS_BYTES = 50000000 };

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken: %s (%s)\n", what, strerror(errno));
    abort();
}

/* Starts the daemon, which runs until the process ends. Low limits on runs keep the time per input short. */
static unsigned serve(void) {
    static server_config config;
    static server_log log;
    static metrics counters;
    static cpu_slots slots;
    static daemon_services services;
    char message[CONFIG_MESSAGE_BYTES] = "out of memory";
    char *arguments[] = {"hameld",  "--listen",      "127.0.0.1:0", "--hosts",     "h",     "--store",
                         "memory:", "--time-limit",  "0.1",         "--max-steps", "500",   "--max-rows",
                         "2000",    "--max-members", "20",          "--log-level", "silent"};
    char *environment[] = {NULL};
    require(config_read(&config, sizeof arguments / sizeof *arguments, arguments, environment, message), message);
    signal(SIGPIPE, SIG_IGN);
    log_init(&log, LOG_SILENT, STDERR_FILENO);
    cpu_slots_init(&slots, WORKERS);
    services = (daemon_services){.config = &config,
                                 .log = &log,
                                 .slots = &slots,
                                 .metrics = &counters,
                                 .access = access_open("", message, sizeof message),
                                 .limits = api_limits_default()};
    services.limits.engine.memory = 64 << 20;
    services.limits.engine.nodes = 20000;
    services.budget = (budget_limits){.wall_seconds = config.time_limit, .derive_seconds = config.derive_limit};
    services.limits.engine.max_steps = config.max_steps;
    services.limits.engine.max_rows = config.max_rows;
    const store_options options = {.log = &log, .metrics = &counters, .lease_seconds = config.lease};
    services.store = store_open(config.store, &options, message, sizeof message);
    services.models = model_cache_open(&services.limits, &counters, &(model_bounds){.kept = 1 << 24});
    require(services.access && services.store && services.models, message);
    services.workers = workers_start(&services, WORKERS);
    http_server *server = services.workers ? http_start(&services, message, sizeof message) : NULL;
    require(server, message);
    const upkeep_setup setup = {.store = services.store, .log = &log, .keep_bytes = ENDED_JOBS_BYTES};
    require(upkeep_start(&setup), "upkeep starts");
    return http_port(server);
}

static int connect_to(unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    require(peer >= 0, "a socket");
    const struct linger at_once = {.l_onoff = 1}; /* avoids TIME_WAIT, because there are more inputs than ports */
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (connect(peer, (const struct sockaddr *)&address, sizeof address) != 0) {
        struct pollfd writable = {.fd = peer, .events = POLLOUT};
        require(errno == EINPROGRESS && poll(&writable, 1, PATIENCE_MS) == 1,
                "the daemon accepted no connection in time");
    }
    return peer;
}

/* Sends as much as the daemon accepts. Returns the number of bytes sent. If the daemon has closed the connection,
 * returns `size`. */
static size_t send_some(int peer, const uint8_t *data, size_t size) {
    ssize_t sent = send(peer, data, size, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? 0 : size;
    if ((size_t)sent == size) shutdown(peer, SHUT_WR);
    return (size_t)sent;
}

/* Sends `data` and reads until the daemon closes the connection or sends nothing for `quiet_ms` after the last byte of
 * `data`. The limit is needed because the daemon may wait for the rest of an incomplete request. Stores the first bytes
 * of the response in head[HEAD] and returns their number. */
static size_t talk(unsigned port, const uint8_t *data, size_t size, int quiet_ms, char head[HEAD]) {
    char rest[4096];
    size_t length = 0, sent = 0;
    int peer = connect_to(port);
    for (;;) {
        struct pollfd ready = {.fd = peer, .events = (short)(POLLIN | (sent < size ? POLLOUT : 0))};
        int found = poll(&ready, 1, sent < size ? PATIENCE_MS : quiet_ms);
        require(found == 1 || sent == size, "the daemon receives all bytes or closes the connection");
        if (found != 1) break;
        if (ready.revents & POLLOUT) sent += send_some(peer, data + sent, size - sent);
        if (!(ready.revents & (POLLIN | POLLHUP | POLLERR))) continue;
        ssize_t got = recv(peer, length < HEAD ? head + length : rest, length < HEAD ? HEAD - length : sizeof rest, 0);
        if (got < 0 && errno == EAGAIN) continue;
        if (got <= 0) break;
        if (length < HEAD) length += (size_t)got;
    }
    close(peer);
    return length;
}

static void check_alive(unsigned port) {
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    char head[HEAD];
    size_t length = talk(port, (const uint8_t *)request, sizeof request - 1, PATIENCE_MS, head);
    require(length == HEAD && memcmp(head, "HTTP/1.1 200", 12) == 0, "the daemon responds to GET /healthz");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned port, inputs;
    char head[HEAD];
    if (port == 0) port = serve();
    if (size == 0) return 0;
    size_t length = talk(port, data, size, QUIET_MS, head);
    if (length >= 12) {
        require(memcmp(head, "HTTP/1.", 7) == 0, "a response begins with HTTP/1.");
        require(memcmp(head + 9, "500", 3) != 0, "no response has status 500");
    }
    if (++inputs % ALIVE_EVERY == 0) check_alive(port);
    return 0;
}
