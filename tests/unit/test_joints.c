/* test_joints.c — compares each type of joint with explicit equations, and motions with known results.
 *
 * The equations NAME.1, NAME.2, ... are compared in this order at random states. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Two free bodies A and B in the plane, and in space. */
#define PLANE(joint)                                                                                  \
    "`coordinates`: [`x`, `y`, `a`, `u`, `v`, `b`], `bodies`: ["                                      \
    "{`name`: `A`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `a`}, `inertia`: 1},"  \
    "{`name`: `B`, `mass`: 1, `position`: [`u`, `v`], `orientation`: {`angle`: `b`}, `inertia`: 1}]," \
    "`points`: [{`name`: `P`, `body`: `A`, `at`: [1, 0]}, {`name`: `Q`, `body`: `B`, `at`: [0, 2]}]," \
    "`joints`: [{`name`: `J`, " joint "}]"

#define SPACE(joint)                                                                               \
    "`coordinates`: [`x`, `y`, `z`, `a`, `b`, `c`, `u`, `v`, `w`, `d`, `e`, `f`], `bodies`: ["     \
    "{`name`: `A`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: [1, 1, 1],"                  \
    "`orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `b`, `c`]}}},"                   \
    "{`name`: `B`, `mass`: 1, `position`: [`u`, `v`, `w`], `inertia`: [1, 1, 1],"                  \
    "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`d`, `e`, `f`]}}}], `points`: ["      \
    "{`name`: `A1`, `body`: `A`, `at`: [1, 0, 0]}, {`name`: `A2`, `body`: `A`, `at`: [0, 1, 0]},"  \
    "{`name`: `A3`, `body`: `A`, `at`: [0, 0, 1]}, {`name`: `B1`, `body`: `B`, `at`: [1, 0, 0]},"  \
    "{`name`: `B2`, `body`: `B`, `at`: [0, 1, 0]}, {`name`: `B3`, `body`: `B`, `at`: [0, 0, 1]}]," \
    "`definitions`: {" AXES "}, `joints`: [{`name`: `J`, " joint "}]"

/* i, j and k are the axes of A in inertial components, and l, m and n are the axes of B. */
#define AXIS(name, point, centre)                                                                                 \
    "`" name "`: [`position(" point ", 1) - position(" centre ", 1)`, `position(" point ", 2) - position(" centre \
    ", 2)`, `position(" point ", 3) - position(" centre ", 3)`]"
#define AXES                                                                                       \
    AXIS("i", "A1", "A")                                                                           \
    "," AXIS("j", "A2", "A") "," AXIS("k", "A3", "A") "," AXIS("l", "B1", "B") "," AXIS("m", "B2", \
                                                                                        "B") "," AXIS("n", "B3", "B")
#define DOT(p, q) p "[1]*" q "[1] + " p "[2]*" q "[2] + " p "[3]*" q "[3]"
#define ALONG(p) "(x - u)*" p "[1] + (y - v)*" p "[2] + (z - w)*" p "[3]"

/* Checks that the joint has exactly the equations `texts`, named J.1, J.2, ..., and that each has the order `order`. */
static void expect_equations(const char *members, constraint_order order, const char *const *texts, size_t count) {
    fixture f;
    char name[20];
    fixture_open(&f, members);
    assert_int_equal(f.system->constraint_count, count);
    for (size_t i = 0; i < count; i++) {
        const system_constraint *c = &f.system->constraints[i];
        snprintf(name, sizeof name, "J.%zu", i + 1);
        assert_string_equal(c->name, name);
        assert_int_equal(c->order, order);
        assert_same(&f, name, c->equation, fixture_node(&f, texts[i]));
    }
    fixture_close(&f);
}

#define EXPECT(members, order, ...)                                      \
    expect_equations(members, order, (const char *const[]){__VA_ARGS__}, \
                     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* --- equations ------------------------------------------------------------------------------------------------------ */

static void coincident_ends_agree_by_component(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `coincident`, `between`: [`P`, `Q`]"), CONSTRAINT_HOLONOMIC, "x + cos(a) - u + 2*sin(b)",
           "y + sin(a) - v - 2*cos(b)");
    EXPECT(SPACE("`type`: `coincident`, `between`: [`A1`, [1, 2, `t`]]"), CONSTRAINT_HOLONOMIC, "x + i[1] - 1",
           "y + i[2] - 2", "z + i[3] - t");
}

