/* confine.h — the system calls that the daemon keeps (seccomp). Once it is confined it cannot start programs, look into
 * other processes, mount, trace, load modules, change limits or users, or open sockets of other kinds than TCP, UDP and
 * UNIX ones; no page can be made writable and executable at once, and none executable later.
 *
 * Paths are not looked at: what may be read and written is the affair of users, units and containers. */
#ifndef HAMEL_SERVER_CONFINE_H
#define HAMEL_SERVER_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum confinement {
    CONFINE_OFF,
    CONFINE_ON, /* other calls fail with ENOSYS: libraries are prepared for kernels that do not know them */
    CONFINE_KILL /* other calls end the process (SIGSYS): for tests, and where a dead daemon is better than a changed one */
} confinement;

/* "off", "on", "kill". False when the name is none of them. */
bool confinement_named(const char *name, confinement *out);

/* What not every daemon needs. */
enum {
    KEEP_CODE = 1,   /* new executable pages, executable from the beginning and backed by sealed memory: machine code */
    KEEP_CONNECT = 2 /* connections to others: a database */
};

/* For all threads, until the process ends. `keeps`: the above, added. False with a message when the kernel takes no
 * filter. */
bool confine(confinement how, unsigned keeps, char *message, size_t room);

/* For a process without threads that only computes: it can use memory and the descriptors that it has, and limit its
 * processor time. It can open no file or socket. The filter is made once, and is a small one for many processes. */
typedef struct confine_filter {
    unsigned short count; /* 0: nothing is filtered */
    struct sock_filter instructions[BPF_MAXINSNS];
} confine_filter;

bool confine_filter_make(confine_filter *out, confinement how, unsigned keeps, char *message, size_t room);
bool confine_to(const confine_filter *filter); /* false when the kernel takes no filter */

#endif
