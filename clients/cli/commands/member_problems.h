/* member_problems.h — messages about the first incomplete or failed members of a sweep. */
#pragma once

#include <stddef.h>

typedef struct member_problems {
    const char *file; /* name in messages */
    size_t reported;  /* number of calls of member_problems_say */
} member_problems;

/* Prints the problem of a member. After 20 problems, one message refers to the table; further problems are not printed.
 * `inputs` lists the member's inputs: "l=1, a.initial=0.5". */
void member_problems_say(member_problems *p, size_t member, const char *inputs, const char *problem);
