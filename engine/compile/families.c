/* families.c — orders the operations of a long program so that machine code can execute them as loops.
 *
 * A system of many equal bodies repeats the same expression for each body. A family is a set of equal operations whose
 * operands, up to a fixed depth, are also equal operations. If all members of a family are ready at the same time, they
 * do not depend on each other. They are then listed together, in the order of their operands, and get adjacent slots.
 * Operands and results of consecutive members are therefore mostly adjacent (native_loops.c).
 *
 * Other operations, such as the recurrence along a chain, are listed one by one. Among these operations, the one with
 * the longest chain of dependent operations is always listed next. Independent recurrences therefore alternate, and
 * their latencies overlap. Cost: n log n for n operations. */
#include "engine/compile/program_int.h"

#include "engine/base/arena.h"

#include <stdlib.h>

/* Families with fewer than SHORTEST members are not written as loops. SHORTEST is four passes of a loop, because a pass
 * computes four members (MEMBERS in native_loops.c). The number of passes was chosen without a measurement. DEPTH
 * distinguishes the operations before a recurrence from those after it. With depths 3 to 6, machine code for chains in
 * x and y is equally fast. With depths 1 and 2, it takes 1.6 times as long. At most one of PART operations may be
 * outside loops. The measured share is a fifth on chains in x and y, and four fifths on chains in angles with a full
 * mass matrix. LOOK_AHEAD bounds the time of the search for a family of equal size. */
enum { PART = 3, SHORTEST = 16, DEPTH = 4, LOOK_AHEAD = 64, NONE = UINT32_MAX, UNPLACED = UINT32_MAX };

typedef struct member {
    uint64_t key[2]; /* sort key that determines the order in the family */
    uint32_t value;
} member;

typedef struct family {
    uint32_t first, size, ready; /* first member; number of members; number of members whose operands are computed */
    bool placed;                 /* true if members have places, or if no places are needed */
} family;

typedef struct families {
    arena memory;
    program_operation *operations;
    size_t count;    /* number of values */
    member *members; /* the operations to order, grouped by family */
    size_t member_count;
    family *list;
    size_t family_count;
    uint32_t *family_of;    /* per value: its family, or NONE */
    uint32_t *waiting;      /* per value: number of operands that are not computed yet */
    uint32_t *users, *edge; /* linked lists of the readers of each operation, as in schedule.c */
    uint32_t *height;       /* per value: length of the longest chain of operations that depend on it */
    uint32_t *position;     /* per value: place after the numbers and symbols, or UNPLACED */
    uint32_t places;        /* number of places assigned */
    uint32_t *heap;         /* ready operations, those with the greatest height first */
    size_t heap_count;
    uint32_t *complete; /* queue of families whose members are all ready */
    uint32_t complete_first, complete_end;
    bool *done;
    uint32_t *order;
    size_t *ordered;
    size_t lone; /* number of listed operations whose operands are not next to those of the operation before */
} families;

/* Returns the operation that computes a value and is to be ordered, or NONE. */
static uint32_t computed_by(const families *f, uint32_t value) {
    uint32_t definer = f->operations[value].definer;
    return f->family_of[definer] == NONE ? NONE : definer;
}

