/* bench_sweep.c — members of a sweep per second on one core: hamel's sweeps compared with a hand-written loop over
 * CVODE.
 *
 * Double pendulums start at random angles and run for 10 s at rtol 1e-6. Only the last state of each member is stored.
 * The hand-written program (baselines.c) creates one CVODE integrator and reinitializes it for each member. This
 * integrator uses Adams, fixed-point iteration and hamel's vector operations. hamel runs the same members with
 * hamel_run_members in SIMD lanes, and then one by one with method adams. Errors are differences from the hand-written
 * program at rtol 1e-12. Some of the motions are chaotic, so medians and 95 % quantiles are printed. Exits with 1 if
 * the errors of the sweep are larger than those of the hand-written program.
 *
 * Then compares members in SIMD lanes with runs of the same members one by one, for systems without constraints, with
 * constraints and with events.
 *
 * bench_sweep [rounds [members]] */
#include "api/simulate.h"
#include "engine/base/random.h"
#include "engine/model/variation.h"
#include "engine/simulate/methods/vector_ops.h"
#include "tests/bench/baselines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

enum { STATES = 4, ROUNDS = 5, ROUNDS_MAX = 101, MEMBERS = 1000, MEMBERS_MAX = 100000, KINDS = 3 };
enum { BY_HAND, ONE_BY_ONE, VEC8 };
static const char *const kind_names[KINDS] = {"CVODE by hand, one by one", "hamel, one by one (adams)",
                                              "hamel, eight at a time"};
static const double RTOL = 1e-6, STOP = 10, WIDEST = 2;

typedef struct sweep {
    const baseline *b;
    size_t members;
    double *start;              /* two angles per member */
    hamel_model *models[KINDS]; /* models for ONE_BY_ONE and VEC8 */
    hamel_variation *variations[KINDS];
    double *reference, *found; /* two angles per member */
    size_t ended;
} sweep;

/* ---- the hand-written program ---- */

static void members_by_hand(const sweep *c, double rtol, double *out) {
    SUNContext context;
    require(SUNContext_Create(NULL, &context) == 0, "SUNContext_Create");
    N_Vector y = vector_create(STATES, context);
    require(y != NULL, "out of memory");
    double *state = N_VGetArrayPointer_Serial(y);
    void *cvode = CVodeCreate(CV_ADAMS, context);
    memset(state, 0, STATES * sizeof *state);
    require(cvode != NULL && CVodeInit(cvode, c->b->rhs, 0, y) == 0, "CVodeInit");
    require(CVodeSStolerances(cvode, rtol, rtol * 1e-2) == 0, "CVodeSStolerances");
    require(CVodeSetMaxNumSteps(cvode, 10000000) == 0, "CVodeSetMaxNumSteps");
    SUNNonlinearSolver iteration = SUNNonlinSol_FixedPoint(y, 0, context);
    require(CVodeSetNonlinearSolver(cvode, iteration) == 0, "CVodeSetNonlinearSolver");
    for (size_t i = 0; i < c->members; i++) {
        double t = 0;
        state[0] = c->start[2 * i];
        state[1] = c->start[2 * i + 1];
        state[2] = state[3] = 0;
        require(CVodeReInit(cvode, 0, y) == 0, "CVodeReInit");
        require(CVode(cvode, STOP, y, &t, CV_NORMAL) >= 0, "CVode");
        memcpy(out + 2 * i, state, 2 * sizeof *out);
    }
    CVodeFree(&cvode);
    SUNNonlinSolFree(iteration);
    N_VDestroy(y);
    SUNContext_Free(&context);
}

/* ---- hamel ---- */

static hamel_model *prepare_by(const baseline *b, const char *method) {
    char chosen[60], rtol[60], atol[60];
    snprintf(chosen, sizeof chosen, "simulation.method=%s", method);
    snprintf(rtol, sizeof rtol, "simulation.rtol=%g", RTOL);
    snprintf(atol, sizeof atol, "simulation.atol=%g", RTOL * 1e-2);
    const char *assignments[] = {chosen, rtol, atol};
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model =
        api_prepare(b->description, strlen(b->description), assignments, 3, &limits, NULL, b->name, &failure);
    require(model != NULL, "the model cannot be derived");
    return model;
}

