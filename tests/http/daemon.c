/* daemon.c — daemon processes, requests and reports for tests. */
#include "tests/http/daemon.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGUMENTS_MAX = 32, BODY_MAX = 256 * 1024 * 1024, RECORD_MAX = 256 * 1024 };
#define HANG_SECONDS 150.0

const char *const json_type[] = {"Content-Type: application/json", NULL};

double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sleep_seconds(double seconds) {
    struct timespec span = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&span, &span) != 0 && errno == EINTR) {
    }
}

bool long_tests(void) {
    const char *set = getenv("HAMEL_TEST_LONG");
    return set && *set && strcmp(set, "0") != 0;
}

static const char *program(void) {
    const char *set = getenv("HAMELD");
    return set && *set ? set : "build/hameld";
}

double slowness(void) {
    if (strstr(program(), "/valgrind/")) return 20;
    if (strstr(program(), "/tsan/")) return 10;
    return strstr(program(), "/debug/") ? 5 : 1;
}

double hang_time(void) {
    return now_seconds() + HANG_SECONDS * slowness();
}

/* ---- the process ---- */

static pid_t spawn(const char *const *arguments, int output) {
    const char *words[ARGUMENTS_MAX] = {program()};
    size_t count = 1;
    for (size_t i = 0; arguments && arguments[i] && count < ARGUMENTS_MAX - 1; i++) words[count++] = arguments[i];
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    /* A system call that the filter rejects kills the daemon, so the test fails. Sanitizers and valgrind need
     * additional system calls, so the variable is set only if slowness() is 1. */
    if (slowness() <= 1) setenv("HAMELD_SECCOMP", "kill", 0);
    execv(words[0], (char *const *)words);
    _exit(127);
}

static char *read_whole(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

/* Returns the port that the daemon has logged, or 0 if the log contains no port. */
static unsigned port_in_log(const test_daemon *d) {
    char *text = read_whole(d->log);
    const char *line = text ? strstr(text, "\"event\":\"listening\"") : NULL;
    const char *at = line ? strstr(line, "\"port\":") : NULL;
    unsigned port = at ? (unsigned)strtoul(at + 7, NULL, 10) : 0;
    free(text);
    return port;
}

void daemon_start_again(test_daemon *d, const char *const *arguments) {
    const char *words[ARGUMENTS_MAX] = {"--listen", "127.0.0.1:0", "--data", d->data};
    size_t count = 4;
    for (size_t i = 0; arguments && arguments[i] && count < ARGUMENTS_MAX - 1; i++) words[count++] = arguments[i];
    int output = open(d->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(output >= 0);
    d->pid = spawn(words, output);
    close(output);
    d->port = 0;
    double until = hang_time();
    while ((d->port = port_in_log(d)) == 0 && now_seconds() < until) {
        int status;
        if (waitpid(d->pid, &status, WNOHANG) == d->pid) break;
        sleep_seconds(0.005);
    }
    if (d->port) return;
    char *text = read_whole(d->log);
    print_error("hameld did not start: %s\n", text ? text : "no log");
    free(text);
    d->pid = 0;
    fail();
}

void daemon_start(test_daemon *d, const char *const *arguments) {
    *d = (test_daemon){0};
    const char *scratch = getenv("TMPDIR");
    snprintf(d->data, sizeof d->data, "%s/hamel-test-XXXXXX", scratch ? scratch : P_tmpdir);
    assert_non_null(mkdtemp(d->data));
    snprintf(d->log, sizeof d->log, "%s/log", d->data);
    daemon_start_again(d, arguments);
}

static int wait_status(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int daemon_end(test_daemon *d, int signal_number) {
    pid_t pid = d->pid;
    assert_true(pid > 0);
    kill(pid, signal_number);
    d->pid = 0;
    return wait_status(pid);
}

void daemon_remove(test_daemon *d) {
    static const char *const names[] = {"log",          "hamel.db",      "hamel.db-wal",
                                        "hamel.db-shm", "hamel.db.lock", "hamel.db.crash"};
    char path[128];
    if (d->pid > 0) daemon_end(d, SIGKILL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", d->data, names[i]);
        unlink(path);
    }
    rmdir(d->data);
}

/* cmocka passes no argument to group fixtures, so their data is static. */
static struct {
    test_daemon *d;
    const char *const *arguments;
} shared;

void daemon_share(test_daemon *d, const char *const *arguments) {
    shared.d = d;
    shared.arguments = arguments;
}

int start_shared_daemon(void **state) {
    (void)state;
    daemon_start(shared.d, shared.arguments);
    return 0;
}

int end_shared_daemon(void **state) {
    (void)state;
    int code = shared.d->pid > 0 ? daemon_end(shared.d, SIGTERM) : 0;
    daemon_remove(shared.d);
    return code;
}

int daemon_run(const char *const *arguments, char *output, size_t room) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = spawn(arguments, ends[1]);
    close(ends[1]);
    size_t length = 0;
    ssize_t n;
    while (length + 1 < room && (n = read(ends[0], output + length, room - 1 - length)) > 0) length += (size_t)n;
    output[length] = '\0';
    close(ends[0]);
    return wait_status(pid);
}

size_t daemon_resident_bytes(const test_daemon *d) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)d->pid);
    char *text = read_whole(path);
    assert_non_null(text);
    char *second = strchr(text, ' ');
    size_t pages = second ? strtoul(second, NULL, 10) : 0;
    free(text);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