static void a_distance_is_kept(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `distance`, `length`: `2 + t`, `between`: [`P`, `B`]"), CONSTRAINT_HOLONOMIC,
           "hypot(x + cos(a) - u, y + sin(a) - v) - 2 - t");
    EXPECT(SPACE("`type`: `distance`, `length`: 3, `between`: [`A`, `B`]"), CONSTRAINT_HOLONOMIC,
           "sqrt((x - u)^2 + (y - v)^2 + (z - w)^2) - 3");
}

static void a_revolute_joint_leaves_one_rotation(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `revolute`, `between`: [`P`, `B`]"), CONSTRAINT_HOLONOMIC, "x + cos(a) - u",
           "y + sin(a) - v");
    /* c is the joint axis, here e3. Its smallest component is along e1, so s = c × e1 = e2, and c × s = −e1 */
    EXPECT(SPACE("`type`: `revolute`, `axis`: [0, 0, 1], `between`: [`A`, `B`]"), CONSTRAINT_HOLONOMIC, "x - u",
           "y - v", "z - w", DOT("j", "n"), "-(" DOT("i", "n") ")");
}

static void an_axis_may_be_oblique(void **state) {
    (void)state;
    /* The joint axis c = (1, 2, 2) has its smallest component along e1, so s = c × e1 = (0, 2, −2), c × s = (−8, 2,
     * 2) */
    EXPECT(SPACE("`type`: `revolute`, `axis`: [1, 2, 2], `between`: [`A`, `B`]"), CONSTRAINT_HOLONOMIC, "x - u",
           "y - v", "z - w",
           "2*((" DOT("j", "l") ") + 2*(" DOT("j", "m") ") + 2*(" DOT(
               "j", "n") "))"
                         "- 2*((" DOT("k", "l") ") + 2*(" DOT("k", "m") ") + 2*(" DOT("k", "n") "))",
           "-8*((" DOT("i", "l") ") + 2*(" DOT("i", "m") ") + 2*(" DOT(
               "i", "n") "))"
                         "+ 2*((" DOT("j", "l") ") + 2*(" DOT("j", "m") ") + 2*(" DOT(
                             "j", "n") "))"
                                       "+ 2*((" DOT("k", "l") ") + 2*(" DOT("k", "m") ") + 2*(" DOT("k", "n") "))");
}

static void a_prismatic_joint_leaves_one_translation(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `prismatic`, `axis`: [1, 0], `between`: [`A`, `B`]"), CONSTRAINT_HOLONOMIC,
           "-sin(a)*(x - u) + cos(a)*(y - v)", "sin(b - a)");
    EXPECT(SPACE("`type`: `prismatic`, `axis`: [0, 0, 1], `between`: [`A`, `B`]"), CONSTRAINT_HOLONOMIC, ALONG("j"),
           "-(" ALONG("i") ")", DOT("j", "n"), DOT("k", "l"), DOT("i", "m"));
}

static void a_fixed_joint_leaves_no_freedom(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `fixed`, `between`: [`A`, `Q`]"), CONSTRAINT_HOLONOMIC, "x - u + 2*sin(b)",
           "y - v - 2*cos(b)", "sin(b - a)");
    EXPECT(SPACE("`type`: `fixed`, `between`: [`A`, `B`]"), CONSTRAINT_HOLONOMIC, "x - u", "y - v", "z - w",
           DOT("j", "n"), DOT("k", "l"), DOT("i", "m"));
}

static void a_wheel_may_be_either_end_of_a_joint_with_a_surface_at_rest(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `rolling`, `radius`: 0.5, `normal`: [0, 1], `between`: [`A`, [7, 0]]"), CONSTRAINT_VELOCITY,
           "x' + 0.5*a'", "y'");
    EXPECT(PLANE("`type`: `rolling`, `radius`: 0.5, `normal`: [0, 3], `between`: [[7, 0], `A`]"), CONSTRAINT_VELOCITY,
           "x' + 0.5*a'", "y'");
    EXPECT(SPACE("`type`: `rolling`, `radius`: 2, `normal`: [0, 0, 1], `between`: [`A`, [0, 0, 0]]"),
           CONSTRAINT_VELOCITY, "x' - 2*angular_velocity(A, 2)", "y' + 2*angular_velocity(A, 1)", "z'");
}

/* The second body rolls on a surface that is fixed to the first body. The contact point is Q = B − 0.5 (−sin a, cos
 * a). */
