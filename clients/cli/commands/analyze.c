/* analyze.c — hamel analyze: what a system is before it moves, as text or JSON.
 *
 * The text is made from the JSON, so that it is the same whoever has computed it. */
#include "clients/cli/simulation.h"

#include "api/analyze.h"
#include "api/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = member(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *item = member(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* A count; "?" where the analysis could not tell. */
static void print_count(const char *what, const cJSON *object, const char *key) {
    const cJSON *item = member(object, key);
    if (cJSON_IsNumber(item))
        printf("%-38s %.0f\n", what, item->valuedouble);
    else
        printf("%-38s ?\n", what);
}

static void print_list(const char *what, const cJSON *list) {
    printf("%-38s", what);
    if (list == NULL || list->child == NULL) printf(" none");
    for (const cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = item->next)
        printf(" %s%s", item->valuestring, item->next != NULL ? "," : "");
    printf("\n");
}

/* Prints the names of a list, joined by ` and `. */
static void print_conditions(const cJSON *list) {
    for (const cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = item->next)
        printf("%s%s", item->valuestring, item->next != NULL ? " and " : "");
}

/* Prints the quantities conserved only on the branches of the start, and the branches that the analysis assumes. */
static void print_regional(const cJSON *answer) {
    const cJSON *list = member(answer, "conserved_while"), *assumed = member(answer, "assumed");
    for (const cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = item->next) {
        printf("%-38s %s while ", "conserved near the start", text_of(item, "name"));
        print_conditions(member(item, "while"));
        printf("\n");
    }
    if (assumed == NULL || assumed->child == NULL) return;
    printf("%-38s ", "all of this holds only while");
    print_conditions(assumed);
    printf("\n");
}

/* Prints the verdict from the start if it differs from that of the system. */
static void print_start(const cJSON *start) {
    if (!cJSON_IsObject(start)) return;
    const cJSON *conditions = member(start, "while");
    printf("%-38s %s", "  verdict from the start", text_of(start, "verdict"));
    if (conditions != NULL && conditions->child != NULL) {
        printf(", while ");
        print_conditions(conditions);
    } else {
        printf(", a singular configuration");
    }
    printf("\n");
    print_count("    combinations that can be integrated", start, "integrable");
    print_count("    accessible dimension", start, "accessible_dimension");
}

static void print_constraint(const cJSON *c) {
    static const struct {
        const char *key, *yes, *no;
    } flags[] = {
        {"linear", NULL, "not linear in the velocities"},
        {"rheonomic", "rheonomic", "scleronomic"},
        {"catastatic", "catastatic", "acatastatic"},
        {"homogeneous", NULL, "not homogeneous"},
        {"ideal", "ideal", "not ideal"},
        {"conservative", "conservative", "not conservative"},
        {"redundant", "redundant", NULL},
        {"unique", NULL, "multiplier not unique"},
    };
    printf("  %-20s %s", text_of(c, "name"), text_of(c, "kind"));
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        const char *word = cJSON_IsTrue(member(c, flags[k].key)) ? flags[k].yes : flags[k].no;
        if (word != NULL) printf(", %s", word);
    }
    printf("\n");
}

static void print_sets(const cJSON *redundancy) {
    const cJSON *sets = member(redundancy, "sets");
    if (sets == NULL || sets->child == NULL) return;
    printf("\ndependent at the start\n");
    for (const cJSON *set = sets->child; set != NULL; set = set->next)
        for (const cJSON *item = set->child; item != NULL; item = item->next)
            printf("%s%s%s", item == set->child ? "  " : "", item->valuestring, item->next != NULL ? ", " : "\n");
}

/* q1^3*sin(q2) = const, from (q1)*c; others from right - left */
static void print_integral(const cJSON *integral) {
    printf("    %s = const\n      from", text_of(integral, "integral"));
    const cJSON *terms = member(integral, "constraints");
    const cJSON *first = terms != NULL ? terms->child : NULL;
    for (const cJSON *term = first; term != NULL; term = term->next) {
        const char *factor = text_of(term, "factor"), *name = text_of(term, "name");
        bool plus = strcmp(factor, "1") == 0, minus = strcmp(factor, "-1") == 0;
        if (term != first) printf(minus ? " -" : " +");
        if (plus || (minus && term != first))
            printf(" %s", name);
        else
            printf(" (%s)*%s", factor, name);
    }
    printf("\n");
}

