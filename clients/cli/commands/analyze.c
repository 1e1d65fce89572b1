/* analyze.c — hamel analyze: prints the properties of a system as text or JSON.
 *
 * The text is generated from the JSON, so that local and remote analyses print the same. */
#include "clients/cli/commands/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a count, or "?" if the analysis has not determined it. */
static void print_count(const char *what, const cJSON *object, const char *key) {
    const cJSON *item = json_at(object, key);
    if (cJSON_IsNumber(item))
        printf("%-38s %.0f\n", what, item->valuedouble);
    else
        printf("%-38s ?\n", what);
}

/* Prints `first` and the items after it, separated by `separator`. */
static void print_texts(const cJSON *first, const char *separator) {
    for (const cJSON *item = first; item != NULL; item = item->next)
        printf("%s%s", item->valuestring, item->next != NULL ? separator : "");
}

static void print_list(const char *what, const cJSON *first) {
    printf("%-38s %s", what, first == NULL ? "none" : "");
    print_texts(first, ", ");
    printf("\n");
}

/* Prints the conditions that the analysis assumes, and the quantities that are conserved only on the branches at the
 * initial state. */
static void print_regional(const cJSON *answer) {
    const cJSON *assumed = json_first_at(answer, "assumed");
    for (const cJSON *item = json_first_at(answer, "conserved_while"); item != NULL; item = item->next) {
        printf("%-38s %s while ", "conserved near the initial state", json_text_at(item, "name"));
        print_texts(json_first_at(item, "while"), " and ");
        printf("\n");
    }
    if (assumed == NULL) return;
    printf("%-38s ", "the analysis holds only while");
    print_texts(assumed, " and ");
    printf("\n");
}

/* Prints the verdict of integrability at the initial state if it differs from the verdict for the whole system. */
static void print_start(const cJSON *start) {
    if (!cJSON_IsObject(start)) return;
    const cJSON *conditions = json_first_at(start, "while");
    printf("%-38s %s, %s", "  verdict from the initial state", json_text_at(start, "verdict"),
           conditions != NULL ? "while " : "a singular configuration");
    print_texts(conditions, " and ");
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
    printf("  %-20s %s", json_text_at(c, "name"), json_text_at(c, "kind"));
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        const char *word = cJSON_IsTrue(json_at(c, flags[k].key)) ? flags[k].yes : flags[k].no;
        if (word != NULL) printf(", %s", word);
    }
    printf("\n");
}

static void print_sets(const cJSON *redundancy) {
    const cJSON *sets = json_first_at(redundancy, "sets");
    if (sets != NULL) printf("\nredundant sets of constraints at the initial state\n");
    for (const cJSON *set = sets; set != NULL; set = set->next) {
        printf("  ");
        print_texts(set->child, ", ");
        printf("\n");
    }
}

/* Prints an integral, as in "q1^3*sin(q2) = const", and the constraints from which it follows, as in "from (q1)*c". */
static void print_integral(const cJSON *integral) {
    printf("    %s = const\n      from", json_text_at(integral, "integral"));
    const cJSON *first = json_first_at(integral, "constraints");
    for (const cJSON *term = first; term != NULL; term = term->next) {
        const char *factor = json_text_at(term, "factor"), *name = json_text_at(term, "name");
        bool plus = strcmp(factor, "1") == 0, minus = strcmp(factor, "-1") == 0;
        if (term != first) printf(minus ? " -" : " +");
        if (plus || (minus && term != first))
            printf(" %s", name);
        else
            printf(" (%s)*%s", factor, name);
    }
    printf("\n");
}

static void print_dimensions(const char *what, const cJSON *list, const char *remark) {
    printf("%-38s", what);
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        printf(" %.0f%s", item->valuedouble, item->next != NULL ? "," : "");
    printf("%s\n", remark);
}

