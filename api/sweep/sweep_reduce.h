/* sweep_reduce.h — reduces the rows of a member to the numbers that its sweep collects. */
#pragma once

#include "api/sweep/sweep.h"

typedef struct sweep_reducer sweep_reducer;

/* `columns` are the columns of the run. The columns and the sweep must outlive the reducer. If a column does not exist,
 * sets *unknown to the index of its entry in `collect` and returns NULL. If memory could not be allocated, sets
 * *unknown to collect_count and returns NULL. */
sweep_reducer *sweep_reduce_open(const sweep *s, const char *const *columns, size_t count, size_t *unknown);
void sweep_reduce_close(sweep_reducer *c);

/* Discards the rows so far. */
void sweep_reduce_reset(sweep_reducer *c);
void sweep_reduce_row(sweep_reducer *c, const double *values);

/* Return the number of results, and the name of one result. The name is that of the column or the entry of
 * `collect`. */
size_t sweep_reduce_count(const sweep_reducer *c);
const char *sweep_reduce_name(const sweep_reducer *c, size_t k);

double sweep_reduce_value(const sweep_reducer *c, size_t k); /* NaN if there were no rows */

/* Adds a JSON object that maps the name of each result to its value. Without rows, every value is null. Returns false
 * if memory could not be allocated. */
bool sweep_reduce_text(const sweep_reducer *c, text_buffer *out);
