/* unit.h — units of measure as powers of the base units and a scale: what equations are checked with. */
#ifndef HAMEL_SYSTEM_UNIT_H
#define HAMEL_SYSTEM_UNIT_H

#include "engine/base/error.h"
#include "engine/base/text_buffer.h"

#include <stdbool.h>

/* Radians are numbers: they have no base unit of their own. */
enum { UNIT_BASES = 7 };

typedef struct unit {
    double scale;             /* in units of the bases: 0.01 for cm */
    double power[UNIT_BASES]; /* of kg, m, s, A, K, mol, cd; roots make fractions */
} unit;

extern const unit unit_one;

/* Reads a unit as UDUNITS-2 does. HAMEL_INVALID when there is none of that text, or one with an offset (degrees Celsius),
 * an origin or a logarithm, which cannot stand in products; *why then tells, in static words. HAMEL_INTERNAL when the
 * library's list of units cannot be read. Any thread: the library, which keeps global state, is behind a lock. */
hamel_status unit_parse(const char *text, unit *out, const char **why) HAMEL_CHECKED;

unit unit_times(unit a, unit b, double power); /* a · b^power */
bool unit_same_dimension(const unit *a, const unit *b);
bool unit_same(const unit *a, const unit *b); /* of one scale, too, up to rounding */

bool unit_is_degree(const unit *u); /* times any powers */

/* Text that UDUNITS reads back: "kg m^2/s^2", "0.01 m", "1" for a number. */
void unit_print(const unit *u, text_buffer *out);

#endif
