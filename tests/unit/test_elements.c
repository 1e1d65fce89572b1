/* test_elements.c — bodies, points, frames, springs, dampers and loads against expressions derived by hand.
 *
 * Energies, forces and positions are compared at random states with expressions of the same system, without
 * integration. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLANE "`coordinates`: [`x`, `y`, `a`]"
#define SPACE "`coordinates`: [`x`, `y`, `z`, `a`, `b`, `c`]"
#define PLANAR_BODY "{`name`: `B`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `a`}, `inertia`: 0.7}"
#define SPATIAL_BODY(inertia)                                                   \
    "{`name`: `B`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: " inertia \
    ", `orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`a`, `b`, `c`]}}}"

static graph_node sum_of(fixture *f, const graph_node *terms, size_t count) {
    graph_node sum = graph_number(f->system->graph, 0);
    for (size_t i = 0; i < count; i++) sum = graph_add(f->system->graph, sum, terms[i]);
    return sum;
}

static void expect_kinetic(fixture *f, const char *text) {
    assert_same(f, "kinetic energy", sum_of(f, f->system->kinetic, f->system->kinetic_count), fixture_node(f, text));
}

static void expect_potential(fixture *f, const char *text) {
    assert_same(f, "potential energy", sum_of(f, f->system->potential, f->system->potential_count),
                fixture_node(f, text));
}

static void expect_force(fixture *f, const char *coordinate, const char *text) {
    int32_t i = system_coordinate_index(f->system, coordinate);
    assert_true(i >= 0);
    assert_same(f, coordinate, f->system->coordinates[i].force, fixture_node(f, text));
}

static void expect_same(fixture *f, const char *found, const char *expected) {
    assert_same(f, found, fixture_node(f, found), fixture_node(f, expected));
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

static void a_planar_body_moves_and_turns(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `gravity`: [0, -9.81], `bodies`: [" PLANAR_BODY "]");
    expect_kinetic(&f, "x'^2 + y'^2 + 0.35*a'^2");
    expect_potential(&f, "2*9.81*y");
    expect_same(&f, "angular_velocity(B, 3)", "a'");
    expect_same(&f, "angular_velocity_body(B, 1)", "0");
    fixture_close(&f);
}

static void principal_moments_belong_to_the_body_axes(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, SPACE ", `bodies`: [" SPATIAL_BODY("[1, 1.5, 2.25]") "],"
                                                                          "`definitions`: {`w`: ["
                                                                          "`sin(b)*sin(c)*a' + cos(c)*b'`,"
                                                                          "`sin(b)*cos(c)*a' - sin(c)*b'`,"
                                                                          "`cos(b)*a' + c'`]}");
    expect_kinetic(&f, "x'^2 + y'^2 + z'^2 + (w[1]^2 + 1.5*w[2]^2 + 2.25*w[3]^2)/2");
    expect_same(&f, "angular_velocity_body(B, 2)", "w[2]");
    expect_same(&f, "angular_velocity(B, 3)", "a' + cos(b)*c'");
    fixture_close(&f);
}

static void products_of_inertia_mix_the_components(void **state) {
    (void)state;
    fixture f;
    fixture_open(
        &f, SPACE ", `bodies`: [" SPATIAL_BODY(
                "[[1, -0.1, 0.2], [-0.1, 1.5, 0.3], [0.2, 0.3, 2]]") "],"
                                                                     "`definitions`: {`w`: [`angular_velocity_body(B, "
                                                                     "1)`, `angular_velocity_body(B, 2)`,"
                                                                     "`angular_velocity_body(B, 3)`]}");
    expect_kinetic(&f, "x'^2 + y'^2 + z'^2 + (w[1]^2 + 1.5*w[2]^2 + 2*w[3]^2)/2"
                       " - 0.1*w[1]*w[2] + 0.2*w[1]*w[3] + 0.3*w[2]*w[3]");
    fixture_close(&f);
}

static void a_body_without_inertia_is_a_particle_with_axes(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f,
                 PLANE ", `bodies`: [{`name`: `B`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `a`}}],"
                       "`kinetic_energy`: `a'^2`");
    expect_kinetic(&f, "x'^2 + y'^2 + a'^2");
    fixture_close(&f);
}

static void gravity_that_depends_on_time_is_a_force(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `gravity`: [`sin(t)`, -9.81], `bodies`: [" PLANAR_BODY "]");
    expect_force(&f, "x", "2*sin(t)");
    expect_force(&f, "y", "-2*9.81");
    expect_force(&f, "a", "0");
    assert_int_equal(f.system->potential_count, 0);
    fixture_close(&f);
}

static void bodies_come_in_families(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`coordinates`: [{`name`: `u[i]`, `for`: `i = 1..3`}],"
                     "`bodies`: [{`name`: `B[i]`, `mass`: `i`, `position`: [`cos(u[i])`, `sin(u[i])`],"
                     "`orientation`: {`angle`: `u[i]`}, `inertia`: `2*i`, `for`: `i = 1..3`}],"
                     "`points`: [{`name`: `P[i]`, `body`: `B[i]`, `at`: [1, 0], `for`: `i = 1..3`}],"
                     "`springs`: [{`between`: [`P[i]`, `P[i+1]`], `stiffness`: `i`, `for`: `i = 1..2`}]");
    expect_kinetic(&f, "1.5*(u[1]'^2 + 2*u[2]'^2 + 3*u[3]'^2)");
    expect_potential(&f, "2*((cos(u[1]) - cos(u[2]))^2 + (sin(u[1]) - sin(u[2]))^2)"
                         " + 4*((cos(u[2]) - cos(u[3]))^2 + (sin(u[2]) - sin(u[3]))^2)");
    fixture_close(&f);
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

static void points_of_a_body_rotate_with_it(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `points`: [{`name`: `P`, `body`: `B`, `at`: [0.5, `x`]}], `bodies`: [" PLANAR_BODY "]");
    expect_same(&f, "position(P, 1)", "x + 0.5*cos(a) - x*sin(a)");
    expect_same(&f, "position(P, 2)", "y + 0.5*sin(a) + x*cos(a)");
    expect_same(&f, "position(P, 3)", "0");
    expect_same(&f, "velocity(P, 1)", "x' - 0.5*sin(a)*a' - x'*sin(a) - x*cos(a)*a'");
    expect_same(&f, "acceleration(P, 2) - der(velocity(P, 2))", "0");
    fixture_close(&f);
}

static void frames_may_be_nested_in_any_order_of_declaration(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f,
                 PLANE ", `particles`: [{`name`: `p`, `mass`: 2, `position`: {`frame`: `inner`, `at`: [`x`, 0.5]}}],"
                       "`frames`: [{`name`: `inner`, `in`: `outer`, `origin`: [`y`, 1], `orientation`: {`angle`: `a`}},"
                       "{`name`: `outer`, `origin`: {`frame`: `base`, `at`: [1, 0]}, `orientation`: {`angle`: `2*t`}},"
                       "{`name`: `base`, `origin`: [0, -1]}], `kinetic_energy`: [`a'^2`, `y'^2`]");
    expect_same(&f, "position(outer, 1)", "1");
    expect_same(&f, "position(outer, 2)", "-1");
    expect_same(&f, "position(inner, 1)", "1 + y*cos(2*t) - sin(2*t)");
    expect_same(&f, "angular_velocity(inner, 3)", "2 + a'");
    expect_same(&f, "position(p, 1)", "1 + y*cos(2*t) - sin(2*t) + x*cos(2*t + a) - 0.5*sin(2*t + a)");
    expect_same(&f, "position(p, 2)", "-1 + y*sin(2*t) + cos(2*t) + x*sin(2*t + a) + 0.5*cos(2*t + a)");
    expect_kinetic(&f, "a'^2 + y'^2 + velocity(p, 1)^2 + velocity(p, 2)^2");
    fixture_close(&f);
}

/* Compares the sum of the terms of T with T computed from the rates of the inertial positions. */
static void compare_kinetic_energies(const char *members) {
    fixture f;
    fixture_open(&f, members);
    hamel_system *s = f.system;
    graph *g = s->graph;
    graph_node found = graph_number(g, 0), expected = graph_number(g, 0);
    for (size_t i = 0; i < s->kinetic_count; i++) found = graph_add(g, found, s->kinetic[i]);
    for (size_t i = 0; i < s->particle_count; i++)
        for (int k = 0; k < 3; k++)
            expected = graph_add(g, expected, energies_kinetic_of_particle(s, &s->particles[i], k));
    for (size_t i = 0; i < s->rotor_count; i++)
        expected = graph_add(g, expected, energies_kinetic_of_rotor(s, &s->rotors[i]));
    assert_true(s->particle_count > 0 && found != expected);
    assert_same(&f, "T", found, expected);
    fixture_close(&f);
}

