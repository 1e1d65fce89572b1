/* test_explicit.c — engine/equations/explicit.c: the explicit forms agree with textbooks, with finite differences of
 * the kinetic energy, and with the accelerations that the engine computes. */
#include "engine/dynamics/dynamics.h"
#include "engine/mechanics/formulation.h"
#include "engine/system/binder.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"
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

/* Returns the explicit form of an open example, or NULL if the function is not quadratic. */
static hamel_written *explicit_of(const written_example *e, hamel_notation notation, double arranging) {
    hamel_written *found = NULL;
    hamel_error error = {0};
    hamel_limits limits = hamel_limits_default();
    limits.arranging = arranging;
    hamel_status status =
        hamel_write_form(&found, &e->description.description, HAMEL_FORM_EXPLICIT, notation, &limits, NULL, &error);
    assert_true(status == HAMEL_OK || status == HAMEL_INVALID);
    hamel_error_clear(&error);
    return found;
}

static void open_named(written_example *e, const char *name, const char *as) {
    if (name[0] == '{')
        written_open(e, name, as);
    else
        written_open_example(e, name, as);
}

/* Checks that the explicit form of a description or example contains these lines. */
static void assert_lines(const char *name, const char *as, hamel_notation notation, const char *const *lines) {
    written_example e;
    open_named(&e, name, as);
    hamel_written *found = explicit_of(&e, notation, hamel_limits_default().arranging);
    assert_non_null(found);
    assert_true(found->simplified);
    assert_int_equal(found->omitted.count, 0);
    for (; *lines; lines++)
        if (!strstr(found->text, *lines)) fail_msg("%s: no line %s in\n%s", name, *lines, found->text);
    hamel_written_free(found);
    written_close(&e);
}

#define AT_ONCE "`simulation`: {`stop`: 1}}"
#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- textbooks ---------------------------------------------------------------------------------------------------- */

/* Papastavridis, example 3.5.8: Γ_1,22 = m2 l1 l2 sin(φ1 − φ2) = −Γ_2,11, and no other symbol. */
static void the_double_pendulum_has_two_christoffel_symbols(void **state) {
    (void)state;
    assert_lines("papastavridis_3_5_8_double_pendulum", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nM[φ1, φ1] = (m1 + m2)*l1^2\nM[φ2, φ1] = m2*l1*l2*cos(φ1 - φ2)\nM[φ2, φ2] = m2*l2^2\n\n",
                       "\nGamma[φ1; φ2, φ2] = m2*l1*l2*sin(φ1 - φ2)\nGamma[φ2; φ1, φ1] = -m2*l1*l2*sin(φ1 - φ2)\n\n"));
    assert_lines("papastavridis_3_5_8_double_pendulum", "lagrange", HAMEL_NOTATION_LATEX,
                 LINES("\n\\Gamma_{\\phi_{1};\\phi_{2},\\phi_{2}} &= "));
}

/* Goldstein 5.7 with A1 and C: the equation of θ is A1 θ'' + (C − A1) sin θ cos θ φ'² + C sin θ φ' ψ' = m g l sin θ. */
static void the_heavy_top_has_its_christoffel_symbols(void **state) {
    (void)state;
    assert_lines("heavy_top", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nGamma[phi; phi, theta] = (A1 - C)*sin(theta)*cos(theta)\n"
                       "Gamma[phi; theta, psi] = -C*sin(theta)/2\n"
                       "Gamma[theta; phi, phi] = (C - A1)*sin(theta)*cos(theta)\n"
                       "Gamma[theta; phi, psi] = C*sin(theta)/2\n"
                       "Gamma[psi; phi, theta] = -C*sin(theta)/2\n\n"));
}

