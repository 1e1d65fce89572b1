/* test_displacements.c — engine/analyze/displacements.c, configuration.c and quasi_derivatives.c: virtual
 * displacements, virtual forms of constraints, and quasi-derivatives, compared with textbooks and with independent
 * derivations. */
#include "engine/analyze/displacements.h"
#include "engine/analyze/forces.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A description, its equations and its virtual displacements. close_study frees them. */
typedef struct study {
    fixture f;
    hamel_displacements *found;
} study;

static void open_study(study *s, const char *members) {
    fixture_derive(&s->f, members);
    s->found = NULL;
    hamel_status status = hamel_find_displacements(&s->found, &s->f.description, false, NULL, NULL, &s->f.error);
    if (status != HAMEL_OK) fail_msg("displacements: %s", s->f.error.faults[0].message);
    assert_true(s->found->simplified);
}

static void close_study(study *s) {
    hamel_displacements_free(s->found);
    fixture_close(&s->f);
}

static const hamel_element_displacements *element_of(const study *s, const char *name) {
    for (size_t k = 0; k < s->found->element_count; k++)
        if (strcmp(s->found->elements[k].name, name) == 0) return &s->found->elements[k];
    fail_msg("no element %s", name);
    return NULL;
}

/* Parses an expression. Displacements D(x) and operators d/d(x) in `text` are replaced by velocities x', which the
 * parser supports. */
static graph_node read_text(study *s, const char *text) {
    char *copy = calloc(strlen(text) + 1, 1), *to = copy;
    assert_non_null(copy);
    while (*text) {
        size_t skip = strncmp(text, "d/d(", 4) == 0 ? 4 : strncmp(text, "D(", 2) == 0 ? 2 : 0;
        if (skip == 0) {
            *to++ = *text++;
            continue;
        }
        for (text += skip; *text != ')'; text++) *to++ = *text;
        *to++ = '\'';
        text++;
    }
    graph_node node = fixture_node(&s->f, copy);
    free(copy);
    return node;
}

static void expect_same(study *s, const char *what, const char *found, const char *expected) {
    if (!found) fail_msg("%s: missing", what);
    assert_same(&s->f, what, read_text(s, found), fixture_node(&s->f, expected));
}

/* Checks the partial velocity vector of the coordinate or quasi-velocity `of`. If `of` is NULL, checks the partial
 * derivative with respect to time. `expected` ends early with NULL for vectors in the plane. */
static void expect_vector(study *s, const hamel_vectors *vectors, const char *of, const char *const expected[3]) {
    const hamel_vector *vector = of ? NULL : &vectors->time;
    for (size_t k = 0; k < vectors->count && of; k++)
        if (strcmp(vectors->items[k].of, of) == 0) vector = &vectors->items[k];
    if (!vector) fail_msg("no vector of %s", of);
    for (size_t c = 0; c < 3 && expected[c]; c++) expect_same(s, of ? of : "time", vector->items[c], expected[c]);
}
#define VECTOR(...) ((const char *const[3]){__VA_ARGS__})

static const hamel_virtual_constraint *constraint_of(const study *s, const char *name) {
    for (size_t k = 0; k < s->found->constraint_count; k++)
        if (strcmp(s->found->constraints[k].name, name) == 0) return &s->found->constraints[k];
    fail_msg("no constraint %s", name);
    return NULL;
}

/* Papastavridis, example 2.5.1 (i): a particle on a line that rotates with the angle φ = f(t). The real displacement
 * dr contains a term in dt. The virtual displacement δr is parallel to the line. */
