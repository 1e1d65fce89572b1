/* dynamics_explain.c — messages for singular and inconsistent states, with the constraints or coordinates that cause
 * them. */
#include "engine/base/text_buffer.h"
#include "engine/base/tolerances.h"
#include "engine/dynamics/dynamics.h"
#include "engine/dynamics/redundancy_report.h"

#include <math.h>
#include <string.h>

/* Constraints that become redundant are found with the larger of two rank tolerances: AT_DEPENDENCE, and
 * NEAR_DEPENDENCE times the rank margin. AT_DEPENDENCE applies at a located rank loss. It exceeds usual integration
 * tolerances, because the located state satisfies the constraints only within these tolerances. NEAR_DEPENDENCE is a
 * safety factor of ten, because the rank margin and the rank tolerance refer to different metrics. */
static const double AT_DEPENDENCE = 1e-5, NEAR_DEPENDENCE = 10;
/* Sine of the angle between two axes below which an orientation is reported as singular. The square of the sine is a
 * pivot of the mass matrix. Pivots below 1e-14 are rounding errors (mass_rank.c). Such pivots correspond to a sine
 * below 1e-7, and the bound includes a safety factor of ten. */
static const double SINGULAR_SINE = 1e-6;

hamel_status dynamics_find_contradiction(dynamics *k, const bool *taken, const double *right,
                                         dynamics_contradiction *out) {
    const hamel_model *model = k->model;
    redundancy r;
    *out = (dynamics_contradiction){0};
    hamel_status status = redundancy_find(&r, &model->dynamics.A, k->values, taken, k->survey.usual, RANK_TOLERANCE);
    for (size_t set = 0; status == HAMEL_OK && set < r.count; set++) {
        double off = redundancy_contradiction(&r, set, right);
        if (!(off > out->off)) continue;
        out->off = off;
        out->last = r.dependent[set];
        out->count = r.first[set + 1] - r.first[set];
        redundancy_names(&r, model, set, out->names, sizeof out->names);
    }
    redundancy_free(&r);
    return status;
}

bool dynamics_dependent_names(const dynamics *k, double margin, char *names, size_t size) {
    redundancy found;
    size_t set = 0;
    bool any = redundancy_find(&found, &k->model->dynamics.A, k->values, k->discrete_state.active, k->survey.usual,
                               fmax(AT_DEPENDENCE, NEAR_DEPENDENCE * margin)) == HAMEL_OK;
    for (size_t i = 1; any && i < found.count; i++) /* rows that are redundant everywhere have a smaller rest */
        if (found.rest[i] > found.rest[set]) set = i;
    any = any && found.count > 0;
    if (any) redundancy_names(&found, k->model, set, names, size);
    redundancy_free(&found);
    return any;
}

static hamel_status explain_contradiction(dynamics *k, hamel_error *error) {
    dynamics_contradiction found;
    hamel_status status = dynamics_find_contradiction(k, k->discrete_state.active, k->b, &found);
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    if (found.count == 0)
        return hamel_fail(error, HAMEL_INCOMPATIBLE, "/constraints", 0,
                          "at t = %.9g the constraints contradict each other", k->t);
    const char *pointer = k->model->system->constraints[found.last].pointer;
    bool one = found.count == 1;
    (void)hamel_fail(error, HAMEL_INCOMPATIBLE, pointer, 0,
                     one ? "at t = %.9g no accelerations satisfy the constraint %s: it is off by %.3g"
                         : "at t = %.9g the constraints %s contradict each other: their accelerations are %.3g apart",
                     k->t, found.names, found.off);
    hamel_suggest(error, one ? "change the initial values or rewrite the constraint, because its gradient vanishes here"
                             : "remove one of these constraints, or make them agree");
    return HAMEL_INCOMPATIBLE;
}

static double reach_of(const double *values, const sparse_block *p, size_t coordinate, bool rows) {
    double most = 0;
    for (size_t e = 0; e < p->count; e++)
        if ((rows && (size_t)p->row[e] == coordinate) || (size_t)p->column[e] == coordinate)
            most = fmax(most, fabs(values[e]));
    return most;
}

/* Writes the names of coordinates that have neither inertia nor a constraint. Returns false if every coordinate has
 * inertia or a constraint. */