/* Greenwood, example 4.12: T2 = ½ m r² θ'², T0 = ½ m r² Ω² sin² θ and no T1. */
static void a_bead_on_a_turning_hoop_has_no_linear_part(void **state) {
    (void)state;
    assert_lines("greenwood_4_12_bead_on_hoop", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nT2 = m*r^2*theta'^2/2\nT0 = m*r^2*sin(theta)^2*(w1*t + w0)^2/2\n\n",
                       "\nc[theta] = -m*r^2*sin(theta)*cos(theta)*(w1*t + w0)^2\n"));
}

/* Papastavridis, 1.7.21: in a frame that turns at w, the Coriolis force on the puck is 2 m2 w (y', −x'). */
static void a_turning_frame_has_a_gyroscopic_matrix(void **state) {
    (void)state;
    assert_lines("papastavridis_1_7_21_rotating_frame", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nT1 = -m1*w*c*u' - m2*w*y*x' + m2*w*x*y'\n", "\nG[y, x] = 2*m2*w\n\n",
                       "\nc[x] = -m2*w^2*x\nc[y] = -m2*w^2*y\n"));
}

/* A charge in the field B has L1 = B (x y' − y x')/2. Larmor: m x'' = B y' − k x, m y'' = −B x' − k y. */
static void a_lagrangian_is_split(void **state) {
    (void)state;
    assert_lines("{`hamel`: 1, `parameters`: {`m`: 1, `k`: 2, `B`: 3}, `coordinates`: [`x`, `y`],"
                 "`lagrangian`: `m*(x'^2 + y'^2)/2 + B*(x*y' - y*x')/2 - k*(x^2 + y^2)/2`," AT_ONCE,
                 "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("= forces without potential + reactions\n", "\nL1 = -B*y*x'/2 + B*x*y'/2\n", "\nG[y, x] = B\n\n",
                       "\nc[x] = k*x\nc[y] = k*y\n"));
}

/* d/dt ((2 + t) x' + t y) = (2 + t) x'' + x' + t y' + y, and y'' − t x' = 0. */
static void explicit_time_gives_terms_of_its_own(void **state) {
    (void)state;
    assert_lines(
        "{`hamel`: 1, `coordinates`: [`x`, `y`], `kinetic_energy`: `(2 + t)*x'^2/2 + y'^2/2 + t*y*x'`," AT_ONCE,
        "lagrange", HAMEL_NOTATION_TEXT,
        LINES("\nMt[x, x] = 1\n", "\nG[y, x] = -t\n", "\nc[x] = y\n", "\nb[x] = t*y\n"));
}

/* Papastavridis, introduction, 8.4 (Kelvin and Tait). The top with p_φ and p_ψ constant has no R1, so θ is not coupled
 * gyroscopically, and −R0 is the effective potential of Goldstein 5.60. In the second system
 * p = a' + x y' − y x' is constant, and R = ½ (x'² + y'²) + p (x y' − y x') − ½ p². */
static void the_routhian_is_split(void **state) {
    (void)state;
    assert_lines("heavy_top", "routh", HAMEL_NOTATION_TEXT,
                 LINES("\nR2 = A1*theta'^2/2\nR0 = -p_phi^2/(2*A1*sin(theta)^2)", "= forces without potential",
                       "\nM[theta, theta] = A1\n", "\nphi' = "));
    assert_lines("{`hamel`: 1, `coordinates`: [{`name`: `a`, `velocity`: 1}, `x`, `y`],"
                 "`kinetic_energy`: `(a' + x*y' - y*x')^2/2 + (x'^2 + y'^2)/2`," AT_ONCE,
                 "routh", HAMEL_NOTATION_TEXT,
                 LINES("\nR2 = x'^2/2 + y'^2/2\nR1 = -y*x'*p_a + x*y'*p_a\nR0 = -p_a^2/2\n", "\nG[y, x] = 2*p_a\n"));
}

/* Greenwood, 4.317 to 4.319: 2T* = m r² (5/4 w1² + 1/4 w2² + 3/2 w3²). Baruh, example 4.9: on the turning hoop T*_0
 * remains. */