static void real_and_virtual_displacements_differ_on_a_rotating_line(void **state) {
    (void)state;
    study s;
    open_study(&s, "`parameters`: {`w`: 2}, `coordinates`: [{`name`: `r`, `initial`: 1}],"
                   "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`r*cos(w*t)`, `r*sin(w*t)`]}]");
    const hamel_displacement *P = &element_of(&s, "P")->position;
    assert_int_equal(P->dimension, 2);
    assert_string_equal(P->virtual_form[0], "cos(w*t)*D(r)");
    assert_string_equal(P->real_form[1], "sin(w*t)*d(r) + w*r*cos(w*t)*d(t)");
    expect_vector(&s, &P->coordinates, "r", VECTOR("cos(w*t)", "sin(w*t)"));
    expect_vector(&s, &P->coordinates, NULL, VECTOR("-w*r*sin(w*t)", "w*r*cos(w*t)"));
    assert_int_equal(element_of(&s, "P")->rotation.dimension, 0);
    assert_int_equal(P->quasi.count + P->independent.count, 0);
    close_study(&s);
}

/* Papastavridis, example 2.5.1 (ii): a particle on a wedge that moves by x = f(t). δr is parallel to the slope. dr
 * is the sum of a displacement along the slope and of the displacement of the wedge. */
static void virtual_displacements_on_a_moving_wedge_follow_its_slope(void **state) {
    (void)state;
    study s;
    open_study(&s, "`parameters`: {`a`: 0.4}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: "
                   "0.422793218738161}], `particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`]}],"
                   "`constraints`: [{`name`: `slope`, `equation`: `y = tan(a)*(x - sin(t))`}]");
    const hamel_virtual_constraint *slope = constraint_of(&s, "slope");
    assert_string_equal(slope->rule, "gradient");
    const char *equals = strstr(slope->virtual_form, " = 0");
    char left[200];
    assert_non_null(equals);
    snprintf(left, sizeof left, "%.*s", (int)(equals - slope->virtual_form), slope->virtual_form);
    expect_same(&s, "virtual form", left, "y' - tan(a)*x'");
    assert_non_null(strstr(slope->real_form, "d(t)"));
    const hamel_vectors *beta = &element_of(&s, "P")->position.independent;
    assert_int_equal(beta->count, 1);
    expect_vector(&s, beta, beta->items[0].of,
                  strcmp(beta->items[0].of, "x") == 0 ? VECTOR("1", "tan(a)") : VECTOR("1/tan(a)", "1"));
    assert_true(s.found->drift_known);
    close_study(&s);
}

/* Papastavridis, example 2.5.2 (ii): a point (X, Y) of a rigid body with the pole P and the angle φ has δX = δX_P −
 * δφ (Y − Y_P) and δY = δY_P + δφ (X − X_P). */
static void displacements_of_a_rigid_body_depend_on_its_pole_and_angle(void **state) {
    (void)state;
    study s;
    open_study(&s, "`coordinates`: [`X`, `Y`, {`name`: `f`, `initial`: 0.3}], `bodies`: [{`name`: `B`, `mass`: 1,"
                   "`position`: [`X`, `Y`], `inertia`: 1, `orientation`: {`angle`: `f`}}],"
                   "`points`: [{`name`: `E`, `position`: {`frame`: `B`, `at`: [0.7, 0.2]}}]");
    const hamel_vectors *E = &element_of(&s, "E")->position.coordinates;
    expect_vector(&s, E, "X", VECTOR("1", "0"));
    expect_vector(&s, E, "Y", VECTOR("0", "1"));
    expect_vector(&s, E, "f", VECTOR("-(0.7*sin(f) + 0.2*cos(f))", "0.7*cos(f) - 0.2*sin(f)"));
    assert_int_equal(element_of(&s, "B")->rotation.dimension, 1);
    expect_vector(&s, &element_of(&s, "B")->rotation.coordinates, "f", VECTOR("1"));
    assert_int_equal(element_of(&s, "B")->body_rotation.dimension, 0);
    close_study(&s);
}

/* Baruh, example 4.5: a disk of radius R rolls on a rod of length L and angle θ. In the axes i, j of the rod, the
 * centre of the disk has δr_G = −R (δφ + δθ) i + (L − R φ) δθ j. The test rotates this vector by θ into the inertial
 * axes. */
