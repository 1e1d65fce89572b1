/* published.c — see the header. */
#include "tests/unit/published.h"

#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, STATES = 3, LONGEST = 16384 };

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '\'' || (unsigned char)c >= 0x80;
}

/* Replaces each occurrence of the name `z` in `line` by the first `length` bytes of `meaning`, in parentheses. `line`
 * has room for LONGEST bytes. */
static void replace(char *line, const char *z, const char *meaning, size_t length) {
    char result[LONGEST];
    size_t used = 0, size = strlen(z);
    for (const char *c = line; *c;) {
        bool whole = strncmp(c, z, size) == 0 && !is_of_name(c[size]) && (c == line || !is_of_name(c[-1]));
        size_t need = whole ? length + 2 : 1;
        assert_true(used + need < sizeof result);
        if (whole)
            used += (size_t)snprintf(result + used, sizeof result - used, "(%.*s)", (int)length, meaning);
        else
            result[used++] = *c;
        c += whole ? size : 1;
    }
    result[used] = '\0';
    memcpy(line, result, used + 1);
}

/* Replaces z9 to z1 in this order, because the definition of an abbreviation may contain abbreviations with smaller
 * numbers. */
static void replace_abbreviations(char *line, const char *text) {
    char z[8], start[16];
    for (int k = 9; k > 0; k--) {
        snprintf(z, sizeof z, "z%d", k);
        snprintf(start, sizeof start, "\n%s = ", z);
        const char *found = strstr(text, start);
        if (found) replace(line, z, found + strlen(start), strcspn(found + strlen(start), "\n"));
    }
}

char *published_find_line(const char *text, const char *name, char **left, char **right) {
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, name, length) != 0) continue;
        bool equation = strncmp(line + length, ": ", 2) == 0;
        if (!equation && strncmp(line + length, " = ", 3) != 0) continue;
        char *copy = calloc(1, LONGEST);
        assert_non_null(copy);
        snprintf(copy, LONGEST, "%.*s", (int)strcspn(line + length, "\n"), line + length);
        replace_abbreviations(copy, text);
        char *equal = strstr(copy, " = ");
        assert_non_null(equal);
        *equal = '\0';
        *left = equation ? copy + 2 : NULL;
        *right = equal + 3;
        return copy;
    }
    return NULL;
}

static void compare(hamel_system *s, hamel_model *model, const char *name, graph_node found, graph_node wanted) {
    uint64_t seed = 17;
    double t, q[MOST], v[MOST], a[MOST], lambda[MOST];
    for (int k = 0; k < STATES; k++) {
        random_fill(&seed, &t, 1, 0.1, 1);
        random_fill(&seed, q, MOST, 0.2, 1.2);
        random_fill(&seed, v, MOST, -1, 1);
        random_fill(&seed, a, MOST, -1, 1);
        random_fill(&seed, lambda, MOST, -1, 1);
        program_inputs in = model_inputs(model, &t, q, v, a, lambda, NULL);
        double value = fixture_value(s->graph, wanted, &in);
        assert_near(name, fixture_value(s->graph, found, &in), value, 1e-11 * fmax(1, fabs(value)));
    }
}

void published_compare_line(written_example *e, const char *text, const char *name, const char *wanted) {
    hamel_system *s = e->model->system;
    char *left = NULL, *right = NULL, *typed = strdup(wanted);
    char *line = published_find_line(text, name, &left, &right);
    assert_non_null(typed);
    if (!line) fail_msg("no line for %s in\n%s", name, text);
    graph_node found = written_read(s, right), expected = written_read(s, typed);
    if (left) found = graph_sub(s->graph, written_read(s, left), found);
    if (found < 0 || expected < 0)
        fail_msg("%s: the equation %s = %s or the expression %s of the source cannot be read", name, left ? left : "",
                 right, wanted);
    compare(s, e->model, name, found, expected);
    free(line);
    free(typed);
}

static published_length measure_sum(const char **c);

static void skip_spaces(const char **c) {
    while (**c == ' ') (*c)++;
}

/* Measures a name, a number, a function with its arguments, or a sum in parentheses, and moves `*c` behind it. */
static published_length measure_primary(const char **c) {
    published_length one = {1, 1, 1};
    skip_spaces(c);
    if (**c == '(') {
        (*c)++;
        published_length inner = measure_sum(c);
        assert_int_equal(**c, ')');
        (*c)++;
        return inner;
    }
    assert_true(is_of_name(**c));
    while (is_of_name(**c) || **c == '.' || (**c == '-' && (*c)[-1] == 'e' && isdigit((unsigned char)(*c)[-2]))) (*c)++;
    if (**c != '(') return one;
    do {
        (*c)++;
        published_length argument = measure_sum(c);
        one.words += argument.words;
        one.expanded_words += argument.expanded_words;
    } while (**c == ',');
    assert_int_equal(**c, ')');
    (*c)++;
    return one;
}

/* Powers of sums are measured as squares: the square of a sum of n terms has n (n + 1)/2 terms. In the power of a
 * single term, the exponent counts as a word. */
static published_length measure_power(const char **c) {
    published_length base = measure_primary(c);
    skip_spaces(c);
    if (**c != '^') return base;
    (*c)++;
    published_length exponent = measure_primary(c);
    int n = base.terms;
    base.words += exponent.words;
    base.expanded_words =
        n == 1 ? base.expanded_words + exponent.expanded_words : n * base.expanded_words + n + n * (n - 1) / 2;
    base.terms = n * (n + 1) / 2;
    return base;
}

static published_length measure_product(const char **c) {
    published_length all = measure_power(c);
    for (skip_spaces(c); **c == '*' || **c == '/'; skip_spaces(c)) {
        bool divided = *(*c)++ == '/';
        published_length next = measure_power(c);
        int terms = divided ? 1 : next.terms;
        all.expanded_words = all.expanded_words * terms + next.expanded_words * all.terms;
        all.words += next.words;
        all.terms *= terms;
    }
    return all;
}

static published_length measure_sum(const char **c) {
    published_length all = {0, 0, 0};
    skip_spaces(c);
    if (**c == '-') (*c)++;
    for (bool more = true; more;) {
        published_length next = measure_product(c);
        all.terms += next.terms;
        all.words += next.words;
        all.expanded_words += next.expanded_words;
        more = **c == '+' || **c == '-';
        if (more) (*c)++;
    }
    return all;
}

published_length published_measure(const char *expression) {
    published_length nothing = {0, 0, 0};
    if (strcmp(expression, "0") == 0) return nothing;
    published_length length = measure_sum(&expression);
    assert_int_equal(*expression, '\0');
    return length;
}

void published_compare_length(const char *text, const char *name, const char *wanted) {
    char *left = NULL, *right = NULL;
    char *line = published_find_line(text, name, &left, &right);
    assert_non_null(line);
    published_length source = published_measure(wanted), found = published_measure(right);
    published_length other = published_measure(left ? left : "0");
    int terms = found.terms + other.terms, words = found.words + other.words;
    if (terms > source.terms || words > source.expanded_words)
        fail_msg("%s has %d terms and %d words, but the source has %d terms and %d words: %s = %s", name, terms, words,
                 source.terms, source.expanded_words, left ? left : "", right);
    free(line);
}
