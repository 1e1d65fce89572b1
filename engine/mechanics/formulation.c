/* formulation.c — the table of formulations. */
#include "engine/mechanics/formulation.h"

#include <string.h>

static const formulation *const formulations[] = {&formulation_lagrange, &formulation_udwadia_kalaba};
enum { FORMULATION_COUNT = sizeof formulations / sizeof *formulations };

const formulation *formulation_at(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index] : NULL;
}

const formulation *formulation_named(const char *name) {
    if (!name || strcmp(name, "auto") == 0) return &formulation_lagrange; /* it copes with redundant constraints, too */
    for (size_t i = 0; i < FORMULATION_COUNT; i++)
        if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
    return NULL;
}

const char *hamel_formulation_name(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index]->name : NULL;
}
const char *hamel_formulation_summary(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index]->summary : NULL;
}
