/* units.h — check that the equations of a description are dimensionally homogeneous.
 *
 * The check runs only if a parameter or coordinate has a unit. A quantity without a unit agrees with any unit. Bare
 * numbers have the unit 1, except that 0 agrees with any unit. t is in seconds, and angles are numbers (radians).
 * Values are not converted, so meters and centimeters do not agree.
 *
 * When an expression is bound, its required unit is noted. units_check then visits each node of the expressions that
 * were noted since its previous call. */
#pragma once

#include "engine/system/system.h"

/* Required unit of an expression. E is the unit of energy, taken from the first energy whose unit is known. */
typedef enum unit_rule {
    UNIT_ANY_ONE,     /* any unit, but the expression must be homogeneous */
    UNIT_ENERGY,      /* E */
    UNIT_WORK,        /* E: a force times the quantity along which it acts */
    UNIT_STRIKE,      /* E: a percussion times the velocity of the struck point or coordinate */
    UNIT_POWER,       /* E/s */
    UNIT_ACCELERATED, /* E/s², a Gibbs–Appell function */
    UNIT_FORCE,       /* E divided by the unit of coordinate `index` */
    UNIT_QUASI_FORCE, /* E/s divided by the unit of quasi-velocity `index` */
    UNIT_PARAMETER,   /* the unit of parameter `index`, or a bare number */
    UNIT_INITIAL,     /* the unit of coordinate `index`, or a bare number */
    UNIT_VELOCITY,    /* the unit of the velocity of coordinate `index`, or a bare number */
    UNIT_TIME,        /* s, or a bare number */
    UNIT_NUMBER,      /* no unit */
    UNIT_ANGLE,       /* no unit; the angle of an orientation */
    UNIT_LIKE         /* the unit of node `index`, or a bare number */
} unit_rule;

/* Reads the units of parameters and coordinates, and adds an error for each invalid unit. s->units stays NULL if the
 * description has no units. This is the first step of system_create. */
void units_declare(hamel_system *s);

/* Records an expression and its required unit for units_check. Does nothing for GRAPH_NONE or in a description without
 * units. `pointer` is not copied. */
void units_note(hamel_system *s, graph_node node, const char *pointer, unit_rule rule, size_t index);

/* Does the same as units_note for an expression in parameters that has been bound without error. A plain number is not
 * recorded, because it agrees with any unit. */
void units_note_number(hamel_system *s, const hamel_expression *e, const loop_scope *scope, unit_rule rule,
                       size_t index);

/* Adds an error for each expression with inconsistent units. Call it again after outputs are bound. */
void units_check(hamel_system *s);

/* Returns the unit of a node as text in the arena: "" if unknown, "1" for a number. Call it after units_check. */
const char *units_text(hamel_system *s, graph_node node);
