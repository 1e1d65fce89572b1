/* simulation.h — runs and analyses of a description, in this process or on a server. The observer receives the same
 * calls in both cases, with one exception: for a run on a server, `summary` receives NULL instead of a
 * hamel_summary. */
#pragma once

#include "api/analyze.h"
#include "clients/cli/options.h"
#include "clients/cli/remote/exchange.h"

/* Runs the description with the assignments of the command line. Prints all errors to stderr, also errors that the
 * observer receives as `problem`. If the run is completed or incomplete, returns CLI_OK. If the observer canceled the
 * run, and reported the reason, returns CLI_IO. Otherwise returns CLI_INVALID, CLI_RUN_FAILED or CLI_SERVER. */
int cli_simulate(const cli_server *server, const cli_input *input, const cli_arguments *arguments,
                 const api_observer *observer);

/* Calls `source` with an observer `front`. `source` forwards a run to `front` and returns an exit code. `front`
 * forwards the run to `observer` and prints errors. If `front` printed an error, returns the exit code of that error,
 * otherwise the exit code of `source`. */
int cli_observe(const api_observer *observer, int (*source)(void *context, const api_observer *front), void *context);

/* Print the warnings of a summary, each after the name `file`. For an incomplete run, the last warning is the reason
 * why the run ended early. Return CLI_RUN_FAILED for an incomplete run, otherwise CLI_OK. */
int cli_say_warnings(const cJSON *summary, const char *file);
int cli_say_warnings_of(const char *summary_json, const char *file);

/* Prints the results of an analysis and returns the exit code. */
typedef int cli_answer_printer(void *context, const cJSON *answer);

/* Analyses a file in this process or on a server, and passes the results to `print`. Returns the exit code. */
int cli_analyses(const cli_arguments *arguments, const api_analysis_options *options, cli_answer_printer *print,
                 void *context);

/* Print results of analyses as text to standard output (print_linear.c, print_forces.c, print_displacements.c). */
void cli_print_steady_motions(const cJSON *steady);
void cli_print_equilibria(const cJSON *list, const cJSON *search); /* `search`: NULL from an old server */
void cli_print_linearization(const cJSON *linearization);
void cli_print_displacements(const cJSON *displacements);
void cli_print_forces(const cJSON *answer);
void cli_print_relaxation(const cJSON *r);

/* Print the results of the analyses `gauss`, `hamilton`, `bracket` and `canonical` as text (print_principles.c). */
void cli_print_gauss(const cJSON *gauss);
void cli_print_hamilton(const cJSON *hamilton);
void cli_print_bracket(const cJSON *bracket);
void cli_print_canonical(const cJSON *canonical);
void cli_print_inertia(const cJSON *inertia); /* print_inertia.c */

/* Options shared by several commands. */
/* clang-format off */
#define CLI_SETTING_OPTIONS                                                                                            \
    {"set", "NAME=VALUE", "", "set a parameter, COORDINATE.initial, COORDINATE.velocity or simulation.KEY; repeatable"},   \
    {"stop", "TIME", "simulation.stop", "end the run at this time"},                                                          \
    {"samples", "N", "simulation.samples", "output N rows, both ends included; replaces step and times"},              \
    {"rtol", "X", "simulation.rtol", "set the relative tolerance"},                                                            \
    {"atol", "X", "simulation.atol", "set the absolute tolerance"},                                                            \
    {"method", "NAME", "simulation.method", "integrate by auto, adams, bdf or erk (auto)"},                                                \
    {"formulation", "NAME", "simulation.formulation", "use this formulation (auto); `hamel run --help` lists them"}
#define CLI_SERVER_OPTION                                                                                              \
    {"server", "URL", NULL, "run on this server instead of locally (HAMEL_SERVER); token: HAMEL_TOKEN"}
#define CLI_RUN_OPTIONS                                                                                                \
    CLI_SETTING_OPTIONS,                                                                                               \
    {"sensitivities", "NAMES", "simulation.sensitivities", "add columns with derivatives with respect to these inputs"},                 \
    {"jit", "WHEN", NULL, "compile the equations to machine code: auto, on or off (auto: if it saves time)"},               \
    CLI_SERVER_OPTION
/* clang-format on */
