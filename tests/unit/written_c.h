/* written_c.h — C generated for a description, compiled and loaded. */
#pragma once

typedef int rates_function(double t, const double *q, const double *w, double *q_dot, double *w_dot, double *lambda);
typedef void velocities_function(double t, const double *q, const double *v, double *w);

typedef struct program_of_c {
    void *library; /* handle of dlopen */
    rates_function *rates;
    velocities_function *velocities;
} program_of_c;

/* Compiles and loads the text. A compiler warning fails the test. */
void program_of_c_open(program_of_c *p, const char *text);
void program_of_c_close(program_of_c *p);
