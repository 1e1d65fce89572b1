/* test_structure.c — engine/analyze/structure.c: kinds and flags of constraints, rank, cyclic coordinates, conserved
 * quantities, compared with textbooks. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Checks that exactly the flags in `letters` are true. L: linear, T: time-dependent, C: catastatic, H: homogeneous, I:
 * ideal, V: conservative, R: redundant. */
static void expect_flags(const hamel_report *r, size_t c, const char *kind, const char *letters) {
    const hamel_constraint_facts *f = &r->constraints[c];
    char found[8] = "", *at = found;
    if (f->linear) *at++ = 'L';
    if (f->time_dependent) *at++ = 'T';
    if (f->catastatic) *at++ = 'C';
    if (f->homogeneous) *at++ = 'H';
    if (f->ideal) *at++ = 'I';
    if (f->conservative) *at++ = 'V';
    if (f->redundant) *at++ = 'R';
    *at = '\0';
    assert_string_equal(f->kind, kind);
    assert_string_equal(found, letters);
}

static void expect_names(const hamel_names *names, const char *list) {
    char found[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < names->count; i++) {
        size_t length = strlen(names->items[i]);
        assert_true(used + length + 2 < sizeof found);
        if (i) found[used++] = ' ';
        memcpy(found + used, names->items[i], length + 1);
        used += length;
    }
    assert_string_equal(found, list);
}

static void a_pendulum_on_a_rod_is_conservative(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [{`name`: `x`, `initial`: 0.6}, `y`, {`name`: `z`, `initial`: -0.8}],"
                       "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `9.81*z`,"
                       "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 + z^2 = 1`}]");
    expect_flags(r, 0, "holonomic", "LCHIV");
    assert_int_equal(r->degrees_of_freedom, 2);
    assert_true(r->conservative);
    expect_names(&r->cyclic, "");
    expect_names(&r->conserved, "jacobi_integral() x*momentum(y) - y*momentum(x)");
    hamel_report_free(r);
}

/* Greenwood, example 4.13: the constraint is rheonomic but catastatic, so the system is conservative. */
static void a_rotating_knife_edge_is_catastatic(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [`x`, `y`, `phi`], `kinetic_energy`: `x'^2 + y'^2 + phi'^2`,"
                       "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(phi + 2*t) = y'*cos(phi + 2*t)`}]");
    expect_flags(r, 0, "velocity", "LTCHIV");
    assert_true(r->conservative);
    expect_names(&r->cyclic, "x y");
    expect_names(&r->conserved, "jacobi_integral() momentum(phi)");
    hamel_report_free(r);
}

/* Papastavridis 2.2: the linear constraint a·q' + B = 0 is rheonomic if it contains t or if B is not 0. A nonlinear
 * constraint is rheonomic only if it contains t. */
static void a_term_free_of_velocities_makes_a_linear_constraint_rheonomic(void **state) {
    static const struct {
        const char *equation;
        bool time_dependent, rheonomic;
    } cases[] = {
        {"x' = 2", false, true},
        {"x' = 2*y + y'", false, true},
        {"x' + a - 0.5 = y'", false, false}, /* a = 0.5 */
        {"x'*(2 + sin(y)) = y'", false, false},
        {"x'*sin(t) = y'*cos(t)", true, true},
        {"x' - y' + t - t = 0", false, false},
        {"x = y + 0.3", false, false},
        {"x = y + 0.1*t", true, true},
        {"x'^2 + y'^2 = 4", false, false},
        {"x'^2 + y'^2 = 4 + t", true, true},
        {"x'' = 2", false, false},
        {"x'' = 2*t", true, true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `velocity`: 2, `initial`: 0.3}, `y`], `parameters`: {`a`: 0.5},"
                 "`kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `c`, `equation`: `%s`}]",
                 cases[k].equation);
        hamel_report *r = fixture_report(text);
        if (r->constraints[0].time_dependent != cases[k].time_dependent ||
            r->constraints[0].rheonomic != cases[k].rheonomic)
            fail_msg("%s", cases[k].equation);
        hamel_report_free(r);
    }
}

