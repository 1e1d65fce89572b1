/* test_forms.c — engine/equations/operators.c and principles.c, engine/mechanics/kinetic_rates.c and form_residual.c:
 * the forms of Nielsen, Tsenov, Mangeron and Deleanu, Jourdain's principle, the central equation and the explicit form
 * agree with published equations and are satisfied along runs of the examples. */
#include "engine/mechanics/kinetic_rates.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/written_text.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- the operators ------------------------------------------------------------------------------------------------ */

/* A function of t, q and q' that is not quadratic in the velocities, and changes if two variables are exchanged. */
#define FUNCTION                                                                                            \
    "(2 + sin(x*y) + t^2)*x'^2/2 + exp(z)*x'*y' + cos(x - z)*y'^2/3 + t*x*z' + x*y*z + (1 + x^2)*z'^4/4 + " \
    "log(3 + z'^2)*cosh(x') + t*sin(y)*sqrt(1 + x'^2 + y'^2)"
#define THREE "`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `" FUNCTION "`"

/* Papastavridis, introduction, 6: the operators of Nielsen, Tsenov, and Mangeron and Deleanu equal d/dt ∂T/∂q' − ∂T/∂q
 * for every function T of t, q and q'. */
static void operators_of_every_order_equal_the_operator_of_lagrange(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, THREE);
    hamel_system *s = f.system;
    graph *g = s->graph;
    graph_node T = fixture_node(&f, FUNCTION);
    for (int order = 1; order <= KINETIC_RATES_MOST; order++) {
        kinetic_rates rates;
        assert_true(kinetic_rates_derive(&rates, s, T, order, s->coordinate_count + (size_t)order));
        for (size_t k = 0; k < s->coordinate_count; k++) {
            graph_node p = graph_partial(g, T, s->v[k]), slope = graph_partial(g, T, s->q[k]);
            assert_same(&f, "operator", kinetic_rates_operator(&rates, s, k), graph_sub(g, graph_rate(g, p), slope));
            assert_same(&f, "slope", rates.lower[k], slope);
        }
    }
    fixture_close(&f);
}

/* For T = m(t) x'²/2 with m = 1 + t², the rate is T' = m x' x'' + t x'², and ∂T'/∂x' = m x'' + 2 t x'. */
static void first_rate_of_the_kinetic_energy_is_its_time_derivative(void **state) {
    (void)state;
    fixture f;
    kinetic_rates rates;
    fixture_open(&f, "`coordinates`: [`x`], `kinetic_energy`: `(1 + t^2)*x'^2/2`");
    graph_node T = fixture_node(&f, "(1 + t^2)*x'^2/2");
    assert_true(kinetic_rates_derive(&rates, f.system, T, 1, 1));
    assert_same(&f, "rate", rates.rate[1], fixture_node(&f, "(1 + t^2)*x'*x'' + t*x'^2"));
    assert_same(&f, "upper", rates.upper[0], fixture_node(&f, "(1 + t^2)*x'' + 2*t*x'"));
    fixture_close(&f);
}

/* Multiplies ∂T/∂q by a factor that is too small by 1. The result differs from Lagrange's operator, so a wrong factor
 * would be found. */
static void operators_with_a_wrong_factor_differ_from_the_operator_of_lagrange(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, THREE);
    hamel_system *s = f.system;
    graph *g = s->graph;
    graph_node T = fixture_node(&f, FUNCTION);
    uint64_t seed = 11;
    fixture_point at = fixture_point_anywhere(&seed);
    for (int order = 1; order <= KINETIC_RATES_MOST; order++) {
        kinetic_rates rates;
        assert_true(kinetic_rates_derive(&rates, s, T, order, s->coordinate_count));
        graph_node p = graph_partial(g, T, s->v[0]), slope = graph_partial(g, T, s->q[0]);
        double upper = fixture_value_at(&f, rates.upper[0], &at), lower = fixture_value_at(&f, rates.lower[0], &at);
        double E = fixture_value_at(&f, graph_sub(g, graph_rate(g, p), slope), &at);
        assert_true(fabs((upper - order * lower) / order - E) > 1e-3);
        assert_true(fabs((upper - (order + 1) * lower) / order - E) < 1e-12);
    }
    fixture_close(&f);
}