static void print_flags(const cJSON *holonomy) {
    const cJSON *derived = json_at(holonomy, "derived_flag"), *growth = json_at(holonomy, "growth");
    if (!cJSON_IsArray(derived) || !cJSON_IsArray(growth)) {
        printf("%-38s ?\n", "  derived systems, dimensions");
        return;
    }
    bool timed = cJSON_IsTrue(json_at(holonomy, "with_time"));
    print_dimensions("  derived systems, dimensions", derived, "");
    print_dimensions("  growth vector", growth, timed ? ", with time as a coordinate" : "");
    print_count("  degree of nonholonomy", holonomy, "degree");
    printf("%-38s %s\n", "  these dimensions are",
           cJSON_IsTrue(json_at(holonomy, "exact")) ? "exact" : "the largest found at random states, without proof");
}

/* Prints the verdict. Adds an explanation to the verdict "none", which could otherwise be read as "not holonomic". */
static void print_verdict(const char *verdict, bool left_out) {
    const char *why = strcmp(verdict, "none") != 0 ? ""
                      : left_out                   ? ": no velocity constraint is linear"
                                                   : ": there are no velocity constraints";
    printf("%-38s %s%s\n", "  verdict", verdict, why);
}

/* Prints the transitivity relation of the quasi-velocity `of`, a sum of gamma*(u_l*D(u_r) - u_r*D(u_l)). D(u) is the
 * virtual displacement of the velocity u. */
static void print_relation(const cJSON *coefficients, const char *of) {
    const char *joint = "";
    printf("  d/dt D(%s) - delta %s = ", of, of);
    for (const cJSON *c = coefficients->child; c != NULL; c = c->next) {
        const char *first = json_text_at(c, "first"), *second = json_text_at(c, "second");
        if (strcmp(json_text_at(c, "of"), of) != 0) continue;
        if (strcmp(second, "t") == 0)
            printf("%s(%s)*D(%s)", joint, json_text_at(c, "value"), first);
        else
            printf("%s(%s)*(%s*D(%s) - %s*D(%s))", joint, json_text_at(c, "value"), second, first, first, second);
        joint = " + ";
    }
    printf("%s\n", *joint == '\0' ? "0" : "");
}

static void print_transitivity(const cJSON *transitivity) {
    const cJSON *coefficients = json_at(transitivity, "coefficients"),
                *velocities = json_at(transitivity, "velocities");
    if (coefficients == NULL || velocities == NULL) return;
    printf("\ntransitivity\n");
    for (const cJSON *c = coefficients->child; c != NULL; c = c->next)
        printf("  gamma[%s; %s, %s] = %s\n", json_text_at(c, "of"), json_text_at(c, "first"), json_text_at(c, "second"),
               json_text_at(c, "value"));
    for (const cJSON *u = velocities->child; u != NULL; u = u->next) print_relation(coefficients, u->valuestring);
}

/* Prints one line for each residual, such as "h.curl h[X, Y, phi] = -1, initially -1". `what` is the name "h.curl h" or
 * "D". If `list` has more than LISTED items, prints only their number. */
static void print_residuals(const char *indent, const char *what, const cJSON *list) {
    enum { LISTED = 4 };
    int count = cJSON_GetArraySize(list);
    if (count > LISTED) printf("%s%s: %d entries are not 0; --format json lists them\n", indent, what, count);
    for (const cJSON *r = count > LISTED || list == NULL ? NULL : list->child; r != NULL; r = r->next) {
        const cJSON *of = json_at(r, "of"), *value = json_at(r, "value"), *expression = json_at(r, "expression");
        printf("%s%s[%s%s", indent, what, of != NULL ? of->valuestring : "", of != NULL ? "; " : "");
        for (const cJSON *v = json_first_at(r, "variables"); v != NULL; v = v->next)
            printf("%s%s", v->valuestring, v->next != NULL ? ", " : "] =");
        printf(" %s", cJSON_IsString(expression) ? expression->valuestring : "a long expression");
        if (cJSON_IsNumber(value)) printf(", initially %.6g", value->valuedouble);
        printf("\n");
    }
}

