/* test_parser.c — engine/text/parser.c and names.c: values of expressions, ranges, limits, and names.
 *
 * Postfix code is checked by evaluation with a stack of exactly `depth` numbers. Single letters are quantities with the
 * values of name_value. Primes and indices change the value, so a lost prime or index is detected. Deeply nested texts
 * are parsed in a thread with a stack of 64 KiB, because the parser must not recurse. */
#include "tests/unit/parser_fault.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- a stack machine --------------------------------------------------------------------------------------------- */

typedef struct loop {
    size_t head;
    double at, last;
} loop;

typedef struct machine {
    const syntax *code;
    double *stack;
    size_t count;
    loop loops[SYNTAX_SUMS_MAX];
    size_t loop_count;
} machine;

static void push(machine *m, double value) {
    assert_true(m->count < m->code->depth);
    m->stack[m->count++] = value;
}

static double pop(machine *m) {
    assert_true(m->count > 0);
    return m->stack[--m->count];
}

/* Returns the value of a name: a = 1, b = 2, ... Each index adds 1000 times its value, and each prime doubles the
 * result. A loop variable has the current value of its loop. */
static double name_value(machine *m, const syntax_item *item) {
    for (size_t i = m->loop_count; i-- > 0;) {
        const syntax_item *head = &m->code->items[m->loops[i].head];
        if (head->length == item->length && memcmp(head->as.name, item->as.name, item->length) == 0)
            return m->loops[i].at;
    }
    double result = item->as.name[0] - 'a' + 1;
    for (int i = 0; i < item->count; i++) result += 1000 * pop(m);
    return ldexp(result, item->primes);
}

static void run_operator(machine *m, graph_op op) {
    double operand[3] = {0};
    for (int i = graph_op_get(op)->arity; i-- > 0;) operand[i] = pop(m);
    push(m, graph_op_value(op, operand[0], operand[1], operand[2]));
}

/* Pushes the total 0 and returns the position of the next item. If the sum is empty, the next item is the one after the
 * end of the sum. */
static size_t begin_loop(machine *m, size_t at) {
    double last = pop(m), first = pop(m);
    push(m, 0);
    size_t end = at + 1 + (size_t)m->code->items[at].count;
    assert_int_equal(m->code->items[end].kind, SYNTAX_SUM_END);
    assert_int_equal(end - (size_t)m->code->items[end].count, at);
    if (first > last) return end + 1;
    m->loops[m->loop_count++] = (loop){.head = at, .at = first, .last = last};
    return at + 1;
}

static size_t end_loop(machine *m, size_t at) {
    double term = pop(m);
    push(m, pop(m) + term);
    loop *l = &m->loops[m->loop_count - 1];
    if ((l->at += 1) <= l->last) return l->head + 1;
    m->loop_count--;
    return at + 1;
}

static size_t step(machine *m, size_t at) {
    const syntax_item *item = &m->code->items[at];
    switch ((syntax_kind)item->kind) {
    case SYNTAX_NUMBER: push(m, item->as.number); break;
    case SYNTAX_NAME: push(m, name_value(m, item)); break;
    case SYNTAX_ARGUMENT:
        for (int i = 0; i < item->count; i++) pop(m);
        push(m, 0);
        break;
    case SYNTAX_OPERATOR: run_operator(m, (graph_op)item->op); break;
    case SYNTAX_QUANTITY:
        for (int i = 0; i < item->count; i++) pop(m);
        push(m, 100 + item->op);
        break;
    case SYNTAX_SUM: return begin_loop(m, at);
    case SYNTAX_SUM_END: return end_loop(m, at);
    }
    return at + 1;
}

static double evaluate(const syntax *code) {
    machine m = {.code = code, .stack = calloc(code->depth, sizeof(double))};
    assert_non_null(m.stack);
    for (size_t at = 0; at < code->count;) at = step(&m, at);
    assert_int_equal(m.count, 1);
    double result = m.stack[0];
    free(m.stack);
    return result;
}