static void a_disk_on_a_rod_has_the_published_displacement(void **state) {
    (void)state;
    study s;
    open_study(&s, "`parameters`: {`R`: 0.1, `L`: 1}, `coordinates`: [{`name`: `a`, `initial`: 0.3}, `f`],"
                   "`particles`: [{`name`: `G`, `mass`: 1, `position`: [`(L - R*f)*cos(a) - R*sin(a)`,"
                   "`(L - R*f)*sin(a) + R*cos(a)`]}]");
    const hamel_displacement *G = &element_of(&s, "G")->position;
    expect_same(&s, "x", G->virtual_form[0], "-R*(f' + a')*cos(a) - (L - R*f)*a'*sin(a)");
    expect_same(&s, "y", G->virtual_form[1], "-R*(f' + a')*sin(a) + (L - R*f)*a'*cos(a)");
    close_study(&s);
}

/* Papastavridis, section 1.12: ω = φ' e_z + θ' e_N + ψ' e_z' for the Euler sequence z-x-z, where e_N is the line of
 * nodes. The test compares the components in inertial axes and in body axes. */
static void the_vectors_of_a_rotation_are_the_euler_axes(void **state) {
    (void)state;
    study s;
    open_study(&s, "`coordinates`: [{`name`: `p`, `initial`: 0.3}, {`name`: `h`, `initial`: 0.8}, `s`],"
                   "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `inertia`: [1, 1, 2],"
                   "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`p`, `h`, `s`]}}}]");
    const hamel_element_displacements *B = element_of(&s, "B");
    expect_vector(&s, &B->rotation.coordinates, "p", VECTOR("0", "0", "1"));
    expect_vector(&s, &B->rotation.coordinates, "h", VECTOR("cos(p)", "sin(p)", "0"));
    expect_vector(&s, &B->rotation.coordinates, "s", VECTOR("sin(h)*sin(p)", "-sin(h)*cos(p)", "cos(h)"));
    expect_vector(&s, &B->body_rotation.coordinates, "p", VECTOR("sin(h)*sin(s)", "sin(h)*cos(s)", "cos(h)"));
    expect_vector(&s, &B->body_rotation.coordinates, "s", VECTOR("0", "0", "1"));
    expect_vector(&s, &B->rotation.coordinates, NULL, VECTOR("0", "0", "0"));
    close_study(&s);
}

/* The virtual form of a holonomic constraint follows from its gradient. Nonlinear nonholonomic constraints require
 * Chetaev's rule, and acceleration constraints require Appell's rule (Papastavridis, introduction, 5). For x'² + y'²
 * = z'², Chetaev's rule gives x' δx + y' δy = z' δz. */
static void three_kinds_of_constraints_have_their_rules_for_virtual_forms(void **state) {
    (void)state;
    study s;
    open_study(&s, "`coordinates`: [{`name`: `x`, `initial`: 0.6, `velocity`: 0.8}, {`name`: `y`, `initial`: 0.8,"
                   "`velocity`: -0.6}, {`name`: `z`, `velocity`: 1}, `u`],"
                   "`kinetic_energy`: `x'^2 + y'^2 + z'^2 + u'^2`, `constraints`: ["
                   "{`name`: `ring`, `equation`: `x^2 + y^2 = 1`}, {`name`: `cone`, `equation`: `x'^2 + y'^2 = z'^2`},"
                   "{`name`: `servo`, `equation`: `u'' + x = x''*z`}]");
    assert_string_equal(constraint_of(&s, "ring")->rule, "gradient");
    assert_string_equal(constraint_of(&s, "ring")->virtual_form, "2*x*D(x) + 2*y*D(y) = 0");
    assert_string_equal(constraint_of(&s, "cone")->rule, "Chetaev");
    assert_string_equal(constraint_of(&s, "cone")->virtual_form, "2*x'*D(x) + 2*y'*D(y) - 2*z'*D(z) = 0");
    assert_null(constraint_of(&s, "cone")->real_form);
    assert_string_equal(constraint_of(&s, "servo")->rule, "Appell");
    assert_string_equal(constraint_of(&s, "servo")->virtual_form, "-z*D(x) + D(u) = 0");
    assert_true(s.found->tangents_known);
    assert_false(s.found->drift_known);
    assert_int_equal(s.found->tangent_count, 1);
    close_study(&s);
}