static void a_wheel_rolls_on_a_moving_body(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `rolling`, `radius`: 0.5, `normal`: [0, 1], `between`: [`A`, `B`]"), CONSTRAINT_VELOCITY,
           "u' + b'*0.5*cos(a) - x' + a'*(v - 0.5*cos(a) - y)", "v' + b'*0.5*sin(a) - y' - a'*(u + 0.5*sin(a) - x)");
}

static void a_knife_edge_moves_along_its_edge(void **state) {
    (void)state;
    EXPECT(PLANE("`type`: `knife_edge`, `direction`: [1, 0], `between`: [`P`]"), CONSTRAINT_VELOCITY,
           "-sin(a)*x' + cos(a)*y' + a'");
    EXPECT(SPACE("`type`: `knife_edge`, `direction`: [1, 0, 0], `between`: [`A`]"), CONSTRAINT_VELOCITY,
           "x'*j[1] + y'*j[2] + z'*j[3]");
    EXPECT(PLANE("`type`: `knife_edge`, `direction`: [1, 0], `between`: [`A`, `B`]"), CONSTRAINT_VELOCITY,
           "-sin(a)*(x' - u' + b'*(y - v)) + cos(a)*(y' - v' - b'*(x - u))");
}

static void joints_come_in_families(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..3`}, {`name`: `y[i]`, `for`: `i = 1..3`}],"
                     "`particles`: [{`name`: `p[i]`, `mass`: 1, `position`: [`x[i]`, `y[i]`], `for`: `i = 1..3`}],"
                     "`joints`: [{`name`: `rod[i]`, `type`: `distance`, `length`: `i`, `between`: [`p[i]`, `p[i-1]`],"
                     "`for`: `i = 2..3`}]");
    assert_int_equal(f.system->constraint_count, 2);
    assert_string_equal(f.system->constraints[1].name, "rod[3].1");
    assert_same(&f, "rod", f.system->constraints[1].equation, fixture_node(&f, "hypot(x[3] - x[2], y[3] - y[2]) - 3"));
    fixture_close(&f);
}

static void invalid_joints_are_rejected(void **state) {
    (void)state;
    assert_fault(PLANE("`type`: `hinge`, `between`: [`A`, `B`]"), "unknown joint type `hinge`");
    assert_fault(PLANE("`type`: `distance`, `between`: [`A`, `B`]"), "needs `length`");
    assert_fault(PLANE("`type`: `rolling`, `normal`: [0, 1], `between`: [`A`, `B`]"), "needs `radius`");
    assert_fault(PLANE("`type`: `rolling`, `radius`: 1, `between`: [`A`, `B`]"), "needs `normal`");
    assert_fault(PLANE("`type`: `rolling`, `radius`: 1, `normal`: [0, 1], `between`: [[0, 0], [1, 1]]"), "neither end");
    assert_fault(PLANE("`type`: `knife_edge`, `between`: [`A`]"), "needs `direction`");
    assert_fault(PLANE("`type`: `prismatic`, `between`: [`A`, `B`]"), "needs `axis`");
    assert_fault(PLANE("`type`: `rolling`, `radius`: 1, `normal`: [0, 0], `between`: [`A`, `B`]"), "not zero");
    assert_fault(PLANE("`type`: `prismatic`, `axis`: [0, 0], `between`: [`A`, `B`]"), "not zero");
    assert_fault(SPACE("`type`: `revolute`, `axis`: [0, 0, 0], `between`: [`A`, `B`]"), "not zero");
    assert_fault(SPACE("`type`: `knife_edge`, `direction`: [0, 0, 1], `between`: [`A`]"), "third component");
    assert_fault(PLANE("`type`: `distance`, `length`: 1, `between`: [`A`, `A`]"), "does not hold");
    assert_fault(PLANE("`type`: `fixed`, `between`: [`A`]"), "needs two elements");
    assert_fault(PLANE("`type`: `revolute`, `between`: [`A`, `C`]"), "frame `C`");
}

/* --- motions -------------------------------------------------------------------------------------------------------- */

/* A particle hangs at rest from its rod, so the multiplier, which is the compression of the rod, is negative. */
static void the_multiplier_of_a_distance_is_the_compression_of_the_rod(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [`x`, {`name`: `y`, `initial`: -2}], `gravity`: [0, -9.81],"
                          "`particles`: [{`name`: `p`, `mass`: 3, `position`: [`x`, `y`]}],"
                          "`joints`: [{`name`: `rod`, `type`: `distance`, `length`: 2, `between`: [`p`, [0, 0]]}],"
                          "`outputs`: {`S`: `lambda(rod.1)`, `R`: `reaction(rod.1, y)`}",
                          "`stop`: 0.5, `samples`: 3");
    assert_near("thrust", motion_last(&m, "S"), -3 * 9.81, 1e-9);
    assert_near("reaction", motion_last(&m, "R"), 3 * 9.81, 1e-9);
    motion_free(&m);
}

/* Two weights hang at rest, one below the other. The upper rod carries both weights. */
static void the_multiplier_of_a_joint_of_a_family_is_available(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`g`: 10}, `gravity`: [0, `-g`],"
                          "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..2`},"
                          "{`name`: `y[i]`, `for`: `i = 1..2`, `initial`: `-i`}],"
                          "`particles`: [{`name`: `P[i]`, `for`: `i = 1..2`, `mass`: 1, `position`: [`x[i]`, `y[i]`]}],"
                          "`joints`: [{`name`: `R[1]`, `type`: `distance`, `between`: [[0, 0], `P[1]`], `length`: 1},"
                          "{`name`: `R[i]`, `for`: `i = 2..2`, `type`: `distance`, `between`: [`P[i-1]`, `P[i]`],"
                          "`length`: 1}], `outputs`: [{`name`: `T[i]`, `for`: `i = 1..2`, `expression`:"
                          "`lambda(R[i].1)`}, {`name`: `sum`, `expression`: `sum(i, 1, 2, lambda(R[i].1))`}]",
                          "`stop`: 0.1, `samples`: 2");
    assert_below("upper", fabs(motion_last(&m, "T[1]") + 20), 1e-9);
    assert_below("lower", fabs(motion_last(&m, "T[2]") + 10), 1e-9);
    assert_below("both", fabs(motion_last(&m, "sum") + 30), 1e-9);
    motion_free(&m);
}

