/* units.c — finds the units of nodes, and checks that expressions have the required units.
 *
 * Each node stores its unit in four bytes, as an index into a list of distinct units. The unit of a multiplier follows
 * from the units of energy and of its constraint. Expressions with multipliers are therefore checked last. Each
 * inconsistency is reported once, and the unit of the inconsistent expression is then unknown. */
#include "engine/system/units.h"

#include "engine/system/binder.h"
#include "engine/system/unit.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Special indices of units; UNSEEN marks nodes that have not been visited. */
enum { UNSEEN, UNKNOWN, ANY, ONE, FIRST_OWN };

typedef struct unit_note {
    graph_node node;
    const char *pointer;
    unit_rule rule;
    size_t index;
} unit_note;

struct system_units {
    unit *list; /* distinct units, from index FIRST_OWN on */
    size_t count, capacity;
    int32_t *slots; /* hash table of indices into `list`, open addressing; 0: empty */
    size_t slot_count;
    int32_t *of; /* unit of each node */
    size_t of_capacity;
    graph_node *stack;
    size_t stack_capacity;
    int32_t *parameter, *coordinate; /* units of the parameters and coordinates in the description */
    int32_t *constraint;             /* units of the constraints after expansion of families */
    size_t constraint_count;
    unit_note *notes;
    size_t note_count, note_capacity, checked; /* notes [0, checked) have been checked */
    int32_t energy;                            /* unit of energy, from the expression at energy_pointer */
    const char *energy_pointer;
    const char *reported; /* pointer at which the last error was reported */
};

/* Units that differ only by rounding may have different hashes and be listed twice. unit_same treats such units as
 * equal. */
static uint64_t unit_hash(const unit *u) {
    uint64_t h = (uint64_t)llround(log(u->scale) * 1e6);
    for (int k = 0; k < UNIT_BASES; k++) h = (h ^ (uint64_t)llround(u->power[k] * 1e6)) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 31);
}

static bool grow_slots(hamel_system *s) {
    system_units *u = s->units;
    size_t count = u->slot_count ? 2 * u->slot_count : 64;
    int32_t *slots = binder_alloc(s, count, sizeof *slots, "");
    if (!slots) return false;
    for (size_t i = FIRST_OWN; i < u->count; i++) {
        size_t k = (size_t)unit_hash(&u->list[i]) & (count - 1);
        while (slots[k]) k = (k + 1) & (count - 1);
        slots[k] = (int32_t)i;
    }
    u->slots = slots;
    u->slot_count = count;
    return true;
}

/* Returns the index of a unit in the list. Adds the unit to the list if it is new. Returns UNKNOWN if the value is out
 * of range or memory runs out. */
static int32_t intern(hamel_system *s, unit value) {
    system_units *u = s->units;
    if (!isnormal(value.scale)) return UNKNOWN;
    for (int k = 0; k < UNIT_BASES; k++)
        if (!(fabs(value.power[k]) < 1e6)) return UNKNOWN;
    if (unit_same(&value, &unit_one)) return ONE;
    if (2 * u->count >= u->slot_count && !grow_slots(s)) return UNKNOWN;
    size_t k = (size_t)unit_hash(&value) & (u->slot_count - 1);
    for (; u->slots[k]; k = (k + 1) & (u->slot_count - 1))
        if (unit_same(&u->list[u->slots[k]], &value)) return u->slots[k];
    if (!binder_append(s, &u->list, &u->count, &u->capacity, &value, sizeof value, "")) return UNKNOWN;
    return u->slots[k] = (int32_t)u->count - 1;
}

/* Returns a · b^power, or UNKNOWN if a or b is unknown. */
static int32_t units_times(hamel_system *s, int32_t a, int32_t b, double power) {
    assert(a < (int32_t)s->units->count && b < (int32_t)s->units->count);
    const unit *list = s->units->list;
    if (a == UNKNOWN || b == UNKNOWN) return UNKNOWN;
    if (a == ANY || b == ANY) return a == ANY && power >= 0 ? ANY : b == ANY && power > 0 ? ANY : UNKNOWN;
    return intern(s, unit_times(list[a], list[b], power));
}

