/* units.c — finds the units of nodes, and checks that expressions have the required units.
 *
 * A unit is an index into a list of distinct units, so that a node costs four bytes. The unit of a multiplier follows from
 * the units of energy and of its constraint; expressions with multipliers are checked once these are known. An expression
 * with inconsistent units is reported once, and its unit is then unknown. */
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
    unit *list; /* distinct from index FIRST_OWN on */
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
    size_t note_count, note_capacity, checked;
    int32_t energy;
    const char *energy_pointer;
    const char *told; /* pointer of the expression reported last */
};

/* --- the list of units ----------------------------------------------------------------------------------------------- */

/* Units that differ by rounding may have different hashes and be listed twice; unit_same still finds them equal. */
static uint64_t unit_hash(const unit *u) {
    uint64_t h = (uint64_t)llround(log(u->scale) * 1e6);
    for (int k = 0; k < UNIT_BASES; k++) h = (h ^ (uint64_t)llround(u->power[k] * 1e6)) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 31);
}

static bool grow_slots(hamel_system *s) {
    system_units *u = s->units;
    size_t count = u->slot_count ? 2 * u->slot_count : 64;
    int32_t *slots = arena_alloc(s->memory, count, sizeof *slots);
    if (!slots) return binder_graph_fault(s, "");
    for (size_t i = FIRST_OWN; i < u->count; i++) {
        size_t k = (size_t)unit_hash(&u->list[i]) & (count - 1);
        while (slots[k]) k = (k + 1) & (count - 1);
        slots[k] = (int32_t)i;
    }
    u->slots = slots;
    u->slot_count = count;
    return true;
}

/* Returns the index of a unit, adding it if it is new; UNKNOWN if it is out of range or memory ran out. */
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
    unit *grown = binder_grow(s, u->list, &u->capacity, u->count, sizeof *grown, "");
    if (!grown) return UNKNOWN;
    u->list = grown;
    grown[u->count] = value;
    u->slots[k] = (int32_t)u->count;
    return (int32_t)u->count++;
}

/* Returns a · b^power; UNKNOWN if a or b is unknown. */
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

/* --- reading --------------------------------------------------------------------------------------------------------- */

static int32_t read_unit(hamel_system *s, const char *text, const char *pointer) {
    unit value;
    const char *why;
    if (!text || !*text) return UNKNOWN;
    hamel_status status = unit_parse(text, &value, &why);
    if (status == HAMEL_OK) return intern(s, value);
    const char *at = arena_format(s->memory, "%s/unit", pointer);
    (void)hamel_fail(s->error, status, at ? at : pointer, 0, "the unit `%.200s` %s", text, why);
    hamel_suggest(s->error, "units are written as in \"m/s^2\", \"N m\", \"kg m^2\", \"rad\"");
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
    system_units *u = arena_alloc(s->memory, 1, sizeof *u);
    if (u) {
        u->list = arena_grow(s->memory, NULL, &u->capacity, FIRST_OWN, sizeof *u->list);
        u->parameter = arena_alloc(s->memory, d->parameter_count, sizeof *u->parameter);
        u->coordinate = arena_alloc(s->memory, d->coordinate_count, sizeof *u->coordinate);
    }
    if (!u || !u->list || !u->parameter || !u->coordinate) {
        binder_graph_fault(s, "");
        return;
    }
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
    unit_note *notes = binder_grow(s, u->notes, &u->note_capacity, u->note_count, sizeof *notes, pointer);
    if (!notes) return;
    u->notes = notes;
    notes[u->note_count++] = (unit_note){node, pointer, rule, index};
}

void units_note_number(hamel_system *s, const hamel_expression *e, const loop_scope *scope, unit_rule rule,
                       size_t index) {
    if (!s->units || !e->text) return; /* a number agrees with any unit */
    units_note(s, system_bind(s, e, PLACE_PARAMETERS, scope, SYNTAX_EXPRESSION, NULL), e->pointer, rule, index);
}

/* --- errors ---------------------------------------------------------------------------------------------------------- */

static void print_node(hamel_system *s, graph_node node, text_buffer *out) {
    text_buffer_puts(out, "`");
    text_buffer text;
    text_buffer_init(&text, 200);
    graph_print(s->graph, node, system_name_symbol, s, &text);
    text_buffer_printf(out, "%.*s%s`", (int)text.length, text.bytes ? text.bytes : "", text.failed ? "..." : "");
    text_buffer_free(&text);
}

