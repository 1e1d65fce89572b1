/* member_table.h — the table of a sweep's members: a row for each, of texts and numbers, as CSV, NDJSON or JSON. */
#ifndef HAMEL_API_MEMBER_TABLE_H
#define HAMEL_API_MEMBER_TABLE_H

#include "engine/base/text_buffer.h"

typedef enum table_form { TABLE_NDJSON, TABLE_CSV, TABLE_JSON, TABLE_FORMS } table_form;

/* One row on its way; zero but for the first two. */
typedef struct table_row {
    text_buffer *out;
    table_form form;
    size_t cells; /* so far */
} table_row;

/* Add a cell. */
void table_text(table_row *r, const char *text);
void table_number(table_row *r, double value); /* empty or null where it is not finite */
void table_index(table_row *r, size_t value);
/* The VALUE of "TARGET=VALUE" as it was set: a number, or else an expression. */
void table_input(table_row *r, const char *assignment);

#endif
