/* daemon.h — for tests: a real hameld on a free port with a separate data directory, and a client for it.
 *
 * The program is $HAMELD, else build/hameld. Functions fail the running cmocka test if a step fails that must
 * succeed. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct test_daemon {
    pid_t pid;
    unsigned port;
    char data[64];         /* directory, removed by daemon_remove */
    const char *authority; /* file with the certificate to trust; NULL: plain HTTP */
    char log[96];          /* its output on stderr */
} test_daemon;

/* `arguments` are added to --listen and --data; NULL-terminated or NULL. */
void daemon_start(test_daemon *d, const char *const *arguments);
void daemon_start_again(test_daemon *d, const char *const *arguments); /* on the same data */
int daemon_end(test_daemon *d, int signal_number);                     /* waits; the exit status, or 128 + signal */
void daemon_remove(test_daemon *d);                                    /* ends it if it runs, and removes its data */

/* Fixtures of a group whose tests share one daemon. daemon_share sets the daemon and its arguments, which outlive the
 * group. If the last test has not ended the daemon, its exit status is checked, too. */
void daemon_share(test_daemon *d, const char *const *arguments);
int start_shared_daemon(void **state);
int end_shared_daemon(void **state);

/* Runs the program to its end; its exit status. `output` gets stdout and stderr. */
int daemon_run(const char *const *arguments, char *output, size_t room);

/* Of the process, now. */
size_t daemon_resident_bytes(const test_daemon *d);
size_t daemon_descriptors(const test_daemon *d);
double daemon_cpu_seconds(const test_daemon *d);

typedef struct answer {
    long status; /* 0: no answer */
    char *headers, *body;
    size_t length;
    bool whole; /* the answer is complete */
} answer;

/* `headers`: lines like "Accept: text/csv", NULL-terminated or NULL. `body` NULL: none. */
answer ask(const test_daemon *d, const char *method, const char *path, const char *const *headers, const char *body);

/* The status alone; a body is JSON. */
long ask_status(const test_daemon *d, const char *method, const char *path, const char *body);
answer ask_bytes(const test_daemon *d, const char *method, const char *path, const char *const *headers,
                 const char *body, size_t length);
void answer_clear(answer *a);
bool answer_header(const answer *a, const char *name, char *value, size_t room); /* without case */
cJSON *answer_json(const answer *a); /* cJSON_Delete the result; fails the test if it is not JSON */

/* Sends a request, and checks status and media type; returns the body as JSON. */
cJSON *ask_json(const test_daemon *d, const char *method, const char *path, const char *const *headers,
                const char *body, long status);
const char *json_text_of(const cJSON *object, const char *key); /* "" when absent */
double json_number_of(const cJSON *object, const char *key);    /* NaN when absent */

extern const char *const json_type[]; /* {"Content-Type: application/json", NULL} */

/* Sends bytes as they are and reads until the server closes, until what has come holds `enough` (NULL: nothing is), or
 * until `out` is full. Returns the bytes read; `closed` reports whether the server closed. */
size_t exchange(const test_daemon *d, const char *bytes, size_t length, const char *enough, char *out, size_t room,
                bool *closed);
void wait_for_bytes(int s);           /* until there is something to read from a socket, or its end */
int connect_to(const test_daemon *d); /* a socket */
int connect_from(const test_daemon *d, const char *address); /* the same, of another address of loopback: 127.x.x.x */

/* Descriptions: a harmonic oscillator; one that runs for minutes and sends rows all the time. */
const char *oscillator(char *out, size_t room, const char *name, double stop, double samples);
const char *endless(char *out, size_t room);

char *submit(const test_daemon *d, const char *system); /* the job's id; free() it */
void wait_for_status(const test_daemon *d, const char *id, const char *status);
double daemon_metric(const test_daemon *d, const char *series); /* as it is written; -1 when there is none */
size_t count_in_log(const test_daemon *d, const char *text);
void wait_for_log(const test_daemon *d, const char *text);
void sleep_seconds(double seconds);
double now_seconds(void);
double hang_time(void); /* by now_seconds: however busy the machine is, what has not come until then does not come */
bool long_tests(void);  /* HAMEL_TEST_LONG is set */
double slowness(void);  /* of the daemon's build: factor for bounds on time; sanitizers cost some */