/* Prints ranks and components of h.curl h for each velocity constraint, and the residuals of Deahna and Bouquet. */
static void print_integrability(const cJSON *integrability) {
    const cJSON *forms = json_first_at(integrability, "forms");
    if (forms != NULL) printf("  integrability of each constraint alone and with the others\n");
    for (const cJSON *f = forms; f != NULL; f = f->next) {
        printf("    %s: rank alone %.0f (2 if integrable), with the others %.0f (%.0f if integrable)\n",
               json_text_at(f, "constraint"), json_number_at(f, "rank"), json_number_at(f, "joint_rank"),
               json_number_at(f, "system_rank"));
        print_residuals("      ", "h.curl h", json_at(f, "frobenius"));
    }
    if (json_first_at(integrability, "solved") != NULL) printf("  residuals of Deahna and Bouquet\n");
    print_residuals("    ", "D", json_at(integrability, "solved"));
}

/* Prints the properties of the constraints. */
static void print_holonomy(const cJSON *answer, const cJSON *constraints) {
    const cJSON *holonomy = json_at(answer, "holonomy"), *left_out = json_first_at(holonomy, "left_out");
    const cJSON *integrals = json_first_at(holonomy, "integrals");
    printf("\nconstraints\n");
    for (const cJSON *c = constraints; c != NULL; c = c->next) print_constraint(c);
    print_sets(json_at(answer, "redundancy"));
    printf("\nholonomy\n");
    print_count("  independent holonomic constraints", holonomy, "holonomic_constraints");
    print_count("  independent velocity constraints", holonomy, "velocity_constraints");
    print_count("  combinations that can be integrated", holonomy, "integrable");
    print_verdict(json_text_at(holonomy, "verdict"), left_out != NULL);
    print_start(json_at(holonomy, "at_start"));
    print_flags(holonomy);
    print_integrability(json_at(holonomy, "integrability"));
    if (left_out != NULL) print_list("  not covered by the verdict", left_out);
    if (integrals != NULL) printf("  integrals found\n");
    for (const cJSON *integral = integrals; integral != NULL; integral = integral->next) print_integral(integral);
}

static void print_structure(const cJSON *answer) {
    const cJSON *structure = json_at(answer, "structure"), *constraints = json_first_at(answer, "constraints");
    const cJSON *unfinished = json_first_at(answer, "unfinished"), *warnings = json_first_at(answer, "warnings");
    if (json_text_at(answer, "name")[0] != '\0') printf("%s\n\n", json_text_at(answer, "name"));
    for (const cJSON *w = warnings; w != NULL; w = w->next)
        printf("warning: %s\n%s", w->valuestring, w->next == NULL ? "\n" : "");
    print_count("coordinates", answer, "coordinates");
    print_count("degrees of freedom", answer, "degrees_of_freedom");
    print_count("dimension of accessible configurations", json_at(answer, "holonomy"), "accessible_dimension");
    print_count("index of the equations", structure, "index");
    print_count("independent blocks", structure, "blocks");
    print_count("entries of M", structure, "mass_entries");
    print_count("entries of A", structure, "constraint_entries");
    printf("%-38s %s\n", "conservative",
           cJSON_IsTrue(json_at(answer, "conservative")) ? "yes" : "not shown by the sufficient test");
    print_list("cyclic coordinates", json_first_at(answer, "cyclic"));
    print_list("conserved", json_first_at(answer, "conserved"));
    if (json_at(answer, "quadrature") != NULL)
        printf("%-38s %s\n", "one freedom remains", json_text_at(json_at(answer, "quadrature"), "time"));
    print_regional(answer);
    if (unfinished != NULL) print_list("unfinished within the work budget", unfinished);
    if (constraints != NULL)
        print_holonomy(answer, constraints);
    else
        printf("\nno constraints\n");
    print_transitivity(json_at(answer, "transitivity"));
}

