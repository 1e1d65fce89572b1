/* dop853.h — an explicit Runge–Kutta method of order 8 in 12 stages, with error estimates of orders 5 and 3 and a
 * continuous extension of order 7.
 *
 * Method by Dormand and Prince, made ready by Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I,
 * Springer 1993, II.5 and II.6. A derivative of the solution costs order 8 no more than 11 evaluations a step, which the
 * last one of the step before begins. */
#ifndef HAMEL_SIMULATE_DOP853_H
#define HAMEL_SIMULATE_DOP853_H

/* k_i = f(t + c_i h, y + h Σ_j a_ij k_j). Stage 12 is at the new state, of which row 12 is the weights; the three behind
 * it are for the continuous extension only. Rows end where zeros begin. */
enum { DOP853_STAGES = 12, DOP853_ALL = 16 };
extern const double dop853_c[DOP853_ALL], dop853_a[DOP853_ALL][DOP853_ALL];

/* h Σ_j e_j k_j is the difference to a formula of that order. */
extern const double dop853_error_5[DOP853_STAGES], dop853_error_3[DOP853_STAGES];

/* y(t + θh) = y + θ(F_0 + (1−θ)(F_1 + θ(F_2 + (1−θ)(F_3 + θ(F_4 + (1−θ)(F_5 + θ F_6)))))), F_3..6 = h Σ_j d_j k_j;
 * F_0 is the step, and F_1, F_2 make the rates at its ends right. */
extern const double dop853_dense[4][DOP853_ALL];

#endif
