/* symbol_table.h — hash table from names to small integers. Symbols are numbered from 0 as they are added.
 *
 * The table uses open addressing with SipHash-2-4. A random key for each table prevents users from choosing names that
 * collide. Names are copied into the arena. */
#pragma once

#include "engine/base/arena.h"

#include <stdint.h>

typedef struct symbol {
    const char *name; /* NUL-terminated, in the arena */
    uint32_t length;
    uint32_t hash;
    int32_t value;
} symbol;

typedef struct symbol_table {
    arena *memory; /* borrowed */
    symbol *symbols;
    size_t count, capacity;
    int32_t *slots; /* indices in `symbols`; -1: empty slot */
    size_t slot_count;
    uint64_t key[2];
} symbol_table;

/* Returns HAMEL_OK, HAMEL_NO_MEMORY, or HAMEL_INTERNAL if the system provides no random key. */
hamel_status symbol_table_init(symbol_table *t, arena *memory) HAMEL_CHECKED;

/* Returns the index of the symbol, or -1 if the table does not contain the name. */
int32_t symbol_find(const symbol_table *t, const char *name, size_t length);

/* Adds `name` with `value`. Returns HAMEL_INVALID if the table already contains the name; *index is then the existing
 * index. Other statuses are HAMEL_OK and HAMEL_NO_MEMORY. `index` may be NULL. */
hamel_status symbol_add(symbol_table *t, const char *name, size_t length, int32_t value, int32_t *index) HAMEL_CHECKED;

/* Returns the name nearest to `name` by edit distance (a transposition is one edit), for suggestions. Returns NULL if
 * no name has a character in common with `name`. Also returns NULL if the distance of every name exceeds max(1, length
 * / 3), where length is the length of `name`. A change of case costs less than a change of letter, and an abbreviation
 * of 3 letters or more costs less than one edit. At most 10,000 symbols of at most 48 bytes are compared, to bound the
 * time. */
const char *symbol_nearest(const symbol_table *t, const char *name, size_t length);

/* Does the same as symbol_nearest for the list names[count]. */
const char *nearest_name(const char *const *names, size_t count, const char *name, size_t length);
