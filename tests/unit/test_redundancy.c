/* test_redundancy.c — minimal sets of redundant constraints and unique multipliers, compared with ranks of submatrices
 * and with a door on two ball joints. */
#include "engine/base/tolerances.h"
#include "engine/dynamics/dynamics.h"
#include "engine/linear/redundancy.h"

#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 6, ROWS = 9 };

/* Returns a model with the linear homogeneous constraints A q = 0. */
static hamel_model *linear_model(double A[ROWS][COLUMNS]) {
    static char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "`coordinates`: [`a`, `b`, `c`, `d`, `e`, `f`], `kinetic_energy`:"
                                 "`a'^2+b'^2+c'^2+d'^2+e'^2+f'^2`, `constraints`: [");
    for (int i = 0; i < ROWS; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s{`name`: `c%d`, `equation`: `0*a", i ? ", " : "", i);
        for (int j = 0; j < COLUMNS; j++)
            if (A[i][j] != 0) at += (size_t)snprintf(text + at, sizeof text - at, " + (%.17g)*%c", A[i][j], 'a' + j);
        at += (size_t)snprintf(text + at, sizeof text - at, " = 0`}");
    }
    snprintf(text + at, sizeof text - at, "]");
    return fixture_model(text, "`stop`: 1");
}

/* Returns the rank of the rows not in `left_out`, by Gram–Schmidt orthogonalization applied twice. */
static int rank_without(double A[ROWS][COLUMNS], int left_out) {
    double Q[ROWS][COLUMNS];
    int rank = 0;
    for (int i = 0; i < ROWS; i++) {
        if (i == left_out) continue;
        double x[COLUMNS], length = 0, before = 0;
        memcpy(x, A[i], sizeof x);
        for (int j = 0; j < COLUMNS; j++) before += x[j] * x[j];
        for (int round = 0; round < 2; round++)
            for (int k = 0; k < rank; k++) {
                double dot = 0;
                for (int j = 0; j < COLUMNS; j++) dot += Q[k][j] * x[j];
                for (int j = 0; j < COLUMNS; j++) x[j] -= dot * Q[k][j];
            }
        for (int j = 0; j < COLUMNS; j++) length += x[j] * x[j];
        if (!(length > 1e-18 * before)) continue;
        for (int j = 0; j < COLUMNS; j++) Q[rank][j] = x[j] / sqrt(length);
        rank++;
    }
    return rank;
}

static void check_sets(const redundancy *r, double A[ROWS][COLUMNS]) {
    for (size_t set = 0; set < r->count; set++) {
        double worst = 0, part[ROWS][COLUMNS] = {{0}};
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (size_t k = r->first[set]; k < r->first[set + 1]; k++) sum += r->weights[k] * A[r->items[k]][j];
            worst = fmax(worst, fabs(sum));
        }
        assert_below("the combination vanishes", worst, 1e-10);
        size_t count = r->first[set + 1] - r->first[set];
        for (size_t k = 0; k < count; k++) memcpy(part[k], A[r->items[r->first[set] + k]], sizeof part[k]);
        assert_int_equal(rank_without(part, -1), count - 1);
        /* each proper subset is independent */
        for (size_t k = 0; k < count; k++) assert_int_equal(rank_without(part, (int)k), count - 1);
        assert_int_equal(r->items[r->first[set + 1] - 1], r->dependent[set]);
    }
}

static void dependent_sets_are_minimal_and_unique_multipliers_are_found(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 80; round++) {
        double A[ROWS][COLUMNS], zeros = round % 2 == 0 ? 0.5 : 0.85; /* share of zeros; rows are alone in columns */
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                A[i][j] = random_between(&seed, 0, 1) < zeros ? 0 : floor(random_between(&seed, -3, 4));
        for (int i = 0; i < ROWS; i++) A[i][round % COLUMNS] += 1; /* avoid zero rows */
        for (int j = 0; j < COLUMNS; j++) A[4][j] = 1e3 * (A[1][j] - 2 * A[3][j]);
        if (round % 3 == 0) memcpy(A[8], A[0], sizeof A[8]);
        bool empty = false;
        for (int i = 0; i < ROWS; i++) {
            double size = 0;
            for (int j = 0; j < COLUMNS; j++) size += fabs(A[i][j]);
            empty = empty || size == 0;
        }
        if (empty) continue;
        hamel_model *model = linear_model(A);
        dynamics *k = dynamics_create(model);
        redundancy r;
        assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, NULL), HAMEL_OK);
        assert_int_equal(redundancy_find(&r, &model->dynamics.A, k->values, NULL, NULL, RANK_TOLERANCE), HAMEL_OK);
        int rank = rank_without(A, -1);
        assert_int_equal(r.rank, rank);
        assert_int_equal(r.rank + r.count, ROWS);
        for (int c = 0; c < ROWS; c++) assert_int_equal(r.involved[c], rank_without(A, c) == rank);
        check_sets(&r, A);
        redundancy_free(&r);
        dynamics_free(k);
        hamel_model_free(model);
    }
}

/* A door hangs on two ball joints, P above Q. Both joints carry its weight, and the distribution of the weight between
 * the joints is undetermined. The horizontal forces are unique (Wojtyra, Multibody System Dynamics 14 (2005) 251). */