/* A door on a hinge that is inclined by 0.3 rad swings like a pendulum in the field g sin 0.3. I is its moment of
 * inertia about the hinge. The axis has two nonzero components, so both orthogonal directions matter. */
static void an_inclined_door_swings_about_its_hinge(void **state) {
    (void)state;
    static const char *const rest = "`stop`: 2, `samples`: 21, `rtol`: 1e-10, `atol`: 1e-12";
    motion door = motion_run(
        "`parameters`: {`s`: `sin(0.3)`, `c`: `cos(0.3)`}, `gravity`: [0, 0, -9.81],"
        "`coordinates`: [{`name`: `x`, `initial`: `0.5*cos(1)`}, {`name`: `y`, `initial`: `0.5*sin(1)*c`},"
        "{`name`: `z`, `initial`: `0.5*sin(1)*s`}, {`name`: `a`, `initial`: 0.3}, `b`, {`name`: `p`, `initial`: 1}],"
        "`bodies`: [{`name`: `door`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: [0.3, 0.1, 0.4],"
        "`orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `b`, `p`]}}}],"
        "`frames`: [{`name`: `post`, `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [0.3, 0, 0]}}}],"
        "`points`: [{`name`: `edge`, `body`: `door`, `at`: [-0.5, 0, 0]}],"
        "`joints`: [{`name`: `hinge`, `type`: `revolute`, `axis`: [0, 0, 1],"
        "`between`: [{`frame`: `post`, `at`: [0, 0, 0]}, `edge`]}]",
        rest);
    motion plain = motion_run("`coordinates`: [{`name`: `p`, `initial`: 1}], `kinetic_energy`: `(0.4 + 2*0.25)*p'^2/2`,"
                              "`potential_energy`: `2*9.81*0.5*sin(0.3)*sin(p)`",
                              rest);
    assert_below("angle", motion_difference(&door, &plain), 1e-7);
    assert_below("swing", -motion_drift(&plain, "p"), -0.5);
    motion_free(&door);
    motion_free(&plain);
}

