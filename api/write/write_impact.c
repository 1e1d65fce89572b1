/* write_impact.c — writes schemas `Impact` and `Shock` of openapi.json: impulses of an event in a run and in an analysis. */
#include "api/analyze.h"
#include "api/json/text.h"
#include "engine/simulate/impact.h"

static void add_number(text_buffer *out, const char *before, double value) {
    text_buffer_puts(out, before);
    json_text_number(out, value);
}

static void add_truth(text_buffer *out, const char *before, bool value) {
    text_buffer_puts(out, before);
    text_buffer_puts(out, value ? "true" : "false");
}

/* Appends the key `percussion`. Generalized impulses that are 0 are omitted. */
static void add_percussion(text_buffer *out, const hamel_impact *impact) {
    const char *separator = "";
    text_buffer_puts(out, "\"percussion\":{");
    for (size_t i = 0; i < impact->velocity_count; i++) {
        if (impact->percussion[i] == 0) continue;
        text_buffer_puts(out, separator);
        json_text_string(out, impact->coordinates[i]);
        add_number(out, ":", impact->percussion[i]);
        separator = ",";
    }
    text_buffer_puts(out, "},");
}

static void add_constraints(text_buffer *out, const hamel_impact *impact) {
    text_buffer_puts(out, "\"constraints\":[");
    for (size_t k = 0; k < impact->constraint_count; k++) {
        const hamel_impact_constraint *c = &impact->constraints[k];
        text_buffer_puts(out, k > 0 ? ",{\"name\":" : "{\"name\":");
        json_text_string(out, c->name);
        add_number(out, ",\"type\":", c->type);
        add_number(out, ",\"impulse\":", c->impulse);
        add_number(out, ",\"before\":", c->before);
        add_number(out, ",\"after\":", c->after);
        add_truth(out, ",\"unique\":", c->unique);
        text_buffer_puts(out, "}");
    }
    text_buffer_puts(out, "]");
}

static void add_counts(text_buffer *out, const hamel_impact *impact) {
    double velocities = (double)impact->velocity_count, impulses = (double)impact->constraint_count,
           equations = (double)impact->equation_count;
    add_number(out, ",\"unknown_velocities\":", velocities);
    add_number(out, ",\"unknown_impulses\":", impulses);
    add_number(out, ",\"equations\":", equations);
    add_number(out, ",\"indeterminacy\":", velocities + impulses - equations);
    add_number(out, ",\"redundant\":", (double)impact->redundant);
}

static void add_energy(text_buffer *out, const hamel_impact *impact) {
    if (!impact->has_energy) return;
    add_number(out, ",\"kinetic_energy\":{\"before\":", impact->kinetic_before);
    add_number(out, ",\"after\":", impact->kinetic_after);
    add_number(out, ",\"change\":", impact->kinetic_after - impact->kinetic_before);
    add_number(out, ",\"work\":", impact->work);
    text_buffer_puts(out, "}");
}

static void add_theorems(text_buffer *out, const hamel_impact *impact) {
    text_buffer_puts(out, ",\"theorems\":[");
    for (size_t k = 0; k < impact->theorem_count; k++) {
        const hamel_impact_theorem *t = &impact->theorems[k];
        text_buffer_puts(out, k > 0 ? ",{\"name\":" : "{\"name\":");
        json_text_string(out, t->name);
        add_number(out, ",\"actual\":", t->actual);
        add_number(out, ",\"other\":", t->other);
        add_number(out, ",\"alternatives\":", (double)t->alternatives);
        add_truth(out, ",\"holds\":", t->holds);
        text_buffer_puts(out, "}");
    }
    text_buffer_puts(out, "]");
}

void api_impact_text(text_buffer *out, const hamel_impact *impact) {
    text_buffer_puts(out, "{");
    if (impact->has_percussion) add_percussion(out, impact);
    add_constraints(out, impact);
    add_counts(out, impact);
    add_energy(out, impact);
    add_theorems(out, impact);
    text_buffer_puts(out, "}");
}

static void add_types(json_builder *b, cJSON *to, const hamel_shock *s) {
    cJSON *list = json_add_list(b, to, "constraints");
    for (size_t k = 0; k < s->constraint_count && !b->failed; k++) {
        const hamel_shock_constraint *c = &s->constraints[k];
        double types[] = {c->types[0], c->types[1]};
        cJSON *item = json_append_object(b, list);
        json_add_text(b, item, "name", c->name);
        json_add_numbers(b, item, "types", types, c->type_count);
        json_add_truth(b, item, "certain", c->certain);
    }
}

bool api_add_shocks(cJSON *answer, const hamel_shocks *shocks) {
    json_builder b = {0};
    cJSON *list = json_add_list(&b, answer, "impulses");
    for (size_t i = 0; i < shocks->count && !b.failed; i++) {
        const hamel_shock *s = &shocks->items[i];
        cJSON *item = json_append_object(&b, list);
        json_add_text(&b, item, "event", s->event);
        json_add_number(&b, item, "percussions", (double)s->percussion_count);
        add_types(&b, item, s);
        json_add_number(&b, item, "unknown_velocities", (double)s->velocities);
        json_add_number(&b, item, "unknown_impulses", (double)s->impulses);
        json_add_number(&b, item, "equations", (double)s->equations);
        json_add_number(&b, item, "indeterminacy", (double)(s->velocities + s->impulses - s->equations));
        json_add_texts(&b, item, "theorems", s->theorems.items, s->theorems.count);
        cJSON *excluded = json_add_list(&b, item, "not_applicable");
        for (size_t k = 0; k < s->excluded_count && !b.failed; k++) {
            cJSON *theorem = json_append_object(&b, excluded);
            json_add_text(&b, theorem, "name", s->excluded[k].name);
            json_add_text(&b, theorem, "reason", s->excluded[k].reason);
        }
    }
    return !b.failed;
}
