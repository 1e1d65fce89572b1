/* parser_fault.c — checks of the errors of engine/text/parser.c. */
#include "tests/unit/parser_fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void check_fault(const char *text, syntax_goal goal, int column, const char *part, const char *file, int line) {
    arena memory;
    arena_init(&memory, 0);
    hamel_error error = {0};
    syntax code;
    hamel_status status = syntax_parse(&code, &memory, text, strlen(text), goal, "/e", &error);
    bool right = status == HAMEL_INVALID && error.count == 1 && error.faults[0].column == column &&
                 strcmp(error.faults[0].pointer, "/e") == 0 && error.faults[0].expression != NULL &&
                 strcmp(error.faults[0].expression, text) == 0;
    if (right) {
        const char *suggestion = error.faults[0].suggestion;
        right =
            strstr(error.faults[0].message, part) != NULL || (suggestion != NULL && strstr(suggestion, part) != NULL);
    }
    if (!right && error.count > 0) {
        print_error("%s: column %d: %s\n", text, error.faults[0].column, error.faults[0].message);
    } else if (!right) {
        print_error("%s: status %d\n", text, (int)status);
    }
    hamel_error_clear(&error);
    arena_free(&memory);
    if (!right) _fail(file, line);
}
