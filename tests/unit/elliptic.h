/* elliptic.h — Jacobi's elliptic functions, for motions with a closed form. */
#pragma once

typedef struct jacobi {
    double sn, cn, dn;
} jacobi;

/* sn, cn, dn of u with modulus k, 0 <= k < 1, to rounding (Abramowitz and Stegun 16.4). */
jacobi jacobi_functions(double u, double k);

/* K(k), a quarter of the period of sn. */
double jacobi_quarter(double k);
