/* tables.c — translates tables of the description to tables of the graph.
 *
 * Values may be expressions of parameters, and expressions of parameters may call tables. Each value that is an
 * expression therefore has a slot. A table is bound when an expression first needs it, after its slots. slots.c detects
 * circular definitions. */
#include "engine/system/binder.h"

#include <assert.h>
#include <math.h>

enum { TABLE_POINTS_MAX = 1000000 };

static bool declare_values(hamel_system *s, const char *name, const hamel_expressions *values) {
    for (size_t i = 0; i < values->count; i++) {
        if (values->items[i].is_number) continue;
        hamel_expressions *one = binder_alloc(s, 1, sizeof *one, values->pointer);
        if (!one) return false;
        *one = (hamel_expressions){values->items[i].pointer, &values->items[i], 1};
        if (binder_add_slot(s, name, one->pointer, one, PLACE_PARAMETERS, NULL) < 0) return false;
    }
    return true;
}

static bool check_lengths(hamel_system *s, const hamel_table *t) {
    size_t nx = t->x.count, ny = t->y.count;
    if (nx < 2 && ny < 2) return system_fail(s, t->pointer, "the table `%s` needs 2 points or more", t->name);
    if (nx != ny)
        return system_fail(s, t->pointer, "the table `%s` has %zu values of x, but %zu of y", t->name, nx, ny);
    if (nx > TABLE_POINTS_MAX)
        (void)hamel_fail(s->error, HAMEL_LIMIT, t->pointer, 0, "the table `%s` has %zu points; at most %d are allowed",
                         t->name, nx, TABLE_POINTS_MAX);
    return nx <= TABLE_POINTS_MAX;
}

void tables_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    system_binder *b = s->binder;
    b->tables = binder_alloc(s, d->table_count, sizeof *b->tables, "/tables");
    for (size_t i = 0; b->tables && i < d->table_count; i++) {
        const hamel_table *t = &d->tables[i];
        system_table *table = &b->tables[b->table_count];
        *table = (system_table){.described = t, .state = SLOT_WAITING, .first_slot = (int32_t)b->slot_count};
        if (!t->name || !binder_check_name(s, t->name, t->pointer) ||
            !binder_declare_element(s, &b->table_names, t->name, b->table_count, t->pointer, "tables"))
            continue;
        b->table_count++;
        bool whole = t->x.pointer && t->y.pointer; /* otherwise the reader has reported the error */
        if (!whole || !check_lengths(s, t) || !declare_values(s, t->name, &t->x) || !declare_values(s, t->name, &t->y))
            table->state = SLOT_FAULTY;
        table->end_slot = (int32_t)b->slot_count;
    }
}

/* Copies the values of x or y: numbers directly, and values of expressions from consecutive slots. */
static bool take_values(hamel_system *s, const hamel_expressions *from, int32_t *slot, double *to) {
    for (size_t i = 0; i < from->count; i++) {
        const hamel_expression *e = &from->items[i];
        if (!e->is_number) {
            if (!binder_slot_number(s, (*slot)++, &to[i])) return false;
        } else if (!isfinite(to[i] = e->number)) {
            return system_fail(s, e->pointer, "the number is not finite");
        }
    }
    return true;
}

static bool check_increasing(hamel_system *s, const hamel_table *t, const double *x) {
    for (size_t i = 1; i < t->x.count; i++) {
        if (x[i] > x[i - 1]) continue;
        return system_fail(s, t->x.items[i].pointer, "x of the table `%s` must increase, but %.17g follows %.17g",
                           t->name, x[i], x[i - 1]);
    }
    return true;
}

static bool make(hamel_system *s, system_table *table) {
    assert(table->state == SLOT_WAITING);
    const hamel_table *t = table->described;
    int32_t slot = table->first_slot;
    size_t count = t->x.count;
    double *x = binder_alloc(s, count, sizeof *x, t->pointer), *y = binder_alloc(s, count, sizeof *y, t->pointer);
    graph_table *made = binder_alloc(s, 1, sizeof *made, t->pointer);
    if (!x || !y || !made || !take_values(s, &t->x, &slot, x) || !take_values(s, &t->y, &slot, y) ||
        !check_increasing(s, t, x))
        return false;
    *made = (graph_table){.name = binder_text(s, t->name, t->pointer),
                          .degree = t->kind == HAMEL_TABLE_CUBIC ? 3 : 1,
                          .hold = t->outside == HAMEL_TABLE_HOLD};
    hamel_status status = made->name ? table_make(made, s->memory, x, y, count) : HAMEL_NO_MEMORY;
    if (status == HAMEL_NOT_FINITE)
        system_fail(s, t->pointer, "the points of the table `%s` are so close that its slope is not finite", t->name);
    if (status != HAMEL_OK) return status == HAMEL_NO_MEMORY && binder_graph_fault(s, t->pointer);
    table->index = graph_add_table(s->graph, made);
    return table->index >= 0 || binder_graph_fault(s, t->pointer);
}

bool binder_need_table(hamel_system *s, int32_t index) {
    system_table *table = &s->binder->tables[index];
    bool complete = true;
    if (table->state != SLOT_WAITING) return table->state == SLOT_BOUND;
    for (int32_t k = table->first_slot; k < table->end_slot; k++) complete = binder_need_slot(s, k) && complete;
    if (complete) table->state = make(s, table) ? SLOT_BOUND : SLOT_FAULTY;
    return table->state == SLOT_BOUND;
}

void tables_resolve(hamel_system *s) {
    for (size_t i = 0; i < s->binder->table_count; i++) {
        const system_table *table = &s->binder->tables[i];
        bool good = true;
        for (int32_t k = table->first_slot; k < table->end_slot; k++) good = binder_resolve_slot(s, k) && good;
        if (good) (void)binder_need_table(s, (int32_t)i);
    }
}