static bool on_row(void *context, size_t member, const double *values, size_t count) {
    const sweep *c = context;
    (void)count;
    memcpy(c->found + 2 * member, values + 1, 2 * sizeof *values);
    return true;
}

static bool on_end(void *context, size_t member, const hamel_member_end *end) {
    sweep *c = context;
    (void)member;
    c->ended += end->summary->outcome == HAMEL_COMPLETED;
    return true;
}

static void run_kind(sweep *c, int kind) {
    if (kind == BY_HAND) {
        members_by_hand(c, RTOL, c->found);
        return;
    }
    hamel_members_options options = {.last_rows = true};
    hamel_members_sink sink = {.context = c, .row = on_row, .end = on_end};
    c->ended = 0;
    require(hamel_run_members(c->variations[kind], &options, c->members, c->start, &sink, NULL) == HAMEL_OK &&
                c->ended == c->members,
            "hamel_run_members");
}

/* ---- measurement ---- */

/* Computes the median and the 95 % quantile of the members' errors, which are sorted in `errors`. */
static void find_errors(const sweep *c, double *errors, double out[2]) {
    for (size_t i = 0; i < c->members; i++)
        errors[i] =
            fmax(fabs(c->found[2 * i] - c->reference[2 * i]), fabs(c->found[2 * i + 1] - c->reference[2 * i + 1]));
    out[0] = median(errors, c->members); /* also sorts the errors */
    out[1] = errors[c->members * 95 / 100];
}

static void open_sweep(sweep *c) {
    static const char *const targets[] = {"a.initial", "b.initial"};
    uint64_t seed = 1;
    while (strcmp(c->b->name, "double pendulum") != 0) c->b++;
    c->start = calloc(6 * c->members, sizeof *c->start);
    require(c->start != NULL, "out of memory");
    c->reference = c->start + 2 * c->members;
    c->found = c->reference + 2 * c->members;
    for (size_t i = 0; i < 2 * c->members; i++) c->start[i] = random_uniform(&seed, -WIDEST, WIDEST);
    for (int kind = ONE_BY_ONE; kind < KINDS; kind++) {
        c->models[kind] = prepare_by(c->b, kind == VEC8 ? "auto" : "adams");
        require(hamel_variation_create(&c->variations[kind], c->models[kind], targets, 2, NULL) == HAMEL_OK,
                "variation");
    }
    members_by_hand(c, 1e-12, c->reference);
}

static void close_sweep(sweep *c) {
    for (int kind = ONE_BY_ONE; kind < KINDS; kind++) {
        hamel_variation_free(c->variations[kind]);
        hamel_model_free(c->models[kind]);
    }
    free(c->start);
}

/* ---- lanes and runs one by one ---- */

typedef struct lane_case {
    const char *name, *text; /* text: NULL for a description of baselines.c with this name */
    const char *target;
    double from, to;
} lane_case;

static const lane_case lane_cases[] = {
    {"double pendulum", NULL, "a.initial", -2, 2},
    {"rolling disk", NULL, "p", 0.2, 1},
    {"bouncing ball",
     "{\"hamel\":1,\"parameters\":{\"e\":0.8},\"coordinates\":[{\"name\":\"y\",\"initial\":1}],"
     "\"gravity\":[0,-9.81],\"particles\":[{\"name\":\"ball\",\"mass\":0.1,\"position\":[0,\"y\"]}],"
     "\"events\":[{\"name\":\"bounce\",\"when\":\"y\",\"direction\":\"falling\","
     "\"impulse\":{\"constraint\":\"y = 0\",\"restitution\":\"e\"}},"
     "{\"name\":\"rest\",\"when\":\"energy() - 5e-8\",\"direction\":\"falling\",\"terminate\":true}],"
     "\"simulation\":{\"stop\":10,\"rtol\":1e-9}}",
     "y.initial", 0.5, 2},
};

static const char *text_of(const lane_case *c) {
    const baseline *b = baselines;
    while (!c->text && strcmp(b->name, c->name) != 0) b++;
    return c->text ? c->text : b->description;
}

static bool count_end(void *context, size_t member, const hamel_member_end *end) {
    (void)member;
    *(size_t *)context += end->status == HAMEL_OK;
    return true;
}

static void run_in_lanes(const hamel_variation *v, size_t members, const double *values) {
    size_t ended = 0;
    hamel_members_sink sink = {.context = &ended, .end = count_end};
    const hamel_members_options options = {.last_rows = true};
    require(hamel_run_members(v, &options, members, values, &sink, NULL) == HAMEL_OK && ended == members, "members");
}

