/* seccomp.h — filter of system calls (seccomp). With the filter the daemon cannot start programs, access or trace other
 * processes, mount, load modules, or change limits or users. The daemon can open only TCP, UDP and UNIX sockets. No
 * page can be writable and executable at once, or become executable later.
 *
 * The filter does not check paths: file permissions, systemd units and containers restrict access to files. */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum seccomp_mode {
    SECCOMP_OFF,
    SECCOMP_ON,  /* forbidden calls fail with ENOSYS, as on a kernel that does not have them */
    SECCOMP_KILL /* forbidden calls end the process (SIGSYS), for tests and strict installations */
} seccomp_mode;

/* Parses "off", "on" or "kill". Returns false for any other name. */
bool seccomp_mode_named(const char *name, seccomp_mode *out);

/* Optional groups of system calls. */
enum {
    KEEP_CODE = 1,   /* executable mappings of sealed memory files: for machine code */
    KEEP_CONNECT = 2 /* outgoing connections: for a database */
};

/* Installs the filter for all threads until the process ends. `keeps` is a sum of KEEP_ values. If the kernel rejects
 * the filter, returns false with a message. */
bool seccomp_install(seccomp_mode how, unsigned keeps, char *message, size_t room);

/* Filter for single-threaded processes that only compute. Such a process can use memory and open descriptors, and can
 * limit its processor time. The process cannot open files or sockets. One filter is built for many processes. */
typedef struct seccomp_filter {
    unsigned short count; /* number of instructions; 0: no filter */
    struct sock_filter instructions[BPF_MAXINSNS];
} seccomp_filter;

bool seccomp_filter_make(seccomp_filter *out, seccomp_mode how, unsigned keeps, char *message, size_t room);
bool seccomp_install_filter(const seccomp_filter *filter); /* false if the kernel rejects the filter */