static void append(char *text, size_t room, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s", more);
}

/* If the force on y is zero on the branch that contains the initial state (x = 0.3, t = 0), the momentum of y is
 * conserved on this branch. If the force is zero on all branches, the momentum is conserved without a condition. */
static void quantities_conserved_on_one_branch_are_reported_for_it(void **state) {
    static const struct {
        const char *force, *conserved, *regional, *condition;
    } cases[] = {
        {"if(x > 5, (x - 5)^3, 0)", "momentum(z)", "momentum(y)", "x<5"},
        {"if(x <= 5, 0, 1)", "momentum(z)", "momentum(y)", "x<5"},
        {"max(x - 3, 0)", "momentum(z)", "momentum(y)", "x<3"},
        {"min(0, x + 2)", "momentum(z)", "momentum(y)", "x>-2"},
        {"abs(x - 1) + x - 1", "momentum(z)", "momentum(y)", "x<1"},
        {"1 - sign(4 - x)", "momentum(z)", "momentum(y)", "x<4"},
        {"floor(0.1*x + 0.5)", "momentum(z)", "momentum(y)", "floor(0.5 + 0.1*x)==0"},
        {"mod(0.1*x + 0.5, 1) - 0.1*x - 0.5", "momentum(z)", "momentum(y)", "floor(0.5 + 0.1*x)==0"},
        {"if(t > 2, 0.5, 0)", "momentum(z)", "momentum(y)", "t<2"},
        {"if(x'^2 > 4, x', 0)", "momentum(z)", "momentum(y)", "x'^2<4"},
        {"table(T, x)", "momentum(z)", "momentum(y)", "x<1"},
        {"if(x > 5, if(t > 2, 1, 0), 0)", "momentum(z)", "momentum(y)", "t<2"},
        {"max(x - 3, 0)*max(z - 1, 0)*min(x'^2 - 4, 0)", "momentum(z)", "momentum(y)", "z<1"},
        {"if(x > 5, 0, 0)", "momentum(y) momentum(z)", NULL, NULL},
        {"if(x^2 + y^2 > 5, 1, 1)", "momentum(z)", NULL, NULL},
        {"abs(x)", "momentum(z)", NULL, NULL},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[900], found[300] = "";
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `initial`: 0.3, `velocity`: 1}, `y`, `z`],"
                 "`kinetic_energy`: `x'^2 + y'^2 + 2*z'^2`, `potential_energy`: `x^2`,"
                 "`tables`: {`T`: {`x`: [0, 1, 2, 3], `y`: [0, 0, 1, 4], `kind`: `linear`,"
                 "`outside`: `hold`}}, `generalized_forces`: {`y`: `%s`}",
                 cases[k].force);
        hamel_report *r = fixture_report(text);
        for (size_t i = 0; i < r->conserved.count; i++) {
            if (strncmp(r->conserved.items[i], "momentum", 8) != 0) continue;
            if (found[0]) append(found, sizeof found, " ");
            append(found, sizeof found, r->conserved.items[i]);
        }
        if (strcmp(found, cases[k].conserved) != 0) fail_msg("%s: %s", cases[k].force, found);
        if (cases[k].regional == NULL) {
            for (size_t i = 0; i < r->conserved_while_count; i++)
                if (strncmp(r->conserved_while[i].name, "momentum", 8) == 0) fail_msg("%s", cases[k].force);
        } else {
            const hamel_regional *last = &r->conserved_while[r->conserved_while_count - 1];
            assert_true(r->conserved_while_count > 0);
            assert_string_equal(last->name, cases[k].regional);
            assert_int_equal(last->conditions.count, 1);
            assert_string_equal(last->conditions.items[0], cases[k].condition);
        }
        hamel_report_free(r);
    }
}

/* Properties of constraints must be checked on all branches. The constraint c depends on t, and the constraint d
 * does work, only on branches without the initial state. */
