/* sweep.c — see sweep.h. Random numbers are computed from a counter by SplitMix64 (Steele, Lea, Flood 2014), so that
 * each value can be computed without the others. */
#include "api/sweep/sweep.h"

#include "api/json/text.h"
#include "api/read/read_system.h"
#include "engine/text/constant.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASSIGNMENTS_MAX = 1024 * 1024, SWEEP_MEMBERS_MOST = 1000000, ORDERS_MOST = 10000000 };
static const double seed_most = 9007199254740991.0; /* 2^53 - 1: doubles represent all whole numbers up to this limit */

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct sweep_text {
    sweep_mode mode;
    double count, seed;
    sweep_axis *axes;
    size_t axis_count;
    sweep_collected *collect;
    size_t collect_count;
} sweep_text;

JSON_CHOICE(read_mode, sweep_mode, "grid", "zip", "random", "latin_hypercube")
JSON_CHOICE(read_reduce, reduction, "final", "min", "max", "mean")

static void read_count(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_whole(r, value, pointer, 1, SWEEP_MEMBERS_MOST, field);
}

static void read_seed(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    json_read_whole(r, value, pointer, 0, seed_most, field);
}

typedef struct range_text {
    double from, to, count;
} range_text;

const json_kind sweep_range_kind = JSON_KIND("a range", {"from", json_read_real, offsetof(range_text, from), true},
                                             {"to", json_read_real, offsetof(range_text, to), true},
                                             {"count", read_count, offsetof(range_text, count), false});

/* If the item is a number or a constant expression ("pi/6", but not "2*m"), sets *value and returns true. */
static bool constant_of(const cJSON *item, double *value) {
    if (cJSON_IsNumber(item)) *value = item->valuedouble;
    return cJSON_IsNumber(item) ||
           (cJSON_IsString(item) && syntax_constant(item->valuestring, strlen(item->valuestring), value));
}

static void read_listed(json_reader *r, const cJSON *value, const char *pointer, sweep_axis *axis) {
    axis->listed = json_alloc(r, json_child_count(value), sizeof *axis->listed);
    if (!axis->listed) return;
    for (const cJSON *item = value->child; item; item = item->next, axis->count++) {
        double constant;
        if (constant_of(item, &constant))
            axis->listed[axis->count] = json_number_text(r, constant);
        else if (cJSON_IsString(item) && item->valuestring[0])
            axis->listed[axis->count] = json_copy(r, item->valuestring);
        else
            json_expected(r, item, json_pointer_of_index(r, pointer, axis->count), "a number or an expression");
    }
}

static void read_axis(json_reader *r, const cJSON *value, const char *pointer, sweep_axis *axis) {
    range_text range = {0};
    axis->target = json_copy(r, value->string);
    if (cJSON_IsArray(value) && value->child) {
        read_listed(r, value, pointer, axis);
    } else if (cJSON_IsObject(value)) {
        json_read_object(r, value, pointer, &sweep_range_kind, &range);
        axis->from = range.from;
        axis->to = range.to;
        axis->count = (size_t)range.count;
    } else {
        json_expected(r, value, pointer, "a list of values, or a range {from, to, count}");
    }
}

static void read_over(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    sweep_text *out = (sweep_text *)((char *)field - offsetof(sweep_text, axes));
    if (!cJSON_IsObject(value)) {
        json_expected(r, value, pointer, "an object of targets, as in {\"m\": [1, 2]}");
        return;
    }
    if (!value->child) {
        json_fault_at(r, pointer, "the sweep has no target; name one, as in {\"m\": [1, 2]}");
        return;
    }
    out->axes = json_alloc(r, json_child_count(value), sizeof *out->axes);
    if (!out->axes) return;
    for (const cJSON *item = value->child; item; item = item->next)
        read_axis(r, item, json_pointer_of_key(r, pointer, item->string), &out->axes[out->axis_count++]);
}