static void print_difference_check(const cJSON *d) {
    double largest =
        fmax(json_number_at(d, "motion"), fmax(json_number_at(d, "gradients"), json_number_at(d, "rates")));
    if (d == NULL) return;
    printf("%-38s %.2g", "  error against finite differences", largest);
    if (!cJSON_IsTrue(json_at(d, "agree"))) printf(" (`%s`)", json_text_at(d, "worst"));
    if (json_number_at(d, "undecided") > 0)
        printf(" (%.0f comparisons, %.0f undecided)", json_number_at(d, "decided"), json_number_at(d, "undecided"));
    printf("\n");
}

static void print_verification(const cJSON *v) {
    printf("\nverification\n");
    print_list("  formulations", json_first_at(v, "formulations"));
    print_count("  states compared", v, "states");
    print_count("  singular states skipped", v, "singular");
    printf("%-38s %.2g\n", "  largest relative difference", json_number_at(v, "max_relative_difference"));
    print_difference_check(json_at(v, "finite_differences"));
    printf("%-38s %s\n", "  verdict", cJSON_IsTrue(json_at(v, "agree")) ? "they agree" : "THEY DISAGREE");
    for (const cJSON *d = json_first_at(v, "differences"); d != NULL; d = d->next)
        printf("  %-18s accelerations %.2g, reactions %.2g\n", json_text_at(d, "formulation"),
               json_number_at(d, "accelerations"), json_number_at(d, "reactions"));
    for (const cJSON *r = json_first_at(v, "not_applicable"); r != NULL; r = r->next)
        printf("  %-18s not applicable: %s\n", json_text_at(r, "formulation"), json_text_at(r, "reason"));
}

static void print_shock(const cJSON *s) {
    double percussions = json_number_at(s, "percussions");
    printf("  %s\n", json_text_at(s, "event"));
    if (percussions > 0) printf("    %-36s %.0f\n", "percussions", percussions);
    for (const cJSON *c = json_first_at(s, "constraints"); c != NULL; c = c->next) {
        printf("    %-36s type", json_text_at(c, "name"));
        for (const cJSON *type = json_first_at(c, "types"); type != NULL; type = type->next)
            printf(" %.0f%s", type->valuedouble, type->next != NULL ? " or" : "");
        printf("%s\n", cJSON_IsTrue(json_at(c, "certain")) ? "" : ", if active");
    }
    print_count("    unknown velocities", s, "unknown_velocities");
    print_count("    unknown impulses", s, "unknown_impulses");
    print_count("    equations", s, "equations");
    print_count("    degree of indeterminacy", s, "indeterminacy");
    print_list("    theorems", json_first_at(s, "theorems"));
    for (const cJSON *r = json_first_at(s, "not_applicable"); r != NULL; r = r->next)
        printf("    %-18s not applicable: %s\n", json_text_at(r, "name"), json_text_at(r, "reason"));
}

static void print_shocks(const cJSON *impulses) {
    printf("\nimpulses of events\n");
    if (impulses->child == NULL) printf("  none\n");
    for (const cJSON *s = impulses->child; s != NULL; s = s->next) print_shock(s);
}

/* Returns CLI_CHECK_FAILED if the formulations disagree or if Hamilton's principle does not hold, otherwise CLI_OK. */
static int verdict_of(const cJSON *answer) {
    const cJSON *verification = json_at(answer, "verification"), *hamilton = json_at(answer, "hamilton");
    if (hamilton != NULL && !cJSON_IsTrue(json_at(hamilton, "holds"))) return CLI_CHECK_FAILED;
    return verification == NULL || cJSON_IsTrue(json_at(verification, "agree")) ? CLI_OK : CLI_CHECK_FAILED;
}

