/* library.c — see library.h. */
#include "clients/cli/library.h"

#include <dlfcn.h>

const char *library_load(const char *file, const library_function *functions, size_t count) {
    void *library = dlopen(file, RTLD_NOW | RTLD_NODELETE);
    if (library == NULL) return dlerror();
    for (size_t k = 0; k < count; k++) {
        *functions[k].pointer = dlsym(library, functions[k].name);
        if (*functions[k].pointer == NULL) return dlerror();
    }
    return NULL;
}