static int32_t per_second(hamel_system *s, int32_t a, double times_over) {
    unit second = {.scale = 1, .power[2] = 1};
    return units_times(s, a, intern(s, second), -times_over);
}

static bool agree(const hamel_system *s, int32_t a, int32_t b) {
    if (a < ONE || b < ONE || a == b) return true;
    return unit_same(&s->units->list[a], &s->units->list[b]);
}

static int32_t read_unit(hamel_system *s, const char *text, const char *pointer) {
    unit value;
    const char *why;
    if (!text || !*text) return UNKNOWN;
    hamel_status status = unit_parse(text, &value, &why);
    if (status == HAMEL_OK) return intern(s, value);
    const char *at = arena_format(s->memory, "%s/unit", pointer);
    (void)hamel_fail(s->error, status, at ? at : pointer, 0, "the unit `%.200s` %s", text, why);
    hamel_suggest(s->error, "write units as in \"m/s^2\", \"N m\", \"kg m^2\", \"rad\"");
    return UNKNOWN;
}

static bool any_unit(const hamel_description *d) {
    for (size_t i = 0; i < d->parameter_count; i++)
        if (d->parameters[i].unit && *d->parameters[i].unit) return true;
    for (size_t i = 0; i < d->coordinate_count; i++)
        if (d->coordinates[i].unit && *d->coordinates[i].unit) return true;
    return false;
}

void units_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    if (!any_unit(d)) return;
    system_units *u = binder_alloc(s, 1, sizeof *u, "");
    if (!u) return;
    u->list = binder_grow(s, NULL, &u->capacity, FIRST_OWN - 1, sizeof *u->list, "");
    u->parameter = binder_alloc(s, d->parameter_count, sizeof *u->parameter, "");
    u->coordinate = binder_alloc(s, d->coordinate_count, sizeof *u->coordinate, "");
    if (!u->list || !u->parameter || !u->coordinate) return;
    u->list[ONE] = unit_one;
    u->count = FIRST_OWN;
    u->energy = UNKNOWN;
    s->units = u;
    for (size_t i = 0; i < d->parameter_count; i++)
        u->parameter[i] = read_unit(s, d->parameters[i].unit, d->parameters[i].pointer);
    for (size_t i = 0; i < d->coordinate_count; i++)
        u->coordinate[i] = read_unit(s, d->coordinates[i].unit, d->coordinates[i].pointer);
}

void units_note(hamel_system *s, graph_node node, const char *pointer, unit_rule rule, size_t index) {
    system_units *u = s->units;
    if (!u || node < 0) return;
    binder_append(s, &u->notes, &u->note_count, &u->note_capacity, &(unit_note){node, pointer, rule, index},
                  sizeof *u->notes, pointer);
}

void units_note_number(hamel_system *s, const hamel_expression *e, const loop_scope *scope, unit_rule rule,
                       size_t index) {
    if (!s->units || !e->text) return; /* a number agrees with any unit */
    units_note(s, system_bind(s, e, PLACE_PARAMETERS, scope, SYNTAX_EXPRESSION, NULL), e->pointer, rule, index);
}

static const char *node_text(hamel_system *s, graph_node node) {
    text_buffer text;
    text_buffer_init(&text, 200);
    graph_print(s->graph, node, system_name_symbol, s, &text);
    const char *kept =
        arena_format(s->memory, "`%.*s%s`", (int)text.length, text.bytes ? text.bytes : "", text.failed ? "..." : "");
    text_buffer_free(&text);
    return kept ? kept : "";
}

static const char *unit_text(hamel_system *s, int32_t u) {
    text_buffer text;
    text_buffer_init(&text, 1000);
    unit_print(&s->units->list[u], &text);
    const char *kept = text.bytes ? arena_text(s->memory, text.bytes, text.length) : NULL;
    text_buffer_free(&text);
    return kept ? kept : "";
}

