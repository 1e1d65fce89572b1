/* library.h — shared libraries that only some commands use, loaded when they are needed.
 *
 * libcurl and libcairo depend on 50 further libraries. When the program was linked to libcurl and libcairo, `hamel run`
 * of a pendulum took 12 ms of processor time. Loading these libraries took 8 ms of this time. */
#pragma once

#include <stddef.h>

typedef struct library_function {
    const char *name;
    void **pointer; /* set to the address of the function */
} library_function;

/* Loads a library and finds its functions. The library stays loaded. Thread-safe. Returns NULL, or the reason for the
 * failure, a text that is valid until the thread calls a function of dlfcn.h. */
const char *library_load(const char *file, const library_function *functions, size_t count);
