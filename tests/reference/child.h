/* child.h — runs a program to its end and keeps what it wrote. For tests that check the command line from outside. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct child_result {
    int exit_code;         /* 128 + n when signal n ended it, as in a shell */
    bool timed_out;        /* it was killed, for its time or for too much output */
    char *output, *errors; /* stdout and stderr, NUL-terminated; child_result_clear frees them */
    size_t output_length, errors_length;
} child_result;

/* Runs argv[0] (a path; NULL-terminated list) with an empty stdin for at most `seconds`. Returns false when it could
 * not be started or watched, with a reason in errno. *result is to be cleared in either case. */
bool child_run(child_result *result, const char *const *argv, double seconds);
void child_result_clear(child_result *result);
