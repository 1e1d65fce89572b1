/* test_accelerations.c — engine/model/accelerations.c, and the check by which dynamics_rates accepts or rejects the
 * result of the accelerations program.
 *
 * The solution is substituted into the equations of the dynamics program, so the check does not depend on the
 * solver. */
#include "engine/base/tolerances.h"
#include "engine/dynamics/dynamics.h"
#include "tests/reference/example_model.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double ALPHA = 3, BETA = 2;
/* Bound for the rounding error of a sum of a few hundred terms of size 1: 1e-12 is 4500 ε. */
static const double ROUNDING = 1e-12;

typedef struct sums {
    double rest, size; /* sum and largest absolute value of the terms of a row */
    double diagonal;   /* M_ii */
} sums;

static void add(sums *s, double term) {
    s->rest += term;
    s->size = fmax(s->size, fabs(term));
}

/* Returns the largest residual of M q'' − Aᵀλ − Q = 0 and A q'' − b + 2α dΦ/dt + β²Φ = 0 at the last evaluated state.
 * For velocity constraints, the residual contains α dΦ/dt instead of 2α dΦ/dt. Each residual is divided by the largest
 * term of its row. For a constraint row, the divisor includes the accelerations that cancel in the row. For a row of M,
 * the divisor includes the backward error of a Cholesky factorization, divided by ε. The factorization is exact for a
 * matrix whose entries differ from M by about ε √(M_ii M_jj) (Higham, Accuracy and Stability of Numerical Algorithms,
 * 2nd ed., theorem 10.5). */
static double rest_of(const dynamics *k, const double *a, const double *lambda) {
    const hamel_model *model = k->model;
    const double *values = k->values;
    size_t n = model->n, m = model->m;
    sums *rows = calloc(n + m, sizeof *rows);
    assert_non_null(rows);
    for (size_t e = 0; e < model->dynamics.M.count; e++) {
        int i = model->dynamics.M.row[e], j = model->dynamics.M.column[e];
        add(&rows[i], values[model->dynamics.M.at + e] * a[j]);
        if (i != j)
            add(&rows[j], values[model->dynamics.M.at + e] * a[i]);
        else
            rows[i].diagonal = values[model->dynamics.M.at + e];
    }
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        int c = model->dynamics.A.row[e], j = model->dynamics.A.column[e];
        add(&rows[j], -values[model->dynamics.A.at + e] * lambda[c]);
        add(&rows[n + (size_t)c], values[model->dynamics.A.at + e] * a[j]);
    }
    for (size_t i = 0; i < n; i++) add(&rows[i], -values[model->dynamics.at_Q + i]);
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        sums *row = &rows[n + (size_t)model->dynamics.A.row[e]], *column = &rows[model->dynamics.A.column[e]];
        double taken_back = fabs(values[model->dynamics.A.at + e]) * column->size / column->diagonal;
        row->size = fmax(row->size, taken_back);
    }
    for (size_t c = 0; c < m; c++) {
        add(&rows[n + c], -values[model->dynamics.at_b + c]);
        add(&rows[n + c], (model->order[c] == CONSTRAINT_HOLONOMIC ? 2 : 1) * ALPHA * dynamics_velocity(k)[c]);
        add(&rows[n + c], BETA * BETA * dynamics_position(k)[c]);
    }
    double worst = 0, sum = 0;
    for (size_t i = 0; i < n; i++) sum += sqrt(rows[i].diagonal) * fabs(a[i]);
    for (size_t i = 0; i < n; i++) rows[i].size = fmax(rows[i].size, sqrt(rows[i].diagonal) * sum);
    for (size_t i = 0; i < n + m; i++)
        if (rows[i].size > 0) worst = fmax(worst, fabs(rows[i].rest) / rows[i].size);
    free(rows);
    return worst;
}

/* --- every example ------------------------------------------------------------------------------------------------ */

/* Computes the rates at a random state near the initial state. If dynamics_rates accepts the program's solution, checks
 * the solution and returns true. */
