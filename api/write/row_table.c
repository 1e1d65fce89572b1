/* row_table.c — keeps rows until the end of a run. Clients choose their number, so that the memory has a fixed
 * limit. */
#include "api/write/write_formats.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool row_table_add(row_table *t, row_writer *w, const double *values, size_t count) {
    assert(t->rows <= t->capacity && (t->rows == 0 || t->columns == count));
    if (t->rows == t->capacity) {
        size_t most = ROW_TABLE_BYTES / sizeof(double) / (count > 0 ? count : 1);
        size_t wanted = t->capacity < 64 ? 64 : t->capacity * 2;
        if (wanted > most) wanted = most;
        if (wanted == t->rows) {
            w->reason = "the result is too large for this format; use ndjson, csv or sse";
            return false;
        }
        if (!row_writer_keep(w, (wanted - t->capacity) * count * sizeof *t->values)) return false;
        double *grown = realloc(t->values, wanted * count * sizeof *grown);
        if (grown == NULL) {
            w->reason = "memory could not be allocated";
            return false;
        }
        t->values = grown;
        t->capacity = wanted;
        t->columns = count;
    }
    memcpy(t->values + t->rows * t->columns, values, count * sizeof *values);
    t->rows++;
    return true;
}

void row_table_free(row_table *t) {
    free(t->values);
    *t = (row_table){0};
}