static double value_of(const char *text) {
    arena memory;
    arena_init(&memory, 0);
    hamel_error error = {0};
    syntax code;
    hamel_status status = syntax_parse(&code, &memory, text, strlen(text), SYNTAX_EQUATION, "/e", &error);
    if (status != HAMEL_OK) fail_msg("%s: %s", text, error.faults[0].message);
    assert_int_equal(error.count, 0);
    double result = evaluate(&code);
    arena_free(&memory);
    return result;
}

static void check_value(const char *text, double expected, const char *file, int line) {
    double found = value_of(text);
    if (found == expected || (isnan(found) && isnan(expected))) return;
    print_error("%s gives %.17g, expected %.17g\n", text, found, expected);
    _fail(file, line);
}
#define ASSERT_VALUE(text, expected) check_value(text, expected, __FILE__, __LINE__)

/* --- precedence -------------------------------------------------------------------------------------------------- */

static void products_bind_tighter_than_sums(void **state) {
    (void)state;
    ASSERT_VALUE("1 + 2*3", 7);
    ASSERT_VALUE("(1 + 2)*3", 9);
    ASSERT_VALUE("8/4/2", 1);
    ASSERT_VALUE("8 - 4 - 2", 2);
    ASSERT_VALUE("8/4*2", 4);
    ASSERT_VALUE("2*a + 3*b", 8);
}

static void a_power_groups_to_the_right(void **state) {
    (void)state;
    ASSERT_VALUE("2^3^2", 512);
    ASSERT_VALUE("(2^3)^2", 64);
    ASSERT_VALUE("2*3^2", 18);
}

static void a_power_binds_tighter_than_a_unary_minus(void **state) {
    (void)state;
    ASSERT_VALUE("-2^2", -4);
    ASSERT_VALUE("(-2)^2", 4);
    ASSERT_VALUE("2^-1", 0.5);
    ASSERT_VALUE("2^-1*4", 2);
    ASSERT_VALUE("2^-2^2", 0.0625); /* 2^(-(2^2)) */
    ASSERT_VALUE("-b^2", -4);
}

static void a_unary_minus_binds_tighter_than_a_product(void **state) {
    (void)state;
    ASSERT_VALUE("-3*2", -6);
    ASSERT_VALUE("3*-2", -6);
    ASSERT_VALUE("3 - -2", 5);
    ASSERT_VALUE("-----1", -1);
    ASSERT_VALUE("+3 - +2", 1);
    ASSERT_VALUE("8/-2/2", -2);
}

static void conditions_select_a_branch_of_if(void **state) {
    (void)state;
    ASSERT_VALUE("if(1 < 2, 10, 20)", 10);
    ASSERT_VALUE("if(1 > 2 or 2 >= 2 and not 1 == 2, 10, 20)", 10);
    ASSERT_VALUE("if(not (1 <= 1) or 1 != 1, 10, 20)", 20);
    ASSERT_VALUE("if(not not 1 < 2, 10, 20)", 10);
    ASSERT_VALUE("if(1 == 1 or 1 == 2 and 1 == 3, 10, 20)", 10); /* `and` binds tighter than `or` */
    ASSERT_VALUE("if((((1 < 2))), if(2 < 1, 1, 2), 3)", 2);
    ASSERT_VALUE("if(1 + 1 < 3*1, 1, 0)", 1);
}

static void functions_take_their_arguments_in_order(void **state) {
    (void)state;
    ASSERT_VALUE("atan2(1, 2)", atan2(1, 2));
    ASSERT_VALUE("max(3, min(7, 5)) - mod(-1, 3)", 3);
    ASSERT_VALUE("hypot(3, 4)*sin(0)", 0);
    ASSERT_VALUE("min(3, 1 + 1, 4) + 10*max(1, 2, 9, 3) + 100*hypot(2, 3, 6)", 792);
    ASSERT_VALUE("sqrt(16)^2", 16);
    ASSERT_VALUE("sign(0)", 0);
    ASSERT_VALUE("log(exp(1))", 1);
}

