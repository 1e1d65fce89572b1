/* analysis_pool.c — pool of analysis processes; see analysis_pool.h. The thread of a request sends the body to a
 * process and waits for the answer. Every ROUND_MS milliseconds the thread checks the budget. */
#include "server/analysis_pool.h"

#include "server/analysis_process.h"
#include "server/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

/* Interval between polls of the budget while a process computes: half a time slice of cpu_slots.c. */
enum { ROUND_MS = 2 };
/* Interval between polls of the budget while a request waits for a process. Ten polls a second cost little processor
 * time, and a canceled request ends within 0.1 s. */
#define WAIT_SECONDS 0.1

typedef struct process {
    spawned spawned;
    double charged; /* processor time already charged to an owner, s */
    bool busy;
} process;

struct analysis_pool {
    spawner *spawner;
    server_log *log;
    pthread_mutex_t lock; /* guards `busy`, `free` and the analyses of owners */
    pthread_cond_t freed;
    process *processes;
    size_t count, free;
};

analysis_pool *analysis_pool_open(spawner *s, size_t count, server_log *log) {
    analysis_pool *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (analysis_pool){.spawner = s, .log = log, .count = count, .free = count};
    a->processes = calloc(count, sizeof *a->processes);
    if (!a->processes) {
        free(a);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    clock_condition_init(&a->freed);
    for (size_t k = 0; k < count; k++)
        (void)spawner_fork(s, &a->processes[k].spawned); /* if this fails, is_alive forks the process later */
    return a;
}

static void end_process(analysis_pool *a, process *p, spawned_end *how) {
    *how = (spawned_end){0};
    if (p->spawned.pid > 0) spawner_end(a->spawner, &p->spawned, how);
}

void analysis_pool_close(analysis_pool *a) {
    spawned_end how;
    if (!a) return;
    for (size_t k = 0; k < a->count; k++) end_process(a, &a->processes[k], &how);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->freed);
    free(a->processes);
    free(a);
}

/* Returns a free process, or NULL if the owner already holds as many processes as are free. The caller holds the
 * lock. */
static process *find_free(analysis_pool *a, token_owner *owner) {
    if (owner->analyses >= a->free) return NULL;
    process *p = a->processes;
    while (p->busy) p++;
    p->busy = true;
    a->free--;
    owner->analyses++;
    return p;
}

/* Waits for a free process. Returns NULL if the budget has ended. */
static process *take_process(analysis_pool *a, budget *b) {
    process *found = NULL;
    while (!found && hamel_ask(&b->poll) == HAMEL_OK) {
        struct timespec at = clock_deadline(WAIT_SECONDS);
        pthread_mutex_lock(&a->lock);
        found = find_free(a, b->owner);
        if (!found && pthread_cond_timedwait(&a->freed, &a->lock, &at) == 0) found = find_free(a, b->owner);
        pthread_mutex_unlock(&a->lock);
    }
    return found;
}

static void give_back(analysis_pool *a, const budget *b, process *p) {
    pthread_mutex_lock(&a->lock);
    p->busy = false;
    a->free++;
    b->owner->analyses--;
    pthread_cond_broadcast(&a->freed);
    pthread_mutex_unlock(&a->lock);
}

static bool fork_again(analysis_pool *a, process *p) {
    p->charged = 0;
    return spawner_fork(a->spawner, &p->spawned);
}

/* Replaces the process if it has ended. Returns false if no process could be forked. */
static bool is_alive(analysis_pool *a, process *p) {
    struct pollfd look = {.fd = p->spawned.channel};
    spawned_end how;
    if (p->spawned.pid > 0 && poll(&look, 1, 0) == 0) return true;
    end_process(a, p, &how);
    return fork_again(a, p);
}

enum { REQUEST, BODY, HEAD, TEXT, PARTS }; /* parts of an exchange; REQUEST and BODY are sent, HEAD and TEXT received */

typedef struct part {
    char *bytes;
    size_t length, done;
} part;

typedef struct exchange {
    int channel, at;
    analysis_request request;
    analysis_answer answer;
    part parts[PARTS];
    bool lost; /* the process has ended or violated the protocol */
} exchange;

/* Sends and receives as much as possible without waiting. Returns false if the memory for the text cannot be
 * allocated. */