static void a_door_on_two_ball_joints_has_one_set(void **state) {
    (void)state;
    hamel_model *model = fixture_model(
        "`gravity`: [0, 0, -10], `coordinates`: [{`name`: `x`, `initial`: 0.5}, `y`, `z`, `a`, `b`, `c`],"
        "`bodies`: [{`name`: `door`, `mass`: 3, `position`: [`x`, `y`, `z`], `inertia`: [1, 1.2, 0.3],"
        "`orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `b`, `c`]}}}],"
        "`points`: [{`name`: `p`, `body`: `door`, `at`: [-0.5, 0, 1]}, {`name`: `q`, `body`: `door`,"
        "`at`: [-0.5, 0, -1]}], `joints`: [{`name`: `P`, `type`: `coincident`, `between`: [`p`, [0, 0, 1]]},"
        "{`name`: `Q`, `type`: `coincident`, `between`: [`q`, [0, 0, -1]]}]",
        "`stop`: 0.1");
    hamel_summary s;
    hamel_error error = {0};
    assert_int_equal(hamel_run(model, NULL, NULL, &s, &error), HAMEL_OK);
    assert_int_equal(s.degrees_of_freedom, 1);
    assert_int_equal(s.redundancy->set_count, 1);
    assert_int_equal(s.redundancy->sets[0].count, 2);
    assert_string_equal(s.redundancy->sets[0].items[0], "P.3");
    assert_string_equal(s.redundancy->sets[0].items[1], "Q.3");
    assert_int_equal(s.redundancy->not_unique.count, 2);
    assert_int_equal(s.redundant_count, 1);
    assert_string_equal(s.redundant[0], "Q.3");
    hamel_summary_free(&s);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

/* A parallelogram rotates through its stretched positions at t = 1 and 1 + π. With every method and step size, the
 * linkage must remain a parallelogram, and both singularities must be counted. */
static void a_stretched_parallelogram_continues_and_reports_it(void **state) {
    (void)state;
    static const char *const settings[] = {"`method`: `adams`, `rtol`: 1e-9, `atol`: 1e-11",
                                           "`method`: `bdf`, `rtol`: 1e-7, `atol`: 1e-9",
                                           "`formulation`: `udwadia-kalaba`, `rtol`: 1e-8, `atol`: 1e-10"};
    for (size_t i = 0; i < 3; i++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 5, `times`: [0, 5], %s", settings[i]);
        motion m = motion_run(
            "`parameters`: {`a`: 1}, `coordinates`: [{`name`: `x`, `initial`: `cos(a)`, `velocity`: `sin(a)`},"
            "{`name`: `y`, `initial`: `sin(a)`, `velocity`: `-cos(a)`},"
            "{`name`: `u`, `initial`: `2 + cos(a)`, `velocity`: `sin(a)`},"
            "{`name`: `v`, `initial`: `sin(a)`, `velocity`: `-cos(a)`}],"
            "`kinetic_energy`: `(x'^2 + y'^2 + u'^2 + v'^2)/2`, `constraints`: ["
            "{`name`: `left`, `equation`: `x^2 + y^2 = 1`}, {`name`: `right`, `equation`: `(u - 2)^2 + v^2 = 1`},"
            "{`name`: `bar`, `equation`: `(u - x)^2 + (v - y)^2 = 4`}]",
            simulation);
        assert_below(settings[i], hypot(motion_last(&m, "x") - cos(-4.0), motion_last(&m, "y") - sin(-4.0)), 1e-5);
        assert_below(settings[i], hypot(motion_last(&m, "u") - 2 - cos(-4.0), motion_last(&m, "v") - sin(-4.0)), 1e-5);
        assert_int_equal(m.rank_changes, 2);
        motion_free(&m);
    }
}

/* The rows of a chain need no elimination. If rows filled in, memory would grow as the square of the length. */
static void memory_for_a_chain_grows_linearly(void **state) {
    (void)state;
    enum { SHORT = 512, LONG = 4 * SHORT };
    static int row[4 * LONG], column[4 * LONG];
    static double values[4 * LONG];
    size_t used[2];
    for (int k = 0; k < 2; k++) {
        size_t links = k == 0 ? SHORT : LONG, count = 0;
        for (size_t i = 0; i < links; i++)
            for (size_t j = i == 0 ? 2 : 0; j < 4; j++) {
                row[count] = (int)i, column[count] = (int)(2 * i + j) - 2;
                values[count++] = (j < 2 ? -1 : 1) * (j % 2 == 0 ? sin(0.8) : cos(0.8));
            }
        sparse_block A = {.rows = links, .columns = 2 * links, .count = count, .row = row, .column = column};
        redundancy r;
        assert_int_equal(redundancy_find(&r, &A, values, NULL, NULL, RANK_TOLERANCE), HAMEL_OK);
        assert_int_equal(r.rank, links);
        assert_int_equal(r.count, 0);
        used[k] = r.memory.used;
        redundancy_free(&r);
    }
    /* chunks of an arena double, so a factor of 4 may become 8; a square would be 16 */
    assert_true(used[1] <= 8 * used[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependent_sets_are_minimal_and_unique_multipliers_are_found),
        cmocka_unit_test(memory_for_a_chain_grows_linearly),
        cmocka_unit_test(a_stretched_parallelogram_continues_and_reports_it),
        cmocka_unit_test(a_door_on_two_ball_joints_has_one_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