static void kinds_of_constraints_are_those_of_all_branches(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`, `constraints`: ["
        "{`name`: `c`, `equation`: `z' = if(x > 5, t, 0)*y'`}, {`name`: `d`, `equation`: `x' = max(y - 3, 0)`}]");
    assert_true(r->constraints[0].time_dependent && r->constraints[0].rheonomic && r->constraints[0].catastatic);
    assert_true(!r->constraints[1].catastatic && r->constraints[1].rheonomic && !r->constraints[1].conservative);
    assert_false(r->conservative);
    hamel_report_free(r);
}

/* The constraint is integrable on every branch that differs from the branch of the initial state in one operator
 * only. */
static void verdicts_include_combinations_of_branches(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`, `constraints`: ["
                       "{`name`: `c`, `equation`: `x' = (1 + if(x > 1, if(z > 1, y, 0), 0))*z'`}]");
    assert_int_equal(r->integrable, 0);
    assert_int_equal(r->at_start.integrable, 1);
    assert_int_equal(r->warnings.count, 0);
    hamel_report_free(r);
}

/* Seven operators with two branches each have 2^7 combinations of branches. */
static void more_combinations_than_are_tried_cause_a_warning(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..7`, `initial`: `i`}],"
                       "`kinetic_energy`: `sum(i, 1, 7, x[i]'^2)/2`, `potential_energy`: `sum(i, 1, 7, abs(x[i]))`");
    assert_int_equal(r->warnings.count, 1);
    assert_non_null(strstr(r->warnings.items[0], "more combinations of branches than the analysis tries"));
    hamel_report_free(r);
}

static void a_driving_constraint_is_acatastatic(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [{`name`: `x`, `velocity`: 2}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
        "`constraints`: [{`name`: `drive`, `equation`: `x' = 2`}, {`name`: `lift`, `equation`: `y = t^2`}]");
    expect_flags(r, 0, "velocity", "LI");
    expect_flags(r, 1, "holonomic", "LTI");
    assert_false(r->conservative);
    assert_int_equal(r->degrees_of_freedom, 0);
    expect_names(&r->conserved, "");
    hamel_report_free(r);
}

/* The constraint of a velocity to a cone is homogeneous and therefore conservative (Greenwood 4.7). A prescribed speed
 * is not homogeneous. */
static void nonlinear_constraints_may_be_homogeneous(void **state) {
    (void)state;
    const char *start = "{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: 1}, {`name`: `z`, `velocity`: 1}";
    char text[600];
    snprintf(text, sizeof text,
             "`coordinates`: [%s], `kinetic_energy`: `x'^2 + y'^2 + z'^2`, `potential_energy`: `9.81*z`,"
             "`constraints`: [{`name`: `cone`, `equation`: `x'^2 + y'^2 = 2*z'^2`}]",
             start);
    hamel_report *r = fixture_report(text);
    expect_flags(r, 0, "velocity", "CHIV");
    assert_true(r->conservative);
    expect_names(&r->left_out, "cone");
    expect_names(&r->conserved, "jacobi_integral()");
    hamel_report_free(r);
    /* with a factor that does not vanish, the constraint is not homogeneous but still does no work */
    snprintf(text, sizeof text,
             "`coordinates`: [%s], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
             "`constraints`: [{`name`: `cone`, `equation`: `(x'^2 + y'^2 - 2*z'^2)*(1 + x'^2) = 0`}]",
             start);
    r = fixture_report(text);
    expect_flags(r, 0, "velocity", "CIV");
    assert_true(r->conservative);
    hamel_report_free(r);
    snprintf(text, sizeof text,
             "`coordinates`: [%s], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
             "`constraints`: [{`name`: `speed`, `equation`: `x'^2 + y'^2 + z'^2 = 3`}]",
             start);
    r = fixture_report(text);
    expect_flags(r, 0, "velocity", "I");
    assert_false(r->conservative);
    hamel_report_free(r);
}

