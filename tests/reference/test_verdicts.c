/* test_verdicts.c — an analysis of each example finds the known properties.
 *
 * Degrees of freedom and kinds of constraints were determined by hand from these sources: Greenwood, Advanced Dynamics,
 * 4.7; Baruh, Analytical Dynamics, 4.3; Papastavridis, Analytical Mechanics, 2.2 to 2.13; Udwadia 2000; Talamucci 2015.
 * Velocity constraints are holonomic if they are integrable. Greenwood gives a sufficient condition: energy is
 * conserved if all forces have a potential, all constraints are conservative, and the Lagrangian does not contain
 * time. */
#include "api/analyze.h"

#include <cjson/cJSON.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
static const struct verdict {
    const char *name;
    int coordinates, freedoms;
    const char *velocity_constraints; /* "none" if there are no linear velocity constraints */
    /* timed: a constraint contains t; acatastatic: some constraint is acatastatic; conservative: energy is conserved */
    bool timed, acatastatic, conservative;
} verdicts[] = {
    {"greenwood_4_10_knife_edge_dumbbell",              3, 2, "nonholonomic",       false, false, true},
    {"greenwood_4_11_rolling_disk",                     5, 3, "nonholonomic",       false, false, true},
    {"greenwood_4_12_bead_on_hoop",                     1, 1, "none",               false, false, false},
    {"greenwood_4_13_turning_knife_edge",               3, 2, "nonholonomic",       true,  false, true},
    {"chaplygin_sleigh",                                3, 2, "nonholonomic",       false, false, true},
    {"appell_hamel_machine",                            3, 2, "none",               false, false, true},
    {"udwadia_2000_ring_friction",                      2, 1, "none",               false, false, false},
    {"baruh_4_2_cord_given_length",                     2, 1, "none",               true,  true,  false},
    {"baruh_4_2_cord_nonideal",                         2, 1, "holonomic",          false, false, false},
    {"baruh_4_2_cord_ideal",                            2, 1, "none",               false, false, true},
    {"baruh_4_4_double_link_on_incline",                2, 1, "none",               false, false, true},
    {"baruh_4_9_bead_on_hoop",                          3, 1, "none",               true,  true,  false},
    {"baruh_4_10_bead_on_hoop_by_angle",                1, 1, "none",               false, false, true},
    {"baruh_4_13_collar_with_friction",                 3, 2, "none",               false, false, false},
    {"baruh_ex_4_4_pursuit",                            2, 1, "nonholonomic",       true,  false, true},
    {"baruh_ex_4_5_tip_through_the_pivot",              2, 1, "holonomic",          false, false, true},
    {"baruh_ex_4_10_shortening_pendulum",               2, 2, "none",               false, false, false},
    {"baruh_ex_4_31_spinning_parabola",                 1, 1, "none",               false, false, true},
    {"baruh_ex_4_33_channel_on_cone",                   1, 1, "none",               false, false, true},
    {"baruh_ex_4_34_pendulum_on_arm",                   2, 2, "none",               false, false, true},
    {"baruh_ex_4_36_four_bar",                          3, 1, "none",               false, false, false},
    {"baruh_ex_4_37_platform_free_links",              15, 3, "none",               false, false, false},
    {"baruh_ex_4_37_platform_arms",                     7, 3, "none",               false, false, false},
    {"baruh_ex_4_38_redundant_two_link",                4, 2, "none",               false, false, false},
    {"baruh_ex_4_40_motor",                             2, 1, "holonomic",          false, true,  false},
    {"talamucci_3_1_pendulum_on_skate",                 5, 4, "nonholonomic",       false, false, true},
    {"talamucci_3_2_guided_skate",                      3, 2, "holonomic",          true,  true,  false},
    {"talamucci_3_3_unicycle",                          6, 4, "nonholonomic",       false, false, true},
    {"talamucci_3_4_driven_unicycle",                   5, 3, "nonholonomic",       true,  true,  false},
    {"papastavridis_1_17_15_rolling_half_disk",         2, 1, "holonomic",          false, false, true},
    {"papastavridis_2_2_2_ball_in_cylinder",            5, 3, "nonholonomic",       false, false, true},
    {"papastavridis_2_2_2_ball_in_spinning_cylinder",   6, 3, "nonholonomic",       true,  true,  false},
    {"papastavridis_2_2_3_ball_in_spinning_bowl",       6, 3, "nonholonomic",       false, true,  false},
    {"papastavridis_2_2_3_i_ball_on_spinning_ball",     7, 3, "nonholonomic",       false, true,  false},
    {"papastavridis_2_2_3_ii_ball_on_free_ball",       10, 6, "nonholonomic",       false, false, true},
    {"papastavridis_2_2_4_ishlinsky",                   6, 2, "nonholonomic",       false, false, true},
    {"papastavridis_2_4_3_double_pendulum_cartesian",   4, 2, "none",               false, false, true},
    {"papastavridis_2_13_1_skate",                      3, 2, "nonholonomic",       false, false, true},
    {"papastavridis_pr_2_13_1_knife_on_turntable",      3, 2, "nonholonomic",       false, true,  false},
    {"papastavridis_2_13_3_vertical_disk",              4, 2, "nonholonomic",       false, false, true},
    {"papastavridis_2_13_4_ball_on_plane",              7, 3, "partially holonomic",false, false, true},
    {"papastavridis_2_13_4_ball_without_pivoting",      5, 1, "holonomic",          false, false, true},
    {"papastavridis_2_13_5_ball_on_turntable",          5, 3, "nonholonomic",       false, true,  false},
    {"papastavridis_2_13_7_rolling_disk",               5, 3, "nonholonomic",       false, false, true},
    {"papastavridis_pr_2_13_3_disk_on_moving_plane",    5, 3, "nonholonomic",       true,  true,  false},
    {"papastavridis_2_13_8_two_wheels",                 5, 2, "partially holonomic",false, false, true},
    {"papastavridis_2_13_10_gyro_in_gimbals",           3, 3, "none",               false, false, true},
    {"papastavridis_3_5_3_turning_plane",               3, 2, "none",               true,  true,  false},
    {"papastavridis_3_5_4_sphere_and_plane",            3, 1, "none",               false, false, true},
    {"papastavridis_3_5_8_ii_lower_angle_given",        2, 1, "none",               true,  true,  false},
    {"papastavridis_pr_3_5_5_pendulum_of_given_length", 2, 1, "none",               true,  true,  false},
    {"baruh_4_14_vehicle",                              3, 2, "nonholonomic",       false, false, false},
    {"baruh_ex_4_28_cylinder_on_wedge",                 3, 2, "holonomic",          false, false, false},
    {"coin_on_incline",                                 4, 2, "nonholonomic",       false, false, true},
    {"suslov_body",                                     3, 2, "nonholonomic",       false, false, true},
};
/* clang-format on */
enum { VERDICTS = sizeof verdicts / sizeof verdicts[0] };

