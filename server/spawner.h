/* spawner.h — processes for work that may end its process, forked by a process without threads.
 *
 * A program with threads, or confined by confine.c, cannot fork. So the daemon forks one process, the spawner, before it
 * has either, and before it has read a secret or opened a socket or a database. The spawner forks the others when the
 * daemon requests it, and passes it a socket to each (SCM_RIGHTS); it sends signals to them and waits for their end.
 *
 * It forgets nothing by itself: the number of a process stays taken, by a zombie if need be, until spawner_end, so a
 * signal can never reach another process. When the daemon ends in any way, the spawner reads the end of its socket and
 * ends, and the kernel then kills its children (PR_SET_PDEATHSIG).
 *
 * All functions may be called from any thread. */
#ifndef HAMEL_SERVER_SPAWNER_H
#define HAMEL_SERVER_SPAWNER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zero-initialize. */
typedef struct spawner {
    pthread_mutex_t lock; /* one request at a time */
    int control;
    pid_t pid; /* 0: it has ended */
    bool started;
} spawner;

/* What runs in the other processes; `context` is copied by the fork. */
typedef struct spawner_work {
    const char *name;                       /* of the processes, at most 15 bytes */
    void (*prepare)(void *context);         /* in the spawner, before it forks: what all processes will need */
    int (*run)(int channel, void *context); /* in each process; its result is the exit status */
    void *context;
} spawner_work;

typedef struct spawned {
    pid_t pid;   /* 0: none */
    int channel; /* the daemon's end of the socket, close-on-exec */
} spawned;

typedef struct spawned_end {
    int status; /* as of waitpid */
    double cpu_seconds;
} spawned_end;

/* False with a message. */
bool spawner_start(spawner *s, const spawner_work *work, char *message, size_t room);

bool spawner_fork(spawner *s, spawned *out); /* false: the system has no more processes, or the spawner has ended */
void spawner_signal(spawner *s, const spawned *process, int number);

/* Kills the process if it runs, waits for its end, closes the channel and clears *process. */
void spawner_end(spawner *s, spawned *process, spawned_end *end);

bool spawner_has_ended(spawner *s); /* by itself: it should not; for the thread that is told so by SIGCHLD */
void spawner_stop(spawner *s);      /* with all processes; no-op unless started */

#endif
