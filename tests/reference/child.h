/* child.h — runs a program to its end and stores its output, for tests of the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct child_result {
    int exit_code;  /* 128 + n if signal n ended the program, as in a shell */
    bool timed_out; /* killed because of the time limit or too much output */
    char *output;   /* stdout, NUL-terminated; child_result_clear frees the text */
    char *errors;   /* stderr, NUL-terminated; child_result_clear frees the text */
    size_t output_length, errors_length;
} child_result;

/* Runs the program argv[0], a path, with empty stdin for at most `seconds`. argv is NULL-terminated. If the program
 * cannot be started or polled, sets errno and returns false. The caller clears *result in either case. */
bool child_run(child_result *result, const char *const *argv, double seconds);
void child_result_clear(child_result *result);
