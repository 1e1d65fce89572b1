/* test_virtual_work.c — engine/analyze/interactions.c, virtual_work.c and relative_motion.c: generalized forces on
 * quasi-velocities, classes of forces, virtual work on each body, and inertial forces in moving frames. */
#include "engine/analyze/forces.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct work_study {
    fixture f;
    hamel_forces *forces;
} work_study;

static void open_work(work_study *s, const char *members) {
    fixture_derive(&s->f, members);
    s->forces = NULL;
    s->f.description.simulation.initialization = HAMEL_INITIALIZATION_PROJECT;
    hamel_status status = hamel_find_forces(&s->forces, &s->f.description, false, NULL, NULL, &s->f.error);
    if (status != HAMEL_OK) fail_msg("forces: %s", s->f.error.faults[0].message);
}

static void close_work(work_study *s) {
    hamel_forces_free(s->forces);
    fixture_close(&s->f);
}

static const hamel_action *action_in(const hamel_action *actions, size_t count, const char *origin) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(actions[k].origin, origin) == 0) return &actions[k];
    fail_msg("no force from %s", origin);
    return NULL;
}

static const hamel_action *force_of(const work_study *s, const char *origin) {
    return action_in(s->forces->actions, s->forces->count, origin);
}

static const hamel_action *reaction_of(const work_study *s, const char *constraint) {
    return action_in(s->forces->reactions, s->forces->reaction_count, constraint);
}

static const hamel_body_work *body_of(const work_study *s, const char *name) {
    for (size_t k = 0; k < s->forces->body_count; k++)
        if (strcmp(s->forces->bodies[k].name, name) == 0) return &s->forces->bodies[k];
    fail_msg("no body %s", name);
    return NULL;
}

/* Returns the force on the coordinate `name`, or NULL if the list does not contain it. Forces that vanish are not
 * listed. */
static const hamel_generalized_force *item_on(const hamel_generalized_force *list, size_t count, const char *name) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k].coordinate, name) == 0) return &list[k];
    return NULL;
}

static double value_on(const hamel_generalized_force *list, size_t count, const char *name) {
    const hamel_generalized_force *item = item_on(list, count, name);
    return item ? item->value : 0;
}

static void expect_expression(work_study *s, const char *what, const char *found, const char *expected) {
    char copy[2000];
    snprintf(copy, sizeof copy, "%s", found);
    assert_same(&s->f, what, fixture_node(&s->f, copy), fixture_node(&s->f, expected));
}

static void expect_on(work_study *s, const hamel_action *action, const char *coordinate, const char *expected) {
    const hamel_generalized_force *item = item_on(action->on, action->count, coordinate);
    if (!item) fail_msg("%s: no force on %s", action->origin, coordinate);
    expect_expression(s, action->origin, item->expression, expected);
}

/* Checks that a force is "impressed" or a "reaction" (`nature`), and "internal" or "external" (`scope`). If `scope`
 * is NULL, the analysis must not decide between the last two. */
static void expect_classes(const hamel_action *action, const char *nature, const char *scope) {
    assert_string_equal(action->nature, nature);
    if (!scope) assert_null(action->scope);
    if (scope && !action->scope) fail_msg("%s: undecided", action->origin);
    if (scope) assert_string_equal(action->scope, scope);
}

/* --- work on each body ---------------------------------------------------------------------------------------------- */

/* Baruh, examples 4.5 and 4.13: a disk (m, R) rolls on a rod (2m, L), on which the moment M acts. Q_θ = M − mgL cos
 * θ − mg ((L − Rφ) cos θ − R sin θ) and Q_φ = mgR sin θ. Each generalized force is the sum of the contributions of
 * the rod and the disk. */
