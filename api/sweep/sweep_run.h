/* sweep_run.h — runs the members of a sweep in this process, and writes one row of a table for each member.
 *
 * If all values are numbers and one model can vary them, the members share that model. Otherwise each member has its
 * own model. Several threads may run members of one sweep. The status of a member is "completed", "terminated",
 * "incomplete" or "failed". */
#pragma once

#include "api/json/text.h"
#include "api/sweep/sweep_member.h"
#include "api/sweep/sweep_table.h"

typedef struct sweep_run {
    api_sweep sweep;
    api_limits limits;
    const hamel_model *model;   /* model without overrides, with the collected outputs */
    hamel_model *own;           /* the same model if the sweep has derived it; else NULL */
    hamel_variation *variation; /* NULL if each member has its own model */
    const char **inputs;        /* the targets */
    char **collected;           /* names of the collected columns */
    size_t collected_count;
    bool last_rows;            /* only last values are collected */
    char hash[DIGEST_HEX + 1]; /* hash of the description with its sweep */
} sweep_run;

/* The number of members by outcome. */
typedef struct sweep_counts {
    size_t outcomes[HAMEL_FAILED + 1];
} sweep_counts;

void sweep_counts_add(sweep_counts *to, const sweep_counts *from);
bool sweep_counts_all_ended(const sweep_counts *counts); /* true unless a member is incomplete or failed */

/* Reads body[length], applies the assignments, and derives the model. Returns true, or false with *failure filled. */
bool sweep_run_open(sweep_run *run, const char *body, size_t length, const char *const *assignments,
                    size_t assignment_count, const char *file, api_failure *failure);

/* Takes ownership of the sweep; borrows its model, which was derived from api_sweep_member with the overrides "[]".
 * Returns true, or false with *failure filled. */
bool sweep_run_share(sweep_run *run, api_sweep *from, const hamel_model *model, api_failure *failure);
void sweep_run_close(sweep_run *run);

/* Sets values[k] to the number of target k in a member. The sweep must have a variation. */
void sweep_run_values(const sweep_run *run, size_t member, double *values);

/* Add the header and the end of the table. */
void sweep_run_begin(const sweep_run *run, table_form form, text_buffer *out);
void sweep_run_end(const sweep_counts *counts, table_form form, text_buffer *out);

/* Called for each member that is incomplete or failed. `assignments` is the JSON list of its overrides. */
typedef void sweep_member_listener(void *context, size_t member, const cJSON *assignments, const char *problem);

/* Runs the members first..first + count - 1. Adds their rows to *out and their outcomes to *counts. Returns HAMEL_OK,
 * even if members failed, or HAMEL_NO_MEMORY. */
hamel_status sweep_run_members(const sweep_run *run, size_t first, size_t count, table_form form, text_buffer *out,
                               sweep_counts *counts, sweep_member_listener *listener, void *context) HAMEL_CHECKED;
