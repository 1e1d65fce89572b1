/* test_members_vec8.c — a member has the same bytes in a SIMD lane, in its own run, and in a run of its own model. */
#include "engine/model/variation.h"
#include "engine/simulate/members_vec8.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMBERS = 13, TARGETS_MOST = 3, ROWS_MOST = 20000, TEXT_MOST = 8000 };

/* Rows, counts and outcome of a run. */
typedef struct result {
    double rows[ROWS_MOST];
    size_t count, begun, events;
    size_t counted_rows, counted_events; /* as in the summary */
    hamel_status status;
    hamel_outcome outcome;
    double t;
    long steps, rhs, projections;
    bool in_lane;         /* whether the member ended in a SIMD lane */
    hamel_residual first; /* residuals of the first constraint */
} result;

static result lanes[MEMBERS], alone, own;

static bool on_begin(void *context, size_t member, const hamel_header *header) {
    (void)header;
    result *r = (result *)context + member;
    r->count = r->events = 0;
    r->begun++;
    return true;
}

static bool on_row(void *context, size_t member, const double *values, size_t count) {
    result *r = (result *)context + member;
    assert_true(r->count + count <= ROWS_MOST);
    memcpy(r->rows + r->count, values, count * sizeof *values);
    r->count += count;
    return true;
}

/* Events are stored like rows: the time and the row after the event. */
static bool on_event(void *context, size_t member, const hamel_event_record *event) {
    result *r = (result *)context + member;
    r->events++;
    return on_row(context, member, &event->t, 1) && on_row(context, member, event->after, event->count);
}

static bool on_end(void *context, size_t member, const hamel_member_end *end) {
    result *r = (result *)context + member;
    r->status = end->status;
    r->outcome = end->summary->outcome;
    r->t = end->summary->t;
    r->steps = end->summary->steps;
    r->rhs = end->summary->rhs_evaluations;
    r->projections = end->summary->projections;
    r->counted_rows = end->summary->rows;
    r->counted_events = end->summary->events;
    r->in_lane = isnan(end->summary->max_dynamics_residual);
    if (end->summary->residual_count) r->first = end->summary->residuals[0];
    return true;
}

static bool on_run_row(void *context, const double *values, size_t count) {
    return on_row(context, 0, values, count);
}

static bool on_run_event(void *context, const hamel_event_record *event) {
    return on_event(context, 0, event);
}

static void run_alone(const hamel_model *model, result *out) {
    hamel_summary summary;
    hamel_error error = {0};
    hamel_sink sink = {.context = out, .row = on_run_row, .event = on_run_event};
    memset(out, 0, sizeof *out);
    out->status = hamel_run(model, NULL, &sink, &summary, &error);
    out->outcome = summary.outcome;
    out->t = summary.t;
    out->steps = summary.steps;
    out->rhs = summary.rhs_evaluations;
    out->projections = summary.projections;
    out->counted_rows = summary.rows;
    out->counted_events = summary.events;
    if (summary.residual_count) out->first = summary.residuals[0];
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
}

/* A description in which $0, $1 and $2 are the values of the targets. */
typedef struct sweep {
    const char *name, *description, *targets[TARGETS_MOST];
    double range[TARGETS_MOST][2]; /* range of the random values of each target */
    size_t rerun;                  /* number of members that may be rerun alone */
} sweep;

#define DOUBLE_PENDULUM                                                                                                \
    "`parameters`: {`l`: $2, `g`: 9.81}, `coordinates`: [{`name`: `a`, `initial`: $0}, {`name`: `b`, `initial`: 0.5, " \
    "`velocity`: $1}], `kinetic_energy`: `l^2*(a'^2 + b'^2/2 + a'*b'*cos(a-b))`, "                                     \
    "`potential_energy`: `-g*l*(2*cos(a) + cos(b))`, "                                                                 \
    "`outputs`: {`A`: `a''`, `E`: `energy()`, `slow`: `sqrt(a'^2 + b'^2)`}"

/* A chain of N links with their angles as coordinates. */
#define CHAIN(N)                                                                                          \
    "`parameters`: {`N`: " #N ", `g`: $0, `l`: $1}, `coordinates`: [{`name`: `a[i]`, `for`: `i = 1..N`, " \
    "`initial`: `$2/(1 + i)`}], `particles`: [{`name`: `p[k]`, `for`: `k = 1..N`, `mass`: 1, "            \
    "`position`: [`sum(i, 1, k, l*sin(a[i]))`, `-sum(i, 1, k, l*cos(a[i]))`]}], "                         \
    "`potential_energy`: `sum(k, 1, N, -g*l*sum(i, 1, k, cos(a[i])))`, `outputs`: {`A`: `a[1]''`, `E`: `energy()`}"

