/* faults.h — injected faults of the machine, in this process or in a daemon.
 *
 * LD_PRELOAD loads preload/preload.c, which wraps functions of the C library. The wrappers count calls that can fail
 * and make those fail that a test has selected. They also shift the clock, and keep copies of files at each
 * synchronization. The wrappers and the test map the same file of one page, which HAMEL_FAULTS names. This works in
 * release builds only, because sanitizers replace the allocator. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum fault_kind {
    FAULT_MEMORY,   /* malloc and related functions return NULL */
    FAULT_WRITE,    /* writing a file of the store */
    FAULT_READ,     /* reading a file of the store */
    FAULT_SYNC,     /* synchronizing a file of the store */
    FAULT_TRUNCATE, /* truncating a file of the store */
    FAULT_SEND,     /* sending to a socket */
    FAULT_RECEIVE,  /* receiving from a socket */
    FAULT_KINDS
} fault_kind;

typedef struct fault_site {
    atomic_long calls;           /* number of calls so far */
    atomic_long from, to, every; /* calls from, from + every, ... up to `to` fail; 0: every call succeeds */
    atomic_int error;            /* errno of the fault; 0 if reads and writes transfer half of the bytes */
} fault_site;

typedef struct faults {
    fault_site sites[FAULT_KINDS];
    atomic_long live;        /* number of allocated blocks */
    atomic_long free_bytes;  /* reported free disk space in bytes; 0: report the real space */
    atomic_long clock_shift; /* in seconds, added to CLOCK_REALTIME */
    atomic_bool copying;     /* copy files of the store when they are synchronized */
    atomic_long copies;      /* number of copies so far; copy k of a file is FILE.k */
} faults;

/* Call first in main. Restarts the program with the faults loaded, unless they are loaded. If this is impossible,
 * prints a message and returns NULL; the tests are then skipped. */
faults *faults_here(int argc, char **argv);

/* Daemons started between these two calls have the faults loaded. */
faults *faults_begin(void);
void faults_end(void);

/* Makes call number `nth` (from 1) fail, or this call and all later ones. */
void fault_order(faults *f, fault_kind kind, long nth, bool lasting, int error);
void fault_order_every(faults *f, fault_kind kind, long every, int error);

/* Stops faults of this kind; returns the number of calls since they were started. */
long fault_cancel(faults *f, fault_kind kind);
