/* periodic.h — a thread that calls a function at intervals until it is stopped. */
#pragma once

typedef struct periodic periodic;

/* Called periodically; returns the seconds until the next call. */
typedef double periodic_step(void *context);

/* Calls `step` after `seconds` for the first time. Returns NULL if out of memory or if no thread can be created.
 * `name` has at most 15 bytes and must stay valid. */
periodic *periodic_start(const char *name, double seconds, periodic_step *step, void *context);
void periodic_stop(periodic *p); /* waits until a running call has returned; no-op for NULL */
