/* member_table.h — the table of a sweep's members: a row for each, of texts and numbers, as CSV, NDJSON or JSON. One
 * format for sweeps in this process, of the daemon's batches, and for what the command line makes of these. */
#ifndef HAMEL_API_MEMBER_TABLE_H
#define HAMEL_API_MEMBER_TABLE_H

#include "engine/base/text_buffer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

typedef enum table_form { TABLE_NDJSON, TABLE_CSV, TABLE_JSON, TABLE_FORMS } table_form;

/* Columns: `member`; `job` and `name` where members are jobs; the targets; `status`; what is collected; `problem`.
 * Borrowed. */
typedef struct member_columns {
    bool jobs;
    const char *const *inputs, *const *collected;
    size_t input_count, collected_count;
} member_columns;

/* What stands in one row. Borrowed. */
typedef struct member_cells {
    size_t member; /* from 0 */
    const char *job, *name;
    const cJSON *assignments; /* list of "TARGET=VALUE": values as they were set, numbers or expressions; NULL: none */
    const char *status;
    const double *collected; /* one for each column, not finite where the run did not end: empty or null then */
    const char *problem;     /* why the run is incomplete or failed; "" when it is neither */
} member_cells;

/* The header, up to where rows begin. */
void member_table_begin(const member_columns *columns, table_form form, const char *name, text_buffer *out);

/* One row; in JSON those after the first need a comma before them. */
void member_table_row(const member_columns *columns, table_form form, const member_cells *cells, text_buffer *out);

/* The assignments for a person: "l=1, a.initial=0.5". */
void member_inputs_text(const cJSON *assignments, text_buffer *out);

#endif
