/* merge.c — hamel merge: the parts of a sweep joined into its table. */
#include "clients/cli/options.h"
#include "clients/cli/parts.h"

#include <errno.h>
#include <string.h>

static int merge(const cli_arguments *arguments) {
    const char *path = cli_option_value(arguments, "output");
    bool standard = path == NULL || strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "wb");
    if (out == NULL) {
        cli_say("%s: %s", path, strerror(errno));
        return CLI_IO;
    }
    int status = parts_join(arguments->operands[0], NULL, out, standard ? "standard output" : path);
    if (standard) {
        int flushed = status == CLI_IO ? CLI_OK : cli_flush_stdout();
        return flushed != CLI_OK ? flushed : status;
    }
    if (fclose(out) != 0 && status != CLI_IO) {
        cli_say("%s: %s", path, strerror(errno));
        status = CLI_IO;
    }
    return status;
}

static const cli_option options[] = {
    {"output", "FILE", NULL, "the table goes there instead of standard output"},
    {0},
};

const cli_command cli_merge = {
    .name = "merge",
    .synopsis = "DIR [OPTIONS]",
    .summary = "join the parts of a sweep into its table",
    .about =
        "DIR holds what hamel sweep --out DIR has written, by any number of shares. The table is that of the sweep in\n"
        "one go, byte for byte. Missing and doubled members, damaged parts, and parts of different sweeps are "
        "refused.\n\n"
        "Example:\n"
        "  hamel sweep study.json --shard 1/2 --out parts && hamel sweep study.json --shard 2/2 --out parts\n"
        "  hamel merge parts > table.csv\n",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = merge,
};
