/* symbol_table.h — names to small integers, in the order they were added.
 *
 * Open addressing on SipHash-2-4 with a random key per table: names come from users, and must not be able to make the
 * table slow. Names are copied into the arena. */
#ifndef HAMEL_BASE_SYMBOL_TABLE_H
#define HAMEL_BASE_SYMBOL_TABLE_H

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
    int32_t *slots; /* index into symbols, or -1 */
    size_t slot_count;
    uint64_t key[2];
} symbol_table;

/* HAMEL_NO_MEMORY, or HAMEL_INTERNAL when the system gives no random key. */
hamel_status symbol_table_init(symbol_table *t, arena *memory) HAMEL_CHECKED;

/* Index of the symbol, or -1. */
int32_t symbol_find(const symbol_table *t, const char *name, size_t length);

/* Adds `name` with `value`. HAMEL_INVALID when the name is there already (nothing changed; *index is the old one),
 * HAMEL_NO_MEMORY otherwise. `index` may be NULL. */
hamel_status symbol_add(symbol_table *t, const char *name, size_t length, int32_t value, int32_t *index) HAMEL_CHECKED;

/* The name nearest to `name` by edit distance (transpositions count one), for suggestions: NULL when none is within
 * a third of its length (at least 1), or shares no character with it. Another case is nearer than another letter, and the
 * beginning of a name (of 3 letters or more) nearer than one edit. Looks at no more than 10,000 symbols, and at
 * names of no more than 48 bytes, so that a wrong name costs little. */
const char *symbol_nearest(const symbol_table *t, const char *name, size_t length);

/* Same rule for a plain list of names. */
const char *nearest_name(const char *const *names, size_t count, const char *name, size_t length);

#endif