size_t daemon_descriptors(const test_daemon *d) {
    char path[64];
    size_t count = 0;
    for (int i = 0; i < 4096; i++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)d->pid, i);
        char target[8];
        count += readlink(path, target, sizeof target) >= 0;
    }
    return count;
}

double daemon_cpu_seconds(const test_daemon *d) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)d->pid);
    char *text = read_whole(path);
    assert_non_null(text);
    char *at = strrchr(text, ')'); /* end of field 2 of proc(5) stat; user and system time are fields 14 and 15 */
    for (int field = 2; at && field < 14; field++) at = strchr(at + 1, ' ');
    assert_non_null(at);
    char *end;
    double ticks = strtod(at, &end);
    ticks += strtod(end, NULL);
    free(text);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

/* ---- requests ---- */

typedef struct growing {
    char *bytes;
    size_t length;
} growing;

static size_t collect(char *bytes, size_t size, size_t count, void *context) {
    growing *g = context;
    size_t length = size * count;
    if (g->length + length > BODY_MAX) return 0;
    char *more = realloc(g->bytes, g->length + length + 1);
    if (!more) return 0;
    g->bytes = more;
    memcpy(more + g->length, bytes, length);
    g->length += length;
    more[g->length] = '\0';
    return length;
}

/* Records a request and its reply on one line, for tests/http/check_openapi.py. */
static void record(const char *method, const char *path, const char *body, size_t length, const answer *a) {
    const char *file = getenv("HAMEL_TEST_EXCHANGES");
    char type[128], coding[32];
    if (!file || !*file || a->status == 0 || a->length > RECORD_MAX || length > RECORD_MAX) return;
    answer_header(a, "Content-Type", type, sizeof type);
    bool text = !answer_header(a, "Content-Encoding", coding, sizeof coding) && strcmp(type, "application/x-npy") != 0;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "method", method);
    cJSON_AddStringToObject(line, "path", path);
    cJSON_AddNumberToObject(line, "status", (double)a->status);
    cJSON_AddStringToObject(line, "type", type);
    cJSON_AddStringToObject(line, "headers", a->headers);
    if (text) cJSON_AddStringToObject(line, "body", a->body);
    if (body && strlen(body) == length) cJSON_AddStringToObject(line, "sent", body);
    char *printed = cJSON_PrintUnformatted(line);
    size_t size = printed ? strlen(printed) + 1 : 0;
    if (printed) printed[size - 1] = '\n'; /* replaces the final 0 */
    int out = printed ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    /* Write the line with a single call, so that lines of concurrent programs do not mix. */
    if (out >= 0) assert_int_equal(write(out, printed, size), size);
    if (out >= 0) close(out);
    cJSON_free(printed);
    cJSON_Delete(line);
}

