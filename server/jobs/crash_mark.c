/* crash_mark.c — signal handler that marks crashes; see crash_mark.h. A handler has no context argument, so its state
 * is static. The handler writes 16 bytes, restores the former handlers and returns. The signal is then raised again and
 * has its usual effect (a core dump, a sanitizer's report). */
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
        (void)written; /* a failed write cannot be reported here */
    }
    put_former_back();
    /* After the return the faulting instruction raises its signal again. A signal sent by kill() must be raised
     * here. */
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
        return; /* a sanitizer has already set its own stack */
    stack_t alternate = {.ss_sp = stack, .ss_size = CRASH_STACK_BYTES};
    sigaltstack(&alternate, NULL);
}
