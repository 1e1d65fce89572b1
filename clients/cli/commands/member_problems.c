/* member_problems.c — see member_problems.h. */
#include "clients/cli/commands/member_problems.h"

#include "clients/cli/cli.h"

enum { REPORTED_MOST = 20 };

void member_problems_say(member_problems *p, size_t member, const char *inputs, const char *problem) {
    if (p->reported++ < REPORTED_MOST)
        cli_say("%s: member %zu (%s): %s", p->file, member, inputs, problem);
    else if (p->reported == REPORTED_MOST + 1)
        cli_say("%s: see the column `problem` for the problems of the other members", p->file);
}