/* Checks two properties of every response. The headers must forbid browsers to use the response as a page, and the body
 * must not contain the path of the data directory. */
static void check_answer(const test_daemon *d, const answer *a) {
    char value[512];
    assert_true(answer_header(a, "X-Content-Type-Options", value, sizeof value));
    assert_string_equal(value, "nosniff");
    assert_true(answer_header(a, "Content-Security-Policy", value, sizeof value));
    assert_non_null(strstr(value, "default-src 'none'"));
    assert_non_null(strstr(value, "frame-ancestors 'none'"));
    assert_true(answer_header(a, "Referrer-Policy", value, sizeof value));
    assert_true(answer_header(a, "X-Request-Id", value, sizeof value));
    assert_null(strstr(a->body, d->data));
}

answer ask_bytes(const test_daemon *d, const char *method, const char *path, const char *const *headers,
                 const char *body, size_t length) {
    char url[1024];
    answer a = {0};
    growing head = {0}, rest = {0};
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    CURL *c = curl_easy_init();
    assert_non_null(c);
    snprintf(url, sizeof url, "%s://127.0.0.1:%u%s", d->authority ? "https" : "http", d->port, path);
    if (d->authority) curl_easy_setopt(c, CURLOPT_CAINFO, d->authority);
    for (size_t i = 0; headers && headers[i]; i++) list = curl_slist_append(list, headers[i]);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, 120L);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &rest);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, &head);
    if (body) {
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    if (strcmp(method, "HEAD") == 0) curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    CURLcode code = curl_easy_perform(c);
    if (code == CURLE_OK || code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR) {
        curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a.status);
    }
    a.headers = head.bytes ? head.bytes : strdup("");
    a.body = rest.bytes ? rest.bytes : strdup("");
    a.length = rest.length;
    curl_slist_free_all(list);
    curl_easy_cleanup(c);
    a.whole = code == CURLE_OK;
    if (a.whole) {
        check_answer(d, &a);
        record(method, path, body, length, &a);
    }
    return a;
}

answer ask(const test_daemon *d, const char *method, const char *path, const char *const *headers, const char *body) {
    return ask_bytes(d, method, path, headers, body, body ? strlen(body) : 0);
}

long ask_status(const test_daemon *d, const char *method, const char *path, const char *body) {
    answer a = ask(d, method, path, body ? json_type : NULL, body);
    long status = a.status;
    answer_clear(&a);
    return status;
}

void answer_clear(answer *a) {
    free(a->headers);
    free(a->body);
    *a = (answer){0};
}

bool answer_header(const answer *a, const char *name, char *value, size_t room) {
    size_t length = strlen(name);
    for (const char *line = a->headers; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
        const char *text = line + length + 1;
        text += strspn(text, " ");
        snprintf(value, room, "%.*s", (int)strcspn(text, "\r\n"), text);
        return true;
    }
    value[0] = '\0';
    return false;
}

cJSON *answer_json(const answer *a) {
    cJSON *tree = cJSON_ParseWithLength(a->body, a->length);
    if (!tree) print_error("the body is not JSON: %s\n", a->body);
    assert_non_null(tree);
    return tree;
}

cJSON *ask_json(const test_daemon *d, const char *method, const char *path, const char *const *headers,
                const char *body, long status) {
    char type[128];
    answer a = ask(d, method, path, headers, body);
    if (a.status != status) print_error("%s %s: %ld, expected %ld: %s\n", method, path, a.status, status, a.body);
    assert_int_equal(a.status, status);
    answer_header(&a, "Content-Type", type, sizeof type);
    assert_string_equal(type, status >= 400 ? "application/problem+json" : "application/json");
    cJSON *tree = answer_json(&a);
    if (status >= 400) assert_int_equal((long)json_number_of(tree, "status"), status);
    answer_clear(&a);
    return tree;
}