static void print_text(const cJSON *answer) {
    const cJSON *equilibria = json_at(answer, "equilibria"), *linearization = json_at(answer, "linearization");
    print_structure(answer);
    if (equilibria != NULL) cli_print_equilibria(equilibria, json_at(answer, "equilibrium_search"));
    if (json_at(answer, "steady_motions") != NULL) cli_print_steady_motions(json_at(answer, "steady_motions"));
    if (linearization != NULL) cli_print_linearization(linearization);
    if (json_at(answer, "displacements") != NULL) cli_print_displacements(json_at(answer, "displacements"));
    if (json_at(answer, "forces") != NULL) cli_print_forces(answer);
    if (json_at(answer, "relaxation") != NULL) cli_print_relaxation(json_at(answer, "relaxation"));
    if (json_at(answer, "impulses") != NULL) print_shocks(json_at(answer, "impulses"));
    if (json_at(answer, "gauss") != NULL) cli_print_gauss(json_at(answer, "gauss"));
    if (json_at(answer, "hamilton") != NULL) cli_print_hamilton(json_at(answer, "hamilton"));
    if (json_at(answer, "bracket") != NULL) cli_print_bracket(json_at(answer, "bracket"));
    if (json_at(answer, "canonical") != NULL) cli_print_canonical(json_at(answer, "canonical"));
    if (json_at(answer, "inertia") != NULL) cli_print_inertia(json_at(answer, "inertia"));
    if (json_at(answer, "verification") != NULL) print_verification(json_at(answer, "verification"));
}

static int print_answer(void *context, const cJSON *answer) {
    const bool *as_json = context;
    if (!*as_json) print_text(answer);
    int printed = *as_json ? cli_print_json(answer) : CLI_OK, status = cli_finish_stdout(printed);
    return status != CLI_OK ? status : verdict_of(answer);
}

/* Splits "a,b,c" at the commas into at most `most` names, which point into `text`. Modifies `text`. */
static size_t split_names(char *text, hamel_argument *names, size_t most) {
    size_t count = 0;
    char *rest = text, *name;
    while (count < most && (name = strsep(&rest, ",")) != NULL)
        if (*name != '\0') names[count++] = (hamel_argument){name, ""};
    return count;
}

enum { MOST_FUNCTIONS = 2 * HAMEL_CANONICAL_MOST + 2 };

/* Splits `text` at each `separator` that is not in parentheses or brackets. Stores at most `most` expressions in
 * `functions` and returns their number. The expressions point into `text`, which is modified. `option` is the position
 * that errors in the expressions name. */
static size_t split_functions(char *text, char separator, const char *option, hamel_argument *functions, size_t most) {
    size_t count = 0, depth = 0;
    char *first = text;
    for (char *at = text; count < most; at++) {
        bool ends = *at == '\0';
        if (*at == '(' || *at == '[') depth++;
        if ((*at == ')' || *at == ']') && depth > 0) depth--;
        if (!ends && (depth > 0 || *at != separator)) continue;
        *at = '\0';
        functions[count++] = (hamel_argument){first + strspn(first, " "), option};
        first = at + 1;
        if (ends) break;
    }
    return count;
}

static int say_usage(const char *message) {
    cli_say("%s", message);
    return CLI_USAGE;
}

/* Stores the expressions of --bracket and --canonical in `functions` and `options`. texts[0] and texts[1] are copies of
 * the values of these options, or NULL. The expressions point into the copies. Returns CLI_OK, or CLI_USAGE after
 * reporting an error. */
static int read_functions(char *const *texts, hamel_argument *functions, api_analysis_options *options) {
    static const char option[] = "--canonical";
    hamel_argument halves[3];
    hamel_transformation *t = &options->transformation;
    if (texts[0] != NULL && split_functions(texts[0], ',', "--bracket", functions, 3) != 2)
        return say_usage("--bracket requires two functions F,G, separated by a comma");
    if (texts[0] != NULL) memcpy(options->bracket, functions, sizeof options->bracket);
    if (texts[1] == NULL) return CLI_OK;
    if (split_functions(texts[1], ';', option, halves, 3) != 2)
        return say_usage("--canonical requires Q1,Q2,...;P1,P2,...: new coordinates, a semicolon, and new momenta");
    t->pointer = option;
    t->Q = functions;
    t->Q_count = split_functions((char *)halves[0].name, ',', option, functions, MOST_FUNCTIONS / 2);
    t->P = functions + t->Q_count;
    t->P_count = split_functions((char *)halves[1].name, ',', option, functions + t->Q_count, MOST_FUNCTIONS / 2);
    return CLI_OK;
}