/* Velocities in a nested frame are computed from the velocities of the enclosing frame. The origins of some frames
 * move, and the position and the axes of one body are given in different frames. */
static void kinetic_energies_in_deep_frames_are_those_of_the_rates(void **state) {
    (void)state;
    compare_kinetic_energies(
        "`coordinates`: [`a`, `b`, `c`, `d`, `e`, `f`], `frames`: [{`name`: `A`, `origin`: [`sin(t)`, 1], "
        "`orientation`:"
        "{`angle`: `a`}}, {`name`: `B`, `in`: `A`, `origin`: [1, `b`], `orientation`: {`angle`: `a*t`}},"
        "{`name`: `C`, `in`: `B`, `origin`: [2, 1], `orientation`: {`angle`: `c`}}, {`name`: `D`, `in`: `C`, `origin`: "
        "[1, 1], `orientation`: {`angle`: `d`}}, {`name`: `E`, `in`: `D`, `origin`: [`e*t`, `b`], `orientation`: "
        "{`angle`: `f`}}], `bodies`: [{`name`: `U`, `in`: `E`, `mass`: 2, `position`: [3, `e^2`], `inertia`: 5}, "
        "{`name`: `W`, `in`: `U`, `mass`: 1, `position`: [1, 2], `orientation`: {`angle`: `b`}, `inertia`: 1}], "
        "`particles`: [{`name`: `P`, `mass`: 3, `position`: {`frame`: `W`, `at`: [1, `f`]}}]");
    compare_kinetic_energies(
        "`coordinates`: [`a`, `b`, `c`, `d`, `e`, `f`], `frames`: [{`name`: `A`, `origin`: [`sin(t)`, 1, 2], "
        "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`a`, 1, `b`]}}}, {`name`: `B`, `in`: `A`, `origin`: "
        "[1, "
        "`b`, 0], `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`c`, `t`, 2]}}},"
        "{`name`: `C`, `in`: `B`, `origin`: [2, 1, 1], `orientation`: {`euler`: {`sequence`: `XYX`, `angles`: [1, `d`, "
        "0]}}}, {`name`: `D`, `in`: `C`, `origin`: [1, 1, `c`]}, {`name`: `E`, `in`: `D`, `origin`: [`e*t`, `b`, 1], "
        "`orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`e`, 1, `f`]}}}], `bodies`: [{`name`: `U`, `in`: `E`, "
        "`mass`: 2, `position`: [3, `e^2`, 1], `inertia`: [3, 4, 5]}, {`name`: `W`, `in`: `C`, `mass`: 1, `position`: "
        "{`frame`: `U`, `at`: [1, 2, 3]}, `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`b`, 1, 0]}}, "
        "`inertia`:"
        "[1, 2, 2]}], `particles`: [{`name`: `P`, `mass`: 3, `position`: {`frame`: `W`, `at`: [1, `f`, 2]}}]");
}

