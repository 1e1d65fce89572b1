/* motion.h — runs a description in this process and keeps the rows, for tests that compare trajectories.
 *
 * Descriptions in C strings use backquotes instead of double quotes. If a run fails, the running cmocka test fails and
 * the reason is printed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The rows of a run and the values of the summary that tests use. */
typedef struct motion {
    char **columns;
    size_t column_count, row_count, capacity;
    double *values;         /* all rows, in row-major order */
    double *error_estimate; /* one value per column if `simulation.certify` is set, otherwise NULL */
    double steps, position_residual, velocity_residual, work_balance_error;
    size_t redundant_count;
    int rank_changes;
    double event_records; /* number of events plus number of branch changes */
    char failure[1000];
} motion;

/* Runs a system to completion. `system` and `simulation` are the texts inside these two JSON objects. Free the
 * result with motion_free. */
motion motion_run(const char *system, const char *simulation);
motion motion_of(const char *text); /* runs a complete description, a JSON text */
void motion_free(motion *m);

size_t motion_column(const motion *m, const char *name);
double motion_last(const motion *m, const char *name);
static inline double motion_value(const motion *m, size_t row, size_t column) {
    return m->values[row * m->column_count + column];
}

/* Returns the largest absolute difference between a column and f(t, p) over all rows. */
double motion_distance(const motion *m, const char *column, double (*f)(double t, const double *p), const double *p);

/* Returns the largest change of a column from its value in the first row. */
double motion_drift(const motion *m, const char *column);

/* Returns the largest absolute difference between `a` and `b`, over all rows of the columns that occur in both runs. */
double motion_difference(const motion *a, const motion *b);

/* Runs the system in every formulation. Checks that the work balance error of each run is at most `work`, and that the
 * trajectories differ by at most `difference`. */
void assert_formulations_agree(const char *system, const char *simulation, double work, double difference);

void assert_below(const char *what, double value, double bound);
