/* sweep_table.h — writes the table of a sweep, one row for each member, as CSV, NDJSON or JSON. The command `hamel
 * sweep` and the daemon's batches use the same formats. */
#pragma once

#include "engine/base/text_buffer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

typedef enum table_form { TABLE_NDJSON, TABLE_CSV, TABLE_JSON, TABLE_FORMS } table_form;

/* The columns are `member`; `job` and `name` if members are jobs; the targets; `status`; the collected numbers;
 * `problem`. Borrowed. */
typedef struct sweep_columns {
    bool jobs;
    const char *const *inputs, *const *collected;
    size_t input_count, collected_count;
} sweep_columns;

/* The cells of one row. Borrowed. */
typedef struct sweep_cells {
    size_t member; /* number of the member, from 0 */
    const char *job, *name;
    const cJSON *assignments; /* list of "TARGET=VALUE", where VALUE is a number or expression; may be NULL */
    const char *status;
    const char *collected; /* the items of a JSON list: a number or `null` for each collected column */
    const char *problem;   /* reason why the run is incomplete or failed; otherwise "" */
} sweep_cells;

/* Adds the header of the table. */
void sweep_table_begin(const sweep_columns *columns, table_form form, const char *name, text_buffer *out);

/* Adds one row. In JSON, the caller adds a comma between rows. */
void sweep_table_row(const sweep_columns *columns, table_form form, const sweep_cells *cells, text_buffer *out);
