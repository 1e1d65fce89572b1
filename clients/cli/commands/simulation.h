/* simulation.h — one run of a description, in this process or on a server: an observer sees the same either way, so
 * that the output is the same.
 *
 * On a server the rows come as NDJSON; the observer's `summary` then gets no hamel_summary (NULL), only its JSON. */
#ifndef HAMEL_CLI_SIMULATION_H
#define HAMEL_CLI_SIMULATION_H

#include "api/analyze.h"
#include "api/simulate.h"
#include "clients/cli/exchange.h"
#include "clients/cli/input.h"
#include "clients/cli/options.h"

/* Runs the description with the assignments of the command line applied. What goes wrong is said on stderr, also
 * faults that the observer's `problem` is told. Returns the exit code: CLI_OK, also when the run ended incomplete (the
 * summary tells); CLI_INVALID, CLI_RUN_FAILED, CLI_SERVER; CLI_IO when the observer ended the run by returning
 * false, which it explains itself. */
int cli_simulate(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                 const api_observer *observer);

/* The same for what `source` tells: it gets an observer that passes all on to this one, and returns an exit code. */
int cli_observe(const api_observer *observer, int (*source)(void *context, const api_observer *front), void *context);

/* What one answer to an analysis is worth: prints it, returns the exit code. */
typedef int cli_answer_printer(void *context, const cJSON *answer);

/* Makes the analyses of a file here or on a server and gives the answer to `print`. Returns the exit code. */
int cli_analyses(const cli_arguments *arguments, const api_analysis_options *options, cli_answer_printer *print,
                 void *context);

/* Parts of an analysis as text (print_linear.c). */
void cli_print_equilibria(const cJSON *list, const cJSON *search); /* search: NULL from an older server */
void cli_print_linearization(const cJSON *linearization);

/* The options of commands that run: one text for each. */
/* clang-format off */
#define CLI_SETTING_OPTIONS                                                                                            \
    {"set", "NAME=VALUE", "", "a parameter, COORDINATE.initial, COORDINATE.velocity or simulation.KEY; repeatable"},   \
    {"stop", "TIME", "simulation.stop", "when the run ends"},                                                          \
    {"samples", "N", "simulation.samples", "number of rows, both ends included; replaces step or times"},              \
    {"rtol", "X", "simulation.rtol", "relative tolerance"},                                                            \
    {"atol", "X", "simulation.atol", "absolute tolerance"},                                                            \
    {"method", "NAME", "simulation.method", "auto, adams, bdf or erk"},                                                \
    {"formulation", "NAME", "simulation.formulation", "auto or another: hamel run --help lists them"}
#define CLI_SERVER_OPTION                                                                                              \
    {"server", "URL", NULL, "run there; default: HAMEL_SERVER, else this process (token: HAMEL_TOKEN)"}
#define CLI_RUN_OPTIONS                                                                                                \
    CLI_SETTING_OPTIONS,                                                                                               \
    {"sensitivities", "NAMES", "simulation.sensitivities", "derivatives by these inputs, as columns"},                 \
    {"jit", "WHEN", NULL, "machine code for the equations: auto (default; where it repays), on or off"},               \
    CLI_SERVER_OPTION
/* clang-format on */

#endif