static void print_integrals(const cJSON *list) {
    if (list == NULL || list->child == NULL) return;
    printf("  integrals found\n");
    for (const cJSON *integral = list->child; integral != NULL; integral = integral->next) print_integral(integral);
}

static void print_dimensions(const char *what, const cJSON *list, const char *remark) {
    printf("%-38s", what);
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        printf(" %.0f%s", item->valuedouble, item->next != NULL ? "," : "");
    printf("%s\n", remark);
}

static void print_flags(const cJSON *holonomy) {
    const cJSON *derived = member(holonomy, "derived_flag"), *growth = member(holonomy, "growth");
    if (!cJSON_IsArray(derived) || !cJSON_IsArray(growth)) {
        printf("%-38s ?\n", "  derived systems, dimensions");
        return;
    }
    bool timed = cJSON_IsTrue(member(holonomy, "with_time"));
    print_dimensions("  derived systems, dimensions", derived, "");
    print_dimensions("  directions, grown by brackets", growth, timed ? ", that of time among them" : "");
    print_count("  degree of nonholonomy", holonomy, "degree");
    printf("%-38s %s\n", "  these dimensions are",
           cJSON_IsTrue(member(holonomy, "exact")) ? "exact" : "the largest found at random states, without proof");
}

/* Of a system without velocity constraints "none" alone would be read as "not holonomic". */
static void print_verdict(const char *verdict, bool left_out) {
    const char *why = strcmp(verdict, "none") != 0 ? ""
                      : left_out                   ? ": no velocity constraint is linear"
                                                   : ": there are no velocity constraints";
    printf("%-38s %s%s\n", "  verdict", verdict, why);
}

/* gamma*(u_l*D(u_r) - u_r*D(u_l)), where D(u) is the virtual displacement that belongs to u. */
static void print_relation(const cJSON *coefficients, const char *of) {
    const char *joint = "";
    printf("  d/dt D(%s) - delta %s = ", of, of);
    for (const cJSON *c = coefficients->child; c != NULL; c = c->next) {
        const char *first = text_of(c, "first"), *second = text_of(c, "second");
        if (strcmp(text_of(c, "of"), of) != 0) continue;
        if (strcmp(second, "t") == 0)
            printf("%s(%s)*D(%s)", joint, text_of(c, "value"), first);
        else
            printf("%s(%s)*(%s*D(%s) - %s*D(%s))", joint, text_of(c, "value"), second, first, first, second);
        joint = " + ";
    }
    printf("%s\n", *joint == '\0' ? "0" : "");
}

static void print_transitivity(const cJSON *transitivity) {
    const cJSON *coefficients = member(transitivity, "coefficients"), *velocities = member(transitivity, "velocities");
    if (coefficients == NULL || velocities == NULL) return;
    printf("\ntransitivity\n");
    for (const cJSON *c = coefficients->child; c != NULL; c = c->next)
        printf("  gamma[%s; %s, %s] = %s\n", text_of(c, "of"), text_of(c, "first"), text_of(c, "second"),
               text_of(c, "value"));
    for (const cJSON *u = velocities->child; u != NULL; u = u->next) print_relation(coefficients, u->valuestring);
}

static void print_warnings(const cJSON *warnings) {
    if (warnings == NULL || warnings->child == NULL) return;
    for (const cJSON *w = warnings->child; w != NULL; w = w->next) printf("warning: %s\n", w->valuestring);
    printf("\n");
}

