/* test_parser_errors.c — engine/text/parser.c: messages and columns of errors in expressions and equations. */
#include "tests/unit/parser_fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_condition_outside_if_is_an_error(void **state) {
    (void)state;
    ASSERT_FAULT("a < b", 3, "condition");
    ASSERT_FAULT("1 + (a < b)", 8, "if(condition, a, b)");
    ASSERT_FAULT("sin(a == b)", 7, "condition");
    ASSERT_FAULT("if(a < b, c > d, 1)", 13, "condition");
    ASSERT_FAULT("x[a < b]", 5, "condition");
    ASSERT_FAULT("-(not a < b)", 3, "condition");
    ASSERT_FAULT("+(a < b)", 5, "condition");
    ASSERT_FAULT("sum(i, 1 < 2, 1, 1)", 10, "condition");
    ASSERT_FAULT("der(a or b)", 5, "condition");
    ASSERT_EQUATION_FAULT("a < b = 1", 3, "condition");
    ASSERT_EQUATION_FAULT("1 = a < b", 7, "condition");
}

static void a_number_in_place_of_a_condition_is_an_error(void **state) {
    (void)state;
    ASSERT_FAULT("if(a, 1, 2)", 4, "condition");
    ASSERT_FAULT("if(a and b < c, 1, 2)", 4, "\"and\" takes a condition");
    ASSERT_FAULT("if(not a + 1, 1, 2)", 10, "\"not\" takes a condition");
    ASSERT_FAULT("if(a < b or 2*c, 1, 2)", 14, "x > 0");
}

static void chained_comparisons_are_an_error(void **state) {
    (void)state;
    ASSERT_FAULT("if(a < b < c, 1, 2)", 10, "chained");
    ASSERT_FAULT("if(a < b + 1 == c, 1, 2)", 14, "a < b and b < c");
}

static void a_single_equal_sign_is_explained(void **state) {
    (void)state;
    ASSERT_FAULT("a = b", 3, "==");
    ASSERT_EQUATION_FAULT("if(a = b, 1, 2) = 0", 6, "==");
    ASSERT_EQUATION_FAULT("a = b = c", 7, "one \"=\"");
    ASSERT_EQUATION_FAULT("(a = b)", 1, "not closed before");
    ASSERT_EQUATION_FAULT("a*sin(b = 0", 6, "not closed before");
    ASSERT_EQUATION_FAULT("a =", 4, "text ends");
    ASSERT_EQUATION_FAULT("= a", 1, "expected a value");
}

static void unknown_functions_get_a_suggestion(void **state) {
    (void)state;
    ASSERT_FAULT("1 + sine(x)", 5, "did you mean sin?");
    ASSERT_FAULT("kinetic_enrgy()", 1, "kinetic_energy");
    ASSERT_FAULT("m(x + y)", 1, "m*(...)");
    ASSERT_FAULT("3*foobarbaz(x)", 3, "no function \"foobarbaz\"");
}

static void wrong_numbers_of_arguments_are_errors(void **state) {
    (void)state;
    ASSERT_FAULT("1 + sin()", 5, "sin takes 1 argument, found 0");
    ASSERT_FAULT("sin(1, 2)", 6, "sin takes 1 argument");
    ASSERT_FAULT("atan2(1)", 1, "atan2 takes 2 arguments, found 1");
    ASSERT_FAULT("if(1 < 2, 3)", 1, "if(condition, a, b)");
    ASSERT_FAULT("energy(x)", 8, "energy takes no arguments");
    ASSERT_FAULT("lambda()", 1, "lambda(name)");
    ASSERT_FAULT("table(f)", 1, "table(name, expression)");
    ASSERT_FAULT("position(P)", 1, "position(name, integer)");
    ASSERT_FAULT("sum(i, 1, 2)", 1, "sum takes 4 arguments, found 3");
    ASSERT_FAULT("sum(i, 1, 2, 3, 4)", 15, "sum(i, first, last, term)");
    ASSERT_FAULT("sum(i)", 1, "found 1");
    ASSERT_FAULT("der(1, 2)", 6, "der takes 1 argument");
}

static void a_function_without_parentheses_is_an_error(void **state) {
    (void)state;
    ASSERT_FAULT("2*sin x", 3, "parentheses");
    ASSERT_FAULT("energy + 1", 1, "energy()");
    ASSERT_FAULT("lambda", 1, "lambda(name)");
    ASSERT_FAULT("sum", 1, "parentheses");
    ASSERT_FAULT("if[1]", 1, "parentheses");
}

static void arguments_that_are_names_cannot_be_expressions(void **state) {
    (void)state;
    ASSERT_FAULT("lambda(2)", 8, "a name for lambda");
    ASSERT_FAULT("lambda(c + 1)", 10, "the name that lambda takes");
    ASSERT_FAULT("momentum(x')", 11, "the name that momentum takes");
    ASSERT_FAULT("reaction(c, )", 13, "a name for reaction");
    ASSERT_FAULT("lambda(c d)", 10, "found \"d\"");
    ASSERT_FAULT("sum(t, 1, 2, t)", 5, "reserved");
    ASSERT_FAULT("sum(1, 1, 2, t)", 5, "variable of the sum");
}

