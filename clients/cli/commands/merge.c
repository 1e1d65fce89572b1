/* merge.c — hamel merge: joins the parts of a sweep into its table. */
#include "clients/cli/commands/sweep_parts.h"
#include "clients/cli/options.h"

static int merge(const cli_arguments *arguments) {
    cli_output out;
    int status = cli_output_open(&out, cli_option_value(arguments, "output"));
    if (status != CLI_OK) return status;
    return cli_output_close(&out, sweep_parts_join(arguments->operands[0], NULL, out.file, out.name));
}

const cli_command cli_merge = {
    .name = "merge",
    .synopsis = "DIR [OPTIONS]",
    .summary = "join the parts of a sweep into its table",
    .about =
        "DIR contains the parts that hamel sweep --out DIR has written, in any number of shards. The table is, byte "
        "for\n"
        "byte, that of a sweep without shards. Missing and duplicate members, damaged parts, and parts of different\n"
        "sweeps are errors.\n\n"
        "Example:\n"
        "  hamel sweep study.json --shard 1/2 --out parts && hamel sweep study.json --shard 2/2 --out parts\n"
        "  hamel merge parts > table.csv\n",
    .options =
        (const cli_option[]){
            {"output", "FILE", NULL, "write the table to FILE (standard output)"},
            {0},
        },
    .operands = {1, 1},
    .run = merge,
};
