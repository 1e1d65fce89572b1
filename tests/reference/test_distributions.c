/* test_distributions.c — verdicts of integrability for systems that are constructed with a known result.
 *
 * Each system consists of forms in coordinates Y: exact forms dY, contact forms, Engel's and Goursat's systems, or
 * trains of trailers. The sources are Bryant et al., Exterior Differential Systems, ch. II, and Sørdalen 1993. In some
 * systems, time is a coordinate. The coordinates x of the description follow from a random triangular change Y = Y(x,
 * t), which is one to one everywhere. The rows are combined by a random product of unit triangular matrices that depend
 * on x. Neither operation changes the integrability. Ten initial configurations, some at zeros of coefficients, must
 * give the same verdict.
 *
 * The seed is fixed. Each system is checked at one initial configuration, or at all ten if HAMEL_TEST_LONG is set. All
 * ten take some minutes. */
#include "api/analyze.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SYSTEMS = 200, STARTS = 10, MOST = 12, ROOM = 24000 };

typedef struct text {
    char bytes[ROOM];
    size_t used;
} text;

typedef struct construction {
    uint64_t seed;
    int coordinates, rows, exact; /* rows: constraints; exact: their integrable combinations */
    bool timed;
    text changes;   /* definitions of Y */
    text row[MOST]; /* forms in Y, before rows are combined */
    text given;     /* additional holonomic constraints */
    const char *kind;
} construction;

static void put(text *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->bytes + to->used, ROOM - to->used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && to->used + (size_t)length < ROOM);
    to->used += (size_t)length;
}

static int pick(construction *c, int count) {
    return (int)(random_bits(&c->seed) % (uint64_t)count);
}

static double decimal(construction *c) {
    return (double)(1 + pick(c, 19)) / 10 * (pick(c, 2) ? 1 : -1);
}

/* Writes a function of two coordinates that is smooth everywhere. */
static void put_function(construction *c, text *to, int u, int v) {
    static const char *const functions[] = {"sin(x%d)*x%d",
                                            "x%d*x%d",
                                            "x%d^2*x%d",
                                            "exp(0.3*x%d)*x%d",
                                            "x%d/(2 + x%d^2)",
                                            "cos(x%d + x%d)",
                                            "x%d^3/3 - 0.7*x%d",
                                            "atan(x%d + 0.4*x%d)",
                                            "tanh(x%d)*x%d",
                                            "sqrt(1.3 + x%d^2)*x%d",
                                            "log(2 + x%d^2)*sin(x%d)",
                                            "0.1*x%d^3 + 0.3*x%d^2"};
    put(to, "%g*(", decimal(c));
    put(to, functions[pick(c, (int)(sizeof functions / sizeof *functions))], u, v);
    put(to, ")");
}

static void put_time(construction *c, text *to, int u) {
    static const char *const functions[] = {"0.3*sin(t)*x%d", "t*x%d", "exp(-t)*x%d^2", "0.2*t^2 + 0.1*x%d*t"};
    put(to, functions[pick(c, 4)], u);
}

/* Y_i = a x_i + g(x_j, x_k, t), j, k < i */
static void change_coordinates(construction *c, int n) {
    c->coordinates = n;
    for (int i = 1; i <= n; i++) {
        put(&c->changes, "%s\"Y%d\": \"%g*x%d", i > 1 ? ", " : "", i, pick(c, 3) ? 1 : decimal(c), i);
        if (i > 1 && pick(c, 3)) {
            put(&c->changes, " + ");
            put_function(c, &c->changes, 1 + pick(c, i - 1), 1 + pick(c, i - 1));
        }
        if (c->timed && i > 1 && pick(c, 2)) {
            put(&c->changes, " + ");
            put_time(c, &c->changes, 1 + pick(c, i - 1));
        }
        put(&c->changes, "\"");
    }
}

/* --- forms in Y, starting with coordinate `first` ----------------------------------------------------------------- */

static void add_exact(construction *c, int first, int count) {
    for (int k = 0; k < count; k++) put(&c->row[c->rows++], "der(Y%d)", first + k);
    c->exact += count;
}

/* Adds the contact form dz − Σ p_i dx_i in 2m + 1 coordinates. */
static void add_contact(construction *c, int first, int m) {
    text *to = &c->row[c->rows++];
    put(to, "der(Y%d)", first);
    for (int i = 0; i < m; i++) put(to, " - Y%d*der(Y%d)", first + 1 + 2 * i, first + 2 + 2 * i);
}

/* Adds Goursat's system dy_2 − y_3 dy_1, dy_3 − y_4 dy_1, ... in n coordinates; for n = 4 it is Engel's system. */
static void add_goursat(construction *c, int first, int n) {
    for (int i = 1; i + 1 < n; i++) put(&c->row[c->rows++], "der(Y%d) - Y%d*der(Y%d)", first + i, first + i + 1, first);
}

