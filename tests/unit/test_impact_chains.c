/* test_impact_chains.c — impacts that cause further impacts of closed contacts at the same time. */
#include "tests/unit/random.h"
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BALLS = 6, TEXT = 3000 };

typedef struct row {
    int n;
    double mass[BALLS], velocity[BALLS], gap[BALLS], restitution;
    bool reversed; /* true if the last contact is declared first */
} row;

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, TEXT - length, format, arguments);
    va_end(arguments);
}

/* Describes balls of diameter 1 on a line. */
static void describe(const row *b, char *text) {
    double x = 0;
    text[0] = '\0';
    add(text, "`coordinates`: [");
    for (int i = 0; i < b->n; i++) {
        add(text, "%s{`name`: `x%d`, `initial`: %.17g, `velocity`: %.17g}", i ? ", " : "", i, x, b->velocity[i]);
        x += 1 + b->gap[i];
    }
    add(text, "], `kinetic_energy`: [");
    for (int i = 0; i < b->n; i++) add(text, "%s`%.17g*x%d'^2/2`", i ? ", " : "", b->mass[i], i);
    add(text, "], `outputs`: {`E`: `energy()`}, `events`: [");
    for (int k = 1; k < b->n; k++) {
        int i = b->reversed ? b->n - k : k;
        add(text,
            "%s{`name`: `h%d`, `when`: `x%d - x%d - 1`, `direction`: `falling`, "
            "`impulse`: {`constraint`: `x%d - x%d = 1`, `restitution`: %.17g}}",
            k > 1 ? ", " : "", i, i, i - 1, i, i - 1, b->restitution);
    }
    add(text, "]");
}

static double closing(const double *v, int i) {
    return v[i - 1] - v[i];
}

/* Applies impacts of pairs of balls in rounds, in the order of declaration. A pair collides if it approaches at the
 * start of the round and does not separate because of earlier impacts. Returns the number of impacts until no pair
 * approaches. */
static int collide(const row *b, double *v) {
    int count = 0;
    double before[BALLS] = {0};
    memcpy(v, b->velocity, sizeof b->velocity);
    for (bool any = true; any;) {
        any = false;
        for (int i = 1; i < b->n; i++) before[i] = closing(v, i);
        for (int k = 1; k < b->n; k++) {
            int i = b->reversed ? b->n - k : k;
            double m = b->mass[i - 1], M = b->mass[i], speed = closing(v, i);
            if (before[i] <= 1e-9 || speed < -1e-8 * before[i]) continue;
            v[i - 1] -= (1 + b->restitution) * M / (m + M) * speed;
            v[i] += (1 + b->restitution) * m / (m + M) * speed;
            any = true;
            count++;
        }
    }
    return count;
}

static bool order_matters(const row *b) {
    row other = *b;
    double v[BALLS], w[BALLS], most = 0;
    other.reversed = !b->reversed;
    collide(b, v);
    collide(&other, w);
    for (int i = 0; i < b->n; i++) most = fmax(most, fabs(v[i] - w[i]));
    return most > 1e-4;
}

static void assert_row(const row *b, const char *simulation) {
    char text[TEXT];
    double v[BALLS];
    int count = collide(b, v);
    describe(b, text);
    record *r = record_run_well(text, simulation);
    /* with a smaller restitution, infinitely many impacts may follow, so their number is not compared */
    if (b->restitution >= 0.5) assert_int_equal(r->count, count);
    for (int i = 0; i < b->n; i++) assert_near("velocity", record_end(r)[1 + b->n + i], v[i], 1e-8);
    for (size_t k = 0; k < r->count && k < RECORD_EVENTS; k++) {
        const event_record *h = &r->event_records[k];
        assert_true(h->after[1 + 2 * b->n] <= h->before[1 + 2 * b->n] * (1 + 1e-14)); /* the energy must not increase */
        assert_true(h->t == r->event_records[0].t);
        assert_true(h->rows == r->event_records[0].rows);
    }
    assert_int_equal(r->summary.warning_count, order_matters(b));
    assert_int_equal(record_warns(r, "the reverse order gives different velocities"), order_matters(b));
    record_free(r);
}

static const char short_run[] = "`stop`: 3, `samples`: 4";