static void the_kinetic_energy_is_restricted_to_the_constraints(void **state) {
    (void)state;
    assert_lines("papastavridis_2_13_7_rolling_disk", "kane", HAMEL_NOTATION_TEXT,
                 LINES("\nT*_2 = 5*m*r^2*w1^2/8 + m*r^2*w2^2/8 + 3*m*r^2*w3^2/4\n", "\nM*[w2, w2] = m*r^2/4\n"));
    assert_lines("papastavridis_2_13_7_rolling_disk", "boltzmann-hamel", HAMEL_NOTATION_LATEX,
                 LINES("\nT^*_{2} &= ", "\nM^*_{w_{2},w_{2}} &= "));
}

/* --- every example ------------------------------------------------------------------------------------------------ */

/* The entries of one example as nodes, and T or L in the same graph. */
typedef struct parsed {
    written_example example;
    hamel_written *form;
    hamel_system *s;
    graph_node *value; /* value[form->count] */
    graph_node T;
    double *values; /* values of value[] at the last point */
    size_t n;
} parsed;

static bool has_symbol(const hamel_written_entry *e, const char *letter) {
    return strcmp(e->symbol, letter) == 0;
}

/* Reads reactions as 0. They occur in forces, which are compared only for systems without constraints. */
static graph_node no_reaction(void *context, syntax_quantity quantity, const int32_t *arguments) {
    (void)quantity, (void)arguments;
    return graph_number(((hamel_system *)context)->graph, 0);
}

static graph_node read_entry(parsed *p, const hamel_written_entry *e) {
    hamel_expression expression = {.text = e->value, .pointer = ""};
    system_quantities quantities = {p->s, no_reaction};
    graph_node node = system_bind(p->s, &expression, PLACE_OUTPUT, NULL, SYNTAX_EXPRESSION, &quantities);
    if (node < 0)
        fail_msg("%s = %s: %s", e->symbol, e->value, p->s->error->count ? p->s->error->faults[0].message : "");
    return node;
}

/* Makes the name of a common subexpression known to the parser, as the name of a definition is. */
static void define_name(parsed *p, const char *name, graph_node node) {
    system_binder *b = p->s->binder;
    b->slots = arena_grow(p->s->memory, b->slots, &b->slot_capacity, b->slot_count + 1, sizeof *b->slots);
    assert_non_null(b->slots);
    int32_t index = (int32_t)b->slot_count++;
    b->slots[index] = (bind_slot){.name = name, .pointer = "", .state = SLOT_BOUND, .count = 1, .nodes = {node}};
    assert_int_equal(symbol_add(&b->quantities, name, strlen(name), ENTRY_SLOT + ENTRY_KINDS * index, NULL), HAMEL_OK);
}

/* Opens an example and parses its entries. Returns false if the example has no quadratic function. */
static bool parse_example(parsed *p, const char *name, hamel_error *error) {
    static const char *const letters[] = {"T2", "T1", "T0", "L2", "L1", "L0", "M", "b", "Gamma", "G", "Mt", "c", "Q"};
    memset(p, 0, sizeof *p);
    written_open_example(&p->example, name, "lagrange");
    p->form = explicit_of(&p->example, HAMEL_NOTATION_TEXT, hamel_limits_default().arranging);
    if (!p->form) return false;
    p->s = p->example.model->system;
    p->s->error = error;
    p->n = p->example.model->n;
    p->value = calloc(p->form->count, sizeof *p->value);
    p->values = calloc(p->form->count, sizeof *p->values);
    assert_true(p->value && p->values);
    for (int round = 0; round < 2; round++) /* first the common subexpressions */
        for (size_t k = 0; k < p->form->count; k++) {
            const hamel_written_entry *e = &p->form->entries[k];
            bool known = false;
            for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) known |= has_symbol(e, letters[i]);
            if (known != (round == 1)) continue;
            p->value[k] = read_entry(p, e);
            if (round == 0) define_name(p, e->symbol, p->value[k]);
        }
    hamel_equations equations = {.system = p->s, .n = p->n, .m = p->example.model->m};
    size_t count;
    const graph_node *terms = energies_lagrangian_terms(p->s, &count);
    p->T = p->s->lagrangian < 0 ? energies_kinetic(&equations) : graph_number(p->s->graph, 0);
    for (size_t k = 0; p->s->lagrangian >= 0 && k < count; k++) p->T = graph_add(p->s->graph, p->T, terms[k]);
    assert_true(p->T >= 0);
    return true;
}

