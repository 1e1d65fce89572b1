/* library.h — shared libraries that only some commands use, loaded when they are needed.
 *
 * libcurl and libcairo depend on 50 further libraries. When they were linked to the program, they took 8 ms of the 12
 * ms of processor time of `hamel run` for a pendulum. */
#pragma once

#include <stddef.h>

typedef struct library_function {
    const char *name;
    void **pointer; /* set to the address of the function */
} library_function;

/* Loads a library, which then stays loaded, and finds its functions. Thread-safe. Returns NULL, or the reason of the
 * failure, which is valid until the thread calls a function of dlfcn.h. */
const char *library_load(const char *file, const library_function *functions, size_t count);
