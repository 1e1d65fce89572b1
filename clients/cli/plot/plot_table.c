/* plot_table.c — see plot_table.h. */
#include "clients/cli/plot/plot_table.h"

#include "api/json/strict_json.h"
#include "api/read/read_system.h"
#include "clients/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 1 << 26, FIRST_ROWS = 256, LABEL_MAX_BYTES = 512, USUAL_MOST = 6, LOOKED_AT = 64 };

static size_t find_header_column(const row_header *header, const char *name) {
    size_t k = 0;
    while (k < header->column_count && strcmp(header->columns[k], name) != 0) k++;
    return k;
}

/* Returns true if `memory` is not NULL. Otherwise reports that memory could not be allocated. */
static bool is_allocated(const void *memory) {
    if (memory == NULL) cli_say_no_memory();
    return memory != NULL;
}

static char *label_of(const row_header *header, const cJSON *tree, size_t at) {
    const cJSON *unit = cJSON_GetArrayItem(json_at(tree, "units"), (int)at);
    text_buffer text;
    text_buffer_init(&text, LABEL_MAX_BYTES);
    text_buffer_puts(&text, header->columns[at]);
    if (cJSON_IsString(unit) && unit->valuestring[0] != '\0') text_buffer_printf(&text, " in %s", unit->valuestring);
    return text_buffer_take(&text, NULL);
}

static bool add_column(plot_table *t, const row_header *header, const cJSON *tree, size_t at) {
    if (t->column_count > PLOT_SERIES_MAX) {
        cli_say("a drawing can have at most %d columns; select fewer with --columns", PLOT_SERIES_MAX);
        return false;
    }
    plot_column *column = &t->columns[t->column_count++];
    *column = (plot_column){.at = at, .least = INFINITY, .most = -INFINITY, .label = label_of(header, tree, at)};
    return is_allocated(column->label);
}

static bool add_named(plot_table *t, const row_header *header, const cJSON *tree, const char *name) {
    size_t at = find_header_column(header, name);
    if (at < header->column_count) return add_column(t, header, tree, at);
    (void)cli_say_unknown("the result has no column", "", name, strlen(name), header->columns, header->column_count);
    return false;
}

static bool add_list(plot_table *t, const row_header *header, const cJSON *tree, const char *columns) {
    cJSON *names = api_names(columns);
    bool good = is_allocated(names);
    for (const cJSON *n = good ? names->child : NULL; n != NULL && good; n = n->next)
        good = add_named(t, header, tree, n->valuestring);
    cJSON_Delete(names);
    return good;
}

/* A column is a coordinate if the header also has a column for its velocity, which has the same name followed by
 * `'`. */
static bool is_coordinate(const row_header *header, size_t at) {
    char name[LABEL_MAX_BYTES];
    int length = snprintf(name, sizeof name, "%s'", header->columns[at]);
    return length < (int)sizeof name && find_header_column(header, name) < header->column_count;
}

static bool add_usual(plot_table *t, const row_header *header, const cJSON *tree) {
    size_t count = header->column_count < LOOKED_AT ? header->column_count : LOOKED_AT;
    bool is_one[LOOKED_AT], any = false, good = true;
    for (size_t k = 0; k < count; k++) any |= is_one[k] = is_coordinate(header, k);
    for (size_t k = 0; k < count && t->column_count <= USUAL_MOST && good; k++)
        if (k != t->columns[0].at && (is_one[k] || !any)) good = add_column(t, header, tree, k);
    if (good && t->column_count == 1) {
        cli_say("the result has no column to draw over `%s`; see `record` in the description",
                header->columns[t->columns[0].at]);
        good = false;
    }
    return good;
}

bool plot_table_begin(plot_table *t, const row_header *header, const char *columns, const char *over) {
    cJSON *tree = json_parse_trusted(header->json);
    t->title = strdup(json_text_at(tree, "name"));
    bool good = is_allocated(t->title);
    if (good) good = over != NULL ? add_named(t, header, tree, over) : add_column(t, header, tree, 0);
    if (good) good = columns != NULL ? add_list(t, header, tree, columns) : add_usual(t, header, tree);
    cJSON_Delete(tree);
    return good;
}

static bool make_room(plot_table *t) {
    if (t->row_count < t->row_capacity) return true;
    size_t capacity = t->row_capacity == 0 ? FIRST_ROWS : 2 * t->row_capacity;
    if (capacity * t->column_count > VALUES_MAX) {
        cli_say("too many rows to draw; reduce them with --samples");
        return false;
    }
    double *values = realloc(t->values, capacity * t->column_count * sizeof *values);
    if (!is_allocated(values)) return false;
    t->values = values;
    t->row_capacity = capacity;
    return true;
}

bool plot_table_add(plot_table *t, const double *row) {
    if (!make_room(t)) return false;
    double *values = t->values + t->row_count++ * t->column_count;
    for (size_t k = 0; k < t->column_count; k++) {
        plot_column *column = &t->columns[k];
        values[k] = row[column->at];
        column->least = fmin(column->least, values[k]);
        column->most = fmax(column->most, values[k]);
    }
    return true;
}

void plot_table_clear(plot_table *t) {
    for (size_t k = 0; k < t->column_count; k++) free(t->columns[k].label);
    free(t->values);
    free(t->title);
    *t = (plot_table){0};
}

/* Appends the first, lowest, highest and last point of `run`, whose points are within one unit of width. */
static size_t add_extremes(plot_point *points, size_t count, const plot_point *run, size_t length) {
    size_t least = 0, most = 0;
    for (size_t i = 1; i < length; i++) {
        if (run[i].y < run[least].y) least = i;
        if (run[i].y > run[most].y) most = i;
    }
    size_t kept[] = {0, least < most ? least : most, least < most ? most : least, length - 1};
    for (size_t i = 0; i < 4; i++)
        if (i == 0 || kept[i] != kept[i - 1]) points[count++] = run[kept[i]];
    return count;
}

size_t plot_table_line(const plot_table *t, size_t k, plot_point (*map)(const void *context, double x, double y),
                       const void *context, plot_point *points) {
    for (size_t row = 0; row < t->row_count; row++) {
        const double *values = t->values + row * t->column_count;
        points[row] = map(context, values[0], values[k]);
    }
    /* Reducing does not add points, so the list can be reduced in place. */
    size_t count = 0;
    for (size_t begin = 0, end; begin < t->row_count; begin = end) {
        for (end = begin + 1; end < t->row_count && floor(points[end].x) == floor(points[begin].x); end++) {
        }
        count = add_extremes(points, count, points + begin, end - begin);
    }
    return count;
}
