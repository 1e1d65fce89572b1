/* row_survey.c — see the header. */
#include "engine/solve/row_survey.h"

#include "engine/base/random.h"
#include "engine/solve/kinetics.h"
#include "engine/solve/redundancy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 3, TRIES = 4 };
/* How far from the start states are looked for, of each component's size or 1: a few degrees of an angle. Mechanisms that
 * are small in their units take a shorter distance, NEARER by NEARER. */
static const double DISTANCE = 0.05, NEARER = 0.1;
/* Scaled residuals: at a state that violates its constraints by δ, rows shorter than δ / REDUNDANCY_TOLERANCE appear
 * independent. Less precise states count only if no projection reaches rounding. */
static const double ON_CONSTRAINTS = 1e-11, PRECISE = 1e-14;
static const uint64_t SEED = 1; /* the same in each run */

/* The rows that a solver takes. */
typedef enum survey_level { ALL, POSITIONS, VELOCITIES, LEVELS } survey_level;

typedef struct survey_ranks {
    size_t of[LEVELS];
    bool found, precise;
} survey_ranks;

static void pass_to_solvers(kinetics *k, const survey_ranks *ranks, const double *usual) {
    kkt_expect(k->all, ranks->of[ALL], usual);
    if (k->positions != k->all) kkt_expect(k->positions, ranks->of[POSITIONS], usual);
    if (k->velocities != k->all) kkt_expect(k->velocities, ranks->of[VELOCITIES], usual);
    motion_expect(&k->motion, ranks->of[ALL], ranks->of[VELOCITIES], usual);
}

void row_survey_drop(kinetics *k) {
    const survey_ranks unknown = {{SIZE_MAX, SIZE_MAX, SIZE_MAX}, false, false};
    k->survey.done = false;
    memset(k->survey.usual, 0, k->model->m * sizeof *k->survey.usual);
    pass_to_solvers(k, &unknown, NULL);
}

static bool belongs(constraint_order order, survey_level level) {
    return level == ALL || (level == POSITIONS ? order == CONSTRAINT_HOLONOMIC : order != CONSTRAINT_ACCELERATION);
}

/* A state on the constraints about `distance` away. Velocities are changed, too: rows may contain them. */
static hamel_status visit(kinetics *k, double t, const double *q, const double *v, double distance, uint64_t *seed,
                          bool *found, bool *precise) {
    size_t n = k->model->n;
    double *to = k->survey.state, worst = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        double from = i < n ? q[i] : v[i - n];
        to[i] = from + distance * fmax(1, fabs(from)) * random_uniform(seed, -1, 1);
    }
    hamel_status status = kinetics_project(k, t, to, to + n, &worst, NULL);
    *found = status == HAMEL_OK && worst < ON_CONSTRAINTS;
    *precise = worst < PRECISE;
    for (size_t i = 0; i < n; i++) /* elsewhere other branches may be in force, or other rows vanish */
        if (!(fabs(to[i] - q[i]) <= 10 * distance * fmax(1, fabs(q[i])))) *found = false;
    return status == HAMEL_NO_MEMORY ? status : HAMEL_OK;
}

static hamel_status visit_near(kinetics *k, double t, const double *q, const double *v, uint64_t *seed, bool *found,
                               bool *precise) {
    double distance = DISTANCE;
    hamel_status status = HAMEL_OK;
    *found = false;
    for (int i = 0; i < TRIES && status == HAMEL_OK && !*found; i++, distance *= NEARER)
        status = visit(k, t, q, v, distance, seed, found, precise);
    return status;
}

/* The rank of each level at the state evaluated last, where it is larger than before. Overwrites `taken`. */
static hamel_status note_ranks(kinetics *k, bool *taken, survey_ranks *ranks) {
    const hamel_model *model = k->model;
    hamel_status status = HAMEL_OK;
    bool redundant = true; /* all rows together; if they are independent, so are the others */
    for (survey_level level = ALL; level < LEVELS && redundant && status == HAMEL_OK; level++) {
        redundancy found;
        for (size_t c = 0; c < model->m; c++) taken[c] = k->mode.active[c] && belongs(model->order[c], level);
        status = redundancy_find(&found, model, k->values, taken, k->survey.usual, REDUNDANCY_TOLERANCE);
        if (status == HAMEL_OK && (!ranks->found || found.rank > ranks->of[level])) ranks->of[level] = found.rank;
        redundant = found.count > 0 || level != ALL;
        redundancy_free(&found);
    }
    ranks->found = true;
    return status;
}

static void note_lengths(kinetics *k) {
    const model_pattern *A = &k->model->A; /* by rows */
    const double *values = k->values + k->model->at_A;
    size_t e = 0;
    for (size_t c = 0; c < k->model->m; c++) {
        double sum = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) sum += values[e] * values[e];
        k->survey.usual[c] = fmax(k->survey.usual[c], sqrt(sum));
    }
}

static size_t count_active(const kinetics *k) {
    size_t count = 0;
    for (size_t c = 0; c < k->model->m; c++) count += k->mode.active[c];
    return count;
}

/* Large systems that are redundant at the start are projected with the compliance; any other method would cost too
 * much. */
static hamel_status expect_from_start(kinetics *k, double t, const double *q, const double *v, bool *taken) {
    survey_ranks ranks = {{0, 0, 0}, false, false};
    if (!kkt_prefers_sparse(k->all) || kinetics_evaluate(k, t, q, v, NULL) != HAMEL_OK) return HAMEL_OK;
    hamel_status status = note_ranks(k, taken, &ranks);
    if (status == HAMEL_OK && ranks.of[ALL] < count_active(k)) pass_to_solvers(k, &ranks, NULL);
    return status;
}

static hamel_status survey(kinetics *k, double t, const double *q, const double *v, bool *taken) {
    survey_ranks ranks = {{0, 0, 0}, false, false};
    size_t active = count_active(k);
    uint64_t seed = SEED;
    hamel_status status = expect_from_start(k, t, q, v, taken);
    for (int i = 0; i < STATES && active > 0 && status == HAMEL_OK; i++) {
        bool found, precise;
        status = visit_near(k, t, q, v, &seed, &found, &precise);
        if (status != HAMEL_OK || !found || (ranks.precise && !precise)) continue;
        if (precise && !ranks.precise) ranks = (survey_ranks){{0, 0, 0}, false, true};
        note_lengths(k);
        status = note_ranks(k, taken, &ranks);
        if (precise && ranks.of[ALL] == active) break;
    }
    if (status != HAMEL_OK || !ranks.found || ranks.of[ALL] == active)
        row_survey_drop(k);
    else
        pass_to_solvers(k, &ranks, k->survey.usual);
    return status;
}

hamel_status row_survey_find(kinetics *k, double t, const double *q, const double *v) {
    kinetics_memory memory = kinetics_remember(k);
    bool *taken = calloc(k->model->m + 1, sizeof *taken);
    row_survey_drop(k);
    hamel_status status = taken ? survey(k, t, q, v, taken) : HAMEL_NO_MEMORY;
    free(taken);
    k->survey.done = true;
    kinetics_recall(k, &memory);
    return status == HAMEL_OK ? kinetics_evaluate(k, t, q, v, NULL) : status;
}
