/* bar.c — see bar.h. */
#include "clients/cli/bar.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 40 };

void bar_init(bar *b, bool rows_on_stdout) {
    *b = (bar){.wanted = isatty(STDERR_FILENO) && !(rows_on_stdout && isatty(STDOUT_FILENO))};
}

void bar_show(bar *b, double fraction) {
    if (!b->wanted) return;
    int done = (int)(fraction * WIDTH);
    fprintf(stderr, "\r[%.*s%*s] %3d %%", done, "########################################", WIDTH - done, "",
            (int)(fraction * 100));
    b->drawn = true;
}

void bar_erase(bar *b) {
    if (b->drawn) fputs("\r\033[K", stderr);
    b->drawn = false;
}
