/* spawner.c — forks processes for the daemon; see spawner.h. The daemon and the spawner exchange records of fixed size
 * over a socket that preserves message boundaries. */
#include "server/spawner.h"

#include "server/clock.h"
#include "server/log.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum order { ORDER_FORK, ORDER_SIGNAL, ORDER_END } order;

typedef struct command {
    order order;
    pid_t pid;
    int number; /* signal number */
} command;

typedef struct report {
    pid_t pid; /* pid of the new process; 0: the fork failed */
    spawned_end end;
} report;

static bool send_record(int to, const void *record, size_t length, int descriptor) {
    struct iovec part = {.iov_base = (void *)(size_t)record, .iov_len = length};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } rights = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        rights.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof descriptor), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&rights.head), &descriptor, sizeof descriptor);
        message.msg_control = rights.bytes;
        message.msg_controllen = sizeof rights.bytes;
    }
    ssize_t n;
    while ((n = sendmsg(to, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return n == (ssize_t)length;
}

/* Sets *descriptor to the received descriptor, or to −1 if no descriptor was sent. */
static bool receive_record(int from, void *record, size_t length, int *descriptor) {
    struct iovec part = {.iov_base = record, .iov_len = length};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } rights = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = rights.bytes, .msg_controllen = sizeof rights.bytes};
    ssize_t n;
    while ((n = recvmsg(from, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *descriptor = -1;
    if (head && head->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(head), sizeof *descriptor);
    return n == (ssize_t)length;
}

/* ---- in the spawner ---- */

/* Makes the kernel kill this process when its parent ends. If the parent ended before prctl, getppid has changed, and
 * this process exits. */
static void end_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
}

static pid_t fork_one(const spawner_work *work, int control, int *channel) {
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 0;
    pid_t pid = fork();
    if (pid == 0) {
        end_with_parent(parent);
        close(control);
        close(ends[0]);
        _exit(work->run(ends[1], work->context));
    }
    close(ends[1]);
    *channel = ends[0];
    return pid > 0 ? pid : 0;
}

static spawned_end end_one(pid_t pid) {
    struct rusage used = {0};
    spawned_end end = {0};
    kill(pid, SIGKILL);
    while (wait4(pid, &end.status, 0, &used) < 0 && errno == EINTR) {
    }
    end.cpu_seconds = clock_used_seconds(&used);
    return end;
}

/* Main loop of the spawner. Signals to the process group, as sent by a terminal, remain blocked as in the daemon. */
static _Noreturn void spawn(const spawner_work *work, int control) {
    command c;
    int none;
    prctl(PR_SET_NAME, work->name);
    work->prepare(work->context);
    while (receive_record(control, &c, sizeof c, &none)) {
        report answer = {0};
        int channel = -1;
        if (c.order == ORDER_SIGNAL) {
            kill(c.pid, c.number);
            continue;
        }
        if (c.order == ORDER_FORK) answer.pid = fork_one(work, control, &channel);
        if (c.order == ORDER_END) answer.end = end_one(c.pid);
        bool sent = send_record(control, &answer, sizeof answer, answer.pid ? channel : -1);
        if (channel >= 0) close(channel);
        if (!sent) break;
    }
    _exit(EXIT_SUCCESS);
}

/* ---- in the daemon ---- */

bool spawner_start(spawner *s, const spawner_work *work, char *message, size_t room) {
    int ends[2];
    pid_t parent = getpid();
    pid_t pid = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) pid = fork();
    if (pid < 0) /* the caller then exits, which closes the sockets */
        return failed_with(message, room, "cannot fork a process for %s: %s", work->name, strerror(errno));
    if (pid == 0) {
        end_with_parent(parent);
        close(ends[0]);
        spawn(work, ends[1]);
    }
    close(ends[1]);
    *s = (spawner){.control = ends[0], .pid = pid, .started = true};
    pthread_mutex_init(&s->lock, NULL);
    return true;
}

static bool request(spawner *s, command c, report *answer, int *descriptor) {
    pthread_mutex_lock(&s->lock);
    bool done =
        send_record(s->control, &c, sizeof c, -1) && receive_record(s->control, answer, sizeof *answer, descriptor);
    pthread_mutex_unlock(&s->lock);
    return done;
}

bool spawner_fork(spawner *s, spawned *out) {
    report answer;
    int channel;
    *out = (spawned){.channel = -1};
    if (!request(s, (command){.order = ORDER_FORK}, &answer, &channel) || answer.pid == 0) return false;
    if (channel < 0) { /* the daemon has no free descriptor */
        (void)request(s, (command){.order = ORDER_END, .pid = answer.pid}, &answer, &channel);
        return false;
    }
    *out = (spawned){.pid = answer.pid, .channel = channel};
    return true;
}

void spawner_signal(spawner *s, const spawned *process, int number) {
    const command c = {.order = ORDER_SIGNAL, .pid = process->pid, .number = number};
    pthread_mutex_lock(&s->lock);
    (void)send_record(s->control, &c, sizeof c, -1);
    pthread_mutex_unlock(&s->lock);
}

void spawner_end(spawner *s, spawned *process, spawned_end *end) {
    report answer = {0};
    int none;
    close(process->channel);
    if (!request(s, (command){.order = ORDER_END, .pid = process->pid}, &answer, &none)) answer = (report){0};
    *end = answer.end;
    *process = (spawned){.channel = -1};
}

bool spawner_has_ended(spawner *s) {
    if (s->pid <= 0 || waitpid(s->pid, NULL, WNOHANG) != s->pid) return false;
    s->pid = 0;
    return true;
}

void spawner_stop(spawner *s) {
    if (!s->started) return;
    close(s->control);
    while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    pthread_mutex_destroy(&s->lock);
    *s = (spawner){0};
}
