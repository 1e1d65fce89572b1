/* test_short_equations.c — generated equations agree with those of books and papers, and are not longer.
 *
 * The right column of the table contains the left-hand side minus the right-hand side of an equation of the source.
 * If the source has divided the equation by a factor, the table contains the equation multiplied by this factor.
 * Abbreviations of the source are replaced by their definitions. If the source gives no equation, as in exercises, the
 * equation was derived by hand. Each test compares the values at random states, and the lengths (see published.h). */
#include "tests/unit/published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 7 };

typedef struct source_equations {
    const char *source, *example, *system; /* either `example` (a name) or `system` (a description) is NULL */
    const char *formulation;
    const char *lines[LINES][2]; /* name of a generated equation, and the equation of the source */
} source_equations;

#define SYSTEM(members) "{`hamel`: 1, `simulation`: {`stop`: 1, `initialization`: `project`}, " members "}"

/* clang-format off */
static const source_equations cases[] = {
    {"Papastavridis, equations 1.17.17 to 1.17.22", NULL, 
     SYSTEM("`coordinates`: [`X`, `Y`, {`name`: `ph`, `initial`: 0.3}, {`name`: `th`, `initial`: 1.1}, `ps`],"
            "`parameters`: {`m`: 1.3, `r`: 0.5, `g`: 9.81}, `quasi_velocities`: [{`name`: `w1`, `definition`: `th'`}, {`name`: `w2`, `definition`: `ph'`},"
            "{`name`: `wz`, `definition`: `ps' + cos(th)*ph'`}], `potential_energy`: `m*g*r*sin(th)`, `kinetic_energy`:"
            "`m/2*(X'^2 + Y'^2 + r^2*cos(th)^2*th'^2 + r^2/4*(th'^2 + sin(th)^2*ph'^2) + r^2/2*(ps' + cos(th)*ph')^2)`,"
            "`constraints`: [{`name`: `c1`, `equation`: `X' + r*cos(ph)*(ps' + cos(th)*ph') - r*sin(ph)*sin(th)*th' = 0`},"
            "{`name`: `c2`, `equation`: `Y' + r*sin(ph)*(ps' + cos(th)*ph') + r*cos(ph)*sin(th)*th' = 0`}]"), "kane",
     {{"w1", "m*r/4*(5*r*w1' + 6*r*wz*w2*sin(th) - r*w2^2*sin(th)*cos(th) + 4*g*cos(th))"},
      {"w2", "-m*r^2/4*sin(th)*(2*wz*w1 - 2*w2*w1*cos(th) - w2'*sin(th))"},
      {"wz", "m*r^2/2*(3*wz' - 2*w2*w1*sin(th))"}}},
    {"Papastavridis, example 2.13.3, equation 3.5.21a: Maggi", "papastavridis_2_13_3_vertical_disk", NULL, "maggi",
     {{"phi'", "A*phi''"},
      {"psi'", "C*psi'' + r*(m*x''*cos(phi) + m*y''*sin(phi))"},
      {"lambda(rollx)", "m*x''"},
      {"lambda(rolly)", "m*y''"}}},
    {"Papastavridis, example 2.13.9: equations of a body in its axes", "papastavridis_2_13_9_body_axes", NULL, "boltzmann-hamel",
     {{"vx", "m*(vx' + wy*vz - wz*vy) + m*g*sin(th)*sin(ps)"},
      {"vy", "m*(vy' + wz*vx - wx*vz) + m*g*sin(th)*cos(ps)"},
      {"vz", "m*(vz' + wx*vy - wy*vx) + m*g*cos(th)"},
      {"wx", "A*wx' - (B - C)*wy*wz"},
      {"wy", "B*wy' - (C - A)*wz*wx"},
      {"wz", "C*wz' - (A - B)*wx*wy"}}},
    {"Papastavridis, example 2.13.9: velocities from those along the axes of the body", "papastavridis_2_13_9_body_axes", NULL, "kane",
     {{"X'", "(cos(ph)*cos(ps) - sin(ph)*cos(th)*sin(ps))*vx - (cos(ph)*sin(ps) + "
       "sin(ph)*cos(th)*cos(ps))*vy + sin(ph)*sin(th)*vz"},
      {"Y'", "(sin(ph)*cos(ps) + cos(ph)*cos(th)*sin(ps))*vx + (cos(ph)*cos(th)*cos(ps) - "
       "sin(ph)*sin(ps))*vy - cos(ph)*sin(th)*vz"},
      {"Z'", "sin(th)*sin(ps)*vx + sin(th)*cos(ps)*vy + cos(th)*vz"},
      {"ph'", "(sin(ps)*wx + cos(ps)*wy)/sin(th)"},
      {"th'", "cos(ps)*wx - sin(ps)*wy"},
      {"ps'", "wz - cos(th)/sin(th)*(sin(ps)*wx + cos(ps)*wy)"}}},
    {"Papastavridis, figure 3.1: pendulum by projections", NULL, 
     SYSTEM("`coordinates`: [{`name`: `r`, `initial`: 1}, `ph`], `parameters`: {`m`: 1.3, `g`: 9.81},"
            "`kinetic_energy`: `m/2*(r'^2 + r^2*ph'^2)`, `potential_energy`: `-m*g*r*cos(ph)`, `constraints`: [{`name`: `thread`, `equation`: `r' = 0`}]"), "maggi",
     {{"ph'", "r*(m*r*ph'' + 2*m*r'*ph' + m*g*sin(ph))"},
      {"lambda(thread)", "m*r'' - m*r*ph'^2 - m*g*cos(ph)"}}},
    {"Papastavridis, example 3.5.2", "papastavridis_3_5_2_particle_on_surface", NULL, "lagrange",
     {{"x", "m*x'' - (sin(3*t)/2 - k*x) - (a*x + b*y)*lambda(surface)"},
      {"y", "m*y'' - (1/5 - k*y) - (b*x + c*y + y^2/3)*lambda(surface)"},
      {"z", "m*z'' - (-m*g - k*z) + lambda(surface)"}}},
    {"Papastavridis, example 3.5.3", "papastavridis_3_5_3_turning_plane", NULL, "lagrange",
     {{"x", "m*x'' + lambda(plane)*sin(w*t)"},
      {"y", "m*y'' - lambda(plane)*cos(w*t)"},
      {"z", "m*z'' - m*g"}}},
    {"Papastavridis, example 3.5.4", "papastavridis_3_5_4_sphere_and_plane", NULL, "lagrange",
     {{"x", "m*x'' - 2*lambda(sphere)*x"},
      {"y", "m*y'' - (2*lambda(sphere)*y - lambda(plane)*sin(a)/cos(a))"},
      {"z", "m*z'' - m*g - (2*lambda(sphere)*z + lambda(plane))"}}},
    {"Papastavridis, example 3.5.6", "papastavridis_3_5_6_momentum_from_rest", NULL, "lagrange",
     {{"r", "m*(r'' - r*ph'^2) + k*(r - b) - F*cos(ph)"},
      {"ph", "m*(r^2*ph'' + 2*r*r'*ph') + F*r*sin(ph)"}}},
    {"Papastavridis, problem 3.5.2", NULL, 
     SYSTEM("`coordinates`: [{`name`: `q`, `initial`: 0.4}], `kinetic_energy`: `(1 + t^2*q^2)*q'^2/2 + sin(t)*q^2*q' + t*q^3/2`"), "lagrange",
     {{"q", "(1 + t^2*q^2)*q'' + 2*t^2*q*q'^2/2 + 2*t*q^2*q' + cos(t)*q^2 - 3*t*q^2/2"}}},
    {"Papastavridis, problem 3.5.3", NULL, 
     SYSTEM("`coordinates`: [{`name`: `q`, `initial`: 0.4}], `parameters`: {`a`: 1.2, `k`: 2}, `kinetic_energy`: `(1 + a^2*cos(q)^2)*q'^2/2`, `potential_energy`: `k*sin(q)^2/2`"), "lagrange",
     {{"q", "(1 + a^2*cos(q)^2)*q'' - 2*a^2*cos(q)*sin(q)*q'^2/2 + k*sin(q)*cos(q)"}}},
    {"Papastavridis, problem 3.5.5", NULL, 
     SYSTEM("`coordinates`: [{`name`: `ph`, `initial`: 0.4}], `parameters`: {`m`: 1.2, `g`: 9.81}, `tables`: {}, `definitions`: {`x`: `exp(-t)*sin(ph)`, `y`: `-exp(-t)*cos(ph)`}, `kinetic_energy`: `m/2*(der(x)^2 + der(y)^2)`, `potential_energy`: `m*g*y`"), "lagrange",
     {{"ph", "m*exp(-t)^2*(ph'' - 2*ph' + g/exp(-t)*sin(ph))"}}},
    {"Papastavridis, example 3.5.7, forces", "papastavridis_3_5_8_double_pendulum", NULL, "lagrange",
     {{"Q[φ1; gravity]", "-(m1 + m2)*g*l1*sin(φ1)"},
      {"Q[φ2; gravity]", "-m2*g*l2*sin(φ2)"}}},
    {"Papastavridis, example 3.5.8 (ii)", "papastavridis_3_5_8_ii_lower_angle_given", NULL, "lagrange",
     {{"p1", "(m1 + m2)*l1^2*p1'' + m2*l1*l2*(cos(p2 - p1)*p2'' - sin(p2 - p1)*p2'^2) + (m1 + "
       "m2)*g*l1*sin(p1)"},
      {"p2", "m2*l2^2*p2'' + m2*l1*l2*(cos(p2 - p1)*p1'' + sin(p2 - p1)*p1'^2) + m2*g*l2*sin(p2) - "
       "lambda(guide)"}}},
    {"Papastavridis, example 3.5.9", "papastavridis_3_5_9_small_oscillations", NULL, "lagrange",
     {{"p1", "(m + m)*l^2*p1'' + m*l*l*(cos(p2 - p1)*p2'' - sin(p2 - p1)*p2'^2) + (m + m)*g*l*sin(p1)"},
      {"p2", "m*l^2*p2'' + m*l*l*(cos(p2 - p1)*p1'' + sin(p2 - p1)*p1'^2) + m*g*l*sin(p2)"}}},
    {"Papastavridis, problem 3.5.8", "papastavridis_pr_3_5_8_double_physical_pendulum", NULL, "lagrange",
     {{"phi", "A*phi'' + mab*cos(phi - psi)*psi'' + mab*sin(phi - psi)*psi'^2"},
      {"psi", "mab*cos(phi - psi)*phi'' + B*psi'' - mab*sin(phi - psi)*phi'^2"}}},
    {"Papastavridis, problem 3.5.9", "papastavridis_pr_3_5_9_total_mass_centre", NULL, "lagrange",
     {{"ph", "(M*K^2 + m*a^2 + m*(k^2 + b^2) + 2*m*a*b*cos(th))*ph'' + (m*(k^2 + b^2) + m*a*b*cos(th))*th'' "
       "- 2*m*a*b*sin(th)*ph'*th' - m*a*b*sin(th)*th'^2"},
      {"th", "(m*(k^2 + b^2) + m*a*b*cos(th))*ph'' + m*(k^2 + b^2)*th'' + m*a*b*sin(th)*ph'^2"}}},
    {"Papastavridis, problems 3.5.10, 3.5.11", "papastavridis_pr_3_5_11_bell_and_clapper", NULL, "lagrange",
     {{"ph", "(M*K^2 + m*a^2)*ph'' + m*a*b*cos(ph - ps)*ps'' + m*a*b*sin(ph - ps)*ps'^2 + (M*h + "
       "m*a)*g*sin(ph)"},
      {"ps", "m*(k^2 + b^2)*ps'' + m*a*b*cos(ph - ps)*ph'' - m*a*b*sin(ph - ps)*ph'^2 + m*g*b*sin(ps)"}}},
    {"Greenwood, equations 4.317 to 4.319, by Gibbs and Appell", "papastavridis_2_13_7_rolling_disk", NULL, "gibbs-appell",
     {{"w1", "m*r^2*(5/4*w1' - w2^2*cos(th)/(4*sin(th)) + 3/2*w2*w3 + g/r*cos(th))"},
      {"w2", "m*r^2/4*(w2' + w1*w2*cos(th)/sin(th) - 2*w1*w3)"},
      {"w3", "m*r^2*(3/2*w3' - w1*w2)"}}},
    {"Greenwood, example 4.12, variable rate", NULL, 
     SYSTEM("`coordinates`: [{`name`: `theta`, `initial`: 0.4}], `parameters`: {`m`: 1.2, `g`: 9.81, `r`: 0.5, `k`: 0.3}, `definitions`: {`W`: `exp(k*t)`},"
            "`kinetic_energy`: `m*r^2*(theta'^2 + W^2*sin(theta)^2)/2`, `potential_energy`: `m*g*r*cos(theta)`"), "lagrange",
     {{"theta", "m*r^2*(theta'' - exp(k*t)^2*sin(theta)*cos(theta) - g/r*sin(theta))"}}},
    {"Udwadia, equations 36 to 38", "udwadia_2000_ring_friction", NULL, "udwadia-kalaba",
     {{"A[ring, x]", "2*x"},
      {"A[ring, y]", "2*y"},
      {"b[ring]", "-2*(x'^2 + y'^2)"},
      {"Q[y]", "-m*g - mu*abs(lambda(ring))*2*R*y'/hypot(x', y')"},
      {"Q[x]", "-mu*abs(lambda(ring))*2*R*x'/hypot(x', y')"}}},
    {"Baruh, examples 4.6 and 4.7", "baruh_4_7_two_link_pendulum", NULL, "lagrange",
     {{"th1", "(m1/3 + m2)*L1^2*th1'' + m2*L1*L2/2*(cos(th1 - th2)*th2'' + sin(th1 - th2)*th2'^2) - "
       "L1*(Fx*cos(th1) + Fy*sin(th1) - m2*g*sin(th1) - m1*g/2*sin(th1))"},
      {"th2", "m2*L2^2/3*th2'' + m2*L1*L2/2*(cos(th1 - th2)*th1'' - sin(th1 - th2)*th1'^2) - L2*(Fx*cos(th2) "
       "+ Fy*sin(th2) - m2*g/2*sin(th2))"}}},
    {"Baruh, exercise 4.25: Foucault pendulum", NULL, 
     SYSTEM("`coordinates`: [{`name`: `x`, `initial`: 0.4}, `y`], `parameters`: {`m`: 1.2, `g`: 9.81, `l`: 2, `Om`: 0.1, `lat`: 0.8},"
            "`lagrangian`: `m*(x'^2 + y'^2)/2 + m*Om*sin(lat)*(x*y' - y*x') - m*g*(x^2 + y^2)/(2*l)`"), "lagrange",
     {{"x", "m*(x'' - 2*Om*sin(lat)*y' + g/l*x)"},
      {"y", "m*(y'' + 2*Om*sin(lat)*x' + g/l*y)"}}},
    {"Baruh, exercise 4.39", NULL, 
     SYSTEM("`coordinates`: [`X`, `Y`, {`name`: `p`, `initial`: 0.3}], `parameters`: {`m`: 1.3, `I`: 0.4, `e`: 0.7},"
            "`kinetic_energy`: `m*(X'^2 + Y'^2)/2 + I*p'^2/2`, `quasi_velocities`: [{`name`: `v`, `definition`: `X'*cos(p) + Y'*sin(p)`}, {`name`: `w`, `definition`: `p'`}],"
            "`constraints`: [{`name`: `front`, `equation`: `-X'*sin(p) + Y'*cos(p) + e*p' = 0`}]"), "boltzmann-hamel",
     {{"v", "m*(v' + e*w^2)"},
      {"w", "(I + m*e^2)*w' - m*e*v*w"},
      {"lambda(front)", "m*v*w - m*e*w'"}}},
    {"Baruh, exercise 4.26", "baruh_ex_4_26_spacecraft_with_arm", NULL, "lagrange",
     {{"x", "(M + m)*x'' - m*L/2*(phi''*sin(phi) + phi'^2*cos(phi))"},
      {"y", "(M + m)*y'' + m*L/2*(phi''*cos(phi) - phi'^2*sin(phi))"},
      {"theta", "Is*theta'' + tau"},
      {"phi", "m*L^2/3*phi'' + m*L/2*(-x''*sin(phi) + y''*cos(phi)) - tau"}}},
    {"Baruh, exercise 4.27", "baruh_ex_4_27_rocking_block", NULL, "lagrange",
     {{"theta", "m*((L^2/12 + 4*h^2/3 + R^2*theta^2)*theta'' + R^2*theta*theta'^2 + g*R*theta*cos(theta) - "
       "g*h*sin(theta))"}}},
    {"Baruh, exercise 4.31", "baruh_ex_4_31_spinning_parabola", NULL, "lagrange",
     {{"x", "m*((1 + x^2/4)*x'' + x*x'^2/4 + (g/2 - Omega^2)*x)"}}},
    {"Baruh, exercise 4.33", "baruh_ex_4_33_channel_on_cone", NULL, "lagrange",
     {{"r", "m*(r'' - W^2*sin(a)^2*r + g*cos(a))"}}},
    {"Baruh, exercise 4.34", "baruh_ex_4_34_pendulum_on_arm", NULL, "lagrange",
     {{"theta", "2*m*L^2*(2*theta'' - (1 + 2*sin(theta))*cos(theta)*phi'^2 + g/L*sin(theta))"},
      {"phi", "(I + m*L^2*(1 + 2*sin(theta))^2)*phi'' + 4*m*L^2*(1 + 2*sin(theta))*cos(theta)*theta'*phi'"}}},
    {"Baruh, exercise 4.36", "baruh_ex_4_36_four_bar", NULL, "lagrange",
     {{"a", "(m1/3 + m2)*L1^2*a'' + m2*L1*L2/2*(cos(a - b)*b'' + sin(a - b)*b'^2) + (m1/2 + m2)*g*L1*cos(a) "
       "- M + L1*sin(a)*lambda(loopx) - L1*cos(a)*lambda(loopy)"},
      {"b", "m2*L2^2/3*b'' + m2*L1*L2/2*(cos(a - b)*a'' - sin(a - b)*a'^2) + m2*g*L2/2*cos(b) + "
       "L2*sin(b)*lambda(loopx) - L2*cos(b)*lambda(loopy)"},
      {"c", "m3*L3^2/3*c'' + m3*g*L3/2*cos(c) - L3*sin(c)*lambda(loopx) + L3*cos(c)*lambda(loopy)"}}},
    {"Baruh, exercise 4.40", "baruh_ex_4_40_motor", NULL, "lagrange",
     {{"theta", "4*m*L^2*theta'' - 2*m*L^2*(1 + 2*sin(theta))*cos(theta)*phi'^2 + 2*m*g*L*sin(theta)"},
      {"phi", "(I + m*L^2*(1 + 2*sin(theta))^2)*phi'' + 4*m*L^2*(1 + 2*sin(theta))*cos(theta)*theta'*phi' - "
       "lambda(motor)"}}},
    {"Talamucci, section 3.1, equation 20", NULL, 
     SYSTEM("`coordinates`: [`x`, `y`, {`name`: `theta`, `initial`: 0.3}, {`name`: `phi`, `initial`: 0.1}, `psi`],"
            "`parameters`: {`M`: 2, `m3`: 1.5, `m4`: 0.8, `a`: 0.5, `h`: 1.2, `l`: 0.6, `g`: 9.81, `J`: 0.3}, `gravity`: [0, 0, `-g`],"
            "`definitions`: {`d3`: `h*sin(phi)`, `d4`: `h*sin(phi) + l*sin(psi)`}, `kinetic_energy`: `M*(x'^2 + y'^2)/2 + J*theta'^2/2`,"
            "`particles`: [{`name`: `lower`, `mass`: `m3`, `position`: [`x - d3*sin(theta)`, `y + d3*cos(theta)`, `h*cos(phi)`]},"
            "{`name`: `upper`, `mass`: `m4`, `position`: [`x - d4*sin(theta)`, `y + d4*cos(theta)`, `h*cos(phi) + l*cos(psi)`]}],"
            "`quasi_velocities`: [{`name`: `v`, `definition`: `cos(theta)*x' + sin(theta)*y'`}, {`name`: `w`, `definition`: `theta'`},"
            "{`name`: `p`, `definition`: `phi'`}, {`name`: `s`, `definition`: `psi'`}],"
            "`constraints`: [{`name`: `blade`, `equation`: `-x'*sin(theta) + y'*cos(theta) - a*theta' = 0`}]"), "kane",
     {{"v", "(M + m3 + m4)*v' - ((m3 + m4)*h*sin(phi) + m4*l*sin(psi))*w' - w*((M + m3 + m4)*a*w + 2*(m3 + "
       "m4)*h*cos(phi)*p + 2*m4*l*cos(psi)*s)"},
      {"w", "-((m3 + m4)*h*sin(phi) + m4*l*sin(psi))*v' + (J + (M + m3 + m4)*a^2 + m3*h^2*sin(phi)^2 + "
       "m4*(h*sin(phi) + l*sin(psi))^2)*w' + a*(m3 + m4)*h*cos(phi)*p' + a*m4*l*cos(psi)*s' + (M + m3 "
       "+ m4)*a*v*w + 2*w*((m3*h^2*sin(phi)*cos(phi) + m4*h*cos(phi)*(h*sin(phi) + l*sin(psi)))*p + "
       "m4*l*cos(psi)*(h*sin(phi) + l*sin(psi))*s) - a*((m3 + m4)*h*sin(phi)*p^2 + m4*l*sin(psi)*s^2)"},
      {"p", "a*(m3 + m4)*h*cos(phi)*w' + (m3 + m4)*h^2*p' + m4*h*l*cos(phi - psi)*s' - g*(m3 + "
       "m4)*h*sin(phi) + (m3 + m4)*h*cos(phi)*v*w - h*cos(phi)*(m3*h*sin(phi) + m4*(h*sin(phi) + "
       "l*sin(psi)))*w^2 + m4*h*l*sin(phi - psi)*s^2"},
      {"s", "a*m4*l*cos(psi)*w' + m4*h*l*cos(phi - psi)*p' + m4*l^2*s' - g*m4*l*sin(psi) + "
       "m4*l*cos(psi)*v*w - m4*l*cos(psi)*(h*sin(phi) + l*sin(psi))*w^2 - m4*h*l*sin(phi - psi)*p^2"}}},
    {"Talamucci, section 3.3, equation 20", "talamucci_3_3_unicycle", NULL, "kane",
     {{"phi'", "(M*R^2 + It + (m3 + m4)*h^2)*phi'' + m4*h*l*cos(phi - psi)*psi'' - g*(M*R + (m3 + "
       "m4)*h)*sin(phi) - cos(phi)*((M*R^2 + Ia - It)*sin(phi) + m3*h^2*sin(phi) + m4*h*(h*sin(phi) + "
       "l*sin(psi)))*theta'^2 + cos(phi)*(M*R^2 + Ia + R*(m3 + m4)*h)*theta'*chi' + m4*h*l*sin(phi - "
       "psi)*psi'^2"},
      {"psi'", "m4*h*l*cos(phi - psi)*phi'' + m4*l^2*psi'' - g*m4*l*sin(psi) - m4*l*cos(psi)*(h*sin(phi) + "
       "l*sin(psi))*theta'^2 + R*m4*l*cos(psi)*theta'*chi' - m4*h*l*sin(phi - psi)*phi'^2"},
      {"chi'", "-((Ia + M*R^2 + (m3 + m4)*h*R)*sin(phi) + m4*l*R*sin(psi))*theta'' + (Ia + (M + m3 + "
       "m4)*R^2)*chi'' - theta'*((2*M*R^2 + Ia + 2*R*(m3 + m4)*h)*cos(phi)*phi' + "
       "2*R*m4*l*cos(psi)*psi')"},
      {"theta'", "((M*R^2 + Ia)*sin(phi)^2 + It*cos(phi)^2 + m3*h^2*sin(phi)^2 + m4*(h*sin(phi) + "
       "l*sin(psi))^2)*theta'' - ((Ia + M*R^2 + (m3 + m4)*h*R)*sin(phi) + m4*l*R*sin(psi))*chi'' + "
       "2*theta'*(((M*R^2 + Ia - It)*sin(phi)*cos(phi) + m3*h^2*sin(phi)*cos(phi) + "
       "m4*h*cos(phi)*(h*sin(phi) + l*sin(psi)))*phi' + m4*l*cos(psi)*(h*sin(phi) + l*sin(psi))*psi') "
       "- Ia*cos(phi)*phi'*chi'"}}},
    {"Talamucci, section 3.4, equation 20", "talamucci_3_4_driven_unicycle", NULL, "kane",
     {{"phi'", "(M*R^2 + It + (m3 + m4)*h^2)*phi'' + m4*h*l*cos(phi - psi)*psi'' - g*(M*R + (m3 + "
       "m4)*h)*sin(phi) - cos(phi)*((M*R^2 + Ia - It)*sin(phi) + m3*h^2*sin(phi) + m4*h*(h*sin(phi) + "
       "l*sin(psi)))*theta'^2 + cos(phi)*(M*R^2 + Ia + R*(m3 + m4)*h)*theta'*(10 + 2*sin(t)) + "
       "m4*h*l*sin(phi - psi)*psi'^2"},
      {"psi'", "m4*h*l*cos(phi - psi)*phi'' + m4*l^2*psi'' - g*m4*l*sin(psi) - m4*l*cos(psi)*(h*sin(phi) + "
       "l*sin(psi))*theta'^2 + R*m4*l*cos(psi)*theta'*(10 + 2*sin(t)) - m4*h*l*sin(phi - psi)*phi'^2"}}},
};
/* clang-format on */
enum { CASES = sizeof cases / sizeof *cases };

