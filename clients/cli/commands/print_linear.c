/* print_linear.c — equilibria and linearizations as text, from their JSON. */
#include "clients/cli/simulation.h"

#include <math.h>
#include <stdio.h>

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *item = member(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static double number_at(const cJSON *list, int k) {
    const cJSON *item = cJSON_GetArrayItem(list, k);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* name = value, name = value */
static void print_named(const char *what, const cJSON *object) {
    if (object == NULL || object->child == NULL) return;
    printf("  %-14s", what);
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        printf(" %s = %.9g%s", item->string, item->valuedouble, item->next != NULL ? "," : "\n");
}

/* Parts that are rounding of the other are left out, and what is rounding beside the largest of its list. */
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

/* "stable (minimum of the potential), one of a family" */
static void print_stability(const cJSON *e) {
    const cJSON *stable = member(e, "stable"), *by = member(e, cJSON_IsBool(stable) ? "decided_by" : "reason");
    const cJSON *dimension = member(e, "family_dimension");
    printf("  %-14s %s", "stability",
           !cJSON_IsBool(stable)  ? "not decided"
           : cJSON_IsTrue(stable) ? "stable"
                                  : "unstable");
    if (cJSON_IsString(by)) printf(" (%s)", by->valuestring);
    if (cJSON_IsFalse(member(e, "isolated"))) {
        printf(", one of a family");
        if (cJSON_IsNumber(dimension) && dimension->valuedouble > 1)
            printf(" of dimension %.0f", dimension->valuedouble);
    }
    printf("\n");
}

static void print_search(const cJSON *search, bool found) {
    const cJSON *note = member(search, "note");
    double unsolved = number_of(search, "unsolved");
    if (cJSON_IsTrue(member(search, "complete"))) {
        printf("\n  there are %s, because the equations of rest are linear\n", found ? "no others" : "none");
        return;
    }
    printf("\n  %.0f starts", number_of(search, "starts"));
    if (unsolved > 0) printf(", %.0f of them without a result", unsolved);
    printf("%s%s\n", cJSON_IsString(note) ? ": " : "", cJSON_IsString(note) ? note->valuestring : "");
}

void cli_print_equilibria(const cJSON *list, const cJSON *search) {
    printf("\nequilibria\n");
    if (list->child == NULL) printf("  none was found\n");
    for (const cJSON *e = list->child; e != NULL; e = e->next) {
        if (e != list->child) printf("\n");
        print_named("coordinates", member(e, "coordinates"));
        print_named("velocities", member(e, "velocities"));
        print_named("multipliers", member(e, "multipliers"));
        print_eigenvalues(member(e, "eigenvalues"));
        if (cJSON_IsNumber(member(e, "accuracy"))) printf("  %-14s %.2g\n", "accuracy", number_of(e, "accuracy"));
        print_stability(e);
    }
    if (search != NULL) print_search(search, list->child != NULL);
}

static void print_matrix(const char *name, const cJSON *rows) {
    if (rows == NULL || rows->child == NULL || rows->child->child == NULL) return;
    printf("  %s\n", name);
    for (const cJSON *row = rows->child; row != NULL; row = row->next) {
        printf("   ");
        for (const cJSON *x = row->child; x != NULL; x = x->next)
            printf(" %14.7g", x->valuedouble == 0 ? 0 : x->valuedouble); /* no -0 */
        printf("\n");
    }
}

static void print_names(const char *what, const cJSON *list) {
    if (list == NULL || list->child == NULL) return;
    printf("  %-14s", what);
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        printf(" %s%s", item->valuestring, item->next != NULL ? "," : "\n");
}

static void print_mode(const cJSON *mode) {
    const cJSON *eigenvalue = member(mode, "eigenvalue");
    printf("  ");
    print_complex(number_at(eigenvalue, 0), number_at(eigenvalue, 1), 0);
    printf(": frequency %.9g, damping %.6g\n   ", member(mode, "frequency")->valuedouble,
           member(mode, "damping")->valuedouble);
    for (const cJSON *x = member(mode, "shape")->child; x != NULL; x = x->next) {
        printf(" %s: ", x->string);
        print_complex(number_at(x, 0), number_at(x, 1), 1); /* the largest of a shape */
        printf("%s", x->next != NULL ? "," : "\n");
    }
}

void cli_print_linearization(const cJSON *l) {
    const cJSON *steady = member(l, "steady"); /* absent from an older server */
    printf("\nlinearization about %s\n", cJSON_IsTrue(member(l, "equilibrium")) ? "an equilibrium"
                                         : cJSON_IsTrue(steady)                 ? "a steady motion"
                                         : cJSON_IsFalse(steady)
                                             ? "a state that is not steady: A holds at this instant only"
                                             : "a state");
    print_named("coordinates", member(l, "coordinates"));
    print_named("velocities", member(l, "velocities"));
    print_names("state x", member(l, "state"));
    print_matrix("A", member(l, "A"));
    print_names("inputs p", member(l, "inputs"));
    print_matrix("B", member(l, "B"));
    printf("\nmodes\n");
    for (const cJSON *mode = member(l, "modes")->child; mode != NULL; mode = mode->next) print_mode(mode);
}
