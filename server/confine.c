/* confine.c — see confine.h. What is listed is what the daemon, the C library, SQLite, libpq, libmicrohttpd and GnuTLS ask
 * for; a call that a machine does not have is left out by libseccomp. The tests of the daemon run confined to this list,
 * and end with it where it is left. */
#include "server/confine.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* the C library names memory by it */
#endif

/* clang-format off */
static const int plain[] = {
    /* memory */
    SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(mremap), SCMP_SYS(munmap),
    /* files */
    SCMP_SYS(access), SCMP_SYS(close), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fallocate), SCMP_SYS(fchmod),
    SCMP_SYS(fchown), SCMP_SYS(fcntl), SCMP_SYS(fdatasync), SCMP_SYS(flock), SCMP_SYS(fstat), SCMP_SYS(fstatfs),
    SCMP_SYS(fsync), SCMP_SYS(ftruncate), SCMP_SYS(getcwd), SCMP_SYS(getdents64), SCMP_SYS(lseek), SCMP_SYS(lstat),
    SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(newfstatat), SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(pread64),
    SCMP_SYS(pwrite64), SCMP_SYS(read), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(readv), SCMP_SYS(rename),
    SCMP_SYS(renameat), SCMP_SYS(stat), SCMP_SYS(statfs), SCMP_SYS(statx), SCMP_SYS(umask), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(write), SCMP_SYS(writev),
    /* sockets, and waiting for them */
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(bind), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_wait), SCMP_SYS(eventfd2), SCMP_SYS(getpeername), SCMP_SYS(getsockname),
    SCMP_SYS(getsockopt), SCMP_SYS(listen), SCMP_SYS(pipe2), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg), SCMP_SYS(sendmmsg), SCMP_SYS(sendmsg), SCMP_SYS(sendto), SCMP_SYS(setsockopt), SCMP_SYS(shutdown),
    /* threads, signals, time */
    SCMP_SYS(clock_getres), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(exit), SCMP_SYS(exit_group),
    SCMP_SYS(futex), SCMP_SYS(gettimeofday), SCMP_SYS(nanosleep), SCMP_SYS(restart_syscall), SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_yield), SCMP_SYS(set_robust_list), SCMP_SYS(sigaltstack),
    /* who and where */
    SCMP_SYS(getegid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getpid), SCMP_SYS(getrandom), SCMP_SYS(getrusage),
    SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(sysinfo), SCMP_SYS(uname),
};
/* clang-format on */

/* A call that is allowed when its arguments, counted from 0, are these; `mask` picks the bits that count. */
typedef struct condition {
    int call;
    unsigned argument;
    scmp_datum_t mask, value;
} condition;

static const scmp_datum_t whole = ~(scmp_datum_t)0, word = 0xffffffff;

static int allow(scmp_filter_ctx filter, const condition *c) {
    struct scmp_arg_cmp is = {c->argument, SCMP_CMP_MASKED_EQ, c->mask, c->value};
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, c->call, 1, &is);
}

static int allow_conditional(scmp_filter_ctx filter) {
    const scmp_datum_t both = PROT_WRITE | PROT_EXEC;
    const condition conditions[] = {
        {SCMP_SYS(mmap), 2, both, 0},
        {SCMP_SYS(mmap), 2, both, PROT_WRITE},
        {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
        {SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD}, /* threads, no processes */
        {SCMP_SYS(socket), 0, word, AF_INET},
        {SCMP_SYS(socket), 0, word, AF_INET6},
        {SCMP_SYS(socket), 0, word, AF_UNIX},
        {SCMP_SYS(tgkill), 0, word, (scmp_datum_t)getpid()}, /* abort and raise */
        {SCMP_SYS(prctl), 0, word, PR_SET_NAME},
        {SCMP_SYS(prctl), 0, word, PR_SET_VMA},
        {SCMP_SYS(ioctl), 1, word, FIONBIO},
        {SCMP_SYS(ioctl), 1, word, FIONREAD}, /* the resolver of names */
        {SCMP_SYS(prlimit64), 2, whole, 0},   /* looking */
    };
    int failed = 0;
    for (size_t k = 0; !failed && k < sizeof conditions / sizeof conditions[0]; k++) {
        failed = allow(filter, &conditions[k]);
    }
    return failed;
}

/* memfd_create and an executable mapping of it: engine/compile/executable.c. */
static int allow_code(scmp_filter_ctx filter) {
    const condition executable = {SCMP_SYS(mmap), 2, PROT_WRITE | PROT_EXEC, PROT_EXEC};
    int failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(memfd_create), 0);
    return failed ? failed : allow(filter, &executable);
}

static int fill(scmp_filter_ctx filter, bool kills, unsigned keeps) {
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!failed) failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
    for (size_t k = 0; !failed && k < sizeof plain / sizeof plain[0]; k++) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain[k], 0);
    }
    if (!failed) failed = allow_conditional(filter);
    if (!failed && (keeps & KEEP_CODE)) failed = allow_code(filter);
    if (!failed && (keeps & KEEP_CONNECT)) failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(connect), 0);
    /* Its arguments lie in memory, which a filter cannot read. The C library takes clone where it is not known. */
    if (!failed && kills) failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return failed;
}

bool confine(confinement how, unsigned keeps, char *message, size_t room) {
    if (how == CONFINE_OFF) return true;
    bool kills = how == CONFINE_KILL;
    scmp_filter_ctx filter = seccomp_init(kills ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(ENOSYS));
    int failed = filter ? fill(filter, kills, keeps) : -ENOTSUP;
    if (!failed) failed = seccomp_load(filter);
    seccomp_release(filter);
    if (failed) snprintf(message, room, "--seccomp: the system takes no filter: %s", strerror(-failed));
    return !failed;
}

bool confinement_named(const char *name, confinement *out) {
    static const char *const names[] = {"off", "on", "kill"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (strcmp(name, names[k]) != 0) continue;
        *out = (confinement)k;
        return true;
    }
    return false;
}
