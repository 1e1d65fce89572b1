/* print_linear.c — prints equilibria and linearizations as text, from their JSON. */
#include "clients/cli/commands/simulation.h"

#include <math.h>
#include <stdio.h>

static double number_at(const cJSON *list, int k) {
    const cJSON *item = cJSON_GetArrayItem(list, k);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* Prints "name = value, name = value". */
static void print_named(const char *what, const cJSON *object) {
    if (object == NULL || object->child == NULL) return;
    printf("  %-14s", what);
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        printf(" %s = %.9g%s", item->string, item->valuedouble, item->next != NULL ? "," : "\n");
}

static void print_names(const char *what, const cJSON *list) {
    if (list == NULL || list->child == NULL) return;
    printf("  %-14s", what);
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        printf(" %s%s", item->valuestring, item->next != NULL ? "," : "\n");
}

/* Prints a complex number. Omits a real or imaginary part below 1e-12 of the absolute value. The bound is about 1e4
 * units in the last place, which rounding errors of an eigenvalue can reach. Prints 0 for a number below 1e-16 of
 * `largest`, which is smaller than the rounding error of `largest`. */
static void print_complex(double re, double im, double largest) {
    double size = hypot(re, im), rounding = size < 1e-16 * largest ? size : 1e-12 * size;
    if (fabs(re) <= rounding) re = 0;
    if (fabs(im) <= rounding) im = 0;
    if (im == 0)
        printf("%.9g", re);
    else
        printf("%.9g %c %.9gi", re, im < 0 ? '-' : '+', fabs(im));
}

static void print_eigenvalues(const cJSON *list) {
    double largest = 0;
    if (list == NULL || list->child == NULL) return;
    for (const cJSON *pair = list->child; pair != NULL; pair = pair->next)
        largest = fmax(largest, hypot(number_at(pair, 0), number_at(pair, 1)));
    printf("  %-14s", "eigenvalues");
    for (const cJSON *pair = list->child; pair != NULL; pair = pair->next) {
        printf(" ");
        print_complex(number_at(pair, 0), number_at(pair, 1), largest);
        printf("%s", pair->next != NULL ? "," : "\n");
    }
}

/* Prints, for example, "stable (minimum of the potential), one of a family". */
static void print_stability(const cJSON *e) {
    const cJSON *stable = json_at(e, "stable"), *by = json_at(e, cJSON_IsBool(stable) ? "decided_by" : "reason");
    double dimension = json_number_at(e, "family_dimension");
    printf("  %-14s %s", "stability",
           !cJSON_IsBool(stable)  ? "not decided"
           : cJSON_IsTrue(stable) ? "stable"
                                  : "unstable");
    if (cJSON_IsString(by)) printf(" (%s)", by->valuestring);
    if (cJSON_IsFalse(json_at(e, "isolated"))) {
        printf(", one of a family");
        if (dimension > 1) printf(" of dimension %.0f", dimension);
    }
    printf("\n");
}

static void print_search(const cJSON *search, bool found) {
    const cJSON *note = json_at(search, "note");
    double unsolved = json_number_at(search, "unsolved");
    if (cJSON_IsTrue(json_at(search, "complete"))) {
        printf("\n  no %sequilibria exist, because the equilibrium equations are linear\n", found ? "other " : "");
        return;
    }
    printf("\n  %.0f starts", json_number_at(search, "starts"));
    if (unsolved > 0) printf(", from %.0f of which no equilibrium was found", unsolved);
    printf("%s%s\n", cJSON_IsString(note) ? ": " : "", cJSON_IsString(note) ? note->valuestring : "");
}

void cli_print_equilibria(const cJSON *list, const cJSON *search) {
    printf("\nequilibria\n");
    if (list->child == NULL) printf("  no equilibrium was found\n");
    for (const cJSON *e = list->child; e != NULL; e = e->next) {
        if (e != list->child) printf("\n");
        print_named("coordinates", json_at(e, "coordinates"));
        print_named("velocities", json_at(e, "velocities"));
        print_named("multipliers", json_at(e, "multipliers"));
        print_eigenvalues(json_at(e, "eigenvalues"));
        if (cJSON_IsNumber(json_at(e, "accuracy"))) printf("  %-14s %.2g\n", "accuracy", json_number_at(e, "accuracy"));
        print_stability(e);
    }
    if (search != NULL) print_search(search, list->child != NULL);
}

void cli_print_steady_motions(const cJSON *steady) {
    const cJSON *list = json_at(steady, "motions"), *note = json_at(steady, "note");
    printf("\nsteady motions\n");
    print_names("ignorable", json_at(steady, "ignorable"));
    print_names("constant", json_at(steady, "constant"));
    if (list == NULL || list->child == NULL) printf("  no steady motion was found\n");
    for (const cJSON *e = list != NULL ? list->child : NULL; e != NULL; e = e->next) {
        printf("\n");
        print_named("coordinates", json_at(e, "coordinates"));
        print_named("constant", json_at(e, "constant"));
        if (cJSON_IsFalse(json_at(e, "kept"))) printf("  %-14s some differ from the initial values\n", "velocities");
        print_eigenvalues(json_at(e, "eigenvalues"));
        print_stability(e);
        if (cJSON_IsNull(json_at(e, "stable"))) printf("  %-14s stable\n", "linear theory");
    }
    if (cJSON_IsString(note)) printf("\n  %s\n", note->valuestring);
}

static void print_matrix(const char *name, const cJSON *rows) {
    if (rows == NULL || rows->child == NULL || rows->child->child == NULL) return;
    printf("  %s\n", name);
    for (const cJSON *row = rows->child; row != NULL; row = row->next) {
        printf("   ");
        for (const cJSON *x = row->child; x != NULL; x = x->next)
            printf(" %14.7g", x->valuedouble == 0 ? 0 : x->valuedouble); /* avoids -0 */
        printf("\n");
    }
}

static void print_mode(const cJSON *mode) {
    const cJSON *eigenvalue = json_at(mode, "eigenvalue");
    printf("  ");
    print_complex(number_at(eigenvalue, 0), number_at(eigenvalue, 1), 0);
    printf(": frequency %.9g, damping %.6g\n   ", json_at(mode, "frequency")->valuedouble,
           json_at(mode, "damping")->valuedouble);
    for (const cJSON *x = json_at(mode, "shape")->child; x != NULL; x = x->next) {
        printf(" %s: ", x->string);
        print_complex(number_at(x, 0), number_at(x, 1), 1); /* the largest component of a shape is 1 */
        printf("%s", x->next != NULL ? "," : "\n");
    }
}

void cli_print_linearization(const cJSON *l) {
    const cJSON *steady = json_at(l, "steady"); /* NULL if the server is too old to send it */
    printf("\nlinearization about %s\n", cJSON_IsTrue(json_at(l, "equilibrium")) ? "an equilibrium"
                                         : cJSON_IsTrue(steady)                  ? "a steady motion"
                                         : cJSON_IsFalse(steady)
                                             ? "a state that is not steady; A is valid at this instant only"
                                             : "a state");
    print_named("coordinates", json_at(l, "coordinates"));
    print_named("velocities", json_at(l, "velocities"));
    print_names("state x", json_at(l, "state"));
    print_matrix("A", json_at(l, "A"));
    print_names("inputs p", json_at(l, "inputs"));
    print_matrix("B", json_at(l, "B"));
    printf("\nmodes\n");
    for (const cJSON *mode = json_at(l, "modes")->child; mode != NULL; mode = mode->next) print_mode(mode);
}