static void read_collected_expression(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsString(value) && value->valuestring[0])
        *(const char **)field = json_copy(r, value->valuestring);
    else
        json_expected(r, value, pointer, "an expression");
}

const json_kind sweep_collect_kind =
    JSON_KIND("an entry of `collect`", {"name", json_read_name, offsetof(sweep_collected, name), true},
              {"reduce", read_reduce, offsetof(sweep_collected, reduce), false},
              {"expression", read_collected_expression, offsetof(sweep_collected, expression), false});

static void read_collected(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    if (cJSON_IsString(value) && strcmp(value->valuestring, "final") == 0)
        return; /* a struct of zeros selects the last values of all columns */
    if (cJSON_IsObject(value))
        json_read_object(r, value, pointer, &sweep_collect_kind, field);
    else
        json_expected(r, value, pointer, "\"final\", or an object {name, reduce, expression}");
}

static void read_collect(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    sweep_text *out = (sweep_text *)((char *)field - offsetof(sweep_text, collect));
    out->collect = json_read_list(r, value, pointer, "a list of names, objects or \"final\"", sizeof *out->collect,
                                  read_collected, &out->collect_count);
}

const json_kind sweep_kind = JSON_KIND("a sweep", {"mode", read_mode, offsetof(sweep_text, mode), false},
                                       {"count", read_count, offsetof(sweep_text, count), false},
                                       {"seed", read_seed, offsetof(sweep_text, seed), false},
                                       {"over", read_over, offsetof(sweep_text, axes), true},
                                       {"collect", read_collect, offsetof(sweep_text, collect), false});

/* --- members ------------------------------------------------------------------------------------------------------ */