static const sweep sweeps[] = {
    {"pendulum",
     "`parameters`: {`l`: $1}, `coordinates`: [{`name`: `a`, `initial`: $0, `velocity`: $2}], "
     "`kinetic_energy`: `l^2*a'^2/2`, `potential_energy`: `-9.81*l*cos(a)`, `outputs`: {`A`: `a''`}",
     {"a.initial", "l", "a.velocity"},
     {{-3, 3}, {0.3, 3}, {-8, 8}},
     0},
    {"double pendulum", DOUBLE_PENDULUM, {"a.initial", "b.velocity", "l"}, {{-2, 2}, {-3, 3}, {0.5, 3}}, 0},
    {"double pendulum with invariants and checks",
     DOUBLE_PENDULUM ", `invariants`: [`energy()`], `checks`: [{`name`: `late`, `expression`: `a`, "
                     "`at`: 0.777, `max`: 10}, {`name`: `all`, `expression`: `b`, `at`: `always`, `max`: 1000}]",
     {"a.initial", "b.velocity", "l"},
     {{-2, 2}, {-3, 3}, {0.5, 3}},
     0},
    {"chain of 8", CHAIN(8), {"g", "l", NULL}, {{1, 10}, {0.5, 2}, {0, 0}}, 0},
    {"chain of 16", CHAIN(16), {"g", "l", NULL}, {{1, 10}, {0.5, 2}, {0, 0}}, 0},
    {"chain of 26 without a closed form",
     "`parameters`: {`N`: 26, `g`: $0, `l`: $1}, `coordinates`: [{`name`: `a[i]`, `for`: `i = 1..N`, `initial`: "
     "`1/(1 + i)`}], `kinetic_energy`: `sum(i, 1, N, sum(j, 1, N, l^2*(N + 1 - max(i, j))*a[i]'*a[j]'*cos(a[i] - "
     "a[j])/2))`, `potential_energy`: `sum(i, 1, N, -g*l*(N + 1 - i)*cos(a[i]))`, `outputs`: {`A`: `a[26]''`}",
     {"g", "l", NULL},
     {{1, 10}, {0.5, 2}, {0, 0}},
     0},
    {"heavy top",
     "`parameters`: {`A`: $0, `C`: $1}, `coordinates`: [{`name`: `phi`, `velocity`: 1}, {`name`: `theta`, "
     "`initial`: 0.6}, {`name`: `psi`, `velocity`: $2}], `kinetic_energy`: `A*(phi'^2*sin(theta)^2 + theta'^2)/2 + "
     "C*(psi' + phi'*cos(theta))^2/2`, `potential_energy`: `2*cos(theta)`, `outputs`: {`B`: `theta''`}",
     {"A", "C", "psi.velocity"},
     {{0.5, 2}, {0.3, 1}, {5, 30}},
     0},
    {"orbit",
     "`parameters`: {`k`: $1}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: $0}], "
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `-k/sqrt(x^2 + y^2)`, "
     "`outputs`: {`r`: `sqrt(x^2 + y^2)`, `angle`: `atan2(y, x)`, `power`: `(x^2 + y^2)^0.3`}",
     {"y.velocity", "k", NULL},
     {{0.5, 1.2}, {0.9, 1.5}, {0, 0}},
     0},
    {"damped oscillator",
     "`parameters`: {`c`: $0, `m`: $1}, `coordinates`: [{`name`: `x`, `initial`: $2}], "
     "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `x^2/2 + sqrt(x^2 + 5)/3 + exp(-x)/7`, "
     "`dissipation`: `c*x'^2/2`, `outputs`: {`f`: `exp(-x)`, `g`: `atan2(x, x')`, `h`: `x''`}",
     {"c", "m", "x.initial"},
     {{0, 0.5}, {0.5, 2}, {-2, 2}},
     0},
    {"explicit time",
     "`parameters`: {`w`: $0}, `coordinates`: [{`name`: `x`, `initial`: $1}, {`name`: `a`, `initial`: 0.3}], "
     "`particles`: [{`name`: `p`, `mass`: 2, `position`: [`x + sin(w*t)/5 + sin(a)`, `-cos(a)`]}, "
     "{`name`: `q`, `mass`: 1, `position`: [`x`, `x/3`]}], `gravity`: [0, -9.81], "
     "`potential_energy`: `x^2/2`, `generalized_forces`: {`x`: `cos(t)*x`}, `outputs`: {`A`: `a''`}",
     {"w", "x.initial", NULL},
     {{0.5, 4}, {-1, 1}, {0, 0}},
     0},
    {"uncoupled",
     "`parameters`: {`k`: $0}, `coordinates`: [{`name`: `x`, `initial`: $1}, {`name`: `y`, `velocity`: 1}, `z`], "
     "`kinetic_energy`: `x'^2/2 + y'^2 + (2 + sin(z))*z'^2`, `potential_energy`: `k*x^2/2 + cosh(y)/9 + z^2*x`",
     {"k", "x.initial", NULL},
     {{0.5, 4}, {-1, 1}, {0, 0}},
     0},
    {"at rest",
     "`parameters`: {`k`: $0}, `coordinates`: [{`name`: `x`}], `kinetic_energy`: `x'^2/2`, "
     "`potential_energy`: `k*x^2/2`",
     {"k", NULL, NULL},
     {{0.5, 4}, {0, 0}, {0, 0}},
     0},
    {"rolling disk",
     "`parameters`: {`r`: 0.5, `p`: $0, `g`: $1}, `coordinates`: [{`name`: `X`, `velocity`: `-r*(6 + p*cos(1.3)*0)`}, "
     "`Y`, {`name`: `phi`, `velocity`: `p`}, {`name`: `theta`, `initial`: 1.3, `velocity`: 0}, {`name`: `psi`, "
     "`velocity`: `6-p*cos(1.3)`}], `definitions`: {`Om`: `psi'+phi'*cos(theta)`, `wd`: `phi'*sin(theta)`}, "
     "`kinetic_energy`: [`(X'^2+Y'^2+(r*theta'*cos(theta))^2)/2`, `r^2/4*(theta'^2+wd^2)/2`, `r^2/2*Om^2/2`], "
     "`potential_energy`: `g*r*sin(theta)`, `constraints`: [{`name`: `rollX`, `equation`: "
     "`X'=-r*Om*cos(phi)+r*theta'*sin(phi)*sin(theta)`}, {`name`: `rollY`, `equation`: "
     "`Y'=-r*Om*sin(phi)-r*theta'*cos(phi)*sin(theta)`}], `outputs`: {`A`: `theta''`, `F`: `lambda(rollX)`}",
     {"p", "g", NULL},
     {{0.1, 2}, {5, 12}, {0, 0}},
     0},
    {"pendulum in x and y",
     "`parameters`: {`g`: $1, `p`: $0, `s`: $2}, `coordinates`: [{`name`: `x`, `initial`: `sin(p)`, `velocity`: "
     "`s*cos(p)`}, {`name`: `y`, `initial`: `-cos(p)`, `velocity`: `s*sin(p)`}], `kinetic_energy`: `(x'^2 + y'^2)/2`, "
     "`potential_energy`: `g*y`, `constraints`: [{`name`: `rod`, "
     "`equation`: `x^2 + y^2 = 1`}], `outputs`: {`A`: `x''`, `T`: `lambda(rod)`}",
     {"p", "g", "s"},
     {{-0.7, 0.7}, {1, 10}, {-3, 3}},
     0},
    {"constraints on both levels and moving",
     "`parameters`: {`w`: $0, `m`: $1}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`}, {`name`: `z`, "
     "`initial`: $2}, `u`], `kinetic_energy`: `(x'^2 + 2*y'^2 + m*z'^2 + u'^2)/2`, `potential_energy`: "
     "`z + x*y + u^2/3`, `constraints`: [{`name`: `driven`, `equation`: `x = 1 + sin(w*t)/5`}, {`name`: `skate`, "
     "`equation`: `y' = sin(z)*x' + cos(z)*u'`}], `outputs`: {`L`: `lambda(driven)`, `A`: `u''`}",
     {"w", "m", "z.initial"},
     {{0.5, 3}, {0.5, 2}, {-1, 1}},
     6},
    {"redundant constraints",
     "`parameters`: {`k`: $0}, `coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: 0.8}], "
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `k*x`, `constraints`: [{`name`: `a`, `equation`: "
     "`x^2 + y^2 = 1`}, {`name`: `b`, `equation`: `2*x^2 + 2*y^2 = 2`}], `outputs`: {`A`: `x''`}",
     {"k", NULL, NULL},
     {{0.5, 4}, {0, 0}, {0, 0}},
     MEMBERS},
    {"parallelogram that passes singular configurations",
     "`parameters`: {`w`: $0}, `coordinates`: [{`name`: `a`, `initial`: 0.5, `velocity`: `w`}, `b`, {`name`: `c`, "
     "`initial`: 0.5, `velocity`: `w`}], `kinetic_energy`: `a'^2 + b'^2 + c'^2/2`, `potential_energy`: `sin(a)/3`, "
     "`constraints`: [{`name`: `p`, `equation`: `cos(a) + 2*cos(b) - cos(c) = 2`}, {`name`: `q`, `equation`: "
     "`sin(a) + 2*sin(b) - sin(c) = 0`}], `outputs`: {`A`: `a''`}",
     {"w", NULL, NULL},
     {{1, 4}, {0, 0}, {0, 0}},
     MEMBERS},
    {"bouncing ball",
     "`parameters`: {`e`: 0.8, `g`: $1}, `coordinates`: [{`name`: `y`, `initial`: $0}, {`name`: `x`, `velocity`: $2}], "
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `g*y`, `events`: [{`name`: `bounce`, `when`: `y`, "
     "`direction`: `falling`, `impulse`: {`constraint`: `y = 0`, `restitution`: `e`}}, {`name`: `passed`, `when`: "
     "`x - 1`}, {`name`: `slow`, `when`: `energy() - 0.02*g - x'^2/2`, `direction`: `falling`, `terminate`: true}], "
     "`outputs`: {`E`: `energy()`}, `checks`: [{`name`: `floor`, `expression`: `y`, `at`: `always`, `min`: -1}]",
     {"y.initial", "g", "x.velocity"},
     {{0.5, 2}, {5, 12}, {-1, 2}},
     0},
    {"pendulum in x and y at a wall",
     "`parameters`: {`w`: $1, `p`: $0, `f`: 0.1}, `coordinates`: [{`name`: `x`, `initial`: `sin(p)`}, {`name`: `y`, "
     "`initial`: `-cos(p)`}], `kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`, "
     "`generalized_forces`: {`x`: `f*sin(3*t)`}, `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}], "
     "`events`: [{`name`: `hit`, `when`: `w - x`, `direction`: `falling`, `impulse`: {`constraint`: `x = w`, "
     "`restitution`: 0.7}}, {`name`: `low`, `when`: `x`}], `outputs`: {`T`: `lambda(rod)`, `A`: `y''`}",
     {"p", "w", NULL},
     {{-1.2, -0.5}, {0.1, 0.4}, {0, 0}},
     0},
    {"struck pendulum",
     "`parameters`: {`F`: $0, `l`: $1}, `coordinates`: [{`name`: `x`, `initial`: `l`}, `y`], `particles`: [{`name`: "
     "`bob`, `mass`: 1, `position`: [`x`, `y`]}], `gravity`: [0, -9.81], `constraints`: [{`name`: `rod`, `equation`: "
     "`x^2 + y^2 = l^2`}], `events`: [{`name`: `blow`, `when`: `x`, `percussion`: {`at`: `bob`, `vector`: [`F`, "
     "`F*x'`]}}], `outputs`: {`T`: `lambda(rod)`}",
     {"F", "l", NULL},
     {{-1, 1}, {0.5, 1.5}, {0, 0}},
     0},
    {"rod that is let go",
     "`parameters`: {`T`: $0, `v`: $1}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: `v`}], "
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`, `constraints`: [{`name`: `rod`, `equation`: "
     "`x^2 + y^2 = 1`}], `events`: [{`name`: `cut`, `when`: `t - T`, `deactivate`: [`rod`]}, {`name`: `fast`, `when`: "
     "`x'^2 + y'^2 - 30`, `set`: {`y'`: 0}}], `outputs`: {`A`: `x''`}",
     {"T", "v", NULL},
     {{0.4, 3}, {1, 4}, {0, 0}},
     MEMBERS},
    {"decay",
     "`parameters`: {`c`: $0}, `coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2/2`, "
     "`potential_energy`: `x^2/2`, `dissipation`: `c*x'^2/2`",
     {"c", NULL, NULL},
     {{10, 300}, {0, 0}, {0, 0}},
     MEMBERS},
};

#define PROJECTED ", `initialization`: `project`"

static const char *const simulations[] = {
    "`stop`: 3, `samples`: 7" PROJECTED,
    "`stop`: 2.5, `times`: [0, 0.1, 0.123456, 1, 1.7, 2.2], `rtol`: 1e-4, `atol`: 1e-5" PROJECTED,
    "`start`: 0.3, `stop`: 1.9, `samples`: 301, `rtol`: 1e-10, `atol`: 1e-12, `method`: `erk`" PROJECTED,
    "`stop`: 2, `samples`: 2, `rtol`: 1e-6, `max_step`: 0.0625" PROJECTED,
    "`stop`: 2, `samples`: 5, `rtol`: 1e-6, `max_step`: 0.03, `method`: `erk`" PROJECTED,
    "`stop`: 40, `times`: [39.25], `rtol`: 1e-13, `atol`: 1e-3" PROJECTED,
};

static size_t target_count(const sweep *s) {
    size_t count = 0;
    while (count < TARGETS_MOST && s->targets[count]) count++;
    return count;
}

/* Writes the description with the values of the targets. A value without a target is 1. */
static void write_description(const sweep *s, const double *values, char *out) {
    size_t at = 0, count = target_count(s);
    for (const char *c = s->description; *c && at + 40 < TEXT_MOST; c++) {
        if (*c != '$') {
            out[at++] = *c;
            continue;
        }
        size_t k = (size_t)(*++c - '0');
        at += (size_t)snprintf(out + at, TEXT_MOST - at, "%.17g", k < count ? values[k] : 1);
    }
    out[at] = 0;
}

static void expect_same(const char *what, const sweep *s, const char *simulation, size_t member, const result *one,
                        const result *other) {
    if (one->status != other->status || one->outcome != other->outcome || one->t != other->t ||
        one->steps != other->steps || one->events != other->events || one->counted_rows != other->counted_rows ||
        one->counted_events != other->counted_events || one->rhs != other->rhs ||
        one->projections != other->projections || one->first.position != other->first.position ||
        one->first.velocity != other->first.velocity || one->count != other->count)
        fail_msg("%s, %s, member %zu, %s: status %d and %d, t %.17g and %.17g, steps %ld and %ld, rhs %ld and %ld, "
                 "numbers %zu and %zu",
                 s->name, simulation, member, what, one->status, other->status, one->t, other->t, one->steps,
                 other->steps, one->rhs, other->rhs, one->count, other->count);
    for (size_t i = 0; i < one->count; i++)
        if (memcmp(&one->rows[i], &other->rows[i], sizeof(double)) != 0)
            fail_msg("%s, %s, member %zu, %s: number %zu is %.17g and %.17g", s->name, simulation, member, what, i,
                     one->rows[i], other->rows[i]);
}

static void compare(const sweep *s, const char *simulation) {
    char text[TEXT_MOST];
    double values[MEMBERS * TARGETS_MOST];
    size_t targets = target_count(s), rerun = 0;
    uint64_t seed = 11;
    hamel_variation *v;
    variation_member member;
    hamel_error error = {0};
    hamel_members_sink sink = {lanes, on_begin, on_row, on_event, on_end};
    for (size_t i = 0; i < MEMBERS * targets; i++)
        values[i] = random_between(&seed, s->range[i % targets][0], s->range[i % targets][1]);
    write_description(s, (double[]){0.7, 0.9, 1.1}, text);
    hamel_model *model = fixture_model(text, simulation);
    assert_true(members_vec8_serves(model));
    memset(lanes, 0, sizeof lanes);
    assert_int_equal(hamel_variation_create(&v, model, s->targets, targets, &error), HAMEL_OK);
    assert_int_equal(hamel_run_members(v, &(hamel_members_options){0}, MEMBERS, values, &sink, &error), HAMEL_OK);
    assert_true(variation_member_create(&member, v));
    for (size_t k = 0; k < MEMBERS; k++) {
        assert_int_equal(variation_set(v, values + k * targets, &member, &error), HAMEL_OK);
        run_alone(&member.model, &alone);
        expect_same("in a lane and alone", s, simulation, k, &lanes[k], &alone);
        write_description(s, values + k * targets, text);
        hamel_model *written = fixture_model(text, simulation);
        run_alone(written, &own);
        expect_same("in a lane and by its own model", s, simulation, k, &lanes[k], &own);
        hamel_model_free(written);
        rerun += !lanes[k].in_lane;
    }
    if (rerun > s->rerun) fail_msg("%s, %s: %zu members were rerun", s->name, simulation, rerun);
    variation_member_free(&member);
    hamel_variation_free(v);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

static void members_have_the_bytes_of_runs_of_their_own(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        for (size_t r = 0; r < sizeof simulations / sizeof *simulations; r++) compare(&sweeps[i], simulations[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_have_the_bytes_of_runs_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
