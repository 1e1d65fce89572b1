/* rank_survey.c — see the header. */
#include "engine/dynamics/rank_survey.h"

#include "engine/base/random.h"
#include "engine/base/tolerances.h"
#include "engine/dynamics/dynamics.h"
#include "engine/linear/redundancy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 3, TRIES = 4 };
/* Distance of the states from the initial state in each component x, relative to max(1, |x|). For an angle, the
 * distance is about three degrees. With a larger distance, projections fail more often. With a smaller distance, rows
 * that vanish at the initial state remain closer to RANK_TOLERANCE. If no state is found, as for a mechanism that is
 * small in the length unit, the distance is multiplied by NEARER. */
static const double DISTANCE = 0.05, NEARER = 0.1;
/* A state is precise if its scaled residual is below this bound. At a state that violates its constraints by δ, rows
 * shorter than δ / RANK_TOLERANCE appear independent. States that are not precise are used only if no precise state is
 * found. */
static const double PRECISE = 1e-14;
static const uint64_t SEED = 1; /* seed of the random states; constant, so that runs are reproducible */

/* The sets of rows whose ranks are found: all rows, and the rows of each level. */
typedef enum survey_level { ALL, POSITIONS, VELOCITIES, LEVELS } survey_level;

typedef struct survey_ranks {
    size_t of[LEVELS];
    bool found, precise;
} survey_ranks;

static void pass_to_solvers(dynamics *k, const survey_ranks *ranks, const double *usual) {
    kkt_expect(k->all, ranks->of[ALL], usual);
    if (k->positions != k->all) kkt_expect(k->positions, ranks->of[POSITIONS], usual);
    if (k->velocities != k->all) kkt_expect(k->velocities, ranks->of[VELOCITIES], usual);
    if (k->motion.null_space) null_space_expect(k->motion.null_space, ranks->of[ALL], usual);
    if (k->motion.basis) k->motion.basis->limit = ranks->of[VELOCITIES], k->motion.basis->usual = usual;
}

void rank_survey_drop(dynamics *k) {
    const survey_ranks unknown = {{SIZE_MAX, SIZE_MAX, SIZE_MAX}, false, false};
    k->survey.done = false;
    memset(k->survey.usual, 0, k->model->m * sizeof *k->survey.usual);
    pass_to_solvers(k, &unknown, NULL);
}

static bool belongs(constraint_order order, survey_level level) {
    return level == ALL || is_of_level(order, level == POSITIONS);
}

/* Finds a state on the constraints at about `distance` from (q, v). Velocities are varied as well, because rows may
 * depend on them. */
static hamel_status visit_state(dynamics *k, double t, const double *q, const double *v, double distance,
                                uint64_t *seed, bool *found, bool *precise) {
    size_t n = k->model->n;
    double *to = k->survey.state, worst = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        double from = i < n ? q[i] : v[i - n];
        to[i] = from + distance * fmax(1, fabs(from)) * random_uniform(seed, -1, 1);
    }
    hamel_status status = dynamics_project(k, t, to, to + n, &worst, NULL);
    *found = status == HAMEL_OK && worst < PROJECTION_ERROR;
    *precise = worst < PRECISE;
    for (size_t i = 0; i < n; i++) /* farther states may have other branches or vanishing rows */
        if (!(fabs(to[i] - q[i]) <= 10 * distance * fmax(1, fabs(q[i])))) *found = false;
    return status == HAMEL_NO_MEMORY ? status : HAMEL_OK;
}

static hamel_status visit_near(dynamics *k, double t, const double *q, const double *v, uint64_t *seed, bool *found,
                               bool *precise) {
    double distance = DISTANCE;
    hamel_status status = HAMEL_OK;
    *found = false;
    for (int i = 0; i < TRIES && status == HAMEL_OK && !*found; i++, distance *= NEARER)
        status = visit_state(k, t, q, v, distance, seed, found, precise);
    return status;
}

/* Sets the rank of each level to the maximum of its previous value and the rank at the state evaluated last. Overwrites
 * `taken`. */
static hamel_status note_ranks(dynamics *k, bool *taken, survey_ranks *ranks) {
    const hamel_model *model = k->model;
    hamel_status status = HAMEL_OK;
    bool redundant = true; /* if all rows are independent, the rows of each level are independent */
    for (survey_level level = ALL; level < LEVELS && redundant && status == HAMEL_OK; level++) {
        redundancy found;
        for (size_t c = 0; c < model->m; c++) taken[c] = k->discrete_state.active[c] && belongs(model->order[c], level);
        status = redundancy_find(&found, &model->dynamics.A, k->values, taken, k->survey.usual, RANK_TOLERANCE);
        if (status == HAMEL_OK && (!ranks->found || found.rank > ranks->of[level])) ranks->of[level] = found.rank;
        redundant = found.count > 0 || level != ALL;
        redundancy_free(&found);
    }
    ranks->found = true;
    return status;
}

static void note_lengths(dynamics *k) {
    const sparse_block *A = &k->model->dynamics.A; /* sorted by rows */
    const double *values = k->values + k->model->dynamics.A.at;
    size_t e = 0;
    for (size_t c = 0; c < k->model->m; c++) {
        double sum = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) sum += values[e] * values[e];
        k->survey.usual[c] = fmax(k->survey.usual[c], sqrt(sum));
    }
}

static size_t count_active(const dynamics *k) {
    size_t count = 0;
    for (size_t c = 0; c < k->model->m; c++) count += k->discrete_state.active[c];
    return count;
}

/* If a large system has redundant constraints at the initial state, makes the projections use a compliance, because
 * dense methods would take too long. */
static hamel_status expect_from_start(dynamics *k, double t, const double *q, const double *v, bool *taken) {
    survey_ranks ranks = {{0, 0, 0}, false, false};
    if (!kkt_prefers_sparse(k->all) || dynamics_evaluate(k, t, q, v, NULL) != HAMEL_OK) return HAMEL_OK;
    hamel_status status = note_ranks(k, taken, &ranks);
    if (status == HAMEL_OK && ranks.of[ALL] < count_active(k)) pass_to_solvers(k, &ranks, NULL);
    return status;
}

static hamel_status survey_states(dynamics *k, double t, const double *q, const double *v, bool *taken) {
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
        rank_survey_drop(k);
    else
        pass_to_solvers(k, &ranks, k->survey.usual);
    return status;
}

hamel_status rank_survey_find(dynamics *k, double t, const double *q, const double *v) {
    if (count_active(k) == 0) {
        rank_survey_drop(k);
        k->survey.done = true;
        return dynamics_evaluate(k, t, q, v, NULL);
    }
    dynamics_memory memory = dynamics_remember(k);
    bool *taken = calloc(k->model->m + 1, sizeof *taken);
    rank_survey_drop(k);
    hamel_status status = taken ? survey_states(k, t, q, v, taken) : HAMEL_NO_MEMORY;
    free(taken);
    k->survey.done = true;
    dynamics_recall(k, &memory);
    return status == HAMEL_OK ? dynamics_evaluate(k, t, q, v, NULL) : status;
}
