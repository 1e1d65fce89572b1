/* sweep_table.c — see sweep_table.h. */
#include "api/sweep/sweep_table.h"

#include "api/json/strict_json.h"
#include "api/json/text.h"
#include "api/write/row_writer.h"

#include <string.h>

/* The row being written. Initialize all fields but the first two with zeros. */
typedef struct table_row {
    text_buffer *out;
    table_form form;
    size_t cells; /* number of cells written */
} table_row;

static void separate(table_row *r) {
    if (r->cells++ > 0) text_buffer_puts(r->out, ",");
}

static void add_text(table_row *r, const char *text) {
    separate(r);
    if (r->form == TABLE_CSV)
        csv_add_field(r->out, text);
    else
        json_text_string(r->out, text);
}

/* Adds the items of a list of numbers. In CSV, `null` becomes an empty cell. */
static void add_numbers(table_row *r, const char *items) {
    separate(r);
    for (size_t length; r->form == TABLE_CSV && (length = strcspn(items, "n"), items[length]); items += length + 4)
        text_buffer_add(r->out, items, length);
    text_buffer_puts(r->out, items);
}

/* Adds the VALUE of "TARGET=VALUE". If VALUE is not a number, adds it as a string. */
static void add_input(table_row *r, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    const char *value = equals ? equals + 1 : "";
    size_t length = strlen(value);
    bool number = json_is_number(value, length);
    cJSON *other = number ? NULL : json_parse(value, length, NULL, NULL); /* white space may surround a number */
    if (number || cJSON_IsNumber(other)) {
        separate(r);
        text_buffer_puts(r->out, value);
    } else {
        add_text(r, value);
    }
    cJSON_Delete(other);
}

static void add_texts(table_row *r, const char *const *texts, size_t count) {
    for (size_t k = 0; k < count; k++) add_text(r, texts[k]);
}

void sweep_table_begin(const sweep_columns *columns, table_form form, const char *name, text_buffer *out) {
    static const char *const of_jobs[] = {"job", "name"};
    table_row row = {.out = out, .form = form};
    if (form != TABLE_CSV) text_buffer_puts(out, "{\"header\":{\"columns\":[");
    add_text(&row, "member");
    if (columns->jobs) add_texts(&row, of_jobs, 2);
    add_texts(&row, columns->inputs, columns->input_count);
    add_text(&row, "status");
    add_texts(&row, columns->collected, columns->collected_count);
    add_text(&row, "problem");
    if (form != TABLE_CSV) {
        text_buffer_puts(out, "],\"name\":");
        json_text_string(out, name);
    }
    text_buffer_puts(out, form == TABLE_CSV ? "\n" : form == TABLE_NDJSON ? "}}\n" : "},\"rows\":[");
}

void sweep_table_row(const sweep_columns *columns, table_form form, const sweep_cells *cells, text_buffer *out) {
    static const char *const before[TABLE_FORMS] = {"{\"row\":[", "", "["}, *const after[TABLE_FORMS] = {"]}\n", "\n",
                                                                                                         "]"};
    table_row row = {.out = out, .form = form, .cells = 1};
    text_buffer_puts(out, before[form]);
    text_buffer_printf(out, "%zu", cells->member);
    if (columns->jobs) add_texts(&row, (const char *const[]){cells->job, cells->name}, 2);
    for (const cJSON *c = cells->assignments ? cells->assignments->child : NULL; c; c = c->next)
        add_input(&row, cJSON_IsString(c) ? c->valuestring : "");
    add_text(&row, cells->status);
    if (columns->collected_count > 0) add_numbers(&row, cells->collected);
    add_text(&row, cells->problem);
    text_buffer_puts(out, after[form]);
}
