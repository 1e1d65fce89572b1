/* dop853.h — coefficients of an explicit Runge–Kutta method of order 8 in 12 stages. The method has error estimates of
 * orders 5 and 3, and a continuous extension of order 7.
 *
 * The method is by Dormand and Prince, the program by Hairer, Nørsett and Wanner, Solving Ordinary Differential
 * Equations I, Springer 1993, II.5 and II.6. A step costs 12 evaluations, because the last evaluation is also the first
 * one of the next step. */
#pragma once

/* k_i = f(t + c_i h, y + h Σ_j a_ij k_j). Stage 12 is at the new state; row 12 has the weights of the new state. The
 * three stages after stage 12 serve the continuous extension only. Rows are padded with zeros. */
enum { DOP853_STAGES = 12, DOP853_ALL = 16, DOP853_ROWS = 4, DOP853_TERMS = 7 };
enum { DOP853_PAIR = 2 }; /* components that are summed together at the end of a vector */
enum { DOP853_VECTORS = 3 + DOP853_ALL + DOP853_TERMS }; /* work vectors for one integration */
extern const double dop853_c[DOP853_ALL], dop853_a[DOP853_ALL][DOP853_ALL];

/* h Σ_j e_j k_j is the difference between the method and an embedded formula of order 5 or 3. */
extern const double dop853_error_5[DOP853_STAGES], dop853_error_3[DOP853_STAGES];

/* y(t + θh) = y + θ(F_0 + (1−θ)(F_1 + θ(F_2 + (1−θ)(F_3 + θ(F_4 + (1−θ)(F_5 + θ F_6)))))), F_3..6 = h Σ_j d_j k_j.
 * F_0 is the change of y in the step. F_1 and F_2 match the rates at both ends of the step. */
extern const double dop853_dense[4][DOP853_ALL];