static void the_virtual_work_on_a_rod_and_a_disk_has_the_published_parts(void **state) {
    (void)state;
    work_study s;
    open_work(&s,
              "`parameters`: {`m`: 1, `R`: 0.1, `L`: 1, `g`: 9.81, `M`: 25}, `coordinates`: [{`name`: `a`, `initial`: "
              "0.3}, `f`], `gravity`: [0, `-g`], `bodies`: [{`name`: `rod`, `mass`: `2*m`, `inertia`: `m*L^2/6`,"
              "`position`: [`L/2*cos(a)`, `L/2*sin(a)`], `orientation`: {`angle`: `a`}},"
              "{`name`: `disk`, `mass`: `m`, `inertia`: `m*R^2/2`, `orientation`: {`angle`: `a + f`}, `position`:"
              "[`(L - R*f)*cos(a) - R*sin(a)`, `(L - R*f)*sin(a) + R*cos(a)`]}],"
              "`loads`: [{`on`: `rod`, `torque`: `M`}]");
    const hamel_body_work *rod = body_of(&s, "rod"), *disk = body_of(&s, "disk");
    assert_int_equal(rod->force_count, 2);
    expect_on(&s, action_in(rod->forces, 2, "gravity"), "a", "-m*g*L*cos(a)");
    expect_on(&s, action_in(rod->forces, 2, "load on rod"), "a", "M");
    expect_on(&s, action_in(disk->forces, disk->force_count, "gravity"), "a", "-m*g*((L - R*f)*cos(a) - R*sin(a))");
    expect_on(&s, action_in(disk->forces, disk->force_count, "gravity"), "f", "m*g*R*sin(a)");
    expect_on(&s, force_of(&s, "gravity"), "a", "-m*g*L*cos(a) - m*g*((L - R*f)*cos(a) - R*sin(a))");
    expect_expression(&s, "inertia", item_on(rod->inertia, rod->inertia_count, "a")->expression, "2*m*L^2*a''/3");
    /* the work of the reactions between rod and disk cancels, because the coordinates satisfy the rolling constraint */
    for (int k = 0; k < 2; k++) {
        const char *on = k ? "f" : "a";
        double sum =
            value_on(rod->reactions, rod->reaction_count, on) + value_on(disk->reactions, disk->reaction_count, on);
        assert_near(on, sum, 0, 1e-12); /* rounding errors of terms up to 25 */
    }
    assert_true(fabs(value_on(rod->reactions, rod->reaction_count, "a")) > 1);
    close_work(&s);
}

/* Baruh, example 4.6: the virtual work of the force of a smooth pin on one link is opposite to that on the other
 * link. The coordinates satisfy the pin constraint, so the reaction follows from the balance of the lower link. With
 * the acceleration a_2 of its centre, R = m2 (a_2 − g). The pin is at r_P = L1 (sin θ1, −cos θ1), and the work is
 * R·δr_P. */
static void the_virtual_work_of_a_pin_cancels_in_the_sum_over_both_links(void **state) {
    (void)state;
    work_study s;
    open_work(&s,
              "`parameters`: {`m2`: 0.7, `L1`: 0.8, `L2`: 0.6, `g`: 9.81}, `coordinates`: [{`name`: `a`, `initial`: "
              "0.3, `velocity`: 1}, {`name`: `b`, `initial`: -0.5, `velocity`: 2}], `gravity`: [0, `-g`],"
              "`bodies`: [{`name`: `A`, `mass`: 1.2, `position`: [`L1/2*sin(a)`, `-L1/2*cos(a)`], `inertia`: 0.064,"
              "`orientation`: {`angle`: `a`}}, {`name`: `B`, `mass`: `m2`, `inertia`: `m2*L2^2/12`,"
              "`orientation`: {`angle`: `b`}, `position`: [`L1*sin(a) + L2/2*sin(b)`, `-L1*cos(a) - L2/2*cos(b)`]}]");
    const hamel_body_work *A = body_of(&s, "A"), *B = body_of(&s, "B");
    expect_expression(&s, "pin", item_on(B->reactions, B->reaction_count, "a")->expression,
                      "m2*L1*cos(a)*(L1*(a''*cos(a) - a'^2*sin(a)) + L2/2*(b''*cos(b) - b'^2*sin(b)))"
                      "+ m2*L1*sin(a)*(L1*(a''*sin(a) + a'^2*cos(a)) + L2/2*(b''*sin(b) + b'^2*cos(b)) + g)");
    double on_A = value_on(A->reactions, A->reaction_count, "a"), on_B = value_on(B->reactions, B->reaction_count, "a");
    assert_true(fabs(on_A) > 0.1);
    assert_near("pin", on_A, -on_B, 1e-13);
    assert_near("sum", value_on(s.forces->reaction_sum, s.forces->reaction_sum_count, "a"), 0, 1e-13);
    close_work(&s);
}

