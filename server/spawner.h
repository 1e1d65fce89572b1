/* spawner.h — separate processes for work that may crash, forked by a process without threads.
 *
 * A process with threads cannot fork safely, and the system-call filter (seccomp.c) does not allow a fork. Therefore
 * the daemon forks one process, the spawner, before it has threads, a filter, secrets, sockets or a database. When the
 * daemon requests a process, the spawner forks it and passes the daemon a socket to it (SCM_RIGHTS). The spawner sends
 * signals to these processes and waits for their end.
 *
 * The spawner does not reap a process before spawner_end, so its pid is not reused and a signal never reaches another
 * process. When the daemon ends, even by a crash, the spawner reads end-of-file from its socket and exits. The kernel
 * then kills its children (PR_SET_PDEATHSIG).
 *
 * All functions may be called from any thread. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zero-initialize. */
typedef struct spawner {
    pthread_mutex_t lock; /* held during a request to the spawner */
    int control;
    pid_t pid; /* 0 if the spawner has ended */
    bool started;
} spawner;

/* Functions of the forked processes; `context` is copied by the fork. */
typedef struct spawner_work {
    const char *name;                       /* name of the processes, at most 15 bytes */
    void (*prepare)(void *context);         /* called once in the spawner before the first fork, to load common data */
    int (*run)(int channel, void *context); /* called in each process; returns the exit status */
    void *context;
} spawner_work;

typedef struct spawned {
    pid_t pid;   /* 0: no process */
    int channel; /* the daemon's end of the socket, close-on-exec */
} spawned;

typedef struct spawned_end {
    int status; /* status of waitpid */
    double cpu_seconds;
} spawned_end;

/* On failure returns false with a message. */
bool spawner_start(spawner *s, const spawner_work *work, char *message, size_t room);

bool spawner_fork(spawner *s, spawned *out); /* false if the fork failed or the spawner has ended */
void spawner_signal(spawner *s, const spawned *process, int number);

/* Kills the process if it runs, waits for its end, closes the channel and clears *process. */
void spawner_end(spawner *s, spawned *process, spawned_end *end);

bool spawner_has_ended(spawner *s); /* call on the thread that receives SIGCHLD */
void spawner_stop(spawner *s);      /* also ends all forked processes; no-op if the spawner was not started */
