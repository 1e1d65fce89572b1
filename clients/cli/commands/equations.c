/* equations.c — hamel equations: prints the equations of motion as text, LaTeX or C, or another form of the equations
 * as text, LaTeX or JSON. */
#include "clients/cli/commands/simulation.h"

#include <stdio.h>

static int print_equations(void *context, const cJSON *answer) {
    const cJSON *equations = json_at(answer, "equations");
    const cJSON *text = json_at(equations, "text");
    const bool *as_json = context;
    if (!cJSON_IsString(text)) {
        cli_say("the response of the server contains no equations");
        return CLI_SERVER;
    }
    if (*as_json) return cli_finish_stdout(cli_print_json(answer));
    fputs(text->valuestring, stdout);
    return cli_flush_stdout();
}

static int write_file(const cli_arguments *arguments) {
    api_analysis_options options = api_analysis_default(API_EQUATIONS);
    static const char *const form_formats[] = {"text", "latex", "json"};
    const char *names[HAMEL_FORM_COUNT];
    size_t form, format;
    for (size_t k = 0; k < HAMEL_FORM_COUNT; k++) names[k] = hamel_forms[k].name;
    int status = cli_option_choice(arguments, "form", names, HAMEL_FORM_COUNT, &form);
    if (status != CLI_OK) return status;
    options.form = (hamel_form)form;
    bool is_motion = options.form == HAMEL_FORM_MOTION;
    status = is_motion ? cli_option_choice(arguments, "format", api_notations, API_NOTATION_COUNT, &format)
                       : cli_option_choice(arguments, "format", form_formats, 3, &format);
    if (status != CLI_OK) return status;
    bool as_json = !is_motion && format == 2;
    options.notation = as_json ? HAMEL_NOTATION_TEXT : (hamel_notation)format;
    return cli_analyses(arguments, &options, print_equations, &as_json);
}

const cli_command cli_equations = {
    .name = "equations",
    .synopsis = "FILE [OPTIONS]",
    .summary = "write the equations of motion as text, LaTeX or C",
    .about =
        "FILE may be - for standard input.\n\n"
        "Terms are collected by accelerations, multipliers and velocities. Their coefficients are factored and\n"
        "simplified by trigonometric identities. In formulations without reactions, the constraints and the\n"
        "quasi-velocities of the description are first solved for q'. The formulations maggi, gibbs-appell,\n"
        "boltzmann-hamel, hadamard, voronets and chaplygin also give each multiplier as an expression\n"
        "lambda(constraint) = ... . Multipliers of redundant constraints are omitted. Voronets' and Chaplygin's "
        "equations\n"
        "begin with the constraints solved for dependent velocities, the coefficients w or t, and the kinetic\n"
        "energy T_o without these velocities. The equations are followed by the generalized forces Q and their "
        "origins. The\n"
        "virtual work of a generalized force is Q times the displacement of its coordinate. With --format c, one\n"
        "function computes the velocities of the state from q', and another function computes the derivatives of\n"
        "the state. The code includes only <math.h>.\n\n"
        "With --form explicit, the kinetic energy T is split into the parts T2, T1 and T0 of degree 2, 1 and 0 in the\n"
        "velocities. The output also contains the coefficients of the explicit equations of motion: the mass matrix\n"
        "M, its Christoffel symbols of the first kind Gamma, the gyroscopic matrix G, and the terms c without\n"
        "velocities. Entries that are 0 are omitted. With --formulation routh, the Routhian is split into R2, R1 and\n"
        "R0. With formulations that eliminate the multipliers (maggi, kane, voronets, ...), T* is the kinetic\n"
        "energy in the free velocities of the constraints. The output then contains the coefficients of the\n"
        "equations in these velocities. It also states whether T* may replace T in Hamel's equations.\n\n"
        "The forms nielsen, tsenov and mangeron-deleanu write the rate T', T'' or T''' of the kinetic energy. The\n"
        "left-hand sides of their equations are derivatives of this rate and of T. The form central writes the\n"
        "equations that follow from the central equation. The equations of these four forms contain multipliers, or\n"
        "are written in the free velocities of the constraints if --formulation eliminates the multipliers. The\n"
        "form jourdain writes the equations that follow from Jourdain's principle for the admissible variations of\n"
        "velocities. They contain no multipliers.\n\n"
        "With --form energy-rate, the output contains the Jacobi integral h, the terms of its rate, and their sum.\n"
        "A remark after each term is its formula, or the reason why the term is 0. If two terms cancel, the remark\n"
        "names the other term. With formulations that eliminate the multipliers, the output contains the energy h*\n"
        "in the free velocities u of the constraints instead of h. The formulations kane and gibbs-appell split the\n"
        "rate of h* into the terms potential and inertia. The other formulations that eliminate the multipliers\n"
        "split it into time, drift and transitivity. The powers of forces and reactions are separate terms. In\n"
        "outputs, energy_rate(NAME) is a term of the rate of h. quasi_energy_rate(NAME) is a term of the rate of h*\n"
        "as the formulation kane splits it.\n\n"
        "Examples:\n"
        "  hamel equations pendulum.json\n"
        "  hamel equations disk.json --formulation boltzmann-hamel\n"
        "  hamel equations disk.json --formulation voronets\n"
        "  hamel equations disk.json --format latex\n"
        "  hamel equations pendulum.json --form explicit --format json\n"
        "  hamel equations disk.json --form central --formulation boltzmann-hamel\n"
        "  hamel equations disk.json --form energy-rate --formulation boltzmann-hamel\n"
        "  hamel equations disk.json --format c > disk.c\n",
    .lists_forms = true,
    .options =
        (const cli_option[]){
            {"format", "NAME", NULL, "print text, latex or c; with --form, print text, latex or json (text)"},
            {"form", "NAME", NULL, "write the equations in this form, see the list below (motion)"},
            {"formulation", "NAME", "simulation.formulation",
             "use this formulation (lagrange); `hamel run --help` lists them"},
            {"set", "NAME=VALUE", "", "set a parameter whose value occurs in C code or in the equations"},
            {"server", "URL", NULL, "analyze on this server instead of locally (HAMEL_SERVER); token: HAMEL_TOKEN"},
            {0},
        },
    .operands = {1, 1},
    .run = write_file,
};
