/* elliptic.c — elliptic functions by the arithmetic-geometric mean. */
#include "tests/unit/elliptic.h"

#include <math.h>

enum { MOST = 16 };

/* Computes the means a[0..n] and half differences c[0..n], starting from 1 and sqrt(1 - k^2). Stops at the first n for
 * which c[n] is negligible, and returns n. */
static int means(double k, double a[MOST], double c[MOST]) {
    double b = sqrt(1 - k * k);
    int n = 0;
    a[0] = 1;
    c[0] = k;
    while (n < MOST - 1 && fabs(c[n]) > 1e-16) {
        a[n + 1] = (a[n] + b) / 2;
        c[n + 1] = (a[n] - b) / 2;
        b = sqrt(a[n] * b);
        n++;
    }
    return n;
}

jacobi jacobi_functions(double u, double k) {
    double a[MOST], c[MOST];
    int n = means(k, a, c);
    double phi = ldexp(a[n] * u, n);
    for (int i = n; i > 0; i--) phi = (phi + asin(c[i] / a[i] * sin(phi))) / 2;
    double sn = sin(phi);
    return (jacobi){sn, cos(phi), sqrt(1 - k * k * sn * sn)};
}

double jacobi_quarter(double k) {
    double a[MOST], c[MOST];
    int n = means(k, a, c);
    return acos(-1.0) / (2 * a[n]);
}