static void print_text(const cJSON *answer) {
    const cJSON *holonomy = member(answer, "holonomy"), *constraints = member(answer, "constraints");
    const cJSON *left_out = member(holonomy, "left_out");
    if (text_of(answer, "name")[0] != '\0') printf("%s\n\n", text_of(answer, "name"));
    print_warnings(member(answer, "warnings"));
    print_count("coordinates", answer, "coordinates");
    print_count("degrees of freedom", answer, "degrees_of_freedom");
    print_count("dimension of accessible configurations", holonomy, "accessible_dimension");
    print_count("index of the equations", member(answer, "structure"), "index");
    print_count("independent blocks", member(answer, "structure"), "blocks");
    print_count("entries of M", member(answer, "structure"), "mass_entries");
    print_count("entries of A", member(answer, "structure"), "constraint_entries");
    printf("%-38s %s\n", "conservative",
           cJSON_IsTrue(member(answer, "conservative")) ? "yes" : "not by the sufficient test");
    print_list("cyclic coordinates", member(answer, "cyclic"));
    print_list("conserved", member(answer, "conserved"));
    print_regional(answer);
    const cJSON *unfinished = member(answer, "unfinished");
    if (unfinished != NULL && unfinished->child != NULL) print_list("unfinished, too much work", unfinished);
    if (constraints == NULL || constraints->child == NULL) {
        printf("\nno constraints\n");
        print_transitivity(member(answer, "transitivity"));
        return;
    }
    printf("\nconstraints\n");
    for (const cJSON *c = constraints->child; c != NULL; c = c->next) print_constraint(c);
    print_sets(member(answer, "redundancy"));
    printf("\nholonomy\n");
    print_count("  independent holonomic constraints", holonomy, "holonomic_constraints");
    print_count("  independent velocity constraints", holonomy, "velocity_constraints");
    print_count("  combinations that can be integrated", holonomy, "integrable");
    print_verdict(text_of(holonomy, "verdict"), left_out != NULL && left_out->child != NULL);
    print_start(member(holonomy, "at_start"));
    print_flags(holonomy);
    if (left_out != NULL && left_out->child != NULL) print_list("  left out, as not linear", left_out);
    print_integrals(member(holonomy, "integrals"));
    print_transitivity(member(answer, "transitivity"));
}

static void print_difference_check(const cJSON *d) {
    double largest = fmax(number_of(d, "motion"), fmax(number_of(d, "gradients"), number_of(d, "rates")));
    if (d == NULL) return;
    printf("%-38s %.2g", "  largest from finite differences", largest);
    if (!cJSON_IsTrue(member(d, "agree"))) printf(" (`%s`)", text_of(d, "worst"));
    if (number_of(d, "undecided") > 0)
        printf(" (%.0f comparisons, %.0f undecided)", number_of(d, "decided"), number_of(d, "undecided"));
    printf("\n");
}

static void print_verification(const cJSON *v) {
    const cJSON *refused = member(v, "not_applicable");
    printf("\nverification\n");
    print_list("  formulations", member(v, "formulations"));
    print_count("  states compared", v, "states");
    print_count("  singular states skipped", v, "singular");
    printf("%-38s %.2g\n", "  largest relative difference", number_of(v, "max_relative_difference"));
    print_difference_check(member(v, "finite_differences"));
    printf("%-38s %s\n", "  verdict", cJSON_IsTrue(member(v, "agree")) ? "they agree" : "THEY DISAGREE");
    const cJSON *differences = member(v, "differences");
    for (const cJSON *d = differences != NULL ? differences->child : NULL; d != NULL; d = d->next)
        printf("  %-18s accelerations %.2g, reactions %.2g\n", text_of(d, "formulation"), number_of(d, "accelerations"),
               number_of(d, "reactions"));
    for (const cJSON *r = refused != NULL ? refused->child : NULL; r != NULL; r = r->next)
        printf("  %-18s not applicable: %s\n", text_of(r, "formulation"), text_of(r, "reason"));
}

static void print_generalized(const cJSON *list) {
    for (const cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = item->next)
        printf("    %-18s %.9g = %s\n", text_of(item, "coordinate"), number_of(item, "value"),
               text_of(item, "expression"));
}