/* A car with trailers: axle i has the angle x_(3+i) and is pulled by the previous one at the distance 0.8. */
static void make_trailers(construction *c, int trailers) {
    c->coordinates = 3 + trailers;
    put(&c->changes, "\"P0\": \"x1%s\", \"Q0\": \"x2\"", c->timed ? " + 0.3*t" : "");
    for (int i = 1; i <= trailers; i++)
        put(&c->changes, ", \"P%d\": \"P%d - 0.8*cos(x%d)\", \"Q%d\": \"Q%d - 0.8*sin(x%d)\"", i, i - 1, 3 + i, i,
            i - 1, 3 + i);
    for (int i = 0; i <= trailers; i++)
        put(&c->row[c->rows++], "der(P%d)*sin(x%d) - der(Q%d)*cos(x%d)", i, 3 + i, i, 3 + i);
}

/* Adds a form that contains dt or t, so that time counts as a coordinate. */
static void make_driven(construction *c) {
    change_coordinates(c, 3);
    switch (pick(c, 4)) {
    case 0: /* a rotating direction */ put(&c->row[c->rows++], "der(Y1)*sin(1.1*t) - der(Y2)*cos(1.1*t)"); break;
    case 1: /* dz − p dt */ put(&c->row[c->rows++], "der(Y1) - Y2"); break;
    case 2: /* dz − t dx − 0.3 dt */ put(&c->row[c->rows++], "der(Y1) - t*der(Y2) - 0.3"); break;
    default: /* d(Y1 − cos t), d(Y2 + 0.2 t²) */
        put(&c->row[c->rows++], "der(Y1) + sin(t)");
        put(&c->row[c->rows++], "der(Y2) + 0.4*t");
        c->exact += 2;
    }
}

/* Adds forms that become integrable by holonomic constraints: if x is constant, dz = p dx and dy = w dx are exact. */
static void make_given(construction *c) {
    bool engel = pick(c, 2);
    change_coordinates(c, engel ? 5 : 4);
    if (engel)
        add_goursat(c, 1, 4);
    else
        add_contact(c, 1, 1);
    put(&c->given, ", {\"name\": \"given\", \"equation\": \"Y%d = 0.2\"}", engel ? 1 : 3);
    c->exact = c->rows;
}

static void construct(construction *c, int which) {
    *c = (construction){.seed = 1000003u * (uint64_t)(which + 1)};
    c->timed = which % 4 == 3;
    int r = 1 + pick(c, 3);
    switch (which % 10) {
    case 0:
    case 1:
        c->kind = "exact";
        change_coordinates(c, r + 1 + pick(c, 3));
        add_exact(c, 1 + pick(c, 2), r);
        break;
    case 2:
        c->kind = "contact";
        change_coordinates(c, 2 * (1 + r % 2) + 1 + pick(c, 2));
        add_contact(c, 1, 1 + r % 2);
        break;
    case 3:
        c->kind = "Engel, Goursat";
        change_coordinates(c, 4 + r % 2 + pick(c, 2));
        add_goursat(c, 1, 4 + r % 2);
        break;
    case 4:
    case 5:
        c->kind = "exact and contact";
        change_coordinates(c, r + 3);
        add_exact(c, 1, r);
        add_contact(c, r + 1, 1);
        break;
    case 6:
        c->kind = "exact and Engel";
        change_coordinates(c, 5);
        add_exact(c, 1, 1);
        add_goursat(c, 2, 4);
        break;
    case 7:
        c->kind = "trailers";
        make_trailers(c, pick(c, 4));
        break;
    case 8:
        c->kind = "with time as a coordinate";
        make_driven(c);
        break;
    default: c->kind = "with given positions"; make_given(c);
    }
}

/* --- the description --------------------------------------------------------------------------------------------------- */

/* Adds a random multiple of row i − 1 (or, if `below` is false, of row i + 1) to row i of `from`. */
static void mix(construction *c, text *from, bool below) {
    text *old = malloc(sizeof *old);
    assert_non_null(old);
    for (int k = 0; k < c->rows; k++) {
        int i = below ? c->rows - 1 - k : k, j = below ? i - 1 : i + 1;
        if (j < 0 || j >= c->rows || pick(c, 4) == 0) continue;
        *old = from[i];
        from[i].used = 0;
        put(&from[i], "(%s) + (", old->bytes);
        put_function(c, &from[i], 1 + pick(c, c->coordinates), 1 + pick(c, c->coordinates));
        put(&from[i], ")*(%s)", from[j].bytes);
    }
    free(old);
}