/* A collar on a guide inclined by 0.4 rad slides like a particle on an inclined plane. */
static void a_collar_slides_along_its_guide(void **state) {
    (void)state;
    motion m = motion_run(
        "`gravity`: [0, 0, -9.81], `coordinates`: [`x`, `y`, `z`, `a`, {`name`: `b`, `initial`: 0.4}, `c`],"
        "`bodies`: [{`name`: `collar`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: [1, 2, 3],"
        "`orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `b`, `c`]}}}],"
        "`frames`: [{`name`: `guide`, `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [0, 0.4, 0]}}}],"
        "`joints`: [{`name`: `J`, `type`: `prismatic`, `axis`: [1, 0, 0],"
        "`between`: [{`frame`: `guide`, `at`: [0, 0, 0]}, `collar`]}]",
        "`stop`: 1, `samples`: 2, `rtol`: 1e-9, `atol`: 1e-11");
    double way = 0.5 * 9.81 * sin(0.4);
    assert_near("x", motion_last(&m, "x"), way * cos(0.4), 1e-7);
    assert_near("z", motion_last(&m, "z"), -way * sin(0.4), 1e-7);
    assert_near("b", motion_last(&m, "b"), 0.4, 1e-9);
    motion_free(&m);
}

/* A double pendulum of spatial bodies moves in a plane. Every planar motion satisfies three equations of each joint,
 * which the planar description does not contain. */
static void a_planar_mechanism_may_be_described_in_space(void **state) {
    (void)state;
#define LINKS \
    "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, `a`, {`name`: `u`, `initial`: 3}, `v`, `b`], `bodies`: ["
    static const char *const simulation = "`stop`: 1, `samples`: 5, `rtol`: 1e-10, `atol`: 1e-12";
    motion plane = motion_run(
        LINKS "{`name`: `A`, `mass`: 1, `inertia`: 0.3, `position`: [`x`, `y`], `orientation`: {`angle`: `a`}},"
              "{`name`: `B`, `mass`: 1, `inertia`: 0.3, `position`: [`u`, `v`], `orientation`: {`angle`: `b`}}],"
              "`gravity`: [0, -10], `joints`: [{`name`: `O`, `type`: `revolute`,"
              "`between`: [[0, 0], {`frame`: `A`, `at`: [-1, 0]}]}, {`name`: `P`, `type`: `revolute`,"
              "`between`: [{`frame`: `A`, `at`: [1, 0]}, {`frame`: `B`, `at`: [-1, 0]}]}],"
              "`outputs`: {`pull`: `lambda(P.1)`}",
        simulation);
    motion space =
        motion_run(LINKS "{`name`: `A`, `mass`: 1, `inertia`: [0.1, 0.3, 0.3], `position`: [`x`, `y`, 0],"
                         "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`a`, 0, 0]}}},"
                         "{`name`: `B`, `mass`: 1, `inertia`: [0.1, 0.3, 0.3], `position`: [`u`, `v`, 0],"
                         "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`b`, 0, 0]}}}],"
                         "`gravity`: [0, -10, 0], `joints`: [{`name`: `O`, `type`: `revolute`, `axis`: [0, 0, 1],"
                         "`between`: [[0, 0, 0], {`frame`: `A`, `at`: [-1, 0, 0]}]},"
                         "{`name`: `P`, `type`: `revolute`, `axis`: [0, 0, 1],"
                         "`between`: [{`frame`: `A`, `at`: [1, 0, 0]}, {`frame`: `B`, `at`: [-1, 0, 0]}]}],"
                         "`outputs`: {`pull`: `lambda(P.1)`, `across`: `lambda(P.3)`, `couple`: `lambda(P.5)`}",
                   simulation);
    assert_below("motion", motion_difference(&plane, &space), 1e-8);
    assert_near("out-of-plane force", motion_last(&space, "across"), 0, 0);
    assert_near("out-of-plane couple", motion_last(&space, "couple"), 0, 0);
    assert_int_equal(space.redundant_count, 6);
    motion_free(&plane);
    motion_free(&space);
}

