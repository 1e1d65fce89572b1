/* run.c — hamel run: simulates a file and writes its rows. */
#include "clients/cli/commands/rows_out.h"
#include "clients/cli/commands/simulation.h"

static int run_file(const cli_arguments *arguments) {
    cli_input input;
    rows_out o;
    int status = cli_input_read(&input, arguments->operands[0]);
    if (status == CLI_OK) status = rows_out_open(&o, arguments, input.file);
    if (status == CLI_OK) {
        cli_server server = cli_server_of(arguments);
        api_observer observer = rows_out_observer(&o);
        status = rows_out_finish(&o, cli_simulate(&server, &input, arguments, &observer));
    }
    cli_input_free(&input);
    return status;
}

const cli_command cli_run = {
    .name = "run",
    .synopsis = "FILE [OPTIONS]",
    .summary = "simulate a system and write its rows to standard output",
    .lists_formulations = true,
    .about = "FILE may be - for standard input. VALUE is a number or an expression in parameters.\n\n"
             "Examples:\n"
             "  hamel run pendulum.json > rows.csv\n"
             "  hamel run pendulum.json --set l=2 --set theta.initial=pi/3 --stop 20 --samples 1001\n"
             "  hamel run pendulum.json --sensitivities l,theta.initial\n"
             "  hamel examples chain | hamel run - --format npy --output chain.npy --summary chain-summary.json\n"
             "  hamel run pendulum.json --server http://127.0.0.1:8080 --format ndjson\n",
    .options =
        (const cli_option[]){
            ROWS_OUT_OPTIONS,
            CLI_RUN_OPTIONS,
            {0},
        },
    .operands = {1, 1},
    .run = run_file,
};
