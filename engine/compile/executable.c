/* executable.c — see executable.h. */
#include "engine/compile/executable.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool write_through_mapping(int file, const void *code, size_t size) {
    void *writable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (writable == MAP_FAILED) return false;
    memcpy(writable, code, size);
    return munmap(writable, size) == 0;
}

void *executable_make(const void *code, size_t size) {
    int file = memfd_create("hamel-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return NULL;
    void *made = MAP_FAILED;
    if (ftruncate(file, (off_t)size) == 0 && write_through_mapping(file, code, size) &&
        fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        made = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    (void)close(file);
    return made == MAP_FAILED ? NULL : made;
}

void executable_free(void *code, size_t size) {
    if (code) (void)munmap(code, size);
}