static const char *const ball_on_turntable =
    "`parameters`: {`r`: 0.5, `W`: 3}, `coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: 0.4},"
    "{`name`: `ph`, `initial`: 0.5}, {`name`: `th`, `initial`: 0.6}, {`name`: `ps`, `initial`: 0.7}],"
    "`bodies`: [{`name`: `ball`, `mass`: 1, `position`: [`X`, `Y`, `r`], `inertia`: [0.1, 0.1, 0.1],"
    "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`ph`, `th`, `ps`]}}}],"
    "`constraints`: [{`name`: `along`, `equation`: `X' - r*u4 + W*Y = 0`},"
    "{`name`: `across`, `equation`: `Y' + r*u3 - W*X = 0`}],"
    "`quasi_velocities`: [{`name`: `u1`, `definition`: `X' - r*u4 + W*Y`},"
    "{`name`: `u2`, `definition`: `Y' + r*u3 - W*X`},"
    "{`name`: `u3`, `definition`: `cos(ph)*th' + sin(ph)*sin(th)*ps'`},"
    "{`name`: `u4`, `definition`: `sin(ph)*th' - cos(ph)*sin(th)*ps'`},"
    "{`name`: `u5`, `definition`: `ph' + cos(th)*ps'`}]";

/* Papastavridis, example 2.13.6: a ball on a turntable. X' = u1 + r u4 − W Y and Y' = u2 − r u3 + W X give the
 * vectors ε_1 = i, ε_3 = −r j, ε_4 = r i and ε_0 = −W Y i + W X j of the position. The vectors of the rotation are
 * ε_3 = i, ε_4 = j and ε_5 = k. */
static void quasi_velocities_have_the_published_vectors(void **state) {
    (void)state;
    study s;
    open_study(&s, ball_on_turntable);
    const hamel_element_displacements *ball = element_of(&s, "ball");
    expect_vector(&s, &ball->position.quasi, "u1", VECTOR("1", "0", "0"));
    expect_vector(&s, &ball->position.quasi, "u3", VECTOR("0", "-r", "0"));
    expect_vector(&s, &ball->position.quasi, "u4", VECTOR("r", "0", "0"));
    expect_vector(&s, &ball->position.quasi, NULL, VECTOR("-W*Y", "W*X", "0"));
    expect_vector(&s, &ball->rotation.quasi, "u3", VECTOR("1", "0", "0"));
    expect_vector(&s, &ball->rotation.quasi, "u4", VECTOR("0", "1", "0"));
    expect_vector(&s, &ball->rotation.quasi, "u5", VECTOR("0", "0", "1"));
    close_study(&s);
}

static const char *derivative_text(const study *s, const char *of) {
    for (size_t k = 0; k < s->found->derivative_count; k++)
        if (strcmp(s->found->derivatives[k].of, of) == 0) return s->found->derivatives[k].expression;
    fail_msg("no quasi-derivative of %s", of);
    return NULL;
}

/* Returns the sum of x' times the coefficient of ∂/∂x in the quasi-derivative `of`. *time is true if the
 * quasi-derivative contains ∂/∂t. */
static graph_node operator_field(study *s, const char *of, bool *time) {
    char text[2000];
    snprintf(text, sizeof text, "%s", derivative_text(s, of));
    char *end = strstr(text, "d/d(t)"); /* the last term */
    *time = end != NULL;
    if (end == text) return graph_number(s->f.system->graph, 0);
    if (end) end[-3] = '\0'; /* ends the text before " + d/d(t)" */
    return read_text(s, text);
}

