/* test_forces.c — multipliers and reactions in every kind of force. The system is a block of mass 2 on a floor with
 * the normal reaction N = 2 · 9.81. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK                                                                                   \
    "`parameters`: {`mu`: 0.2, `g`: 9.81}, `coordinates`: [{`name`: `x`, `velocity`: 3}, `y`]," \
    "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}], `gravity`: [0, `-g`],"    \
    "`constraints`: [{`name`: `floor`, `equation`: `y = 0`}],"                                  \
    "`outputs`: {`a`: `x''`, `rate`: `der(jacobi_integral()) - energy_rate()`},"

/* All systems start with x = 0 and x' = 3. `factor` is the force on the block at the start, divided by μ N. */
static const struct {
    const char *place;
    double factor;
} places[] = {
    {"`generalized_forces`: {`x`: `-mu*R`}", -1},
    {"`loads`: [{`on`: `P`, `force`: [`-mu*R`, 0]}]", -1},
    {"`dissipation`: `mu*R*x'`", -1},
    {"`dampers`: [{`between`: [`P`, [-1, 0]], `coefficient`: `mu*R/3`}]", -1},
    {"`springs`: [{`between`: [`P`, [-1, 0]], `stiffness`: `mu*R`}]", -1},
    {"`springs`: [{`between`: [`P`, [-1, 0]], `stiffness`: `mu*R`, `length`: 2}]", 1},
};

static void reactions_may_occur_in_every_force(void **state) {
    (void)state;
    static const char *const reactions[] = {"lambda(floor)", "reaction(floor, y)"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t k = 0; k < 2; k++) {
            char text[2000], name[100];
            int before = (int)(strchr(places[i].place, 'R') - places[i].place);
            snprintf(text, sizeof text, "%s%.*s%s%s", BLOCK, before, places[i].place, reactions[k],
                     places[i].place + before + 1);
            snprintf(name, sizeof name, "%s in place %zu", reactions[k], i);
            motion m = motion_run(text, "`stop`: 0.1, `samples`: 2");
            assert_near(name, motion_value(&m, 0, motion_column(&m, "a")), places[i].factor * 0.2 * 9.81, 1e-12);
            assert_below(name, motion_drift(&m, "rate"), 1e-9);
            motion_free(&m);
        }
}

static void a_reaction_is_rejected_outside_forces(void **state) {
    (void)state;
    static const char *const wrong[] = {"`potential_energy`: `reaction(floor, y)*x`",
                                        "`definitions`: {`N`: `reaction(floor, y)`}"};
    for (size_t i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s", BLOCK, wrong[i]);
        assert_fault(text, "reaction() may not be used here");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reactions_may_occur_in_every_force),
        cmocka_unit_test(a_reaction_is_rejected_outside_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