static void touching_balls_transfer_the_whole_velocity(void **state) {
    (void)state;
    for (int n = 2; n <= BALLS; n++)
        for (int reversed = 0; reversed < 2; reversed++) {
            row b = {.n = n, .mass = {1, 1, 1, 1, 1, 1}, .velocity = {1}, .restitution = 1, .reversed = reversed};
            assert_row(&b, short_run);
            b.gap[0] = 0.5; /* the other balls touch before the first impact */
            assert_row(&b, short_run);
        }
}

static void masses_and_restitution_determine_the_sequence_of_impacts(void **state) {
    (void)state;
    static const double masses[][BALLS] = {{1, 2, 3}, {1, 1, 5}, {5, 1, 1}, {0.1, 7, 0.3}};
    static const double restitutions[] = {1, 0.9, 0.5, 0.05, 0};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 5; k++) {
            row b = {.n = 3, .velocity = {1}, .restitution = restitutions[k]};
            memcpy(b.mass, masses[i], sizeof b.mass);
            assert_row(&b, short_run);
        }
    /* two balls arrive and two leave */
    row b = {.n = 5, .mass = {1, 1, 1, 1, 1}, .velocity = {1, 1}, .restitution = 1};
    assert_row(&b, short_run);
}

/* Two balls strike a third ball from both sides, at the start or at the same later time. */
static void impacts_that_depend_on_their_order_are_reported(void **state) {
    (void)state;
    static const double gaps[] = {0, 0.1, 0.3, 0.5, 0.7};
    for (size_t k = 0; k < 5; k++)
        for (int reversed = 0; reversed < 2; reversed++) {
            row b = {.n = 3, .mass = {1, 2, 1.5}, .velocity = {1, 0, -1}, .restitution = 1, .reversed = reversed};
            b.gap[0] = b.gap[1] = gaps[k];
            assert_true(order_matters(&b));
            assert_row(&b, short_run);
            b.restitution = 0.5;
            assert_true(order_matters(&b));
            assert_row(&b, short_run);
            row equal = {.n = 3, .mass = {1, 1, 1}, .velocity = {1, 0, -1}, .restitution = 1, .reversed = reversed};
            equal.gap[0] = equal.gap[1] = gaps[k];
            assert_true(!order_matters(&equal));
            assert_row(&equal, short_run);
        }
}

static void random_rows_collide_in_the_order_of_declaration(void **state) {
    (void)state;
    uint64_t seed = 11;
    int ordered = 0;
    for (int k = 0; k < 60; k++) {
        row b = {.n = 2 + k % (BALLS - 1), .restitution = random_between(&seed, 0.6, 1), .reversed = k & 1};
        for (int i = 0; i < b.n; i++) {
            b.mass[i] = random_between(&seed, 0.5, 2.5);
            b.velocity[i] = random_between(&seed, -1, 1);
        }
        ordered += order_matters(&b);
        assert_row(&b, "`stop`: 1e-6, `samples`: 2");
    }
    assert_true(ordered > 5 && ordered < 55);
}

/* If the gap is smaller than the tolerance in absolute value, the contact counts as closed. */
static void nearly_touching_balls_collide(void **state) {
    (void)state;
    static const double gaps[] = {1e-17, -1e-17, 1e-12, -1e-12, 1e-10};
    for (size_t k = 0; k < 5; k++) {
        row b = {.n = 4, .mass = {1, 1, 1, 1}, .velocity = {1}, .restitution = 1};
        for (int i = 0; i < 4; i++) b.gap[i] = gaps[k];
        assert_row(&b, short_run);
    }
}

