/* names.c — finds coordinates and constraints by name, and prints the names of symbols in expressions. */
#include "engine/system/binder.h"

int32_t system_coordinate_index(const hamel_system *s, const char *name) {
    return binder_find(&s->binder->coordinates, name);
}

int32_t system_constraint_index(const hamel_system *s, const char *name) {
    return binder_find(&s->binder->constraints, name);
}

const char *system_nearest_constraint(const hamel_system *s, const char *name) {
    return symbol_nearest(&s->binder->constraints, name, strlen(name));
}

const char *system_nearest_coordinate(const hamel_system *s, const char *name) {
    return symbol_nearest(&s->binder->coordinates, name, strlen(name));
}

/* Prints the nonsmooth operator of a branch, with its argument as written. */
static void name_branch(const hamel_system *s, const system_nonsmooth *w, text_buffer *out) {
    const char *name = w->kind == NONSMOOTH_SIGN || w->kind == NONSMOOTH_SLIP ? "sign("
                       : w->kind == NONSMOOTH_DIRECTION                       ? "direction("
                       : w->kind == NONSMOOTH_FLOOR                           ? "floor("
                                                                              : "";
    text_buffer_puts(out, name);
    graph_print(s->graph, w->written, system_name_symbol, (void *)s, out);
    if (*name) text_buffer_puts(out, ")");
}

void system_name_symbol(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    const hamel_system *s = context;
    switch (kind) {
    case SYMBOL_PARAMETER: text_buffer_puts(out, s->parameter_names[index]); return;
    case SYMBOL_TIME: text_buffer_puts(out, "t"); return;
    case SYMBOL_COORDINATE: text_buffer_puts(out, s->coordinates[index].name); return;
    case SYMBOL_VELOCITY: text_buffer_printf(out, "%s'", s->coordinates[index].name); return;
    case SYMBOL_ACCELERATION: text_buffer_printf(out, "%s''", s->coordinates[index].name); return;
    case SYMBOL_MULTIPLIER: text_buffer_printf(out, "lambda(%s)", s->constraints[index].name); return;
    case SYMBOL_IDEAL: text_buffer_printf(out, "ideal(%s)", s->coordinates[index].name); return;
    case SYMBOL_NONIDEAL: text_buffer_printf(out, "nonideal(%s)", s->coordinates[index].name); return;
    case SYMBOL_BRANCH: name_branch(s, &s->nonsmooth[index], out); return;
    default: text_buffer_printf(out, "#%d", (int)index); return;
    }
}