/* ω of the inner body in its own axes has two terms. The first is the angular velocity of the frame, transformed to
 * these axes. The second is the angular velocity of the body relative to the frame. */
static void angular_velocities_of_nested_frames_add(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, SPACE
                 ", `frames`: [{`name`: `F`, `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`t`, `a`, 0]}}}],"
                 "`bodies`: [{`name`: `B`, `mass`: 1, `in`: `F`, `position`: [`x`, `y`, `z`],"
                 "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`b`, 0, `c`]}}, `inertia`: [1, 2, 3]}],"
                 "`points`: [{`name`: `P`, `body`: `F`, `at`: [0, 0, 1]}]");
    expect_same(&f, "angular_velocity(F, 1)", "1");
    expect_same(&f, "angular_velocity(F, 2)", "cos(t)*a'");
    expect_same(&f, "angular_velocity_body(F, 1)", "cos(a)");
    expect_same(&f, "position(P, 1)", "sin(a)");
    expect_same(&f, "position(P, 2)", "-sin(t)*cos(a)");
    expect_same(&f, "angular_velocity(B, 1)", "1 + sin(a)*(b' + c')");
    fixture_close(&f);
}

static void position_and_orientation_of_a_body_are_relative_to_its_frame(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `frames`: [{`name`: `F`, `orientation`: {`angle`: `a`}}],"
                           "`bodies`: [{`name`: `B`, `mass`: 1, `in`: `F`, `position`: [`x`, `y`],"
                           "`orientation`: {`angle`: 0.5}, `inertia`: 3}],"
                           "`points`: [{`name`: `P`, `body`: `B`, `at`: [1, 0]}]");
    expect_same(&f, "angular_velocity(B, 3)", "a'");
    expect_same(&f, "position(P, 1)", "x*cos(a) - y*sin(a) + cos(a + 0.5)");
    expect_kinetic(&f, "1.5*a'^2 + ((x' - y*a')^2 + (y' + x*a')^2)/2");
    fixture_close(&f);
}