static const char *const machine_in_the_plane =
    "`coordinates`: [{`name`: `x1`, `initial`: 0.4}, {`name`: `y1`, `initial`: 0.1}, {`name`: `a1`, `initial`: 0.2},"
    "{`name`: `x2`, `initial`: 1.1}, {`name`: `y2`, `initial`: 0.3}, {`name`: `a2`, `initial`: 0.5}],"
    "`gravity`: [0, -9.81], `bodies`: ["
    "{`name`: `A`, `mass`: 2, `position`: [`x1`, `y1`], `inertia`: 0.3, `orientation`: {`angle`: `a1`}},"
    "{`name`: `B`, `mass`: 1, `position`: [`x2`, `y2`], `inertia`: 0.1, `orientation`: {`angle`: `a2`}}],"
    "`points`: [{`name`: `EA`, `position`: {`frame`: `A`, `at`: [0.4, 0.1]}},"
    "{`name`: `EB`, `position`: {`frame`: `B`, `at`: [-0.3, 0]}}],"
    "`frames`: [{`name`: `shaker`, `origin`: [`0.1*sin(3*t)`, 0]}],"
    "`springs`: [{`name`: `inner`, `between`: [`EA`, `B`], `stiffness`: 30, `length`: 0.2},"
    "{`name`: `outer`, `between`: [`EB`, `shaker`], `stiffness`: 20}],"
    "`dampers`: [{`name`: `d`, `between`: [`A`, `EB`], `coefficient`: 2}],"
    "`loads`: [{`on`: `EA`, `force`: [3, `2*x1`]}, {`on`: `B`, `torque`: 0.7}]";

/* Adds the generalized forces from `origin` on all bodies to `sum`, which has one element for each coordinate. */
static void add_up(const work_study *s, const char *origin, double *sum) {
    for (size_t b = 0; b < s->forces->body_count; b++)
        for (size_t k = 0; k < s->forces->bodies[b].force_count; k++) {
            const hamel_action *force = &s->forces->bodies[b].forces[k];
            if (strcmp(force->origin, origin) != 0) continue;
            for (size_t i = 0; i < s->f.system->coordinate_count; i++)
                sum[i] += value_on(force->on, force->count, s->f.system->coordinates[i].name);
        }
}

/* Checks that the virtual work of each force on the bodies adds up to its generalized force. The engine derives the
 * latter differently: from potentials, constraint gradients or virtual displacements of single coordinates. Forces
 * on unknown bodies are skipped. */
static void expect_sums(const work_study *s, const hamel_action *actions, size_t count) {
    for (size_t k = 0; k < count; k++) {
        double sum[32] = {0};
        if (!actions[k].temporal_known) continue;
        add_up(s, actions[k].origin, sum);
        for (size_t i = 0; i < s->f.system->coordinate_count; i++)
            assert_near(actions[k].origin, sum[i],
                        value_on(actions[k].on, actions[k].count, s->f.system->coordinates[i].name), 1e-11);
    }
}

/* Checks d'Alembert's principle: the virtual work of the reactions on all bodies adds up to the generalized
 * reactions of the constraints. The reactions on bodies contain accelerations, whose rounding errors are about
 * 1e-13. */
static void expect_balance(const work_study *s) {
    assert_null(s->forces->reactions_omitted);
    for (size_t i = 0; i < s->f.system->coordinate_count; i++) {
        const char *on = s->f.system->coordinates[i].name;
        double sum = 0, expected = 0;
        for (size_t b = 0; b < s->forces->body_count; b++)
            sum += value_on(s->forces->bodies[b].reactions, s->forces->bodies[b].reaction_count, on);
        for (size_t c = 0; c < s->forces->reaction_count; c++)
            expected += value_on(s->forces->reactions[c].on, s->forces->reactions[c].count, on);
        assert_near(on, sum, expected, 1e-10);
        assert_near(on, value_on(s->forces->reaction_sum, s->forces->reaction_sum_count, on), expected, 1e-10);
    }
}

