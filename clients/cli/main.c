/* main.c — hamel COMMAND: table of commands and dispatch. */
#include "clients/cli/options.h"
#include "engine/hamel.h"

#include <stdio.h>
#include <string.h>

static const cli_command *const commands[] = {
    &cli_run,    &cli_check, &cli_analyze, &cli_equations, &cli_plot, &cli_sweep,    &cli_merge, &cli_submit,
    &cli_status, &cli_wait,  &cli_results, &cli_cancel,    &cli_jobs, &cli_examples, &cli_new,   &cli_worker};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out) {
    fprintf(out, "hamel %s: motion of constrained mechanical systems from a description in JSON\n\n", HAMEL_VERSION);
    fprintf(out, "usage: hamel COMMAND [OPTIONS] ...\n\n");
    for (size_t k = 0; k < COMMAND_COUNT; k++) fprintf(out, "  %-10s %s\n", commands[k]->name, commands[k]->summary);
    fprintf(out, "\nUse `hamel COMMAND --help` for the options of a command and examples.\n"
                 "First steps: hamel new > system.json, then hamel run system.json\n\n"
                 "Exit codes: 0 success, 1 a check failed, 2 usage, 3 invalid description, 4 the integration failed\n"
                 "or is incomplete, 5 server or network, 6 files and memory.\n\n"
                 "Environment: HAMEL_SERVER is the URL of a daemon, and HAMEL_TOKEN is a token for the daemon.\n"
                 "SSL_CERT_FILE names a file of trusted certificates.\n");
}

static int unknown_command(const char *name) {
    const char *names[COMMAND_COUNT];
    for (size_t k = 0; k < COMMAND_COUNT; k++) names[k] = commands[k]->name;
    int status = cli_say_unknown("unknown command", "", name, strlen(name), names, COMMAND_COUNT);
    fprintf(stderr, "usage: hamel COMMAND [OPTIONS] ...   with COMMAND one of");
    for (size_t k = 0; k < COMMAND_COUNT; k++) fprintf(stderr, "%s %s", k > 0 ? "," : "", names[k]);
    fprintf(stderr, "\n");
    return status;
}

static const cli_command *find_command(const char *name) {
    for (size_t k = 0; k < COMMAND_COUNT; k++)
        if (strcmp(commands[k]->name, name) == 0) return commands[k];
    return NULL;
}

static int run_command(const cli_command *command, int count, char **argv) {
    cli_arguments arguments;
    int status = cli_arguments_parse(&arguments, command, count, argv);
    if (status == CLI_OK && arguments.help) {
        cli_command_help(command);
        status = cli_flush_stdout();
    } else if (status == CLI_OK) {
        status = command->run(&arguments);
    }
    cli_arguments_free(&arguments);
    return status;
}

static bool is(const char *text, const char *one, const char *other) {
    return strcmp(text, one) == 0 || strcmp(text, other) == 0;
}

int main(int count, char **argv) {
    if (count < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (is(name, "--version", "version")) {
        printf("hamel %s\n", HAMEL_VERSION);
        return cli_flush_stdout();
    }
    bool help = is(name, "--help", "help") || strcmp(name, "-h") == 0;
    const cli_command *command = find_command(help && count > 2 ? argv[2] : name);
    if (help && command == NULL && count == 2) {
        print_usage(stdout);
        return cli_flush_stdout();
    }
    if (command == NULL) return unknown_command(help ? argv[2] : name);
    if (!help) return run_command(command, count - 2, argv + 2);
    cli_command_help(command);
    return cli_flush_stdout();
}
