/* bench_rows.c — CPU time per number of a row, without a writer and with a writer of each format. std::to_chars alone
 * is measured for comparison.
 *
 * bench_rows [rounds]
 *
 * 256 oscillators give 1,001 rows of 513 columns. The output is discarded. "written" is the time of a run minus that of
 * a run without a writer, per number. The goals are twice the time of std::to_chars for text formats, and 0.3 times
 * this time for npy. Each figure is the minimum of all rounds. */
#include "api/simulate.h"
#include "engine/base/shortest_digits.h"
#include "tests/bench/baselines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5 };

static const char description[] =
    "{\"hamel\": 1, \"parameters\": {\"N\": 256},"
    "\"coordinates\": [{\"name\": \"x[i]\", \"for\": \"i = 1..N\", \"initial\": \"1 + i*0.01\"}],"
    "\"kinetic_energy\": \"sum(i, 1, N, x[i]'^2)/2\", \"potential_energy\": \"sum(i, 1, N, (1 + i*0.004)*x[i]^2)/2\","
    "\"simulation\": {\"stop\": 2, \"samples\": 1001, \"rtol\": 1e-6}}";

typedef struct count {
    size_t numbers, bytes;
    double digits; /* seconds that std::to_chars takes */
} count;

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool take(void *context, const char *bytes, size_t length) {
    count *c = context;
    (void)bytes;
    c->bytes += length;
    return true;
}

static bool count_row(void *context, const double *values, size_t columns) {
    count *c = context;
    (void)values;
    c->numbers += columns;
    return true;
}

/* Converts the numbers of a row as the writers do, without separators. */
static bool convert_row(void *context, const double *values, size_t columns) {
    count *c = context;
    char digits[SHORTEST_DIGITS_SPACE];
    double start = processor_seconds();
    int exponent;
    for (size_t k = 0; k < columns; k++) c->bytes += (size_t)shortest_digits(values[k], digits, &exponent);
    c->digits += processor_seconds() - start;
    c->numbers += columns;
    return true;
}

/* Returns the seconds of a run with a writer of this format, or with `observer` if the format is NULL. */
static double seconds_of(const hamel_model *model, const row_format *format, api_observer observer) {
    count c = {0};
    row_writer *writer = format ? row_writer_open(format, (byte_sink){&c, take}) : NULL;
    if (writer) observer = api_observer_of(writer);
    double start = processor_seconds();
    require(api_run(model, NULL, &observer, "rows") == HAMEL_OK, "the run fails");
    double seconds = processor_seconds() - start;
    row_writer_close(writer);
    return seconds;
}

static double least(double a, double b) {
    return b < a ? b : a;
}

int main(int arguments, char **argv) {
    enum { FORMATS_MOST = 16 };
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model = api_prepare(description, strlen(description), NULL, 0, &limits, NULL, "rows", &failure);
    require(model != NULL, failure.text ? failure.text : "the model cannot be derived");
    double plain = HUGE_VAL, digits = HUGE_VAL, written[FORMATS_MOST], numbers = 1;
    for (size_t k = 0; k < FORMATS_MOST; k++) written[k] = HUGE_VAL;
    long rounds = arguments > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    for (long round = 0; round < rounds; round++) {
        count counted = {0}, converted = {0};
        plain = least(plain, seconds_of(model, NULL, (api_observer){.context = &counted, .row = count_row}));
        seconds_of(model, NULL, (api_observer){.context = &converted, .row = convert_row});
        numbers = (double)counted.numbers;
        digits = least(digits, converted.digits);
        for (size_t k = 0; row_format_at(k) && k < FORMATS_MOST; k++)
            written[k] = least(written[k], seconds_of(model, row_format_at(k), (api_observer){0}));
    }
    double unit = digits / numbers * 1e9;
    printf("nanoseconds for a number of a row        written   of to_chars   with the run\n");
    printf("computed only                                                       %6.0f\n", plain / numbers * 1e9);
    printf("std::to_chars                            %7.0f          1.00\n", unit);
    for (size_t k = 0; row_format_at(k) && k < FORMATS_MOST; k++)
        printf("%-40s %7.0f %13.2f         %6.0f\n", row_format_at(k)->name, (written[k] - plain) / numbers * 1e9,
               (written[k] - plain) / digits, written[k] / numbers * 1e9);
    hamel_model_free(model);
    return 0;
}