static void close_example(parsed *p) {
    hamel_written_free(p->form);
    free(p->value);
    free(p->values);
    if (p->s) p->s->error = NULL;
    written_close(&p->example);
}

enum { MOST = 128 };
typedef struct moving_state {
    double t, q[MOST], v[MOST], a[MOST];
} moving_state;

static double value_at(const parsed *p, graph_node node, const moving_state *x) {
    graph_point at = {{0}, {0}, {0}};
    double value = 0;
    at.values[SYMBOL_PARAMETER] = p->example.model->parameters;
    at.values[SYMBOL_TIME] = &x->t;
    at.values[SYMBOL_COORDINATE] = x->q;
    at.values[SYMBOL_VELOCITY] = x->v;
    assert_true(graph_values(p->s->graph, &node, 1, &at, &value, NULL));
    return value;
}

/* Returns T at (t, q) for the velocities x v + y e_k. */
static double energy_at(const parsed *p, const moving_state *state, double x, double y, size_t k) {
    moving_state s = *state;
    for (size_t i = 0; i < p->n; i++) s.v[i] *= x;
    if (k < p->n) s.v[k] += y;
    return value_at(p, p->T, &s);
}

/* Return values of the parts of T for the velocity v at a state: b_k, b·v, e_k·M v, ½ v·M v and T0. */
static double linear_of(const parsed *p, const moving_state *s, size_t k) {
    return (energy_at(p, s, 0, 1, k) - energy_at(p, s, 0, -1, k)) / 2;
}
static double linear_along(const parsed *p, const moving_state *s, size_t k) {
    (void)k;
    return (energy_at(p, s, 1, 0, p->n) - energy_at(p, s, -1, 0, p->n)) / 2;
}
static double mass_along(const parsed *p, const moving_state *s, size_t k) {
    return (energy_at(p, s, 1, 1, k) - energy_at(p, s, 1, -1, k)) / 2 - linear_of(p, s, k);
}
static double rest_of(const parsed *p, const moving_state *s, size_t k) {
    (void)k;
    return energy_at(p, s, 0, 0, p->n);
}
static double square_along(const parsed *p, const moving_state *s, size_t k) {
    return (energy_at(p, s, 1, 0, p->n) + energy_at(p, s, -1, 0, p->n)) / 2 - rest_of(p, s, k);
}

/* Returns the derivative of f along v, along e_k, or along t. The error of this difference of order 4 is h⁴/30 times
 * the fifth derivative, plus a rounding error of order ε/h. */
enum { ALONG_V, ALONG_COORDINATE, ALONG_TIME };
static double slope_of(double (*f)(const parsed *, const moving_state *, size_t), const parsed *p,
                       const moving_state *state, size_t k, int along) {
    static const double weight[] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, step[] = {-2, -1, 1, 2};
    const double h = 1e-3;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        moving_state s = *state;
        for (size_t j = 0; along == ALONG_V && j < p->n; j++) s.q[j] += step[i] * h * s.v[j];
        if (along == ALONG_COORDINATE) s.q[k] += step[i] * h;
        if (along == ALONG_TIME) s.t += step[i] * h;
        sum += weight[i] * f(p, &s, k) / h;
    }
    return sum;
}

