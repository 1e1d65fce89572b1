/* redundancy_report.c — the names of redundant constraints. */
#include "engine/dynamics/redundancy_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void redundancy_names(const redundancy *r, const hamel_model *model, size_t set, char *text, size_t size) {
    size_t first = r->first[set], last = r->first[set + 1];
    text[0] = '\0';
    for (size_t k = first, at = 0; k < last && at + 1 < size; k++) {
        const char *join = k == first ? "" : k + 1 == last ? " and " : ", ";
        int n = snprintf(text + at, size - at, "%s`%s`", join, model->system->constraints[r->items[k]].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* Appends the name of constraint c to the texts at *at. The block contains, in this order, the report, the sets, the
 * pointers to names, and the texts. */
static const char *copy_name(const hamel_model *model, size_t c, char **at) {
    const char *name = model->system->constraints[c].name, *copy = *at;
    *at = stpcpy(*at, name) + 1;
    return copy;
}

hamel_redundancy *redundancy_report(const redundancy *r, const hamel_model *model) {
    size_t names = r->first[r->count], bytes = 0;
    for (size_t k = 0; k < names; k++) bytes += strlen(model->system->constraints[r->items[k]].name) + 1;
    size_t lists = sizeof(hamel_redundancy) + (r->count + 1) * sizeof(hamel_names);
    hamel_redundancy *out = calloc(1, lists + 2 * (names + 1) * sizeof(char *) + 2 * bytes + 1);
    if (!out) return NULL;
    out->rank = r->rank;
    out->set_count = r->count;
    out->sets = (hamel_names *)(out + 1);
    const char **list = (const char **)((char *)out + lists);
    char *text = (char *)(list + 2 * (names + 1));
    for (size_t k = 0; k < r->count; k++) {
        out->sets[k] = (hamel_names){list, r->first[k + 1] - r->first[k]};
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) *list++ = copy_name(model, r->items[i], &text);
    }
    out->not_unique.items = list;
    for (size_t c = 0; c < model->m && names > 0; c++)
        if (r->involved[c]) out->not_unique.items[out->not_unique.count++] = copy_name(model, c, &text);
    return out;
}
