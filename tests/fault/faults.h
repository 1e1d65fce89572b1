/* faults.h — injected faults of the machine, in this process or in a daemon.
 *
 * LD_PRELOAD loads preload/preload.c, which wraps functions of the C library. The wrappers count calls, and the calls
 * that a test has selected fail. The wrappers also shift the clock, and copy files at each synchronization.
 * HAMEL_FAULTS is the path of a file of one memory page. The wrappers and the test map this file. Faults can be
 * injected in release builds only, because sanitizers replace the allocator. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum fault_kind {
    FAULT_MEMORY,   /* malloc and related functions return NULL */
    FAULT_WRITE,    /* writing to a file of the store fails */
    FAULT_READ,     /* reading a file of the store fails */
    FAULT_SYNC,     /* synchronizing a file of the store fails */
    FAULT_TRUNCATE, /* truncating a file of the store fails */
    FAULT_SEND,     /* sending to a socket fails */
    FAULT_RECEIVE,  /* receiving from a socket fails */
    FAULT_KINDS
} fault_kind;

typedef struct fault_site {
    atomic_long calls;           /* number of calls so far */
    atomic_long from, to, every; /* calls `from`, `from + every`, ... up to `to` fail; if `from` is 0, no call fails */
    atomic_int error;            /* errno of the fault; if 0, reads and writes transfer half of the bytes */
} fault_site;

typedef struct faults {
    fault_site sites[FAULT_KINDS];
    atomic_long live;        /* number of allocated blocks */
    atomic_long free_bytes;  /* free disk space to report, in bytes; if 0, report the actual free space */
    atomic_long clock_shift; /* in seconds, added to CLOCK_REALTIME */
    atomic_bool copying;     /* copy files of the store when they are synchronized */
    atomic_long copies;      /* number of copies so far; copy k of a file is FILE.k */
} faults;

/* Call first in main. If the wrappers are not loaded, restarts the program with them. If the restart fails, prints a
 * message and returns NULL. The caller must then skip its tests. */
faults *faults_here(int argc, char **argv);

/* Daemons that are started between these two calls load the wrappers. */
faults *faults_begin(void);
void faults_end(void);

/* Makes call number `nth` (from 1) fail. If `lasting` is set, all later calls fail too. */
void fault_order(faults *f, fault_kind kind, long nth, bool lasting, int error);
void fault_order_every(faults *f, fault_kind kind, long every, int error);

/* Stops injecting faults of the kind `kind`. Returns the number of calls since fault_order or fault_order_every. */
long fault_cancel(faults *f, fault_kind kind);