static void check_machine(const char *members, const char *joints) {
    char text[4000];
    work_study s;
    snprintf(text, sizeof text, "%s%s", members, joints);
    open_work(&s, text);
    expect_sums(&s, s.forces->actions, s.forces->count);
    expect_sums(&s, s.forces->reactions, s.forces->reaction_count);
    for (size_t c = 0; c < s.forces->reaction_count; c++)
        if (!strstr(s.forces->reactions[c].origin, "norm")) assert_true(s.forces->reactions[c].temporal_known);
    expect_balance(&s);
    close_work(&s);
}

static void virtual_work_on_bodies_adds_up_to_generalized_forces(void **state) {
    (void)state;
    check_machine(machine_in_the_plane, "");
}

/* For each type of joint, the forces and couples on the two bodies follow from the geometry of the joint. The
 * generalized reactions follow from the gradients of its constraints. Initial values need not satisfy the joints,
 * because open_work projects them. */
static void reactions_of_plane_joints_on_bodies_add_up_to_generalized_reactions(void **state) {
    (void)state;
    static const char *const joints[] = {
        "{`name`: `J`, `type`: `revolute`, `between`: [`EA`, `EB`]}",
        "{`name`: `J`, `type`: `coincident`, `between`: [`EA`, `EB`]}",
        "{`name`: `J`, `type`: `distance`, `between`: [`EA`, `EB`], `length`: 0.5}",
        "{`name`: `J`, `type`: `prismatic`, `between`: [`A`, `B`], `axis`: [1, 0.3]}",
        "{`name`: `J`, `type`: `fixed`, `between`: [`A`, `B`]}",
        "{`name`: `J`, `type`: `rolling`, `between`: [`B`, `A`], `normal`: [0, 1], `radius`: 0.1}",
        "{`name`: `J`, `type`: `knife_edge`, `between`: [`EB`], `direction`: [1, 0]}",
        "{`name`: `J`, `type`: `knife_edge`, `between`: [`B`, `A`], `direction`: [1, 0]}",
        "{`name`: `J`, `type`: `revolute`, `between`: [`EA`, `shaker`]}",
    };
    for (size_t k = 0; k < sizeof joints / sizeof *joints; k++) {
        char text[400];
        snprintf(text, sizeof text, ", `joints`: [%s]", joints[k]);
        check_machine(machine_in_the_plane, text);
    }
}

static const char *const machine_in_space =
    "`coordinates`: [{`name`: `x`, `initial`: 0.4}, {`name`: `y`, `initial`: 0.1}, {`name`: `z`, `initial`: 0.2},"
    "{`name`: `e0`, `initial`: 1}, {`name`: `e1`, `initial`: 0}, {`name`: `e2`, `initial`: 0}, {`name`: `e3`, "
    "`initial`: "
    "0}, {`name`: `u`, `initial`: 1}, {`name`: `v`, `initial`: 0.5}, {`name`: `w`, `initial`: -0.2},"
    "{`name`: `a`, `initial`: 0.3}, {`name`: `b`, `initial`: 0.7}, {`name`: `c`, `initial`: 0.1}], `gravity`: [0, 0, "
    "-9],"
    "`bodies`: [{`name`: `A`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: [0.3, 0.4, 0.5],"
    "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}, {`name`: `B`, `mass`: 1, `position`: [`u`, `v`, `w`],"
    "`inertia`: [0.2, 0.3, 0.3], `orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`a`, `b`, `c`]}}}],"
    "`points`: [{`name`: `E`, `position`: {`frame`: `A`, `at`: [0.4, 0.1, -0.2]}}],"
    "`springs`: [{`name`: `s`, `between`: [`E`, `B`], `stiffness`: 30, `length`: 0.2}],"
    "`loads`: [{`on`: `E`, `force`: [3, 2, 1]}, {`on`: `B`, `torque`: [0.7, 0.1, 0.4]}]";

