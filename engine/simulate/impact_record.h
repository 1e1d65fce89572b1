/* impact_record.h — collects the report about the impulses of an event while a run applies the event. */
#pragma once

#include "engine/dynamics/dynamics.h"
#include "engine/simulate/impact.h"

/* The data of a shock. Arrays with n or m entries are indexed by coordinates or constraints. */
typedef struct impact_record {
    hamel_impact impact; /* the report; its arrays belong to the arena of the record */
    const hamel_model *model;
    double *v, *after;             /* n: velocities before and after the impulses */
    double *momentum;              /* n: generalized impulses P of all percussions */
    double *each;                  /* percussions × n: generalized impulses of each percussion, row by row */
    double *rate;                  /* m: rates of the constraints before the impulses */
    double *restitution;           /* m: restitutions; 0 for constraints without an impulse in the description */
    double *multipliers;           /* m: Λ */
    double *impulses;              /* m: Λ of the constraints in `impulse` */
    double *scratch;               /* n */
    bool *before, *during;         /* m: whether the constraint acts */
    bool struck;                   /* true once the impulses of the event have been noted */
    size_t percussion_count;       /* of the event */
    hamel_impact_constraint *list; /* m */
    hamel_impact_theorem theorems[HAMEL_IMPACT_THEOREMS];
    double *kinetic_work; /* workspace of the program events.kinetic, or NULL */
    const char **names;   /* n: names of the coordinates */
} impact_record;

/* Returns a record for the events of the model, or NULL if no event has impulses or if out of memory (memory->failed). */
impact_record *impact_record_create(const hamel_model *model, arena *memory);

/* Begins an event with these active constraints (m). */
void impact_record_begin(impact_record *r, const bool *active);

/* Notes the data of the shock, before the velocities change. `k` holds the state before the impulses, with the
 * constraints of the shock active and factored. v, change, momentum: n; restitutions: one for each impulse; multipliers:
 * m. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
typedef struct impact_data {
    const double *v, *change, *momentum, *restitutions, *multipliers;
} impact_data;
hamel_status impact_record_note(impact_record *r, dynamics *k, const model_event *event, const double *values,
                                const impact_data *data) HAMEL_CHECKED;

/* impact_theorems.c: checks the theorems that apply, at the state that `k` holds. `odd` is true if T has terms
 * linear in the velocities. Sets r->impact.theorem_count. Returns HAMEL_OK
 * or HAMEL_NO_MEMORY. */
hamel_status impact_theorems_check(impact_record *r, const dynamics *k, bool odd) HAMEL_CHECKED;
