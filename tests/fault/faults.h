/* faults.h — for tests: injected faults of the machine, in this process or in a daemon.
 *
 * preload/preload.c, loaded by LD_PRELOAD, wraps functions of the C library. It counts calls that can fail and lets
 * those fail that a test has selected, shifts the clock, and keeps copies of files as last synchronized. It shares one
 * page of memory with the test, a mapped file named by HAMEL_FAULTS. Release builds only: sanitizers need the
 * allocator. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum fault_kind {
    FAULT_MEMORY,   /* malloc and related functions return NULL */
    FAULT_WRITE,    /* to a file of the store */
    FAULT_READ,     /* from one */
    FAULT_SYNC,     /* of one */
    FAULT_TRUNCATE, /* of one */
    FAULT_SEND,     /* to a socket */
    FAULT_RECEIVE,  /* from one */
    FAULT_KINDS
} fault_kind;

typedef struct fault_site {
    atomic_long calls;           /* so far */
    atomic_long from, to, every; /* calls from, from + every, ... to fail; from 0: none */
    atomic_int error;            /* errno; 0, of reads and writes: only half of the bytes */
} fault_site;

typedef struct faults {
    fault_site sites[FAULT_KINDS];
    atomic_long live;        /* allocated blocks of memory */
    atomic_long free_bytes;  /* reported free bytes of the disk; 0: the real number */
    atomic_long clock_shift; /* seconds, added to CLOCK_REALTIME */
    atomic_bool copying;     /* files of the store are copied when they have been synchronized */
    atomic_long copies;      /* so far: file k of the store is then at FILE.k */
} faults;

/* Call first in main: restarts the program with the faults loaded, unless they are loaded. NULL if this is impossible,
 * with a message; the tests are then skipped. */
faults *faults_here(int argc, char **argv);

/* Daemons started between these two calls have the faults loaded. */
faults *faults_begin(void);
void faults_end(void);

/* Call number `nth` (from 1) fails, or it and all later calls. */
void fault_order(faults *f, fault_kind kind, long nth, bool lasting, int error);
void fault_order_every(faults *f, fault_kind kind, long every, int error);

/* Stops faults of this kind; returns the number of calls since they were started. */
long fault_cancel(faults *f, fault_kind kind);
