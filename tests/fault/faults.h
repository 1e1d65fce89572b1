/* faults.h — for tests: faults of the machine on order, in this process or in a daemon.
 *
 * preload/preload.c, loaded by LD_PRELOAD, stands between a program and the C library: it counts calls that can fail
 * and lets those fail that a test has asked for, moves the clock, and keeps copies of what has reached the disk. It and
 * the test share one page of memory, a mapped file named by HAMEL_FAULTS. Release builds only: a sanitizer needs the
 * allocator for itself. */
#ifndef HAMEL_TESTS_FAULT_FAULTS_H
#define HAMEL_TESTS_FAULT_FAULTS_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum fault_kind {
    FAULT_MEMORY,   /* malloc and its kin give NULL */
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
    atomic_long live;        /* blocks of memory that were taken and not given back */
    atomic_long free_bytes;  /* that the disk says it has left; 0: as many as it has */
    atomic_long clock_shift; /* seconds, added to CLOCK_REALTIME */
    atomic_bool copying;     /* files of the store are copied when they have been synchronized */
    atomic_long copies;      /* so far: file k of the store is then at FILE.k */
} faults;

/* In main, first: starts the program again with the faults loaded, unless they are. NULL where they cannot be, with the
 * reason said: the tests are then to be skipped. */
faults *faults_here(int argc, char **argv);

/* For a daemon: those started between these two have the faults loaded. */
faults *faults_begin(void);
void faults_end(void);

/* Call number `nth` (from 1) from now on fails, or it and all after it. */
void fault_order(faults *f, fault_kind kind, long nth, bool lasting, int error);
void fault_order_every(faults *f, fault_kind kind, long every, int error);

/* No more faults of this kind; the number of calls since they were ordered. */
long fault_cancel(faults *f, fault_kind kind);

#endif