static void an_equation_is_left_side_minus_right_side(void **state) {
    (void)state;
    ASSERT_VALUE("10 = 3 + 4", 3);
    ASSERT_VALUE("2*a = b", 0);
    ASSERT_VALUE("a - b", -1);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static void names_may_have_primes_and_indices(void **state) {
    (void)state;
    ASSERT_VALUE("c'", 6);
    ASSERT_VALUE("c''", 12);
    ASSERT_VALUE("c[2]", 2003);
    ASSERT_VALUE("c[2]'", 4006);
    ASSERT_VALUE("c[1, 1 + 1]''*2", 2 * 4 * 3003);
    ASSERT_VALUE("c[c[1] - 1002]", 1003);
    ASSERT_VALUE("c[1,2,3,4]", 10003);
}

static void columns_point_at_names_and_operators(void **state) {
    (void)state;
    const char *text = "θ + sin(φ[2])";
    arena memory;
    arena_init(&memory, 0);
    syntax code;
    assert_int_equal(syntax_parse(&code, &memory, text, strlen(text), SYNTAX_EXPRESSION, "", NULL), HAMEL_OK);
    assert_int_equal(code.count, 5);
    assert_int_equal(code.items[0].column, 1);
    assert_int_equal(code.items[2].column, 9); /* φ */
    assert_int_equal(code.items[3].column, 5); /* column of `sin` */
    assert_int_equal(code.items[4].column, 3); /* + */
    assert_int_equal(code.items[2].length, 2);
    assert_ptr_equal(code.text, text);
    arena_free(&memory);
}

static void arguments_of_quantities_may_be_bare_names(void **state) {
    (void)state;
    arena memory;
    arena_init(&memory, 0);
    syntax code;
    const char *text = "lambda(B.norm) + reaction(rod[2,j], x[1])";
    assert_int_equal(syntax_parse(&code, &memory, text, strlen(text), SYNTAX_EXPRESSION, "", NULL), HAMEL_OK);
    assert_int_equal(code.items[0].kind, SYNTAX_ARGUMENT);
    assert_int_equal(code.items[0].length, 6);
    assert_int_equal(code.items[1].kind, SYNTAX_QUANTITY);
    assert_int_equal(code.items[1].op, QUANTITY_LAMBDA);
    assert_int_equal(code.items[1].count, 1);
    assert_int_equal(code.items[4].kind, SYNTAX_ARGUMENT);
    assert_int_equal(code.items[4].count, 2);
    assert_int_equal(code.items[7].op, QUANTITY_REACTION);
    assert_int_equal(code.items[7].count, 2);
    assert_int_equal(code.depth, 3);
    text = "reaction(J[i].1, q) + lambda(J[1,2].norm.x)"; /* names of equations of joints in families */
    assert_int_equal(syntax_parse(&code, &memory, text, strlen(text), SYNTAX_EXPRESSION, "", NULL), HAMEL_OK);
    assert_int_equal(code.items[1].length, 1);
    assert_memory_equal(code.items[1].as.name + code.items[1].suffix, "1", 1);
    assert_int_equal(code.items[1].suffix_length, 1);
    assert_int_equal(code.items[2].suffix_length, 0);
    assert_memory_equal(code.items[6].as.name + code.items[6].suffix, "norm.x", 6);
    assert_int_equal(code.items[6].suffix_length, 6);
    arena_free(&memory);
    ASSERT_FAULT("reaction(J[i]., q)", 14, "point");
    ASSERT_FAULT("J[i].x", 5, "point");
}

static void quantities_take_the_arguments_of_their_signature(void **state) {
    (void)state;
    ASSERT_VALUE("energy()", 100 + QUANTITY_ENERGY);
    ASSERT_VALUE("der(a*b')", 100 + QUANTITY_DER);
    ASSERT_VALUE("table(torque, a + 1)", 100 + QUANTITY_TABLE);
    ASSERT_VALUE("position(P, 1) - 100", QUANTITY_POSITION);
    ASSERT_VALUE("lambda(sin)", 100 + QUANTITY_LAMBDA); /* a constraint may have the name of a function */
    ASSERT_VALUE("2*gauss()", 2 * (100 + QUANTITY_GAUSS));
}

static void sums_run_over_their_range(void **state) {
    (void)state;
    ASSERT_VALUE("sum(i, 1, 4, i^2)", 30);
    ASSERT_VALUE("sum(i, 3, 2, i)", 0);
    ASSERT_VALUE("10 - sum(i, 1, 3, sum(j, i, 3, i*j))/5", 5);
    ASSERT_VALUE("sum(i, 1, 2, if(i > 1, c[i], 0))", 2003);
    ASSERT_VALUE("sum(i, sum(j, 1, 2, j), 4, i)", 7);
}

static void sums_nest_no_deeper_than_sixteen(void **state) {
    (void)state;
    char text[1024] = "";
    for (size_t depth = 1; depth <= 17; depth++) {
        size_t used = 0;
        for (size_t i = 0; i < depth; i++) used += (size_t)snprintf(text + used, sizeof text - used, "sum(i, 1, 1, ");
        text[used++] = '7';
        memset(text + used, ')', depth);
        text[used + depth] = '\0';
        if (depth <= 16) ASSERT_VALUE(text, 7);
    }
    ASSERT_FAULT(text, 16 * 13 + 1, "16");
    ASSERT_VALUE("sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,"
                 "i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)+sum(i,"
                 "1,1,i)+sum(i,1,1,i)+sum(i,1,1,i)", /* eighteen sums in sequence, which are not nested */
                 18);
}

/* --- ranges ------------------------------------------------------------------------------------------------------ */

static hamel_status parse_range(syntax_range *range, arena *memory, const char *text, hamel_error *error) {
    return syntax_parse_range(range, memory, text, strlen(text), "/for", error);
}

static void a_range_has_a_variable_and_two_ends(void **state) {
    (void)state;
    arena memory;
    arena_init(&memory, 0);
    hamel_error error = {0};
    syntax_range range;
    assert_int_equal(parse_range(&range, &memory, "i = 1..2*c + 1", &error), HAMEL_OK);
    assert_int_equal(range.variable_length, 1);
    assert_int_equal(range.variable[0], 'i');
    assert_true(evaluate(&range.first) == 1);
    assert_true(evaluate(&range.last) == 7);
    assert_int_equal(range.last.items[0].column, 8);
    assert_int_equal(parse_range(&range, &memory, "row=sum(k,1,3,k) .. max(7, 9)", &error), HAMEL_OK);
    assert_true(evaluate(&range.first) == 6);
    assert_true(evaluate(&range.last) == 9);
    arena_free(&memory);
}

static void invalid_ranges_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
        int column;
    } CASES[] = {
        {"", "variable of a range", 1}, {"1..N", "i = 1..N", 1},          {"i", "\"=\"", 2},
        {"i = 1", "\"..\"", 6},         {"i = 1..", "text ends", 8},      {"i = ..3", "expected a value", 5},
        {"i = 1..2..3", "range", 9},    {"t = 1..3", "reserved", 1},      {"i == 1..3", "\"=\"", 3},
        {"i = (1..3)", "range", 7},     {"i = 1 < 2..3", "condition", 7}, {"i = (1", "never closed", 5},
        {"i = 1..j = 2", "==", 10},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        arena memory;
        arena_init(&memory, 0);
        hamel_error error = {0};
        syntax_range range;
        assert_int_equal(parse_range(&range, &memory, CASES[i].text, &error), HAMEL_INVALID);
        assert_int_equal(error.count, 1);
        const hamel_fault *fault = &error.faults[0];
        if (fault->column != CASES[i].column) fail_msg("%s: column %d", CASES[i].text, fault->column);
        if (strstr(fault->message, CASES[i].part) == NULL) {
            assert_non_null(fault->suggestion);
            assert_non_null(strstr(fault->suggestion, CASES[i].part));
        }
        hamel_error_clear(&error);
        arena_free(&memory);
    }
}