/* --- form_residual() along runs ----------------------------------------------------------------------------------- */

static const char *const residual_names[] = {"nielsen", "tsenov", "mangeron_deleanu", "jourdain", "central"};

/* Returns the description of an example with a twentieth of its duration and with empty `outputs`. Checks, invariants,
 * sweep and animation are removed. Returns NULL if `simulation.stop` is not a number. The caller deletes the tree. */
static cJSON *short_run(const char *path) {
    char *text = written_file(path);
    cJSON *d = cJSON_Parse(text), *simulation = cJSON_GetObjectItem(d, "simulation");
    cJSON *stop = cJSON_GetObjectItem(simulation, "stop");
    static const char *const removed[] = {"outputs", "checks", "invariants", "sweep", "animation"};
    free(text);
    if (!cJSON_IsNumber(stop)) return cJSON_Delete(d), NULL;
    cJSON_SetNumberValue(stop, stop->valuedouble / 20);
    for (size_t k = 0; k < sizeof removed / sizeof *removed; k++) cJSON_DeleteItemFromObject(d, removed[k]);
    cJSON_DeleteItemFromObject(simulation, "record");
    cJSON_AddObjectToObject(d, "outputs");
    return d;
}

/* Returns the name of item k of `coordinates`. Returns NULL if there is no item k, or if the item contains the key
 * `for`. The description owns the name. */
static const char *coordinate_at(const cJSON *d, int k) {
    const cJSON *c = cJSON_GetArrayItem(cJSON_GetObjectItem(d, "coordinates"), k);
    if (cJSON_GetObjectItem(c, "for")) return NULL;
    return cJSON_IsString(c) ? c->valuestring : cJSON_GetStringValue(cJSON_GetObjectItem(c, "name"));
}

static bool close_to_zero(const motion *m, const char *what, const char *column, double bound) {
    size_t at = motion_column(m, column);
    for (size_t i = 0; i < m->row_count; i++) {
        if (fabs(motion_value(m, i, at)) <= bound) continue;
        print_message("%s: %s is %g\n", what, column, motion_value(m, i, at));
        return false;
    }
    return true;
}

/* The accelerations satisfy the equations of motion to rounding, so the residual of each form is 0 to rounding. The
 * bound 1e-9 is the product of the largest force (1e5, stiff springs), the unit roundoff, and a margin of 100 for the
 * sums. */
static void form_residuals_vanish_along_the_runs_of_the_examples(void **state) {
    (void)state;
    glob_t files;
    size_t count = 0;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        cJSON *d = short_run(files.gl_pathv[k]), *outputs = cJSON_GetObjectItem(d, "outputs");
        bool given = cJSON_HasObjectItem(d, "acceleration_energy"), lagrangian = cJSON_HasObjectItem(d, "lagrangian");
        for (int i = 0; d && i < 8 && coordinate_at(d, i); i++)
            for (size_t r = 0; r < 5; r++) {
                char name[40], expression[120];
                bool jourdain = r == 3;
                if ((given && !jourdain) || (lagrangian && jourdain)) continue;
                snprintf(name, sizeof name, "%s %d", residual_names[r], i);
                snprintf(expression, sizeof expression, "form_residual(%s, %s)", residual_names[r],
                         coordinate_at(d, i));
                cJSON_AddStringToObject(outputs, name, expression);
            }
        if (d && outputs->child) {
            char *text = cJSON_PrintUnformatted(d);
            motion m = motion_of(text);
            for (const cJSON *o = outputs->child; o; o = o->next)
                assert_true(close_to_zero(&m, files.gl_pathv[k], o->string, 1e-9));
            motion_free(&m);
            free(text);
            count++;
        }
        cJSON_Delete(d);
    }
    globfree(&files);
    assert_true(count > 150);
}

/* The constraint prescribes x(t). Without the reaction of the constraint, the equation of motion of x is not satisfied,
 * so form_residual() must contain this reaction. */