static void a_body_attached_to_another_body_rotates_with_it(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE
                 ", `bodies`: [{`name`: `C`, `mass`: 1, `in`: `B`, `position`: [2, 0], `inertia`: 1}, " PLANAR_BODY
                 "]");
    expect_same(&f, "position(C, 2)", "y + 2*sin(a)");
    expect_kinetic(&f, "x'^2 + y'^2 + 0.35*a'^2 + ((x' - 2*sin(a)*a')^2 + (y' + 2*cos(a)*a')^2 + a'^2)/2");
    fixture_close(&f);
}

/* If a frame has only a position, it has the axes of the frame in `in`, or inertial axes if `in` is missing. */
static void a_position_in_a_frame_does_not_define_axes(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `frames`: [{`name`: `F`, `orientation`: {`angle`: `a`}}, {`name`: `rest`}],"
                           "`kinetic_energy`: [`a'^2`, `x'^2`, `y'^2`],"
                           "`bodies`: [{`name`: `B`, `mass`: 1, `position`: {`frame`: `F`, `at`: [1, 0]}},"
                           "{`name`: `C`, `mass`: 1, `in`: `rest`, `position`: {`frame`: `F`, `at`: [1, 0]},"
                           "`orientation`: {`angle`: `2*x`}, `inertia`: 3}],"
                           "`points`: [{`name`: `P`, `body`: `B`, `at`: [0, 1]}]");
    expect_same(&f, "angular_velocity(B, 3)", "0");
    expect_same(&f, "angular_velocity(C, 3)", "2*x'");
    expect_same(&f, "position(P, 1)", "cos(a)");
    expect_same(&f, "position(P, 2)", "sin(a) + 1");
    expect_same(&f, "position(C, 2)", "sin(a)");
    fixture_close(&f);
}

#define IN_FRAME "`name`: `B`, `mass`: 1, `position`: {`frame`: `F`, `at`: [`x`, `y`]}"
static void ambiguous_axes_are_rejected(void **state) {
    (void)state;
    static const char F[] = PLANE ", `frames`: [{`name`: `F`, `orientation`: {`angle`: `a`}}], `bodies`: [{" IN_FRAME;
    static const char *const rest[] = {", `inertia`: 1}]", ", `orientation`: {`angle`: 0}}]",
                                       ", `orientation`: {`angle`: 0}, `inertia`: 1}]"};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s", F, rest[k]);
        assert_fault(text, "the frame in which its axes are given is missing");
    }
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "],"
                       "`frames`: [{`name`: `G`, `origin`: {`frame`: `B`, `at`: [1, 0]}}]",
                 "the frame in which its axes are given is missing");
    assert_fault(PLANE ", `bodies`: [{`name`: `C`, `mass`: 1, `in`: `D`, `position`: [0, 0]}, " PLANAR_BODY "]",
                 "unknown frame or body `D`");
    assert_fault(PLANE ", `bodies`: [{`name`: `C`, `mass`: 1, `in`: `C`, `position`: [0, 0]}, " PLANAR_BODY "]",
                 "is given in its own frame");
}

