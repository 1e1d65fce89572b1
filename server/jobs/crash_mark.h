/* crash_mark.h — which job was running in the thread that crashed the daemon.
 *
 * A job that crashes its daemon must not do so for ever, but a daemon may also be killed, or lose its power, with any
 * number of innocent jobs under way. So a fatal signal raised by a worker's own thread leaves a mark with the job of
 * that thread in a file, and the next start counts the marks. Nothing else counts as a crash of a job. */
#ifndef HAMEL_SERVER_JOBS_CRASH_MARK_H
#define HAMEL_SERVER_JOBS_CRASH_MARK_H

#include <stdint.h>

typedef struct crash_mark {
    int64_t number, attempt;
} crash_mark;

/* From now on marks go to `descriptor` (a file opened for appending), until crash_marks_end. Once in a process. */
void crash_marks_begin(int descriptor);
void crash_marks_end(void);

/* The calling thread begins to run this job; a number of 0: none. */
void crash_mark_thread(int64_t number, int64_t attempt);

/* Gives the calling thread a stack for signal handlers, so that running out of the ordinary one is marked as well;
 * `stack` has CRASH_STACK_BYTES and outlives the thread. */
enum { CRASH_STACK_BYTES = 64 * 1024 };
void crash_stack_use(void *stack);

#endif