/* At rest the gradient of the constraint vanishes, so a search that starts at rest finds no consistent velocities. */
static void a_speed_that_is_prescribed_needs_no_initial_velocities(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
                                     "`constraints`: [{`name`: `speed`, `equation`: `x'^2 + y'^2 = 4`}]");
    expect_flags(r, 0, "velocity", "I");
    assert_int_equal(r->degrees_of_freedom, 1);
    assert_true(r->constraints[0].unique);
    hamel_report_free(r);
}

static void acceleration_constraints_are_not_classified(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                                     "`constraints`: [{`name`: `a`, `equation`: `x'' = -x`}]");
    expect_flags(r, 0, "acceleration", "LI");
    assert_false(r->conservative);
    expect_names(&r->left_out, "a");
    assert_int_equal(r->degrees_of_freedom, 1);
    assert_int_equal(r->verdict, HAMEL_VERDICT_NONE);
    hamel_report_free(r);
}

static void friction_is_not_ideal(void **state) {
    (void)state;
    static const char *const descriptions[] = {
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
        "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `nonideal`: {`x`: `-0.3*abs(lambda(floor))`}}]",
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`],"
        "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
        "`constraints`: [{`name`: `floor`, `equation`: `y = 0`,"
        "`friction`: {`coefficient`: 0.3, `regularization`: 1e-6}}]"};
    for (size_t k = 0; k < 2; k++) {
        hamel_report *r = fixture_report(descriptions[k]);
        expect_flags(r, 0, "holonomic", "LCH");
        assert_false(r->conservative);
        expect_names(&r->conserved, "");
        hamel_report_free(r);
    }
}

static void constraints_inactive_at_the_start_are_left_out(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
        "`constraints`: [{`name`: `wall`, `equation`: `x = 9`, `active`: false}, {`name`: `floor`, `equation`: `y = "
        "0`}],"
        "`events`: [{`name`: `hit`, `when`: `x - 9`, `impulse`: {`constraint`: `x + y = 9`}, `activate`: [`wall`]}]");
    assert_int_equal(r->constraint_count, 1);
    expect_flags(r, 0, "holonomic", "LCHIV");
    assert_int_equal(r->degrees_of_freedom, 1);
    assert_true(r->constraints[0].unique);
    assert_true(r->redundancy == NULL || r->redundancy->set_count == 0);
    hamel_report_free(r);
}

static void the_later_of_two_dependent_constraints_is_redundant(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
        "`constraints`: [{`name`: `a`, `equation`: `x^2 + y^2 = 1`}, {`name`: `b`, `equation`: `z' = 0`},"
        "{`name`: `c`, `equation`: `x*x' + y*y' + z' = 0`}]");
    expect_flags(r, 0, "holonomic", "LCHIV");
    expect_flags(r, 2, "velocity", "LCHIVR");
    assert_int_equal(r->degrees_of_freedom, 1);
    hamel_report_free(r);
}

/* V does not depend on x because sin² + cos² = 1. */
static void identically_vanishing_terms_are_absent(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [`x`, {`name`: `y`, `initial`: 1}], `kinetic_energy`: `x'^2 + y'^2`,"
                       "`potential_energy`: `y^2*(sin(x)^2 + cos(x)^2)`");
    expect_names(&r->cyclic, "x");
    expect_names(&r->conserved, "jacobi_integral() momentum(x)");
    assert_true(r->conservative);
    hamel_report_free(r);
}

static void forces_prevent_conservation_of_momenta_and_energy(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
                                     "`generalized_forces`: {`x`: 2, `y`: `z'`, `z`: `-y'`}");
    expect_names(&r->cyclic, "x y z");
    expect_names(&r->conserved, "");
    assert_false(r->conservative);
    hamel_report_free(r);
    /* The forces (z', −y') do no work. The analysis must find the Jacobi integral, although the system is not reported
     * as conservative. */
    r = fixture_report("`coordinates`: [`y`, `z`], `kinetic_energy`: `y'^2 + z'^2`,"
                       "`generalized_forces`: {`y`: `z'`, `z`: `-y'`}");
    expect_names(&r->conserved, "jacobi_integral()");
    assert_false(r->conservative);
    hamel_report_free(r);
}

