/* test_boltzmann_hamel.c — engine/mechanics/boltzmann_hamel.c, compared with Lagrange's equations. */
#include "tests/unit/agreement.h"
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { CANNOT_SERVE = HAS_ACCELERATION_ENERGY | HAS_NONLINEAR_CONSTRAINT };

static void accelerations_and_reactions_agree_with_lagrange(void **state) {
    (void)state;
    assert_accelerations_agree("boltzmann-hamel", CANNOT_SERVE);
}

static void trajectories_agree_with_lagrange(void **state) {
    (void)state;
    assert_motions_agree("boltzmann-hamel", CANNOT_SERVE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_and_reactions_agree_with_lagrange),
        cmocka_unit_test(trajectories_agree_with_lagrange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