/* The sums of the entries at one state, for each coordinate. */
typedef struct explicit_sums {
    double mass[MOST], mass_of_a[MOST], christoffel[MOST], gyroscopic[MOST], time[MOST], rest[MOST], b[MOST],
        forces[MOST], parts;
} explicit_sums;

static void add_up(parsed *p, const moving_state *x, explicit_sums *sums) {
    memset(sums, 0, sizeof *sums);
    for (size_t e = 0; e < p->form->count; e++) {
        const hamel_written_entry *entry = &p->form->entries[e];
        double value = value_at(p, p->value[e], x);
        int32_t i[3] = {-1, -1, -1};
        for (int k = 0; k < 3 && entry->indices[k]; k++) i[k] = system_coordinate_index(p->s, entry->indices[k]);
        if (strlen(entry->symbol) == 2 && strchr("TL", entry->symbol[0])) {
            sums->parts += value;
        } else if (has_symbol(entry, "M") || has_symbol(entry, "Mt")) {
            double *to = has_symbol(entry, "M") ? sums->mass : sums->time;
            to[i[0]] += value * x->v[i[1]];
            if (i[0] != i[1]) to[i[1]] += value * x->v[i[0]];
            if (to == sums->mass) sums->mass_of_a[i[0]] += value * x->a[i[1]];
            if (to == sums->mass && i[0] != i[1]) sums->mass_of_a[i[1]] += value * x->a[i[0]];
        } else if (has_symbol(entry, "Gamma")) {
            sums->christoffel[i[0]] += (i[1] == i[2] ? 1 : 2) * value * x->v[i[1]] * x->v[i[2]];
        } else if (has_symbol(entry, "G")) {
            sums->gyroscopic[i[0]] += value * x->v[i[1]];
            sums->gyroscopic[i[1]] -= value * x->v[i[0]];
        } else if (has_symbol(entry, "b")) {
            sums->b[i[0]] += value;
        } else if (has_symbol(entry, "c")) {
            sums->rest[i[0]] += value;
        } else if (has_symbol(entry, "Q")) {
            sums->forces[i[0]] += value;
        }
    }
}

/* T2 + T1 + T0 = T, and M v, b, Γ v v, G v, ∂M/∂t v and c agree with differences of T, which use no derivative of an
 * expression. The scale of the rounding errors is T/h. */
static void compare_with_differences(parsed *p, const char *name, const moving_state *x) {
    explicit_sums sums;
    add_up(p, x, &sums);
    double T = value_at(p, p->T, x);
    assert_near(name, sums.parts, T, 1e-10);
    for (size_t k = 0; k < p->n; k++) {
        assert_near(name, sums.mass[k], mass_along(p, x, k), 1e-8);
        assert_near(name, sums.b[k], linear_of(p, x, k), 1e-8);
        double scale = fmax(1, fabs(T)), along = slope_of(mass_along, p, x, k, ALONG_V);
        double christoffel = along - slope_of(square_along, p, x, k, ALONG_COORDINATE);
        double gyroscopic = slope_of(linear_of, p, x, k, ALONG_V) - slope_of(linear_along, p, x, k, ALONG_COORDINATE);
        double rest = slope_of(linear_of, p, x, k, ALONG_TIME) - slope_of(rest_of, p, x, k, ALONG_COORDINATE);
        assert_near(name, sums.christoffel[k] / scale, christoffel / scale, 1e-7);
        assert_near(name, sums.gyroscopic[k] / scale, gyroscopic / scale, 1e-7);
        assert_near(name, sums.time[k] / scale, slope_of(mass_along, p, x, k, ALONG_TIME) / scale, 1e-7);
        assert_near(name, sums.rest[k] / scale, rest / scale, 1e-7);
    }
}

/* Inserts the accelerations of the engine into the explicit equations. Returns false if the engine cannot evaluate the
 * state. */