static bool check_at(const char *name, dynamics *k, uint64_t *seed) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m;
    double *q = calloc(3 * n + m, sizeof *q), *v = q + n, *a = v + n, *lambda = a + n;
    assert_non_null(q);
    random_fill(seed, q, 2 * n, -0.1, 0.1);
    for (size_t i = 0; i < n; i++) q[i] += model->q0[i], v[i] += model->v0[i];
    k->rest = 0;
    hamel_status status = dynamics_rates(k, 0, q, v, ALPHA, BETA, a, lambda, NULL);
    bool trusted = status == HAMEL_OK && k->rest == 0;
    if (trusted) {
        double rounding = ROUNDING / (k->margin * k->margin);
        assert_int_equal(dynamics_evaluate(k, 0, q, v, NULL), HAMEL_OK);
        double rest = rest_of(k, a, lambda);
        if (!(rest <= rounding)) fail_msg("%s: the relative residual is %g", name, rest);
    }
    free(q);
    return trusted;
}

static void programs_of_the_examples_solve_the_equations_of_motion(void **state) {
    (void)state;
    enum { STATES = 10 };
    uint64_t seed = 19;
    size_t programs = 0, trusted = 0;
    for (size_t i = 0; api_example_at(i); i++) {
        const api_example *example = api_example_at(i);
        hamel_model *model = example_model(example, HAMEL_JIT_AUTO);
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        programs += model->dynamics.accelerations != NULL;
        for (int at = 0; model->dynamics.accelerations && at < STATES; at++)
            trusted += check_at(example->name, k, &seed);
        dynamics_free(k);
        hamel_model_free(model);
    }
    assert_true(programs > 100);
    /* The program's result is rejected if the mass matrix is singular or constraints are redundant. This may apply to
     * at most a tenth of all states. */
    assert_true(trusted > 9 * programs);
}

/* Checks the program for the steps of a projection onto the level at a random state near the initial state: A x = r for
 * random r, and x M d = 0 for a random direction d with A d = 0. The direction is computed by matrices. Returns false
 * if the program's pivots are too small. */
static bool check_correction(const char *name, dynamics *k, bool position, uint64_t *seed) {
    const hamel_model *model = k->model;
    const model_dynamics *d = &model->dynamics;
    const program *correction = model_correction(model, position);
    size_t n = model->n, m = model->m;
    double *q = calloc(6 * n + 2 * m + ACCELERATIONS_BESIDE, sizeof *q), *v = q + n, *direction = v + n;
    double *other = direction + n, *x = other + n, *product = x + n + ACCELERATIONS_BESIDE, *r = product + n;
    double *left = r + m, worst = 0, work = 0, size = 0;
    assert_non_null(q);
    random_fill(seed, q, 2 * n, -0.1, 0.1);
    random_fill(seed, direction, 2 * n, -1, 1);
    random_fill(seed, r, m, -1, 1);
    for (size_t i = 0; i < n; i++) q[i] += model->q0[i], v[i] += model->v0[i];
    for (size_t c = 0; c < m; c++) {
        if (model->order[c] > (position ? CONSTRAINT_HOLONOMIC : CONSTRAINT_VELOCITY)) r[c] = 0;
        left[c] = -r[c];
    }
    assert_int_equal(dynamics_evaluate(k, 0, q, v, NULL), HAMEL_OK);
    program_inputs in = k->solved_from;
    in.values[SYMBOL_COORDINATE] = q;
    in.values[SYMBOL_VELOCITY] = v;
    in.values[SYMBOL_MULTIPLIER] = r;
    program_evaluate(correction, &in, position ? k->positions_work : k->velocities_work, x);
    bool trusted = x[n] > 0 && x[n + 1] > CHOLESKY_RANK_TOLERANCE;
    if (trusted && dynamics_project_direction(k, direction, other) == HAMEL_OK) {
        const double *free_of_rows = position ? direction : other;
        double rounding = ROUNDING / x[n + 1], moved = 0;
        for (size_t i = 0; i < n; i++) moved = fmax(moved, fabs(x[i]));
        sparse_block_multiply(&d->A, k->values, 1, x, left);
        for (size_t c = 0; c < m; c++)
            if (r[c] != 0) worst = fmax(worst, fabs(left[c]) / fmax(1, moved));
        if (!(worst <= rounding)) fail_msg("%s: A x differs from r by %g", name, worst);
        sparse_block_multiply_symmetric(&d->M, k->values, 1, x, product);
        for (size_t i = 0; i < n; i++) work += product[i] * free_of_rows[i], size += fabs(product[i]);
        if (!(fabs(work) <= rounding * size)) fail_msg("%s: the step is not normal: %g of %g", name, work, size);
    }
    free(q);
    return trusted;
}

