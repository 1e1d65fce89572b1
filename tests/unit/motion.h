/* motion.h — runs a description in this process and keeps the rows, for tests that compare motions.
 *
 * In descriptions given here a backquote stands for a double quote, so that they can be read in C. A failure
 * fails the running cmocka test with the reason. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A run: its rows, and the values of the summary that tests use. */
typedef struct motion {
    char **columns;
    size_t column_count, row_count, capacity;
    double *values;         /* row by row */
    double *error_estimate; /* per column, with certify; else NULL */
    double steps, position_residual, velocity_residual, work_balance_error;
    size_t redundant_count;
    int rank_changes;
    double event_records; /* events, and branches that changed */
    char failure[1000];
} motion;

/* Runs a system until it is completed. `system` and `simulation` are the members of these two objects. Free the result
 * with motion_free. */
motion motion_run(const char *system, const char *simulation);
motion motion_of(const char *text); /* of a whole description, as JSON */
void motion_free(motion *m);

size_t motion_column(const motion *m, const char *name);
double motion_last(const motion *m, const char *name);
static inline double motion_value(const motion *m, size_t row, size_t column) {
    return m->values[row * m->column_count + column];
}

/* Largest distance of a column from f(t, p) over all rows. */
double motion_distance(const motion *m, const char *column, double (*f)(double t, const double *p), const double *p);

/* Largest change of a column from its first row. */
double motion_drift(const motion *m, const char *column);

/* Largest difference of the columns that both have, row by row. */
double motion_difference(const motion *a, const motion *b);

/* Runs it in every formulation: the work is balanced within `work`, and the motions differ by `difference` at most. */
void assert_formulations_agree(const char *system, const char *simulation, double work, double difference);

void assert_below(const char *what, double value, double bound);
