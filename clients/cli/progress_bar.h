/* progress_bar.h — progress bar on stderr, shown only if stderr is a terminal. */
#pragma once

#include <stdbool.h>

typedef struct progress_bar {
    bool wanted, drawn;
} progress_bar;

/* `rows_on_stdout`: the command prints rows to stdout. If stdout is also a terminal, no bar is shown. */
void progress_bar_init(progress_bar *b, bool rows_on_stdout);
void progress_bar_show(progress_bar *b, double fraction); /* fraction: 0 to 1 */
void progress_bar_erase(progress_bar *b);                 /* call before other output to the terminal */