static const api_example *example_named(const char *name) {
    const api_example *e;
    for (size_t i = 0; (e = api_example_at(i)) != NULL; i++) {
        if (strcmp(e->name, name) == 0) return e;
    }
    return NULL;
}

static int number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valueint : -1;
}

/* Returns true if at least one constraint has this flag with this value. */
static bool any_constraint(const cJSON *answer, const char *flag, bool value) {
    const cJSON *c;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(answer, "constraints")) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(c, flag);
        if (cJSON_IsBool(item) && cJSON_IsTrue(item) == value) return true;
    }
    return false;
}

static void the_properties_agree_with_the_source(void **state) {
    const struct verdict *v = *state;
    const api_example *example = example_named(v->name);
    assert_non_null(example);
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    api_analysis_options asked = {.analyses = API_STRUCTURE};
    cJSON *answer = api_analyze(example->json, example->length, NULL, 0, &asked, &limits, NULL, v->name, &failure);
    if (answer == NULL) fail_msg("%s", failure.text != NULL ? failure.text : "no answer");
    const cJSON *holonomy = cJSON_GetObjectItemCaseSensitive(answer, "holonomy");
    const cJSON *verdict = cJSON_GetObjectItemCaseSensitive(holonomy, "verdict");
    assert_int_equal(number_of(answer, "coordinates"), v->coordinates);
    assert_int_equal(number_of(answer, "degrees_of_freedom"), v->freedoms);
    assert_true(cJSON_IsString(verdict));
    assert_string_equal(verdict->valuestring, v->velocity_constraints);
    assert_int_equal(any_constraint(answer, "time_dependent", true), v->timed);
    /* Papastavridis, section 2.2 and examples 2.2.2 and 2.2.3: scleronomic systems are catastatic */
    assert_int_equal(any_constraint(answer, "rheonomic", true), v->timed || v->acatastatic);
    assert_int_equal(any_constraint(answer, "catastatic", false), v->acatastatic);
    assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "conservative")), v->conservative);
    cJSON_Delete(answer);
    api_failure_clear(&failure);
}

int main(void) {
    struct CMUnitTest tests[VERDICTS] = {0};
    for (size_t i = 0; i < VERDICTS; i++) {
        tests[i].name = verdicts[i].name;
        tests[i].test_func = the_properties_agree_with_the_source;
        tests[i].initial_state = (void *)&verdicts[i];
    }
    return cmocka_run_group_tests_name("verdicts", tests, NULL, NULL);
}
