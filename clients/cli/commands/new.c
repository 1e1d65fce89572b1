/* new.c — hamel new: prints a small, complete description to start from. JSON has no comments, so the parts are
 * explained in `description` strings. */
#include "clients/cli/options.h"

#include <stdio.h>

static const char *const starting_point[] = {
    "{",
    "  \"hamel\": 1,",
    "  \"name\": \"My pendulum\",",
    "  \"description\": \"A point mass on a massless rod, in Cartesian coordinates. The energies define inertia and "
    "gravity. The "
    "constraint fixes the length of the rod. x' is the velocity of x.\",",
    "  \"parameters\": {",
    "    \"m\": {\"value\": 1, \"description\": \"mass; a parameter is a number, or an expression of other "
    "parameters\"},",
    "    \"l\": {\"value\": 1, \"description\": \"length of the rod\"},",
    "    \"g\": {\"value\": 9.81, \"description\": \"gravity; hamel run --set g=1.62 computes the motion on the "
    "Moon\"}",
    "  },",
    "  \"coordinates\": [",
    "    {\"name\": \"x\", \"initial\": \"l*sin(1)\", \"description\": \"horizontal; without the key velocity, the "
    "initial "
    "velocity is 0\"},",
    "    {\"name\": \"y\", \"initial\": \"-l*cos(1)\", \"velocity\": 0, \"description\": \"upward\"}",
    "  ],",
    "  \"kinetic_energy\": \"m*(x'^2 + y'^2)/2\",",
    "  \"potential_energy\": \"m*g*y\",",
    "  \"constraints\": [{\"name\": \"rod\", \"equation\": \"x^2 + y^2 = l^2\"}],",
    "  \"outputs\": {\"angle\": \"atan2(x, -y)\", \"tension\": \"-2*l*lambda(rod)\"},",
    "  \"invariants\": [{\"name\": \"energy\", \"expression\": \"energy()\", \"tolerance\": 1e-5}],",
    "  \"checks\": [{\"name\": \"the rod stays taut\", \"expression\": \"-lambda(rod)\", \"at\": \"always\", \"min\": "
    "0}],",
    "  \"simulation\": {\"stop\": 10, \"samples\": 201, \"rtol\": 1e-8, \"atol\": 1e-10}",
    "}",
};

static int print_starting_point(const cli_arguments *arguments) {
    (void)arguments;
    for (size_t k = 0; k < sizeof starting_point / sizeof starting_point[0]; k++) puts(starting_point[k]);
    return cli_flush_stdout();
}

const cli_command cli_new = {
    .name = "new",
    .synopsis = "> FILE",
    .summary = "print a description to start from",
    .about = "Example:\n"
             "  hamel new > system.json\n"
             "  hamel run system.json\n",
    .options = (const cli_option[]){{0}},
    .run = print_starting_point,
};
