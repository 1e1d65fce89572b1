/* print_inertia.c — prints the result of the analysis `inertia` as text. */
#include "clients/cli/commands/simulation.h"

#include <stdio.h>

static void print_numbers(const char *what, const cJSON *first) {
    printf("    %-30s", what);
    for (const cJSON *item = first; item != NULL; item = item->next) printf(" %.9g", item->valuedouble);
    printf("\n");
}

/* Prints a number on one line, or a matrix with one row on each line. */
static void print_tensor(const char *what, const cJSON *tensor) {
    if (cJSON_IsNumber(tensor)) {
        printf("    %-30s %.9g\n", what, tensor->valuedouble);
        return;
    }
    for (const cJSON *row = tensor->child; row != NULL; row = row->next)
        print_numbers(row == tensor->child ? what : "", row->child);
}

static void print_inertia_item(const cJSON *item, const char *about) {
    char transferred[64];
    snprintf(transferred, sizeof transferred, "inertia about %.40s", about);
    printf("    %-30s %.9g\n", "mass", json_number_at(item, "mass"));
    print_numbers("centre of mass", json_first_at(item, "center"));
    print_tensor("inertia about the centre", json_at(item, "inertia"));
    print_numbers("principal moments", json_first_at(item, "principal"));
    if (json_at(item, "axes") != NULL) print_tensor("principal axes (rows)", json_at(item, "axes"));
    print_tensor(transferred, json_at(item, "about"));
}

void cli_print_inertia(const cJSON *inertia) {
    const char *about = json_text_at(inertia, "about");
    if (*about == '\0') about = "the origin";
    printf("\ninertia at the initial state\n");
    for (const cJSON *body = json_first_at(inertia, "bodies"); body != NULL; body = body->next) {
        printf("  %s, in body axes\n", json_text_at(body, "name"));
        print_inertia_item(body, about);
    }
    printf("  system, in inertial axes\n");
    if (cJSON_IsObject(json_at(inertia, "system")))
        print_inertia_item(json_at(inertia, "system"), about);
    else
        printf("    unknown: %s\n", json_text_at(inertia, "reason"));
}