static void print_forces(const cJSON *forces) {
    printf("\ngeneralized forces at the start\n");
    if (forces->child == NULL) printf("  none\n");
    for (const cJSON *action = forces->child; action != NULL; action = action->next) {
        printf("  %s\n", text_of(action, "from"));
        print_generalized(member(action, "on"));
    }
}

static void print_relaxation(const cJSON *r) {
    printf("\nreaction of %s, relaxed\n", text_of(r, "constraint"));
    printf("  %-20s %.9g\n  on\n", "multiplier", number_of(r, "multiplier"));
    print_generalized(member(r, "reactions"));
}

/* Exit code of an answer that has been given. */
static int verdict_of(const cJSON *answer) {
    const cJSON *verification = member(answer, "verification");
    return verification == NULL || cJSON_IsTrue(member(verification, "agree")) ? CLI_OK : CLI_CHECK_FAILED;
}

static int print_answer(void *context, const cJSON *answer) {
    const bool *as_json = context;
    if (*as_json) {
        char *json = json_text(answer);
        if (json == NULL) {
            cli_say("memory could not be allocated");
            return CLI_IO;
        }
        printf("%s\n", json);
        free(json);
    } else {
        print_text(answer);
        if (member(answer, "equilibria") != NULL)
            cli_print_equilibria(member(answer, "equilibria"), member(answer, "equilibrium_search"));
        if (member(answer, "linearization") != NULL) cli_print_linearization(member(answer, "linearization"));
        if (member(answer, "forces") != NULL) print_forces(member(answer, "forces"));
        if (member(answer, "relaxation") != NULL) print_relaxation(member(answer, "relaxation"));
        if (member(answer, "verification") != NULL) print_verification(member(answer, "verification"));
    }
    int status = cli_flush_stdout();
    return status != CLI_OK ? status : verdict_of(answer);
}

/* "a,b,c" → three names, in `text`, which is cut. */
static size_t split_names(char *text, hamel_argument *names, size_t most) {
    size_t count = 0;
    char *rest = text, *name;
    while (count < most && (name = strsep(&rest, ",")) != NULL)
        if (*name != '\0') names[count++] = (hamel_argument){name, ""};
    return count;
}

static bool read_starts(const char *text, size_t *starts) {
    char *end;
    if (text == NULL) return true;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value > API_MOST_STARTS) return false;
    *starts = value;
    return true;
}

static bool read_place(const char *text, bool *about_equilibrium) {
    *about_equilibrium = text != NULL && strcmp(text, "equilibrium") == 0;
    return text == NULL || *about_equilibrium || strcmp(text, "initial") == 0;
}

static int ask(const cli_arguments *arguments, api_analysis_options *asked, bool as_json) {
    hamel_argument inputs[API_MOST_INPUTS];
    const char *given = cli_option_value(arguments, "inputs");
    char *text = strdup(given != NULL ? given : "");
    if (text == NULL) {
        cli_say("memory could not be allocated");
        return CLI_IO;
    }
    asked->inputs = inputs;
    asked->input_count = split_names(text, inputs, API_MOST_INPUTS);
    int status = cli_analyses(arguments, asked, print_answer, &as_json);
    free(text);
    return status;
}

static int analyze_file(const cli_arguments *arguments) {
    const char *format = cli_option_value(arguments, "format");
    bool as_json = format != NULL && strcmp(format, "json") == 0;
    if (format != NULL && !as_json && strcmp(format, "text") != 0) {
        cli_say("unknown format `%s`: text or json", format);
        return CLI_USAGE;
    }
    api_analysis_options asked = api_analysis_default(API_STRUCTURE);
    if (cli_option_value(arguments, "verify") != NULL) asked.analyses |= API_VERIFICATION;
    if (cli_option_value(arguments, "equilibrium") != NULL) asked.analyses |= API_EQUILIBRIUM;
    if (cli_option_value(arguments, "linearize") != NULL) asked.analyses |= API_LINEARIZATION;
    if (cli_option_value(arguments, "forces") != NULL) asked.analyses |= API_FORCES;
    asked.relaxed = (hamel_argument){cli_option_value(arguments, "relax"), ""};
    if (asked.relaxed.name != NULL) asked.analyses |= API_RELAXATION;
    if (!read_starts(cli_option_value(arguments, "starts"), &asked.starts)) {
        cli_say("--starts needs a whole number up to %d", (int)API_MOST_STARTS);
        return CLI_USAGE;
    }
    if (!read_place(cli_option_value(arguments, "about"), &asked.about_equilibrium)) {
        cli_say("--about needs `initial` or `equilibrium`");
        return CLI_USAGE;
    }
    return ask(arguments, &asked, as_json);
}