/* Two bodies of masses 2 and 1, welded at distance 1, rotate as one about their common centre at a constant rate. */
static void welded_bodies_rotate_as_one(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [`x`, {`name`: `y`, `velocity`: -1}, {`name`: `a`, `velocity`: 3}, {`name`: `u`, `initial`: 1},"
        "{`name`: `v`, `velocity`: 2}, {`name`: `b`, `velocity`: 3}], `bodies`: ["
        "{`name`: `A`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `a`}, `inertia`: 1},"
        "{`name`: `B`, `mass`: 1, `position`: [`u`, `v`], `orientation`: {`angle`: `b`}, `inertia`: 0.5}],"
        "`joints`: [{`name`: `weld`, `type`: `fixed`, `between`: [{`frame`: `A`, `at`: [1, 0]}, `B`]}],"
        "`outputs`: {`thrust`: `hypot(lambda(weld.1), lambda(weld.2))`, `couple`: `lambda(weld.3)`}",
        "`stop`: 2, `samples`: 5, `rtol`: 1e-10, `atol`: 1e-12");
    assert_near("a", motion_last(&m, "a"), 6, 1e-8);
    assert_near("x", motion_last(&m, "x"), (1 - cos(6)) / 3, 1e-7);
    assert_near("y", motion_last(&m, "y"), -sin(6) / 3, 1e-7);
    assert_near("centripetal force", motion_last(&m, "thrust"), 2 * 9 / 3.0, 1e-6);
    assert_near("couple", motion_last(&m, "couple"), 0, 1e-6);
    motion_free(&m);
}

/* A disk rolls down an incline of 0.2 rad with the acceleration (2/3) g sin 0.2. The friction force is a third of the
 * weight's tangential component. */
static void a_disk_rolls_down_an_incline(void **state) {
    (void)state;
    motion m =
        motion_run("`parameters`: {`g`: 9.81, `s`: 0.2, `r`: 0.5}, `gravity`: [`g*sin(s)`, `-g*cos(s)`],"
                   "`coordinates`: [`x`, {`name`: `y`, `initial`: `r`}, `a`],"
                   "`bodies`: [{`name`: `disk`, `mass`: 3, `position`: [`x`, `y`], `orientation`: {`angle`: `a`},"
                   "`inertia`: `3*r^2/2`}], `joints`: [{`name`: `J`, `type`: `rolling`, `radius`: `r`,"
                   "`normal`: [0, 1], `between`: [`disk`, [0, 0]]}],"
                   "`outputs`: {`friction`: `lambda(J.1)`, `N`: `lambda(J.2)`}",
                   "`stop`: 1, `samples`: 2, `rtol`: 1e-9, `atol`: 1e-11");
    assert_near("x", motion_last(&m, "x"), 9.81 * sin(0.2) / 3, 1e-7);
    assert_near("a", motion_last(&m, "a"), -2 * 9.81 * sin(0.2) / 3, 1e-7);
    assert_near("friction", motion_last(&m, "friction"), -9.81 * sin(0.2), 1e-7);
    assert_near("normal", motion_last(&m, "N"), 3 * 9.81 * cos(0.2), 1e-7);
    motion_free(&m);
}

/* A uniform ball on a turntable moves in a circle at 2/7 of the table's rate (Papastavridis, example 2.13.5). */
static void a_ball_on_a_turntable_moves_in_a_circle(void **state) {
    (void)state;
    motion m = motion_run(
        "`parameters`: {`W`: 3.5, `r`: 0.1}, `coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 0}, "
        "{`name`: `y`, `velocity`: 0.7}, {`name`: `z`, `initial`: `r`}, `a`, {`name`: `b`, `initial`: 0.1}, `c`],"
        "`frames`: [{`name`: `table`, `orientation`: {`euler`: {`sequence`: `ZYX`, `angles`: [`W*t`, 0, 0]}}}],"
        "`bodies`: [{`name`: `ball`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: [`0.8*r^2`, `0.8*r^2`, "
        "`0.8*r^2`],"
        "`orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `b`, `c`]}}}], `joints`: [{`name`: `J`,"
        "`type`: `rolling`, `radius`: `r`, `normal`: [0, 0, 1], `between`: [`ball`, {`frame`: `table`, `at`: [0, 0, "
        "0]}]}]",
        "`stop`: 0.5, `samples`: 2, `rtol`: 1e-10, `atol`: 1e-12, `initialization`: `project`");
    size_t vx = motion_column(&m, "x'"), vy = motion_column(&m, "y'");
    double turned = 2.0 / 7 * 3.5 * 0.5, x0 = motion_value(&m, 0, vx), y0 = motion_value(&m, 0, vy);
    assert_near("x'", motion_last(&m, "x'"), x0 * cos(turned) - y0 * sin(turned), 1e-7);
    assert_near("y'", motion_last(&m, "y'"), x0 * sin(turned) + y0 * cos(turned), 1e-7);
    motion_free(&m);
}

/* If no force acts, a blade with its mass centre at the contact point rotates at a constant rate and moves in a
 * circle. */
