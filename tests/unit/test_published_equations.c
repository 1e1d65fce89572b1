/* test_published_equations.c — the generated equations of motion, reactions and Hamel coefficients agree with those
 * printed in books, at random states.
 *
 * The right column of the table is copied from the source. If the source has divided an equation by a factor, the table
 * contains the equation multiplied by this factor. The test compares the values of the left-hand side minus
 * the right-hand side. test_short_equations.c contains more equations, and also compares lengths with the source. */
#include "tests/unit/published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 7 };

typedef struct published {
    const char *source, *example, *system; /* either `example` (a name) or `system` (a description) is NULL */
    const char *formulation;
    const char *lines[LINES][2]; /* name of an equation, or "gamma[u; v, w]", and the text or value in the source */
} published;

#define PLANE(members) "{`hamel`: 1, `simulation`: {`stop`: 1, `initialization`: `project`}, " members "}"
#define BODY                                                                         \
    "`coordinates`: [{`name`: `x`}, {`name`: `y`}, {`name`: `p`, `initial`: 0.3}], " \
    "`parameters`: {`m`: 1.3, `I`: 0.4, `b`: 0.3, `l`: 0.7, `h`: 0.2, `FC`: 1.1, `FD`: 0.6, `Om`: 0.8}, "
#define FREE5(names, energies) \
    "`coordinates`: [" names "], `kinetic_energy`: `" energies "`, `parameters`: {`r`: 0.5, `b`: 0.6, `Om`: 2}, "