static bool compare_with_accelerations(parsed *p, const char *name, moving_state *x) {
    explicit_sums sums;
    hamel_error error = {0};
    dynamics *k = dynamics_create(p->example.model);
    assert_non_null(k);
    bool good = dynamics_evaluate(k, x->t, x->q, x->v, &error) == HAMEL_OK &&
                dynamics_accelerations(k, 0, 0, x->a, NULL, &error) == HAMEL_OK;
    dynamics_free(k);
    hamel_error_clear(&error);
    if (!good) return false;
    add_up(p, x, &sums);
    for (size_t i = 0; i < p->n; i++) {
        double left = sums.mass_of_a[i] + sums.christoffel[i] + sums.gyroscopic[i] + sums.time[i] + sums.rest[i];
        double scale = fmax(1, fabs(sums.mass_of_a[i]) + fabs(sums.christoffel[i]) + fabs(sums.rest[i]));
        assert_near(name, left / scale, sums.forces[i] / scale, 1e-9);
    }
    return true;
}

static bool check_example(const char *name, bool *compared) {
    parsed p;
    hamel_error error = {0};
    bool good = parse_example(&p, name, &error);
    uint64_t seed = 11;
    for (int round = 0; good && round < 2; round++) {
        moving_state x = {.t = p.example.model->settings.start + 0.1};
        assert_true(p.n <= MOST);
        random_fill(&seed, x.q, p.n, -0.05, 0.05);
        random_fill(&seed, x.v, p.n, -1, 1);
        for (size_t i = 0; i < p.n; i++) x.q[i] += p.example.model->q0[i];
        compare_with_differences(&p, name, &x);
        if (p.example.model->m > 0 || p.s->lagrangian >= 0) continue;
        for (size_t i = 0; i < p.n; i++) x.v[i] = p.example.model->v0[i] + 0.01 * x.v[i];
        *compared |= compare_with_accelerations(&p, name, &x);
    }
    close_example(&p);
    hamel_error_clear(&error);
    return good;
}

static void the_entries_of_all_examples_give_their_energies_and_accelerations(void **state) {
    (void)state;
    glob_t files;
    size_t forms = 0, motions = 0;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        char name[128];
        const char *base = strrchr(files.gl_pathv[k], '/') + 1;
        bool compared = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
        forms += check_example(name, &compared);
        motions += compared;
    }
    print_message("%zu examples, %zu of them without constraints\n", forms, motions);
    assert_true(forms > 150 && motions > 40);
    globfree(&files);
}

/* --- the Routhian and T* of every example ------------------------------------------------------------------------- */

/* Parses entries until all are known, because momenta, chosen velocities and common subexpressions may refer to each
 * other. Sets *sum to the sum of the parts, such as R2 + R1 + R0. Parts and coefficients are no names of
 * subexpressions, nor are velocities. Returns false if an entry contains what an expression must not contain: a
 * derivative of a table, or a name such as v_rod.1, the velocity along a direction of a joint. */
static bool parse_parts(parsed *p, char letter, graph_node *sum) {
    graph *g = p->s->graph;
    p->value = calloc(p->form->count, sizeof *p->value);
    assert_non_null(p->value);
    *sum = graph_number(g, 0);
    bool missing = true;
    for (size_t round = 0; missing && round <= p->form->count; round++) {
        missing = false;
        for (size_t k = 0; k < p->form->count; k++) {
            const hamel_written_entry *e = &p->form->entries[k];
            if (p->value[k] || e->indices[0] || strchr(e->symbol, '\'')) continue;
            hamel_error error = {0};
            hamel_expression expression = {.text = e->value, .pointer = ""};
            system_quantities quantities = {p->s, no_reaction};
            p->s->error = &error;
            graph_node node = system_bind(p->s, &expression, PLACE_OUTPUT, NULL, SYNTAX_EXPRESSION, &quantities);
            p->s->error = NULL;
            hamel_error_clear(&error);
            missing |= node < 0;
            if (node < 0) continue;
            p->value[k] = node;
            bool part = e->symbol[0] == letter && strchr("012", e->symbol[strlen(e->symbol) - 1]);
            if (part)
                *sum = graph_add(g, *sum, node);
            else
                define_name(p, e->symbol, node);
        }
    }
    return !missing;
}