static void put_coordinates(construction *c, text *to, int start) {
    static const double special[] = {0, 0.05, -0.1, -0.26, -0.6, 0.1};
    uint64_t seed = c->seed + (uint64_t)start;
    for (int i = 1; i <= c->coordinates; i++) {
        double x = start < 6 ? special[start] : random_between(&seed, -1.5, 1.5);
        put(to, "%s{\"name\": \"x%d\", \"initial\": %.3f}", i > 1 ? ", " : "", i, x);
    }
}

static void describe(construction *c, int start, text *to) {
    to->used = 0;
    put(to, "{\"hamel\": 1, \"coordinates\": [");
    put_coordinates(c, to, start);
    put(to, "], \"definitions\": {%s}, \"kinetic_energy\": \"", c->changes.bytes);
    for (int i = 1; i <= c->coordinates; i++) put(to, "%sx%d'^2", i > 1 ? " + " : "", i);
    put(to, "\", \"constraints\": [");
    for (int i = 0; i < c->rows; i++)
        put(to, "%s{\"name\": \"c%d\", \"equation\": \"%s = 0\"}", i ? ", " : "", i + 1, c->row[i].bytes);
    put(to, "%s], \"simulation\": {\"stop\": 1, \"initialization\": \"project\"}}", c->given.bytes);
}

static int number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? (int)item->valuedouble : -1;
}

/* The growth vectors of all these systems increase by one per step. Their derived systems lose one dimension per step
 * until only exact forms remain. Goursat's systems are defined by this property, and trains of trailers are equivalent
 * to Goursat's systems (Sørdalen 1993). The dimensions do not depend on the coordinates. */
static void expect_steps_of_one(const construction *c, const cJSON *found) {
    const cJSON *growth = cJSON_GetObjectItemCaseSensitive(found, "growth");
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(found, "derived_flag");
    int steps = 1 + c->rows - c->exact, forms = c->rows + (c->given.used > 0);
    if (cJSON_GetArraySize(growth) != steps || cJSON_GetArraySize(derived) != steps)
        fail_msg("%s: found %d steps of growth and %d derived systems, expected %d", c->kind,
                 cJSON_GetArraySize(growth), cJSON_GetArraySize(derived), steps);
    int first = cJSON_GetArrayItem(growth, 0)->valueint;
    for (int k = 0; k < steps; k++) {
        assert_int_equal(cJSON_GetArrayItem(growth, k)->valueint, first + k);
        assert_int_equal(cJSON_GetArrayItem(derived, k)->valueint, forms - k);
    }
}

static void judge(const construction *c, int which, int start, const text *description) {
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    api_analysis_options asked = api_analysis_default(API_STRUCTURE);
    cJSON *answer = api_analyze(description->bytes, description->used, NULL, 0, &asked, &limits, NULL, "", &failure);
    if (answer == NULL)
        fail_msg("system %d from start %d: %s\n%s", which, start, failure.text ? failure.text : "no answer",
                 description->bytes);
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(answer, "holonomy");
    int rows = number_of(found, "velocity_constraints"), integrable = number_of(found, "integrable");
    if (rows != c->rows || integrable != c->exact)
        fail_msg("system %d (%s) from start %d: expected %d of %d integrable constraints, found %d of %d\n%s", which,
                 c->kind, start, c->exact, c->rows, integrable, rows, description->bytes);
    expect_steps_of_one(c, found);
    cJSON_Delete(answer);
    api_failure_clear(&failure);
}

static void the_verdict_is_the_same_from_every_start(void **state) {
    construction *c = malloc(sizeof *c);
    text *description = malloc(sizeof *description);
    int which = *(const int *)*state;
    assert_true(c && description);
    construct(c, which);
    mix(c, c->row, false);
    mix(c, c->row, true);
    for (int start = 0; start < STARTS; start++) {
        /* `which` % 10 selects the kind of system and `which` / 10 the start, so each start occurs with each kind */
        if (!getenv("HAMEL_TEST_LONG") && start != which / 10 % STARTS) continue;
        describe(c, start, description);
        judge(c, which, start, description);
    }
    free(description);
    free(c);
}

int main(void) {
    static struct CMUnitTest tests[SYSTEMS];
    static char names[SYSTEMS][40];
    static int numbers[SYSTEMS];
    for (int k = 0; k < SYSTEMS; k++) {
        numbers[k] = k;
        snprintf(names[k], sizeof names[k], "system_%d_has_one_verdict", k);
        tests[k] = (struct CMUnitTest){names[k], the_verdict_is_the_same_from_every_start, NULL, NULL, &numbers[k]};
    }
    return cmocka_run_group_tests_name("distributions", tests, NULL, NULL);
}