static void form_residual_contains_the_reactions(void **state) {
    (void)state;
    motion m =
        motion_run("`parameters`: {`m`: 2}, `coordinates`: [`x`, {`name`: `y`, `velocity`: 1}],"
                   "`kinetic_energy`: `m*(x'^2 + y'^2)/2 + x*y'^2`, `constraints`: [{`name`: `drive`, `equation`: "
                   "`x = t^2`}], `outputs`: {`r`: `form_residual(tsenov, x)`, `R`: `form_residual(tsenov, x) + "
                   "reaction(drive, x) - (m*x'' - y'^2)`, `s`: `reaction(drive, x) - form_residual(nielsen, x)`}",
                   "`stop`: 0.5, `samples`: 6");
    assert_true(close_to_zero(&m, "drive", "r", 1e-12));
    assert_true(close_to_zero(&m, "drive", "R", 1e-12));
    assert_true(fabs(motion_last(&m, "s")) > 1);
    motion_free(&m);
}

/* --- the written forms along runs --------------------------------------------------------------------------------- */

static const struct {
    hamel_form form;
    const char *formulation;
} written_forms[] = {
    {HAMEL_FORM_NIELSEN, "lagrange"},  {HAMEL_FORM_TSENOV, "lagrange"},  {HAMEL_FORM_MANGERON_DELEANU, "lagrange"},
    {HAMEL_FORM_JOURDAIN, "lagrange"}, {HAMEL_FORM_CENTRAL, "lagrange"}, {HAMEL_FORM_TSENOV, "boltzmann-hamel"},
    {HAMEL_FORM_JOURDAIN, "maggi"},    {HAMEL_FORM_CENTRAL, "kane"},
};
enum { FORMS = sizeof written_forms / sizeof *written_forms };

/* Adds two outputs for each equation of motion in the text of `form`: the left-hand and the right-hand side. `number`
 * makes the names of the outputs unique. Returns false without outputs if the text contains names that a description
 * does not have: common subexpressions, velocities along constraints, or derivatives of tables. */
static bool add_equations(cJSON *d, const hamel_written *form, size_t number) {
    cJSON *outputs = cJSON_GetObjectItem(d, "outputs");
    char *text = strdup(form->text), *rest, name[64];
    bool in_motion = false, good = strstr(text, "\n# with\n") == NULL && strstr(text, "table") == NULL &&
                                   strstr(text, "\n# velocities along") == NULL;
    size_t count = 0;
    for (char *line = strtok_r(text, "\n", &rest); good && line; line = strtok_r(NULL, "\n", &rest)) {
        char *colon = strstr(line, ": "), *equal = strstr(line, " = ");
        if (line[0] == '#') in_motion = strncmp(line, "# motion", 8) == 0;
        if (line[0] == '#' || !in_motion || !colon || !equal) continue;
        *equal = '\0';
        snprintf(name, sizeof name, "left %zu %zu", number, count);
        cJSON_AddStringToObject(outputs, name, colon + 2);
        snprintf(name, sizeof name, "right %zu %zu", number, count++);
        cJSON_AddStringToObject(outputs, name, equal + 3);
    }
    free(text);
    return good && count > 0;
}

/* Runs a description with the outputs of add_equations. Returns the largest difference between the two sides of an
 * equation, relative to the larger side or to 1. */
static double largest_difference(const cJSON *d) {
    char *text = cJSON_PrintUnformatted(d);
    motion m = motion_of(text);
    double worst = 0;
    for (const cJSON *o = cJSON_GetObjectItem(d, "outputs")->child; o; o = o->next->next) {
        size_t left = motion_column(&m, o->string), right = motion_column(&m, o->next->string);
        for (size_t i = 0; i < m.row_count; i++) {
            double l = motion_value(&m, i, left), r = motion_value(&m, i, right);
            worst = fmax(worst, fabs(l - r) / fmax(1, fmax(fabs(l), fabs(r))));
        }
    }
    motion_free(&m);
    free(text);
    return worst;
}

/* Evaluates the written equations along runs of examples with at most six coordinates, without friction and events. The
 * bound 1e-8 is the product of velocity residuals and reactions. */
