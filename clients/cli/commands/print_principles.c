/* print_principles.c — prints the analyses of variational principles as text, from their JSON. */
#include "clients/cli/commands/simulation.h"

#include <stdio.h>

static void print_function(const char *name, const cJSON *gauss, const char *key) {
    printf("  %-18s %.9g, largest slope %.3g\n", name, json_number_at(gauss, key),
           json_number_at(json_at(gauss, "largest_slope"), key));
}

void cli_print_gauss(const cJSON *gauss) {
    printf("\nGauss's functions at the initial state\n");
    print_function("gauss()", gauss, "gauss");
    print_function("gauss_nonideal()", gauss, "gauss_nonideal");
    printf("  %-18s %.0f\n", "directions", json_number_at(gauss, "directions"));
    printf("  reactions: ideal, nonideal, prescribed\n");
    for (const cJSON *item = json_first_at(gauss, "reactions"); item != NULL; item = item->next)
        printf("    %-16s %.9g, %.9g, %.9g\n", json_text_at(item, "coordinate"), json_number_at(item, "ideal"),
               json_number_at(item, "nonideal"), json_number_at(item, "prescribed"));
}
