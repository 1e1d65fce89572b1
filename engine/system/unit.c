/* unit.c — the algebra of units. */
#include "engine/system/unit.h"

#include <math.h>

static const char *const symbols[UNIT_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd"};

/* Relative difference below which powers or scales are equal. Rounding errors of sums and products of few factors are far smaller. */
static const double UNIT_ROUNDING = 1e-9;

static const double DEGREE = 3.14159265358979323846 / 180;

const unit unit_one = {.scale = 1};

unit unit_times(unit a, unit b, double power) {
    unit out = {.scale = a.scale * pow(b.scale, power)};
    for (int k = 0; k < UNIT_BASES; k++) out.power[k] = a.power[k] + power * b.power[k];
    return out;
}

bool unit_same_dimension(const unit *a, const unit *b) {
    for (int k = 0; k < UNIT_BASES; k++)
        if (!(fabs(a->power[k] - b->power[k]) <= UNIT_ROUNDING)) return false;
    return true;
}

bool unit_same(const unit *a, const unit *b) {
    return unit_same_dimension(a, b) && fabs(a->scale - b->scale) <= UNIT_ROUNDING * fmax(a->scale, b->scale);
}

bool unit_is_degree(const unit *u) {
    return fabs(u->scale - DEGREE) <= UNIT_ROUNDING * DEGREE;
}

static void print_power(const char *symbol, double power, text_buffer *out) {
    text_buffer_puts(out, symbol);
    if (power == 1) return;
    text_buffer_puts(out, "^");
    text_buffer_number(out, fabs(power - round(power)) <= UNIT_ROUNDING ? round(power) : power);
}

void unit_print(const unit *u, text_buffer *out) {
    const char *gap = "";
    bool whole = fabs(u->scale - 1) <= UNIT_ROUNDING;
    if (unit_is_degree(u))
        text_buffer_puts(out, "degree");
    else if (!whole)
        text_buffer_printf(out, "%.9g", u->scale);
    if (!whole) gap = " ";
    for (int k = 0; k < UNIT_BASES; k++) {
        if (!(u->power[k] > UNIT_ROUNDING)) continue;
        text_buffer_puts(out, gap);
        print_power(symbols[k], u->power[k], out);
        gap = " ";
    }
    if (!*gap) text_buffer_puts(out, "1");
    for (int k = 0; k < UNIT_BASES; k++) {
        if (!(u->power[k] < -UNIT_ROUNDING)) continue;
        text_buffer_puts(out, "/");
        print_power(symbols[k], -u->power[k], out);
    }
}
