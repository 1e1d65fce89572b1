/* crash_mark.c — see crash_mark.h. A signal handler has no context but static storage: this is the one place in the
 * daemon with some. The handler only writes 16 bytes, puts the former handlers back and returns; the fault then
 * happens again and takes its usual course (a core, a sanitizer's report). */
#include "server/jobs/crash_mark.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { FATAL_COUNT = sizeof fatal / sizeof fatal[0] };

static volatile sig_atomic_t marks_descriptor = -1;
static struct sigaction former[FATAL_COUNT];
static _Thread_local crash_mark current;

static void put_former_back(void) {
    for (size_t i = 0; i < FATAL_COUNT; i++) sigaction(fatal[i], &former[i], NULL);
}

static void mark(int signal_number, siginfo_t *about, void *context) {
    (void)context;
    int descriptor = marks_descriptor;
    if (descriptor >= 0 && current.number != 0) {
        ssize_t written = write(descriptor, &current, sizeof current);
        (void)written; /* nothing can be done about it here */
    }
    put_former_back();
    /* A fault happens again when this returns; a signal that was sent does not. */
    if (about->si_code <= 0 && signal_number != SIGABRT) raise(signal_number);
}

void crash_marks_begin(int descriptor) {
    struct sigaction action = {.sa_sigaction = mark, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    marks_descriptor = descriptor;
    for (size_t i = 0; i < FATAL_COUNT; i++) sigaction(fatal[i], &action, &former[i]);
}

void crash_marks_end(void) {
    if (marks_descriptor < 0) return;
    put_former_back();
    marks_descriptor = -1;
}

void crash_mark_thread(int64_t number, int64_t attempt) {
    current = (crash_mark){number, attempt};
}

void crash_stack_use(void *stack) {
    stack_t there;
    if (sigaltstack(NULL, &there) == 0 && !(there.ss_flags & SS_DISABLE))
        return; /* a sanitizer's, which it frees itself */
    stack_t alternate = {.ss_sp = stack, .ss_size = CRASH_STACK_BYTES};
    sigaltstack(&alternate, NULL);
}
