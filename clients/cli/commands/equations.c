/* equations.c — hamel equations: the equations of motion, to be read or compiled. */
#include "clients/cli/simulation.h"

#include <stdio.h>

static int print_equations(void *context, const cJSON *answer) {
    const cJSON *equations = cJSON_GetObjectItemCaseSensitive(answer, "equations");
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(equations, "text");
    (void)context;
    if (!cJSON_IsString(text)) {
        cli_say("the answer has no equations");
        return CLI_SERVER;
    }
    fputs(text->valuestring, stdout);
    return cli_flush_stdout();
}

static int write_file(const cli_arguments *arguments) {
    const char *format = cli_option_value(arguments, "format");
    api_analysis_options asked = api_analysis_default(API_EQUATIONS);
    if (format != NULL && !api_notation_named(format, &asked.notation)) {
        cli_say("unknown format `%s`: text, latex or c", format);
        return CLI_USAGE;
    }
    return cli_analyses(arguments, &asked, print_equations, NULL);
}

static const cli_option options[] = {
    {"format", "NAME", NULL, "text (default), latex or c"},
    {"formulation", "NAME", "simulation.formulation", "lagrange (default) or another: hamel run --help lists them"},
    {"set", "NAME=VALUE", "", "a parameter; matters for c, and where an equation depends on a number"},
    {"server", "URL", NULL, "ask there; default: HAMEL_SERVER, else this process (token: HAMEL_TOKEN)"},
    {0},
};

const cli_command cli_equations = {
    .name = "equations",
    .synopsis = "FILE [OPTIONS]",
    .summary = "write the equations of motion as text, LaTeX or C",
    .about =
        "FILE may be - for standard input.\n\n"
        "Terms are collected by accelerations, multipliers and velocities, their coefficients factored and reduced\n"
        "by the identities of sines and cosines. In the formulations free of reactions the constraints and the\n"
        "quasi-velocities of the description are solved for q' first. Below stand the generalized forces Q, by what\n"
        "they come from: each does the virtual work Q times the displacement of its coordinate. The C functions\n"
        "compute the state's velocities from q', and its rates; they need nothing but <math.h>.\n\n"
        "Examples:\n"
        "  hamel equations pendulum.json\n"
        "  hamel equations disk.json --formulation boltzmann-hamel\n"
        "  hamel equations disk.json --format latex\n"
        "  hamel equations disk.json --format c > disk.c\n",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = write_file,
};