/* Returns " is in m/s" or " has no unit". */
static const char *unit_phrase(hamel_system *s, int32_t u) {
    const char *text = u == ONE ? " has no unit" : arena_format(s->memory, " is in %s", unit_text(s, u));
    return text ? text : "";
}

/* Reports at most one error for each pointer, because all members of a family share a pointer. `message` is NULL if out
 * of memory. */
static void report_units(hamel_system *s, const char *pointer, const char *message, const char *suggestion) {
    system_units *u = s->units;
    if (!message || (u->reported && strcmp(u->reported, pointer) == 0)) return;
    system_fail(s, pointer, "%s", message);
    if (suggestion) hamel_suggest(s->error, "%s", suggestion);
    u->reported = pointer;
}

static const char BARE[] =
    "replace the bare number, which has no unit, by a parameter such as {\"value\": 1, \"unit\": \"m\"}";
static const char SCALE[] = "give both in the same unit, because values are not converted";

static const char *advice(const hamel_system *s, graph_node x, int32_t a, graph_node y, int32_t b) {
    if (unit_same_dimension(&s->units->list[a], &s->units->list[b])) return SCALE;
    return graph_is_number(s->graph, x, NULL) || graph_is_number(s->graph, y, NULL) ? BARE : NULL;
}

static const char *angle_advice(const unit *u) {
    if (!unit_same_dimension(u, &unit_one)) return NULL;
    return unit_is_degree(u)
               ? "multiply by a parameter such as {\"value\": 0.017453292519943295, \"unit\": \"rad/deg\"}, because "
                 "angles are in radians (rad)"
               : "give angles in radians (rad), and ratios as plain numbers";
}

/* Returns the common unit of two operands; reports an error if their units differ. */
static int32_t merged(hamel_system *s, const char *pointer, graph_node x, int32_t a, graph_node y, int32_t b) {
    if (agree(s, a, b)) return a > b ? a : b; /* UNKNOWN < ANY < units: return the more specific unit */
    report_units(s, pointer,
                 arena_format(s->memory, "%s%s, and %s%s", node_text(s, x), unit_phrase(s, a), node_text(s, y),
                              unit_phrase(s, b)),
                 advice(s, x, a, y, b));
    return UNKNOWN;
}

static int32_t need_number(hamel_system *s, const char *pointer, const char *function, const char *call, graph_node x,
                           int32_t a) {
    if (!agree(s, a, ONE))
        report_units(s, pointer,
                     arena_format(s->memory, "%s%s needs a number without unit, but %s%s", function, call,
                                  node_text(s, x), unit_phrase(s, a)),
                     angle_advice(&s->units->list[a]));
    return ONE;
}

static int32_t power_unit(hamel_system *s, const char *pointer, const graph_node o[3], int32_t a, int32_t b) {
    double exponent;
    (void)need_number(s, pointer, "an exponent", "", o[1], b);
    if (a <= ONE) return a;
    binder_note_judged(s, o[1]);
    if (binder_is_constant(s, o[1]) && binder_number(s, o[1], &exponent)) return units_times(s, ONE, a, exponent);
    return need_number(s, pointer, "a power with a variable exponent", "", o[0], a);
}

