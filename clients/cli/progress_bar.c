/* progress_bar.c — see progress_bar.h. */
#include "clients/cli/progress_bar.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 40 };

void progress_bar_init(progress_bar *b, bool rows_on_stdout) {
    *b = (progress_bar){.wanted = isatty(STDERR_FILENO) && !(rows_on_stdout && isatty(STDOUT_FILENO))};
}

void progress_bar_show(progress_bar *b, double fraction) {
    if (!b->wanted) return;
    int done = (int)(fraction * WIDTH);
    fprintf(stderr, "\r[%.*s%*s] %3d %%", done, "########################################", WIDTH - done, "",
            (int)(fraction * 100));
    b->drawn = true;
}

void progress_bar_erase(progress_bar *b) {
    if (b->drawn) fputs("\r\033[K", stderr);
    b->drawn = false;
}
