/* impact_record.h — fills the report about the impulses of an event (impact.h) while a run applies the event. */
#pragma once

#include "engine/dynamics/dynamics.h"
#include "engine/simulate/impact.h"

/* The data of the shock at one event. Element i of an array of length n belongs to coordinate i, and element c of an
 * array of length m belongs to constraint c. */
typedef struct impact_record {
    hamel_impact impact; /* the report; its arrays are in the arena of impact_record_create */
    const hamel_model *model;
    double *v, *after;             /* n: velocities before and after the impulses */
    double *momentum;              /* n: generalized impulses P of all percussions */
    double *each;                  /* percussions × n: generalized impulses of each percussion, row by row */
    double *rate;                  /* m: rates of the constraint functions before the impulses */
    double *restitution;           /* m: restitutions; 0 for constraints that are not in `impulse` */
    double *multipliers;           /* m: Λ */
    double *impulses;              /* Λ of the constraints in `impulse`, in the order of the description */
    double *scratch;               /* n */
    bool *before, *during;         /* m: true if the constraint acts before (during) the shock */
    bool struck;                   /* true once impact_record_note has filled the report of the event */
    size_t percussion_count;       /* of the event */
    hamel_impact_constraint *list; /* m */
    hamel_impact_theorem theorems[HAMEL_IMPACT_THEOREMS];
    double *kinetic_work; /* workspace of the program events.kinetic, or NULL */
    const char **names;   /* n: names of the coordinates */
} impact_record;

/* Allocates a record for the events of the model in `memory`. Returns NULL if no event has impulses or percussions, or
 * if out of memory (memory->failed). */
impact_record *impact_record_create(const hamel_model *model, arena *memory);

/* Begins the record of an event. active[m]: true for the constraints that are active before the event. */
void impact_record_begin(impact_record *r, const bool *active);

/* Fills the report from the data of the shock. `k` holds the state before the impulses, with the constraints of the
 * shock active and factored. In `data`, v⁻, v⁺ − v⁻ and P have n elements, `multipliers` has m, and `restitutions` has
 * one for each impulse. values[] are the outputs of the program `jumps`. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
typedef struct impact_data {
    const double *v, *change, *momentum, *restitutions, *multipliers;
} impact_data;
hamel_status impact_record_note(impact_record *r, dynamics *k, const model_event *event, const double *values,
                                const impact_data *data) HAMEL_CHECKED;

/* impact_theorems.c: checks the theorems whose hypotheses hold at the state that `k` holds. `odd` is true if T has
 * terms linear in the velocities. Sets r->theorems and r->impact.theorem_count. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status impact_theorems_check(impact_record *r, const dynamics *k, bool odd) HAMEL_CHECKED;
