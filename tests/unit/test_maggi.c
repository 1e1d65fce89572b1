/* test_maggi.c — engine/mechanics/maggi.c, compared with Lagrange's equations. */
#include "tests/unit/agreement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void accelerations_and_reactions_agree_with_lagrange(void **state) {
    (void)state;
    assert_accelerations_agree("maggi", 0);
}

static void trajectories_agree_with_lagrange(void **state) {
    (void)state;
    assert_motions_agree("maggi", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_and_reactions_agree_with_lagrange),
        cmocka_unit_test(trajectories_agree_with_lagrange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