/* --- limits ------------------------------------------------------------------------------------------------------ */

typedef struct deep_text {
    const char *open, *middle, *close;
    size_t repeats;
    hamel_status expected;
    const char *part; /* part of the expected message; NULL if the text is valid */
    double value;     /* expected value of a valid text */
} deep_text;

static char *write_deep(const deep_text *deep, size_t *length) {
    size_t open = strlen(deep->open), middle = strlen(deep->middle), close = strlen(deep->close);
    *length = deep->repeats * (open + close) + middle;
    char *text = malloc(*length + 1);
    assert_non_null(text);
    char *at = text;
    for (size_t i = 0; i < deep->repeats; i++, at += open) memcpy(at, deep->open, open);
    memcpy(at, deep->middle, middle);
    at += middle;
    for (size_t i = 0; i < deep->repeats; i++, at += close) memcpy(at, deep->close, close);
    return text;
}

/* Arguments and results of the parser thread. The main thread checks the results. */
typedef struct deep_run {
    const char *text;
    size_t length;
    syntax code;
    arena memory;
    hamel_error error;
    hamel_status status;
} deep_run;

static void *parse_on_thread(void *argument) {
    deep_run *r = argument;
    r->status = syntax_parse(&r->code, &r->memory, r->text, r->length, SYNTAX_EXPRESSION, "/e", &r->error);
    return NULL;
}