static void reactions_of_spatial_joints_on_bodies_add_up_to_generalized_reactions(void **state) {
    (void)state;
    static const char *const joints[] = {
        "{`name`: `J`, `type`: `revolute`, `between`: [`A`, `B`], `axis`: [1, 2, 3]}",
        "{`name`: `J`, `type`: `prismatic`, `between`: [`A`, `B`], `axis`: [1, 0.2, -0.4]}",
        "{`name`: `J`, `type`: `rolling`, `between`: [`B`, `A`], `normal`: [0, 0, 1], `radius`: 0.1}",
        "{`name`: `J`, `type`: `knife_edge`, `between`: [`B`, `A`], `direction`: [1, 0.5, 0]}",
    };
    for (size_t k = 0; k < sizeof joints / sizeof *joints; k++) {
        char text[400];
        snprintf(text, sizeof text, ", `joints`: [%s]", joints[k]);
        check_machine(machine_in_space, text);
    }
}

/* --- classes -------------------------------------------------------------------------------------------------------- */

/* Papastavridis, examples 3.2.1 and 3.2.2: weights are external and impressed. Rigid connections between bodies of
 * the system exert internal reactions, and the ground exerts external reactions. The bodies on which
 * `generalized_forces`, `dissipation` and abstract constraints act are unknown. */
static void forces_have_the_published_classes(void **state) {
    (void)state;
    char text[4000];
    work_study s;
    snprintf(text, sizeof text,
             "%s, `generalized_forces`: {`a1`: 0.2}, `dissipation`: `x1'^2`, `joints`: ["
             "{`name`: `J`, `type`: `revolute`, `between`: [`EA`, `EB`]},"
             "{`name`: `G`, `type`: `distance`, `between`: [`A`, [0, 2]], `length`: 2}],"
             "`constraints`: [{`name`: `abstract`, `equation`: `a1 = a2/3`}]",
             machine_in_the_plane);
    open_work(&s, text);
    expect_classes(force_of(&s, "gravity"), "impressed", "external");
    expect_classes(force_of(&s, "load on EA"), "impressed", "external");
    expect_classes(force_of(&s, "spring inner"), "impressed", "internal");
    expect_classes(force_of(&s, "damper d"), "impressed", "internal");
    expect_classes(force_of(&s, "spring outer"), "impressed", "external");
    expect_classes(force_of(&s, "generalized_forces"), "impressed", NULL);
    expect_classes(force_of(&s, "dissipation"), "impressed", NULL);
    expect_classes(reaction_of(&s, "J.1"), "reaction", "internal");
    expect_classes(reaction_of(&s, "G.1"), "reaction", "external");
    expect_classes(reaction_of(&s, "abstract"), "reaction", NULL);
    assert_string_equal(force_of(&s, "spring outer")->between[0], "B");
    assert_string_equal(force_of(&s, "spring outer")->between[1], "ground");
    assert_null(reaction_of(&s, "abstract")->between[0]);
    assert_false(force_of(&s, "dissipation")->temporal_known);
    assert_non_null(s.forces->reactions_omitted);
    close_work(&s);
}

/* The position of the point Q depends on the coordinate y, but Q does not belong to a body or particle. The spring
 * may therefore be internal or external. */
static void a_spring_to_a_point_without_a_body_is_neither_internal_nor_external(void **state) {
    (void)state;
    work_study s;
    open_work(&s, "`coordinates`: [`x`, `y`], `particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, 0]}],"
                  "`kinetic_energy`: `y'^2`, `points`: [{`name`: `Q`, `position`: [`y`, 1]}],"
                  "`springs`: [{`name`: `s`, `between`: [`P`, `Q`], `stiffness`: 3}]");
    expect_classes(force_of(&s, "spring s"), "impressed", NULL);
    assert_non_null(s.forces->reactions_omitted);
    close_work(&s);
}