static bool exchange_step(exchange *x) {
    while (x->at < PARTS && !x->lost) {
        part *p = &x->parts[x->at];
        if (p->done == p->length) {
            if (++x->at != TEXT) continue;
            x->lost = x->answer.length > ANALYSIS_TEXT_MAX;
            x->parts[TEXT] = (part){.bytes = x->lost ? NULL : malloc(x->answer.length + 1), .length = x->answer.length};
            if (!x->lost && !x->parts[TEXT].bytes) return false;
            continue;
        }
        char *next = p->bytes + p->done;
        size_t left = p->length - p->done;
        ssize_t n = x->at < HEAD ? send(x->channel, next, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                                 : recv(x->channel, next, left, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        x->lost = n <= 0;
        if (n > 0) p->done += (size_t)n;
    }
    return true;
}

static void charge_process(process *p, budget *b, double cpu_seconds) {
    if (cpu_seconds <= p->charged) return;
    budget_add(b, cpu_seconds - p->charged);
    p->charged = cpu_seconds;
}

static double cpu_seconds_of(const process *p) {
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(p->spawned.pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Polls the budget. The poll may yield the CPU slot. While another thread has the slot, the process is stopped. */
static bool may_continue(analysis_pool *a, budget *b, process *p) {
    bool stops = budget_slot_is_wanted(b);
    charge_process(p, b, cpu_seconds_of(p));
    if (stops) spawner_signal(a->spawner, &p->spawned, SIGSTOP);
    bool may = hamel_ask(&b->poll) == HAMEL_OK;
    if (stops) spawner_signal(a->spawner, &p->spawned, SIGCONT);
    return may;
}

static analysis_outcome look_after(analysis_pool *a, budget *b, process *p, exchange *x) {
    for (;;) {
        if (!exchange_step(x)) return ANALYSIS_UNAVAILABLE;
        if (x->lost) return ANALYSIS_CRASHED;
        if (x->at == PARTS) return ANALYSIS_ANSWERED;
        struct pollfd look = {.fd = x->channel, .events = x->at < HEAD ? POLLOUT : POLLIN};
        if (poll(&look, 1, ROUND_MS) <= 0 && !may_continue(a, b, p)) return ANALYSIS_ENDED;
    }
}

static analysis_outcome outcome_of(const analysis_answer *answer) {
    if (answer->kind == ANALYSIS_TOO_LONG) return ANALYSIS_LONG;
    return answer->kind == ANALYSIS_NO_MEMORY ? ANALYSIS_OUT_OF_MEMORY : ANALYSIS_ANSWERED;
}

/* Returns the outcome of an analysis whose process has ended, and logs a crash. */
static analysis_outcome outcome_of_end(analysis_pool *a, const char *request_id, const spawned_end *how) {
    if (WIFEXITED(how->status) && WEXITSTATUS(how->status) == ANALYSIS_EXIT_NO_MEMORY) return ANALYSIS_OUT_OF_MEMORY;
    log_write(a->log, LOG_ERROR, "analysis crashed",
              LOG_FIELDS(log_text("request_id", request_id),
                         log_number("signal", WIFSIGNALED(how->status) ? WTERMSIG(how->status) : 0),
                         log_number("exit", WIFEXITED(how->status) ? WEXITSTATUS(how->status) : 0)));
    return ANALYSIS_CRASHED;
}

static void replace_process(analysis_pool *a, budget *b, process *p, spawned_end *how) {
    end_process(a, p, how);
    charge_process(p, b, how->cpu_seconds);
    (void)fork_again(a, p); /* if this fails, is_alive forks the process later */
}

static void take_text(exchange *x, analysis_result *result) {
    part *text = &x->parts[TEXT];
    text->bytes[text->length] = '\0';
    *result = (analysis_result){.text = text->bytes,
                                .length = text->length,
                                .refused = x->answer.kind == ANALYSIS_REFUSED ? x->answer.http : 0};
    text->bytes = NULL;
}

static analysis_outcome exchange_with(analysis_pool *a, budget *b, process *p, const char *request_id, exchange *x,
                                      analysis_result *result) {
    spawned_end how;
    budget_take_slot(b);
    analysis_outcome outcome = look_after(a, b, p, x);
    budget_release_slot(b);
    if (outcome == ANALYSIS_ANSWERED && !x->answer.leaves) {
        charge_process(p, b, cpu_seconds_of(p));
    } else {
        replace_process(a, b, p, &how);
    }
    if (outcome == ANALYSIS_CRASHED) return outcome_of_end(a, request_id, &how);
    if (outcome == ANALYSIS_ANSWERED) outcome = outcome_of(&x->answer);
    if (outcome == ANALYSIS_ANSWERED) take_text(x, result);
    return outcome;
}

analysis_outcome analysis_pool_make(analysis_pool *a, budget *b, const char *request_id, const char *body,
                                    size_t length, analysis_result *result) {
    analysis_outcome outcome = ANALYSIS_UNAVAILABLE;
    process *p = take_process(a, b);
    *result = (analysis_result){0};
    if (!p) return ANALYSIS_ENDED;
    if (is_alive(a, p)) {
        exchange x = {.channel = p->spawned.channel, .request.length = length};
        x.parts[REQUEST] = (part){.bytes = (char *)&x.request, .length = sizeof x.request};
        x.parts[BODY] = (part){.bytes = (char *)(uintptr_t)body, .length = length}; /* only read */
        x.parts[HEAD] = (part){.bytes = (char *)&x.answer, .length = sizeof x.answer};
        outcome = exchange_with(a, b, p, request_id, &x, result);
        free(x.parts[TEXT].bytes);
    }
    give_back(a, b, p);
    return outcome;
}