static void corrections_of_the_examples_are_normal_to_the_constraints(void **state) {
    (void)state;
    uint64_t seed = 23;
    size_t programs = 0, trusted = 0, separate = 0;
    for (size_t i = 0; api_example_at(i); i++) {
        const api_example *example = api_example_at(i);
        hamel_model *model = example_model(example, HAMEL_JIT_AUTO);
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        for (int position = 0; position < 2 && model->dynamics.correct_velocities; position++) {
            if (position && !dynamics_has_level(k, true)) continue;
            programs++;
            trusted += check_correction(example->name, k, position == 1, &seed);
        }
        separate += model->dynamics.correct_positions != NULL;
        dynamics_free(k);
        hamel_model_free(model);
    }
    assert_true(programs > 60 && separate > 0);
    /* 133 of 149; the rows of the other systems are redundant, or their mass matrices singular */
    assert_true(10 * trusted > 8 * programs);
}

/* --- acceptance of the program's result --------------------------------------------------------------------------- */

/* Computes the rates at the initial state. Sets *at_once to whether the accelerations program computed the rates. */
static void rates_at_start(const char *members, double *a, double *lambda, double *margin, bool *at_once) {
    hamel_model *model = fixture_model(members, "`stop`: 1");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_non_null(model->dynamics.accelerations);
    assert_int_equal(dynamics_rates(k, 0, model->q0, model->v0, 0, 0, a, lambda, NULL), HAMEL_OK);
    *at_once = k->rest == 0 && !k->singular_mass;
    *margin = k->margin;
    dynamics_free(k);
    hamel_model_free(model);
}

static void the_angle_between_rows_is_their_rank_margin(void **state) {
    (void)state;
    double a[2], lambda[2], margin;
    bool at_once;
    rates_at_start("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`, `potential_energy`: `3*y`,"
                   "`constraints`: [{`name`: `c`, `equation`: `x = 0`}, {`name`: `d`, `equation`: `x + y = 0`}]",
                   a, lambda, &margin, &at_once);
    assert_true(at_once);
    assert_near("margin", margin, sqrt(0.5), 1e-15);
    /* the constraints fix x and y: 0 = −3 + λ₂, 0 = λ₁ + λ₂ */
    assert_near("a", fabs(a[0]) + fabs(a[1]), 0, 1e-15);
    assert_near("first", lambda[0], -3, 1e-14);
    assert_near("second", lambda[1], 3, 1e-14);
}

static void redundant_rows_and_singular_masses_use_the_matrices(void **state) {
    (void)state;
    double a[2], lambda[2], margin;
    bool at_once;
    rates_at_start("`coordinates`: [`x`, `y`], `parameters`: {`k`: 2}, `kinetic_energy`: `(x'^2 + y'^2)/2`,"
                   "`potential_energy`: `y`, `constraints`: [{`name`: `c`, `equation`: `y = k*x`}, {`name`: `d`, "
                   "`equation`: `k*y = k^2*x`}]",
                   a, lambda, &margin, &at_once);
    assert_false(at_once);
    assert_near("along the line", a[0], -0.4, 1e-14); /* gravity (0, −1) along (1, 2)/√5: −2/√5 */
    assert_near("along the line", a[1], -0.8, 1e-14);
    /* y has no mass but is constrained: 2 x'' = −3, y'' = x'' */
    rates_at_start("`coordinates`: [`x`, `y`], `parameters`: {`massless`: 0},"
                   "`kinetic_energy`: `x'^2 + massless*y'^2`, `potential_energy`: `2*x + y`, `constraints`: [{`name`: "
                   "`c`, `equation`: `y = x`}]",
                   a, lambda, &margin, &at_once);
    assert_false(at_once);
    assert_near("x''", a[0], -1.5, 1e-14);
    assert_near("y''", a[1], -1.5, 1e-14);
}