static void written_forms_hold_along_the_runs_of_small_examples(void **state) {
    (void)state;
    glob_t files;
    size_t counts[FORMS] = {0};
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        cJSON *d = short_run(files.gl_pathv[k]);
        char *text = written_file(files.gl_pathv[k]);
        /* the text is written for the initial state; contacts that stick later, or events, change the constraints */
        bool changes = strstr(text, "\"friction\"") || strstr(text, "\"events\"");
        for (size_t f = 0; d && f < FORMS && !changes; f++) {
            written_example e;
            hamel_written *form = NULL;
            hamel_error error = {0};
            if (!written_open_text(&e, text, written_forms[f].formulation)) continue;
            const hamel_description *given = &e.description.description;
            if (e.model->n <=
                6) { /* the rates T'' and T''' of larger systems are long; 6 limits the time of the test */
                hamel_status status =
                    hamel_write_form(&form, given, written_forms[f].form, HAMEL_NOTATION_TEXT, NULL, NULL, &error);
                assert_true(status == HAMEL_OK || status == HAMEL_INVALID);
            }
            if (form) counts[f] += add_equations(d, form, f);
            hamel_written_free(form);
            hamel_error_clear(&error);
            written_close(&e);
        }
        if (d && cJSON_GetObjectItem(d, "outputs")->child) {
            double worst = largest_difference(d);
            if (worst > 1e-8) fail_msg("%s: %g", files.gl_pathv[k], worst);
        }
        free(text);
        cJSON_Delete(d);
    }
    for (size_t f = 0; f < FORMS; f++) {
        print_message("%s, %s: %zu examples\n", hamel_forms[written_forms[f].form].name, written_forms[f].formulation,
                      counts[f]);
        assert_true(counts[f] >= 40);
    }
    globfree(&files);
}

/* --- explicit equations in free velocities ------------------------------------------------------------------------ */

/* Appends " SIGN (value)*(first)*(second)"; the text is truncated after `room` bytes. */
static void append(char *text, size_t room, const char *sign, const char *value, const char *first,
                   const char *second) {
    size_t used = strlen(text);
    snprintf(text + used, room - used, " %s (%s)*(%s)*(%s)", sign, value, first, second);
}

/* Appends the term that the entry `e` contributes to the left-hand side of the equation of the free velocity u. M*[u,
 * s] and Gamma*[u; s, r] are symmetric in u and s, and in s and r; the entries contain each pair once. */
static void append_entry(char *text, size_t room, const hamel_written_entry *e, const char *u) {
    const char *const *index = e->indices;
    char rate[80];
    bool of_u = index[0] && strcmp(index[0], u) == 0, mirrored = index[1] && strcmp(index[1], u) == 0;
    if (strcmp(e->symbol, "M*") == 0 && (of_u || mirrored)) {
        snprintf(rate, sizeof rate, "%s'", of_u ? index[1] : index[0]);
        append(text, room, "+", e->value, rate, "1");
    } else if (strcmp(e->symbol, "Gamma*") == 0 && of_u) {
        append(text, room, strcmp(index[1], index[2]) == 0 ? "+" : "+ 2*", e->value, index[1], index[2]);
    } else if (strcmp(e->symbol, "N*") == 0 && of_u) {
        append(text, room, "+", e->value, index[1], "1");
    } else if (strcmp(e->symbol, "c*") == 0 && of_u) {
        append(text, room, "+", e->value, "1", "1");
    }
}

/* Appends −Σ Q_k Φ_ku, the generalized force on the free velocity u with the opposite sign. */
static void append_forces(char *text, size_t room, const hamel_written *form, const char *u) {
    for (size_t i = 0; i < form->count; i++) {
        const hamel_written_entry *phi = &form->entries[i];
        if (strcmp(phi->symbol, "Phi") != 0 || strcmp(phi->indices[1], u) != 0) continue;
        for (size_t k = 0; k < form->count; k++) {
            const hamel_written_entry *Q = &form->entries[k];
            if (strcmp(Q->symbol, "Q") == 0 && strcmp(Q->indices[0], phi->indices[0]) == 0)
                append(text, room, "-", Q->value, phi->value, "1");
        }
    }
}

/* Adds one output for each free velocity: the left-hand side minus the right-hand side of its equation. Returns the
 * number of outputs. The number is 0 if the entries contain names that a description does not have, or derivatives of
 * tables. */