/* Completes copies of the options `others` with --inputs, --bracket and --canonical, and analyses the file. Returns the
 * exit code. */
static int analyze_with(const cli_arguments *arguments, const api_analysis_options *others, bool as_json) {
    api_analysis_options options = *others;
    static const char *const names[] = {"bracket", "canonical", "inputs"};
    hamel_argument inputs[API_MOST_INPUTS], functions[MOST_FUNCTIONS];
    char *texts[3] = {NULL, NULL, NULL};
    int status = CLI_OK;
    for (int k = 0; k < 3; k++) {
        const char *given = cli_option_value(arguments, names[k]);
        if (given != NULL && (texts[k] = strdup(given)) == NULL) status = cli_say_no_memory();
    }
    options.inputs = inputs;
    if (texts[2] != NULL) options.input_count = split_names(texts[2], inputs, API_MOST_INPUTS);
    if (status == CLI_OK) status = read_functions(texts, functions, &options);
    if (status == CLI_OK) status = cli_analyses(arguments, &options, print_answer, &as_json);
    for (int k = 0; k < 3; k++) free(texts[k]);
    return status;
}

static int analyze_file(const cli_arguments *arguments) {
    static const char *const formats[] = {"text", "json"}, *const places[] = {"initial", "equilibrium"},
                             *const notations[] = {"text", "latex"};
    static const struct {
        const char *option;
        api_analyses bit;
    } analyses[] = {{"verify", API_VERIFICATION},     {"equilibrium", API_EQUILIBRIUM},
                    {"linearize", API_LINEARIZATION}, {"forces", API_FORCES},
                    {"relax", API_RELAXATION},        {"displacements", API_DISPLACEMENTS},
                    {"impulses", API_IMPULSES},       {"gauss", API_GAUSS},
                    {"hamilton", API_HAMILTON},       {"bracket", API_BRACKET},
                    {"canonical", API_CANONICAL},     {"inertia", API_INERTIA},
                    {"inertia-about", API_INERTIA}};
    api_analysis_options options = api_analysis_default(API_STRUCTURE);
    size_t format, about, notation;
    int status = cli_option_choice(arguments, "format", formats, 2, &format);
    if (status == CLI_OK) status = cli_option_choice(arguments, "about", places, 2, &about);
    if (status == CLI_OK) status = cli_option_choice(arguments, "notation", notations, 2, &notation);
    if (status == CLI_OK) status = cli_option_whole(arguments, "starts", 0, API_MOST_STARTS, &options.starts);
    if (status != CLI_OK) return status;
    for (size_t k = 0; k < sizeof analyses / sizeof *analyses; k++)
        if (cli_option_value(arguments, analyses[k].option) != NULL) options.analyses |= analyses[k].bit;
    options.relaxed = (hamel_argument){cli_option_value(arguments, "relax"), ""};
    options.inertia_about = (hamel_argument){cli_option_value(arguments, "inertia-about"), ""};
    options.about_equilibrium = about == 1;
    options.forces_notation = options.displacements_notation =
        notation == 1 ? HAMEL_NOTATION_LATEX : HAMEL_NOTATION_TEXT;
    return analyze_with(arguments, &options, format == 1);
}

