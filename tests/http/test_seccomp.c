/* test_seccomp.c — the daemon's system-call filter. Each probe runs in a separate process with the filter. All tests
 * that start a daemon also fail if the daemon makes a call that the filter rejects (daemon.c). */
#include "tests/http/daemon.h"

#include "server/seccomp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { DONE, REFUSED, NO_FILTER = 99, PAGE = 4096 };

/* Returns REFUSED if a filter rejected the call (errno is ENOSYS), otherwise DONE. */
static int verdict(long result) {
    return result < 0 && errno == ENOSYS ? REFUSED : DONE;
}

static int map_as(int protection) {
    return verdict(mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
}

/* ---- calls that the daemon never needs ---- */

static int a_process(void) {
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) _exit(0);
    return verdict(child);
}

static int a_process_by_the_newer_call(void) {
    return verdict(syscall(SYS_clone3, NULL, 0));
}

static int another_program(void) {
    char *words[] = {(char[]){"/bin/true"}, NULL};
    return verdict(execv(words[0], words));
}

static int a_netlink_socket(void) {
    return verdict(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int a_packet_socket(void) {
    return verdict(socket(AF_PACKET, SOCK_RAW, 0));
}

static int being_traced(void) {
    return verdict(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int a_signal_to_others(void) {
    return verdict(kill(getppid(), 0));
}

static int a_mount(void) {
    return verdict(mount("none", "/nowhere", "tmpfs", 0, NULL));
}

static int another_user(void) {
    return verdict(setuid(65534));
}

static int another_limit(void) {
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    return verdict(setrlimit(RLIMIT_NOFILE, &limit));
}

static int other_rights_on_a_file(void) {
    return verdict(chmod("/nowhere", 0777));
}

static int a_namespace(void) {
    return verdict(unshare(CLONE_NEWUSER));
}

static int a_page_to_write_and_execute(void) {
    return map_as(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int a_page_made_executable(void) {
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NO_FILTER : verdict(mprotect(page, PAGE, PROT_READ | PROT_EXEC));
}

static int a_connection(void) {
    const struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = 1};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return s < 0 ? NO_FILTER : verdict(connect(s, (const struct sockaddr *)&there, sizeof there));
}

/* ---- calls for machine code ---- */

static int an_executable_page(void) {
    return map_as(PROT_READ | PROT_EXEC);
}

static int a_file_in_memory(void) {
    return verdict(memfd_create("probe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

/* ---- calls that the daemon always needs ---- */

static void *do_nothing(void *context) {
    return context;
}

static int a_thread(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0 ? DONE : REFUSED;
}

static int a_file(void) {
    return verdict(open("/dev/null", O_RDWR | O_CLOEXEC));
}

static int an_internet_socket(void) {
    return verdict(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

typedef struct probe {
    const char *name;
    int (*run)(void);
    unsigned keeps; /* KEEP_x bits that permit the call, 0 if it is always permitted, or NEVER */
} probe;

#define PROBE(name, keeps) \
    { #name, name, keeps }
enum { ALL_KEPT = KEEP_CODE | KEEP_CONNECT, NEVER = 2 * ALL_KEPT };

static const probe probes[] = {
    PROBE(a_process, NEVER),
    PROBE(a_process_by_the_newer_call, NEVER),
    PROBE(another_program, NEVER),
    PROBE(a_netlink_socket, NEVER),
    PROBE(a_packet_socket, NEVER),
    PROBE(being_traced, NEVER),
    PROBE(a_signal_to_others, NEVER),
    PROBE(a_mount, NEVER),
    PROBE(another_user, NEVER),
    PROBE(another_limit, NEVER),
    PROBE(other_rights_on_a_file, NEVER),
    PROBE(a_namespace, NEVER),
    PROBE(a_page_to_write_and_execute, NEVER),
    PROBE(a_page_made_executable, NEVER),
    PROBE(a_connection, KEEP_CONNECT),
    PROBE(an_executable_page, KEEP_CODE),
    PROBE(a_file_in_memory, KEEP_CODE),
    PROBE(a_thread, 0),
    PROBE(a_file, 0),
    PROBE(an_internet_socket, 0),
};
enum { PROBES = sizeof probes / sizeof probes[0] };

/* Runs the probe in a process that installs the filter. Returns the exit status of the process, or 128 + the signal
 * that ended the process. */
static int run_confined(seccomp_mode how, unsigned keeps, int (*run)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char message[200];
        _exit(seccomp_install(how, keeps, message, sizeof message) ? run() : NO_FILTER);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_confined_process_has_only_the_needed_calls(void **state) {
    const probe *p = *state;
    assert_int_equal(run_confined(SECCOMP_OFF, 0, p->run), DONE); /* without the filter the call succeeds */
    for (unsigned keeps = 0; keeps <= ALL_KEPT; keeps++) {
        assert_int_equal(run_confined(SECCOMP_ON, keeps, p->run), (p->keeps & ~keeps) == 0 ? DONE : REFUSED);
    }
}

/* ---- analysis processes ---- */

static int its_processor_time(void) {
    struct rlimit limit = {.rlim_cur = 3600, .rlim_max = RLIM_INFINITY};
    return verdict(setrlimit(RLIMIT_CPU, &limit));
}

static int some_memory(void) {
    return map_as(PROT_READ | PROT_WRITE);
}

static int run_filtered(seccomp_mode how, unsigned keeps, int (*run)(void)) {
    static seccomp_filter filter;
    char message[200];
    assert_true(seccomp_filter_make(&filter, how, keeps, message, sizeof message));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(seccomp_install_filter(&filter) ? run() : NO_FILTER);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Of the optional calls, the filter of an analysis process permits only the calls for machine code. */
static void an_analysis_process_has_fewer_calls(void **state) {
    (void)state;
    for (size_t k = 0; k < PROBES; k++) {
        const probe *p = &probes[k];
        if (p->run == a_connection) continue; /* this probe needs a socket, which is one of the forbidden calls */
        assert_int_equal(run_filtered(SECCOMP_OFF, 0, p->run), DONE);
        assert_int_equal(run_filtered(SECCOMP_ON, 0, p->run), REFUSED);
        assert_int_equal(run_filtered(SECCOMP_ON, KEEP_CODE, p->run), p->keeps == KEEP_CODE ? DONE : REFUSED);
    }
    assert_int_equal(run_filtered(SECCOMP_KILL, 0, its_processor_time), DONE);
    assert_int_equal(run_filtered(SECCOMP_KILL, 0, some_memory), DONE);
    assert_int_equal(run_filtered(SECCOMP_KILL, KEEP_CODE, a_file), 128 + SIGSYS);
}

static void a_forbidden_call_may_end_the_process(void **state) {
    (void)state;
    assert_int_equal(run_confined(SECCOMP_KILL, ALL_KEPT, another_user), 128 + SIGSYS);
    assert_int_equal(run_confined(SECCOMP_KILL, ALL_KEPT, a_thread), DONE); /* the C library tries clone3 first */
}

/* ---- the daemon ---- */

static bool is_confined(const char *status_file) {
    char text[4096];
    FILE *file = fopen(status_file, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return strstr(text, "Seccomp:\t2") != NULL && strstr(text, "NoNewPrivs:\t1") != NULL;
}

/* Checks each thread of the daemon and returns their number. */
static size_t check_threads(const test_daemon *d) {
    char path[300];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)d->pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/status", (int)d->pid, entry->d_name);
        assert_true(is_confined(path));
        count++;
    }
    closedir(tasks);
    return count;
}

static void check_run(const test_daemon *d, const char *evaluation) {
    char system[512];
    answer a = ask(d, "POST", "/v1/simulations", json_type, oscillator(system, sizeof system, "confined", 1, 3));
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.body, evaluation));
    answer_clear(&a);
}

static void the_daemon_runs_confined_with_and_without_machine_code(void **state) {
    (void)state;
    test_daemon d;
    if (slowness() > 1) skip(); /* sanitizers and valgrind need more calls */
    daemon_start(&d, (const char *const[]){"--seccomp", "on", "--jit", "off", NULL});
    check_run(&d, "\"evaluation\":\"interpreter\"");
    assert_true(check_threads(&d) > 3);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_start_again(&d, (const char *const[]){"--seccomp", "kill", "--jit", "on", NULL});
    check_run(&d, __builtin_cpu_supports("avx2") ? "\"evaluation\":\"machine code\"" : "\"evaluation\"");
    assert_true(check_threads(&d) > 3);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

int main(void) {
    struct CMUnitTest tests[PROBES + 3] = {{0}};
    for (size_t i = 0; i < PROBES; i++) {
        tests[i] = (struct CMUnitTest){.name = probes[i].name,
                                       .test_func = a_confined_process_has_only_the_needed_calls,
                                       .initial_state = (void *)(uintptr_t)&probes[i]};
    }
    tests[PROBES] = (struct CMUnitTest)cmocka_unit_test(a_forbidden_call_may_end_the_process);
    tests[PROBES + 1] = (struct CMUnitTest)cmocka_unit_test(the_daemon_runs_confined_with_and_without_machine_code);
    tests[PROBES + 2] = (struct CMUnitTest)cmocka_unit_test(an_analysis_process_has_fewer_calls);
    return cmocka_run_group_tests_name("seccomp", tests, NULL, NULL);
}
