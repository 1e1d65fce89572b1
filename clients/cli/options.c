/* options.c — see options.h. getopt is not used, because the table of options also supplies the help, the suggestions
 * for unknown options, and the keys of a description. */
#include "clients/cli/options.h"

#include "engine/equations/equations.h"
#include "engine/hamel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 40 };

static size_t option_count(const cli_command *command) {
    size_t count = 0;
    while (command->options[count].name != NULL) count++;
    return count;
}

static int usage(const cli_command *command) {
    fprintf(stderr, "usage: hamel %s %s   (see hamel %s --help)\n", command->name, command->synopsis, command->name);
    return CLI_USAGE;
}

static int unknown_option(const cli_command *command, const char *name, size_t length) {
    const char *names[OPTIONS_MAX];
    size_t count = option_count(command);
    assert(count <= OPTIONS_MAX);
    for (size_t k = 0; k < count; k++) names[k] = command->options[k].name;
    (void)cli_say_unknown("unknown option", "--", name, length, names, count);
    return usage(command);
}

static bool add_assignment(cli_arguments *a, const char *key, const char *value) {
    const char *equals = key[0] != '\0' ? "=" : "";
    size_t bytes = strlen(key) + strlen(equals) + strlen(value) + 1;
    char *text = malloc(bytes);
    if (text == NULL) return false;
    snprintf(text, bytes, "%s%s%s", key, equals, value);
    a->assignments[a->assignment_count++] = text;
    return true;
}

/* Writes the valid values of an option to `names` and returns their number. If the option accepts any value, returns
 * 0. */
static size_t choices(const cli_option *option, const char *names[OPTIONS_MAX]) {
    static const char *const methods[] = {"auto", "adams", "bdf", "erk"};
    const char *key = option->assigns != NULL ? option->assigns : "";
    size_t count = 0;
    if (strcmp(key, "simulation.method") == 0) {
        for (; count < sizeof methods / sizeof methods[0]; count++) names[count] = methods[count];
    } else if (strcmp(key, "simulation.formulation") == 0) {
        names[count++] = "auto";
        for (size_t k = 0; hamel_formulation_name(k) != NULL && count < OPTIONS_MAX; k++)
            names[count++] = hamel_formulation_name(k);
    }
    return count;
}

static int check_choice(const cli_command *command, const cli_option *option, const char *value) {
    const char *names[OPTIONS_MAX];
    size_t count = choices(option, names);
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], value) == 0) return CLI_OK;
    if (count == 0) return CLI_OK;
    char what[60];
    snprintf(what, sizeof what, "--%s: unknown %s", option->name, option->name);
    (void)cli_say_unknown(what, "", value, strlen(value), names, count);
    return usage(command);
}

static int keep_option(cli_arguments *a, size_t index, const char *value) {
    const cli_option *option = &a->command->options[index];
    if (check_choice(a->command, option, value) != CLI_OK) return CLI_USAGE;
    a->values[index] = value;
    if (option->assigns == NULL) return CLI_OK;
    if (option->assigns[0] == '\0' && strchr(value, '=') == NULL) {
        cli_say("--%s needs NAME=VALUE, not `%s`", option->name, value);
        return usage(a->command);
    }
    if (add_assignment(a, option->assigns, value)) return CLI_OK;
    return cli_say_no_memory();
}

/* Parses argv[*at], which begins with "--", and sets *at to the index of the last argument used. */
static int parse_option(cli_arguments *a, int count, char **argv, int *at) {
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (length == 4 && memcmp(name, "help", 4) == 0) {
        a->help = true;
        return CLI_OK;
    }
    const cli_option *options = a->command->options;
    size_t index = 0;
    while (options[index].name != NULL &&
           (strlen(options[index].name) != length || memcmp(options[index].name, name, length) != 0))
        index++;
    if (options[index].name == NULL) return unknown_option(a->command, name, length);
    if (options[index].value == NULL) {
        if (value == NULL) return keep_option(a, index, "");
        cli_say("--%s does not accept a value", options[index].name);
        return usage(a->command);
    }
    if (value == NULL && *at + 1 < count) value = argv[++*at];
    if (value == NULL) {
        cli_say("--%s needs a value: %s", options[index].name, options[index].value);
        return usage(a->command);
    }
    return keep_option(a, index, value);
}