/* Returns the derivative of `node` by the operator whose coefficients are those of the velocities in `field`. If
 * `time` is true, the operator also contains ∂/∂t. */
static graph_node apply_operator(study *s, graph_node field, bool time, graph_node node) {
    graph *g = s->f.system->graph;
    graph_node sum = time ? graph_partial(g, node, graph_symbol(g, SYMBOL_TIME, 0)) : graph_number(g, 0);
    for (size_t i = 0; i < s->f.system->coordinate_count; i++)
        sum = graph_add(
            g, sum,
            graph_mul(g, graph_partial(g, field, s->f.system->v[i]), graph_partial(g, node, s->f.system->q[i])));
    return sum;
}

/* Returns the listed commutator in the form of operator_field. Each quasi-derivative in its expression is replaced
 * by the text of this quasi-derivative. Commutators that are not listed are 0. */
static graph_node printed_commutator(study *s, const char *first, const char *second) {
    for (size_t k = 0; k < s->found->commutator_count; k++) {
        const hamel_commutator *c = &s->found->commutators[k];
        if (strcmp(c->first, first) != 0 || strcmp(c->second, second) != 0) continue;
        char text[8000] = "", name[40];
        size_t length = 0;
        for (const char *at = c->expression; *at;) {
            if (strncmp(at, "d/d(", 4) != 0) {
                text[length++] = *at++;
                continue;
            }
            size_t size = strcspn(at + 4, ")");
            snprintf(name, sizeof name, "%.*s", (int)size, at + 4);
            length += (size_t)snprintf(text + length, sizeof text - length, "(%s)", derivative_text(s, name));
            assert_true(length < sizeof text);
            at += 4 + size + 1;
        }
        return read_text(s, text);
    }
    return graph_number(s->f.system->graph, 0);
}

/* Papastavridis 2.10.20: [∂/∂θ_r, ∂/∂θ_l] = Σ γ^b_rl ∂/∂θ_b. The test applies both sides to all coordinates, for all
 * pairs of quasi-derivatives including ∂/∂θ_0. */
static void commutators_are_sums_of_quasi_derivatives(void **state) {
    (void)state;
    study s;
    open_study(&s, ball_on_turntable);
    graph *g = s.f.system->graph;
    size_t n = s.found->derivative_count, coordinates = s.f.system->coordinate_count;
    assert_int_equal(n, 6);
    assert_int_equal(s.found->commutator_count, 7);
    assert_string_equal(derivative_text(&s, "u1"), "d/d(X)");
    for (size_t r = 0; r < n; r++)
        for (size_t l = r + 1; l < n; l++) {
            const char *first = s.found->derivatives[r].of, *second = s.found->derivatives[l].of;
            bool time[2];
            graph_node X = operator_field(&s, first, &time[0]), Y = operator_field(&s, second, &time[1]);
            graph_node printed = printed_commutator(&s, first, second);
            for (size_t i = 0; i < coordinates; i++) {
                graph_node v = s.f.system->v[i];
                graph_node bracket = graph_sub(g, apply_operator(&s, X, time[0], graph_partial(g, Y, v)),
                                               apply_operator(&s, Y, time[1], graph_partial(g, X, v)));
                assert_same(&s.f, first, bracket, graph_partial(g, printed, v));
            }
        }
    close_study(&s);
}

/* Returns the value for a coordinate in a sparse vector. Coordinates that are not listed have the value 0. */
static graph_node entry_of(study *s, const hamel_entries *entries, size_t coordinate) {
    for (size_t k = 0; k < entries->count; k++)
        if (strcmp(entries->items[k].coordinate, s->f.system->coordinates[coordinate].name) == 0)
            return read_text(s, entries->items[k].value);
    return graph_number(s->f.system->graph, 0);
}