const cli_command cli_analyze = {
    .name = "analyze",
    .synopsis = "FILE [OPTIONS]",
    .summary = "classify constraints; find integrable ones and conserved quantities",
    .about =
        "FILE may be - for standard input.\n\n"
        "The output always contains the kinds of the constraints, their integrability, and the conserved\n"
        "quantities:\n\n"
        "  Integrability. A velocity constraint may be integrable, alone or in combination with others. The verdict\n"
        "    counts the independent combinations that can be integrated. It holds for motions that satisfy the\n"
        "    holonomic constraints, with time as a coordinate. Dimensions of the derived systems and the growth\n"
        "    vector are exact if they follow from expressions. Otherwise they are ranks at random configurations\n"
        "    near the initial values.\n\n"
        "  Quasi-velocities. The output contains Hamel's coefficients and the transitivity relations, in which D(u)\n"
        "    is the virtual displacement of u.\n\n"
        "  Conserved quantities. The list contains the Jacobi integral and momenta, also of combined shifts and\n"
        "    rotations. It may be incomplete. If these quantities reduce the motion to one variable s, the output\n"
        "    contains the time as an integral over s.\n\n"
        "  Branches. The results hold on all branches of if, abs, min, floor and tables that the analysis found.\n"
        "    The lines `conserved near the initial state` and `verdict from the initial state` show results that\n"
        "    hold only under the listed conditions. They also report a singular initial state, from which fewer\n"
        "    dimensions can be reached.\n\n"
        "Options add the following analyses:\n\n"
        "  --verify: Every formulation that supports the system computes accelerations and reactions at 100 random\n"
        "    admissible states, or at fewer for a large system. The results must agree to 1e-9 of the terms in each\n"
        "    equation of motion. The equations are also compared with finite differences of the energies,\n"
        "    constraints and forces in the description.\n\n"
        "  --equilibrium: The equilibrium equations are solved from the initial values and from random\n"
        "    configurations near them. Cyclic coordinates keep their initial velocities, so steady motions are\n"
        "    found too. Eigenvalues or the leading terms of the potential decide stability. The last line reports\n"
        "    whether other equilibria may exist. If constraints or forces that depend on time exclude rest, an\n"
        "    error names them. For moving systems with velocity constraints, steady motions are listed: some\n"
        "    velocities and all coordinates in the equations are constant.\n\n"
        "  --linearize: The equations are linearized on the constraint manifold, about the state that --about\n"
        "    names.\n\n"
        "  --forces: The generalized forces are listed by origin: Q on coordinates, Theta on quasi-velocities, and\n"
        "    temporal components Q_0 and Theta_0. Each force is impressed or a reaction, and internal, external or\n"
        "    undecided. The output also contains the virtual work on each body, and inertial forces of particles in\n"
        "    moving frames.\n\n"
        "  --displacements: The vectors e_k = dr/dq_k and e_0 = dr/dt are shown for each point, particle and body.\n"
        "    The output also contains the virtual form of each constraint, and a basis of the displacements that\n"
        "    the constraints allow. For quasi-velocities, it contains vectors eps_k, quasi-derivatives and their\n"
        "    commutators. D(x) is the virtual displacement of x, and d(x) its differential.\n\n"
        "  --relax: A constraint is replaced by its reaction (Baruh 4.10). For each coordinate in the constraint,\n"
        "    the output contains the value of the reaction at the initial state. It also contains an expression of\n"
        "    inertia and other forces that equals the reaction.\n\n"
        "  --impulses: For each event with impulses, the constraints are listed with Appell's types (Papastavridis,\n"
        "    ch. 4). The type is 1 if a constraint acts before and after the impulses, 2 if only after, 3 if only\n"
        "    before, otherwise 4. The degree of indeterminacy is the number of constraints of types 3 and 4, for\n"
        "    which restitutions supply equations. Other events decide whether constraints marked `if active` act.\n"
        "    The counts omit these constraints.\n\n"
        "  --gauss: Gauss's function is G = (q'' - a)^T M (q'' - a)/2, where M is the mass matrix and a = M^-1 Q.\n"
        "    In Udwadia's function G_ni, a includes the prescribed forces C of nonideal constraints (Udwadia 2000,\n"
        "    eq. 15, times 1/2). A slope is the derivative along an allowed change d of the accelerations with d^T\n"
        "    M d = 1. All slopes of G_ni vanish. The slopes of G vanish if C does no virtual work.\n\n"
        "  --bracket: F and G are expressions in coordinates x, their momenta p_x, velocities and functions such as\n"
        "    jacobi_integral(), which is H. The bracket is the sum of dF/dx dG/dp_x - dF/dp_x dG/dx. If all forces\n"
        "    have a potential, [F,H] is the rate of F.\n\n"
        "  --canonical: The transformation is canonical if [Qi,Qj] = 0, [Pi,Pj] = 0, [Qi,Pi] = 1, and [Qi,Pj] = 0\n"
        "    for different i and j.\n\n"
        "  --hamilton: The system is run until the stop time or the first event that changes the motion. The first\n"
        "    variation is the integral of dL + Q dq over time, for random virtual displacements dq that the\n"
        "    constraints allow (Hoelder). It must vanish if dq vanishes at both ends (Hamilton's principle).\n"
        "    Otherwise it must equal the change of p dq from start to stop (law of varying action). Errors are\n"
        "    relative to the terms of the integral. For inadmissible variations, the error shows the work of the\n"
        "    reactions.\n\n"
        "  --inertia: Moments and principal axes of each body are in body axes, those of the whole system in\n"
        "    inertial axes. Entries off the diagonal are negative integrals, such as -integral(x*y) dm.\n\n"
        "Examples:\n"
        "  hamel analyze disk.json\n"
        "  hamel analyze pendulum.json --equilibrium\n"
        "  hamel analyze pendulum.json --linearize --about equilibrium --inputs l,g\n"
        "  hamel analyze disk.json --verify\n"
        "  hamel analyze pendulum.json --bracket 'theta, jacobi_integral()'\n"
        "  hamel examples euler_poinsot_body | hamel analyze - --inertia\n"
        "  hamel examples coin_on_incline | hamel analyze - --format json\n",
    .options =
        (const cli_option[]){
            {"format", "NAME", NULL, "print text or json (text)"},
            {"verify", NULL, NULL, "compare all formulations at random states; exit code 1 if they disagree"},
            {"equilibrium", NULL, NULL, "find equilibria and steady motions, and their stability"},
            {"starts", "N", NULL, "use N random starts in addition to the initial values (64)"},
            {"linearize", NULL, NULL, "linearize to x' = A x + B p, with eigenvalues and modes"},
            {"about", "PLACE", NULL, "linearize about the `initial` state or the nearest `equilibrium` (initial)"},
            {"inputs", "NAMES", NULL, "use these parameters p, separated by commas (none)"},
            {"forces", NULL, NULL, "show generalized forces, their classes, and virtual work at the initial state"},
            {"displacements", NULL, NULL, "show virtual displacements, constraints on them, and quasi-derivatives"},
            {"notation", "NAME", NULL, "write the expressions of --displacements and --forces as text or latex (text)"},
            {"relax", "CONSTRAINT", NULL, "show the reaction of this constraint, as values and as expressions"},
            {"impulses", NULL, NULL,
             "show the types of constraints and the degree of indeterminacy for events with impulses"},
            {"gauss", NULL, NULL,
             "show Gauss's functions, their slopes, and ideal and nonideal reactions at the initial state"},
            {"bracket", "F,G", NULL, "show the Poisson bracket of two functions of coordinates and momenta p_x"},
            {"canonical", "Q;P", NULL, "check whether Q1,Q2,...;P1,P2,... is a canonical transformation"},
            {"hamilton", NULL, NULL, "run, and check Hamilton's principle; exit code 1 if the principle does not hold"},
            {"inertia", NULL, NULL, "show masses, centres of mass, and moments of inertia at the initial state"},
            {"inertia-about", "POINT", NULL,
             "--inertia, with moments about this particle, body, point or frame (origin)"},
            {"set", "NAME=VALUE", "", "set a parameter, COORDINATE.initial or COORDINATE.velocity; repeatable"},
            {"server", "URL", NULL, "analyze on this server instead of locally (HAMEL_SERVER); token: HAMEL_TOKEN"},
            {0},
        },
    .operands = {1, 1},
    .run = analyze_file,
};