static void a_value_that_is_not_finite_is_reported(void **state) {
    (void)state;
    hamel_model *model =
        fixture_model("`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, `potential_energy`: `x^1.5`", "`stop`: 1");
    dynamics *k = dynamics_create(model);
    double below[] = {-1}, rest[] = {0}, a[1];
    assert_true(k && model->dynamics.accelerations);
    assert_int_equal(dynamics_rates(k, 0, below, rest, 0, 0, a, NULL, NULL), HAMEL_NOT_FINITE);
    dynamics_free(k);
    hamel_model_free(model);
}

/* --- the generated program ---------------------------------------------------------------------------------------- */

static size_t instructions_of(const char *members, const char *simulation) {
    hamel_model *model = fixture_model(members, simulation);
    size_t count = model->dynamics.accelerations ? program_instruction_count(model->dynamics.accelerations) : 0;
    hamel_model_free(model);
    return count;
}

static void zeros_and_ones_cost_no_operations(void **state) {
    (void)state;
    /* −9.81 sin(a) */
    assert_int_equal(
        instructions_of("`coordinates`: [`a`], `kinetic_energy`: `a'^2/2`, `potential_energy`: `-9.81*cos(a)`",
                        "`stop`: 1"),
        2);
    /* The elimination starts with psi, whose pivot is constant. The pivot of phi is then sin²(theta), so one division
     * suffices. */
    hamel_model *top =
        fixture_model("`coordinates`: [`phi`, {`name`: `theta`, `initial`: 1}, `psi`],"
                      "`kinetic_energy`: `(theta'^2 + phi'^2*sin(theta)^2 + (psi' + phi'*cos(theta))^2)/2`",
                      "`stop`: 1");
    assert_true(program_instruction_count(top->dynamics.accelerations) <=
                program_instruction_count(top->dynamics.program) + 14);
    hamel_model_free(top);
}

