/* preload.c — wrappers of functions of the C library: see tests/fault/faults.h. The wrappers change nothing unless a
 * test requests faults in the mapped page. */
#include "tests/fault/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static faults *page; /* NULL if no test has requested faults */

static bool asked(fault_kind kind) {
    return page && atomic_load_explicit(&page->sites[kind].from, memory_order_relaxed) > 0;
}

/* Counts a call; returns true if it must fail. */
static bool due(fault_kind kind) {
    if (!asked(kind)) return false;
    fault_site *site = &page->sites[kind];
    long call = atomic_fetch_add(&site->calls, 1) + 1, from = atomic_load(&site->from),
         every = atomic_load(&site->every);
    return from > 0 && call >= from && call <= atomic_load(&site->to) && (call - from) % every == 0;
}

/* Returns the errno of the fault, or 0 if the call transfers half of the bytes. */
static int error_of(fault_kind kind) {
    return atomic_load(&page->sites[kind].error);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* Code ranges of libraries that abort, or use a null pointer, if an allocation fails. Only analysis processes call
 * FLINT, GMP and MPFR. Before calls of the other libraries, hamel checks the free memory
 * (engine/base/memory_left.h). */
typedef struct span {
    uintptr_t from, to;
} span;
static span unforgiving[8];
static size_t unforgiving_count;

static int note_library(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size, (void)context;
    static const char *const names[] = {"libflint", "libgmp", "libmpfr", "libsundials"};
    bool found = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) found = found || strstr(library->dlpi_name, names[k]);
    for (int k = 0; found && k < library->dlpi_phnum && unforgiving_count < 8; k++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[k];
        uintptr_t at = library->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_X)
            unforgiving[unforgiving_count++] = (span){at, at + part->p_memsz};
    }
    return 0;
}

/* GnuTLS registers its own allocation functions in GMP, which abort on failure. Ignore them, so that GMP itself remains
 * the caller of its allocations and is recognized as a library that aborts. */
typedef void *take_memory(size_t size);
typedef void *change_memory(void *block, size_t before, size_t size);
typedef void give_memory(void *block, size_t size);

void __gmp_set_memory_functions(take_memory *take, change_memory *change, give_memory *give) {
    (void)take, (void)change, (void)give;
}

/* Depth of nested calls of ut_parse, in which allocations succeed because UDUNITS does not handle failures. */
static _Thread_local int sheltered;

void *ut_parse(const void *system, const char *text, int encoding) {
    typedef void *parse(const void *, const char *, int);
    parse *next = (parse *)(uintptr_t)dlsym(RTLD_NEXT, "ut_parse");
    sheltered++;
    void *unit = next(system, text, encoding);
    sheltered--;
    return unit;
}

static bool starves(const void *caller) {
    if (!asked(FAULT_MEMORY) || sheltered > 0) return false;
    for (size_t k = 0; k < unforgiving_count; k++) {
        if ((uintptr_t)caller >= unforgiving[k].from && (uintptr_t)caller < unforgiving[k].to) return false;
    }
    return due(FAULT_MEMORY);
}

static void *counted(void *block) {
    if (block && page) atomic_fetch_add(&page->live, 1);
    return block;
}

static void *refused(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) {
    return starves(__builtin_return_address(0)) ? refused() : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    return starves(__builtin_return_address(0)) ? refused() : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    if (size > 0 && starves(__builtin_return_address(0))) return refused();
    void *moved = __libc_realloc(block, size);
    if (!block) return counted(moved);
    if (size == 0 && page) atomic_fetch_sub(&page->live, 1);
    return moved;
}

void *memalign(size_t alignment, size_t size) {
    return starves(__builtin_return_address(0)) ? refused() : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *block = found;
    return 0;
}

void free(void *block) {
    if (block && page) atomic_fetch_sub(&page->live, 1);
    __libc_free(block);
}

/* ---- files of the store ----------------------------------------------------------------------------------------- */

