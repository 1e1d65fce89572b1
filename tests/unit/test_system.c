/* test_system.c — engine/system: names, definitions, families, the context of expressions, and limits on the cost of
 * a description. */
#include "engine/system/binder.h"
#include "tests/unit/fixture.h"
#include "tests/unit/polls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define POINT "`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`"

/* Returns the value of an expression at x = 0.5, y = -2, x' = 3, y' = 0.25, t = 1.5. */
static double value_of(fixture *f, const char *text) {
    static const double t = 1.5, q[] = {0.5, -2}, v[] = {3, 0.25};
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = f->system->parameter_values;
    in.values[SYMBOL_TIME] = &t;
    in.values[SYMBOL_COORDINATE] = q;
    in.values[SYMBOL_VELOCITY] = v;
    return fixture_value(f->system->graph, fixture_node(f, text), &in);
}

/* Checks that binding fails and that one of the reported errors contains `text`. */
static void expect_fault(const char *members, const char *text) {
    fixture f;
    fixture_read(&f, members, "`stop`: 1");
    assert_int_not_equal(fixture_bind(&f), HAMEL_OK);
    if (!fixture_says(&f, text)) fail_msg("no `%s`; first: %s", text, f.error.faults[0].message);
    fixture_close(&f);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* CPU time of this thread, which excludes other processes */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- names and definitions ----------------------------------------------------------------------------------------- */

static void parameters_may_refer_to_each_other_in_any_order(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`parameters`: {`c`: `a + b`, `b`: `2*a`, `a`: 1.5}," POINT);
    assert_true(f.system->parameter_values[0] == 4.5);
    assert_true(f.system->parameter_values[1] == 3);
    assert_near("c*x", value_of(&f, "c*x"), 2.25, 1e-15);
    fixture_close(&f);
}

static void definitions_may_be_in_any_order(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`definitions`: {`d`: `c*2`, `c`: `b + x'`, `b`: `x*y`}," POINT);
    assert_near("d", value_of(&f, "d"), 2 * (0.5 * -2 + 3), 1e-15);
    fixture_close(&f);
}

static void vectors_have_components_and_scalars_only_the_first(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`definitions`: {`u`: [`x`, `y`, `x*y`], `s`: `u[3] - u[1]*u[2]`}," POINT);
    assert_near("u[2]", value_of(&f, "u[2]"), -2, 0);
    assert_near("s", value_of(&f, "s"), 0, 0);
    assert_near("der(u[3])", value_of(&f, "der(u[3])"), 3 * -2 + 0.5 * 0.25, 1e-15);
    fixture_close(&f);
    expect_fault("`definitions`: {`u`: [`x`, `y`], `s`: `u[3]`}," POINT, "components 1 to 2");
    expect_fault("`definitions`: {`u`: [`x`, `y`], `s`: `u`}," POINT, "is a vector");
}

static void circular_definitions_are_reported(void **state) {
    (void)state;
    expect_fault("`definitions`: {`a`: `b + 1`, `b`: `c*x`, `c`: `sin(a)`}," POINT, "circular");
    expect_fault("`definitions`: {`a`: `a`}," POINT, "circular");
    expect_fault("`parameters`: {`k`: `j`, `j`: `k`}," POINT, "circular");
    expect_fault("`particles`: [{`name`: `p`, `mass`: 1, `position`: [`position(p, 2)`, `position(p, 1)`]}]," POINT,
                 "circular");
}

static void dependents_of_a_circular_definition_are_not_reported_again(void **state) {
    (void)state;
    fixture f;
    fixture_read(&f, "`definitions`: {`e`: `a*2`, `a`: `b`, `b`: `a`, `d`: `a + b + e`}," POINT, "`stop`: 1");
    assert_int_equal(fixture_bind(&f), HAMEL_INVALID);
    assert_int_equal(f.error.count, 1);
    fixture_close(&f);
}

static void names_are_unique(void **state) {
    (void)state;
    expect_fault("`parameters`: {`x`: 1}," POINT, "already used");
    expect_fault("`coordinates`: [`x`, `x`], `kinetic_energy`: `x'^2`", "already used");
    expect_fault("`definitions`: {`y`: 1}," POINT, "already used");
    expect_fault("`parameters`: {`sin`: 1}," POINT, "reserved");
    expect_fault("`parameters`: {`t`: 1}," POINT, "reserved");
    expect_fault("`constraints`: [{`name`: `c`, `equation`: `x`}, {`name`: `c`, `equation`: `y`}]," POINT,
                 "two constraints");
}

static void an_unknown_name_is_reported_with_the_nearest_one(void **state) {
    (void)state;
    expect_fault("`parameters`: {`stiffness`: 2}, `potential_energy`: `stifness*x^2`," POINT,
                 "did you mean `stiffness`?");
    expect_fault("`generalized_forces`: {`z`: 1}," POINT, "not a coordinate");
}

/* --- contexts of expressions -------------------------------------------------------------------------------------- */

static void each_context_accepts_the_symbols_that_the_format_lists(void **state) {
    (void)state;
    expect_fault("`parameters`: {`k`: `t`}," POINT, "contains time");
    expect_fault("`coordinates`: [{`name`: `x`, `initial`: `x`}], `kinetic_energy`: `x'^2`", "contains coordinates");
    expect_fault("`potential_energy`: `x''*x`," POINT, "contains accelerations");
    expect_fault("`generalized_forces`: {`x`: `y''`}," POINT, "contains accelerations");
    expect_fault("`particles`: [{`name`: `p`, `mass`: 1, `position`: [`x'`, `y`]}]," POINT, "contains velocities");
    expect_fault("`definitions`: {`a`: `x''`}, `potential_energy`: `a`," POINT, "contains accelerations");
    expect_fault("`potential_energy`: `der(x')`," POINT, "contains accelerations");
    expect_fault("`potential_energy`: `lambda(c)`, `constraints`: [{`name`: `c`, `equation`: `x`}]," POINT,
                 "may not be used here");
    expect_fault("`definitions`: {`e`: `energy()`}," POINT, "may not be used here");
    expect_fault("`constraints`: [{`name`: `c`, `equation`: `t = 1`}]," POINT, "contains no coordinate");
}

static void errors_of_all_sections_are_reported_together(void **state) {
    (void)state;
    fixture f;
    fixture_read(&f,
                 "`parameters`: {`k`: `nope1`}, `definitions`: {`d`: `nope2`}, `coordinates`: [`x`], `kinetic_energy`: "
                 "`nope3*x'^2`,"
                 "`generalized_forces`: {`x`: `nope4`}, `constraints`: [{`name`: `c`, `equation`: `x = nope5`}]",
                 "`stop`: 1");
    assert_int_equal(fixture_bind(&f), HAMEL_INVALID);
    assert_int_equal(f.error.count, 5);
    for (char digit = '1'; digit <= '5'; digit++)
        assert_true(fixture_says(&f, (char[]){'n', 'o', 'p', 'e', digit, '\0'}));
    fixture_close(&f);
}

static void the_symbols_in_an_equation_give_its_order(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`constraints`: [{`name`: `h`, `equation`: `x = y`}, {`name`: `v`, `equation`: `x' = sin(t)`}, "
                     "{`name`: `a`, `equation`: `x'' + y = 0`}]," POINT);
    assert_int_equal(f.system->constraints[0].order, CONSTRAINT_HOLONOMIC);
    assert_int_equal(f.system->constraints[1].order, CONSTRAINT_VELOCITY);
    assert_int_equal(f.system->constraints[2].order, CONSTRAINT_ACCELERATION);
    fixture_close(&f);
}

/* --- families and sums --------------------------------------------------------------------------------------------- */

static void families_are_expanded_with_their_indices(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`parameters`: {`N`: 3}, `coordinates`: [{`name`: `u[i,j]`, `for`: {`i`: [1, `N`], `j`: [1, "
                     "`i`]}, `initial`: `10*i + j`}],"
                     "`kinetic_energy`: `sum(i, 1, N, sum(j, 1, i, u[i,j]'^2))/2`,"
                     "`definitions`: [{`name`: `w[k]`, `for`: `k = 2..N`, `expression`: `u[k,k] - u[k-1,1]`}]");
    const hamel_system *s = f.system;
    assert_int_equal(s->coordinate_count, 6);
    static const char *const names[] = {"u[1,1]", "u[2,1]", "u[2,2]", "u[3,1]", "u[3,2]", "u[3,3]"};
    static const double initial[] = {11, 21, 22, 31, 32, 33};
    double q[6] = {1, 2, 4, 8, 16, 32};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(s->coordinates[i].name, names[i]);
        assert_true(s->coordinates[i].initial == initial[i]);
    }
    program_inputs in = {{[SYMBOL_COORDINATE] = q}};
    assert_near("w[3]", fixture_value(s->graph, fixture_node(&f, "w[3]"), &in), 32 - 2, 0);
    fixture_close(&f);
    expect_fault(
        "`parameters`: {`N`: 3}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}], `kinetic_energy`: `x[4]'^2`",
        "x[4]");
    expect_fault(
        "`parameters`: {`N`: 2.5}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}], `kinetic_energy`: `x[1]'^2`",
        "integer");
}

static void an_empty_range_has_no_members_and_an_empty_sum_is_zero(void **state) {
    (void)state;
    fixture f;
    fixture_open(
        &f, "`parameters`: {`N`: 0}, `constraints`: [{`name`: `c[i]`, `for`: `i = 1..N`, `equation`: `x = i`}]," POINT);
    assert_int_equal(f.system->constraint_count, 0);
    assert_near("sum", value_of(&f, "sum(i, 1, N, 1/0) + x"), 0.5, 0);
    assert_near("sum", value_of(&f, "sum(i, 1, 4, sum(j, i, 4, i*j))"), 65, 0);
    fixture_close(&f);
}

/* If an inner sum continues the previous one, only new terms are added. Expected values were computed by hand. */
static void inner_sums_that_continue_have_the_values_of_whole_sums(void **state) {
    (void)state;
    const struct {
        const char *text;
        double value;
    } sums[] = {
        {"sum(i, 1, 5, sum(j, 1, i, j))", 35},
        {"sum(i, 1, 5, sum(j, 1, i, i*j))", 140},  /* the body contains the outer variable */
        {"sum(i, 1, 5, sum(j, 1, 6 - i, j))", 35}, /* the upper end decreases */
        {"sum(i, 1, 4, sum(j, i, 4, i*j))", 65},   /* the lower end varies */
        /* upper ends -2, 0, 2: two empty sums */
        {"sum(i, 1, 3, sum(j, 1, 2*i - 4, j))", 3},
        {"sum(k, 1, 2, sum(i, 1, 3, sum(j, 1, i, k*j)))", 30}, /* a variable two levels up */
        {"sum(i, 1, 3, sum(j, 1, i, sum(i, 1, j, i)))", 15},   /* an inner variable with the name of an outer one */
        {"sum(i, 1, 3, sum(j, 1, i, j) - sum(j, 1, i, 1))", 4},
    };
    fixture f;
    fixture_open(&f, POINT);
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        assert_near(sums[k].text, value_of(&f, sums[k].text), sums[k].value, 0);
    fixture_close(&f);
}

/* The sums have N²/2 terms. If each inner sum started from its first term, they would exceed the limit of 50 million
 * steps. */
static void nested_sums_from_the_same_lower_end_take_linear_time(void **state) {
    (void)state;
    fixture f;
    fixture_read(&f,
                 "`parameters`: {`N`: 20000}, `coordinates`: [`x`],"
                 "`kinetic_energy`: `x'^2 + 0*sum(i, 1, N, sum(j, 1, i, 1))`",
                 "`stop`: 1");
    assert_int_equal(fixture_bind(&f), HAMEL_OK);
    fixture_close(&f);
}

static void huge_sums_and_families_are_rejected_in_time(void **state) {
    (void)state;
    static const char *const greedy[] = {
        "`potential_energy`: `sum(i, 1, 10^12, 0)`," POINT,
        "`definitions`: [{`name`: `d`, `for`: `i = 1..10^12`, `expression`: 1}]," POINT,
        "`kinetic_energy`: `x'^2`, `coordinates`: [{`name`: `x`, `for`: `i = 1..10^12`}]",
        "`kinetic_energy`: `x'^2`, `coordinates`: [`x`, {`name`: `x`, `for`: {`i`: [1, `10^6`], `j`: [1, `10^6`]}}]",
        "`constraints`: [{`name`: `c`, `for`: `i = 1..10^12`, `equation`: `x`}]," POINT,
        "`particles`: [{`name`: `c`, `for`: `i = 1..10^12`, `mass`: 1, `position`: [`x`, `y`]}]," POINT,
        "`generalized_forces`: [{`name`: `z`, `for`: `i = 1..10^12`, `expression`: 1}]," POINT,
        "`definitions`: [{`name`: `d`, `for`: {`i`: [1, `10^12`], `j`: [1, 0]}, `expression`: 1}]," POINT,
    };
    for (size_t i = 0; i < sizeof greedy / sizeof *greedy; i++) {
        fixture f;
        fixture_read(&f, greedy[i], "`stop`: 1");
        f.limits.memory = (size_t)256 << 20;
        clock_poll second = clock_poll_of(1);
        if (i > 0) f.poll = &second.poll; /* the first case is stopped by the limit on steps */
        arena_free(&f.memory);
        arena_init(&f.memory, f.limits.memory);
        double start = seconds_now();
        assert_int_not_equal(fixture_bind(&f), HAMEL_OK);
        double took = seconds_now() - start;
        if (!(took < 60)) fail_msg("%s took %g s", greedy[i], took);
        fixture_close(&f);
    }
}

static void a_derivation_can_be_canceled_while_a_family_is_expanded(void **state) {
    (void)state;
    fixture f;
    flag_poll canceled = flag_poll_of(true);
    fixture_read(&f, "`kinetic_energy`: `x'^2`, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..10^12`}]", "`stop`: 1");
    double start = seconds_now();
    f.poll = &canceled.poll;
    assert_int_equal(fixture_bind(&f), HAMEL_CANCELED);
    assert_true(fixture_says(&f, "canceled"));
    assert_true(seconds_now() - start < 1);
    fixture_close(&f);
}

/* --- cost ---------------------------------------------------------------------------------------------------------- */

/* Returns the number of operations of the expansion, which determines the time of the expansion. */
static double steps_of_reverse_definitions(int count) {
    size_t size = (size_t)count * 40 + 200, at = 0;
    char *text = malloc(size);
    assert_non_null(text);
    at += (size_t)snprintf(text + at, size - at, "`definitions`: {");
    for (int i = count; i > 1; i--) at += (size_t)snprintf(text + at, size - at, "`d%d`: `sin(d%d) + x`, ", i, i - 1);
    snprintf(text + at, size - at, "`d1`: `x*y`}, " POINT);
    fixture f;
    fixture_read(&f, text, "`stop`: 1");
    assert_int_equal(fixture_bind(&f), HAMEL_OK);
    double steps = f.system->binder->steps;
    assert_true(isfinite(value_of(&f, "d2")));
    fixture_close(&f);
    free(text);
    return steps;
}

static void ten_thousand_definitions_in_reverse_order_cost_linear_time(void **state) {
    (void)state;
    double small = steps_of_reverse_definitions(1000), large = steps_of_reverse_definitions(10000);
    if (!(large < 10.1 * small)) fail_msg("1,000 definitions take %g steps, 10,000 take %g", small, large);
}

static void limits_on_sizes_are_enforced(void **state) {
    (void)state;
    fixture f;
    fixture_read(
        &f, "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..1000`}], `kinetic_energy`: `sum(i, 1, 1000, x[i]'^2)`",
        "`stop`: 1");
    f.limits.coordinates = 999;
    assert_int_not_equal(fixture_bind(&f), HAMEL_OK);
    assert_true(fixture_says(&f, "more than 999 coordinates"));
    fixture_close(&f);
    fixture_read(&f, "`kinetic_energy`: `x'^2`, `coordinates`: [`x`], `potential_energy`: `sum(i, 1, 10^5, sin(i*x))`",
                 "`stop`: 1");
    f.limits.nodes = 5000;
    assert_int_equal(fixture_bind(&f), HAMEL_LIMIT);
    assert_true(fixture_says(&f, "more than 5000 expression nodes"));
    fixture_close(&f);
}

static void exhausted_memory_is_an_error_everywhere(void **state) {
    (void)state;
    static const char members[] =
        "`parameters`: {`N`: 12}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}, `z`], `gravity`: [0, -9],"
        "`particles`: [{`name`: `p[i]`, `for`: `i = 1..N`, `mass`: 1, `position`: [`x[i]`, `d[i]`]}],"
        "`definitions`: [{`name`: `d[i]`, `for`: `i = 1..N`, `expression`: `x[i]*z`}],"
        "`constraints`: [{`name`: `c[i]`, `for`: `i = 2..N`, `equation`: `x[i]^2 = x[i-1] + t`}],"
        "`generalized_forces`: {`z`: `-lambda(c[2])*z'`}, `outputs`: {`E`: `energy()`}";
    int failures = 0;
    for (size_t limit = 4096; limit < 600000; limit += limit / 7) {
        fixture f;
        fixture_read(&f, members, "`stop`: 1");
        f.limits.memory = limit;
        hamel_model *model = NULL;
        hamel_status status = hamel_model_create(&model, &f.description, &f.limits, NULL, &f.error);
        if (status != HAMEL_OK) {
            assert_null(model);
            /* the parser reports a full arena as a limit */
            assert_true(status == HAMEL_NO_MEMORY || status == HAMEL_LIMIT);
            failures++;
        }
        hamel_model_free(model);
        fixture_close(&f);
    }
    assert_true(failures > 10);
}

/* A failed allocation is reported instead of errors found before, because the rest of the description was not
 * checked. */
static void exhausted_memory_outweighs_errors_found_before(void **state) {
    (void)state;
    enum { INVARIANTS = 100 };
    static const char one[] = ",{`expression`: `energy()`}";
    char members[400 + INVARIANTS * sizeof one] =
        "`coordinates`: [`x`], `particles`: [{`name`: `p`, `mass`: `m`, `position`: [`x`, 0]}],"
        "`invariants`: [{`expression`: `energy()`, `tolerance`: -1}";
    size_t length = strlen(members);
    for (int i = 0; i < INVARIANTS; i++, length += sizeof one - 1) memcpy(members + length, one, sizeof one);
    members[length] = ']';
    int exhausted = 0, complete = 0;
    for (size_t limit = 4096; limit < 100000; limit += 96) {
        fixture f;
        fixture_read(&f, members, "`stop`: 1");
        f.limits.memory = limit;
        hamel_model *model = NULL;
        hamel_status status = hamel_model_create(&model, &f.description, &f.limits, NULL, &f.error);
        assert_null(model);
        exhausted += status == HAMEL_NO_MEMORY;
        complete += status == HAMEL_INVALID;
        if (status == HAMEL_INVALID) assert_true(fixture_says(&f, "a tolerance must not be negative"));
        fixture_close(&f);
    }
    assert_true(exhausted > 10 && complete > 10);
}

/* The lookup tables of the graph need about five times as much memory as its nodes. The tables are released before a
 * run. */
static void a_model_that_runs_keeps_little_of_its_derivation(void **state) {
    (void)state;
    static const char members[] =
        "`parameters`: {`N`: 32}, `coordinates`: [{`name`: `a[i]`, `for`: `i = 1..N`, `initial`: 0.8}],"
        "`kinetic_energy`: `sum(i,1,N,(N+1-i)*a[i]'^2)/2"
        "+ sum(i,2,N,sum(j,1,i-1,(N+1-i)*cos(a[i]-a[j])*a[i]'*a[j]'))`";
    fixture f;
    hamel_model *open = NULL, *closed = NULL;
    fixture_read(&f, members, "`stop`: 1");
    assert_int_equal(model_derive(&open, &f.description, NULL, NULL, &f.error), HAMEL_OK);
    assert_int_equal(hamel_model_create(&closed, &f.description, NULL, NULL, &f.error), HAMEL_OK);
    assert_true((double)hamel_model_bytes(closed) < 0.6 * (double)hamel_model_bytes(open));
    assert_true(closed->derivation.used == 0 && open->derivation.used > 0);
    hamel_model_free(open);
    hamel_model_free(closed);
    fixture_close(&f);
}

/* --- elements ------------------------------------------------------------------------------------------------------ */

static void particles_contribute_their_energies_and_their_weight(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, "`parameters`: {`l`: 2, `m`: 3}, `coordinates`: [`a`], `gravity`: [0, -10],"
                       "`particles`: [{`name`: `p`, `mass`: `m`, `position`: [`l*sin(a)`, `-l*cos(a)`]}]");
    double q = 0.7, v = -1.1;
    program_inputs in = {
        {[SYMBOL_PARAMETER] = f.system->parameter_values, [SYMBOL_COORDINATE] = &q, [SYMBOL_VELOCITY] = &v}};
    const graph *g = f.system->graph;
    assert_near("T", fixture_value(g, energies_kinetic(&f.equations), &in), 3 * 4 * v * v / 2, 1e-15);
    assert_near("V", fixture_value(g, energies_potential(&f.equations), &in), -3 * 10 * 2 * cos(q), 1e-15);
    assert_near("position(p, 2)", fixture_value(g, fixture_node(&f, "position(p, 2)"), &in), -2 * cos(q), 1e-15);
    assert_near("velocity(p, 1)", fixture_value(g, fixture_node(&f, "velocity(p, 1)"), &in), 2 * cos(q) * v, 1e-15);
    assert_near("position(p, 3)", fixture_value(g, fixture_node(&f, "position(p, 3)"), &in), 0, 0);
    fixture_close(&f);
}

static void gravity_that_depends_on_time_is_a_force(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, "`coordinates`: [`x`, `y`], `gravity`: [`t`, `-10*x`], `particles`: [{`name`: `p`, `mass`: 2, "
                       "`position`: [`x`, `y`]}]");
    double t = 3, q[] = {0.5, 1};
    program_inputs in = {{[SYMBOL_TIME] = &t, [SYMBOL_COORDINATE] = q}};
    assert_near("Q_x", fixture_value(f.system->graph, f.equations.Q[0], &in), 6, 1e-15);
    assert_near("Q_y", fixture_value(f.system->graph, f.equations.Q[1], &in), -10, 1e-15);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_may_refer_to_each_other_in_any_order),
        cmocka_unit_test(definitions_may_be_in_any_order),
        cmocka_unit_test(vectors_have_components_and_scalars_only_the_first),
        cmocka_unit_test(circular_definitions_are_reported),
        cmocka_unit_test(dependents_of_a_circular_definition_are_not_reported_again),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(an_unknown_name_is_reported_with_the_nearest_one),
        cmocka_unit_test(each_context_accepts_the_symbols_that_the_format_lists),
        cmocka_unit_test(errors_of_all_sections_are_reported_together),
        cmocka_unit_test(the_symbols_in_an_equation_give_its_order),
        cmocka_unit_test(families_are_expanded_with_their_indices),
        cmocka_unit_test(an_empty_range_has_no_members_and_an_empty_sum_is_zero),
        cmocka_unit_test(inner_sums_that_continue_have_the_values_of_whole_sums),
        cmocka_unit_test(nested_sums_from_the_same_lower_end_take_linear_time),
        cmocka_unit_test(huge_sums_and_families_are_rejected_in_time),
        cmocka_unit_test(a_derivation_can_be_canceled_while_a_family_is_expanded),
        cmocka_unit_test(ten_thousand_definitions_in_reverse_order_cost_linear_time),
        cmocka_unit_test(limits_on_sizes_are_enforced),
        cmocka_unit_test(exhausted_memory_is_an_error_everywhere),
        cmocka_unit_test(exhausted_memory_outweighs_errors_found_before),
        cmocka_unit_test(a_model_that_runs_keeps_little_of_its_derivation),
        cmocka_unit_test(particles_contribute_their_energies_and_their_weight),
        cmocka_unit_test(gravity_that_depends_on_time_is_a_force),
    };
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
