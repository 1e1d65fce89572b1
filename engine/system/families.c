/* families.c — expands elements with `for` to their members; finds and prints names.
 *
 * Ranges are evaluated outermost first, because inner bounds may contain outer variables. Members are enumerated
 * without recursion. Names such as "x[i-1]" are expanded to the canonical names of the columns: "x[3]", "u[1,2]". */
#include "engine/system/binder.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* Warns if an index of a family has the name of another quantity, because inside the family the name then refers to the
 * index. */
static void warn_of_hidden(hamel_system *s, const syntax_range *range, const char *pointer) {
    static const char *const kinds[ENTRY_KINDS] = {"parameter", "coordinate", "definition", "quasi-velocity"};
    const symbol_table *names = &s->binder->quantities;
    int32_t found = symbol_find(names, range->variable, range->variable_length);
    if (found >= 0)
        system_warn(s, pointer, "the index `%.*s` hides the %s with the same name", (int)range->variable_length,
                    range->variable, kinds[names->symbols[found].value % ENTRY_KINDS]);
}

void family_begin(family_iterator *f, hamel_system *s, const hamel_family *family) {
    *f = (family_iterator){.system = s, .family = family};
    if (family->count > FAMILY_DEPTH) {
        system_fail(s, family->pointer, "a family may have at most %d indices", FAMILY_DEPTH);
        f->failed = true;
        return;
    }
    if (family->count == 0) return;
    f->ranges = binder_alloc(s, family->count, sizeof *f->ranges, family->pointer);
    f->failed = !f->ranges;
    for (size_t k = 0; k < family->count && f->ranges; k++) {
        const char *text = family->ranges[k];
        if (syntax_parse_range(&f->ranges[k], s->memory, text, strlen(text), family->pointer, s->error) != HAMEL_OK)
            f->failed = true;
        else
            warn_of_hidden(s, &f->ranges[k], family->pointer);
    }
}

/* Sets the index of range k to its first value. Returns false if the range is empty; after an error, also sets
 * f->failed. */
static bool enter_loop(family_iterator *f, size_t k) {
    hamel_system *s = f->system;
    const syntax_range *r = &f->ranges[k];
    f->scope.count = k;
    f->failed = !binder_integers(s, &r->first, r->first.count, &f->scope, f->family->pointer, &f->at[k], 1) ||
                !binder_integers(s, &r->last, r->last.count, &f->scope, f->family->pointer, &f->last[k], 1);
    return !f->failed && f->at[k] <= f->last[k];
}

static void set_variable(family_iterator *f, size_t k) {
    f->scope.variables[k] = (loop_variable){f->ranges[k].variable, f->ranges[k].variable_length, (double)f->at[k]};
    f->scope.count = k + 1;
}

bool family_next(family_iterator *f) {
    if (f->failed) return false;
    assert(f->family->count <= FAMILY_DEPTH);
    bool entering = !f->started;
    size_t depth = f->family->count, k = entering ? 0 : depth;
    f->started = true;
    if (depth == 0) return entering;
    f->failed = !binder_step(f->system, f->family->pointer, 0); /* limits the number of members */
    for (; !f->failed; entering = false) {
        if (!entering) { /* advance the innermost index that has a next value */
            while (k > 0 && f->at[k - 1] >= f->last[k - 1]) k--;
            if (k == 0) return false;
            f->at[k - 1]++;
            set_variable(f, k - 1);
        }
        for (; k < depth && enter_loop(f, k); k++) set_variable(f, k);
        if (k == depth) return true;
    }
    return false;
}

static const char *no_name(hamel_system *s, const char *name, const char *pointer) {
    system_fail(s, pointer, "`%s` is not a name", name);
    return hamel_suggest(s->error, "use letters, digits and _, followed by an index if needed: x, x[1], x[i]"), NULL;
}

const char *family_name(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope) {
    size_t length = strlen(name);
    if (length > NAME_BYTES / 2) {
        system_fail(s, pointer, "the name is longer than %d bytes", NAME_BYTES / 2);
        return NULL;
    }
    if (syntax_is_name(name, length)) return binder_text(s, name, pointer);
    size_t stem = strcspn(name, "[");
    if (stem == length || !syntax_is_name(name, stem)) return no_name(s, name, pointer);
    syntax code;
    if (syntax_parse(&code, s->memory, name, length, SYNTAX_EXPRESSION, pointer, s->error) != HAMEL_OK) return NULL;
    const syntax_item *last = &code.items[code.count - 1];
    long long index[SYNTAX_INDICES_MAX];
    if (last->kind != SYNTAX_NAME || last->primes || last->count < 1 || last->as.name != name)
        return no_name(s, name, pointer);
    if (!binder_integers(s, &code, code.count - 1, scope, pointer, index, (size_t)last->count)) return NULL;
    char text[NAME_BYTES + 128];
    int at = snprintf(text, sizeof text, "%.*s", (int)last->length, name);
    for (int k = 0; k < last->count; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%c%lld", k ? ',' : '[', index[k]);
    snprintf(text + at, sizeof text - (size_t)at, "]");
    return binder_text(s, text, pointer);
}

bool binder_looks_like_name(const char *text) {
    size_t base = strcspn(text, "[ ");
    if (!syntax_is_name(text, base)) return false;
    return text[base] == '\0' || (text[base] == '[' && strchr(text, ']') == text + strlen(text) - 1);
}

const char *family_member(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope) {
    if (scope && scope->count > 0 && syntax_is_name(name, strlen(name))) {
        const loop_variable *first = &scope->variables[0];
        system_fail(s, pointer, "`%s` is a family, so its name needs an index", name);
        return hamel_suggest(s->error, "write %s[%.*s]", name, (int)first->length, first->name), NULL;
    }
    return family_name(s, name, pointer, scope);
}

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

const char *binder_coordinate_of_velocity(const hamel_system *s, const char *text) {
    static const char *const ends[] = {"dot", "_dot", "_d", "d", "p"};
    char name[256];
    size_t length = strlen(text);
    if (text[0] == 'd' && system_coordinate_index(s, text + 1) >= 0) return text + 1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length <= end || strcmp(text + length - end, ends[i]) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - end), text);
        int32_t index = system_coordinate_index(s, name);
        if (index >= 0) return s->coordinates[index].name;
    }
    return NULL;
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
    case SYMBOL_INTEGRAL:
        text_buffer_puts(out, "integral(");
        graph_print(s->graph, s->integrands[index], system_name_symbol, context, out);
        text_buffer_puts(out, ")");
        return;
    case SYMBOL_JERK: text_buffer_printf(out, "der(%s'')", s->coordinates[index].name); return;
    case SYMBOL_BRANCH: name_branch(s, &s->nonsmooth[index], out); return;
    default: text_buffer_printf(out, "#%d", (int)index); return;
    }
}
