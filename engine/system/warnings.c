/* warnings.c — what a description can mean, but hardly does.
 *
 * A warning names a cause; the run goes on, and its summary shows it. */
#include "engine/system/elements.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WARNINGS_MAX = 20, WARNING_BYTES = 1000 };

void system_warn(hamel_system *s, const char *pointer, const char *format, ...) {
    char text[WARNING_BYTES];
    va_list arguments;
    if (s->warning_count > WARNINGS_MAX) return;
    if (s->warned && strcmp(s->warned, pointer) == 0) return; /* one member speaks for a family */
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char **all = arena_grow(s->memory, s->warnings, &s->warning_capacity, s->warning_count + 1, sizeof *all);
    char *own = s->warning_count == WARNINGS_MAX ? arena_format(s->memory, "there are more warnings of this kind")
                                                 : arena_format(s->memory, "%s: %s", pointer, text);
    if (!all || !own) {
        binder_graph_fault(s, pointer);
        return;
    }
    s->warnings = all;
    s->warned = pointer;
    all[s->warning_count++] = own;
}
