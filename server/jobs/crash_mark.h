/* crash_mark.h — marks the job whose thread crashed the daemon.
 *
 * A job must not crash its daemon repeatedly. But a daemon may also be killed or lose power for reasons that its
 * running jobs did not cause. So the handler of a fatal signal in a worker's thread writes the job of that thread to a
 * file. When the daemon starts again, it counts only these marks as crashes of a job. */
#pragma once

#include <stdint.h>

typedef struct crash_mark {
    int64_t number, attempt;
} crash_mark;

/* Writes marks to `descriptor` (a file opened for appending) until crash_marks_end. Call once per process. */
void crash_marks_begin(int descriptor);
void crash_marks_end(void);

/* Records the job that the calling thread runs; number 0: no job. */
void crash_mark_thread(int64_t number, int64_t attempt);

/* Sets a stack for signal handlers of the calling thread, so that a stack overflow is marked as well. `stack` has
 * CRASH_STACK_BYTES and must outlive the thread. */
enum { CRASH_STACK_BYTES = 64 * 1024 };
void crash_stack_use(void *stack);
