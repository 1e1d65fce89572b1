/* member_problems.c — see member_problems.h. */
#include "clients/cli/member_problems.h"

#include "clients/cli/cli.h"

enum { TOLD_MOST = 20 };

void member_problems_say(member_problems *p, size_t member, const char *inputs, const char *problem) {
    if (p->told++ < TOLD_MOST)
        cli_say("%s: member %zu (%s): %s", p->file, member, inputs, problem);
    else if (p->told == TOLD_MOST + 1)
        cli_say("%s: what went wrong with others stands in the column `problem`", p->file);
}
