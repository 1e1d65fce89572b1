/* member_table.c — see member_table.h. */
#include "api/member_table.h"

#include "api/json_text.h"
#include "api/strict_json.h"

#include <math.h>
#include <string.h>

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

void table_text(table_row *r, const char *text) {
    separate(r);
    if (r->form == TABLE_CSV)
        add_csv_text(r->out, text);
    else
        json_text_string(r->out, text);
}

void table_number(table_row *r, double value) {
    separate(r);
    if (isfinite(value))
        json_text_number(r->out, value);
    else if (r->form != TABLE_CSV)
        text_buffer_puts(r->out, "null");
}

void table_index(table_row *r, size_t value) {
    separate(r);
    text_buffer_printf(r->out, "%zu", value);
}

void table_input(table_row *r, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    const char *value = equals ? equals + 1 : "";
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *number = json_parse(value, strlen(value), &limits, &fault);
    if (cJSON_IsNumber(number)) {
        separate(r);
        text_buffer_puts(r->out, value);
    } else {
        table_text(r, value);
    }
    cJSON_Delete(number);
}