/* Computes the unit of an operator's result from the units of its operands. */
static int32_t combine_units(hamel_system *s, const char *pointer, graph_node node, const int32_t of[3]) {
    graph_cell cell = *graph_at(s->graph, node);
    const graph_node *o = cell.as.operand;
    int32_t a = of[0], b = of[1];
    switch (cell.op) {
    case GRAPH_ADD:
    case GRAPH_SUB:
    case GRAPH_MIN:
    case GRAPH_MAX:
    case GRAPH_HYPOT:
    case GRAPH_MOD: return merged(s, pointer, o[0], a, o[1], b);
    case GRAPH_IF: return merged(s, pointer, o[1], b, o[2], of[2]);
    case GRAPH_ATAN2:
    case GRAPH_LT:
    case GRAPH_LE:
    case GRAPH_GT:
    case GRAPH_GE:
    case GRAPH_EQ:
    case GRAPH_NE: return merged(s, pointer, o[0], a, o[1], b), ONE;
    case GRAPH_MUL: return units_times(s, a, b, 1);
    case GRAPH_DIV: return units_times(s, a, b, -1);
    case GRAPH_POW: return power_unit(s, pointer, o, a, b);
    case GRAPH_NEG:
    case GRAPH_ABS: return a;
    case GRAPH_SQRT: return a <= ONE ? a : units_times(s, ONE, a, 0.5);
    case GRAPH_CBRT: return a <= ONE ? a : units_times(s, ONE, a, 1.0 / 3);
    case GRAPH_SIGN:
    case GRAPH_AND:
    case GRAPH_OR:
    case GRAPH_NOT: return ONE;
    case GRAPH_TABLE: return UNKNOWN;
    default: return need_number(s, pointer, graph_op_get((graph_op)cell.op)->text, "()", o[0], a);
    }
}

/* Returns the unit of the multiplier λ of a constraint f = 0. The generalized force of a position constraint is λ
 * ∂f/∂q, of a velocity constraint λ ∂f/∂q', and of an acceleration constraint λ ∂f/∂q''. */
static int32_t multiplier_unit(hamel_system *s, size_t c) {
    const system_units *u = s->units;
    if (c >= u->constraint_count) return UNKNOWN;
    return per_second(s, units_times(s, u->energy, u->constraint[c], -1), (double)s->constraints[c].order);
}

static int32_t coordinate_unit(const hamel_system *s, size_t i) {
    return s->units->coordinate[s->coordinates[i].described];
}

static int32_t leaf_unit(hamel_system *s, const graph_cell *cell) {
    /* 0 and DBL_MIN (which avoids 0/0 in quotients) agree with any unit */
    if (cell->op == GRAPH_IS_NUMBER) return fabs(cell->as.number) <= DBL_MIN ? ANY : ONE;
    size_t i = (size_t)cell->as.index;
    switch (cell->kind) {
    case SYMBOL_PARAMETER: return s->units->parameter[i];
    case SYMBOL_TIME: return intern(s, (unit){.scale = 1, .power[2] = 1});
    case SYMBOL_COORDINATE: return coordinate_unit(s, i);
    case SYMBOL_VELOCITY: return per_second(s, coordinate_unit(s, i), 1);
    case SYMBOL_ACCELERATION: return per_second(s, coordinate_unit(s, i), 2);
    case SYMBOL_JERK: return per_second(s, coordinate_unit(s, i), 3);
    case SYMBOL_FREE: return per_second(s, coordinate_unit(s, i % s->coordinate_count), 2);
    case SYMBOL_MULTIPLIER: return multiplier_unit(s, i);
    case SYMBOL_IDEAL:
    case SYMBOL_NONIDEAL: return units_times(s, s->units->energy, coordinate_unit(s, i), -1);
    default: return UNKNOWN;
    }
}

static bool is_integral(const graph_cell *cell) {
    return cell->op == GRAPH_IS_SYMBOL && cell->kind == SYMBOL_INTEGRAL;
}

/* Returns the expression that determines the unit of a parameter without `unit` or of an integral. Returns GRAPH_NONE
 * if no expression determines the unit of the node. */
static graph_node expression_behind(const hamel_system *s, const graph_cell *cell) {
    if (is_integral(cell)) return s->integrands[cell->as.index];
    if (cell->op != GRAPH_IS_SYMBOL || cell->kind != SYMBOL_PARAMETER) return GRAPH_NONE;
    if (s->units->parameter[cell->as.index] != UNKNOWN) return GRAPH_NONE;
    const bind_slot *slot = &s->binder->slots[cell->as.index];
    return slot->state == SLOT_BOUND && !graph_is_number(s->graph, slot->nodes[0], NULL) ? slot->nodes[0] : GRAPH_NONE;
}

