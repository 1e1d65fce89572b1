/* print_principles.c — prints the results of the analyses `gauss`, `hamilton`, `bracket` and `canonical` as text. */
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

void cli_print_hamilton(const cJSON *hamilton) {
    const cJSON *without = json_at(hamilton, "without_constraints");
    printf("\nHamilton's principle\n");
    printf("%-38s %.9g to %.9g%s\n", "  interval", json_number_at(hamilton, "start"), json_number_at(hamilton, "stop"),
           cJSON_IsTrue(json_at(hamilton, "shortened")) ? ", the time of an event" : "");
    printf("%-38s %.9g\n", "  action", json_number_at(hamilton, "action"));
    printf("%-38s %.9g\n", "  Lagrange's action", json_number_at(hamilton, "lagrange_action"));
    printf("%-38s %.2g\n", "  error of the principle", json_number_at(hamilton, "principle"));
    printf("%-38s %.2g\n", "  error of the law of varying action", json_number_at(hamilton, "varying_action"));
    if (cJSON_IsNumber(without)) printf("%-38s %.2g\n", "  error with inadmissible variations", without->valuedouble);
    printf("%-38s %.2g\n", "  tolerance", json_number_at(hamilton, "tolerance"));
    printf("%-38s %s\n", "  verdict", cJSON_IsTrue(json_at(hamilton, "holds")) ? "it holds" : "IT DOES NOT HOLD");
}

void cli_print_bracket(const cJSON *bracket) {
    const cJSON *zero = json_at(bracket, "zero");
    printf("\nPoisson bracket\n  [%s, %s] = %s\n", json_text_at(bracket, "first"), json_text_at(bracket, "second"),
           json_text_at(bracket, "value"));
    if (cJSON_IsNull(zero)) printf("  0 at random states, but simplification does not prove that it is always 0\n");
}

void cli_print_canonical(const cJSON *canonical) {
    const cJSON *verdict = json_at(canonical, "canonical"), *failing = json_at(canonical, "failing");
    printf("\ncanonical transformation\n");
    printf("%-38s %.0f\n", "  fundamental brackets", json_number_at(canonical, "brackets"));
    if (failing != NULL && failing->child != NULL)
        printf("  [%s, %s] = %s\n", json_text_at(failing, "first"), json_text_at(failing, "second"),
               json_text_at(failing, "value"));
    printf("%-38s %s\n", "  verdict",
           cJSON_IsTrue(verdict)    ? "canonical"
           : cJSON_IsFalse(verdict) ? "not canonical"
                                    : "undecided: simplification does not prove the value of this bracket");
}