/* The direction of the reaction of the ice on a skate depends on the angle phi, but the reaction exerts no moment. So I
 * phi'' = 0 (Papastavridis 2.13.1), also on an incline. If the mass centre is ahead of the blade, the momentum of phi
 * is not conserved. */
static void a_part_without_reaction_moments_keeps_its_momentum(void **state) {
    (void)state;
    const char *coordinates = "`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.6}],"
                              "`constraints`: [{`name`: `blade`, `equation`: `y'*cos(phi) = x'*sin(phi)`}],";
    char members[1000];
    snprintf(members, sizeof members, "%s`kinetic_energy`: `x'^2 + y'^2 + phi'^2`, `potential_energy`: `-3*x`",
             coordinates);
    hamel_report *r = fixture_report(members);
    expect_names(&r->cyclic, "y");
    expect_names(&r->conserved, "jacobi_integral() momentum(phi)");
    hamel_report_free(r);
    snprintf(members, sizeof members, "%s`kinetic_energy`: `(x' - phi'*sin(phi))^2 + (y' + phi'*cos(phi))^2 + phi'^2`",
             coordinates);
    r = fixture_report(members);
    expect_names(&r->conserved, "jacobi_integral()");
    hamel_report_free(r);
    snprintf(members, sizeof members,
             "%s`kinetic_energy`: `x'^2 + y'^2 + phi'^2`, `generalized_forces`: {`phi`: `-phi'`}", coordinates);
    r = fixture_report(members);
    expect_names(&r->conserved, "");
    hamel_report_free(r);
}

static void a_lagrangian_with_time_has_no_energy_integral(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`], `kinetic_energy`: `(1 + t)*(x'^2 + y'^2)`");
    expect_names(&r->cyclic, "x y");
    expect_names(&r->conserved, "momentum(x) momentum(y) x*momentum(y) - y*momentum(x)");
    assert_false(r->conservative);
    hamel_report_free(r);
}

static void without_a_lagrangian_no_conserved_quantity_is_reported(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [`x`, `y`], `acceleration_energy`: `(x''^2 + y^2*y''^2)/2 + y''^2`");
    expect_names(&r->cyclic, "x");
    expect_names(&r->conserved, "");
    assert_false(r->conservative);
    hamel_report_free(r);
}

static void errors_of_the_description_are_reported(void **state) {
    (void)state;
    fixture f;
    hamel_report *report;
    fixture_read(&f, "`coordinates`: [`x`], `kinetic_energy`: `x'^2 + y'^2`", "`stop`: 1");
    assert_int_equal(hamel_analyze(&report, &f.description, NULL, NULL, &f.error), HAMEL_INVALID);
    assert_null(report);
    assert_int_equal(hamel_analyze(&report, &f.description, NULL, NULL, NULL), HAMEL_INVALID);
    fixture_close(&f);
    hamel_report_free(NULL);
}

static void nonzero_entries_of_a_table_are_found(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                                     "`tables`: {`T`: {`x`: [-9, 0, 9], `y`: [1, 5, 7]}},"
                                     "`potential_energy`: `table(T, x)`");
    expect_names(&r->cyclic, "y");
    hamel_report_free(r);
}

/* One constraint is redundant only if the platform is level. The platform is level during the whole motion. */
static void a_platform_on_three_parallel_cranks_moves(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}, `phi`],"
        "`kinetic_energy`: `x'^2 + y'^2 + phi'^2/9`,"
        "`constraints`: [{`name`: `a`, `equation`: `(x - cos(phi)/2 + 1/2)^2 + (y - sin(phi)/2)^2 = 1`},"
        "                {`name`: `b`, `equation`: `x^2 + y^2 = 1`},"
        "                {`name`: `c`, `equation`: `(x + cos(phi)/2 - 1/2)^2 + (y + sin(phi)/2)^2 = 1`}]");
    assert_int_equal(r->degrees_of_freedom, 1);
    assert_false(r->constraints[0].redundant || r->constraints[1].redundant);
    assert_true(r->constraints[2].redundant);
    hamel_report_free(r);
}

