/* collect.h — from the rows of a member to the numbers that its sweep keeps. */
#ifndef HAMEL_API_COLLECT_H
#define HAMEL_API_COLLECT_H

#include "api/sweep.h"

typedef struct collector collector;

/* `columns` are those of the member's run, and outlive the collector, as the sweep does. NULL with *unknown (the index
 * of what names no column) or, when that is collect_count, without memory. */
collector *collector_open(const sweep *s, const char *const *columns, size_t count, size_t *unknown);
void collector_close(collector *c);

/* Forgets the rows so far. */
void collector_reset(collector *c);
void collector_row(collector *c, const double *values);

/* What the table calls each number: "x" for a column's last value, else the name that the sweep gives. */
size_t collector_count(const collector *c);
const char *collector_name(const collector *c, size_t k);

double collector_value(const collector *c, size_t k); /* NaN where there was no row */

/* The numbers by their names as a JSON object, null where there was no row. False without memory. */
bool collector_text(const collector *c, text_buffer *out);

#endif
