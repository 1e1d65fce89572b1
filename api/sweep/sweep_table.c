/* member_table.c — see member_table.h. */
#include "api/member_table.h"

#include "api/json_text.h"
#include "api/strict_json.h"

#include <math.h>
#include <string.h>

/* One row on its way; zero but for the first two. */
typedef struct table_row {
    text_buffer *out;
    table_form form;
    size_t cells; /* so far */
} table_row;

/* RFC 4180. */
static void add_csv_text(text_buffer *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        text_buffer_puts(out, text);
        return;
    }
    text_buffer_puts(out, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"') text_buffer_puts(out, "\"");
        text_buffer_add(out, c, 1);
    }
    text_buffer_puts(out, "\"");
}

static void separate(table_row *r) {
    if (r->cells++ > 0) text_buffer_puts(r->out, ",");
}

static void add_text(table_row *r, const char *text) {
    separate(r);
    if (r->form == TABLE_CSV)
        add_csv_text(r->out, text);
    else
        json_text_string(r->out, text);
}

static void add_number(table_row *r, double value) {
    separate(r);
    if (isfinite(value))
        json_text_number(r->out, value);
    else if (r->form != TABLE_CSV)
        text_buffer_puts(r->out, "null");
}

/* The VALUE of "TARGET=VALUE" as it was set. */
static void add_input(table_row *r, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    const char *value = equals ? equals + 1 : "";
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *number = json_parse(value, strlen(value), &limits, &fault);
    if (cJSON_IsNumber(number)) {
        separate(r);
        text_buffer_puts(r->out, value);
    } else {
        add_text(r, value);
    }
    cJSON_Delete(number);
}

static void add_texts(table_row *r, const char *const *texts, size_t count) {
    for (size_t k = 0; k < count; k++) add_text(r, texts[k]);
}

void member_table_begin(const member_columns *columns, table_form form, const char *name, text_buffer *out) {
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

void member_table_row(const member_columns *columns, table_form form, const member_cells *cells, text_buffer *out) {
    static const char *const before[TABLE_FORMS] = {"{\"row\":[", "", "["}, *const after[TABLE_FORMS] = {"]}\n", "\n",
                                                                                                         "]"};
    table_row row = {.out = out, .form = form, .cells = 1};
    text_buffer_puts(out, before[form]);
    text_buffer_printf(out, "%zu", cells->member);
    if (columns->jobs) add_texts(&row, (const char *const[]){cells->job, cells->name}, 2);
    for (const cJSON *c = cells->assignments ? cells->assignments->child : NULL; c; c = c->next)
        add_input(&row, cJSON_IsString(c) ? c->valuestring : "");
    add_text(&row, cells->status);
    for (size_t k = 0; k < columns->collected_count; k++) add_number(&row, cells->collected[k]);
    add_text(&row, cells->problem);
    text_buffer_puts(out, after[form]);
}

void member_inputs_text(const cJSON *assignments, text_buffer *out) {
    for (const cJSON *c = assignments->child; c; c = c->next)
        text_buffer_printf(out, "%s%s", c == assignments->child ? "" : ", ", c->valuestring);
}
