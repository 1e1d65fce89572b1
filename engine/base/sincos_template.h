/* sincos_template.h — the operations of sine and cosine, for one number type (sincos.h).
 *
 * The including file defines these macros, and the template undefines them:
 *
 *     SINCOS_REAL, SINCOS_BITS    number type, and the unsigned integers of its size
 *     SINCOS_NAME(name)           name of a function for this type
 *     SINCOS_TO_BITS(x), SINCOS_TO_REAL(b)    the same bits as the other type */

/* Computes high + low = x − n π/2 with three parts of π/2 (Cody & Waite, Software Manual for the Elementary Functions,
 * Prentice-Hall 1980). The last two bits of *multiple are n modulo 4. A zero keeps its sign. */
SINCOS_INLINE void SINCOS_NAME(reduce)(const SINCOS_REAL *x, SINCOS_REAL *high, SINCOS_REAL *low,
                                       SINCOS_BITS *multiple) {
    /* π/2 = first + second + third, with 33 bits, 33 bits and the remaining bits */
    const double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
    const double two_by_pi = 0x1.45f306dc9c883p-1, to_integer = 0x1.8p52;
    SINCOS_REAL shifted = *x * two_by_pi + to_integer, n = shifted - to_integer;
    SINCOS_REAL a = *x - n * first, product = n * second, b = a - product;
    *high = b;
    *low = ((a - b) - product) - n * third;
    *multiple = SINCOS_TO_BITS(shifted);
}

/* Computes sin and cos of high + low for |high| ≤ π/4, by the polynomials of fdlibm (Sun Microsystems, 1993). Terms are
 * grouped as in FreeBSD's k_sin.c and k_cos.c, which have shorter chains of dependent operations. */
SINCOS_INLINE void SINCOS_NAME(kernels)(const SINCOS_REAL *high, const SINCOS_REAL *low, SINCOS_REAL *sine,
                                        SINCOS_REAL *cosine) {
    SINCOS_REAL x = *high, y = *low, z = x * x, cube = z * x, w = z * z;
    SINCOS_REAL s = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06);
    s = s + z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    *sine = x - ((z * (0.5 * y - cube * s) - y) - cube * -1.66666666666666324348e-01);
    SINCOS_REAL c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05);
    c = z * c +
        w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    SINCOS_REAL half = 0.5 * z, one = 1 - half;
    *cosine = one + (((1 - one) - half) + (z * c - x * y));
}

/* Computes sin and cos of x for |x| ≤ SINCOS_REDUCIBLE. `sine` or `cosine` may equal x. */
SINCOS_INLINE void SINCOS_NAME(within)(const SINCOS_REAL *x, SINCOS_REAL *sine, SINCOS_REAL *cosine) {
    SINCOS_REAL high, low, s, c;
    SINCOS_BITS n;
    SINCOS_NAME(reduce)(x, &high, &low, &n);
    SINCOS_NAME(kernels)(&high, &low, &s, &c);
    SINCOS_BITS odd = -(n & 1), of_sine = SINCOS_TO_BITS(s), of_cosine = SINCOS_TO_BITS(c);
    SINCOS_BITS first = (of_sine & ~odd) | (of_cosine & odd), second = (of_cosine & ~odd) | (of_sine & odd);
    *sine = SINCOS_TO_REAL(first ^ ((n & 2) << 62));
    *cosine = SINCOS_TO_REAL(second ^ (((n + 1) & 2) << 62));
}

#undef SINCOS_REAL
#undef SINCOS_BITS
#undef SINCOS_NAME
#undef SINCOS_TO_BITS
#undef SINCOS_TO_REAL
