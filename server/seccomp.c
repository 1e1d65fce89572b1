/* seccomp.c — filter of system calls; see seccomp.h. The lists contain the calls of the daemon, the C library, SQLite,
 * libpq, libmicrohttpd and GnuTLS. libseccomp omits calls that an architecture does not have. The tests run the daemon
 * with SECCOMP_KILL, so that a call missing from these lists ends the daemon. */
#include "server/seccomp.h"

#include "server/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* the C library uses this prctl() option to name memory mappings */
#endif

/* clang-format off */
/* Calls that every process may make: memory, open descriptors, signals, time. */
static const int computing[] = {
    SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(mremap), SCMP_SYS(munmap),
    SCMP_SYS(close), SCMP_SYS(fcntl), SCMP_SYS(fstat), SCMP_SYS(ftruncate), SCMP_SYS(newfstatat), SCMP_SYS(read),
    SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(write), SCMP_SYS(writev),
    SCMP_SYS(clock_getres), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(exit), SCMP_SYS(exit_group),
    SCMP_SYS(futex), SCMP_SYS(getpid), SCMP_SYS(getrandom), SCMP_SYS(getrusage), SCMP_SYS(gettid),
    SCMP_SYS(gettimeofday), SCMP_SYS(nanosleep), SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_yield),
    SCMP_SYS(sysinfo),
};

static const int serving[] = {
    /* files */
    SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fallocate), SCMP_SYS(fchmod),
    SCMP_SYS(fchown), SCMP_SYS(fdatasync), SCMP_SYS(flock), SCMP_SYS(fstatfs), SCMP_SYS(fsync), SCMP_SYS(getcwd),
    SCMP_SYS(getdents64), SCMP_SYS(lseek), SCMP_SYS(lstat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(open),
    SCMP_SYS(openat), SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(readv), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(stat), SCMP_SYS(statfs), SCMP_SYS(statx),
    SCMP_SYS(umask), SCMP_SYS(unlink), SCMP_SYS(unlinkat),
    /* sockets and polling */
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(bind), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_wait), SCMP_SYS(eventfd2), SCMP_SYS(getpeername), SCMP_SYS(getsockname),
    SCMP_SYS(getsockopt), SCMP_SYS(listen), SCMP_SYS(pipe2), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(recvmsg),
    SCMP_SYS(sendmmsg), SCMP_SYS(sendmsg), SCMP_SYS(setsockopt), SCMP_SYS(shutdown),
    /* threads, signals, and waiting for the spawner (spawner.c) */
    SCMP_SYS(rseq), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(set_robust_list), SCMP_SYS(sigaltstack), SCMP_SYS(wait4),
    /* user ids and system name */
    SCMP_SYS(getegid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getuid), SCMP_SYS(uname),
};
/* clang-format on */

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int allow_all(scmp_filter_ctx filter, const int *calls, size_t count) {
    int failed = 0;
    for (size_t k = 0; !failed && k < count; k++) failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[k], 0);
    return failed;
}

enum { COMPUTES = 8, SERVES = 16 }; /* further groups of rules, in addition to the KEEP_ values */

/* Allows the calls of `groups` whose arguments fulfill a rule: (argument & mask) == value. Arguments are numbered from
 * 0. */
static int allow_arguments(scmp_filter_ctx filter, unsigned groups) {
    const scmp_datum_t whole = ~(scmp_datum_t)0, word = 0xffffffff, both = PROT_WRITE | PROT_EXEC;
    const struct rule {
        unsigned groups;
        int call;
        struct scmp_arg_cmp is;
    } rules[] = {
        {COMPUTES | SERVES, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, both, 0)},
        {COMPUTES | SERVES, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, both, PROT_WRITE)},
        {COMPUTES | SERVES, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {COMPUTES | SERVES, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_MASKED_EQ, word, PR_SET_VMA)},
        {COMPUTES | SERVES, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_MASKED_EQ, whole, 0)}, /* only reads limits */
        /* may change the limit of processor time (analysis_process.c), and no other limit */
        {COMPUTES, SCMP_SYS(prlimit64), SCMP_A1(SCMP_CMP_MASKED_EQ, word, RLIMIT_CPU)},
        {SERVES, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)}, /* threads, no processes */
        {SERVES, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_MASKED_EQ, word, AF_INET)},
        {SERVES, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_MASKED_EQ, word, AF_INET6)},
        {SERVES, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_MASKED_EQ, word, AF_UNIX)},
        {SERVES, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_MASKED_EQ, word, (scmp_datum_t)getpid())}, /* abort() and raise() */
        {SERVES, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_MASKED_EQ, word, PR_SET_NAME)},
        {SERVES, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, word, FIONBIO)},
        {SERVES, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, word, FIONREAD)}, /* used by the host name resolver */
        /* executable mappings of memory files, in which engine/compile/native.c writes machine code */
        {KEEP_CODE, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, both, PROT_EXEC)},
    };
    int failed = 0;
    for (size_t k = 0; !failed && k < COUNT(rules); k++)
        if (rules[k].groups & groups)
            failed = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rules[k].call, 1, &rules[k].is);
    return failed;
}

