/* bar.h — a progress bar on stderr, where that is a terminal. */
#ifndef HAMEL_CLI_BAR_H
#define HAMEL_CLI_BAR_H

#include <stdbool.h>

typedef struct bar {
    bool wanted, drawn;
} bar;

/* `rows_on_stdout`: a bar between rows on the same terminal would only disturb them. */
void bar_init(bar *b, bool rows_on_stdout);
void bar_show(bar *b, double fraction); /* from 0 to 1 */
void bar_erase(bar *b);                 /* before anything else is said */

#endif