enum { SMALL_STACK = 65536 };

static void run_on_small_stack(deep_run *r) {
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, parse_on_thread, r), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

static void deep_texts_need_no_deep_stack(void **state) {
    (void)state;
    static const deep_text CASES[] = {
        {"(", "1", ")", 100000, HAMEL_OK, NULL, 1},
        {"(", "1", ")", 100001, HAMEL_INVALID, "nested deeper than 100000 levels", 0},
        {"(", "", "", 1000000, HAMEL_INVALID, "nested deeper than 100000 levels", 0},
        {"(", "1", ")", 1000000, HAMEL_LIMIT, "1048576", 0},
        {"sin(", "0", ")", 100000, HAMEL_OK, NULL, 0},
        {"sin(", "0", ")", 100001, HAMEL_INVALID, "nested deeper", 0},
        {"a+", "a", "", 500000, HAMEL_OK, NULL, 500001},
        {"a+", "a", "", 1000000, HAMEL_LIMIT, "1048576", 0},
        {"-", "1", "", 1000000, HAMEL_OK, NULL, 1},
        {"1^", "9", "", 500000, HAMEL_OK, NULL, 1},
        {"9^", "9", "", 3, HAMEL_OK, NULL, INFINITY},
        {"x[", "1", "]", 100000, HAMEL_OK, NULL, INFINITY},
        {"max(1,", "2", ")", 100000, HAMEL_OK, NULL, 2},
        {"if(1<2,", "2", ",3)", 100000, HAMEL_OK, NULL, 2},
        {"]", "", "", 1000000, HAMEL_INVALID, "expected a value", 0},
        {"x", "", "", 1048576, HAMEL_OK, NULL, 24},
        {"x", "", "", 1048577, HAMEL_LIMIT, "1048576", 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        deep_run r = {0};
        char *text = write_deep(&CASES[i], &r.length);
        r.text = text;
        arena_init(&r.memory, 0);
        run_on_small_stack(&r);
        assert_int_equal(r.status, CASES[i].expected);
        if (r.status == HAMEL_OK) {
            assert_true(evaluate(&r.code) == CASES[i].value);
        } else if (CASES[i].part == NULL || strstr(r.error.faults[0].message, CASES[i].part) == NULL) {
            fail_msg("%s", r.error.faults[0].message);
        }
        hamel_error_clear(&r.error);
        arena_free(&r.memory);
        free(text);
    }
}

static void code_needs_only_the_memory_of_its_items(void **state) {
    (void)state;
    arena memory;
    arena_init(&memory, 0);
    syntax code;
    const char *text = "((((((((((a))))))))))";
    assert_int_equal(syntax_parse(&code, &memory, text, strlen(text), SYNTAX_EXPRESSION, "", NULL), HAMEL_OK);
    assert_int_equal(code.count, 1);
    assert_in_range(memory.used, 1, 4096);
    arena_free(&memory);
}

static void an_arena_at_its_limit_is_reported(void **state) {
    (void)state;
    deep_text deep = {.open = "a+", .middle = "a", .close = "", .repeats = 10000};
    size_t length;
    char *text = write_deep(&deep, &length);
    arena memory;
    arena_init(&memory, 10000);
    hamel_error error = {0};
    syntax code;
    assert_int_equal(syntax_parse(&code, &memory, text, length, SYNTAX_EXPRESSION, "/e", &error), HAMEL_LIMIT);
    assert_non_null(strstr(error.faults[0].message, "10000"));
    hamel_error_clear(&error);
    arena_free(&memory);
    free(text);
}

/* --- words ------------------------------------------------------------------------------------------------------- */

static void names_are_distinguished_from_other_texts(void **state) {
    (void)state;
    static const char *const NAMES[] = {"x", "x1", "_a", "θ", "theta_2", "sin"};
    static const char *const OTHERS[] = {"", "1x", "x y", "x[1]", "x'", "a.b", "x ", " x", "x-1", "\xCE", "x\xC2\xA0"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) assert_true(syntax_is_name(NAMES[i], strlen(NAMES[i])));
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_false(syntax_is_name(OTHERS[i], strlen(OTHERS[i])));
    assert_false(syntax_is_name("x\0y", 3));
}

static void words_of_the_language_are_reserved(void **state) {
    (void)state;
    static const char *const RESERVED[] = {"t",   "pi",  "and", "or",    "not",  "if",     "sum",
                                           "sin", "mod", "der", "gauss", "cbrt", "lambda", "table"};
    static const char *const FREE[] = {"", "T", "x", "si", "sine", "e", "Pi", "norm", "+", "-", "=="};
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        assert_true(syntax_is_reserved(RESERVED[i], strlen(RESERVED[i])));
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++) assert_false(syntax_is_reserved(FREE[i], strlen(FREE[i])));
    assert_false(syntax_is_reserved("t\0x", 3));
}