/* Papastavridis, example 3.2.1: sliding friction is impressed, and sticking friction is a reaction. */
static void sliding_friction_is_impressed_and_sticking_friction_is_a_reaction(void **state) {
    (void)state;
    static const char block[] =
        "`parameters`: {`v0`: %s}, `coordinates`: [{`name`: `x`, `velocity`: `v0`}, `y`], `gravity`: [1, -10],"
        "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`]}],"
        "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.5}}]";
    work_study s;
    char text[1000];
    snprintf(text, sizeof text, block, "2");
    open_work(&s, text);
    expect_classes(force_of(&s, "friction on floor"), "impressed", "external");
    assert_non_null(s.forces->reactions_omitted);
    close_work(&s);
    snprintf(text, sizeof text, block, "0");
    open_work(&s, text);
    expect_classes(force_of(&s, "friction on floor"), "reaction", "external");
    close_work(&s);
}

/* --- quasi-velocities and temporal components ------------------------------------------------------------------------ */

/* A spring connects a particle and a support that moves by sin t. The force F = −k (x − sin t − l) acts on the
 * particle, whose position does not depend explicitly on t. −F acts on the support, whose partial velocity e_0 is
 * cos t. Therefore Q_0 = k (x − sin t − l) cos t. */
static void a_spring_to_a_moving_support_has_a_temporal_force(void **state) {
    (void)state;
    work_study s;
    open_work(&s, "`parameters`: {`k`: 7, `l`: 0.4}, `coordinates`: [{`name`: `x`, `initial`: 1}],"
                  "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, 0]}],"
                  "`frames`: [{`name`: `S`, `origin`: [`sin(t)`, 0]}],"
                  "`springs`: [{`name`: `s`, `between`: [`P`, `S`], `stiffness`: `k`, `length`: `l`}]");
    const hamel_action *spring = force_of(&s, "spring s");
    assert_true(spring->temporal_known);
    expect_expression(&s, "Q_0", spring->temporal.expression,
                      "k*(sqrt((x - sin(t))^2) - l)*(x - sin(t))*cos(t)/sqrt((x - sin(t))^2)");
    assert_near("Q_0 at t = 0", spring->temporal.value, 7 * 0.6, 1e-14);
    assert_int_equal(spring->quasi_count, 0);
    close_work(&s);
}

/* Papastavridis 3.4 and problem 3.4.1: for u_k = Σ a_kl q'_l + a_k, Q_l = Σ a_kl Θ_k and Θ_0 = −Σ a_k Θ_k + Q_0. The
 * ball on a turntable of example 2.13.6 has a_1 = W Y and a_2 = −W X. */
static void forces_on_quasi_velocities_satisfy_the_published_transformation(void **state) {
    (void)state;
    work_study s;
    open_work(
        &s, "`parameters`: {`r`: 0.5, `W`: 3}, `coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: "
            "0.4}, {`name`: `ph`, `initial`: 0.5}, {`name`: `th`, `initial`: 0.6}, {`name`: `ps`, `initial`: 0.7}],"
            "`bodies`: [{`name`: `ball`, `mass`: 1, `position`: [`X + 0.1*t`, `Y`, `r`], `inertia`: [0.1, 0.1, 0.1],"
            "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`ph`, `th`, `ps`]}}}],"
            "`loads`: [{`on`: `ball`, `force`: [2, 3, 5], `torque`: [1, 4, 6]}],"
            "`quasi_velocities`: [{`name`: `u1`, `definition`: `X' - r*u4 + W*Y`},"
            "{`name`: `u2`, `definition`: `Y' + r*u3 - W*X`},"
            "{`name`: `u3`, `definition`: `cos(ph)*th' + sin(ph)*sin(th)*ps'`},"
            "{`name`: `u4`, `definition`: `sin(ph)*th' - cos(ph)*sin(th)*ps'`},"
            "{`name`: `u5`, `definition`: `ph' + cos(th)*ps'`}]");
    const hamel_action *load = force_of(&s, "load on ball");
    const double W = 3, X = 0.3, Y = 0.4, r = 0.5;
    double theta1 = value_on(load->quasi, load->quasi_count, "u1"),
           theta2 = value_on(load->quasi, load->quasi_count, "u2");
    /* δr = (δθ1 + r δθ4, δθ2 − r δθ3) and δφ = (δθ3, δθ4, δθ5) */
    assert_near("Theta_u1", theta1, 2, 1e-13);
    assert_near("Theta_u2", theta2, 3, 1e-13);
    assert_near("Theta_u3", value_on(load->quasi, load->quasi_count, "u3"), 1 - r * 3, 1e-13);
    assert_near("Theta_u4", value_on(load->quasi, load->quasi_count, "u4"), 4 + r * 2, 1e-13);
    assert_near("Theta_u5", value_on(load->quasi, load->quasi_count, "u5"), 6, 1e-13);
    assert_near("Q_0", load->temporal.value, 0.2, 1e-14);
    assert_near("Theta_0", load->quasi_temporal.value, 0.2 - W * Y * theta1 + W * X * theta2, 1e-13);
    assert_near("Q_ph", value_on(load->on, load->count, "ph"), 6, 1e-13); /* Q_ph = Theta_5 */
    assert_false(s.forces->quasi_omitted);
    close_work(&s);
}

