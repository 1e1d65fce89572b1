/* units.h — are the equations of a description dimensionally homogeneous?
 *
 * Only asked when some parameter or coordinate has a unit. What has none is unknown and agrees with everything; bare numbers
 * have the unit 1, and 0 any. t is in seconds, angles are numbers (radians). Values are used as they are written, so that
 * meters and centimeters do not agree either.
 *
 * While expressions are bound they are noted, with what is expected of them; units_check then walks the nodes behind the
 * notes made since it was called last, each node once. */
#ifndef HAMEL_SYSTEM_UNITS_H
#define HAMEL_SYSTEM_UNITS_H

#include "engine/system/system.h"

/* What an expression has to be. E is the unit of energy: that of the first energy whose unit is known. */
typedef enum unit_rule {
    UNIT_ANY_ONE,     /* homogeneous in itself */
    UNIT_ENERGY,      /* E */
    UNIT_WORK,        /* E: a force times what it acts along */
    UNIT_POWER,       /* E/s */
    UNIT_ACCELERATED, /* E/s², a Gibbs–Appell function */
    UNIT_FORCE,       /* E over the coordinate `index` */
    UNIT_QUASI_FORCE, /* E/s over the quasi-velocity `index` */
    UNIT_PARAMETER,   /* the parameter `index`, or a bare number */
    UNIT_INITIAL,     /* the coordinate `index`, or a bare number */
    UNIT_VELOCITY,    /* the velocity of the coordinate `index`, or a bare number */
    UNIT_TIME,        /* s, or a bare number */
    UNIT_NUMBER,      /* no unit */
    UNIT_ANGLE,       /* the same, of an orientation */
    UNIT_LIKE         /* the node `index`, or a bare number */
} unit_rule;

/* Reads the units of parameters and coordinates; s->units stays NULL when there are none. Faults for those that are no
 * units. The first step of all. */
void units_declare(hamel_system *s);

/* Notes an expression; nothing without units, or for GRAPH_NONE. The pointer is kept. */
void units_note(hamel_system *s, graph_node node, const char *pointer, unit_rule rule, size_t index);

/* The same for an expression of parameters that was bound without fault. */
void units_note_number(hamel_system *s, const hamel_expression *e, const loop_scope *scope, unit_rule rule,
                       size_t index);

/* Faults for what disagrees, one an expression. Again when outputs are bound. */
void units_check(hamel_system *s);

/* Unit of a node as text, in the arena: "" when unknown, "1" for a number. After units_check. */
const char *units_text(hamel_system *s, graph_node node);

#endif