static void invalid_positions_are_rejected(void **state) {
    (void)state;
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `frames`: [{`name`: `F`, `in`: `G`}, {`name`: `G`, `in`: `F`}]",
                 "circular");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `frames`: [{`name`: `F`, `in`: `F`}]",
                 "is given in its own frame");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `points`: [{`name`: `P`, `body`: `C`, `at`: [0, 0]}]",
                 "unknown frame or body `C`");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `points`: [{`name`: `P`, `position`: [0, 0, 0]}]",
                 "3 components");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `points`: [{`name`: `B`, `position`: [0, 0]}]", "two elements");
    assert_fault(PLANE ", `particles`: [{`name`: `p`, `mass`: 1, `position`: [`x`, `y`]}],"
                       "`points`: [{`name`: `P`, `body`: `p`, `at`: [0, 0]}]",
                 "has no axes");
}

/* --- springs, dampers, loads --------------------------------------------------------------------------------------- */

static void a_spring_stores_the_square_of_its_stretch(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f,
                 PLANE ", `parameters`: {`k`: 40, `l`: 0.5}, `bodies`: [" PLANAR_BODY "],"
                       "`springs`: [{`name`: `s`, `between`: [{`frame`: `B`, `at`: [1, 0]}, [0, 3]], `stiffness`: `k`,"
                       "`length`: `l + t`}]");
    expect_potential(&f, "k*(hypot(x + cos(a), y + sin(a) - 3) - l - t)^2/2");
    expect_force(&f, "a", "0");
    fixture_close(&f);
}

static void a_spring_without_length_has_no_kink(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `bodies`: [" PLANAR_BODY "], `springs`: [{`between`: [`B`, [0, 0]], `stiffness`: 3}]");
    expect_potential(&f, "1.5*(x^2 + y^2)");
    program_inputs in = {{0}};
    double zero[FIXTURE_MOST] = {0};
    in.values[SYMBOL_COORDINATE] = zero;
    graph_node slope =
        graph_partial(f.system->graph, sum_of(&f, f.system->potential, f.system->potential_count), f.system->q[0]);
    assert_near("force if the ends coincide", fixture_value(f.system->graph, slope, &in), 0, 0);
    fixture_close(&f);
}

static void a_spring_whose_stiffness_depends_on_time_is_a_force(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `bodies`: [" PLANAR_BODY "],"
                           "`springs`: [{`between`: [`B`, [0, 0]], `stiffness`: `1 + x^2`, `length`: 0.5}]");
    assert_int_equal(f.system->potential_count, 0);
    expect_force(&f, "x", "-(1 + x^2)*(hypot(x, y) - 0.5)*x/hypot(x, y)");
    expect_force(&f, "y", "-(1 + x^2)*(hypot(x, y) - 0.5)*y/hypot(x, y)");
    fixture_close(&f);
}

static void a_damper_acts_against_the_rate_of_its_length(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `bodies`: [" PLANAR_BODY "],"
                           "`dampers`: [{`name`: `d`, `between`: [[0, 0], `B`], `coefficient`: `2 + x'^2`}]");
    expect_force(&f, "x", "-(2 + x'^2)*(x*x' + y*y')/(x^2 + y^2)*x");
    expect_force(&f, "y", "-(2 + x'^2)*(x*x' + y*y')/(x^2 + y^2)*y");
    expect_force(&f, "a", "0");
    fixture_close(&f);
}