/* Papastavridis 3.4: the reaction λ of the constraint u = 0 is a force on the quasi-velocity u only. */
static void the_reaction_of_a_constrained_quasi_velocity_acts_only_on_it(void **state) {
    (void)state;
    work_study s;
    open_work(&s, "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `f`, `velocity`: 2}],"
                  "`kinetic_energy`: `x'^2 + y'^2 + f'^2/2`, `constraints`: [{`name`: `blade`, `equation`: `u = 0`}],"
                  "`quasi_velocities`: [{`name`: `u`, `definition`: `-sin(f)*x' + cos(f)*y'`},"
                  "{`name`: `v`, `definition`: `cos(f)*x' + sin(f)*y'`}, {`name`: `w`, `definition`: `f'`}]");
    const hamel_action *blade = reaction_of(&s, "blade");
    assert_int_equal(blade->quasi_count, 1);
    assert_string_equal(blade->quasi[0].coordinate, "u");
    assert_string_equal(blade->quasi[0].expression, "lambda(blade)");
    /* 2 v w: the mass 2 times the normal acceleration v w, with v = 1 and w = 2 */
    assert_near("Lambda", blade->quasi[0].value, 4, 1e-13);
    assert_false(blade->temporal_known);
    close_work(&s);
}

/* --- moving frames -------------------------------------------------------------------------------------------------- */

/* Papastavridis 1.7.15 and 1.7.20: in plane axes that rotate at ω(t), a = (x'' − y ω' − x ω² − 2 y' ω, y'' + x ω' −
 * y ω² + 2 x' ω). The angle of the frame is t²/2, so ω = t and ω' = 1. Its origin moves with X = t³. The five parts
 * are those of the origin, Euler, the centrifugal, Coriolis and relative forces. */
static void inertial_forces_in_the_plane_have_the_published_parts(void **state) {
    (void)state;
    work_study s;
    open_work(&s, "`parameters`: {`m`: 2}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 2}],"
                  "`frames`: [{`name`: `F`, `origin`: [`t^3`, 0], `orientation`: {`angle`: `t^2/2`}}],"
                  "`particles`: [{`name`: `P`, `mass`: `m`, `position`: {`frame`: `F`, `at`: [`x`, `y`]}}]");
    static const char *const expected[5][2] = {{"-6*m*t*cos(t^2/2)", "6*m*t*sin(t^2/2)"},
                                               {"m*y", "-m*x"},
                                               {"m*t^2*x", "m*t^2*y"},
                                               {"2*m*t*y'", "-2*m*t*x'"},
                                               {"-m*x''", "-m*y''"}};
    assert_int_equal(s.forces->relative_count, 1);
    const hamel_relative_motion *P = &s.forces->relative[0];
    assert_string_equal(P->frame, "F");
    for (int k = 0; k < 5; k++)
        for (int c = 0; c < 2; c++) expect_expression(&s, P->parts[k].part, P->parts[k].components[c], expected[k][c]);
    assert_near("Euler", P->parts[1].values[0], 4, 1e-14);
    close_work(&s);
}