static void every_method_and_formulation_computes_the_chain_of_impacts(void **state) {
    (void)state;
    static const char *const ways[] = {"`method`: `adams`",
                                       "`method`: `bdf`",
                                       "`method`: `erk`",
                                       "`formulation`: `udwadia-kalaba`",
                                       "`formulation`: `gauss`",
                                       "`formulation`: `maggi`",
                                       "`formulation`: `boltzmann-hamel`",
                                       "`formulation`: `gibbs-appell`",
                                       "`formulation`: `kane`",
                                       "`formulation`: `hamilton`",
                                       "`certify`: true"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        for (int flight = 0; flight < 2; flight++) {
            char simulation[100];
            row b = {.n = 3, .mass = {1, 2, 3}, .velocity = {1}, .gap = {flight}, .restitution = 1};
            snprintf(simulation, sizeof simulation, "`stop`: 3, `samples`: 4, %s", ways[k]);
            assert_row(&b, simulation);
        }
}

static void a_kick_starts_a_chain(void **state) {
    (void)state;
    static const double times[] = {0, 1};
    for (size_t k = 0; k < 2; k++) {
        row b = {.n = 3, .mass = {1, 1, 1}, .velocity = {0.25, 0.25, 0.25}, .restitution = 1};
        char text[TEXT];
        describe(&b, text);
        text[strlen(text) - 1] = '\0';
        add(text, ", {`name`: `kick`, `when`: `t - %g`, `set`: {`x0'`: 1}}]", times[k]);
        record *r = record_run_well(text, short_run);
        assert_int_equal(r->count, 3);
        for (size_t i = 0; i < 3; i++) assert_true(r->event_records[i].t == times[k]);
        assert_near("x0'", record_end(r)[4], 0.25, 1e-12);
        assert_near("x1'", record_end(r)[5], 0.25, 1e-12);
        assert_near("x2'", record_end(r)[6], 1, 1e-12);
        record_free(r);
    }
}

/* A heavy ball presses a light ball against a wall. If the mass ratio is 100^k, the number of impacts consists of the
 * first k + 1 digits of π (Galperin, Regular and Chaotic Dynamics 8 (2003) 375). This holds even if all impacts occur
 * at the same time. */
static void the_number_of_impacts_shows_digits_of_pi(void **state) {
    (void)state;
    static const size_t counts[] = {3, 31, 314};
    for (int k = 0; k < 3; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "`coordinates`: [`x`, {`name`: `y`, `initial`: 1, `velocity`: -1}], "
                 "`kinetic_energy`: `(x'^2 + %g*y'^2)/2`, "
                 "`events`: [{`name`: `wall`, `when`: `x`, `direction`: `falling`, "
                 "`impulse`: {`constraint`: `x`, `restitution`: 1}}, {`name`: `balls`, `when`: `y - x - 1`, "
                 "`direction`: `falling`, `impulse`: {`constraint`: `y - x`, `restitution`: 1}}]",
                 pow(100, k));
        record *r = record_run_well(text, "`stop`: 1, `samples`: 2");
        assert_int_equal(r->count, counts[k]);
        assert_near("row at the time of the impacts", r->values[0][4], record_end(r)[4], 1e-12);
        record_free(r);
    }
}

/* Pendulums of length 1 touch at rest. The outer pendulums swing alternately, each for half a period, with the initial
 * amplitude of the first pendulum. */
static void only_the_outer_pendulums_of_a_row_swing(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `a`, `initial`: -0.5}, `b`, `c`], "
        "`kinetic_energy`: `(a'^2 + b'^2 + c'^2)/2`, `potential_energy`: `-9.81*(cos(a) + cos(b) + cos(c))`, "
        "`events`: [{`name`: `h1`, `when`: `sin(b) - sin(a)`, `direction`: `falling`, "
        "`impulse`: {`constraint`: `sin(b) = sin(a)`, `restitution`: 1}}, "
        "{`name`: `h2`, `when`: `sin(c) - sin(b)`, `direction`: `falling`, "
        "`impulse`: {`constraint`: `sin(c) = sin(b)`, `restitution`: 1}}]",
        "`stop`: 10, `samples`: 2, `rtol`: 1e-9, `atol`: 1e-11");
    double half = r->event_records[2].t - r->event_records[0].t, speed = sqrt(2 * 9.81 * (1 - cos(0.5)));
    assert_int_equal(r->count, 20);
    for (size_t k = 0; k < r->count; k++) {
        const event_record *h = &r->event_records[k];
        bool forth = k / 2 % 2 == 0;
        assert_string_equal(h->name, (k % 2 == 0) == forth ? "h1" : "h2");
        assert_near("time", h->t, r->event_records[0].t + (double)(k / 2) * half, 1e-7);
        if (k % 2 == 1) assert_near("speed", h->after[forth ? 6 : 4], forth ? speed : -speed, 1e-7);
    }
    record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(touching_balls_transfer_the_whole_velocity),
        cmocka_unit_test(masses_and_restitution_determine_the_sequence_of_impacts),
        cmocka_unit_test(impacts_that_depend_on_their_order_are_reported),
        cmocka_unit_test(random_rows_collide_in_the_order_of_declaration),
        cmocka_unit_test(nearly_touching_balls_collide),
        cmocka_unit_test(every_method_and_formulation_computes_the_chain_of_impacts),
        cmocka_unit_test(the_number_of_impacts_shows_digits_of_pi),
        cmocka_unit_test(only_the_outer_pendulums_of_a_row_swing),
        cmocka_unit_test(a_kick_starts_a_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