static uint64_t mixed(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a hash of seed, target and member. Callers that need several values for one member vary `draw`. */
static uint64_t random_bits(const sweep *s, size_t axis, size_t member, uint64_t draw) {
    return mixed(mixed(mixed(s->seed) + axis) + 2 * (uint64_t)member + draw);
}

static double random_fraction(const sweep *s, size_t axis, size_t member) {
    return (double)(random_bits(s, axis, member, 0) >> 11) * 0x1p-53;
}

/* Permutes the strata of each target at random, by the Fisher–Yates shuffle. Latin hypercube sampling (McKay, Beckman,
 * Conover 1979) uses these orders. */
static bool make_orders(json_reader *r, sweep *s, const char *pointer) {
    if ((double)s->count * (double)s->axis_count > ORDERS_MOST) {
        json_fault_at(r, pointer, "%zu members with %zu targets exceed the limit of 10000000 values", s->count,
                      s->axis_count);
        return false;
    }
    for (size_t k = 0; k < s->axis_count; k++) {
        size_t *order = json_alloc(r, s->count, sizeof *order);
        if (!order) return false;
        for (size_t i = 0; i < s->count; i++) order[i] = i;
        for (size_t i = s->count - 1; i > 0; i--) {
            size_t j = (size_t)(random_bits(s, k, i, 1) % (i + 1));
            size_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        s->axes[k].order = order;
    }
    return true;
}

/* Reports an axis without a number of points. The modes grid and zip require this number. */
static bool check_points(json_reader *r, const sweep_axis *axis, const char *pointer) {
    if (axis->count > 0) return true;
    json_fault_at(r, json_pointer_of_key(r, pointer, axis->target), "the range needs the key `count` in this mode");
    return false;
}

static double product_of_counts(const sweep *s) {
    double product = 1;
    for (size_t k = 0; k < s->axis_count; k++) product *= (double)s->axes[k].count;
    return product;
}

/* Returns the number of members, or 0 after an error. */
static double count_members(json_reader *r, const sweep *s, double count, const char *pointer) {
    const char *over = json_pointer_of_key(r, pointer, "over");
    bool drawn = s->mode == SWEEP_RANDOM || s->mode == SWEEP_LATIN_HYPERCUBE;
    if (drawn && count < 1) json_fault_at(r, pointer, "this mode needs the key `count`, the number of members");
    if (!drawn && count >= 1)
        json_fault_at(r, json_pointer_of_key(r, pointer, "count"),
                      "the values determine the count in the modes `grid` and `zip`; remove the key `count`");
    if (drawn || count >= 1) return drawn ? count : 0;
    bool good = true;
    for (size_t k = 0; k < s->axis_count; k++) {
        good = check_points(r, &s->axes[k], over) && good;
        if (s->mode != SWEEP_ZIP || s->axes[k].count == s->axes[0].count) continue;
        json_fault_at(r, json_pointer_of_key(r, over, s->axes[k].target),
                      "zip needs the same number of values for each target: %zu here, %zu for `%s`", s->axes[k].count,
                      s->axes[0].count, s->axes[0].target);
        good = false;
    }
    if (!good) return 0;
    return s->mode == SWEEP_ZIP ? (double)s->axes[0].count : product_of_counts(s);
}

static size_t faults_of(const json_reader *r) {
    return r->error->count + r->error->omitted;
}

void sweep_read(json_reader *r, const cJSON *value, const char *pointer, size_t members_max, sweep *out) {
    sweep_text text = {0};
    size_t before = faults_of(r);
    *out = (sweep){0};
    json_read_object(r, value, pointer, &sweep_kind, &text);
    if (faults_of(r) > before || r->no_memory) return;
    *out = (sweep){.mode = text.mode,
                   .seed = (uint64_t)text.seed,
                   .axes = text.axes,
                   .axis_count = text.axis_count,
                   .collect = text.collect,
                   .collect_count = text.collect_count};
    double count = count_members(r, out, text.count, pointer);
    if (members_max > 0 && count > (double)members_max)
        json_fault_at(r, pointer, "the sweep has %.0f members; the limit is %zu", count, members_max);
    if (faults_of(r) > before) return;
    out->count = (size_t)count;
    if (!out->collect) { /* the last value of every column */
        out->collect = json_alloc(r, 1, sizeof *out->collect);
        out->collect_count = 1;
    }
    if (members_max > 0 && out->mode == SWEEP_LATIN_HYPERCUBE && !make_orders(r, out, pointer)) out->count = 0;
}

/* Returns true if only parameters may occur in the values of the target. For an element of a family (x[i]) the values
 * may contain its index, and for simulation.KEY they may be names. */
static bool takes_parameters(const char *target) {
    return strchr(target, '[') == NULL && strncmp(target, "simulation.", 11) != 0;
}

/* Adds the expressions that are listed for one target. */
static void add_alternatives(json_reader *r, const cJSON *axis, const char *pointer, hamel_expressions *out) {
    size_t k = 0;
    for (const cJSON *item = axis->child; item; item = item->next, k++) {
        if (!cJSON_IsString(item)) continue;
        const char *place = json_pointer_of_index(r, pointer, k);
        json_read_expression(r, item, place, &out->items[out->count++]);
    }
}

/* Collects the listed expressions of all targets. The engine checks the names in them later, when it has read the
 * system. */
static void read_alternatives(json_reader *r, const cJSON *over, const char *pointer, hamel_expressions *out) {
    size_t most = 0;
    for (const cJSON *axis = over->child; axis; axis = axis->next) most += json_child_count(axis);
    *out = (hamel_expressions){.pointer = pointer, .items = json_alloc(r, most, sizeof *out->items)};
    for (const cJSON *axis = over->child; axis && out->items; axis = axis->next) {
        if (!cJSON_IsArray(axis) || !takes_parameters(axis->string)) continue;
        add_alternatives(r, axis, json_pointer_of_key(r, pointer, axis->string), out);
    }
}

void read_sweep(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    hamel_description *d = field;
    size_t before = faults_of(r);
    sweep unused;
    sweep_read(r, value, pointer, 0, &unused);
    if (faults_of(r) > before || r->no_memory) return;
    read_alternatives(r, json_at(value, "over"), json_pointer_of_key(r, pointer, "over"), &d->alternatives);
}

/* Returns the index of the axis point that a member of a grid uses. From one member to the next, the last target
 * changes first. */
static size_t grid_point(const sweep *s, size_t axis, size_t member) {
    for (size_t k = s->axis_count - 1; k > axis; k--) member /= s->axes[k].count;
    return member % s->axes[axis].count;
}

static double range_value(const sweep *s, size_t k, size_t member, size_t point) {
    const sweep_axis *axis = &s->axes[k];
    double fraction = axis->count > 1 ? (double)point / (double)(axis->count - 1) : 0;
    if (s->mode == SWEEP_RANDOM) fraction = random_fraction(s, k, member);
    if (s->mode == SWEEP_LATIN_HYPERCUBE)
        fraction = ((double)axis->order[member] + random_fraction(s, k, member)) / (double)s->count;
    /* return `to` itself at the end of the range: from + (to - from) may be rounded */
    return fraction < 1 ? axis->from + fraction * (axis->to - axis->from) : axis->to;
}

/* Returns the index of the axis point that the member uses. For a range that is sampled at random, the index has no
 * meaning. */
static size_t point_of(const sweep *s, size_t k, size_t member) {
    const sweep_axis *axis = &s->axes[k];
    if (s->mode == SWEEP_GRID) return grid_point(s, k, member);
    if (!axis->listed) return member;
    if (s->mode == SWEEP_RANDOM) return (size_t)(random_fraction(s, k, member) * (double)axis->count);
    if (s->mode == SWEEP_LATIN_HYPERCUBE) return axis->order[member] * axis->count / s->count;
    return member;
}

static void add_value(const sweep *s, size_t k, size_t member, text_buffer *out) {
    const sweep_axis *axis = &s->axes[k];
    size_t point = point_of(s, k, member);
    if (axis->listed)
        text_buffer_puts(out, axis->listed[point]);
    else
        text_buffer_number(out, range_value(s, k, member, point));
}

bool sweep_number(const sweep *s, size_t target, size_t member, double *value) {
    assert(target < s->axis_count && member < s->count);
    const sweep_axis *axis = &s->axes[target];
    size_t point = point_of(s, target, member);
    if (!axis->listed) {
        *value = range_value(s, target, member, point);
        return true;
    }
    char *end;
    *value = strtod(axis->listed[point], &end);
    return *end == '\0' && isfinite(*value);
}

bool sweep_assignments(const sweep *s, size_t member, text_buffer *out) {
    assert(member < s->count);
    text_buffer one;
    text_buffer_init(&one, ASSIGNMENTS_MAX);
    text_buffer_puts(out, "[");
    for (size_t k = 0; k < s->axis_count; k++) {
        text_buffer_reset(&one);
        text_buffer_printf(&one, "%s=", s->axes[k].target);
        add_value(s, k, member, &one);
        if (k > 0) text_buffer_puts(out, ",");
        json_text_string(out, one.bytes ? one.bytes : "");
    }
    text_buffer_puts(out, "]");
    bool made = !one.failed && !out->failed;
    text_buffer_free(&one);
    return made;
}

cJSON *sweep_assignments_json(const sweep *s, size_t member) {
    text_buffer text;
    text_buffer_init(&text, ASSIGNMENTS_MAX);
    cJSON *list = sweep_assignments(s, member, &text) ? json_parse_trusted(text.bytes) : NULL;
    text_buffer_free(&text);
    return list;
}

/* --- the description of a member ---------------------------------------------------------------------------------- */

static bool add_output(cJSON *outputs, const sweep_collected *c) {
    if (cJSON_IsObject(outputs)) return cJSON_AddStringToObject(outputs, c->name, c->expression) != NULL;
    cJSON *item = cJSON_CreateObject();
    bool made = item && cJSON_AddStringToObject(item, "name", c->name) &&
                cJSON_AddStringToObject(item, "expression", c->expression) && cJSON_AddItemToArray(outputs, item);
    if (!made) cJSON_Delete(item);
    return made;
}

/* Appends each collected expression to the outputs. An output of the same name is an error. */
static hamel_status add_outputs(cJSON *tree, const sweep *s, hamel_error *error) {
    cJSON *outputs = json_at(tree, "outputs");
    for (size_t k = 0; k < s->collect_count; k++) {
        const sweep_collected *c = &s->collect[k];
        if (!c->expression) continue;
        if (!outputs) outputs = cJSON_AddObjectToObject(tree, "outputs");
        if (!outputs) return hamel_out_of_memory(error);
        if (cJSON_IsObject(outputs) && cJSON_HasObjectItem(outputs, c->name)) {
            char pointer[64];
            snprintf(pointer, sizeof pointer, "/sweep/collect/%zu/name", k);
            hamel_status status =
                hamel_fail(error, HAMEL_INVALID, pointer, 0, "an output `%s` exists already", c->name);
            hamel_suggest(error, "remove `expression` to collect that output");
            return status;
        }
        if (!add_output(outputs, c)) return hamel_out_of_memory(error);
    }
    return HAMEL_OK;
}

/* Overrides one target. The pointer of an error is that of the target in the sweep. */
static hamel_status apply_one(cJSON *tree, const char *target, const char *assignment, hamel_error *error) {
    hamel_error found = {0};
    char pointer[256];
    hamel_status status = api_override(tree, assignment, &found);
    snprintf(pointer, sizeof pointer, "/sweep/over/%s", target);
    for (size_t i = 0; i < found.count; i++) {
        (void)hamel_fail(error, status, pointer, 0, "%s", found.faults[i].message);
        if (found.faults[i].suggestion) hamel_suggest(error, "%s", found.faults[i].suggestion);
    }
    hamel_error_clear(&found);
    return status;
}

hamel_status sweep_apply(cJSON *tree, const sweep *s, const cJSON *assignments, hamel_error *error) {
    hamel_status status = HAMEL_OK;
    if (assignments) cJSON_DeleteItemFromObjectCaseSensitive(tree, "sweep");
    size_t k = 0;
    for (const cJSON *item = assignments ? assignments->child : NULL; item && status == HAMEL_OK; item = item->next) {
        const char *target = k < s->axis_count ? s->axes[k].target : "";
        if (cJSON_IsString(item)) status = apply_one(tree, target, item->valuestring, error);
        k++;
    }
    return status == HAMEL_OK ? add_outputs(tree, s, error) : status;
}

hamel_status sweep_check_targets(const cJSON *tree, hamel_error *error) {
    const cJSON *over = json_at(json_at(tree, "sweep"), "over");
    cJSON *tried = cJSON_IsObject(over) ? cJSON_Duplicate(tree, 1) : NULL;
    if (cJSON_IsObject(over) && !tried) return hamel_out_of_memory(error);
    hamel_status status = HAMEL_OK;
    for (const cJSON *axis = tried ? over->child : NULL; axis && status != HAMEL_NO_MEMORY; axis = axis->next) {
        text_buffer assignment;
        text_buffer_init(&assignment, ASSIGNMENTS_MAX);
        text_buffer_printf(&assignment, "%s=0", axis->string);
        hamel_status one =
            assignment.failed ? HAMEL_NO_MEMORY : apply_one(tried, axis->string, assignment.bytes, error);
        text_buffer_free(&assignment);
        if (one != HAMEL_OK) status = one;
    }
    cJSON_Delete(tried);
    return status;
}

bool sweep_collect_place(const sweep *s, const char *pointer, char *place, size_t size) {
    for (size_t k = 0; k < s->collect_count; k++) {
        char output[300];
        snprintf(output, sizeof output, "/outputs/%.250s", s->collect[k].name ? s->collect[k].name : "");
        if (!s->collect[k].expression || strcmp(output, pointer) != 0) continue;
        snprintf(place, size, "/sweep/collect/%zu/expression", k);
        return true;
    }
    return false;
}