static int add_rules(scmp_filter_ctx filter, bool kills, bool serves, unsigned keeps) {
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree instead of a list */
    if (!failed) failed = allow_all(filter, computing, COUNT(computing));
    if (!failed && serves) failed = allow_all(filter, serving, COUNT(serving));
    if (!failed) failed = allow_arguments(filter, keeps | (serves ? SERVES : COMPUTES));
    if (!failed && (keeps & KEEP_CODE)) failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(memfd_create), 0);
    if (!failed && (keeps & KEEP_CONNECT)) failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(connect), 0);
    /* A filter cannot read the arguments of clone3, which are in memory. After ENOSYS the C library uses clone. */
    if (!failed && kills) failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return failed;
}

static bool refuse_filter(char *message, size_t room, int reason) {
    return failed_with(message, room, "--seccomp: cannot install the filter: %s", strerror(reason));
}

/* Returns a complete filter, which the caller releases with seccomp_release. On failure returns NULL with a message. */
static scmp_filter_ctx make_filter(seccomp_mode how, bool serves, unsigned keeps, char *message, size_t room) {
    bool kills = how == SECCOMP_KILL;
    scmp_filter_ctx filter = seccomp_init(kills ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(ENOSYS));
    int failed = filter ? add_rules(filter, kills, serves, keeps) : -ENOTSUP;
    if (!failed) return filter;
    seccomp_release(filter);
    refuse_filter(message, room, -failed);
    return NULL;
}

bool seccomp_install(seccomp_mode how, unsigned keeps, char *message, size_t room) {
    if (how == SECCOMP_OFF) return true;
    scmp_filter_ctx filter = make_filter(how, true, keeps, message, room);
    if (!filter) return false;
    int failed = seccomp_load(filter);
    seccomp_release(filter);
    return !failed || refuse_filter(message, room, -failed);
}

/* libseccomp exports to a descriptor only, here to a pipe. The pipe (64 KiB) can hold the longest possible filter (32
 * KiB), so the export does not block. */
static int export(scmp_filter_ctx filter, seccomp_filter *out) {
    int ends[2], failed = pipe2(ends, O_CLOEXEC) == 0 ? 0 : -errno;
    if (failed) return failed;
    failed = seccomp_export_bpf(filter, ends[1]);
    close(ends[1]);
    ssize_t n = failed ? 0 : read(ends[0], out->instructions, sizeof out->instructions);
    close(ends[0]);
    out->count = n > 0 ? (unsigned short)((size_t)n / sizeof *out->instructions) : 0;
    return failed ? failed : out->count ? 0 : -ENOMEM;
}

bool seccomp_filter_make(seccomp_filter *out, seccomp_mode how, unsigned keeps, char *message, size_t room) {
    out->count = 0;
    if (how == SECCOMP_OFF) return true;
    scmp_filter_ctx filter = make_filter(how, false, keeps, message, room);
    if (!filter) return false;
    int failed = export(filter, out);
    seccomp_release(filter);
    return !failed || refuse_filter(message, room, -failed);
}

bool seccomp_install_filter(const seccomp_filter *filter) {
    const struct sock_fprog program = {filter->count, (struct sock_filter *)(uintptr_t)filter->instructions};
    return filter->count == 0 ||
           (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

bool seccomp_mode_named(const char *name, seccomp_mode *out) {
    static const char *const names[] = {"off", "on", "kill"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (strcmp(name, names[k]) != 0) continue;
        *out = (seccomp_mode)k;
        return true;
    }
    return false;
}
