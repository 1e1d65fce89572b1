/* warnings.c — warnings about descriptions that are valid but probably mistaken.
 *
 * A warning does not stop a run. Summaries list all warnings. Each check is linear in the size of the description. */
#include "engine/system/elements.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WARNINGS_MAX = 20, WARNING_BYTES = 400, NAMED_MAX = 5 };

/* Returns true if no further warning may be added for the pointer. Each pointer, and therefore each family, has at most
 * one warning. */
static bool is_already_warned(const hamel_system *s, const char *pointer) {
    for (size_t i = 0; i < s->warning_count; i++)
        if (strcmp(s->warned[i], pointer) == 0) return true;
    return s->warning_count > WARNINGS_MAX;
}

void system_warn(hamel_system *s, const char *pointer, const char *format, ...) {
    char text[WARNING_BYTES];
    va_list arguments;
    if (is_already_warned(s, pointer)) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t count = s->warning_count;
    const char *own = count == WARNINGS_MAX ? arena_format(s->memory, "there are more warnings about the description")
                                            : arena_format(s->memory, "%s: %s", pointer, text);
    if (!own) binder_graph_fault(s, pointer);
    if (own && binder_append(s, &s->warned, &count, &s->warned_capacity, &pointer, sizeof pointer, pointer))
        binder_append(s, &s->warnings, &s->warning_count, &s->warning_capacity, &own, sizeof own, pointer);
}

void system_warn_negative(hamel_system *s, const hamel_expression *e, graph_node node, const char *what,
                          const char *effect) {
    double value;
    if (node >= 0 && binder_is_constant(s, node) && binder_number(s, node, &value) && value < 0)
        system_warn(s, e->pointer, "%s is %.9g: %s", what, value, effect);
}

/* Returns the index of a coordinate if its velocity is the only symbol of a term, apart from parameters. Otherwise
 * returns −1. */
static int32_t only_velocity(hamel_system *s, graph_node term) {
    const int32_t *found;
    if (graph_depends(s->graph, term) & ~(GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_VELOCITY))) return -1;
    return graph_support(s->graph, term, SYMBOL_VELOCITY, &found) == 1 ? found[0] : -1;
}

/* Warns if the Rayleigh function D is negative when only one coordinate moves: a D with constant coefficients then adds
 * energy, −q'·∂D/∂q' > 0. The value of D is the sum of the terms that contain only that velocity. */
static void check_dissipation(hamel_system *s) {
    graph_node *terms;
    signed char *signs;
    size_t n = s->coordinate_count;
    const char *pointer = s->description->dissipation.pointer;
    if (s->dissipation < 0 || graph_is_zero(s->graph, s->dissipation)) return;
    if (!(graph_depends(s->graph, s->dissipation) & GRAPH_DEPENDS(SYMBOL_VELOCITY))) {
        system_warn(s, pointer, "the dissipation has no effect: it contains no velocity");
        return;
    }
    size_t count = graph_terms(s->graph, s->dissipation, s->memory, NULL, &terms, &signs);
    size_t nodes = graph_count(s->graph);
    double *v = binder_alloc(s, n, sizeof *v, pointer), *sum = binder_alloc(s, n, sizeof *sum, pointer);
    double *value = binder_alloc(s, nodes, sizeof *value, pointer);
    double *error = binder_alloc(s, nodes, sizeof *error, pointer);
    if (!v || !sum || !value || !error) return;
    graph_point at = {.values = {[SYMBOL_PARAMETER] = s->parameter_values, [SYMBOL_VELOCITY] = v}};
    for (int way = 1; way >= -1; way -= 2) {
        for (size_t i = 0; i < n; i++) v[i] = way, sum[i] = 0;
        graph_evaluate(s->graph, (graph_node)nodes - 1, &at, value, error);
        for (size_t k = 0; k < count; k++) {
            int32_t i = only_velocity(s, terms[k]);
            if (i >= 0) sum[i] += signs[k] * value[terms[k]];
        }
        for (size_t i = 0; i < n; i++)
            if (sum[i] < 0)
                system_warn(s, pointer, "the dissipation is negative if only `%s` moves, with %s' %c 0: it adds energy",
                            s->coordinates[i].name, s->coordinates[i].name, way > 0 ? '>' : '<');
    }
}

/* Warns if elements add a term that the user's expression already contains. */
static void check_twice(hamel_system *s, const graph_node *terms, size_t given, size_t count, const char *pointer,
                        const char *what) {
    assert(given <= count);
    if (given == 0 || given == count) return;
    bool *is_given = binder_alloc(s, graph_count(s->graph), sizeof *is_given, pointer);
    if (!is_given) return;
    for (size_t i = 0; i < given; i++)
        if (!graph_is_number(s->graph, terms[i], NULL)) is_given[terms[i]] = true;
    for (size_t i = given; i < count; i++)
        if (is_given[terms[i]]) {
            system_warn(s, pointer, "the expression contains a term that %s also add, so the term counts twice", what);
            return;
        }
}

