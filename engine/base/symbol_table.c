/* symbol_table.c — hash table from names to integers, and search for the nearest name for suggestions.
 *
 * The number of slots is a power of two. At most half of the slots are full. A search probes consecutive slots. The
 * hash is SipHash-2-4 (Aumasson and Bernstein 2012) under a random key, truncated to 32 bits. The hash determines only
 * the slot of a symbol, so the random key does not affect any result.
 *
 * The edit distance counts insertions, deletions and replacements of bytes, and swaps of adjacent bytes. A byte is
 * swapped at most once (optimal string alignment). A change of case costs less than a change of letter. Lengths are
 * bounded, so three rows of the distance matrix fit on the stack. An abbreviation costs less than one edit: for `init`
 * the suggestion is `initial`, not `unit`. */
#include "engine/base/symbol_table.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

enum { SLOTS_FIRST = 16, NEAREST_SYMBOLS = 10000, NEAREST_LENGTH = 48, SHORT_FORM = 3 };
enum { EDIT = 4, OTHER_CASE = 1, CUT_SHORT = 2 }; /* distances */

static uint64_t rotate(uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

static void sip_rounds(uint64_t v[4], int rounds) {
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
        v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
    }
}

static uint64_t little_endian(const unsigned char *bytes, size_t count) {
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static uint64_t sip_hash(const uint64_t key[2], const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    size_t whole = length - length % 8;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word = little_endian(bytes + i, 8);
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
    }
    uint64_t last = (length > whole ? little_endian(bytes + whole, length % 8) : 0) | (uint64_t)length << 56;
    v[3] ^= last;
    sip_rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t hash_name(const symbol_table *t, const char *name, size_t length) {
    return (uint32_t)sip_hash(t->key, name, length);
}

/* Returns the slot of the name, or the empty slot in which to store it. */
static size_t find_slot(const symbol_table *t, const char *name, size_t length, uint32_t hash) {
    size_t at = hash & (t->slot_count - 1);
    for (; t->slots[at] >= 0; at = (at + 1) & (t->slot_count - 1)) {
        const symbol *s = &t->symbols[t->slots[at]];
        if (s->hash == hash && s->length == length && memcmp(s->name, name, length) == 0) break;
    }
    return at;
}

/* Allocates `slot_count` slots and enters all symbols. The old slots stay in the arena. */
static bool place_symbols(symbol_table *t, size_t slot_count) {
    assert(slot_count > t->count && (slot_count & (slot_count - 1)) == 0);
    int32_t *slots = arena_alloc(t->memory, slot_count, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < slot_count; i++) slots[i] = -1;
    t->slots = slots;
    t->slot_count = slot_count;
    for (const symbol *s = t->symbols; s < t->symbols + t->count; s++)
        slots[find_slot(t, s->name, s->length, s->hash)] = (int32_t)(s - t->symbols);
    return true;
}

hamel_status symbol_table_init(symbol_table *t, arena *memory) {
    *t = (symbol_table){.memory = memory};
    if (getrandom(t->key, sizeof t->key, 0) != (ssize_t)sizeof t->key) return HAMEL_INTERNAL;
    return place_symbols(t, SLOTS_FIRST) ? HAMEL_OK : HAMEL_NO_MEMORY;
}

int32_t symbol_find(const symbol_table *t, const char *name, size_t length) {
    if (t->count == 0 || length == 0) return -1;
    return t->slots[find_slot(t, name, length, hash_name(t, name, length))];
}

hamel_status symbol_add(symbol_table *t, const char *name, size_t length, int32_t value, int32_t *index) {
    assert(length > 0);
    if (length > UINT32_MAX - 1 || t->count >= INT32_MAX) return HAMEL_NO_MEMORY;
    uint32_t hash = hash_name(t, name, length);
    int32_t old = t->slots[find_slot(t, name, length, hash)];
    if (old >= 0) {
        if (index != NULL) *index = old;
        return HAMEL_INVALID;
    }
    if ((t->count + 1) * 2 > t->slot_count && !place_symbols(t, t->slot_count * 2)) return HAMEL_NO_MEMORY;
    symbol *symbols = arena_grow(t->memory, t->symbols, &t->capacity, t->count + 1, sizeof *symbols);
    if (symbols == NULL) return HAMEL_NO_MEMORY;
    t->symbols = symbols;
    char *copy = arena_text(t->memory, name, length);
    if (copy == NULL) return HAMEL_NO_MEMORY;
    int32_t at = (int32_t)t->count++;
    symbols[at] = (symbol){.name = copy, .length = (uint32_t)length, .hash = hash, .value = value};
    t->slots[find_slot(t, name, length, hash)] = at;
    if (index != NULL) *index = at;
    return HAMEL_OK;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static unsigned char lower(char c) {
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static size_t replacement(char a, char b) {
    if (a == b) return 0;
    return lower(a) == lower(b) ? OTHER_CASE : EDIT;
}

/* Returns the edit distance. If the distance exceeds `bound`, the result is any value above `bound`. Both lengths are
 * at most NEAREST_LENGTH. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length, size_t bound) {
    if ((a_length > b_length ? a_length - b_length : b_length - a_length) * EDIT > bound) return bound + 1;
    size_t rows[3][NEAREST_LENGTH + 1];
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j * EDIT;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        size_t least = row[0] = i * EDIT;
        for (size_t j = 1; j <= b_length; j++) {
            size_t d = above[j - 1] + replacement(a[i - 1], b[j - 1]);
            d = smaller(d, smaller(above[j], row[j - 1]) + EDIT);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) d = smaller(d, two_above[j - 2] + EDIT);
            row[j] = d;
            least = smaller(least, d);
        }
        if (least > bound + EDIT) return least;
    }
    return rows[a_length % 3][b_length];
}

static bool is_cut_short(const char *name, size_t length, const char *candidate, size_t candidate_length) {
    if (length < SHORT_FORM || length >= candidate_length) return false;
    for (size_t i = 0; i < length; i++)
        if (lower(name[i]) != lower(candidate[i])) return false;
    return true;
}

/* State of a search for the nearest name; `best` is the nearest candidate so far. */
typedef struct nearest_search {
    const char *name, *best;
    size_t length, bound; /* distances above the bound are ignored */
} nearest_search;

/* Replaces the best candidate if the new one is nearer. Returns false if no other candidate can be nearer. */
static bool search_offer(nearest_search *s, const char *candidate, size_t length) {
    if (length == 0 || length > NEAREST_LENGTH) return true;
    size_t distance = edit_distance(s->name, s->length, candidate, length, s->bound);
    if (is_cut_short(s->name, s->length, candidate, length)) distance = smaller(distance, CUT_SHORT);
    if (distance > s->bound) return true;
    if (distance >= EDIT * (length > s->length ? length : s->length)) return true; /* no character in common */
    s->best = candidate;
    if (distance == 0) return false;
    s->bound = distance - 1;
    return s->bound > 0;
}

/* Searches names[count] or, if `names` is NULL, symbols[count]. */
static const char *search(const char *const *names, const symbol *symbols, size_t count, const char *name,
                          size_t length) {
    nearest_search s = {.name = name, .length = length, .bound = length / 3 > 1 ? length / 3 * EDIT : EDIT};
    if (length == 0 || length > NEAREST_LENGTH) return NULL;
    for (size_t i = 0; i < count && i < NEAREST_SYMBOLS; i++) {
        const char *candidate = names ? names[i] : symbols[i].name;
        if (!search_offer(&s, candidate, strlen(candidate))) break;
    }
    return s.best;
}

const char *symbol_nearest(const symbol_table *t, const char *name, size_t length) {
    return search(NULL, t->symbols, t->count, name, length);
}

const char *nearest_name(const char *const *names, size_t count, const char *name, size_t length) {
    return search(names, NULL, count, name, length);
}
