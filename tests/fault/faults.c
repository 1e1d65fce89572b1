/* faults.c — control of injected faults. */
#include "tests/fault/faults.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *preload(void) {
    const char *set = getenv("HAMEL_PRELOAD");
    return set && *set ? set : "build/preload.so";
}

static faults *map(int file) {
    void *page = file >= 0 ? mmap(NULL, sizeof(faults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    return page == MAP_FAILED ? NULL : page;
}

/* Creates the file of the shared page and maps it. Processes that start later map the same file. */
static faults *publish(void) {
    char path[] = P_tmpdir "/hamel-faults-XXXXXX";
    char whole[PATH_MAX];
    if (!realpath(preload(), whole)) return NULL;
    int file = mkstemp(path);
    faults *f = file >= 0 && ftruncate(file, sizeof(faults)) == 0 ? map(file) : NULL;
    if (file >= 0) close(file);
    if (!f) return NULL;
    setenv("HAMEL_FAULTS", path, 1);
    setenv("LD_PRELOAD", whole, 1);
    return f;
}

faults *faults_here(int argc, char **argv) {
    (void)argc;
    const char *path = getenv("HAMEL_FAULTS");
    if (path) {
        int file = open(path, O_RDWR | O_CLOEXEC);
        faults *f = map(file);
        if (file >= 0) close(file);
        unlink(path); /* preload.c has already mapped the file */
        unsetenv("HAMEL_FAULTS");
        unsetenv("LD_PRELOAD");
        return f;
    }
#ifdef __SANITIZE_ADDRESS__
    return NULL;
#endif
    if (publish()) execv("/proc/self/exe", argv);
    fprintf(stderr, "# cannot load %s; build it with make build/preload.so\n", preload());
    return NULL;
}

faults *faults_begin(void) {
    return publish();
}

void faults_end(void) {
    const char *path = getenv("HAMEL_FAULTS");
    if (path) unlink(path);
    unsetenv("HAMEL_FAULTS");
    unsetenv("LD_PRELOAD");
}

static void arm(fault_site *site, long from, long to, long every, int error) {
    atomic_store(&site->from, 0);
    atomic_store(&site->calls, 0);
    atomic_store(&site->to, to);
    atomic_store(&site->every, every);
    atomic_store(&site->error, error);
    atomic_store(&site->from, from);
}

void fault_order(faults *f, fault_kind kind, long nth, bool lasting, int error) {
    arm(&f->sites[kind], nth, lasting ? LONG_MAX : nth, 1, error);
}

void fault_order_every(faults *f, fault_kind kind, long every, int error) {
    arm(&f->sites[kind], every, LONG_MAX, every, error);
}

long fault_cancel(faults *f, fault_kind kind) {
    atomic_store(&f->sites[kind].from, 0);
    return atomic_load(&f->sites[kind].calls);
}
