/* unit.h — units of measure as powers of the base units and a scale. */
#pragma once

#include "engine/base/error.h"
#include "engine/base/text_buffer.h"

#include <stdbool.h>

/* Number of base units. Radians are plain numbers, without a base unit. */
enum { UNIT_BASES = 7 };

typedef struct unit {
    double scale;             /* size in base units: 0.01 for cm */
    double power[UNIT_BASES]; /* exponents of kg, m, s, A, K, mol, cd; fractions after roots */
} unit;

extern const unit unit_one;

/* Reads a unit in the notation of UDUNITS-2. Returns HAMEL_INVALID if the text is not a unit. Also returns
 * HAMEL_INVALID for units with an offset (degrees Celsius), an origin or a logarithm, because their products are
 * undefined. On failure, sets *why to a static text with the reason. Returns HAMEL_INTERNAL if the library's list of
 * units cannot be read. Thread-safe: a lock protects the library's global state. */
hamel_status unit_parse(const char *text, unit *out, const char **why) HAMEL_CHECKED;

unit unit_times(unit a, unit b, double power); /* a · b^power */
bool unit_same_dimension(const unit *a, const unit *b);
bool unit_same(const unit *a, const unit *b); /* the same powers and scale, up to rounding */

bool unit_is_degree(const unit *u); /* true if the scale is that of a degree, for any powers of base units */

/* Prints a unit in the notation of UDUNITS: "kg m^2/s^2", "0.01 m", "1" for a number. */
void unit_print(const unit *u, text_buffer *out);
