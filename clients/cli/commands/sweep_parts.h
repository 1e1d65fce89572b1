/* sweep_parts.h — messages about members, and parts of the table of a sweep. A part is a file that contains the rows of
 * successive members.
 *
 * The name of a part consists of the hash of the description, the first member and the number of members. A part is
 * written under a temporary name, flushed to the disk and then renamed. Therefore every part with a final name is
 * complete. A digest at the end detects damage. Several processes and machines may write parts to one directory. */
#pragma once

#include "api/sweep/sweep_run.h"
#include "clients/cli/cli.h"

#include <stdio.h>

/* Messages about the first incomplete or failed members of a sweep. */
typedef struct member_problems {
    const char *file; /* name in messages */
    size_t reported;  /* number of calls of member_problems_say */
} member_problems;

/* Prints the problem of one member, and the assignments of that member. After 20 problems, one message refers to the
 * table, and further problems are not printed. */
void member_problems_say(member_problems *p, size_t member, const cJSON *assignments, const char *problem);

/* Members of a part, and the sweep to which they belong. */
typedef struct sweep_part_span {
    char hash[DIGEST_HEX + 1];
    size_t members; /* number of members of the whole sweep */
    size_t first, count;
    table_form form;
} sweep_part_span;

/* Writes a part with the header of the table and the rows. Returns CLI_OK, or CLI_IO after reporting an error. */
int sweep_part_write(const char *directory, const sweep_part_span *span, const char *begin, const text_buffer *rows,
                     const sweep_counts *counts);

/* If the part exists and is undamaged, adds its outcomes to *counts and returns true. */
bool sweep_part_exists(const char *directory, const sweep_part_span *span, sweep_counts *counts);

/* Joins the parts in the directory and writes the table. `wanted` selects the parts of one sweep; NULL selects all
 * parts. If a member failed or is incomplete, returns CLI_RUN_FAILED. If members are missing or duplicate, or parts
 * belong to different sweeps, reports the error and returns CLI_INVALID. Otherwise returns CLI_OK or CLI_IO. */
int sweep_parts_join(const char *directory, const sweep_part_span *wanted, const cli_output *out);

/* Deletes the parts of this sweep, and the directory if it is empty. */
void sweep_parts_remove(const char *directory, const sweep_part_span *span);