static void unsupported_models_have_no_program(void **state) {
    (void)state;
    static const char *const systems[][2] = {
        {"`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, `constraints`: [{`name`: `c`, `equation`: `x = 0`, "
         "`active`: false}],"
         "`events`: [{`name`: `e`, `when`: `x - 1`, `activate`: [`c`]}]",
         "`stop`: 1"},
        {"`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2+y'^2)/2`, `generalized_forces`: {`x`: `lambda(c)`},"
         "`constraints`: [{`name`: `c`, `equation`: `y = 0`}]",
         "`stop`: 1"},
        {"`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2+y'^2)/2`,"
         "`constraints`: [{`name`: `c`, `equation`: `y = 0`}]",
         "`stop`: 1, `formulation`: `maggi`"},
        /* a full mass matrix without common subexpressions */
        {"`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..60`}],"
         "`kinetic_energy`: `sum(i, 1, 60, sum(j, 1, 60, (cos(i*x[j])*x[j]' + sin(j*x[i])*x[i]')^2))`",
         "`stop`: 1"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        assert_int_equal(instructions_of(systems[i][0], systems[i][1]), 0);
}

/* --- the extended system ------------------------------------------------------------------------------------------ */

/* Chains of N links. a[i] is the absolute angle of link i. In the second chain, a[i] is relative to link i - 1. */
#define ANGLES "`coordinates`: [{`name`: `a[i]`, `for`: `i = 1..N`, `initial`: `0.3 + 0.1*sin(i)`}],"
#define SUM_OF(body) "sum(j, 1, i, " body ")"
#define RELATIVE(function) "sum(k, 1, j, a[k]')*" function "(sum(k, 1, j, a[k]))"

static const char *const trees[] = {
    /* a chain in absolute angles, on a moving base */
    ANGLES "`kinetic_energy`: `sum(i, 1, N, (cos(t) + " SUM_OF("a[j]'*cos(a[j])") ")^2 + (" SUM_OF(
        "a[j]'*sin(a[j])") ")^2)/2`, `potential_energy`: `-9.81*sum(i, 1, N, " SUM_OF("cos(a[j])") ")`",
    /* a chain in relative angles, whose links have moments of inertia */
    ANGLES "`kinetic_energy`: `sum(i, 1, N, (" SUM_OF(RELATIVE("cos")) ")^2 + (" SUM_OF(
        RELATIVE("sin")) ")^2 + 0.1*(" SUM_OF("a[j]'") ")^2)/2`",
    /* a mass at the tip of the chain, and a small moment of inertia of each link */
    ANGLES
    "`kinetic_energy`: `(sum(i, 1, N, a[i]'*cos(a[i])))^2 + (sum(i, 1, N, a[i]'*sin(a[i])))^2 + 0.3*sum(i, 1, N, "
    "a[i]'^2)`",
    /* a kinetic energy with branches in t and in the angles */
    ANGLES "`kinetic_energy`: `sum(i, 1, N, if(t < 5, 2, 3)*(" SUM_OF(
        "if(a[j] < 0.3, a[j]'*cos(a[j]), 2*a[j]')") ")^2 + a[i]'^2)/2`",
    /* a closed loop */
    ANGLES "`kinetic_energy`: `sum(i, 1, N, (" SUM_OF("a[j]'*cos(a[j])") ")^2 + (" SUM_OF(
        "a[j]'*sin(a[j])") ")^2)/2`, `constraints`: [{`name`: `x`, `equation`: `sum(i, 1, N, sin(a[i])) = 0.3*N`}, "
                           "{`name`: `y`, "
                           "`equation`: `sum(i, 1, N, cos(a[i])) = 0.9*N`}]",
    /* the tip cannot move sideways, like the blade of a sleigh */
    ANGLES "`kinetic_energy`: `sum(i, 1, N, (" SUM_OF("a[j]'*cos(a[j])") ")^2 + (" SUM_OF(
        "a[j]'*sin(a[j])") ")^2)/2`, `constraints`: [{`name`: `blade`, `equation`: `sum(i, 1, N, "
                           "a[i]'*sin(a[i]))*cos(a[N]) = "
                           "sum(i, 1, N, a[i]'*cos(a[i]))*sin(a[N])`}]",
};
enum { TREES = sizeof trees / sizeof *trees };

static hamel_model *tree_by(hamel_model *create(const char *, const char *), const char *tree, int links) {
    char members[2000];
    snprintf(members, sizeof members, "`parameters`: {`N`: %d}, %s", links, tree);
    return create(members, "`stop`: 1");
}

static hamel_model *tree_model(const char *tree, int links) {
    return tree_by(fixture_model, tree, links);
}

/* At random states, substitutes the result of the linear-time program into the equations with M, A and Q. M, A and Q do
 * not depend on the elimination order. */
static void trees_are_solved_by_the_extended_system(void **state) {
    (void)state;
    enum { LINKS = 40, STATES = 10 };
    uint64_t seed = 23;
    for (size_t i = 0; i < TREES; i++) {
        char name[32];
        snprintf(name, sizeof name, "tree %zu", i);
        hamel_model *model = tree_model(trees[i], LINKS);
        dynamics *k = dynamics_create(model);
        assert_true(k && model->dynamics.accelerations);
        size_t trusted = 0;
        for (int at = 0; at < STATES; at++) trusted += check_at(name, k, &seed);
        if (trusted < STATES) fail_msg("%s: %zu of %d states", name, trusted, STATES);
        dynamics_free(k);
        hamel_model_free(model);
    }
}

static double entry_of(const dynamics *k, int row, int column) {
    const sparse_block *M = &k->model->dynamics.M;
    for (size_t e = 0; e < M->count; e++)
        if (M->row[e] == row && M->column[e] == column) return k->values[M->at + e];
    return 0;
}

/* For analyses, each entry of M is derived as an expression, which is a sum of a few hundred terms. */
static void the_mass_matrix_of_shared_sums_is_that_of_the_expressions(void **state) {
    (void)state;
    enum { LINKS = 40, LEAST = 3 };
    uint64_t seed = 29;
    size_t factored = 0;
    for (size_t i = 0; i < TREES; i++) {
        hamel_model *by_sums = tree_model(trees[i], LINKS),
                    *by_entries = tree_by(fixture_analysis_model, trees[i], LINKS);
        dynamics *shared = dynamics_create(by_sums), *entries = dynamics_create(by_entries);
        double q[LINKS], v[LINKS];
        assert_true(shared && entries && !by_entries->dynamics.mass);
        factored += by_sums->dynamics.mass != NULL;
        random_fill(&seed, q, LINKS, -2, 2);
        random_fill(&seed, v, LINKS, -2, 2);
        assert_int_equal(dynamics_evaluate(shared, 0.3, q, v, NULL), HAMEL_OK);
        assert_int_equal(dynamics_evaluate(entries, 0.3, q, v, NULL), HAMEL_OK);
        for (int r = 0; r < LINKS; r++)
            for (int c = 0; c <= r; c++) {
                double found = entry_of(shared, r, c), expected = entry_of(entries, r, c);
                double size = sqrt(entry_of(entries, r, r) * entry_of(entries, c, c));
                if (!(fabs(found - expected) <= ROUNDING * size))
                    fail_msg("tree %zu: M[%d,%d] is %.17g, not %.17g", i, r, c, found, expected);
            }
        dynamics_free(shared);
        dynamics_free(entries);
        hamel_model_free(by_sums);
        hamel_model_free(by_entries);
    }
    assert_true(factored >= LEAST);
}

/* The system consists of twelve separate chains of 50 links. No entry of M and no residual couples two chains. A pass
 * finds 64 columns of M, or 512 columns of the residuals. */
static void patterns_of_chains_have_no_entry_between_separate_chains(void **state) {
    (void)state;
    enum { CHAINS = 12, LINKS = 50, ALL = CHAINS * LINKS };
    hamel_model *model = fixture_model(
        "`coordinates`: [{`name`: `a[i]`, `for`: `i = 1..600`}], `kinetic_energy`: `sum(k, 0, 11, sum(i, 1, 50, "
        "(sum(j, 1, i, cos(a[50*k + j])*a[50*k + j]'))^2 + a[50*k + i]'^2))`",
        "`stop`: 1");
    const sparse_block *M = &model->dynamics.M, *residual = &model->dynamics.residual_pattern;
    assert_non_null(model->dynamics.mass);
    assert_int_equal(M->count, CHAINS * LINKS * (LINKS + 1) / 2);
    for (size_t e = 0, row = 0; row < ALL; row++)
        for (size_t column = row / LINKS * LINKS; column <= row; column++, e++) {
            assert_int_equal(M->row[e], row);
            assert_int_equal(M->column[e], column);
        }
    assert_int_equal(residual->count, ALL * LINKS);
    for (size_t e = 0; e < ALL * LINKS; e++) {
        assert_int_equal(residual->row[e], e / LINKS);
        assert_int_equal(residual->column[e], e / (LINKS * LINKS) * LINKS + e % LINKS);
    }
    hamel_model_free(model);
}

/* Products with Bᵀ D B must equal products with M. The reported magnitudes must be at least the sums of the magnitudes
 * of the terms of M x. */
static void products_with_a_factored_mass_matrix_need_no_entries(void **state) {
    (void)state;
    enum { LINKS = 40 };
    uint64_t seed = 37;
    double q[LINKS], v[LINKS], product[LINKS], magnitude[LINKS], x[LINKS];
    for (size_t i = 0; i < TREES; i++) {
        hamel_model *model = tree_model(trees[i], LINKS);
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        random_fill(&seed, q, LINKS, -2, 2);
        random_fill(&seed, v, LINKS, -2, 2);
        random_fill(&seed, x, LINKS, -1, 1);
        assert_int_equal(dynamics_evaluate(k, 0.3, q, v, NULL), HAMEL_OK);
        memset(product, 0, sizeof product);
        memset(magnitude, 0, sizeof magnitude);
        sparse_block_multiply_symmetric(&model->dynamics.M, k->values, 1, x, product);
        sparse_block_multiply_magnitudes(&model->dynamics.M, k->values, x, magnitude);
        if (model->dynamics.mass) dynamics_multiply_mass(k, x);
        for (int r = 0; model->dynamics.mass && r < LINKS; r++) {
            if (!(fabs(k->product[r] - product[r]) <= ROUNDING * k->magnitude[r]))
                fail_msg("tree %zu: row %d of M x is %.17g, not %.17g", i, r, k->product[r], product[r]);
            if (!(k->magnitude[r] >= magnitude[r] * (1 - ROUNDING)))
                fail_msg("tree %zu: the magnitude of row %d is %g < %g", i, r, k->magnitude[r], magnitude[r]);
        }
        dynamics_free(k);
        hamel_model_free(model);
    }
}

/* Accelerations computed without the entries of M must equal accelerations computed from M. Wrong accelerations must be
 * detected. */
static void states_can_be_evaluated_without_the_mass_matrix(void **state) {
    (void)state;
    enum { LINKS = 40 };
    uint64_t seed = 41;
    double q[LINKS], v[LINKS], a[LINKS], expected[LINKS];
    hamel_model *model = tree_model(trees[0], LINKS);
    dynamics *k = dynamics_create(model);
    assert_true(k && k->may_omit_mass);
    random_fill(&seed, q, LINKS, -2, 2);
    random_fill(&seed, v, LINKS, -2, 2);
    assert_int_equal(dynamics_evaluate(k, 0.3, q, v, NULL), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, expected, NULL, NULL), HAMEL_OK);
    memset(k->values + model->dynamics.M.at, 0, model->dynamics.M.count * sizeof *k->values);
    assert_int_equal(dynamics_evaluate_without_mass(k, 0.3, q, v, NULL), HAMEL_OK);
    assert_true(k->without_mass);
    assert_int_equal(dynamics_accelerations(k, 0, 0, a, NULL, NULL), HAMEL_OK);
    for (int i = 0; i < LINKS; i++) assert_near("acceleration", a[i], expected[i], 1e-9);
    assert_true(dynamics_missed(k, a, NULL).motion < ROUNDING);
    assert_true(k->without_mass);
    a[LINKS - 1] += 1e-4;
    double missed = dynamics_missed(k, a, NULL).motion; /* computes M */
    assert_false(k->without_mass);
    assert_true(missed > 1e-9);
    assert_true(entry_of(k, 0, 0) > 0);
    dynamics_free(k);
    hamel_model_free(model);
    model = tree_model(trees[4], LINKS); /* this chain is a closed loop, and projections need M */
    k = dynamics_create(model);
    assert_true(k && !k->may_omit_mass);
    dynamics_free(k);
    hamel_model_free(model);
}

/* The number of instructions of the accelerations program must be linear in the number of links. */
static void the_work_for_a_tree_is_linear_in_its_links(void **state) {
    (void)state;
    for (size_t i = 0; i < TREES; i++) {
        size_t count[3];
        for (int k = 0; k < 3; k++) {
            hamel_model *model = tree_model(trees[i], 32 << k);
            assert_non_null(model->dynamics.accelerations);
            count[k] = program_instruction_count(model->dynamics.accelerations);
            hamel_model_free(model);
        }
        /* The ratio of the increments is 2 for linear work and 4 for quadratic work. The limit 2.2 allows a quadratic
         * part of a tenth of the first increment. */
        size_t first = count[1] - count[0], second = count[2] - count[1];
        if (10 * second > 22 * first) fail_msg("tree %zu: %zu, %zu, %zu instructions", i, count[0], count[1], count[2]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_the_examples_solve_the_equations_of_motion),
        cmocka_unit_test(corrections_of_the_examples_are_normal_to_the_constraints),
        cmocka_unit_test(the_angle_between_rows_is_their_rank_margin),
        cmocka_unit_test(redundant_rows_and_singular_masses_use_the_matrices),
        cmocka_unit_test(a_value_that_is_not_finite_is_reported),
        cmocka_unit_test(zeros_and_ones_cost_no_operations),
        cmocka_unit_test(unsupported_models_have_no_program),
        cmocka_unit_test(trees_are_solved_by_the_extended_system),
        cmocka_unit_test(the_mass_matrix_of_shared_sums_is_that_of_the_expressions),
        cmocka_unit_test(patterns_of_chains_have_no_entry_between_separate_chains),
        cmocka_unit_test(products_with_a_factored_mass_matrix_need_no_entries),
        cmocka_unit_test(states_can_be_evaluated_without_the_mass_matrix),
        cmocka_unit_test(the_work_for_a_tree_is_linear_in_its_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