static bool name_massless(const dynamics *k, text_buffer *text) {
    enum { SHOWN = 8 };
    const hamel_model *model = k->model;
    size_t found = 0;
    for (size_t i = 0; i < model->n && found < SHOWN; i++) {
        if (reach_of(k->values + model->dynamics.M.at, &model->dynamics.M, i, true) > 0) continue;
        if (reach_of(k->values + model->dynamics.A.at, &model->dynamics.A, i, false) > 0) continue;
        text_buffer_printf(text, "%s`%s`", found++ ? ", " : "", model->system->coordinates[i].name);
    }
    return found > 0;
}

static void suggest_inertia(const dynamics *k, hamel_error *error) {
    text_buffer text;
    text_buffer_init(&text, 4096);
    bool named = name_massless(k, &text) && text.bytes;
    if (!k->singular_mass)
        hamel_suggest(
            error,
            "choose another state, or use other coordinates: the coordinates%s%s%s singular here, like angles at a "
            "pole; the mass matrix is regular nearby",
            named ? " (" : "", named ? text.bytes : "", named ? ") are" : " are");
    else if (named)
        hamel_suggest(error, "add a mass or inertia that moves with %s, or a constraint that fixes it", text.bytes);
    else
        hamel_suggest(error, "give every coordinate a mass or inertia, or a constraint that fixes it");
    text_buffer_free(&text);
}

/* Adds an error for the angle triple that is nearest to its singularity (gimbal lock). At a singularity, two of the
 * angles rotate about the same axis. The angles then do not determine the motion, although the inertia of the body is
 * regular. Returns false if no triple is near its singularity or if out of memory. */
static bool explain_singular_angles(const dynamics *k, hamel_error *error) {
    const hamel_system *s = k->model->system;
    const system_angles *found = NULL;
    double least = SINGULAR_SINE;
    program_inputs in = model_inputs(k->model, &k->t, k->q, k->v, NULL, NULL, NULL);
    graph_point at = {{0}, {0}, {0}};
    memcpy(at.values, in.values, sizeof at.values);
    for (size_t i = 0; i < s->angles_count; i++) {
        double sine = INFINITY;
        if (!graph_values(s->graph, &s->angles[i].sine, 1, &at, &sine, NULL)) return false;
        if (fabs(sine) < least) least = fabs(sine), found = &s->angles[i];
    }
    if (!found) return false;
    (void)hamel_fail(
        error, HAMEL_SINGULAR, found->pointer, 0,
        "at t = %.9g the angles of `%s` are singular: the first and the third angle rotate about the same axis", k->t,
        found->name);
    hamel_suggest(error,
                  "describe the orientation by a quaternion, or by a sequence of axes whose second angle stays away "
                  "from such values");
    return true;
}

/* Adds an error and returns true if the constraints cannot be solved for the dependent velocities of Chaplygin's
 * equations. */
static bool explain_unsolvable(const dynamics *k, hamel_error *error) {
    const hamel_model *model = k->model;
    text_buffer names;
    if (!k->motion.basis || !k->motion.basis->unsolvable) return false;
    text_buffer_init(&names, 4096);
    for (size_t i = 0; i < model->n; i++)
        if (!model->independent[i])
            text_buffer_printf(&names, "%s`%s'`", names.length ? ", " : "", model->system->coordinates[i].name);
    (void)hamel_fail(
        error, HAMEL_SINGULAR, "/constraints", 0,
        "at t = %.9g the constraints do not determine the dependent velocities of Chaplygin's equations: %s", k->t,
        names.bytes ? names.bytes : "");
    hamel_suggest(error, "use the formulation `voronets`, which chooses other dependent velocities at such states");
    text_buffer_free(&names);
    return true;
}

hamel_status dynamics_explain(dynamics *k, hamel_status status, hamel_error *error) {
    if (status == HAMEL_CANCELED) return status;
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    if (status == HAMEL_INCOMPATIBLE) return explain_contradiction(k, error);
    if (explain_unsolvable(k, error)) return HAMEL_SINGULAR;
    if (!k->singular_mass && explain_singular_angles(k, error)) return HAMEL_SINGULAR;
    (void)hamel_fail(
        error, HAMEL_SINGULAR, "", 0,
        "at t = %.9g the equations of motion do not determine the accelerations: the mass matrix is singular%s", k->t,
        k->model->m ? " in directions that the constraints leave free" : "");
    suggest_inertia(k, error);
    return HAMEL_SINGULAR;
}
