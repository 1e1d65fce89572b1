/* test_accelerations.c — engine/model/accelerations.c, and kinetics_rates, which trusts it or not.
 *
 * A solution is put into the equations as the dynamics program has them: that is independent of how it was found. */
#include "engine/solve/kinetics.h"
#include "tests/reference/example_model.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const double ALPHA = 3, BETA = 2;
/* Of sums of some hundred terms. */
static const double ROUNDING = 1e-12;

typedef struct sums {
    double rest, size; /* of a row: what is left, and the largest term in it */
    double diagonal;   /* M_ii */
} sums;

static void add(sums *s, double term) {
    s->rest += term;
    s->size = fmax(s->size, fabs(term));
}

/* M q'' − Aᵀλ − Q = 0 and A q'' − b + 2α dΦ/dt + β²Φ = 0 (α dΦ/dt for velocities): the largest rest, relative to the terms of
 * its row and to accelerations that the row takes back, at the state evaluated last. Factors of M are those of a matrix whose entries are off by ε √(M_ii M_jj) (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 10.5). */
static double rest_of(const kinetics *k, const double *a, const double *lambda) {
    const hamel_model *model = k->model;
    const double *values = k->values;
    size_t n = model->n, m = model->m;
    sums *rows = calloc(n + m, sizeof *rows);
    assert_non_null(rows);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        add(&rows[i], values[model->at_M + e] * a[j]);
        if (i != j)
            add(&rows[j], values[model->at_M + e] * a[i]);
        else
            rows[i].diagonal = values[model->at_M + e];
    }
    for (size_t e = 0; e < model->A.count; e++) {
        int c = model->A.row[e], j = model->A.column[e];
        add(&rows[j], -values[model->at_A + e] * lambda[c]);
        add(&rows[n + (size_t)c], values[model->at_A + e] * a[j]);
    }
    for (size_t i = 0; i < n; i++) add(&rows[i], -values[model->at_Q + i]);
    for (size_t e = 0; e < model->A.count; e++) {
        sums *row = &rows[n + (size_t)model->A.row[e]], *column = &rows[model->A.column[e]];
        double taken_back = fabs(values[model->at_A + e]) * column->size / column->diagonal;
        row->size = fmax(row->size, taken_back);
    }
    for (size_t c = 0; c < m; c++) {
        add(&rows[n + c], -values[model->at_b + c]);
        add(&rows[n + c], (model->order[c] == CONSTRAINT_HOLONOMIC ? 2 : 1) * ALPHA * kinetics_velocity(k)[c]);
        add(&rows[n + c], BETA * BETA * kinetics_position(k)[c]);
    }
    double worst = 0, sum = 0;
    for (size_t i = 0; i < n; i++) sum += sqrt(rows[i].diagonal) * fabs(a[i]);
    for (size_t i = 0; i < n; i++) rows[i].size = fmax(rows[i].size, sqrt(rows[i].diagonal) * sum);
    for (size_t i = 0; i < n + m; i++)
        if (rows[i].size > 0) worst = fmax(worst, fabs(rows[i].rest) / rows[i].size);
    free(rows);
    return worst;
}

/* --- every example --------------------------------------------------------------------------------------------------- */

/* Returns whether the program was trusted at a state near the start, where it then must be right. */
static bool check_at(const char *name, kinetics *k, uint64_t *seed) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m;
    double *q = calloc(3 * n + m, sizeof *q), *v = q + n, *a = v + n, *lambda = a + n;
    assert_non_null(q);
    random_fill(seed, q, 2 * n, -0.1, 0.1);
    for (size_t i = 0; i < n; i++) q[i] += model->q0[i], v[i] += model->v0[i];
    k->rest = 0;
    hamel_status status = kinetics_rates(k, 0, q, v, ALPHA, BETA, a, lambda, NULL);
    bool trusted = status == HAMEL_OK && k->rest == 0;
    if (trusted) {
        double rounding = ROUNDING / (k->margin * k->margin);
        assert_int_equal(kinetics_evaluate(k, 0, q, v, NULL), HAMEL_OK);
        double rest = rest_of(k, a, lambda);
        if (!(rest <= rounding)) fail_msg("%s: the equations are off by %g of their terms", name, rest);
    }
    free(q);
    return trusted;
}

static void every_example_that_is_solved_at_once_is_solved(void **state) {
    (void)state;
    enum { STATES = 10 };
    uint64_t seed = 19;
    size_t programs = 0, trusted = 0;
    for (size_t i = 0; api_example_at(i); i++) {
        const api_example *example = api_example_at(i);
        hamel_model *model = example_model(example, HAMEL_JIT_AUTO);
        kinetics *k = kinetics_create(model);
        assert_non_null(k);
        programs += model->accelerations != NULL;
        for (int at = 0; model->accelerations && at < STATES; at++) trusted += check_at(example->name, k, &seed);
        kinetics_free(k);
        hamel_model_free(model);
    }
    assert_true(programs > 100);
    assert_true(trusted > 9 * programs); /* but for singular masses and redundant constraints */
}

/* --- what is trusted ---------------------------------------------------------------------------------------------------- */

