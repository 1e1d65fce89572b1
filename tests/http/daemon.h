/* daemon.h — a real hameld on a free port with a separate data directory, and a client for it, for tests.
 *
 * The program is $HAMELD, or build/hameld by default. A failed step fails the running cmocka test. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct test_daemon {
    pid_t pid;
    unsigned port;
    char data[64];         /* directory, removed by daemon_remove */
    const char *authority; /* file with the certificate that clients trust; NULL for plain HTTP */
    char log[96];          /* file with the daemon's stderr */
} test_daemon;

/* `arguments` is a NULL-terminated list of options in addition to --listen and --data, or NULL. */
void daemon_start(test_daemon *d, const char *const *arguments);
void daemon_start_again(test_daemon *d, const char *const *arguments); /* starts a stopped daemon with the same data */
/* Sends the signal, waits for the daemon to end, and returns its exit status. If a signal ended the daemon, returns 128
 * + this signal. */
int daemon_end(test_daemon *d, int signal_number);
/* Stops the daemon if it runs, and removes its data. */
void daemon_remove(test_daemon *d);

/* Fixtures of a group whose tests share one daemon. daemon_share stores the daemon and its arguments, which must
 * outlive the group. If the daemon still runs after the last test, end_shared_daemon stops it and checks its exit
 * status. */
void daemon_share(test_daemon *d, const char *const *arguments);
int start_shared_daemon(void **state);
int end_shared_daemon(void **state);

/* Runs the program to its end and returns its exit status. `output` receives stdout and stderr. */
int daemon_run(const char *const *arguments, char *output, size_t room);

/* Current resource usage of the daemon's process. */
size_t daemon_resident_bytes(const test_daemon *d);
size_t daemon_descriptors(const test_daemon *d);
double daemon_cpu_seconds(const test_daemon *d);

typedef struct answer {
    long status; /* 0 if the daemon sent no response */
    char *headers, *body;
    size_t length;
    bool whole; /* false if the response is cut off */
} answer;

/* Sends a request. `headers` is a NULL-terminated list of lines like "Accept: text/csv", or NULL. `body` may be
 * NULL. */
answer ask(const test_daemon *d, const char *method, const char *path, const char *const *headers, const char *body);

/* Sends a request, with `body` as JSON unless it is NULL, and returns only the status. */
long ask_status(const test_daemon *d, const char *method, const char *path, const char *body);
answer ask_bytes(const test_daemon *d, const char *method, const char *path, const char *const *headers,
                 const char *body, size_t length);
void answer_clear(answer *a);
bool answer_header(const answer *a, const char *name, char *value, size_t room); /* ignores the case of names */
cJSON *answer_json(const answer *a); /* free the result with cJSON_Delete; fails the test if the body is not JSON */

/* Sends a request, checks status and media type, and returns the body as JSON. */
cJSON *ask_json(const test_daemon *d, const char *method, const char *path, const char *const *headers,
                const char *body, long status);
const char *json_text_of(const cJSON *object, const char *key); /* "" if absent */
double json_number_of(const cJSON *object, const char *key);    /* NaN if absent */

extern const char *const json_type[]; /* {"Content-Type: application/json", NULL} */

/* Sends the bytes and reads the response. Stops if the server closes the connection, if `enough` is not NULL and the
 * response contains it, or if `out` is full. Returns the number of bytes read. Sets *closed to whether the server has
 * closed the connection. */
size_t exchange(const test_daemon *d, const char *bytes, size_t length, const char *enough, char *out, size_t room,
                bool *closed);
void wait_for_bytes(int s);           /* waits until a socket is readable or closed */
int connect_to(const test_daemon *d); /* returns a socket */
/* connects like connect_to, but from the loopback address `address` (127.x.x.x) */
int connect_from(const test_daemon *d, const char *address);

/* Write a description to `out` and return `out`. `oscillator` describes a harmonic oscillator, `endless` a run that
 * takes minutes and sends rows continuously. */
const char *oscillator(char *out, size_t room, const char *name, double stop, double samples);
const char *endless(char *out, size_t room);

char *submit(const test_daemon *d, const char *system); /* returns the job's id; free() it */
void wait_for_status(const test_daemon *d, const char *id, const char *status);
double daemon_metric(const test_daemon *d, const char *series); /* current value; -1 if absent */
size_t count_in_log(const test_daemon *d, const char *text);
void wait_for_log(const test_daemon *d, const char *text);
void sleep_seconds(double seconds);
double now_seconds(void);
/* Returns a time on the clock of now_seconds, some minutes from now. If an event has not occurred by then, the test
 * fails. */
double hang_time(void);
bool long_tests(void); /* true if HAMEL_TEST_LONG is set */
double slowness(void); /* factor for time limits, because sanitizers slow the daemon down */
