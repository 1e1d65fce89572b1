/* ensemble.h — the members of a sweep, run in this process: one row of a table for each.
 *
 * Members share one model where their numbers allow it, and each has its own where they do not; the rows are the same. Any
 * number of threads may run members of one ensemble. `status` is "completed", "terminated", "incomplete" or "failed". */
#ifndef HAMEL_API_ENSEMBLE_H
#define HAMEL_API_ENSEMBLE_H

#include "api/digest.h"
#include "api/member.h"
#include "api/member_table.h"

typedef struct api_ensemble {
    api_sweep sweep;
    api_limits limits;
    hamel_model *model;         /* of the description as it stands, with what is collected */
    hamel_variation *variation; /* NULL: each member has a model of its own */
    const char **inputs;        /* the targets */
    char **collected;           /* names of these columns */
    size_t collected_count;
    bool last_rows;            /* nothing else is collected */
    char hash[DIGEST_HEX + 1]; /* of the description with its sweep */
} api_ensemble;

/* How many members ended in which way. */
typedef struct api_member_counts {
    size_t outcomes[HAMEL_FAILED + 1];
} api_member_counts;

/* Reads body[length] with these "NAME=VALUE" applied to it, and derives the model. False with *failure filled. */
bool api_ensemble_open(api_ensemble *e, const char *body, size_t length, const char *const *assignments,
                       size_t assignment_count, const char *file, api_failure *failure);
void api_ensemble_close(api_ensemble *e);

/* What stands before the rows, and after them. */
void api_ensemble_begin(const api_ensemble *e, table_form form, text_buffer *out);
void api_ensemble_end(const api_member_counts *counts, table_form form, text_buffer *out);

/* Told of a member that did not come to its end. */
typedef void api_member_told(void *context, size_t member, const char *inputs, const char *problem);

/* Runs members first..first + count - 1, adds their rows to `out` and their ends to *counts. HAMEL_OK when all have been
 * run, however they ended; HAMEL_NO_MEMORY. */
hamel_status api_ensemble_run(const api_ensemble *e, size_t first, size_t count, table_form form, text_buffer *out,
                              api_member_counts *counts, api_member_told *told, void *context) HAMEL_CHECKED;

#endif
