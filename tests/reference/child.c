/* child.c — runs one child process with a deadline and with pipes for stdout and stderr.
 *
 * This file uses posix_spawn because fork is slow in large test programs with a sanitizer. Both pipes are polled
 * together, so a child cannot block on a full pipe. If the output is too long, the child is killed. */
#include "tests/reference/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MOST_OUTPUT = 256 << 20 };

typedef struct stream {
    int fd; /* -1 after end of file */
    char *text;
    size_t length, capacity;
} stream;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads once. Returns false if the text is too long or memory is exhausted. */
static bool stream_read(stream *s) {
    if (s->capacity - s->length < 4097) {
        size_t capacity = s->capacity * 2 + 8192;
        char *text = capacity > MOST_OUTPUT ? NULL : realloc(s->text, capacity);
        if (text == NULL) return false;
        s->text = text;
        s->capacity = capacity;
    }
    ssize_t n = read(s->fd, s->text + s->length, s->capacity - s->length - 1);
    if (n > 0) {
        s->length += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
        close(s->fd);
        s->fd = -1;
    }
    s->text[s->length] = '\0';
    return true;
}

/* Reads both streams to their ends. Returns false at the deadline, or if a stream cannot be stored. */
static bool drain(stream streams[2], double deadline) {
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        double left = deadline - now();
        if (left <= 0) return false;
        struct pollfd p[2] = {{.fd = streams[0].fd, .events = POLLIN}, {.fd = streams[1].fd, .events = POLLIN}};
        if (poll(p, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR) return false;
        for (int i = 0; i < 2; i++) {
            if (streams[i].fd >= 0 && p[i].revents != 0 && !stream_read(&streams[i])) return false;
        }
    }
    return true;
}

static bool start(pid_t *pid, const char *const *argv, int out, int err) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    bool ready = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, out, 1) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, err, 2) == 0;
    int status = ready ? posix_spawn(pid, argv[0], &actions, NULL, (char *const *)argv, environ) : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    errno = status;
    return status == 0;
}

/* If the stream has no output, stores an empty text, not NULL. */
static bool finish(stream *s, char **text, size_t *length) {
    if (s->fd >= 0) close(s->fd);
    *text = s->text != NULL ? s->text : calloc(1, 1);
    *length = s->length;
    return *text != NULL;
}

bool child_run(child_result *result, const char *const *argv, double seconds) {
    *result = (child_result){.exit_code = -1};
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0) return false;
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    pid_t pid;
    bool started = start(&pid, argv, out[1], err[1]);
    int reason = errno;
    close(out[1]);
    close(err[1]);
    stream streams[2] = {{.fd = out[0]}, {.fd = err[0]}};
    if (started) {
        result->timed_out = !drain(streams, now() + seconds);
        if (result->timed_out) kill(pid, SIGKILL);
        int status;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    bool kept = finish(&streams[0], &result->output, &result->output_length);
    kept &= finish(&streams[1], &result->errors, &result->errors_length);
    errno = started ? ENOMEM : reason;
    return started && kept;
}

void child_result_clear(child_result *result) {
    free(result->output);
    free(result->errors);
    *result = (child_result){0};
}