static bool path_of(int file, char path[PATH_MAX]) {
    char link[48];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static bool of_store(int file) {
    char path[PATH_MAX];
    int before = errno;
    bool found = path_of(file, path) && strstr(path, ".db") != NULL && strstr(path, "-shm") == NULL;
    errno = before;
    return found;
}

/* If this call on a file of the store must fail, sets errno and returns true. If the fault is a partial transfer,
 * halves *size. */
static bool fails(fault_kind kind, int file, size_t *size) {
    if (!asked(kind) || !of_store(file) || !due(kind)) return false;
    int error = error_of(kind);
    errno = error;
    if (error == 0 && *size > 1) *size /= 2;
    return error != 0;
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
    return fails(FAULT_WRITE, file, &size) ? -1 : syscall(SYS_pwrite64, file, bytes, size, at);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    return pwrite64(file, bytes, size, at);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t at) {
    return fails(FAULT_READ, file, &size) ? -1 : syscall(SYS_pread64, file, bytes, size, at);
}

ssize_t pread(int file, void *bytes, size_t size, off_t at) {
    return pread64(file, bytes, size, at);
}

int ftruncate64(int file, off64_t length) {
    size_t none = 0;
    return fails(FAULT_TRUNCATE, file, &none) ? -1 : (int)syscall(SYS_ftruncate, file, length);
}

int ftruncate(int file, off_t length) {
    return ftruncate64(file, length);
}

/* Copies a synchronized file. After a power failure at this time, the disk would contain the latest copies. */
static void keep_copy(int file) {
    char path[PATH_MAX], name[PATH_MAX + 32], bytes[65536];
    if (!path_of(file, path) || !of_store(file)) return;
    snprintf(name, sizeof name, "%s.%ld", path, atomic_load(&page->copies) + 1);
    int copy = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n;
    for (off_t at = 0; copy >= 0 && (n = syscall(SYS_pread64, file, bytes, sizeof bytes, at)) > 0; at += n)
        if (syscall(SYS_write, copy, bytes, n) != n) abort();
    if (copy >= 0) close(copy);
    atomic_fetch_add(&page->copies, 1);
}

static int synchronize(long number, int file) {
    size_t none = 0;
    if (fails(FAULT_SYNC, file, &none)) return -1;
    int result = (int)syscall(number, file);
    if (result == 0 && page && atomic_load(&page->copying)) keep_copy(file);
    return result;
}

int fsync(int file) {
    return synchronize(SYS_fsync, file);
}

int fdatasync(int file) {
    return synchronize(SYS_fdatasync, file);
}

int fstatvfs(int file, struct statvfs *about) {
    typedef int look(int, struct statvfs *);
    look *next = (look *)(uintptr_t)dlsym(RTLD_NEXT, "fstatvfs");
    int result = next(file, about);
    long bytes = page ? atomic_load(&page->free_bytes) : 0;
    if (result == 0 && bytes > 0) about->f_bavail = about->f_bfree = (fsblkcnt_t)bytes / about->f_frsize;
    return result;
}

/* ---- sockets: only whole calls fail, because a partial transfer just means that the buffer is full --------------- */

static bool breaks(fault_kind kind) {
    if (!due(kind)) return false;
    errno = error_of(kind);
    return true;
}

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    return breaks(FAULT_SEND) ? -1 : syscall(SYS_sendto, socket, bytes, size, flags, NULL, 0);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    return breaks(FAULT_SEND) ? -1 : syscall(SYS_sendmsg, socket, message, flags);
}

ssize_t recv(int socket, void *bytes, size_t size, int flags) {
    return breaks(FAULT_RECEIVE) ? -1 : syscall(SYS_recvfrom, socket, bytes, size, flags, NULL, NULL);
}

/* ---- the clock -------------------------------------------------------------------------------------------------- */

static time_t shift(void) {
    return page ? (time_t)atomic_load(&page->clock_shift) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, now, zone);
    if (result == 0) now->tv_sec += shift();
    return result;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void find_page(void) {
    const char *path = getenv("HAMEL_FAULTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof(faults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    dl_iterate_phdr(note_library, NULL);
    if (mapped != MAP_FAILED) page = mapped;
}
