/* equations.c — hamel equations: prints the equations of motion as text, LaTeX or C. */
#include "clients/cli/commands/simulation.h"

#include <stdio.h>

static int print_equations(void *context, const cJSON *answer) {
    const cJSON *equations = json_at(answer, "equations");
    const cJSON *text = json_at(equations, "text");
    (void)context;
    if (!cJSON_IsString(text)) {
        cli_say("the response of the server contains no equations");
        return CLI_SERVER;
    }
    fputs(text->valuestring, stdout);
    return cli_flush_stdout();
}

static int write_file(const cli_arguments *arguments) {
    api_analysis_options options = api_analysis_default(API_EQUATIONS);
    size_t notation;
    int status = cli_option_choice(arguments, "format", api_notations, API_NOTATION_COUNT, &notation);
    if (status != CLI_OK) return status;
    options.notation = (hamel_notation)notation;
    return cli_analyses(arguments, &options, print_equations, NULL);
}

const cli_command cli_equations = {
    .name = "equations",
    .synopsis = "FILE [OPTIONS]",
    .summary = "write the equations of motion as text, LaTeX or C",
    .about =
        "FILE may be - for standard input.\n\n"
        "Terms are collected by accelerations, multipliers and velocities. Their coefficients are factored and\n"
        "simplified by trigonometric identities. In formulations without reactions, the constraints and the\n"
        "quasi-velocities of the description are first solved for q'. The formulations maggi, gibbs-appell and\n"
        "boltzmann-hamel also give each multiplier as an expression, lambda(constraint) = ..., unless the constraint "
        "is\n"
        "redundant. The equations are followed by the generalized forces Q and their origins. The virtual work of a\n"
        "generalized force is Q times the displacement of its coordinate. With --format c, one function computes the\n"
        "velocities of the state from q', and another function computes the derivatives of the state. The code "
        "includes\n"
        "only <math.h>.\n\n"
        "Examples:\n"
        "  hamel equations pendulum.json\n"
        "  hamel equations disk.json --formulation boltzmann-hamel\n"
        "  hamel equations disk.json --format latex\n"
        "  hamel equations disk.json --format c > disk.c\n",
    .options =
        (const cli_option[]){
            {"format", "NAME", NULL, "print text, latex or c (text)"},
            {"formulation", "NAME", "simulation.formulation",
             "use this formulation (lagrange); `hamel run --help` lists them"},
            {"set", "NAME=VALUE", "", "set a parameter whose value occurs in C code or in the equations"},
            {"server", "URL", NULL, "analyze on this server instead of locally (HAMEL_SERVER); token: HAMEL_TOKEN"},
            {0},
        },
    .operands = {1, 1},
    .run = write_file,
};