static void print_unit(const hamel_system *s, int32_t u, text_buffer *out) {
    text_buffer_puts(out, u == ONE ? " has no unit" : " is in ");
    if (u != ONE) unit_print(&s->units->list[u], out);
}

/* Reports at most one error for each pointer; the members of a family share one. */
static void report_units(hamel_system *s, const char *pointer, text_buffer *message, const char *suggestion) {
    system_units *u = s->units;
    if (message->bytes && !(u->told && strcmp(u->told, pointer) == 0)) {
        system_fail(s, pointer, "%s", message->bytes);
        if (suggestion) hamel_suggest(s->error, "%s", suggestion);
        u->told = pointer;
    }
    text_buffer_free(message);
}

static const char BARE[] =
    "a bare number has no unit: replace it by a parameter such as {\"value\": 1, \"unit\": \"m\"}";
static const char SCALE[] = "values are not converted: give both in the same unit";

static const char *advice(const hamel_system *s, graph_node x, int32_t a, graph_node y, int32_t b) {
    if (unit_same_dimension(&s->units->list[a], &s->units->list[b])) return SCALE;
    return graph_is_number(s->graph, x, NULL) || graph_is_number(s->graph, y, NULL) ? BARE : NULL;
}

static int32_t terms_differ(hamel_system *s, const char *pointer, graph_node x, int32_t a, graph_node y, int32_t b) {
    text_buffer m;
    text_buffer_init(&m, 2000);
    print_node(s, x, &m);
    print_unit(s, a, &m);
    text_buffer_puts(&m, ", and ");
    print_node(s, y, &m);
    print_unit(s, b, &m);
    report_units(s, pointer, &m, advice(s, x, a, y, b));
    return UNKNOWN;
}

static const char *angle_advice(const unit *u) {
    if (!unit_same_dimension(u, &unit_one)) return NULL;
    return unit_is_degree(u) ? "angles are in radians (rad): multiply by a parameter such as "
                               "{\"value\": 0.017453292519943295, \"unit\": \"rad/deg\"}"
                             : "angles are in radians (rad), and ratios are plain numbers";
}

static void not_as_expected(hamel_system *s, const char *pointer, const char *what, int32_t found, const char *expected,
                            int32_t wanted) {
    text_buffer m;
    text_buffer_init(&m, 2000);
    text_buffer_puts(&m, what);
    print_unit(s, found, &m);
    text_buffer_printf(&m, ", and %s", expected);
    print_unit(s, wanted, &m);
    bool scale = unit_same_dimension(&s->units->list[found], &s->units->list[wanted]);
    bool degrees = wanted == ONE && unit_is_degree(&s->units->list[found]);
    report_units(s, pointer, &m, degrees ? angle_advice(&s->units->list[found]) : scale ? SCALE : NULL);
}

/* --- units of nodes ---------------------------------------------------------------------------------------------------- */

/* Returns the common unit of two operands; reports an error if their units differ. */
static int32_t merged(hamel_system *s, const char *pointer, graph_node x, int32_t a, graph_node y, int32_t b) {
    if (!agree(s, a, b)) return terms_differ(s, pointer, x, a, y, b);
    return a > b ? a : b; /* UNKNOWN < ANY < units: the more specific one */
}

static int32_t need_number(hamel_system *s, const char *pointer, const char *function, const char *call, graph_node x,
                           int32_t a) {
    if (agree(s, a, ONE)) return ONE;
    text_buffer m;
    text_buffer_init(&m, 2000);
    text_buffer_printf(&m, "%s%s needs a number without unit, but ", function, call);
    print_node(s, x, &m);
    print_unit(s, a, &m);
    report_units(s, pointer, &m, angle_advice(&s->units->list[a]));
    return ONE;
}

static int32_t power_unit(hamel_system *s, const char *pointer, const graph_node o[3], int32_t a, int32_t b) {
    double exponent;
    (void)need_number(s, pointer, "an exponent", "", o[1], b);
    if (a <= ONE) return a;
    binder_note_judged(s, o[1]);
    if (!(graph_depends(s->graph, o[1]) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER)) && binder_number(s, o[1], &exponent))
        return units_times(s, ONE, a, exponent);
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

/* Returns the unit of λ: λ ∂f/∂q is a force; for velocity constraints λ ∂f/∂q', for acceleration constraints λ ∂f/∂q''. */
static int32_t multiplier_unit(hamel_system *s, size_t c) {
    const system_units *u = s->units;
    if (c >= u->constraint_count) return UNKNOWN;
    return per_second(s, units_times(s, u->energy, u->constraint[c], -1), (double)s->constraints[c].order);
}

