/* print_displacements.c — prints the result of the analysis `displacements` as text. */
#include "clients/cli/commands/simulation.h"

#include <stdio.h>
#include <string.h>

/* Prints the line "    SYMBOLOF = [x, y, z]". Prints nothing if `components` is not an array. */
static void print_vector(const char *symbol, const char *of, const cJSON *components) {
    char label[200];
    if (!cJSON_IsArray(components)) return;
    snprintf(label, sizeof label, "%s%s", symbol, of);
    printf("    %-10s = [", label);
    for (const cJSON *c = components->child; c != NULL; c = c->next)
        printf("%s%s", c->valuestring, c->next != NULL ? ", " : "]\n");
}

static void print_displacement(const cJSON *element, const char *key, const char *what, const char *symbol) {
    static const char *const bases[][2] = {{"e", "e_0"}, {"eps", "eps_0"}, {"beta", "beta_0"}};
    const cJSON *d = json_at(element, key);
    char label[20];
    if (d == NULL) return;
    printf("  %s %s%s\n", json_text_at(element, "kind"), json_text_at(element, "name"), what);
    snprintf(label, sizeof label, "delta %s", symbol);
    print_vector(label, "", json_at(d, "virtual"));
    snprintf(label, sizeof label, "d %s", symbol);
    print_vector(label, "", json_at(d, "real"));
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
        snprintf(label, sizeof label, "%s_", bases[k][0]);
        for (const cJSON *v = json_first_at(d, bases[k][0]); v != NULL; v = v->next)
            print_vector(label, json_text_at(v, "of"), json_at(v, "vector"));
        print_vector(bases[k][1], "", json_at(d, bases[k][1]));
    }
}

/* Prints the line "(x: value, y: value)" for a list that begins with `entry`, or "()" if `entry` is NULL. */
static void print_entries(const cJSON *entry) {
    printf("(");
    for (; entry != NULL; entry = entry->next)
        printf("%s: %s%s", json_text_at(entry, "coordinate"), json_text_at(entry, "value"),
               entry->next != NULL ? ", " : "");
    printf(")\n");
}

static void print_virtual_constraints(const cJSON *first) {
    printf("\nvirtual form of the constraints\n");
    if (first == NULL) printf("  no constraints\n");
    for (const cJSON *c = first; c != NULL; c = c->next) {
        printf("  %s (%s)\n", json_text_at(c, "name"), json_text_at(c, "rule"));
        printf("    %-10s   %s\n", "virtual", json_text_at(c, "virtual"));
        if (cJSON_IsString(json_at(c, "real"))) printf("    %-10s   %s\n", "real", json_text_at(c, "real"));
        printf("    %-10s   ", "normal");
        print_entries(json_first_at(c, "normal"));
    }
}

static void print_regularity(const cJSON *r) {
    const cJSON *rank = json_at(r, "rank"), *branches = json_at(r, "branches");
    double count = json_number_at(r, "holonomic_constraints");
    if (count == 0) return;
    printf("\nholonomic constraints at the initial state\n");
    if (cJSON_IsNumber(rank))
        printf("  rank %.0f of %.0f: %s\n", rank->valuedouble, count,
               cJSON_IsTrue(json_at(r, "regular")) ? "regular" : "not regular");
    if (cJSON_IsNumber(branches))
        printf("  branches of configurations that meet: %.0f\n", branches->valuedouble);
    else
        printf("  branches of configurations that meet: undecided, because %s\n", json_text_at(r, "reason"));
    if (json_first_at(r, "adapted") == NULL) return;
    printf("  adapted coordinates: the functions of the constraints, and");
    for (const cJSON *name = json_first_at(r, "adapted"); name != NULL; name = name->next)
        printf(" %s", name->valuestring);
    printf("\n");
}

static void print_tangents(const cJSON *displacements) {
    const cJSON *tangents = json_at(displacements, "tangents"), *drift = json_at(tangents, "drift");
    if (json_first_at(displacements, "constraints") == NULL) return;
    printf("\nbasis of the virtual displacements that the constraints allow\n");
    if (!cJSON_IsObject(tangents)) {
        printf("  omitted: there are more than 24 coordinates, or solving the constraints exceeds the work budget\n");
        return;
    }
    printf("  dependent coordinates:");
    for (const cJSON *name = json_first_at(tangents, "dependent"); name != NULL; name = name->next)
        printf(" %s", name->valuestring);
    printf("\n");
    for (const cJSON *t = json_first_at(tangents, "vectors"); t != NULL; t = t->next) {
        printf("  D(%s) = 1: ", json_text_at(t, "of"));
        print_entries(json_first_at(t, "entries"));
    }
    if (drift != NULL && drift->child != NULL) {
        printf("  velocities while the independent coordinates are at rest: ");
        print_entries(drift->child);
    }
}

static void print_quasi_derivatives(const cJSON *displacements) {
    const cJSON *derivatives = json_at(displacements, "quasi_derivatives");
    if (derivatives == NULL) return;
    printf("\nquasi-derivatives\n");
    if (!cJSON_IsArray(derivatives))
        printf("  omitted: the expressions of q' in terms of the quasi-velocities are too long\n");
    for (const cJSON *d = derivatives->child; d != NULL; d = d->next)
        printf("  d/d(theta_%s) = %s\n", json_text_at(d, "of"), json_text_at(d, "expression"));
    for (const cJSON *c = json_first_at(displacements, "commutators"); c != NULL; c = c->next)
        printf("  [%s, %s] = %s\n", json_text_at(c, "first"), json_text_at(c, "second"), json_text_at(c, "expression"));
}

void cli_print_displacements(const cJSON *displacements) {
    printf("\nvirtual displacements\n");
    for (const cJSON *e = json_first_at(displacements, "elements"); e != NULL; e = e->next) {
        print_displacement(e, "position", "", "r");
        print_displacement(e, "rotation", ", rotation", "phi");
        print_displacement(e, "body_rotation", ", rotation in its own axes", "phi");
    }
    print_virtual_constraints(json_first_at(displacements, "constraints"));
    print_regularity(json_at(displacements, "regularity"));
    print_tangents(displacements);
    print_quasi_derivatives(displacements);
    if (!cJSON_IsTrue(json_at(displacements, "simplified")))
        printf("  some expressions are not simplified, because the work budget was used up\n");
}