/* clang-format off */
static const published cases[] = {
    {"Papastavridis, example 3.2.3", "simple_pendulum", NULL, "lagrange",
     {{"theta", "m*l^2*(theta'' + g/l*sin(theta))"}}},
    {"Papastavridis, example 3.5.8", "papastavridis_3_5_8_double_pendulum", NULL, "lagrange",
     {{"φ1", "(m1 + m2)*l1^2*φ1'' + m2*l1*l2*(cos(φ2 - φ1)*φ2'' - sin(φ2 - φ1)*φ2'^2) + (m1 + m2)*g*l1*sin(φ1)"},
      {"φ2", "m2*l2^2*φ2'' + m2*l1*l2*(cos(φ2 - φ1)*φ1'' + sin(φ2 - φ1)*φ1'^2) + m2*g*l2*sin(φ2)"}}},
    {"Papastavridis, problem 3.5.7", "papastavridis_pr_3_5_7_relative_angles", NULL, "lagrange",
     {{"th1", "(m1*l1^2 + m2*(l1^2 + 2*l1*l2*cos(th2) + l2^2))*th1'' + m2*l2*(l1*cos(th2) + l2)*th2''"
              " - m2*l1*l2*sin(th2)*(th2'^2 + 2*th1'*th2') + (m1 + m2)*g*l1*sin(th1) + m2*g*l2*sin(th1 + th2)"},
      {"th2", "m2*l2^2*th2'' + m2*l2*(l1*cos(th2) + l2)*th1'' + m2*l1*l2*sin(th2)*th1'^2 + m2*g*l2*sin(th1 + th2)"}}},
    {"Papastavridis, example 3.5.8 (i)", "papastavridis_3_5_8_i_upper_thread_vertical", NULL, "lagrange",
     {{"p1", "(m1 + m2)*l1^2*p1'' + m2*l1*l2*(cos(p2 - p1)*p2'' - sin(p2 - p1)*p2'^2) + (m1 + m2)*g*l1*sin(p1)"
             " - lambda(vertical)*l1*cos(p1)"},
      {"p2", "m2*l2^2*p2'' + m2*l1*l2*(cos(p2 - p1)*p1'' + sin(p2 - p1)*p1'^2) + m2*g*l2*sin(p2)"}}},
    {"Papastavridis, problem 3.5.6", "papastavridis_pr_3_5_6_tip_on_vertical", NULL, "lagrange",
     {{"p2", "m2*l^2*(p2'' + cos(p2 - p1)*p1'' + sin(p2 - p1)*p1'^2) + m2*g*l*sin(p2) - lambda(vertical)*l*cos(p2)"}}},
    {"Papastavridis, example 3.5.10", "papastavridis_3_5_10_elastic_pendulum", NULL, "lagrange",
     {{"r", "m*(r'' - r*phi'^2 + k/m*(r - b) - g*cos(phi))"}, {"phi", "m*r*(r*phi'' + 2*r'*phi' + g*sin(phi))"}}},
    {"Papastavridis, problem 3.5.12", "papastavridis_pr_3_5_12_two_freedoms", NULL, "lagrange",
     /* A = 2 + sin x + y², G = 0.3 x y, B = 2 + x² + y²/2 */
     {{"x", "(2 + sin(x) + y^2)*x'' + 0.3*x*y*y'' + cos(x)*x'^2/2 + 2*y*x'*y' + (0.3*x - x)*y'^2"
            " + k*(2*x + y)/2 - c*y'"},
      {"y", "(2 + x^2 + y^2/2)*y'' + 0.3*x*y*x'' + y*y'^2/2 + 2*x*x'*y' + (0.3*y - y)*x'^2 + k*(x + 2*y)/2"
            " + c*x' + c*y'"}}},
    {"Papastavridis, example 1.17.7", "papastavridis_1_17_7_plate_about_its_point", NULL, "lagrange",
     {{"ph", "I*ph'' + m*((Y''*x - X''*y)*cos(ph) - (X''*x + Y''*y)*sin(ph)) - M"}}},
    {"Greenwood, example 4.12", "greenwood_4_12_bead_on_hoop", NULL, "lagrange",
     {{"theta", "m*r^2*(theta'' - (w0 + w1*t)^2*sin(theta)*cos(theta) - g/r*sin(theta))"}}},
    {"Baruh, example 4.10", "baruh_4_10_bead_on_hoop_by_angle", NULL, "lagrange",
     {{"theta", "m*R^2*(theta'' + sin(theta)*(g/R - W^2*cos(theta)))"}}},
    {"Baruh, example 4.1", "baruh_4_1_bead_in_tube", NULL, "lagrange",
     {{"x", "m*x'' - 2*x*lambda(tube)"}, {"y", "m*y'' + m*g - lambda(tube)"}}},
    {"Baruh, example 4.11", "baruh_4_11_cart_bar_dashpot", NULL, "lagrange",
     {{"x", "(M + m)*x'' + m*b/2*theta''*cos(theta) - m*b/2*theta'^2*sin(theta) + c*x' + c*b/2*theta'*cos(theta)"
            " + k*x - F"},
      {"theta", "m*b^2/3*theta'' + m*b/2*x''*cos(theta) + c*b/2*x'*cos(theta) + c*b^2/4*theta'*cos(theta)^2"
                " + m*g*b/2*sin(theta) - F*b*cos(theta)"}}},
    {"Baruh, example 4.12", "baruh_4_12_collar_on_rod", NULL, "lagrange",
     {{"r", "m*(r'' - r*theta'^2 - g*cos(theta))"},
      {"theta", "(M*L^2/3 + m*r^2)*theta'' + 2*m*r*r'*theta' + (m*r + M*L/2)*g*sin(theta)"}}},
    {"Baruh, exercise 4.9", "baruh_ex_4_9_rolling_cylinders", NULL, "lagrange",
     {{"theta", "m*R^2*(3*theta'' + (2*cos(beta) - 1)*beta'' - 2*beta'^2*sin(beta))"},
      {"beta", "m*R^2*(6*beta'' + (2*cos(beta) - 1)*theta'' - 2*g/R*sin(beta))"}}},
    {"Baruh, exercise 4.10", "baruh_ex_4_10_shortening_pendulum", NULL, "lagrange",
     {{"theta", "m*(L0*exp(-rate*t))^2*sin(phi)*(sin(phi)*(theta'' - 2*rate*theta') + 2*phi'*theta'*cos(phi))"},
      {"phi", "m*L0*exp(-rate*t)*(L0*exp(-rate*t)*(phi'' - 2*rate*phi' - sin(phi)*cos(phi)*theta'^2) + g*sin(phi))"}}},
    {"Baruh, exercise 4.13", "baruh_ex_4_13_disk_on_rod", NULL, "lagrange",
     {{"phi", "3/2*m*R^2*(theta'' + phi'') + m*R*(L - R*phi)*theta'^2 - m*g*R*sin(theta)"},
      {"theta", "(2/3*m*L^2 + 3/2*m*R^2 + m*(L - R*phi)^2)*theta'' + 3/2*m*R^2*phi'' - 2*m*R*(L - R*phi)*phi'*theta'"
                " - (M - m*g*L*cos(theta) - m*g*((L - R*phi)*cos(theta) - R*sin(theta)))"}}},
    {"Baruh, exercise 4.20", "baruh_ex_4_20_ladder_on_spring", NULL, "lagrange",
     {{"theta", "m*L^2/3*theta'' + k*L^2*sin(theta)*cos(theta) - m*g*L/2*sin(theta)"}}},
    {"Baruh, exercise 4.32", "baruh_ex_4_32_rod_on_springs", NULL, "lagrange",
     {{"y", "(M0 + m)*y'' + (c1 + c2)*y' + L/2*(c2 - c1)*theta' + (k1 + k2)*y + L/2*(k2 - k1)*theta - (M0 + m)*g"},
      {"theta", "m*L^2/12*theta'' + L/2*(c2 - c1)*y' + L^2/4*(c1 + c2)*theta' + L/2*(k2 - k1)*y"
                " + L^2/4*(k1 + k2)*theta"}}},
    {"Baruh, exercise 4.35", "baruh_ex_4_35_paraboloid", NULL, "lagrange",
     {{"r", "m*(r'' - r*phi'^2) + 2*r/b*lambda(bowl)"}, {"z", "m*z'' + m*g - lambda(bowl)"},
      {"phi", "m*(r^2*phi'' + 2*r*r'*phi')"}}},
    /* equations of motion in quasi-velocities, which contain no reactions */
    {"Greenwood, equations 4.317 to 4.319", "papastavridis_2_13_7_rolling_disk", NULL, "kane",
     {{"w1", "m*r^2*(5/4*w1' - w2^2/(4*tan(th)) + 3/2*w2*w3 + g/r*cos(th))"},
      {"w2", "m*r^2/4*(w2' + w1*w2/tan(th) - 2*w1*w3)"},
      {"w3", "m*r^2*(3/2*w3' - w1*w2)"}}},
    {"Euler's equations; Papastavridis, example 1.17.11", "papastavridis_1_17_11_euler_equations", NULL,
     "boltzmann-hamel",
     {{"w1", "I1*w1' - (I2 - I3)*w2*w3 - M1"}, {"w2", "I2*w2' - (I3 - I1)*w3*w1 - M2*cos(2*t)"},
      {"w3", "I3*w3' - (I1 - I2)*w1*w2 + c*w3"},
      {"gamma[w1; w2, w3]", "1"}, {"gamma[w2; w1, w3]", "-1"}, {"gamma[w3; w1, w2]", "1"}}},
    {"Greenwood, example 4.10", NULL,
     PLANE(BODY "`kinetic_energy`: `m/2*(2*x'^2 + 2*y'^2 + l^2*p'^2 + 2*l*p'*(-x'*sin(p) + y'*cos(p)))`,"
                "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(p) + y'*sin(p)`},"
                "{`name`: `w`, `definition`: `p'`}],"
                "`constraints`: [{`name`: `edge`, `equation`: `-x'*sin(p) + y'*cos(p) = 0`}]"), "gibbs-appell",
     {{"v", "m*(2*v' - l*w^2)"}, {"w", "m*l*(l*w' + v*w)"}}},
    {"Greenwood, example 4.13", NULL,
     PLANE(BODY "`kinetic_energy`: `m/2*(2*x'^2 + 2*y'^2 + l^2*p'^2 + 2*l*p'*(-x'*sin(p) + y'*cos(p)))`,"
                "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(p + Om*t) + y'*sin(p + Om*t)`},"
                "{`name`: `w`, `definition`: `p'`}],"
                "`constraints`: [{`name`: `edge`, `equation`: `-x'*sin(p + Om*t) + y'*cos(p + Om*t) = 0`}]"),
     "boltzmann-hamel",
     {{"v", "2*m*v' + m*l*w'*sin(Om*t) - m*l*w^2*cos(Om*t)"},
      {"w", "m*l^2*w' + m*l*v'*sin(Om*t) + m*l*v*(w + Om)*cos(Om*t)"},
      {"gamma[edge; v, w]", "-1"}, {"gamma[edge; v, t]", "-Om"}}},
    {"Baruh, example 4.14", NULL,
     PLANE(BODY "`kinetic_energy`: `m*(x'^2 + y'^2)/2 + I*p'^2/2`,"
                "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(p) + y'*sin(p)`},"
                "{`name`: `w`, `definition`: `p'`}],"
                "`generalized_forces`: {`v`: `FC + FD`, `w`: `(FD - FC)*h`},"
                "`constraints`: [{`name`: `axle`, `equation`: `-x'*sin(p) + y'*cos(p) = l*p'`}]"), "kane",
     {{"v", "m*(v' - l*w^2) - (FC + FD)"}, {"w", "(I + m*l^2)*w' + m*l*v*w - (FD - FC)*h"}}},
    {"Papastavridis, example 2.13.2, mass centre ahead of the blade", NULL,
     PLANE(BODY "`kinetic_energy`: `m*((x' - b*sin(p)*p')^2 + (y' + b*cos(p)*p')^2)/2 + I*p'^2/2`,"
                "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(p) + y'*sin(p)`},"
                "{`name`: `w`, `definition`: `p'`}],"
                "`constraints`: [{`name`: `blade`, `equation`: `-x'*sin(p) + y'*cos(p) = 0`}]"), "kane",
     {{"v", "m*(v' - b*w^2)"}, {"w", "(I + m*b^2)*w' + m*b*v*w"}}},
    /* reactions; see also test_kinetostatic.c */
    {"Baruh, example 4.14 [s], with the signs of [f]", NULL,
     PLANE(BODY "`kinetic_energy`: `m*(x'^2 + y'^2)/2 + I*p'^2/2`,"
                "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(p) + y'*sin(p)`},"
                "{`name`: `w`, `definition`: `p'`}],"
                "`generalized_forces`: {`v`: `FC + FD`, `w`: `(FD - FC)*h`},"
                "`constraints`: [{`name`: `axle`, `equation`: `x'*sin(p) - y'*cos(p) + l*p' = 0`}]"), "boltzmann-hamel",
     {{"lambda(axle)", "-m*v*w - m*l*w'"}}},
    /* complete tables of coefficients, so the systems have no constraints */
    {"Papastavridis, example 2.13.2", NULL,
     PLANE(BODY "`kinetic_energy`: `x'^2 + y'^2 + p'^2`, `quasi_velocities`: ["
                "{`name`: `u1`, `definition`: `-sin(p)*x' + cos(p)*y'`},"
                "{`name`: `u2`, `definition`: `cos(p)*x' + sin(p)*y'`}, {`name`: `u3`, `definition`: `p'`}]"),
     "boltzmann-hamel", {{"gamma[u1; u2, u3]", "-1"}, {"gamma[u2; u1, u3]", "1"}}},
    {"Papastavridis, example 2.13.3", NULL,
     PLANE(FREE5("`x`, `y`, {`name`: `p`, `initial`: 0.3}, `s`", "x'^2 + y'^2 + p'^2 + s'^2")
           "`quasi_velocities`: [{`name`: `u1`, `definition`: `x' - r*cos(p)*s'`},"
           "{`name`: `u2`, `definition`: `y' - r*sin(p)*s'`}, {`name`: `u3`, `definition`: `p'`},"
           "{`name`: `u4`, `definition`: `s'`}]"), "boltzmann-hamel",
     {{"gamma[u1; u3, u4]", "-r*sin(p)"}, {"gamma[u2; u3, u4]", "r*cos(p)"}}},
    {"Papastavridis, example 2.13.4", NULL,
     PLANE(FREE5("`X`, `Y`, {`name`: `p`, `initial`: 0.3}, {`name`: `q`, `initial`: 1.1}, `s`",
                 "X'^2 + Y'^2 + p'^2 + q'^2 + s'^2")
           "`quasi_velocities`: [{`name`: `wX`, `definition`: `cos(p)*q' + sin(p)*sin(q)*s'`},"
           "{`name`: `wY`, `definition`: `sin(p)*q' - cos(p)*sin(q)*s'`},"
           "{`name`: `wZ`, `definition`: `p' + cos(q)*s'`}],"
           "`constraints`: [{`name`: `c1`, `equation`: `X' - r*wY = 0`}, {`name`: `c2`, `equation`: `Y' + r*wX = 0`}]"),
     "boltzmann-hamel",
     {{"gamma[wX; wY, wZ]", "-1"}, {"gamma[wY; wX, wZ]", "1"}, {"gamma[wZ; wX, wY]", "-1"},
      {"gamma[c1; wX, wZ]", "-r"}, {"gamma[c2; wY, wZ]", "-r"}}},
    {"Papastavridis, example 2.13.7", NULL,
     PLANE(FREE5("`x`, `y`, {`name`: `p`, `initial`: 0.3}, {`name`: `q`, `initial`: 1.1}, `s`",
                 "x'^2 + y'^2 + p'^2 + q'^2 + s'^2")
           "`quasi_velocities`: [{`name`: `u1`, `definition`: `cos(p)*x' + sin(p)*y' + r*(s' + cos(q)*p')`},"
           "{`name`: `u2`, `definition`: `-sin(p)*x' + cos(p)*y' + r*sin(q)*q'`},"
           "{`name`: `u3`, `definition`: `q'`}, {`name`: `u4`, `definition`: `sin(q)*p'`},"
           "{`name`: `u5`, `definition`: `cos(q)*p' + s'`}]"), "boltzmann-hamel",
     {{"gamma[u1; u2, u4]", "1/sin(q)"}, {"gamma[u2; u1, u4]", "-1/sin(q)"}, {"gamma[u2; u4, u5]", "-r/sin(q)"},
      {"gamma[u4; u3, u4]", "-1/tan(q)"}, {"gamma[u5; u3, u4]", "1"}}},
    {"Papastavridis, example 2.13.7, with the velocity of the point of contact", NULL,
     PLANE(FREE5("`x`, `y`, {`name`: `p`, `initial`: 0.3}, {`name`: `q`, `initial`: 1.1}, `s`",
                 "x'^2 + y'^2 + p'^2 + q'^2 + s'^2")
           "`quasi_velocities`: [{`name`: `u1`, `definition`: `-sin(p)*x' + cos(p)*y'`},"
           "{`name`: `u2`, `definition`: `r*s' + cos(p)*x' + sin(p)*y'`},"
           "{`name`: `u3`, `definition`: `p'`}, {`name`: `u4`, `definition`: `q'`},"
           "{`name`: `u5`, `definition`: `cos(p)*x' + sin(p)*y'`}]"), "boltzmann-hamel",
     {{"gamma[u1; u3, u5]", "1"}, {"gamma[u2; u1, u3]", "1"}, {"gamma[u5; u1, u3]", "1"}}},
    {"Papastavridis, example 2.13.8; the third coefficient contains the factor 2 of the definition of u4", NULL,
     PLANE(FREE5("`x`, `y`, {`name`: `p`, `initial`: 0.3}, `q`, `s`", "x'^2 + y'^2 + p'^2 + q'^2 + s'^2")
           "`quasi_velocities`: [{`name`: `u1`, `definition`: `cos(p)*x' + sin(p)*y'`},"
           "{`name`: `u2`, `definition`: `-sin(p)*x' + cos(p)*y'`}, {`name`: `u3`, `definition`: `p'`},"
           "{`name`: `u4`, `definition`: `2*(-sin(p)*x' + cos(p)*y') + r*(q' + s')`},"
           "{`name`: `u5`, `definition`: `2*b*p' + r*(q' - s')`}]"), "boltzmann-hamel",
     {{"gamma[u1; u2, u3]", "1"}, {"gamma[u2; u1, u3]", "-1"}, {"gamma[u4; u1, u3]", "-2"}}},
    {"Papastavridis, example 2.13.9, with the line of nodes as the first axis", NULL,
     PLANE("`coordinates`: [{`name`: `p`, `initial`: 0.2}, {`name`: `q`, `initial`: 1.1}, `s`], `kinetic_energy`: `p'^2 + q'^2 + s'^2`,"
           "`quasi_velocities`: [{`name`: `u1`, `definition`: `q'`}, {`name`: `u2`, `definition`: `sin(q)*p'`},"
           "{`name`: `u3`, `definition`: `cos(q)*p' + s'`}]"), "boltzmann-hamel",
     {{"gamma[u2; u1, u2]", "-1/tan(q)"}, {"gamma[u3; u1, u2]", "1"}}},
    {"Papastavridis, example 2.13.10", NULL,
     PLANE("`coordinates`: [{`name`: `p`, `initial`: 0.2}, {`name`: `q`, `initial`: 0.4}, `s`], `kinetic_energy`: `p'^2 + q'^2 + s'^2`,"
           "`quasi_velocities`: [{`name`: `wx`, `definition`: `s' - sin(q)*p'`}, {`name`: `wy`, `definition`: `q'`},"
           "{`name`: `wz`, `definition`: `cos(q)*p'`}]"), "boltzmann-hamel",
     {{"gamma[wx; wy, wz]", "1"}, {"gamma[wz; wy, wz]", "tan(q)"}}},
    {"Papastavridis, example 2.13.6", NULL,
     PLANE(FREE5("`X`, `Y`, {`name`: `p`, `initial`: 0.3}, {`name`: `q`, `initial`: 1.1}, `s`",
                 "X'^2 + Y'^2 + p'^2 + q'^2 + s'^2")
           "`quasi_velocities`: [{`name`: `wX`, `definition`: `cos(p)*q' + sin(p)*sin(q)*s'`},"
           "{`name`: `wY`, `definition`: `sin(p)*q' - cos(p)*sin(q)*s'`},"
           "{`name`: `wZ`, `definition`: `p' + cos(q)*s'`}],"
           "`constraints`: [{`name`: `c1`, `equation`: `X' - r*wY + Om*Y = 0`},"
           "{`name`: `c2`, `equation`: `Y' + r*wX - Om*X = 0`}]"), "boltzmann-hamel",
     {{"gamma[wX; wY, wZ]", "-1"}, {"gamma[wY; wX, wZ]", "1"}, {"gamma[wZ; wX, wY]", "-1"},
      {"gamma[c1; wX, wZ]", "-r"}, {"gamma[c2; wY, wZ]", "-r"}, {"gamma[c1; wX, t]", "r*Om"},
      {"gamma[c2; wY, t]", "r*Om"}}},
    /* constraints solved for dependent velocities; example 2.12.1 and problem 2.12.2 define the coefficients w and
     * t */
    {"Papastavridis, example 2.12.1", NULL,
     PLANE("`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.4}, {`name`: `z`, `initial`: 0.5}],"
           "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
           "`constraints`: [{`name`: `c`, `equation`: `z' = (x + t*y)*x' + t*z*y' + t*x*y`}]"), "voronets",
     /* w_xy = db_x/dy - (db_y/dx + b_x db_y/dz), w_x = db_x/dt - (db/dx + b_x db/dz), w_y = db_y/dt + b db_y/dz - db/dy
      * */
     {{"w[z; x, y]", "t - t*(x + t*y)"}, {"w[z; x, t]", "y - t*y"}, {"w[z; y, t]", "z + t*x*y*t - t*x"},
      {"b[z, x]", "x + t*y"}, {"b[z, y]", "t*z"}, {"b[z]", "t*x*y"},
      {"T_o", "(x'^2 + y'^2 + ((x + t*y)*x' + t*z*y' + t*x*y)^2)/2"}}},
    {"Papastavridis, problem 2.12.1: catastatic", NULL,
     PLANE("`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.4}, {`name`: `z`, `initial`: 0.5}],"
           "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
           "`constraints`: [{`name`: `c`, `equation`: `z' = (x + t*y)*x' + t*z*y'`}]"), "voronets",
     {{"w[z; x, y]", "t - t*(x + t*y)"}, {"w[z; x, t]", "y"}, {"w[z; y, t]", "z"}}},
    {"Papastavridis, problem 2.12.3: stationary", NULL,
     PLANE("`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.4}, {`name`: `z`, `initial`: 0.5}],"
           "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
           "`constraints`: [{`name`: `c`, `equation`: `z' = (x + y)*x' + z*y'`}]"), "voronets",
     {{"w[z; x, y]", "1 - (x + y)"}}},
    {"Papastavridis, problem 2.12.2: Chaplygin's case", NULL,
     PLANE("`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.4}, {`name`: `z`, `initial`: 0.5}],"
           "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
           "`constraints`: [{`name`: `c`, `equation`: `z' = x*y^2*x' + sin(x)*y'`}]"), "chaplygin",
     {{"t[z; x, y]", "2*x*y - cos(x)"},
      {"x'", "(1 + x^2*y^4)*x'' + x*y^2*sin(x)*y'' + x*y^4*x'^2 + 2*x^2*y^3*x'*y' + x*y^2*cos(x)*x'*y'"},
      {"y'", "(1 + sin(x)^2)*y'' + x*y^2*sin(x)*x'' + sin(x)*(y^2*x'^2 + 2*x*y*x'*y' + cos(x)*x'*y')"}}},
    {"Chaplygin's sleigh; Neimark & Fufaev, chapter 3", "chaplygin_sleigh", NULL, "chaplygin",
     /* with the speed v = x'/cos(phi), the published equations are v' = b phi'^2 and (I + m b^2) phi'' = -m b v phi' */
     {{"b[y, x]", "tan(phi)"}, {"t[y; x, phi]", "1/cos(phi)^2"},
      {"T_o", "m*(x'/cos(phi))^2/2 + (I + m*b^2)*phi'^2/2"},
      {"x'", "(m*x''/cos(phi) + m*x'*phi'*sin(phi)/cos(phi)^2 - m*b*phi'^2)/cos(phi)"},
      {"phi'", "(I + m*b^2)*phi'' + m*b*x'/cos(phi)*phi'"}}},
    {"Chaplygin's sleigh, Hadamard's form", "chaplygin_sleigh", NULL, "hadamard",
     /* E_x + tan(phi) E_y with E_x = m (x'' - b sin(phi) phi'' - b cos(phi) phi'^2), E_y = m (y'' + b cos(phi) phi'' -
      * b sin(phi) phi'^2) */
     {{"x'", "m*(x'' - b*sin(phi)*phi'' - b*cos(phi)*phi'^2) + tan(phi)*m*(y'' + b*cos(phi)*phi'' - "
             "b*sin(phi)*phi'^2)"},
      {"phi'", "(I + m*b^2)*phi'' + m*b*(y''*cos(phi) - x''*sin(phi))"}}},
    {"Papastavridis, example 2.13.3: vertical disk", "coin_on_incline", NULL, "chaplygin",
     {{"b[x, psi]", "R*cos(phi)"}, {"b[y, psi]", "R*sin(phi)"}, {"t[x; phi, psi]", "R*sin(phi)"},
      {"t[y; phi, psi]", "-R*cos(phi)"}, {"T_o", "(m*R^2 + I)*psi'^2/2 + Id*phi'^2/2"}, {"phi'", "Id*phi''"},
      {"psi'", "(m*R^2 + I)*psi'' - m*g*R*sin(alpha)*cos(phi)"}}},
    /* all w of x and y vanish; the only other w belong to the spins p1 and p2 of the lower cylinders */
    {"Papastavridis, example 2.2.4: Ishlinsky's problem", "papastavridis_2_2_4_ishlinsky", NULL, "voronets",
     {{"w[p1; th, ps]", "R/(2*r*sin(th))"}, {"w[p2; th, ps]", "-R/(2*r*sin(chi - th))"}, {"b[x, ps]", "R*sin(th)"},
      {"b[y, ps]", "-R*cos(th)"}, {"b[x, th]", "r*p1 - y"}}},
    {"Papastavridis, example 2.13.7: rolling disk", "greenwood_4_11_rolling_disk", NULL, "chaplygin",
     {{"t[X; phi, psi]", "-r*sin(phi)"}, {"t[Y; phi, psi]", "r*cos(phi)"}}},
    /* with A = m r^2/4 and C = m r^2/2, 2 T_o = A sin^2(th) ph'^2 + (A + m r^2) th'^2 + (C + m r^2) (ps' + cos(th)
     * ph')^2 */
    {"Papastavridis, example 2.13.7: rolling disk, other constraints", "papastavridis_2_13_7_rolling_disk", NULL,
     "chaplygin",
     {{"X'", "-r*cos(ph)*(ps' + cos(th)*ph') + r*sin(ph)*sin(th)*th'"}, {"t[X; ph, ps]", "-r*sin(ph)"},
      {"t[Y; ph, ps]", "r*cos(ph)"},
      {"T_o", "m*r^2*(sin(th)^2*ph'^2/4 + 5*th'^2/4 + 3*(ps' + cos(th)*ph')^2/2)/2"},
      {"ps'", "3*m*r^2/2*(cos(th)*ph'' - sin(th)*ph'*th' + ps'') - m*r^2*sin(th)*ph'*th'"}}},
    {"Papastavridis, example 2.13.5: sphere on a turning table", "papastavridis_2_13_5_ball_on_turntable", NULL,
     "voronets",
     /* X' = r wY - Om Y, Y' = -r wX + Om X with wX = cos(ph) th' + sin(ph) sin(th) ps', wY = sin(ph) th' - cos(ph)
      * sin(th) ps'. The equation of ph is the rate of the angular momentum about the vertical axis. */
     {{"b[X, th]", "r*sin(ph)"}, {"b[X, ps]", "-r*cos(ph)*sin(th)"}, {"b[X]", "-Om*Y"}, {"b[Y, th]", "-r*cos(ph)"},
      {"b[Y, ps]", "-r*sin(ph)*sin(th)"}, {"b[Y]", "Om*X"}, {"ph'", "I*(ph'' + cos(th)*ps'' - sin(th)*th'*ps')"}}},
    {"Papastavridis, problem 2.13.1: knife on a turning table", "papastavridis_pr_2_13_1_knife_on_turntable", NULL,
     "voronets",
     /* Y' = tan(Ph) X' + w (X + Y tan(Ph)): w_XPh = 1/cos^2, w_X = d/dY b tan - (d/dX + tan d/dY) b, w_Ph = -db/dPh */
     {{"b[Y, X]", "tan(Ph)"}, {"w[Y; X, Ph]", "1/cos(Ph)^2"},
      {"w[Y; X, t]", "-w/cos(Ph)^2"}, {"w[Y; Ph, t]", "-w*Y/cos(Ph)^2"}}},
    {"Greenwood, example 4.13: turning knife edge", "greenwood_4_13_turning_knife_edge", NULL, "voronets",
     {{"b[y, x]", "tan(phi + Omega*t)"}, {"w[y; x, phi]", "1/cos(phi + Omega*t)^2"},
      {"w[y; x, t]", "Omega/cos(phi + Omega*t)^2"}}},
};
/* clang-format on */
enum { CASES = sizeof cases / sizeof *cases };

