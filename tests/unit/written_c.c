/* written_c.c — compilation and loading of generated C. */
#include "tests/unit/written_c.h"

#include "tests/reference/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dlfcn.h>

#include <cmocka.h>

void program_of_c_open(program_of_c *p, const char *text) {
    char directory[] = P_tmpdir "/hamel-written-XXXXXX", path[64], library[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/equations.c", directory);
    snprintf(library, sizeof library, "%s/equations.so", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const char *const argv[] = {"/usr/bin/env", "cc",    "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1",
                                "-shared",      "-fPIC", path,       "-o",    library,   "-lm",     NULL};
    child_result result = {0};
    assert_true(child_run(&result, argv, 60));
    if (result.exit_code != 0) print_message("%s\n", result.errors);
    assert_int_equal(result.exit_code, 0);
    child_result_clear(&result);
    p->library = dlopen(library, RTLD_NOW);
    assert_non_null(p->library);
    *(void **)&p->rates = dlsym(p->library, "rates");
    *(void **)&p->velocities = dlsym(p->library, "velocities");
    assert_non_null(p->rates);
    unlink(path);
    unlink(library);
    rmdir(directory);
}

void program_of_c_close(program_of_c *p) {
    dlclose(p->library);
    p->library = NULL;
}