static bool satisfies_constraints(const parsed *p, hamel_equations *equations, const moving_state *x) {
    bool good = true;
    for (size_t c = 0; c < p->example.model->m; c++) {
        if (!p->example.model->active[c]) continue;
        good &= equations->velocity[c] >= 0 && fabs(value_at(p, equations->velocity[c], x)) < 1e-12;
        good &= equations->position[c] < 0 || fabs(value_at(p, equations->position[c], x)) < 1e-12;
    }
    return good;
}

/* Returns L − Σ p_c q'_c for the cyclic coordinates c. Momenta are differences, which are exact for a quadratic L. */
static double routhian_at(const parsed *p, const bool *cyclic, const moving_state *x) {
    double R = value_at(p, p->T, x);
    for (size_t k = 0; k < p->n; k++)
        if (cyclic[k]) R -= (energy_at(p, x, 1, 1, k) - energy_at(p, x, 1, -1, k)) / 2 * x->v[k];
    return R;
}

/* Compares the sum of the parts with T or L at the initial state. Returns false if the form does not exist, or if the
 * initial velocities violate constraints. */
static bool check_parts(const char *name, const char *as) {
    parsed p = {0};
    bool routh = strcmp(as, "routh") == 0, good;
    written_open_example(&p.example, name, "lagrange");
    p.n = p.example.model->n;
    p.s = p.example.model->system;
    p.example.description.description.simulation.formulation = as;
    p.form = explicit_of(&p.example, HAMEL_NOTATION_TEXT, 1e8);
    good = p.form != NULL;
    hamel_equations equations = {.system = p.s, .n = p.n, .m = p.example.model->m};
    if (good) {
        hamel_error error = {0};
        moving_state x = {.t = p.example.model->settings.start};
        graph_node sum;
        size_t count;
        p.s->error = &error;
        assert_int_equal((routh ? formulation_routh : formulation_lagrange).derive(&equations), HAMEL_OK);
        memcpy(x.q, p.example.model->q0, p.n * sizeof *x.q);
        memcpy(x.v, p.example.model->v0, p.n * sizeof *x.v);
        const graph_node *terms = energies_lagrangian_terms(p.s, &count);
        p.T = routh ? graph_number(p.s->graph, 0) : energies_kinetic(&equations);
        for (size_t k = 0; routh && k < count; k++) p.T = graph_add(p.s->graph, p.T, terms[k]);
        good = satisfies_constraints(&p, &equations, &x) && parse_parts(&p, routh ? 'R' : 'T', &sum);
        double expected = routh ? routhian_at(&p, equations.cyclic, &x) : value_at(&p, p.T, &x);
        if (good) assert_near(name, value_at(&p, sum, &x), expected, 1e-9);
    }
    close_example(&p);
    return good;
}

static void the_parts_of_all_examples_give_the_routhian_and_the_restricted_energy(void **state) {
    (void)state;
    static const char *const formulations[] = {"routh", "kane"};
    glob_t files;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t f = 0; f < 2; f++) {
        size_t forms = 0;
        for (size_t k = 0; k < files.gl_pathc; k++) {
            char name[128];
            const char *base = strrchr(files.gl_pathv[k], '/') + 1;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
            forms += check_parts(name, formulations[f]);
        }
        print_message("%s: %zu examples\n", formulations[f], forms);
        assert_true(forms >= (f == 0 ? 10 : 80));
    }
    globfree(&files);
}

/* --- limits and errors -------------------------------------------------------------------------------------------- */

/* Without a budget, entries that are 0 cannot be recognized. The parts that would list them are omitted, but not empty
 * parts: the double pendulum has no T1, and in the turning frame M is constant. */