static bool push_node(hamel_system *s, size_t *depth, graph_node node) {
    return binder_append(s, &s->units->stack, depth, &s->units->stack_capacity, &node, sizeof node, "");
}

/* Finds the units of the operands of a cell. Returns false after pushing operands whose units are not known yet. */
static bool operands_ready(hamel_system *s, const graph_cell *cell, graph_node behind, size_t *depth, int32_t of[3]) {
    size_t before = *depth;
    int arity = cell->op < GRAPH_OP_COUNT ? graph_op_get((graph_op)cell->op)->arity : behind != GRAPH_NONE;
    for (int k = 0; k < arity; k++) {
        graph_node o = behind != GRAPH_NONE ? behind : cell->as.operand[k];
        of[k] = s->units->of[o];
        if (of[k] == UNSEEN && !push_node(s, depth, o)) return false;
    }
    return *depth == before;
}

/* Finds the unit of a node. Reports new inconsistencies in the node's operands at `pointer`. */
static int32_t unit_of(hamel_system *s, graph_node root, const char *pointer) {
    system_units *u = s->units;
    size_t depth = 0;
    if (root < 0) return UNKNOWN;
    int32_t *grown = arena_grow(s->memory, u->of, &u->of_capacity, graph_count(s->graph), sizeof *grown);
    if (!grown) return binder_graph_fault(s, pointer), UNKNOWN;
    u->of = grown;
    if (!push_node(s, &depth, root)) return UNKNOWN;
    while (depth > 0) {
        graph_node node = u->stack[depth - 1];
        graph_cell cell = *graph_at(s->graph, node);
        graph_node behind = expression_behind(s, &cell);
        int32_t of[3] = {UNKNOWN, UNKNOWN, UNKNOWN};
        if (!operands_ready(s, &cell, behind, &depth, of)) {
            if (u->stack[depth - 1] == node) return UNKNOWN; /* out of memory */
            continue;
        }
        depth--;
        if (u->of[node] != UNSEEN) continue; /* the node was pushed twice and has its unit already */
        u->of[node] = is_integral(&cell)         ? per_second(s, of[0], -1)
                      : behind != GRAPH_NONE     ? of[0]
                      : cell.op < GRAPH_OP_COUNT ? combine_units(s, pointer, node, of)
                                                 : leaf_unit(s, &cell);
    }
    return u->of[root];
}

static bool needs_energy(const hamel_system *s, graph_node node) {
    const unsigned bits =
        GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    return (graph_depends(s->graph, node) & bits) != 0;
}

/* Sets the unit of energy to that of the first energy with a known unit. The user's energies precede the energies of
 * elements. */
static void find_energy(hamel_system *s) {
    system_units *u = s->units;
    for (size_t i = u->checked; i < u->note_count && u->energy < ONE; i++) {
        const unit_note note = u->notes[i];
        if (note.rule != UNIT_ENERGY && note.rule != UNIT_ACCELERATED) continue;
        int32_t own = unit_of(s, note.node, note.pointer);
        u->energy = note.rule == UNIT_ENERGY ? own : per_second(s, own, -2);
        u->energy_pointer = note.pointer;
    }
}

static void find_constraints(hamel_system *s) {
    system_units *u = s->units;
    if (u->constraint) return;
    u->constraint = binder_alloc(s, s->constraint_count, sizeof *u->constraint, "");
    if (!u->constraint) return;
    for (size_t c = 0; c < s->constraint_count; c++)
        u->constraint[c] = unit_of(s, s->constraints[c].equation, s->constraints[c].pointer);
    u->constraint_count = s->constraint_count;
}

