/* bench_startup.c — user and system CPU time of complete processes of the command line, for a small system.
 *
 * bench_startup [rounds]
 *
 * The program is $HAMEL, or build/hamel. Prints the minimum and the median of the rounds in milliseconds. The goal for
 * `run` is 5 ms. If `run` takes less, the time for creating processes dominates in a shell loop over small systems. */
#include "tests/bench/baselines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 31, ROUNDS_MAX = 1001, GOAL = 5 };

/* Returns the processor time of `hamel COMMAND FILE` in milliseconds. */
static double time_of(const char *hamel, const char *command, const char *file) {
    int status;
    struct rusage usage;
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) {
        int out = open("/dev/null", O_WRONLY);
        if (out >= 0) dup2(out, STDOUT_FILENO);
        execl(hamel, hamel, command, file, (char *)NULL);
        _exit(127);
    }
    require(wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, command);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **argv) {
    const struct {
        const char *command, *file;
    } runs[] = {{"--version", NULL},
                {"check", "api/examples/simple_pendulum.json"},
                {"run", "api/examples/simple_pendulum.json"},
                {"run", "api/examples/spherical_pendulum.json"}};
    const char *hamel = getenv("HAMEL") ? getenv("HAMEL") : "build/hamel";
    int rounds = count > 1 ? (int)strtol(argv[1], NULL, 10) : ROUNDS;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = ROUNDS;
    printf("processor time of a process, ms (goal for run: %d)      least   median\n", GOAL);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        double times[ROUNDS_MAX] = {0};
        for (int i = 0; i < rounds; i++) times[i] = time_of(hamel, runs[k].command, runs[k].file);
        qsort(times, (size_t)rounds, sizeof *times, by_size);
        printf("hamel %-9s %-40s %6.1f %8.1f\n", runs[k].command, runs[k].file ? runs[k].file : "", times[0],
               times[rounds / 2]);
    }
    return 0;
}
