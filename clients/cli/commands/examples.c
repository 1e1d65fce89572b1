/* examples.c — hamel examples: lists the example systems, or prints one. The examples are compiled into the library. */
#include "clients/cli/options.h"

#include "api/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the name of the example and the name of its system. */
static void print_line(const api_example *example) {
    cJSON *tree = json_parse_trusted(example->json);
    printf("%-40s %s\n", example->name, json_text_at(tree, "name"));
    cJSON_Delete(tree);
}

static int unknown_example(const char *name) {
    size_t count = 0;
    while (api_example_at(count) != NULL) count++;
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t k = 0; names != NULL && k < count; k++) names[k] = api_example_at(k)->name;
    int status = cli_say_unknown("unknown example", "", name, strlen(name), names, names != NULL ? count : 0);
    free(names);
    return status;
}

static int print_examples(const cli_arguments *arguments) {
    if (arguments->operand_count == 0) {
        for (size_t k = 0; api_example_at(k) != NULL; k++) print_line(api_example_at(k));
        return cli_flush_stdout();
    }
    const char *name = arguments->operands[0];
    for (size_t k = 0; api_example_at(k) != NULL; k++) {
        const api_example *example = api_example_at(k);
        if (strcmp(example->name, name) != 0) continue;
        fwrite(example->json, 1, example->length, stdout);
        return cli_flush_stdout();
    }
    return unknown_example(name);
}

const cli_command cli_examples = {
    .name = "examples",
    .synopsis = "[NAME]",
    .summary = "list the shipped systems, or print one",
    .about = "Examples:\n"
             "  hamel examples\n"
             "  hamel examples simple_pendulum > system.json\n"
             "  hamel examples simple_pendulum | hamel run -\n",
    .options = (const cli_option[]){{0}},
    .operands = {0, 1},
    .run = print_examples,
};