/* Rates at the start; *at_once: by the program. */
static void rates_at_start(const char *members, double *a, double *lambda, double *margin, bool *at_once) {
    hamel_model *model = fixture_model(members, "`stop`: 1");
    kinetics *k = kinetics_create(model);
    assert_non_null(k);
    assert_non_null(model->accelerations);
    assert_int_equal(kinetics_rates(k, 0, model->q0, model->v0, 0, 0, a, lambda, NULL), HAMEL_OK);
    *at_once = k->rest == 0 && !k->singular_mass;
    *margin = k->margin;
    kinetics_free(k);
    hamel_model_free(model);
}

static void rows_at_an_angle_have_it_as_margin(void **state) {
    (void)state;
    double a[2], lambda[2], margin;
    bool at_once;
    rates_at_start("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`, `potential_energy`: `3*y`,"
                   "`constraints`: [{`name`: `c`, `equation`: `x = 0`}, {`name`: `d`, `equation`: `x + y = 0`}]",
                   a, lambda, &margin, &at_once);
    assert_true(at_once);
    assert_near("margin", margin, sqrt(0.5), 1e-15);
    /* both fixed: 0 = −3 + λ₂, 0 = λ₁ + λ₂ */
    assert_near("a", fabs(a[0]) + fabs(a[1]), 0, 1e-15);
    assert_near("first", lambda[0], -3, 1e-14);
    assert_near("second", lambda[1], 3, 1e-14);
}

static void dependent_rows_and_singular_masses_go_the_other_way(void **state) {
    (void)state;
    double a[2], lambda[2], margin;
    bool at_once;
    rates_at_start("`coordinates`: [`x`, `y`], `parameters`: {`k`: 2}, `kinetic_energy`: `(x'^2 + y'^2)/2`,"
                   "`potential_energy`: `y`, `constraints`: [{`name`: `c`, `equation`: `y = k*x`}, {`name`: `d`, "
                   "`equation`: `k*y = k^2*x`}]",
                   a, lambda, &margin, &at_once);
    assert_false(at_once);
    assert_near("along the line", a[0], -0.4, 1e-14); /* gravity 1 along (1, 2)/√5 */
    assert_near("along the line", a[1], -0.8, 1e-14);
    /* y has no mass, but a constraint: x'' = y'' = −3/2 of the force on both */
    rates_at_start("`coordinates`: [`x`, `y`], `parameters`: {`massless`: 0},"
                   "`kinetic_energy`: `x'^2 + massless*y'^2`, `potential_energy`: `2*x + y`, `constraints`: [{`name`: "
                   "`c`, `equation`: `y = x`}]",
                   a, lambda, &margin, &at_once);
    assert_false(at_once);
    assert_near("x''", a[0], -1.5, 1e-14);
    assert_near("y''", a[1], -1.5, 1e-14);
}

static void what_is_not_finite_is_told(void **state) {
    (void)state;
    hamel_model *model =
        fixture_model("`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, `potential_energy`: `x^1.5`", "`stop`: 1");
    kinetics *k = kinetics_create(model);
    double below[] = {-1}, rest[] = {0}, a[1];
    assert_true(k && model->accelerations);
    assert_int_equal(kinetics_rates(k, 0, below, rest, 0, 0, a, NULL, NULL), HAMEL_NOT_FINITE);
    kinetics_free(k);
    hamel_model_free(model);
}

/* --- what is written ------------------------------------------------------------------------------------------------------ */

static size_t instructions_of(const char *members, const char *simulation) {
    hamel_model *model = fixture_model(members, simulation);
    size_t count = model->accelerations ? program_instruction_count(model->accelerations) : 0;
    hamel_model_free(model);
    return count;
}

static void nothing_is_done_for_zeros_and_ones(void **state) {
    (void)state;
    /* −9.81 sin(a) */
    assert_int_equal(
        instructions_of("`coordinates`: [`a`], `kinetic_energy`: `a'^2/2`, `potential_energy`: `-9.81*cos(a)`",
                        "`stop`: 1"),
        2);
    /* constant pivots are taken first: of psi 1/I, which leaves of phi sin²(theta), and one division */
    hamel_model *top =
        fixture_model("`coordinates`: [`phi`, {`name`: `theta`, `initial`: 1}, `psi`],"
                      "`kinetic_energy`: `(theta'^2 + phi'^2*sin(theta)^2 + (psi' + phi'*cos(theta))^2)/2`",
                      "`stop`: 1");
    assert_true(program_instruction_count(top->accelerations) <= program_instruction_count(top->dynamics) + 14);
    hamel_model_free(top);
}

static void what_it_cannot_serve_has_no_program(void **state) {
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
        {"`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..60`}],"
         "`kinetic_energy`: `sum(i, 1, 60, x[i]'^2) + sum(i, 1, 60, sin(x[i])*x[i]')^2`",
         "`stop`: 1"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        assert_int_equal(instructions_of(systems[i][0], systems[i][1]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_that_is_solved_at_once_is_solved),
        cmocka_unit_test(rows_at_an_angle_have_it_as_margin),
        cmocka_unit_test(dependent_rows_and_singular_masses_go_the_other_way),
        cmocka_unit_test(what_is_not_finite_is_told),
        cmocka_unit_test(nothing_is_done_for_zeros_and_ones),
        cmocka_unit_test(what_it_cannot_serve_has_no_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