static uint64_t mix(uint64_t hash, uint64_t next) {
    hash = (hash ^ next) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* Hashes each expression down to the depth DEPTH. All numbers and symbols count as equal. Results are hashed before
 * their operands, so each pass reads the hashes of the pass before it. */
static void hash_expressions(families *f, uint64_t *hash) {
    for (size_t m = 0; m < f->member_count; m++) hash[f->members[m].value] = f->operations[f->members[m].value].op + 1;
    for (int depth = 0; depth < DEPTH; depth++)
        for (size_t m = f->member_count; m-- > 0;) {
            uint32_t value = f->members[m].value;
            const program_operation *o = &f->operations[value];
            uint64_t sum = o->op + 1;
            for (int k = 0; k < o->arity; k++) sum = mix(sum, hash[f->operations[o->arg[k]].definer]);
            hash[value] = sum;
        }
}

static int by_key(const void *one, const void *other) {
    const member *a = one, *b = other;
    for (int k = 0; k < 2; k++)
        if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

/* Finds the family of each operation in a hash table, and counts its members. */
static bool count_families(families *f, const uint64_t *hash) {
    size_t mask = 1;
    while (mask < 2 * f->member_count) mask = 2 * mask + 1;
    uint32_t *table = arena_alloc(&f->memory, mask + 1, sizeof *table); /* number of a family + 1; 0: free */
    if (!table) return false;
    for (size_t m = 0; m < f->member_count; m++) {
        uint32_t value = f->members[m].value;
        size_t at = hash[value] & mask;
        while (table[at] && hash[f->list[table[at] - 1].first] != hash[value]) at = (at + 1) & mask;
        if (!table[at]) {
            f->list[f->family_count++].first = value; /* one member, until find_families groups the members */
            table[at] = (uint32_t)f->family_count;
        }
        f->family_of[value] = table[at] - 1;
        f->list[table[at] - 1].size++;
    }
    return true;
}

/* Groups the operations, which f->members lists in the order of their values, by families. */
static bool find_families(families *f) {
    uint64_t *hash = arena_alloc(&f->memory, f->count, sizeof *hash);
    if (!hash) return false;
    hash_expressions(f, hash);
    if (!count_families(f, hash)) return false;
    uint32_t first = 0;
    for (size_t i = 0; i < f->family_count; i++) {
        f->list[i].first = first;
        first += f->list[i].size;
    }
    for (size_t i = 0; i < f->count; i++)
        if (f->family_of[i] != NONE) f->members[f->list[f->family_of[i]].first++].value = (uint32_t)i;
    for (size_t i = 0; i < f->family_count; i++) f->list[i].first -= f->list[i].size;
    return true;
}

/* Lists the readers of each operation, and finds the heights. Operands have smaller numbers than results, except that a
 * cosine may precede its SINCOS. The height of such a value may be too small, which affects only the order. */
static void link_operations(families *f) {
    for (size_t i = 0; i < f->count; i++) f->users[i] = NONE;
    for (size_t i = f->count; i-- > 0;) {
        if (f->family_of[i] == NONE) continue;
        const program_operation *o = &f->operations[i];
        for (uint32_t k = 0; k < o->arity; k++) {
            uint32_t from = computed_by(f, o->arg[k]);
            if (from == NONE) continue;
            f->edge[3 * i + k] = f->users[from];
            f->users[from] = (uint32_t)(3 * i + k);
            f->waiting[i]++;
            if (f->height[from] <= f->height[i]) f->height[from] = f->height[i] + 1;
        }
    }
}

static bool comes_before(const families *f, uint32_t a, uint32_t b) {
    const uint32_t one = f->height[a], other = f->height[b];
    return one > other || (one == other && a < b);
}

static void push(families *f, uint32_t value) {
    size_t at = f->heap_count++;
    for (; at > 0 && comes_before(f, value, f->heap[(at - 1) / 2]); at = (at - 1) / 2)
        f->heap[at] = f->heap[(at - 1) / 2];
    f->heap[at] = value;
}

static uint32_t pop(families *f) {
    uint32_t first = f->heap[0], last = f->heap[--f->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < f->heap_count; at = child) {
        if (child + 1 < f->heap_count && comes_before(f, f->heap[child + 1], f->heap[child])) child++;
        if (!comes_before(f, f->heap[child], last)) break;
        f->heap[at] = f->heap[child];
    }
    f->heap[at] = last;
    return first;
}

static void make_ready(families *f, uint32_t value) {
    family *of = &f->list[f->family_of[value]];
    push(f, value);
    of->ready++;
    if (of->size >= SHORTEST && of->ready == of->size) f->complete[f->complete_end++] = (uint32_t)(of - f->list);
}

static void emit(families *f, uint32_t value) {
    f->done[value] = true;
    f->order[(*f->ordered)++] = value;
    for (uint32_t e = f->users[value]; e != NONE; e = f->edge[e])
        if (!--f->waiting[e / 3]) make_ready(f, e / 3);
}

/* Gives the members of a family adjacent places, in the order of their keys. */
static void place_members(families *f, family *of) {
    member *members = f->members + of->first;
    uint32_t sorted = 1;
    while (sorted < of->size && by_key(&members[sorted - 1], &members[sorted]) < 0) sorted++;
    if (sorted < of->size) qsort(members, of->size, sizeof *members, by_key);
    for (uint32_t m = 0; m < of->size; m++) {
        program_operation *o = &f->operations[members[m].value];
        if (o->op == PROGRAM_SINCOS) continue; /* has two results */
        o->place = f->places;
        f->position[members[m].value] = (uint32_t)f->count + f->places++;
    }
    of->placed = true;
}

/* Orders the members of a ready family such that their operands are adjacent. Members whose operands are at the same
 * distances are listed together. Their order is that of the first operand that is not a common number or symbol. */
static void place_complete(families *f, family *of) {
    for (member *m = f->members + of->first; m < f->members + of->first + of->size; m++) {
        const program_operation *o = &f->operations[m->value];
        uint32_t place[3] = {0, 0, 0}, base = 0;
        bool common[3] = {true, true, true};
        for (int k = o->arity; k-- > 0;) {
            const program_operation *from = &f->operations[o->arg[k]];
            place[k] = f->position[o->arg[k]];
            common[k] = from->op == PROGRAM_NO_OP && from->definer == o->arg[k] && from->uses >= SHORTEST;
            if (!common[k]) base = place[k];
        }
        for (int k = 0; k < 3; k++)
            if (!common[k]) place[k] -= base; /* unsigned, so that distances wrap around */
        m->key[0] = (uint64_t)place[0] << 32 | place[1];
        m->key[1] = (uint64_t)place[2] << 32 | base;
    }
    place_members(f, of);
}

/* Returns the place of an operand in a family, searched through at most DEPTH operations of other families. */
static uint32_t place_below(const families *f, uint32_t value, int depth) {
    const program_operation *o = &f->operations[value];
    for (int k = 0; k < o->arity; k++) {
        uint32_t from = computed_by(f, o->arg[k]);
        if (from != NONE && f->family_of[from] != f->family_of[value] && f->position[from] != UNPLACED)
            return f->position[from];
    }
    for (int k = 0; k < o->arity && depth > 0; k++) {
        uint32_t from = computed_by(f, o->arg[k]);
        uint32_t found = UNPLACED;
        if (from != NONE && f->family_of[from] != f->family_of[value]) found = place_below(f, from, depth - 1);
        if (found != UNPLACED) return found;
    }
    return UNPLACED;
}

/* The members of a recurrence are computed one after the other. Their places are nevertheless in the order of the
 * bodies, so that later families can read the members in this order. */
static void place_recurrence(families *f, family *of) {
    for (member *m = f->members + of->first; m < f->members + of->first + of->size; m++) {
        m->key[0] = place_below(f, m->value, DEPTH);
        m->key[1] = 0;
    }
    place_members(f, of);
}

/* Returns true if each operand of `second` is the operand of `first` or is at the next place. */
static bool is_adjacent(const families *f, uint32_t first, uint32_t second) {
    const program_operation *a = &f->operations[first], *b = &f->operations[second];
    for (int k = 0; k < a->arity; k++)
        if (f->position[b->arg[k]] - f->position[a->arg[k]] > 1) return false; /* unsigned */
    return true;
}

/* Lists the members of a family that are not listed yet. */
static void emit_family(families *f, family *of) {
    const member *members = f->members + of->first;
    if (!of->placed) {
        place_complete(f, of);
        for (uint32_t m = 1; m < of->size; m++) f->lone += !is_adjacent(f, members[m - 1].value, members[m].value);
    }
    for (uint32_t m = 0; m < of->size; m++)
        if (!f->done[f->members[of->first + m].value]) emit(f, f->members[of->first + m].value);
}

static void emit_one(families *f, uint32_t value) {
    family *of = &f->list[f->family_of[value]];
    if (!of->placed && of->size >= SHORTEST && f->places > 0) place_recurrence(f, of);
    of->placed = true; /* even if the values have no places, because no loop reads them */
    f->lone++;
    emit(f, value);
}

/* Returns true if enough operations can still be part of loops. */
static bool is_regular(const families *f) {
    return PART * f->lone <= f->member_count;
}

/* Moves a complete family to the front of the queue. Prefers a family of the given size, because segments of equal
 * length form one loop. */
static family *next_complete(families *f, uint32_t size) {
    uint32_t *queue = f->complete, first = f->complete_first, best = first;
    for (uint32_t i = first; i < f->complete_end && i < first + LOOK_AHEAD; i++) {
        if (f->list[queue[i]].size != size) continue;
        best = i;
        break;
    }
    uint32_t chosen = queue[best];
    queue[best] = queue[first];
    queue[first] = chosen;
    return &f->list[chosen];
}

static void order_all(families *f) {
    uint32_t size = 0; /* size of the family listed last */
    for (size_t i = 0; i < f->count; i++)
        if (f->family_of[i] != NONE && f->waiting[i] == 0) make_ready(f, (uint32_t)i);
    for (;;) {
        for (; f->complete_first < f->complete_end && is_regular(f);
             size = f->list[f->complete[f->complete_first++]].size)
            emit_family(f, next_complete(f, size));
        if (f->heap_count == 0 || !is_regular(f)) return;
        uint32_t value = pop(f);
        if (!f->done[value]) emit_one(f, value);
    }
}

static bool allocate(families *f) {
    uint32_t **const per_value[] = {&f->family_of, &f->waiting, &f->users,   &f->height,
                                    &f->position,  &f->heap,    &f->complete};
    for (size_t i = 0; i < sizeof per_value / sizeof *per_value; i++)
        *per_value[i] = arena_alloc(&f->memory, f->count, sizeof **per_value);
    f->edge = arena_alloc(&f->memory, 3 * f->count, sizeof *f->edge);
    f->members = arena_alloc(&f->memory, f->count, sizeof *f->members);
    f->list = arena_alloc(&f->memory, f->count, sizeof *f->list);
    f->done = arena_alloc(&f->memory, f->count, sizeof *f->done);
    return !f->memory.failed;
}

/* Returns true if enough operations are in families of at least SHORTEST members. */
static bool has_families(const families *f) {
    size_t inside = 0;
    for (size_t i = 0; i < f->family_count; i++) inside += f->list[i].size >= SHORTEST ? f->list[i].size : 0;
    return PART * inside >= (PART - 1) * f->member_count;
}

/* Orders all operations. Returns true if enough operations form loops. Otherwise, discards the order. */
static bool order_by_families(families *f) {
    const size_t begin = *f->ordered;
    if (!has_families(f)) return false;
    link_operations(f);
    order_all(f);
    if (is_regular(f)) return true;
    for (size_t i = 0; i < f->count; i++) f->operations[i].place = PROGRAM_NO_VALUE;
    *f->ordered = begin;
    return false;
}

hamel_status program_order_families(program_operation *operations, size_t count, uint32_t *order, size_t *ordered,
                                    size_t *places) {
    families f = {.operations = operations, .count = count, .order = order, .ordered = ordered};
    bool good = allocate(&f);
    for (uint32_t i = 0; good && i < count; i++) {
        const program_operation *o = &operations[i];
        bool listed = o->definer == i && o->op != PROGRAM_NO_OP && !o->prepared;
        f.family_of[i] = NONE;
        f.position[i] = o->op == PROGRAM_NO_OP && o->definer == i ? i : UNPLACED;
        if (listed) f.members[f.member_count++].value = i;
    }
    good = good && find_families(&f);
    *places = good && order_by_families(&f) ? f.places : 0;
    arena_free(&f.memory);
    return good ? HAMEL_OK : HAMEL_NO_MEMORY;
}