/* The sum of the five parts is −m r'' in the axes of the frame. The test derives r'' from the inertial position of
 * the particle and compares the lengths of the two vectors, because their axes differ. */
static void the_sum_of_inertial_forces_in_space_has_the_length_of_the_acceleration(void **state) {
    (void)state;
    work_study s;
    open_work(&s,
              "`coordinates`: [`x`, {`name`: `y`, `initial`: 1}, {`name`: `z`, `initial`: 0.2}],"
              "`frames`: [{`name`: `F`, `origin`: [`sin(t)`, 0, `t^2`], `orientation`: {`euler`: {`sequence`: `ZYX`,"
              "`angles`: [`t`, `t^2`, `cos(t)`]}}}],"
              "`particles`: [{`name`: `P`, `mass`: 1, `position`: {`frame`: `F`, `at`: [`x`, `y*z`, `z`]}}]");
    hamel_system *system = s.f.system;
    graph *g = system->graph;
    const system_particle *P = &system->particles[0];
    const hamel_relative_motion *motion = &s.forces->relative[0];
    graph_node square = graph_number(g, 0), expected = graph_number(g, 0);
    for (int c = 0; c < 3; c++) {
        graph_node sum = graph_number(g, 0), rate = graph_rate(g, graph_rate(g, P->position[c]));
        for (int k = 0; k < 5; k++) {
            char text[4000];
            snprintf(text, sizeof text, "%s", motion->parts[k].components[c]);
            sum = graph_add(g, sum, fixture_node(&s.f, text));
        }
        /* the square of the length does not depend on the axes */
        square = graph_add(g, square, graph_mul(g, sum, sum));
        expected = graph_add(g, expected, graph_mul(g, rate, rate));
    }
    assert_same(&s.f, "length", square, expected);
    close_work(&s);
}

/* Above 24 coordinates, the work on bodies is omitted, and work_omitted contains the reason. */
static void work_on_bodies_is_omitted_for_large_systems(void **state) {
    (void)state;
    work_study s;
    open_work(&s, "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..25`}], `gravity`: [-1, 0], `particles`: ["
                  "{`name`: `P[i]`, `for`: `i = 1..25`, `mass`: 1, `position`: [`x[i]`, 0]}]");
    assert_int_equal(s.forces->body_count, 0);
    assert_non_null(s.forces->work_omitted);
    close_work(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_virtual_work_on_a_rod_and_a_disk_has_the_published_parts),
        cmocka_unit_test(the_virtual_work_of_a_pin_cancels_in_the_sum_over_both_links),
        cmocka_unit_test(virtual_work_on_bodies_adds_up_to_generalized_forces),
        cmocka_unit_test(reactions_of_plane_joints_on_bodies_add_up_to_generalized_reactions),
        cmocka_unit_test(reactions_of_spatial_joints_on_bodies_add_up_to_generalized_reactions),
        cmocka_unit_test(forces_have_the_published_classes),
        cmocka_unit_test(a_spring_to_a_point_without_a_body_is_neither_internal_nor_external),
        cmocka_unit_test(sliding_friction_is_impressed_and_sticking_friction_is_a_reaction),
        cmocka_unit_test(a_spring_to_a_moving_support_has_a_temporal_force),
        cmocka_unit_test(forces_on_quasi_velocities_satisfy_the_published_transformation),
        cmocka_unit_test(the_reaction_of_a_constrained_quasi_velocity_acts_only_on_it),
        cmocka_unit_test(inertial_forces_in_the_plane_have_the_published_parts),
        cmocka_unit_test(the_sum_of_inertial_forces_in_space_has_the_length_of_the_acceleration),
        cmocka_unit_test(work_on_bodies_is_omitted_for_large_systems),
    };
    return cmocka_run_group_tests_name("virtual_work", tests, NULL, NULL);
}