static size_t add_explicit_equations(cJSON *outputs, const hamel_written *form) {
    enum { ROOM = 1 << 18 };
    char *text = calloc(1, ROOM), name[16];
    size_t count = 0;
    assert_non_null(text);
    bool unknown =
        strstr(form->text, "\n# with\n") || strstr(form->text, "table") || strstr(form->text, "\n# velocities along");
    for (size_t k = 0; k < form->count && !unknown; k++) {
        const hamel_written_entry *M = &form->entries[k];
        if (strcmp(M->symbol, "M*") != 0 || strcmp(M->indices[0], M->indices[1]) != 0) continue;
        snprintf(text, ROOM, "0");
        for (size_t i = 0; i < form->count; i++) append_entry(text, ROOM, &form->entries[i], M->indices[0]);
        append_forces(text, ROOM, form, M->indices[0]);
        assert_true(strlen(text) + 1 < ROOM);
        snprintf(name, sizeof name, "u %zu", count++);
        cJSON_AddStringToObject(outputs, name, text);
    }
    free(text);
    return count;
}

/* Talamucci 2015, equation 20: assembles the equations from the written coefficients and forces, and evaluates them
 * along runs of examples with at most six coordinates, without friction and events. The bound 1e-8 is the product of
 * velocity residuals and reactions. */
static void explicit_equations_in_free_velocities_hold_along_the_runs_of_small_examples(void **state) {
    (void)state;
    glob_t files;
    size_t examples = 0;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        cJSON *d = short_run(files.gl_pathv[k]), *outputs = cJSON_GetObjectItem(d, "outputs");
        char *text = written_file(files.gl_pathv[k]);
        written_example e;
        hamel_written *form = NULL;
        hamel_error error = {0};
        bool changes = strstr(text, "\"friction\"") || strstr(text, "\"events\"");
        if (d && !changes && written_open_text(&e, text, "kane")) {
            const hamel_description *given = &e.description.description;
            if (e.model->n <= 6 &&
                hamel_write_form(&form, given, HAMEL_FORM_EXPLICIT, HAMEL_NOTATION_TEXT, NULL, NULL, &error) ==
                    HAMEL_OK &&
                add_explicit_equations(outputs, form) > 0) {
                char *run = cJSON_PrintUnformatted(d);
                motion m = motion_of(run);
                for (const cJSON *o = outputs->child; o; o = o->next)
                    assert_true(close_to_zero(&m, files.gl_pathv[k], o->string, 1e-8));
                motion_free(&m);
                free(run);
                examples++;
            }
            hamel_written_free(form);
            hamel_error_clear(&error);
            written_close(&e);
        }
        free(text);
        cJSON_Delete(d);
    }
    globfree(&files);
    print_message("explicit, kane: %zu examples\n", examples);
    assert_true(examples >= 40);
}

/* --- published equations ------------------------------------------------------------------------------------------ */

