/* elliptic.h — Jacobi's elliptic functions, for systems with a closed-form solution. */
#pragma once

typedef struct jacobi {
    double sn, cn, dn;
} jacobi;

/* Returns sn, cn and dn of u for the modulus k, 0 <= k < 1, accurate to rounding (Abramowitz and Stegun 16.4). */
jacobi jacobi_functions(double u, double k);

/* Returns K(k), a quarter of the period of sn. */
double jacobi_quarter(double k);
