/* quantity_names.c — finds the forms of form_residual() and the terms of energy_rate() and quasi_energy_rate() by
 * name. */
#include "engine/system/system.h"

#include <string.h>

int32_t residual_form_find(const char *name, const char **expected) {
    static const char *const names[RESIDUAL_FORMS] = {[RESIDUAL_NIELSEN] = "nielsen",
                                                      [RESIDUAL_TSENOV] = "tsenov",
                                                      [RESIDUAL_MANGERON_DELEANU] = "mangeron_deleanu",
                                                      [RESIDUAL_JOURDAIN] = "jourdain",
                                                      [RESIDUAL_CENTRAL] = "central"};
    *expected = "nielsen, tsenov, mangeron_deleanu, jourdain or central";
    for (int32_t k = 0; k < RESIDUAL_FORMS; k++)
        if (strcmp(names[k], name) == 0) return k;
    return -1;
}

int32_t energy_term_find(const char *name, bool quasi, const char **expected) {
    static const struct {
        const char *text;
        bool of[2];
    } terms[ENERGY_TERMS] = {
#define X(name, text, of_energy, of_quasi_energy) {text, {of_energy, of_quasi_energy}},
        ENERGY_TERM_LIST(X)
#undef X
    };
    *expected = quasi ? "impressed, dissipation, potential, inertia, reactions, nonideal and friction"
                      : "impressed, dissipation, time, reactions, nonideal and friction";
    for (int32_t k = 0; k < ENERGY_TERMS; k++)
        if (terms[k].of[quasi] && strcmp(terms[k].text, name) == 0) return k;
    return -1;
}