static void generated_equations_are_not_longer_than_in_the_source(void **state) {
    const source_equations *p = *state;
    written_example e;
    hamel_error error = {0};
    if (p->example)
        written_open_example(&e, p->example, p->formulation);
    else
        written_open(&e, p->system, p->formulation);
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    e.model->system->error = &error;
    for (size_t k = 0; k < LINES && p->lines[k][0]; k++) {
        published_compare_line(&e, text, p->lines[k][0], p->lines[k][1]);
        published_compare_length(text, p->lines[k][0], p->lines[k][1]);
    }
    e.model->system->error = NULL;
    free(text);
    written_close(&e);
}

/* Words are names and numbers. a + b c has 2 terms and 3 words. (a + b)(c + d) has 4 words, and 4 terms of 2 words
 * after expansion. (a + b)^2 expands into the 3 terms a^2, 2 a b and b^2. The words of a denominator count once for
 * each term of the numerator. */
static void lengths_count_terms_and_words_before_and_after_expansion(void **state) {
    (void)state;
    published_length sum = published_measure("a + b*c"), product = published_measure("(a + b)*(c + d)");
    published_length square = published_measure("(a + b)^2"), quotient = published_measure("-(a + b')/(2*f(x, y))");
    assert_true(sum.terms == 2 && sum.words == 3 && sum.expanded_words == 3);
    assert_true(product.terms == 4 && product.words == 4 && product.expanded_words == 8);
    assert_true(square.terms == 3 && square.words == 3 && square.expanded_words == 7);
    assert_true(quotient.terms == 2 && quotient.words == 6 && quotient.expanded_words == 10);
    assert_int_equal(published_measure("0").terms, 0);
}

int main(void) {
    struct CMUnitTest tests[CASES + 1] = {0};
    for (size_t i = 0; i < CASES; i++) {
        tests[i].name = cases[i].source;
        tests[i].test_func = generated_equations_are_not_longer_than_in_the_source;
        tests[i].initial_state = (void *)&cases[i];
    }
    tests[CASES].name = "lengths_count_terms_and_words_before_and_after_expansion";
    tests[CASES].test_func = lengths_count_terms_and_words_before_and_after_expansion;
    return cmocka_run_group_tests_name("short_equations", tests, NULL, NULL);
}