static int check_operands(const cli_arguments *a) {
    const cli_command *command = a->command;
    if (a->operand_count < command->operands.least) {
        if (strncmp(command->synopsis, "FILE", 4) == 0)
            cli_say("%s: FILE is missing; use - for standard input", command->name);
        else
            cli_say("%s: %.*s is missing", command->name, (int)strcspn(command->synopsis, " ."), command->synopsis);
        return usage(command);
    }
    if (a->operand_count <= command->operands.most) return CLI_OK;
    cli_say("%s: unexpected argument `%s`", command->name, a->operands[command->operands.most]);
    return usage(command);
}

int cli_arguments_parse(cli_arguments *a, const cli_command *command, int count, char **argv) {
    *a = (cli_arguments){.command = command};
    size_t places = (size_t)count + 1;
    a->values = calloc(option_count(command) + 1, sizeof *a->values);
    a->operands = calloc(places, sizeof *a->operands);
    a->assignments = calloc(places, sizeof *a->assignments);
    if (a->values == NULL || a->operands == NULL || a->assignments == NULL) return cli_say_no_memory();
    bool options_end = false;
    for (int k = 0; k < count; k++) {
        const char *text = argv[k];
        if (options_end || text[0] != '-' || text[1] == '\0') {
            a->operands[a->operand_count++] = text;
        } else if (strcmp(text, "--") == 0) {
            options_end = true;
        } else if (strcmp(text, "-h") == 0) {
            a->help = true;
        } else if (text[1] == '-') {
            int status = parse_option(a, count, argv, &k);
            if (status != CLI_OK) return status;
        } else {
            cli_say("unknown option %s; options begin with two dashes", text);
            return usage(command);
        }
    }
    return a->help ? CLI_OK : check_operands(a);
}

void cli_arguments_free(cli_arguments *a) {
    for (size_t k = 0; k < a->assignment_count; k++) free(a->assignments[k]);
    free(a->assignments);
    free(a->operands);
    free(a->values);
    *a = (cli_arguments){0};
}

const char *cli_option_value(const cli_arguments *a, const char *name) {
    for (size_t k = 0; a->command->options[k].name != NULL; k++)
        if (strcmp(a->command->options[k].name, name) == 0) return a->values[k];
    return NULL;
}

int cli_option_choice(const cli_arguments *a, const char *name, const char *const *names, size_t count,
                      size_t *choice) {
    const char *value = cli_option_value(a, name);
    *choice = 0;
    while (value != NULL && *choice < count && strcmp(names[*choice], value) != 0) ++*choice;
    if (*choice < count) return CLI_OK;
    char list[200];
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        const char *joint = k == 0 ? "" : k + 1 == count ? " or " : ", ";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", joint, names[k]);
        assert(used < sizeof list);
    }
    cli_say("unknown %s `%s`: %s", name, value, list);
    return CLI_USAGE;
}

int cli_option_whole(const cli_arguments *a, const char *name, size_t least, size_t most, size_t *value) {
    const char *text = cli_option_value(a, name);
    size_t number = 0;
    const char *at = text;
    if (text == NULL) return CLI_OK;
    for (; *at >= '0' && *at <= '9' && number <= most; at++) number = 10 * number + (size_t)(*at - '0');
    if (at > text && *at == '\0' && number >= least && number <= most) {
        *value = number;
        return CLI_OK;
    }
    cli_say("--%s must be a whole number from %zu to %zu, not `%s`", name, least, most, text);
    return CLI_USAGE;
}

static void print_formulations(void) {
    printf("\nFormulations:\n");
    for (size_t i = 0; hamel_formulation_name(i) != NULL; i++)
        printf("  %-22s %s\n", hamel_formulation_name(i), hamel_formulation_summary(i));
}

static void print_forms(void) {
    printf("\nForms:\n");
    for (size_t i = 0; i < HAMEL_FORM_COUNT; i++) printf("  %-22s %s\n", hamel_forms[i].name, hamel_forms[i].summary);
}

void cli_command_help(const cli_command *command) {
    printf("usage: hamel %s %s\n\n%s\n", command->name, command->synopsis, command->summary);
    if (command->options[0].name != NULL) printf("\nOptions:\n");
    for (size_t k = 0; command->options[k].name != NULL; k++) {
        const cli_option *option = &command->options[k];
        char left[60];
        snprintf(left, sizeof left, "--%s %s", option->name, option->value != NULL ? option->value : "");
        bool listed = command->lists_formulations && strcmp(option->name, "formulation") == 0;
        printf("  %-22s %s\n", left, listed ? "use this formulation, see the list below (auto)" : option->help);
    }
    if (command->lists_formulations) print_formulations();
    if (command->lists_forms) print_forms();
    printf("\n%s", command->about);
}