static void assert_lines(const char *name, hamel_form form, const char *as, hamel_notation notation,
                         const char *const *lines) {
    written_example e;
    hamel_written *found = NULL;
    if (name[0] == '{')
        written_open(&e, name, as);
    else
        written_open_example(&e, name, as);
    assert_int_equal(hamel_write_form(&found, &e.description.description, form, notation, NULL, NULL, NULL), HAMEL_OK);
    for (; *lines; lines++)
        if (!strstr(found->text, *lines)) fail_msg("%s: no line %s in\n%s", name, *lines, found->text);
    hamel_written_free(found);
    written_close(&e);
}
#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Derived by hand for an elastic pendulum. T = m (r'² + r² φ'²)/2 has the rate T' = m (r' r'' + r r' φ'² + r² φ' φ'').
 * Hence ∂T'/∂r' = m (r'' + r φ'²), ∂T/∂r = m r φ'², and Nielsen's equation of r is m r'' + m r φ'² − 2 m r φ'² = Q_r.
 * */
#define ELASTIC                                                                                                    \
    "{`hamel`: 1, `parameters`: {`m`: 2, `k`: 3, `g`: 9.81}, `coordinates`: [{`name`: `r`, `initial`: 1}, `phi`]," \
    "`kinetic_energy`: `m*(r'^2 + r^2*phi'^2)/2`, `potential_energy`: `k*r^2/2 - m*g*r*cos(phi)`,"                 \
    "`simulation`: {`stop`: 1}}"

static void forms_of_the_elastic_pendulum_agree_with_a_derivation_by_hand(void **state) {
    (void)state;
    assert_lines(ELASTIC, HAMEL_FORM_NIELSEN, "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\n# motion: D[k] - 2*B[k] = forces + reactions\n",
                       "\nT' = m*r'*r'' + m*r^2*phi'*phi'' + m*r*r'*phi'^2\n", "\nD[r] = m*r'' + m*r*phi'^2\n",
                       "\nD[phi] = m*r^2*phi'' + 2*m*r*r'*phi'\n", "\nB[r] = m*r*phi'^2\n",
                       "\nr: m*r'' - m*r*phi'^2 = "));
    /* the terms ∂T/∂r' r''' + ∂T/∂φ' φ''' of T'' do not contribute to D, because they do not contain q'' */
    assert_lines(ELASTIC, HAMEL_FORM_TSENOV, "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\n# motion: (D[k] - 3*B[k])/2 = forces + reactions\n", "m*r'*r'''", "m*r^2*phi'*phi'''",
                       "\nD[r] = 2*m*r'' + m*r*phi'^2\n", "\nD[phi] = 2*m*r^2*phi'' + 4*m*r*r'*phi'\n"));
    assert_lines(
        ELASTIC, HAMEL_FORM_MANGERON_DELEANU, "lagrange", HAMEL_NOTATION_TEXT,
        LINES("\n# motion: (D[k] - 4*B[k])/3 = forces + reactions\n", "m*r'*r''''", "\nD[r] = 3*m*r'' + m*r*phi'^2\n"));
    assert_lines(
        ELASTIC, HAMEL_FORM_CENTRAL, "lagrange", HAMEL_NOTATION_TEXT,
        LINES("\np[phi] = m*r^2*phi'\n", "\nB[r] = m*r*phi'^2\n", "\nr: m*r'' = m*r*phi'^2 + m*g*cos(phi) - k*r\n"));
}

static void latex_writes_time_derivatives_up_to_order_4_as_dots(void **state) {
    (void)state;
    assert_lines(
        "simple_pendulum", HAMEL_FORM_MANGERON_DELEANU, "lagrange", HAMEL_NOTATION_LATEX,
        LINES("\n\\dddot{T} &= ", "\\ddddot{\\theta}", "\nD_{\\theta} &= 3 \\, m \\, l^{2} \\, \\ddot{\\theta}"));
}

/* Chaplygin's sleigh: x and y are the position of the blade, and b is its distance from the mass centre. The equations
 * are m v' = m b φ'² and (I + m b²) φ'' = −m b v φ'. The derivative of T with respect to the velocity across the blade
 * is m b φ', and γ = −1. */
static void four_forms_give_the_equations_of_the_chaplygin_sleigh(void **state) {
    static const hamel_form forms[] = {HAMEL_FORM_NIELSEN, HAMEL_FORM_TSENOV, HAMEL_FORM_JOURDAIN, HAMEL_FORM_CENTRAL};
    (void)state;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        assert_lines("chaplygin_sleigh", forms[k], "kane", HAMEL_NOTATION_TEXT,
                     LINES("\nv_blade: m*v_blade' - m*b*phi'^2 = 0\nphi': (m*b^2 + I)*phi'' + m*b*phi'*v_blade = 0\n"));
    assert_lines(
        "chaplygin_sleigh", HAMEL_FORM_CENTRAL, "kane", HAMEL_NOTATION_TEXT,
        LINES("\nP[v_blade] = m*v_blade\n", "\nP[blade] = m*b*phi'\n", "\ngamma[blade; v_blade, phi'] = -1\n"));
    assert_lines("chaplygin_sleigh", HAMEL_FORM_JOURDAIN, "kane", HAMEL_NOTATION_TEXT,
                 LINES("\nPhi[x, v_blade] = cos(phi)\nPhi[y, v_blade] = sin(phi)\nPhi[phi, phi'] = 1\n"));
}

