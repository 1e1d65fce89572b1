/* sweep_reduce.h — reduces the rows of a member to the numbers that its sweep collects. */
#pragma once

#include "api/sweep/sweep.h"

typedef struct sweep_reducer sweep_reducer;

/* `columns` are the columns of the run. They and the sweep must outlive the reducer. Returns NULL after setting
 * *unknown to the index of the entry whose column does not exist, or to collect_count if memory could not be
 * allocated. */
sweep_reducer *sweep_reduce_open(const sweep *s, const char *const *columns, size_t count, size_t *unknown);
void sweep_reduce_close(sweep_reducer *c);

/* Discards the rows so far. */
void sweep_reduce_reset(sweep_reducer *c);
void sweep_reduce_row(sweep_reducer *c, const double *values);

/* Return the number of results, and the name of a result in the table, which is that of its column or entry of
 * `collect`. */
size_t sweep_reduce_count(const sweep_reducer *c);
const char *sweep_reduce_name(const sweep_reducer *c, size_t k);

double sweep_reduce_value(const sweep_reducer *c, size_t k); /* NaN if there were no rows */

/* Adds the results as a JSON object, by name. They are null if there were no rows. Returns false if memory could not be
 * allocated. */
bool sweep_reduce_text(const sweep_reducer *c, text_buffer *out);
