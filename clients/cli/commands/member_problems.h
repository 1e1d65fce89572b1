/* member_problems.h — what went wrong with members of a sweep, said to a person: the first few of them. */
#ifndef HAMEL_CLI_MEMBER_PROBLEMS_H
#define HAMEL_CLI_MEMBER_PROBLEMS_H

#include <stddef.h>

typedef struct member_problems {
    const char *file; /* what messages name */
    size_t told;
} member_problems;

/* `inputs` as in "l=1, a.initial=0.5". */
void member_problems_say(member_problems *p, size_t member, const char *inputs, const char *problem);

#endif