static void a_missing_product_sign_is_suggested(void **state) {
    (void)state;
    ASSERT_FAULT("2x", 2, "2*x");
    ASSERT_FAULT("1 + 2.5 sin(x)", 9, "2.5*sin");
    ASSERT_FAULT("2(x)", 2, "write products with *");
    ASSERT_FAULT("(a)(b)", 4, "expected an operator");
    ASSERT_FAULT("x y", 3, "expected an operator, found \"y\"");
    ASSERT_FAULT("x 2", 3, "expected an operator, found \"2\"");
}

static void unbalanced_brackets_name_their_column(void **state) {
    (void)state;
    ASSERT_FAULT("2*(a + (b)", 3, "never closed");
    ASSERT_FAULT("sin(a", 4, "never closed");
    ASSERT_FAULT("sin(", 4, "never closed");
    ASSERT_FAULT("energy(", 7, "never closed");
    ASSERT_FAULT("x[1", 2, "\"[\" is never closed");
    ASSERT_FAULT("lambda(c", 7, "never closed");
    ASSERT_FAULT("a + b)", 6, "has no matching opening bracket");
    ASSERT_FAULT("a]", 2, "has no matching opening bracket");
    ASSERT_FAULT("(a]", 3, "the \"(\" in column 1");
    ASSERT_FAULT("x[(1])", 5, "the \"(\" in column 3");
    ASSERT_FAULT("x[1)", 4, "the \"[\" in column 2");
    ASSERT_FAULT("()", 2, "expected a value");
}

static void misplaced_primes_and_indices_are_errors(void **state) {
    (void)state;
    ASSERT_FAULT("x'''", 4, "twice");
    ASSERT_FAULT("(a + b)'", 8, "der(expression)");
    ASSERT_FAULT("2'", 2, "only a name");
    ASSERT_FAULT("sin(x)'", 7, "only a name");
    ASSERT_FAULT("(x)[1]", 4, "index");
    ASSERT_FAULT("x[1][2]", 5, "index");
    ASSERT_FAULT("x'[1]", 3, "index");
    ASSERT_FAULT("x[]", 3, "expected a value");
    ASSERT_FAULT("x[1,2,3,4,5]", 10, "more than 4 indices");
}

static void other_errors_state_the_expectation(void **state) {
    (void)state;
    ASSERT_FAULT("", 1, "empty");
    ASSERT_FAULT("  ", 1, "empty");
    ASSERT_FAULT("a +", 4, "text ends");
    ASSERT_FAULT("a + * b", 5, "found \"*\"");
    ASSERT_FAULT("and", 1, "found \"and\"");
    ASSERT_FAULT("a, b", 2, "between arguments");
    ASSERT_FAULT("(a, b)", 3, "between arguments");
    ASSERT_FAULT("1..3", 2, "range");
    ASSERT_FAULT("θ*$", 3, "no meaning");
    ASSERT_FAULT("a ** b", 3, "^");
    ASSERT_FAULT("1e999", 1, "too large");
    ASSERT_FAULT("a\x01", 2, "control");
}

static void long_names_are_truncated_in_messages(void **state) {
    (void)state;
    char text[400] = "";
    for (size_t i = 0; i < 300; i++) text[i] = "θ"[i % 2];
    memcpy(text + 300, "(1)", 4);
    hamel_error error = {0};
    arena memory;
    arena_init(&memory, 0);
    syntax code;
    assert_int_equal(syntax_parse(&code, &memory, text, 303, SYNTAX_EXPRESSION, "", &error), HAMEL_INVALID);
    assert_in_range(strlen(error.faults[0].message), 60, 120);
    assert_int_equal(error.faults[0].message[strlen(error.faults[0].message) - 1], '"');
    hamel_error_clear(&error);
    arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_outside_if_is_an_error),
        cmocka_unit_test(a_number_in_place_of_a_condition_is_an_error),
        cmocka_unit_test(chained_comparisons_are_an_error),
        cmocka_unit_test(a_single_equal_sign_is_explained),
        cmocka_unit_test(unknown_functions_get_a_suggestion),
        cmocka_unit_test(wrong_numbers_of_arguments_are_errors),
        cmocka_unit_test(a_function_without_parentheses_is_an_error),
        cmocka_unit_test(arguments_that_are_names_cannot_be_expressions),
        cmocka_unit_test(a_missing_product_sign_is_suggested),
        cmocka_unit_test(unbalanced_brackets_name_their_column),
        cmocka_unit_test(misplaced_primes_and_indices_are_errors),
        cmocka_unit_test(other_errors_state_the_expectation),
        cmocka_unit_test(long_names_are_truncated_in_messages),
    };
    return cmocka_run_group_tests_name("parser_errors", tests, NULL, NULL);
}