/* The constraint of Appell and Hamel, x'² + y'² = a² z'², is nonlinear. In Jourdain's principle, the variations of the
 * velocities satisfy x' δx' + y' δy' = a² z' δz' (Papastavridis, introduction, 5 and 6). */
static void nonlinear_constraints_restrict_variations_of_velocities(void **state) {
    (void)state;
    const char *wheel =
        "{`hamel`: 1, `parameters`: {`m`: 1, `g`: 9.81, `a`: 2}, `coordinates`: [{`name`: `x`, `velocity`: 2}, `y`,"
        "{`name`: `z`, `velocity`: 1}], `kinetic_energy`: `m*(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `m*g*z`,"
        "`constraints`: [{`name`: `c`, `equation`: `x'^2 + y'^2 - a^2*z'^2`}], `simulation`: {`stop`: 1}}";
    assert_lines(wheel, HAMEL_FORM_JOURDAIN, "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nb[z, x] = x'/(a^2*z')\nb[z, y] = y'/(a^2*z')\n", "\nJ[z] = m*z'' + m*g\n"));
}

/* Talamucci 2015, example 3.1, with v1 = x' cos θ + y' sin θ, v2 = θ', v3 = φ', v4 = ψ', μ = M + m3 + m4 and η = (m3 +
 * m4) h. The matrix of equation 15 contains the entries μ, −(η sin φ + m4 l sin ψ) and a η cos φ. The quadratic terms
 * of the first equation (20) are −v2 (μ a v2 + 2 η cos φ v3 + 2 m4 l cos ψ v4). */
static void explicit_form_of_talamucci_3_1_has_the_published_coefficients(void **state) {
    (void)state;
    assert_lines("talamucci_3_1_pendulum_on_skate", HAMEL_FORM_EXPLICIT, "kane", HAMEL_NOTATION_TEXT,
                 LINES("\nPhi[x, theta'] = -a*sin(theta)\n", "\nM*[v_blade, v_blade] = M + m3 + m4\n",
                       "\nM*[theta', v_blade] = -(m3 + m4)*h*sin(phi) - m4*l*sin(psi)\n",
                       "\nM*[phi', theta'] = (m3 + m4)*a*h*cos(phi)\n", "\nM*[psi', psi'] = m4*l^2\n",
                       "\nGamma*[v_blade; theta', theta'] = -(M + m3 + m4)*a\n"
                       "Gamma*[v_blade; theta', phi'] = -(m3 + m4)*h*cos(phi)\n"
                       "Gamma*[v_blade; theta', psi'] = -m4*l*cos(psi)\n",
                       "\nGamma*[psi'; phi', phi'] = -m4*h*l*sin(phi - psi)\n",
                       "\nX[v_blade] = -(M + m3 + m4)*a*theta'^2 - "));
}

/* Talamucci 2015, example 3.4: the spin rate w(t) = 2 (sin t + 5) is prescribed. Then σ = (R w cos θ, R w sin θ, 0, 0,
 * 0) and b̃ = (w Ã14, 0, 0) with Ã14 = −R ((3/2 M R + (m3 + m4) h) sin φ + m4 l sin ψ). The term w' Ã14 of the equation
 * of θ does not contain velocities. The source writes Ia = M R²/2. */
static void explicit_form_of_talamucci_3_4_has_the_published_coefficients(void **state) {
    (void)state;
    assert_lines("talamucci_3_4_driven_unicycle", HAMEL_FORM_EXPLICIT, "kane", HAMEL_NOTATION_TEXT,
                 LINES("\nsigma[x] = 2*R*cos(theta)*(sin(t) + 5)\nsigma[y] = 2*R*sin(theta)*(sin(t) + 5)\n",
                       "\nb*[theta'] = -2*(sin(t) + 5)*((M*R^2 + m3*R*h + m4*R*h + Ia)*sin(phi) + m4*R*l*sin(psi))\n",
                       "\nN*[theta', phi'] = -2*Ia*cos(phi)*(sin(t) + 5)\n",
                       "\nc*[theta'] = -2*cos(t)*((M*R^2 + m3*R*h + m4*R*h + Ia)*sin(phi) + m4*R*l*sin(psi))\n"));
}