/* Papastavridis 2.7 and 2.11.19: each normal a_D, the coefficients of one constraint, is orthogonal to each tangent
 * A_I. The drift A_0 contains the velocities that remain if all independent velocities are 0. It satisfies the
 * constraints: Σ a_Dk A_0k + a_D = 0. */
static void tangents_are_orthogonal_to_normals(void **state) {
    (void)state;
    study s;
    open_study(&s, ball_on_turntable);
    graph *g = s.f.system->graph;
    assert_int_equal(s.found->tangent_count, 3);
    assert_true(s.found->tangents_known && s.found->drift_known);
    for (size_t c = 0; c < s.found->constraint_count; c++) {
        for (size_t k = 0; k <= s.found->tangent_count; k++) {
            bool drift = k == s.found->tangent_count;
            const hamel_entries *column = drift ? &s.found->drift : &s.found->tangents[k];
            graph_node sum = graph_number(g, 0), rest = fixture_node(&s.f, c == 0 ? "-W*Y" : "W*X");
            for (size_t i = 0; i < 5; i++)
                sum = graph_add(
                    g, sum, graph_mul(g, entry_of(&s, &s.found->constraints[c].normal, i), entry_of(&s, column, i)));
            assert_same(&s.f, "product", sum, drift ? rest : graph_number(g, 0));
        }
    }
    close_study(&s);
}

/* Papastavridis 2.4: constraints with independent gradients are regular. The constraint functions and the
 * independent coordinates are then adapted coordinates. The constraint x y = 0 has a singular configuration at the
 * origin, where two branches meet. The analysis reports the number of branches as undecided, because the gradients
 * do not determine it. */
static void regular_constraints_have_adapted_coordinates(void **state) {
    (void)state;
    study s;
    open_study(&s, "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: 0.8}],"
                   "`kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]");
    assert_true(s.found->regular && s.found->start_known);
    assert_int_equal(s.found->rank, 1);
    assert_int_equal(s.found->branches, 1);
    assert_int_equal(s.found->adapted.count, 1);
    assert_string_equal(s.found->adapted.items[0], s.found->tangents[0].of);
    close_study(&s);
    open_study(&s, "`coordinates`: [{`name`: `x`, `initial`: 0}, {`name`: `y`, `initial`: 0}],"
                   "`kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `cross`, `equation`: `x*y = 0`}]");
    assert_false(s.found->regular);
    assert_int_equal(s.found->branches, 0);
    assert_non_null(s.found->undecided);
    assert_int_equal(s.found->adapted.count, 0);
    close_study(&s);
    open_study(&s, "`coordinates`: [{`name`: `x`, `initial`: 0}, {`name`: `y`, `initial`: 1}],"
                   "`kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `cross`, `equation`: `(x*y)^2 = 0`}]");
    /* the gradient vanishes at every configuration that satisfies the constraint */
    assert_int_equal(s.found->branches, 0);
    close_study(&s);
}

/* Papastavridis, problem 2.11.1: constraints q_D' = Σ b_DI q_I' give the vectors β_I = e_I + Σ b_DI e_D. A knife
 * edge has y' = tan(f) x', so β_x = e_x + tan(f) e_y. */
static void vectors_of_independent_coordinates_follow_the_constraint(void **state) {
    (void)state;
    study s;
    open_study(&s, "`coordinates`: [`x`, `y`, {`name`: `f`, `initial`: 0.3}], `particles`: [{`name`: `P`, `mass`: 1,"
                   "`position`: [`x`, `y`]}], `kinetic_energy`: `f'^2`,"
                   "`constraints`: [{`name`: `blade`, `equation`: `y' = tan(f)*x'`}]");
    const hamel_vectors *beta = &element_of(&s, "P")->position.independent;
    assert_int_equal(beta->count, 1);
    expect_vector(&s, beta, "x", VECTOR("1", "tan(f)"));
    expect_vector(&s, beta, NULL, VECTOR("0", "0"));
    close_study(&s);
}

/* A system without elements, constraints and quasi-velocities has empty lists. Above 12 coordinates,
 * quasi-derivatives are omitted, and quasi_omitted is true. */