static void expect_coupling(const char *members, size_t index, size_t blocks, size_t mass, size_t constraint) {
    hamel_report *r = fixture_report(members);
    assert_int_equal(r->index, index);
    assert_int_equal(r->blocks, blocks);
    assert_int_equal(r->mass_entries, mass);
    assert_int_equal(r->constraint_entries, constraint);
    hamel_report_free(r);
}

/* Blocks are coupled by the mass matrix, forces, or constraints. The differentiation index of a block is the highest
 * index of its constraints. */
static void equations_are_split_into_blocks(void **state) {
    (void)state;
    expect_coupling("`coordinates`: [`a`, `b`, `c`], `kinetic_energy`: `a'^2 + b'^2 + c'^2`,"
                    "`potential_energy`: `a^4 + b^2 + c^2`",
                    0, 3, 3, 0);
    expect_coupling("`coordinates`: [`a`, `b`, `c`], `kinetic_energy`: `a'^2 + b'^2 + c'^2 + a'*c'`,"
                    "`potential_energy`: `b^2`",
                    0, 2, 5, 0);
    expect_coupling("`coordinates`: [`a`, `b`, `c`], `kinetic_energy`: `a'^2 + b'^2 + c'^2`,"
                    "`generalized_forces`: {`a`: `-b'`}",
                    0, 2, 3, 0);
    expect_coupling("`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
                    "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]",
                    3, 2, 3, 2);
    expect_coupling("`coordinates`: [`x`, `y`, `a`], `kinetic_energy`: `x'^2 + y'^2 + a'^2`,"
                    "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(a) = y'*cos(a)`}]",
                    2, 1, 3, 2);
    expect_coupling("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                    "`constraints`: [{`name`: `servo`, `equation`: `x'' = 2*y''`}]",
                    1, 1, 2, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_on_a_rod_is_conservative),
        cmocka_unit_test(a_rotating_knife_edge_is_catastatic),
        cmocka_unit_test(a_term_free_of_velocities_makes_a_linear_constraint_rheonomic),
        cmocka_unit_test(quantities_conserved_on_one_branch_are_reported_for_it),
        cmocka_unit_test(kinds_of_constraints_are_those_of_all_branches),
        cmocka_unit_test(verdicts_include_combinations_of_branches),
        cmocka_unit_test(more_combinations_than_are_tried_cause_a_warning),
        cmocka_unit_test(a_driving_constraint_is_acatastatic),
        cmocka_unit_test(nonlinear_constraints_may_be_homogeneous),
        cmocka_unit_test(a_speed_that_is_prescribed_needs_no_initial_velocities),
        cmocka_unit_test(acceleration_constraints_are_not_classified),
        cmocka_unit_test(equations_are_split_into_blocks),
        cmocka_unit_test(friction_is_not_ideal),
        cmocka_unit_test(constraints_inactive_at_the_start_are_left_out),
        cmocka_unit_test(the_later_of_two_dependent_constraints_is_redundant),
        cmocka_unit_test(identically_vanishing_terms_are_absent),
        cmocka_unit_test(forces_prevent_conservation_of_momenta_and_energy),
        cmocka_unit_test(a_lagrangian_with_time_has_no_energy_integral),
        cmocka_unit_test(a_part_without_reaction_moments_keeps_its_momentum),
        cmocka_unit_test(without_a_lagrangian_no_conserved_quantity_is_reported),
        cmocka_unit_test(nonzero_entries_of_a_table_are_found),
        cmocka_unit_test(a_platform_on_three_parallel_cranks_moves),
        cmocka_unit_test(errors_of_the_description_are_reported),
    };
    return cmocka_run_group_tests_name("structure", tests, NULL, NULL);
}