static void every_function_is_listed_once(void **state) {
    (void)state;
    const char *const *names = syntax_function_names();
    size_t count = 0;
    for (; names[count] != NULL; count++) {
        assert_true(syntax_is_name(names[count], strlen(names[count])));
        for (size_t i = 0; i < count; i++) assert_string_not_equal(names[i], names[count]);
    }
    size_t functions = 1; /* the count includes `sum` */
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        const char *text = graph_op_get((graph_op)op)->text;
        if (!syntax_is_name(text, strlen(text)) || graph_op_get((graph_op)op)->condition) continue;
        functions++;
        size_t i = 0;
        while (i < count && strcmp(names[i], text) != 0) i++;
        assert_true(i < count);
    }
    assert_int_equal(count, functions + QUANTITY_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_bind_tighter_than_sums),
        cmocka_unit_test(a_power_groups_to_the_right),
        cmocka_unit_test(a_power_binds_tighter_than_a_unary_minus),
        cmocka_unit_test(a_unary_minus_binds_tighter_than_a_product),
        cmocka_unit_test(conditions_select_a_branch_of_if),
        cmocka_unit_test(functions_take_their_arguments_in_order),
        cmocka_unit_test(an_equation_is_left_side_minus_right_side),
        cmocka_unit_test(names_may_have_primes_and_indices),
        cmocka_unit_test(columns_point_at_names_and_operators),
        cmocka_unit_test(arguments_of_quantities_may_be_bare_names),
        cmocka_unit_test(quantities_take_the_arguments_of_their_signature),
        cmocka_unit_test(sums_run_over_their_range),
        cmocka_unit_test(sums_nest_no_deeper_than_sixteen),
        cmocka_unit_test(a_range_has_a_variable_and_two_ends),
        cmocka_unit_test(invalid_ranges_are_reported),
        cmocka_unit_test(deep_texts_need_no_deep_stack),
        cmocka_unit_test(code_needs_only_the_memory_of_its_items),
        cmocka_unit_test(an_arena_at_its_limit_is_reported),
        cmocka_unit_test(names_are_distinguished_from_other_texts),
        cmocka_unit_test(words_of_the_language_are_reserved),
        cmocka_unit_test(every_function_is_listed_once),
    };
    return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