static void quasi_derivatives_are_omitted_above_the_bound_on_coordinates(void **state) {
    (void)state;
    study s;
    open_study(&s, "`coordinates`: [`x`], `kinetic_energy`: `x'^2`");
    assert_int_equal(s.found->element_count + s.found->constraint_count + s.found->derivative_count, 0);
    assert_false(s.found->quasi_omitted);
    close_study(&s);
    open_study(&s, "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..13`}], `kinetic_energy`: `sum(i, 1, 13, x[i]'^2)`,"
                   "`quasi_velocities`: [{`name`: `u`, `definition`: `2*x[1]'`}]");
    assert_true(s.found->quasi_omitted);
    assert_int_equal(s.found->derivative_count, 0);
    close_study(&s);
}

/* Displacements, a constraint, a quasi-derivative and a reaction in LaTeX. */
static void expressions_are_written_in_latex(void **state) {
    (void)state;
    fixture f;
    hamel_displacements *found = NULL;
    hamel_forces *forces = NULL;
    fixture_open(&f,
                 "`coordinates`: [{`name`: `theta`, `initial`: 0.3, `velocity`: 0.4}, `x_1`],"
                 "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`sin(theta) + t*x_1`, 0]}],"
                 "`kinetic_energy`: `theta'^2 + x_1'^2`, `constraints`: [{`name`: `c`, `equation`: `u = 0`}],"
                 "`quasi_velocities`: [{`name`: `u`, `definition`: `2*x_1'`}, {`name`: `v`, `definition`: `theta'`}]");
    assert_int_equal(hamel_find_displacements(&found, &f.description, true, NULL, NULL, &f.error), HAMEL_OK);
    const hamel_displacement *P = &found->elements[0].position;
    assert_string_equal(P->virtual_form[0], "\\cos\\left(\\theta\\right) \\, \\delta \\theta + t \\, \\delta x_{1}");
    assert_string_equal(P->real_form[0],
                        "\\cos\\left(\\theta\\right) \\, \\mathrm{d} \\theta + t \\, \\mathrm{d} x_{1} + "
                        "x_{1} \\, \\mathrm{d} t");
    assert_string_equal(found->constraints[0].virtual_form, "2 \\, \\delta x_{1} = 0");
    assert_string_equal(found->derivatives[1].expression, "\\frac{\\partial}{\\partial \\theta}");
    assert_int_equal(hamel_find_forces(&forces, &f.description, true, NULL, NULL, &f.error), HAMEL_OK);
    assert_string_equal(forces->reactions[0].on[0].expression, "2 \\, \\lambda_{c}");
    hamel_forces_free(forces);
    hamel_displacements_free(found);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_and_virtual_displacements_differ_on_a_rotating_line),
        cmocka_unit_test(virtual_displacements_on_a_moving_wedge_follow_its_slope),
        cmocka_unit_test(displacements_of_a_rigid_body_depend_on_its_pole_and_angle),
        cmocka_unit_test(a_disk_on_a_rod_has_the_published_displacement),
        cmocka_unit_test(the_vectors_of_a_rotation_are_the_euler_axes),
        cmocka_unit_test(three_kinds_of_constraints_have_their_rules_for_virtual_forms),
        cmocka_unit_test(quasi_velocities_have_the_published_vectors),
        cmocka_unit_test(commutators_are_sums_of_quasi_derivatives),
        cmocka_unit_test(tangents_are_orthogonal_to_normals),
        cmocka_unit_test(regular_constraints_have_adapted_coordinates),
        cmocka_unit_test(vectors_of_independent_coordinates_follow_the_constraint),
        cmocka_unit_test(quasi_derivatives_are_omitted_above_the_bound_on_coordinates),
        cmocka_unit_test(expressions_are_written_in_latex),
    };
    return cmocka_run_group_tests_name("displacements", tests, NULL, NULL);
}
