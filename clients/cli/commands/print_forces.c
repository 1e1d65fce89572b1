/* print_forces.c — prints the results of the analyses `forces` and `relaxation` as text. */
#include "clients/cli/commands/simulation.h"

#include <stdio.h>
#include <string.h>

static void print_force(const char *label, const cJSON *item) {
    printf("    %-18s %.9g = %s\n", label, json_number_at(item, "value"), json_text_at(item, "expression"));
}

static void print_generalized(const cJSON *first) {
    for (const cJSON *item = first; item != NULL; item = item->next)
        print_force(json_text_at(item, "coordinate"), item);
}

/* Prints whether a force is impressed or a reaction, whether it is internal or external, and the bodies between which it
 * acts. */
static void print_classes(const cJSON *action) {
    const cJSON *between = json_at(action, "between"), *scope = json_at(action, "scope");
    if (json_at(action, "nature") == NULL) return; /* the server has an older version */
    printf("    %-18s %s, %s", "class", json_text_at(action, "nature"),
           cJSON_IsString(scope) ? scope->valuestring : "internal or external: undecided");
    if (between != NULL) printf(" (%s, %s)", between->child->valuestring, between->child->next->valuestring);
    printf("\n");
}

/* Prints Q_0, the forces Theta on quasi-velocities, and Theta_0. Temporal components that are 0 or unknown are omitted. */
static void print_quasi(const cJSON *action) {
    const cJSON *temporal = json_at(action, "temporal"), *quasi = json_at(action, "quasi_temporal");
    char label[200];
    if (cJSON_IsObject(temporal) && strcmp(json_text_at(temporal, "expression"), "0") != 0)
        print_force("Q_0", temporal);
    for (const cJSON *item = json_first_at(action, "quasi"); item != NULL; item = item->next) {
        snprintf(label, sizeof label, "Theta_%s", json_text_at(item, "velocity"));
        print_force(label, item);
    }
    if (cJSON_IsObject(quasi) && strcmp(json_text_at(quasi, "expression"), "0") != 0) print_force("Theta_0", quasi);
}

static void print_actions(const char *title, const cJSON *actions, const char *key) {
    printf("\n%s at the initial state\n", title);
    if (actions->child == NULL) printf("  none\n");
    for (const cJSON *action = actions->child; action != NULL; action = action->next) {
        printf("  %s\n", json_text_at(action, key));
        print_generalized(json_first_at(action, "on"));
        print_classes(action);
        print_quasi(action);
    }
}

static void print_body(const cJSON *body) {
    printf("  %s %s\n", json_text_at(body, "kind"), json_text_at(body, "name"));
    for (const cJSON *force = json_first_at(body, "forces"); force != NULL; force = force->next) {
        printf("   %s %s (%s)\n", strcmp(json_text_at(force, "nature"), "reaction") == 0 ? "reaction of" : "from",
               json_text_at(force, "from"),
               cJSON_IsString(json_at(force, "scope")) ? json_text_at(force, "scope") : "undecided");
        print_generalized(json_first_at(force, "on"));
    }
    printf("   inertia\n");
    print_generalized(json_first_at(body, "inertia"));
    if (!cJSON_IsArray(json_at(body, "reactions"))) return;
    printf("   all reactions: inertia minus impressed forces\n");
    print_generalized(json_first_at(body, "reactions"));
}

static void print_virtual_work(const cJSON *work) {
    const cJSON *bodies = json_first_at(work, "bodies"), *reason = json_at(work, "omitted");
    if (bodies == NULL && !cJSON_IsString(reason)) return;
    printf("\nvirtual work on each body: coefficients of the virtual displacements\n");
    if (cJSON_IsString(reason)) printf("  omitted: %s\n", reason->valuestring);
    for (const cJSON *body = bodies; body != NULL; body = body->next) print_body(body);
    if (bodies != NULL && cJSON_IsArray(json_at(work, "sum"))) {
        printf("  sum of all reactions on all bodies\n");
        print_generalized(json_first_at(work, "sum"));
    }
    if (bodies != NULL && cJSON_IsString(json_at(work, "reactions_omitted")))
        printf("  reactions omitted: %s\n", json_text_at(work, "reactions_omitted"));
}

static void print_inertial(const cJSON *first) {
    static const char *const parts[] = {"origin", "euler", "centrifugal", "coriolis", "relative"};
    if (first != NULL) printf("\ninertial forces in the axes of the frame, at the initial state\n");
    for (const cJSON *motion = first; motion != NULL; motion = motion->next) {
        printf("  %s in %s\n", json_text_at(motion, "particle"), json_text_at(motion, "frame"));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            const cJSON *part = json_at(motion, parts[k]), *value = json_first_at(part, "values");
            const cJSON *text = json_first_at(part, "expressions");
            for (int c = 0; value != NULL && text != NULL; value = value->next, text = text->next, c++)
                printf("    %-16s %c %.9g = %s\n", c == 0 ? parts[k] : "", "xyz"[c % 3], value -> valuedouble,
                       text -> valuestring);
        }
    }
}

void cli_print_forces(const cJSON *answer) {
    const cJSON *reactions = json_at(answer, "reactions");
    print_actions("generalized forces", json_at(answer, "forces"), "from");
    if (reactions != NULL && reactions->child != NULL) print_actions("generalized reactions", reactions, "constraint");
    print_virtual_work(json_at(answer, "virtual_work"));
    print_inertial(json_first_at(answer, "inertial_forces"));
}

void cli_print_relaxation(const cJSON *r) {
    printf("\nreaction of %s, relaxed\n", json_text_at(r, "constraint"));
    printf("  %-20s %.9g\n  on\n", "multiplier", json_number_at(r, "multiplier"));
    print_generalized(json_first_at(r, "reactions"));
}