/* Warns if elements add a term that the Lagrangian already contains. Potential terms occur in the Lagrangian with the
 * opposite sign. */
static void check_lagrangian(hamel_system *s) {
    const char *pointer = s->description->lagrangian.pointer;
    graph_node *terms;
    signed char *signs;
    if (s->lagrangian < 0 || s->kinetic_count == 0) return;
    size_t count = graph_terms(s->graph, s->lagrangian, s->memory, NULL, &terms, &signs);
    for (size_t i = 0; i < count; i++)
        if (signs[i] < 0) terms[i] = graph_neg(s->graph, terms[i]);
    graph_node *both = arena_alloc(s->memory, count + s->kinetic_count + s->potential_count, sizeof *both);
    if (!both || count == 0) {
        binder_graph_fault(s, pointer);
        return;
    }
    memcpy(both, terms, count * sizeof *both);
    memcpy(both + count, s->kinetic, s->kinetic_count * sizeof *both);
    for (size_t i = 0; i < s->potential_count; i++)
        both[count + s->kinetic_count + i] = graph_neg(s->graph, s->potential[i]);
    check_twice(s, both, count, count + s->kinetic_count + s->potential_count, pointer, "elements and gravity");
}

enum { EVENT_ACTIVATES = 1, EVENT_DEACTIVATES = 2 };

static void mark_events(const hamel_system *s, unsigned char *marks) {
    for (size_t i = 0; i < s->event_count; i++) {
        const system_event *e = &s->events[i];
        for (size_t k = 0; k < e->activate_count; k++) marks[e->activate[k]] |= EVENT_ACTIVATES;
        for (size_t k = 0; k < e->deactivate_count; k++) marks[e->deactivate[k]] |= EVENT_DEACTIVATES;
        for (size_t k = 0; k < e->impulse_count; k++) marks[e->impulses[k]] |= EVENT_ACTIVATES;
    }
}

static void check_activation(hamel_system *s) {
    unsigned char *marks = binder_alloc(s, s->constraint_count, sizeof *marks, "/constraints");
    if (!marks) return;
    mark_events(s, marks);
    for (size_t c = s->standing_count; c < s->named_count; c++)
        if (!(marks[c] & EVENT_ACTIVATES))
            system_warn(s, s->constraints[c].pointer,
                        "the constraint `%s` never acts: it is inactive, and no event activates it",
                        s->constraints[c].name);
    for (size_t i = 0; i < s->event_count; i++) {
        const system_event *e = &s->events[i];
        for (size_t k = 0; k < e->activate_count; k++) {
            const system_constraint *at = &s->constraints[e->activate[k]];
            if (at->inactive || (marks[e->activate[k]] & EVENT_DEACTIVATES)) continue;
            system_warn(s, at->pointer, "the constraint `%s` acts from the start, before the event `%s` activates it",
                        at->name, e->name);
        }
    }
}

/* Warns about multiples of 1/2 between two turns in radians (12.6) and two turns in degrees (720). An angle with such a
 * value is probably in degrees. */
void system_warn_degrees(hamel_system *s, const char *pointer, const char *what, double x) {
    if (fabs(x) > 12.6 && fabs(x) <= 720 && floor(2 * x) == 2 * x)
        system_warn(s, pointer, "%s is %.9g radians (%.3g turns); if degrees are meant, write %.9g*pi/180", what, x,
                    x / (2 * 3.14159265358979323846), x);
}

/* Marks angles: coordinates x and y in sin(x), sin(x + y) or sin(x − y), and parameters x in sin(x). Cosine and tangent
 * are treated in the same way. */
static void mark_angles(const hamel_system *s, bool *coordinates, bool *parameters) {
    size_t count = graph_count(s->graph);
    for (graph_node i = 0; (size_t)i < count; i++) {
        const graph_cell *cell = graph_at(s->graph, i);
        if (cell->op != GRAPH_SIN && cell->op != GRAPH_COS && cell->op != GRAPH_TAN) continue;
        const graph_cell *of = graph_at(s->graph, cell->as.operand[0]);
        bool sum = of->op == GRAPH_ADD || of->op == GRAPH_SUB;
        for (int k = 0; k < (sum ? 2 : 1); k++) {
            const graph_cell *x = sum ? graph_at(s->graph, of->as.operand[k]) : of;
            if (x->op != GRAPH_IS_SYMBOL) continue;
            if (x->kind == SYMBOL_COORDINATE) coordinates[x->as.index] = true;
            if (x->kind == SYMBOL_PARAMETER && !sum) parameters[x->as.index] = true;
        }
    }
}

static void check_angle(hamel_system *s, const hamel_expression *e, const char *name) {
    const char *what = e->is_number ? arena_format(s->memory, "the angle `%s`", name) : NULL;
    if (what) system_warn_degrees(s, e->pointer, what, e->number);
}