static int32_t coordinate_unit(const hamel_system *s, size_t i) {
    return s->units->coordinate[s->coordinates[i].described];
}

static int32_t symbol_unit(hamel_system *s, const graph_cell *cell) {
    size_t i = (size_t)cell->as.index;
    switch (cell->kind) {
    case SYMBOL_PARAMETER: return s->units->parameter[i];
    case SYMBOL_TIME: return intern(s, (unit){.scale = 1, .power[2] = 1});
    case SYMBOL_COORDINATE: return coordinate_unit(s, i);
    case SYMBOL_VELOCITY: return per_second(s, coordinate_unit(s, i), 1);
    case SYMBOL_ACCELERATION:
    case SYMBOL_FREE: return per_second(s, coordinate_unit(s, i), 2);
    case SYMBOL_MULTIPLIER: return multiplier_unit(s, i);
    case SYMBOL_IDEAL:
    case SYMBOL_NONIDEAL: return units_times(s, s->units->energy, coordinate_unit(s, i), -1);
    default: return UNKNOWN;
    }
}

static int32_t leaf_unit(hamel_system *s, const graph_cell *cell) {
    /* 0 and DBL_MIN (which avoids 0/0 in quotients) agree with any unit */
    if (cell->op == GRAPH_IS_NUMBER) return fabs(cell->as.number) <= DBL_MIN ? ANY : ONE;
    return symbol_unit(s, cell);
}

/* Returns the expression that determines the unit of a parameter without `unit`; a bare number determines none. */
static graph_node expression_behind(const hamel_system *s, const graph_cell *cell) {
    if (cell->op != GRAPH_IS_SYMBOL || cell->kind != SYMBOL_PARAMETER) return GRAPH_NONE;
    if (s->units->parameter[cell->as.index] != UNKNOWN) return GRAPH_NONE;
    const bind_slot *slot = &s->binder->slots[cell->as.index];
    return slot->state == SLOT_BOUND && !graph_is_number(s->graph, slot->nodes[0], NULL) ? slot->nodes[0] : GRAPH_NONE;
}

static bool push_node(hamel_system *s, size_t *depth, graph_node node) {
    system_units *u = s->units;
    graph_node *stack = binder_grow(s, u->stack, &u->stack_capacity, *depth, sizeof *stack, "");
    if (!stack) return false;
    u->stack = stack;
    stack[(*depth)++] = node;
    return true;
}

/* Finds the units of the operands of a cell. Returns false if some are not known yet, and pushes these. */
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

/* Finds the unit of a node. Reports inconsistencies below it that are not reported yet, at `pointer`. */
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
        if (u->of[node] != UNSEEN) continue; /* pushed twice, already done */
        u->of[node] = behind != GRAPH_NONE       ? of[0]
                      : cell.op < GRAPH_OP_COUNT ? combine_units(s, pointer, node, of)
                                                 : leaf_unit(s, &cell);
    }
    return u->of[root];
}

/* --- expressions ------------------------------------------------------------------------------------------------------- */

static bool needs_energy(const hamel_system *s, graph_node node) {
    const unsigned bits =
        GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    return (graph_depends(s->graph, node) & bits) != 0;
}

/* Sets the unit of energy: that of the first energy with a known unit. Given energies precede those of elements. */
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
    u->constraint = arena_alloc(s->memory, s->constraint_count, sizeof *u->constraint);
    if (!u->constraint) {
        binder_graph_fault(s, "");
        return;
    }
    for (size_t c = 0; c < s->constraint_count; c++)
        u->constraint[c] = unit_of(s, s->constraints[c].equation, s->constraints[c].pointer);
    u->constraint_count = s->constraint_count;
}

static void check_energy(hamel_system *s, const unit_note *note, int32_t own) {
    const system_units *u = s->units;
    if (agree(s, own, u->energy)) return;
    const char *that = arena_format(s->memory, "that at %s", u->energy_pointer);
    not_as_expected(s, note->pointer, "this energy", own, that ? that : "another", u->energy);
}