static void run_one_by_one(const hamel_variation *v, size_t members, const double *values) {
    variation_member member;
    require(variation_member_create(&member, v), "out of memory");
    member.model.settings.times = &member.model.settings.stop; /* the last row only */
    member.model.settings.row_count = 1;
    for (size_t i = 0; i < members; i++) {
        hamel_summary summary;
        require(variation_set(v, values + i, &member, NULL) == HAMEL_OK, "variation_set");
        require(hamel_run(&member.model, NULL, NULL, &summary, NULL) == HAMEL_OK, "hamel_run");
        hamel_summary_free(&summary);
    }
    variation_member_free(&member);
}

/* Prints the times of a member in lanes and alone. */
static void compare_lanes(const lane_case *c, size_t members, size_t rounds) {
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_variation *v;
    uint64_t seed = 1;
    double samples[2][ROUNDS_MAX], *values = calloc(members, sizeof *values);
    const char *text = text_of(c);
    hamel_model *model = api_prepare(text, strlen(text), NULL, 0, &limits, NULL, c->name, &failure);
    require(model && values, c->name);
    require(hamel_variation_create(&v, model, &c->target, 1, NULL) == HAMEL_OK, "variation");
    for (size_t i = 0; i < members; i++) values[i] = random_uniform(&seed, c->from, c->to);
    for (size_t round = 0; round < rounds; round++) {
        double begin = processor_time();
        run_in_lanes(v, members, values);
        double middle = processor_time();
        run_one_by_one(v, members, values);
        samples[0][round] = (middle - begin) / (double)members;
        samples[1][round] = (processor_time() - middle) / (double)members;
    }
    double lanes = median(samples[0], rounds), alone = median(samples[1], rounds);
    printf("%-27s |%12.1f %12.1f %12.2f\n", c->name, 1e6 * alone, 1e6 * lanes, alone / lanes);
    hamel_variation_free(v);
    hamel_model_free(model);
    free(values);
}

static size_t argument(int count, char **arguments, int k, size_t otherwise, size_t most) {
    long value = count > k ? strtol(arguments[k], NULL, 10) : 0;
    return value < 1 || (size_t)value > most ? otherwise : (size_t)value;
}

int main(int count, char **arguments) {
    size_t rounds = argument(count, arguments, 1, ROUNDS, ROUNDS_MAX);
    sweep c = {.b = baselines, .members = argument(count, arguments, 2, MEMBERS, MEMBERS_MAX)};
    double samples[KINDS][ROUNDS_MAX], errors[KINDS][2], taken[KINDS];
    open_sweep(&c);
    double *sorted = calloc(c.members, sizeof *sorted);
    require(sorted != NULL, "out of memory");
    for (size_t round = 0; round < rounds; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            double begin = processor_time();
            run_kind(&c, kind);
            samples[kind][round] = (processor_time() - begin) / (double)c.members;
            find_errors(&c, sorted, errors[kind]);
        }
    }
    printf("\n%zu double pendulums, 10 s at rtol 1e-6, one core: processor time, median of %zu rounds\n\n", c.members,
           rounds);
    printf("%-27s |%12s %12s | %8s %8s\n", "", "us a member", "by hand =", "error", "95 %");
    for (int kind = 0; kind < KINDS; kind++) {
        taken[kind] = median(samples[kind], rounds);
        printf("%-27s |%12.1f %12.2f | %8.1e %8.1e\n", kind_names[kind], 1e6 * taken[kind],
               taken[BY_HAND] / taken[kind], errors[kind][0], errors[kind][1]);
    }
    printf("\nby hand =: time of the hand-written program divided by the time of this row\n");
    bool good = errors[VEC8][0] <= errors[BY_HAND][0] && errors[VEC8][1] <= errors[BY_HAND][1];
    if (!good) printf("the errors exceed those of the hand-written program\n");
    printf("\n%-27s |%12s %12s %12s\n", "us a member", "one by one", "in lanes", "ratio");
    for (size_t i = 0; i < sizeof lane_cases / sizeof *lane_cases; i++)
        compare_lanes(&lane_cases[i], c.members, rounds);
    free(sorted);
    close_sweep(&c);
    return good ? 0 : 1;
}