const char *json_text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

double json_number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

/* ---- sockets ---- */

int connect_from(const test_daemon *d, const char *address) {
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {.sin_family = AF_INET}, at = {.sin_family = AF_INET};
    int small = 64 * 1024; /* a small buffer, so that the daemon soon detects a client that does not read */
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)d->port);
    assert_true(s >= 0);
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(inet_pton(AF_INET, address, &from.sin_addr), 1);
    assert_int_equal(bind(s, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(s, (struct sockaddr *)&at, sizeof at), 0);
    return s;
}

int connect_to(const test_daemon *d) {
    return connect_from(d, "127.0.0.1");
}

void wait_for_bytes(int s) {
    struct pollfd look = {.fd = s, .events = POLLIN};
    assert_int_equal(poll(&look, 1, (int)((hang_time() - now_seconds()) * 1e3)), 1);
}

size_t exchange(const test_daemon *d, const char *bytes, size_t length, const char *enough, char *out, size_t room,
                bool *closed) {
    int s = connect_to(d);
    size_t got = 0;
    *closed = false;
    out[0] = '\0';
    (void)!send(s, bytes, length, MSG_NOSIGNAL);
    while (got + 1 < room && !*closed && !(enough && strstr(out, enough))) {
        wait_for_bytes(s);
        ssize_t n = recv(s, out + got, room - 1 - got, 0);
        *closed = n <= 0;
        if (n > 0) got += (size_t)n;
        out[got] = '\0';
    }
    close(s);
    return got;
}

/* ---- descriptions and jobs ---- */

const char *oscillator(char *out, size_t room, const char *name, double stop, double samples) {
    snprintf(out, room,
             "{\"hamel\":1,\"name\":\"%s\",\"coordinates\":[{\"name\":\"x\",\"initial\":1}],"
             "\"kinetic_energy\":\"x'^2/2\",\"potential_energy\":\"x^2/2\","
             "\"simulation\":{\"stop\":%.17g,\"samples\":%.17g,\"max_steps\":1e8}}",
             name, stop, samples);
    return out;
}

const char *endless(char *out, size_t room) {
    return oscillator(out, room, "endless", 4e6, 8e7);
}

char *submit(const test_daemon *d, const char *system) {
    cJSON *job = ask_json(d, "POST", "/v1/jobs", json_type, system, 201);
    char *id = strdup(json_text_of(job, "id"));
    assert_int_equal(strlen(id), 32);
    cJSON_Delete(job);
    return id;
}

void wait_for_status(const test_daemon *d, const char *id, const char *status) {
    char path[128];
    double until = hang_time();
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    for (;;) {
        cJSON *job = ask_json(d, "GET", path, NULL, NULL, 200);
        bool there = strcmp(json_text_of(job, "status"), status) == 0;
        bool late = now_seconds() > until;
        if (!there && late) print_error("job %s is %s, not %s\n", id, json_text_of(job, "status"), status);
        cJSON_Delete(job);
        if (there) return;
        assert_false(late);
        sleep_seconds(0.01);
    }
}

/* ---- reports of the daemon ---- */

double daemon_metric(const test_daemon *d, const char *series) {
    char line[256];
    answer a = ask(d, "GET", "/metrics", NULL, NULL);
    snprintf(line, sizeof line, "\n%s ", series);
    const char *at = strstr(a.body, line);
    double value = at ? strtod(at + strlen(line), NULL) : -1;
    answer_clear(&a);
    return value;
}

size_t count_in_log(const test_daemon *d, const char *text) {
    char *log = read_whole(d->log);
    assert_non_null(log);
    size_t count = 0;
    for (const char *at = log; (at = strstr(at, text)) != NULL; at++) count++;
    free(log);
    return count;
}

void wait_for_log(const test_daemon *d, const char *text) {
    for (double until = hang_time(); count_in_log(d, text) == 0; sleep_seconds(0.01)) {
        assert_true(now_seconds() < until);
    }
}