/* Warns about initial values and parameters that are probably in degrees. Checks plain numbers only, because
 * expressions are probably intended. */
static void check_degrees(hamel_system *s) {
    const hamel_description *d = s->description;
    bool *coordinates = binder_alloc(s, s->coordinate_count, sizeof *coordinates, "/coordinates");
    bool *parameters = binder_alloc(s, s->parameter_count, sizeof *parameters, "/parameters");
    if (!coordinates || !parameters) return;
    mark_angles(s, coordinates, parameters);
    for (size_t i = 0; i < s->coordinate_count; i++)
        if (coordinates[i])
            check_angle(s, &d->coordinates[s->coordinates[i].described].initial, s->coordinates[i].name);
    for (size_t i = 0; i < s->parameter_count; i++)
        if (parameters[i]) check_angle(s, &d->parameters[i].value, s->parameter_names[i]);
}

/* Returns true if a text contains a name as a whole word. */
static bool contains_name(const char *text, const char *name, size_t length) {
    for (const char *at = text; at && *at; at++) {
        bool begins = at == text || !syntax_is_name(at - 1, 1);
        if (begins && strncmp(at, name, length) == 0 && !syntax_is_name(at, length + 1)) return true;
    }
    return false;
}

typedef struct texts {
    const char *items[24];
    size_t count;
} texts;

static void add_text(texts *t, const char *text) {
    if (text && t->count < sizeof t->items / sizeof *t->items) t->items[t->count++] = text;
}

static void add_texts(texts *t, const hamel_expressions *list) {
    for (size_t i = 0; i < list->count; i++) add_text(t, list->items[i].text);
}

/* Warns if no expression of an element contains an index of its family, because members that differ only in this index
 * are then the same. */
static void check_index(hamel_system *s, const hamel_family *family, const texts *t) {
    for (size_t k = 0; k < family->count; k++) {
        const char *name = family->ranges[k] + strspn(family->ranges[k], " ");
        size_t length = strcspn(name, " =");
        bool used = false;
        for (size_t i = 0; i < t->count && !used; i++) used = contains_name(t->items[i], name, length);
        for (size_t i = k + 1; i < family->count && !used; i++) used = contains_name(family->ranges[i], name, length);
        if (!used)
            system_warn(s, family->pointer, "the index `%.*s` is not used, so the same element is added several times",
                        (int)length, name);
    }
}

static void check_links(hamel_system *s, const hamel_link *links, size_t count) {
    for (const hamel_link *l = links; l < links + count; l++) {
        texts t = {.count = 0};
        add_text(&t, l->name);
        add_text(&t, l->strength.text);
        add_text(&t, l->length.text);
        for (int k = 0; k < 2; k++) {
            add_text(&t, l->between[k].name);
            add_text(&t, l->between[k].position.frame);
            add_texts(&t, &l->between[k].position.at);
        }
        check_index(s, &l->family, &t);
    }
}

static void check_families(hamel_system *s) {
    const hamel_description *d = s->description;
    check_links(s, d->springs, d->spring_count);
    check_links(s, d->dampers, d->damper_count);
    for (size_t i = 0; i < d->load_count; i++) {
        texts t = {.count = 0};
        add_text(&t, d->loads[i].on);
        add_texts(&t, &d->loads[i].force);
        add_texts(&t, &d->loads[i].torque);
        check_index(s, &d->loads[i].family, &t);
    }
}

static void check_units(hamel_system *s) {
    const hamel_description *d = s->description;
    const char *names = NULL, *first = NULL;
    size_t count = 0;
    if (!s->units) return;
    for (size_t i = 0; i < d->coordinate_count; i++) {
        const hamel_coordinate *c = &d->coordinates[i];
        if (!c->name || (c->unit && *c->unit)) continue;
        if (count == 0) first = c->pointer;
        if (count < NAMED_MAX)
            names = arena_format(s->memory, "%s%s`%s`", names ? names : "", names ? ", " : "", c->name);
        count++;
    }
    if (names)
        system_warn(s, first,
                    "%s%s without a unit, but other quantities have one: units of expressions with %s are not checked",
                    names,
                    count > NAMED_MAX ? " and others are"
                    : count > 1       ? " are"
                                      : " is",
                    count > 1 ? "them" : "it");
}

void warnings_check(hamel_system *s) {
    const hamel_description *d = s->description;
    if (s->error->status != HAMEL_OK || graph_status(s->graph) != HAMEL_OK) return;
    check_dissipation(s);
    if (d->kinetic_energy.count)
        check_twice(s, s->kinetic, s->kinetic_given, s->kinetic_count, d->kinetic_energy.pointer,
                    "particles and bodies");
    if (d->potential_energy.count)
        check_twice(s, s->potential, s->potential_given, s->potential_count, d->potential_energy.pointer,
                    "gravity and springs");
    check_lagrangian(s);
    check_activation(s);
    check_degrees(s);
    check_families(s);
    check_units(s);
}
