/* flag.c — see flag.h. */
#include "engine/analyze/flag.h"

#include <string.h>

graph_node flag_symbol(const forms *f, size_t column) {
    graph *g = f->a->system->graph;
    return column < f->coordinate_count ? graph_symbol(g, SYMBOL_COORDINATE, f->coordinates[column])
                                        : graph_symbol(g, SYMBOL_TIME, 0);
}

static size_t free_count(const flag_fields *f) {
    return f->width - f->rank;
}

static flag_scalar entry(const flag_fields *f, size_t r, size_t j) {
    return f->b[r * free_count(f) + j];
}

/* Component r += ± X_j(y) */
static bool add_slope(flag_fields *f, flag_scalar *row, size_t r, int sign, size_t j, flag_scalar y) {
    if (!f->arithmetic->add(f, row, r, sign, NULL, y, f->other[j])) return false;
    for (size_t s = 0; s < f->rank; s++) {
        flag_scalar b = entry(f, s, j);
        if (!f->arithmetic->add(f, row, r, -sign, &b, y, f->pivot[s])) return false;
    }
    return true;
}

/* Component r += ± Z(y) */
static bool add_vertical_slope(flag_fields *f, flag_scalar *row, size_t r, int sign, const flag_scalar *Z,
                               flag_scalar y) {
    for (size_t s = 0; s < f->rank; s++)
        if (!f->arithmetic->add(f, row, r, sign, &Z[s], y, f->pivot[s])) return false;
    return true;
}

/* [X_i, X_j] */
static bool bracket_of_free(flag_fields *f, size_t i, size_t j, flag_scalar *row) {
    for (size_t r = 0; r < f->rank; r++)
        if (!f->arithmetic->begin(f, row, r) || !add_slope(f, row, r, -1, i, entry(f, r, j)) ||
            !add_slope(f, row, r, 1, j, entry(f, r, i)))
            return false;
    return true;
}

/* [X_j, Z] */
static bool bracket_with_vertical(flag_fields *f, size_t j, const flag_scalar *Z, flag_scalar *row) {
    for (size_t r = 0; r < f->rank; r++)
        if (!f->arithmetic->begin(f, row, r) || !add_slope(f, row, r, 1, j, Z[r]) ||
            !add_vertical_slope(f, row, r, 1, Z, entry(f, r, j)))
            return false;
    return true;
}

/* [Y, Z] */
static bool bracket_of_verticals(flag_fields *f, const flag_scalar *Y, const flag_scalar *Z, flag_scalar *row) {
    for (size_t r = 0; r < f->rank; r++)
        if (!f->arithmetic->begin(f, row, r) || !add_vertical_slope(f, row, r, 1, Y, Z[r]) ||
            !add_vertical_slope(f, row, r, -1, Z, Y[r]))
            return false;
    return true;
}

static bool offer(flag_fields *f, flag_scalar *row) {
    bool independent;
    if (!f->arithmetic->keep(f, row, &independent)) return false;
    if (independent) f->count++;
    return true;
}

static bool first_step(flag_fields *f, flag_scalar *row, size_t most) {
    for (size_t i = 1; i < free_count(f); i++)
        for (size_t j = 0; j < i && f->count < most; j++)
            if (!bracket_of_free(f, i, j, row) || !offer(f, row)) return false;
    return true;
}

/* Brackets with the fields that stood before the step, of which an arithmetic may meanwhile have made other ones. */
static bool next_step(flag_fields *f, flag_scalar *row, bool derived, size_t most) {
    size_t before = f->count;
    flag_scalar *fields = arena_alloc(f->memory, before * f->rank, sizeof *fields);
    if (!fields) return false;
    memcpy(fields, f->vertical, before * f->rank * sizeof *fields);
    for (size_t k = 0; k < before; k++) {
        const flag_scalar *Z = fields + k * f->rank;
        for (size_t j = 0; j < free_count(f) && f->count < most; j++)
            if (!bracket_with_vertical(f, j, Z, row) || !offer(f, row)) return false;
        for (size_t i = 0; derived && i < k && f->count < most; i++)
            if (!bracket_of_verticals(f, fields + i * f->rank, Z, row) || !offer(f, row)) return false;
    }
    return true;
}

bool flag_climb(flag_fields *f, bool derived, size_t most, flag_growth *growth) {
    flag_scalar *row = arena_alloc(f->memory, f->rank, sizeof *row);
    f->count = 0;
    growth->steps = 1;
    growth->dimension[0] = free_count(f);
    if (!row) return false;
    for (size_t before = 0; growth->steps < FLAG_STEPS && growth->steps <= f->steps_most; before = f->count) {
        bool good = growth->steps == 1 ? first_step(f, row, most) : next_step(f, row, derived, most);
        if (!good) return false;
        if (f->count == before) return true;
        growth->dimension[growth->steps++] = free_count(f) + f->count;
        if (f->count == most) return true;
    }
    return false;
}