static void a_force_acts_where_its_element_is(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE ", `bodies`: [" PLANAR_BODY "], `points`: [{`name`: `P`, `body`: `B`, `at`: [2, 1]}],"
                           "`loads`: [{`on`: `P`, `force`: [`x'`, `3*t`]}, {`on`: `B`, `force`: [0, 5]},"
                           "{`on`: `B`, `torque`: `-a'`}]");
    expect_force(&f, "x", "x'");
    expect_force(&f, "y", "3*t + 5");
    expect_force(&f, "a", "(2*cos(a) - sin(a))*3*t - (2*sin(a) + cos(a))*x' - a'");
    fixture_close(&f);
}

/* Papastavridis A70: Q = M·∂ω/∂q'. These generalized forces are the torques about the fixed z axis, the line of nodes,
 * and the third body axis. */
static void a_torque_acts_on_the_angular_velocity(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f,
                 SPACE ", `bodies`: [" SPATIAL_BODY("[1, 1, 2]") "], `loads`: [{`on`: `B`, `torque`: [`x`, 2, `t`]}]");
    expect_force(&f, "a", "t");
    expect_force(&f, "b", "x*cos(a) + 2*sin(a)");
    expect_force(&f, "c", "x*sin(a)*sin(b) - 2*cos(a)*sin(b) + t*cos(b)");
    expect_force(&f, "x", "0");
    fixture_close(&f);
}

static void loads_that_cannot_act_are_rejected(void **state) {
    (void)state;
    assert_fault(PLANE ", `particles`: [{`name`: `p`, `mass`: 1, `position`: [`x`, `y`]}], `kinetic_energy`: `a'^2`,"
                       "`loads`: [{`on`: `p`, `torque`: 1}]",
                 "`p` is a particle");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `frames`: [{`name`: `F`, `orientation`: {`angle`: `a`}}],"
                       "`loads`: [{`on`: `F`, `torque`: 1}]",
                 "`F` is a frame");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `loads`: [{`on`: `B`, `torque`: [0, 0, 1]}]", "one expression");
    assert_fault(SPACE ", `bodies`: [" SPATIAL_BODY("[1, 1, 1]") "], `loads`: [{`on`: `B`, `torque`: 1}]",
                 "3 components");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `loads`: [{`on`: `B`, `force`: [0, 0, 1]}]", "3 components");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `springs`: [{`between`: [`B`, `A`], `stiffness`: 1}]",
                 "frame `A`");
    assert_fault(PLANE ", `bodies`: [" PLANAR_BODY "], `dampers`: [{`between`: [`B`, [0, 0, 0]], `coefficient`: 1}]",
                 "3 components");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planar_body_moves_and_turns),
        cmocka_unit_test(principal_moments_belong_to_the_body_axes),
        cmocka_unit_test(products_of_inertia_mix_the_components),
        cmocka_unit_test(a_body_without_inertia_is_a_particle_with_axes),
        cmocka_unit_test(gravity_that_depends_on_time_is_a_force),
        cmocka_unit_test(bodies_come_in_families),
        cmocka_unit_test(points_of_a_body_rotate_with_it),
        cmocka_unit_test(frames_may_be_nested_in_any_order_of_declaration),
        cmocka_unit_test(angular_velocities_of_nested_frames_add),
        cmocka_unit_test(kinetic_energies_in_deep_frames_are_those_of_the_rates),
        cmocka_unit_test(position_and_orientation_of_a_body_are_relative_to_its_frame),
        cmocka_unit_test(a_body_attached_to_another_body_rotates_with_it),
        cmocka_unit_test(a_position_in_a_frame_does_not_define_axes),
        cmocka_unit_test(ambiguous_axes_are_rejected),
        cmocka_unit_test(invalid_positions_are_rejected),
        cmocka_unit_test(a_spring_stores_the_square_of_its_stretch),
        cmocka_unit_test(a_spring_without_length_has_no_kink),
        cmocka_unit_test(a_spring_whose_stiffness_depends_on_time_is_a_force),
        cmocka_unit_test(a_damper_acts_against_the_rate_of_its_length),
        cmocka_unit_test(a_force_acts_where_its_element_is),
        cmocka_unit_test(a_torque_acts_on_the_angular_velocity),
        cmocka_unit_test(loads_that_cannot_act_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