/* Symbols of coefficients. A case that lists one of these coefficients lists all that do not vanish. */
static const char *const complete[] = {"gamma[", "w[", "t["};

/* Returns the number of lines that begin with one of the symbols in `complete`. */
static size_t count_coefficients(const char *text) {
    size_t count = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        for (size_t k = 0; k < sizeof complete / sizeof *complete; k++)
            count += strncmp(line, complete[k], strlen(complete[k])) == 0;
    return count;
}

static void the_equations_agree_with_the_source(void **state) {
    const published *p = *state;
    written_example e;
    hamel_error error = {0};
    size_t coefficients = 0;
    if (p->example)
        written_open_example(&e, p->example, p->formulation);
    else
        written_open(&e, p->system, p->formulation);
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    e.model->system->error = &error;
    for (size_t k = 0; k < LINES && p->lines[k][0]; k++) {
        published_compare_line(&e, text, p->lines[k][0], p->lines[k][1]);
        coefficients += count_coefficients(p->lines[k][0]);
    }
    bool listed = coefficients > 0 && coefficients == count_coefficients(text);
    if (coefficients > 0 && !listed) print_message("%s\n", text);
    if (coefficients > 0) assert_true(listed);
    e.model->system->error = NULL;
    free(text);
    written_close(&e);
}

int main(void) {
    struct CMUnitTest tests[CASES] = {0};
    for (size_t i = 0; i < CASES; i++) {
        tests[i].name = cases[i].source;
        tests[i].test_func = the_equations_agree_with_the_source;
        tests[i].initial_state = (void *)&cases[i];
    }
    return cmocka_run_group_tests_name("published_equations", tests, NULL, NULL);
}
