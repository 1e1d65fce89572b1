/* parts.h — the table of a sweep in parts: files in a directory, each with the rows of some members in a row.
 *
 * A part is named by what it holds: the hash of the description with its sweep, its first member and their number. It is
 * written to a name of its own, flushed to the disk and then renamed, so a part that is there is whole; a seal at its end
 * tells whether it still is. Parts come from any number of processes and machines. */
#ifndef HAMEL_CLI_PARTS_H
#define HAMEL_CLI_PARTS_H

#include "api/ensemble.h"
#include "clients/cli/cli.h"

#include <stdio.h>

/* The members of a part, and whose. */
typedef struct part_span {
    char hash[DIGEST_HEX + 1];
    size_t members; /* of the whole sweep */
    size_t first, count;
    table_form form;
} part_span;

/* Writes a part: `rows` are its members' and `begin` stands before all rows. CLI_OK, or CLI_IO after saying why. */
int part_write(const char *directory, const part_span *span, const char *begin, const text_buffer *rows,
               const api_member_counts *counts);

/* Whether this part is there and whole; then its ends are added to *counts. */
bool part_is_there(const char *directory, const part_span *span, api_member_counts *counts);

/* Joins all parts in the directory and writes the table. `wanted` (may be NULL): other parts are not looked at. CLI_OK;
 * CLI_RUN_FAILED when a member failed or is incomplete; CLI_INVALID after saying which members are missing or doubled, or
 * which parts do not belong together; CLI_IO. */
int parts_join(const char *directory, const part_span *wanted, FILE *out, const char *out_name);

/* Removes the parts of this sweep, and the directory when it is empty then. */
void parts_remove(const char *directory, const part_span *span);

#endif