static void a_rotating_blade_moves_in_a_circle(void **state) {
    (void)state;
    motion m =
        motion_run("`coordinates`: [{`name`: `x`, `velocity`: 1.5}, `y`, {`name`: `a`, `velocity`: 2}],"
                   "`bodies`: [{`name`: `skate`, `mass`: 3, `position`: [`x`, `y`], `orientation`: {`angle`: `a`},"
                   "`inertia`: 0.5}],"
                   "`joints`: [{`name`: `J`, `type`: `knife_edge`, `direction`: [1, 0], `between`: [`skate`]}],"
                   "`outputs`: {`side`: `lambda(J.1)`}",
                   "`stop`: 2, `samples`: 5, `rtol`: 1e-10, `atol`: 1e-12");
    assert_near("x", motion_last(&m, "x"), 0.75 * sin(4), 1e-7);
    assert_near("y", motion_last(&m, "y"), 0.75 * (1 - cos(4)), 1e-7);
    assert_near("side force", motion_last(&m, "side"), 3 * 1.5 * 2, 1e-7);
    motion_free(&m);
}

/* A joint holds a particle at a height, and the equation for the height contains no coordinates. If the two heights
 * differ only by rounding errors, the equation must be accepted. */
#define AT_HEIGHTS(height, place)                                                         \
    "`parameters`: {`l`: 0.1, `m`: 0.2}, `coordinates`: [`x`, `y`], `particles`: ["       \
    "{`name`: `P`, `mass`: 1, `position`: [`x`, `y`, " height "]}], `joints`: [{`name`: " \
    "`J`, `type`: `coincident`, `between`: [`P`, [`y`, 0, " place "]]}]"

static void equations_without_coordinates_hold_to_rounding(void **state) {
    static const char *const agree[] = {
        AT_HEIGHTS("`0.1 + 0.2`", "0.3"),     AT_HEIGHTS("`l + m`", "0.3"),
        AT_HEIGHTS("`1e6*(l + m)`", "3e5"),   AT_HEIGHTS("`1e-6*(0.1 + 0.2)`", "3e-7"),
        AT_HEIGHTS("`7 + 300*sin(pi)`", "7"),
    };
    static const char *const differ[] = {
        AT_HEIGHTS("`0.1 + 0.2`", "0.300000000001"),
        AT_HEIGHTS("`l + m`", "0.31"),
        AT_HEIGHTS("`1e-6*(l + m)`", "3.00000000001e-7"),
        AT_HEIGHTS("0", "1e-9"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof agree / sizeof *agree; i++) {
        motion m = motion_run(agree[i], "`stop`: 1, `samples`: 2");
        motion_free(&m);
    }
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++)
        assert_fault(differ[i], "the constraint `J.3` contains no coordinate and does not hold");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coincident_ends_agree_by_component),
        cmocka_unit_test(a_distance_is_kept),
        cmocka_unit_test(a_revolute_joint_leaves_one_rotation),
        cmocka_unit_test(an_axis_may_be_oblique),
        cmocka_unit_test(a_prismatic_joint_leaves_one_translation),
        cmocka_unit_test(a_fixed_joint_leaves_no_freedom),
        cmocka_unit_test(a_wheel_may_be_either_end_of_a_joint_with_a_surface_at_rest),
        cmocka_unit_test(a_wheel_rolls_on_a_moving_body),
        cmocka_unit_test(a_knife_edge_moves_along_its_edge),
        cmocka_unit_test(joints_come_in_families),
        cmocka_unit_test(invalid_joints_are_rejected),
        cmocka_unit_test(the_multiplier_of_a_distance_is_the_compression_of_the_rod),
        cmocka_unit_test(the_multiplier_of_a_joint_of_a_family_is_available),
        cmocka_unit_test(an_inclined_door_swings_about_its_hinge),
        cmocka_unit_test(a_collar_slides_along_its_guide),
        cmocka_unit_test(a_planar_mechanism_may_be_described_in_space),
        cmocka_unit_test(welded_bodies_rotate_as_one),
        cmocka_unit_test(a_disk_rolls_down_an_incline),
        cmocka_unit_test(a_ball_on_a_turntable_moves_in_a_circle),
        cmocka_unit_test(equations_without_coordinates_hold_to_rounding),
        cmocka_unit_test(a_rotating_blade_moves_in_a_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