static const cli_option options[] = {
    {"format", "NAME", NULL, "text (default) or json"},
    {"verify", NULL, NULL, "compare all formulations at random states; exit code 1 if they disagree"},
    {"equilibrium", NULL, NULL, "find configurations of rest, or of steady motion, and their stability"},
    {"starts", "N", NULL, "random starts of that search besides the initial values (64)"},
    {"linearize", NULL, NULL, "x' = A x + B p on the constraints, with eigenvalues and modes"},
    {"about", "PLACE", NULL, "linearize about the initial state (`initial`) or the nearest `equilibrium`"},
    {"inputs", "NAMES", NULL, "parameters p of the linearization, separated by commas"},
    {"forces", NULL, NULL, "generalized forces at the start, by what they come from"},
    {"relax", "CONSTRAINT", NULL,
     "the reaction that keeps this constraint at the start, and the equations that give it"},
    {"set", "NAME=VALUE", "", "a parameter, COORDINATE.initial or COORDINATE.velocity; may be repeated"},
    {"server", "URL", NULL, "ask there; default: HAMEL_SERVER, else this process (token: HAMEL_TOKEN)"},
    {0},
};

const cli_command cli_analyze = {
    .name = "analyze",
    .synopsis = "FILE [OPTIONS]",
    .summary = "classify constraints, tell which can be integrated and what is conserved",
    .about =
        "FILE may be - for standard input.\n\n"
        "A velocity constraint may be a holonomic one in disguise: alone, or together with others. The verdict\n"
        "counts the independent combinations that can be integrated, with time as a coordinate and the\n"
        "holonomic constraints taken as given. The dimensions of the derived systems, and of the directions as\n"
        "brackets add to them, are exact where expressions show them, and else ranks at random configurations near\n"
        "the initial values. Of quasi-velocities Hamel's coefficients are told, and how variations and rates differ:\n"
        "D(u) is the virtual displacement that belongs to u.\n\n"
        "The verdict and the conserved quantities hold on all branches of if, abs, min, floor and tables that were\n"
        "reached. `conserved near the start` and `verdict from the start` give the conditions under which more\n"
        "holds, or name a singular start from which fewer dimensions can be reached.\n\n"
        "With --verify, accelerations and reactions of every formulation that serves the system are computed at\n"
        "100 random states (fewer of a large system) that satisfy the constraints, and must agree to 1e-9 of the\n"
        "terms in each equation of motion. The equations are also compared with finite differences of the energies,\n"
        "constraints and forces as they are written.\n\n"
        "With --equilibrium, equations of rest are solved from the initial values and from random configurations\n"
        "around them. Cyclic coordinates that have an initial velocity keep it: steady motions. Each equilibrium is\n"
        "stable, unstable or not decided, by eigenvalues or by the leading terms of the potential, and isolated or\n"
        "one of a family. The last line reports whether the search may have missed equilibria. Constraints and\n"
        "forces that change with time and allow no rest are refused by name.\n\n"
        "With --relax, a constraint is taken away and its reaction put in its place (Baruh 4.10): on each coordinate\n"
        "that it contains the value at the start, and the expression of inertia and other forces it is equal to.\n\n"
        "Examples:\n"
        "  hamel analyze disk.json\n"
        "  hamel analyze pendulum.json --equilibrium\n"
        "  hamel analyze pendulum.json --linearize --about equilibrium --inputs l,g\n"
        "  hamel analyze disk.json --verify\n"
        "  hamel examples coin_on_incline | hamel analyze - --format json\n",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = analyze_file,
};