/* Papastavridis 3.5.24: T* may replace T in Hamel's equations if all products of a momentum of a constraint and its γ
 * vanish. All γ of the holonomic pendulum are 0. The sleigh has γ = −1 and the momentum m b φ', which is 0 only if b =
 * 0. */
static void explicit_form_states_whether_the_restricted_kinetic_energy_suffices(void **state) {
    (void)state;
    assert_lines("cartesian_pendulum", HAMEL_FORM_EXPLICIT, "kane", HAMEL_NOTATION_TEXT,
                 LINES("\n# T* may replace T in Hamel's equations"));
    assert_lines("chaplygin_sleigh", HAMEL_FORM_EXPLICIT, "kane", HAMEL_NOTATION_TEXT,
                 LINES("\nX[v_blade] = -m*b*phi'^2\nX[phi'] = m*b*phi'*v_blade\n"));
    assert_lines(
        "{`hamel`: 1, `coordinates`: [`x`, {`name`: `y`}, `phi`], `kinetic_energy`: `(x'^2 + y'^2 + phi'^2)/2`,"
        "`constraints`: [{`name`: `c`, `equation`: `y'*cos(phi) = x'*sin(phi)`}], `simulation`: {`stop`: 1}}",
        HAMEL_FORM_EXPLICIT, "kane", HAMEL_NOTATION_TEXT, LINES("\n# T* may replace T in Hamel's equations"));
}

static void forms_that_a_system_does_not_have_are_rejected(void **state) {
    static const struct {
        const char *name, *as, *reason;
        hamel_form form;
        hamel_notation notation;
    } cases[] = {
        {"heavy_top", "hamilton", "momenta replace velocities", HAMEL_FORM_NIELSEN, HAMEL_NOTATION_TEXT},
        {"heavy_top", "routh", "momenta replace velocities", HAMEL_FORM_CENTRAL, HAMEL_NOTATION_TEXT},
        {"heavy_top", "lagrange", "the form of Tsenov cannot be written as C", HAMEL_FORM_TSENOV, HAMEL_NOTATION_C},
        {"servo_cart", "lagrange", "constraints on accelerations do not restrict", HAMEL_FORM_JOURDAIN,
         HAMEL_NOTATION_TEXT},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        written_example e;
        hamel_written *found = NULL;
        hamel_error error = {0};
        written_open_example(&e, cases[k].name, cases[k].as);
        assert_int_equal(
            hamel_write_form(&found, &e.description.description, cases[k].form, cases[k].notation, NULL, NULL, &error),
            HAMEL_INVALID);
        if (!strstr(error.faults[0].message, cases[k].reason)) fail_msg("%s", error.faults[0].message);
        hamel_error_clear(&error);
        written_close(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_of_every_order_equal_the_operator_of_lagrange),
        cmocka_unit_test(first_rate_of_the_kinetic_energy_is_its_time_derivative),
        cmocka_unit_test(operators_with_a_wrong_factor_differ_from_the_operator_of_lagrange),
        cmocka_unit_test(form_residuals_vanish_along_the_runs_of_the_examples),
        cmocka_unit_test(form_residual_contains_the_reactions),
        cmocka_unit_test(written_forms_hold_along_the_runs_of_small_examples),
        cmocka_unit_test(forms_of_the_elastic_pendulum_agree_with_a_derivation_by_hand),
        cmocka_unit_test(latex_writes_time_derivatives_up_to_order_4_as_dots),
        cmocka_unit_test(four_forms_give_the_equations_of_the_chaplygin_sleigh),
        cmocka_unit_test(nonlinear_constraints_restrict_variations_of_velocities),
        cmocka_unit_test(explicit_equations_in_free_velocities_hold_along_the_runs_of_small_examples),
        cmocka_unit_test(explicit_form_of_talamucci_3_1_has_the_published_coefficients),
        cmocka_unit_test(explicit_form_of_talamucci_3_4_has_the_published_coefficients),
        cmocka_unit_test(explicit_form_states_whether_the_restricted_kinetic_energy_suffices),
        cmocka_unit_test(forms_that_a_system_does_not_have_are_rejected),
    };
    return cmocka_run_group_tests_name("forms", tests, NULL, NULL);
}