static void parts_beyond_the_work_budget_are_omitted(void **state) {
    static const char *const cases[][3] = {{"papastavridis_3_5_8_double_pendulum", "Gamma", "\nGamma["},
                                           {"papastavridis_1_7_21_rotating_frame", "G", "\nG["}};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        written_example e;
        char remark[80];
        written_open_example(&e, cases[k][0], "lagrange");
        hamel_written *found = explicit_of(&e, HAMEL_NOTATION_TEXT, 0);
        assert_non_null(found);
        assert_false(found->simplified);
        assert_int_equal(found->omitted.count, 1);
        assert_string_equal(found->omitted.items[0], cases[k][1]);
        snprintf(remark, sizeof remark, "\n# omitted, because the work budget was spent: %s\n", cases[k][1]);
        assert_non_null(strstr(found->text, remark));
        assert_non_null(strstr(found->text, "\nT2 = "));
        assert_null(strstr(found->text, cases[k][2]));
        hamel_written_free(found);
        written_close(&e);
    }
}

static void assert_rejected(const char *name, const char *as, hamel_notation notation, const char *reason) {
    written_example e;
    hamel_written *found = NULL;
    hamel_error error = {0};
    open_named(&e, name, as);
    hamel_status status =
        hamel_write_form(&found, &e.description.description, HAMEL_FORM_EXPLICIT, notation, NULL, NULL, &error);
    assert_int_equal(status, HAMEL_INVALID);
    assert_null(found);
    assert_non_null(strstr(error.faults[0].message, reason));
    hamel_error_clear(&error);
    written_close(&e);
}

static void functions_that_are_not_quadratic_are_rejected(void **state) {
    (void)state;
    assert_rejected("{`hamel`: 1, `coordinates`: [`x`], `lagrangian`: `-sqrt(1 - x'^2)`," AT_ONCE, "lagrange",
                    HAMEL_NOTATION_TEXT, "the Lagrangian is not quadratic in the velocities");
    assert_rejected("{`hamel`: 1, `coordinates`: [`x`], `kinetic_energy`: `x'^2/2 + x'^4`," AT_ONCE, "lagrange",
                    HAMEL_NOTATION_TEXT, "the kinetic energy is not quadratic in the velocities");
    assert_rejected("{`hamel`: 1, `coordinates`: [`x`], `acceleration_energy`: `x''^2/2`," AT_ONCE, "lagrange",
                    HAMEL_NOTATION_TEXT, "has no kinetic energy");
    assert_rejected("heavy_top", "hamilton", HAMEL_NOTATION_TEXT, "Hamilton's equations have no explicit form");
}

static void the_explicit_form_is_rejected_in_c_notation(void **state) {
    (void)state;
    assert_rejected("heavy_top", "lagrange", HAMEL_NOTATION_C, "the explicit form cannot be written as C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_double_pendulum_has_two_christoffel_symbols),
        cmocka_unit_test(the_heavy_top_has_its_christoffel_symbols),
        cmocka_unit_test(a_bead_on_a_turning_hoop_has_no_linear_part),
        cmocka_unit_test(a_turning_frame_has_a_gyroscopic_matrix),
        cmocka_unit_test(a_lagrangian_is_split),
        cmocka_unit_test(explicit_time_gives_terms_of_its_own),
        cmocka_unit_test(the_routhian_is_split),
        cmocka_unit_test(the_kinetic_energy_is_restricted_to_the_constraints),
        cmocka_unit_test(the_entries_of_all_examples_give_their_energies_and_accelerations),
        cmocka_unit_test(the_parts_of_all_examples_give_the_routhian_and_the_restricted_energy),
        cmocka_unit_test(parts_beyond_the_work_budget_are_omitted),
        cmocka_unit_test(the_explicit_form_is_rejected_in_c_notation),
        cmocka_unit_test(functions_that_are_not_quadratic_are_rejected),
    };
    return cmocka_run_group_tests_name("explicit", tests, NULL, NULL);
}