/* Checks units that are derived from energy and time. */
static void check_work(hamel_system *s, const unit_note *note, int32_t own) {
    static const struct {
        unit_rule rule;
        const char *what, *expected;
        int seconds;
    } kinds[] = {{UNIT_WORK, "the work of this", "energy", 0},
                 {UNIT_POWER, "the power of this", "energy over time", 1},
                 {UNIT_ACCELERATED, "this", "energy over time squared", 2}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].rule != note->rule) continue;
        int32_t wanted = per_second(s, s->units->energy, kinds[k].seconds);
        if (!agree(s, own, wanted)) not_as_expected(s, note->pointer, kinds[k].what, own, kinds[k].expected, wanted);
    }
}

static void check_force(hamel_system *s, const unit_note *note, int32_t own) {
    bool quasi = note->rule == UNIT_QUASI_FORCE;
    int32_t energy = quasi ? per_second(s, s->units->energy, 1) : s->units->energy;
    int32_t over =
        quasi ? unit_of(s, s->quasi[note->index].definition, note->pointer) : coordinate_unit(s, note->index);
    int32_t wanted = units_times(s, energy, over, -1);
    if (agree(s, own, wanted)) return;
    const char *expected = arena_format(s->memory, "%s over `%s`", quasi ? "power" : "energy",
                                        quasi ? s->quasi[note->index].name : s->coordinates[note->index].name);
    not_as_expected(s, note->pointer, "the force", own, expected ? expected : "expected", wanted);
}

/* Checks that the angle of an orientation is a plain number, since its sine and cosine are computed. */
static void check_angle(hamel_system *s, const unit_note *note, int32_t own) {
    if (agree(s, own, ONE)) return;
    text_buffer m;
    text_buffer_init(&m, 2000);
    text_buffer_puts(&m, "the angle");
    print_unit(s, own, &m);
    text_buffer_puts(&m, ", and angles are in radians");
    report_units(s, note->pointer, &m, angle_advice(&s->units->list[own]));
}

static int32_t unit_given_for(hamel_system *s, const unit_note *note) {
    switch (note->rule) {
    case UNIT_PARAMETER: return s->units->parameter[note->index];
    case UNIT_INITIAL: return coordinate_unit(s, note->index);
    case UNIT_VELOCITY: return per_second(s, coordinate_unit(s, note->index), 1);
    case UNIT_TIME: return per_second(s, ONE, -1);
    case UNIT_NUMBER: return ONE;
    default: return unit_of(s, (graph_node)note->index, note->pointer);
    }
}

/* Checks a given value. A bare number has the unit of the quantity that it sets. */
static void check_value(hamel_system *s, const unit_note *note, int32_t own) {
    int32_t wanted = unit_given_for(s, note);
    if (own == ONE || agree(s, own, wanted)) return;
    not_as_expected(s, note->pointer, "the value", own, "the quantity that it sets", wanted);
}

static void check_note(hamel_system *s, const unit_note *note) {
    int32_t own = unit_of(s, note->node, note->pointer);
    switch (note->rule) {
    case UNIT_ANY_ONE: return;
    case UNIT_ENERGY: check_energy(s, note, own); return;
    case UNIT_WORK:
    case UNIT_POWER:
    case UNIT_ACCELERATED: check_work(s, note, own); return;
    case UNIT_FORCE:
    case UNIT_QUASI_FORCE: check_force(s, note, own); return;
    case UNIT_ANGLE: check_angle(s, note, own); return;
    case UNIT_PARAMETER:
    case UNIT_INITIAL:
    case UNIT_VELOCITY:
    case UNIT_TIME:
    case UNIT_NUMBER:
    case UNIT_LIKE: check_value(s, note, own); return;
    }
}

void units_check(hamel_system *s) {
    system_units *u = s->units;
    if (!u) return;
    for (size_t i = u->checked; i < u->note_count;
         i++) { /* first each expression at its own pointer, before sums of them */
        const unit_note note = u->notes[i];
        if (!needs_energy(s, note.node)) (void)unit_of(s, note.node, note.pointer);
    }
    find_energy(s);
    find_constraints(s);
    for (size_t i = u->checked; i < u->note_count; i++) {
        const unit_note note = u->notes[i];
        check_note(s, &note);
    }
    u->checked = u->note_count;
}

const char *units_text(hamel_system *s, graph_node node) {
    if (!s->units) return "";
    int32_t u = unit_of(s, node, "");
    if (u < ONE) return "";
    text_buffer text;
    text_buffer_init(&text, 1000);
    unit_print(&s->units->list[u], &text);
    const char *kept = text.bytes ? arena_text(s->memory, text.bytes, text.length) : NULL;
    text_buffer_free(&text);
    return kept ? kept : "";
}