static int32_t required_unit(hamel_system *s, const unit_note *note) {
    int32_t energy = s->units->energy;
    switch (note->rule) {
    case UNIT_ANY_ONE: return UNKNOWN;
    case UNIT_ENERGY:
    case UNIT_WORK:
    case UNIT_STRIKE: return energy;
    case UNIT_POWER: return per_second(s, energy, 1);
    case UNIT_ACCELERATED: return per_second(s, energy, 2);
    case UNIT_FORCE: return units_times(s, energy, coordinate_unit(s, note->index), -1);
    case UNIT_QUASI_FORCE:
        return units_times(s, per_second(s, energy, 1), unit_of(s, s->quasi[note->index].definition, note->pointer),
                           -1);
    case UNIT_PARAMETER: return s->units->parameter[note->index];
    case UNIT_INITIAL: return coordinate_unit(s, note->index);
    case UNIT_VELOCITY: return per_second(s, coordinate_unit(s, note->index), 1);
    case UNIT_TIME: return per_second(s, ONE, -1);
    case UNIT_NUMBER:
    case UNIT_ANGLE: return ONE;
    case UNIT_LIKE: return unit_of(s, (graph_node)note->index, note->pointer);
    }
    return UNKNOWN;
}

/* Reports that an expression has the unit `own` instead of the required unit. */
static void report_note(hamel_system *s, const unit_note *note, int32_t own, int32_t required) {
    static const struct {
        const char *what, *expected;
    } texts[] = {[UNIT_ENERGY] = {"this energy", NULL},
                 [UNIT_WORK] = {"the work of this force", "energy"},
                 [UNIT_STRIKE] = {"the product of this percussion and a velocity", "energy"},
                 [UNIT_POWER] = {"the power", "energy over time"},
                 [UNIT_ACCELERATED] = {"this function", "energy over time squared"},
                 [UNIT_FORCE] = {"the force", NULL},
                 [UNIT_QUASI_FORCE] = {"the force", NULL},
                 [UNIT_ANGLE] = {"the angle", "angles are in radians"}};
    const unit *found = &s->units->list[own];
    bool known = note->rule <= UNIT_QUASI_FORCE || note->rule == UNIT_ANGLE, angle = note->rule == UNIT_ANGLE;
    const char *what = known ? texts[note->rule].what : "the value";
    const char *expected = known ? texts[note->rule].expected : "the quantity that it sets";
    if (note->rule == UNIT_ENERGY) expected = arena_format(s->memory, "that at %s", s->units->energy_pointer);
    if (note->rule == UNIT_FORCE)
        expected = arena_format(s->memory, "energy over `%s`", s->coordinates[note->index].name);
    if (note->rule == UNIT_QUASI_FORCE)
        expected = arena_format(s->memory, "power over `%s`", s->quasi[note->index].name);
    const char *message = arena_format(s->memory, "%s%s, and %s%s", what, unit_phrase(s, own), expected ? expected : "",
                                       angle ? "" : unit_phrase(s, required));
    bool scale = unit_same_dimension(found, &s->units->list[required]);
    bool degrees = required == ONE && unit_is_degree(found);
    report_units(s, note->pointer, message, angle || degrees ? angle_advice(found) : scale ? SCALE : NULL);
}

/* Compares the unit of an expression with its required unit. A bare number has the unit of the quantity that the number
 * sets. */
static void check_note(hamel_system *s, const unit_note *note) {
    int32_t own = unit_of(s, note->node, note->pointer), required = required_unit(s, note);
    bool sets = note->rule >= UNIT_PARAMETER && note->rule != UNIT_ANGLE;
    if (!agree(s, own, required) && !(sets && own == ONE)) report_note(s, note, own, required);
}

void units_check(hamel_system *s) {
    system_units *u = s->units;
    if (!u) return;
    /* Check each expression first, so that an inconsistency is reported at the pointer of the expression and not at a
     * sum that contains the expression. */
    for (size_t i = u->checked; i < u->note_count; i++)
        if (!needs_energy(s, u->notes[i].node)) (void)unit_of(s, u->notes[i].node, u->notes[i].pointer);
    find_energy(s);
    find_constraints(s);
    for (size_t i = u->checked; i < u->note_count; i++) check_note(s, &u->notes[i]);
    u->checked = u->note_count;
}

const char *units_text(hamel_system *s, graph_node node) {
    if (!s->units) return "";
    int32_t u = unit_of(s, node, "");
    return u < ONE ? "" : unit_text(s, u);
}
