/* test_sensitivities.c — derivatives of trajectories with respect to parameters and initial values: closed forms,
 * exact scaling laws, and central differences of complete runs. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const METHODS[] = {"adams", "bdf"};

static double at(const motion *m, size_t row, const char *column) {
    return motion_value(m, row, motion_column(m, column));
}

/* --- closed forms -------------------------------------------------------------------------------------------------- */

/* The solution x = a cos ωt + v/ω sin ωt, with ω² = k/m and k = c², gives the derivatives with respect to c, m, a and
 * v. */
static void an_oscillator_has_the_derivatives_of_its_solution(void **state) {
    (void)state;
    const double c = 1.3, mass = 0.7, a = 0.4, v = -0.2, w = c / sqrt(mass);
    for (int i = 0; i < 2; i++) {
        char simulation[300];
        snprintf(simulation, sizeof simulation,
                 "`stop`: 6, `samples`: 13, `rtol`: 1e-10, `atol`: 1e-12, `method`: `%s`,"
                 "`sensitivities`: [`c`, `m`, `x.initial`, `x.velocity`]",
                 METHODS[i]);
        motion m = motion_run("`parameters`: {`c`: 1.3, `k`: `c^2`, `m`: 0.7},"
                              "`coordinates`: [{`name`: `x`, `initial`: 0.4, `velocity`: -0.2}],"
                              "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `k*x^2/2`",
                              simulation);
        for (size_t row = 0; row < m.row_count; row++) {
            double t = at(&m, row, "t"), C = cos(w * t), S = sin(w * t);
            double by_w = -a * t * S + v * (t * C / w - S / (w * w));
            assert_near("d(x)/d(c)", at(&m, row, "d(x)/d(c)"), by_w / sqrt(mass), 1e-7);
            assert_near("d(x)/d(m)", at(&m, row, "d(x)/d(m)"), -by_w * w / (2 * mass), 1e-7);
            assert_near("d(x)/d(x.initial)", at(&m, row, "d(x)/d(x.initial)"), C, 1e-7);
            assert_near("d(x')/d(x.initial)", at(&m, row, "d(x')/d(x.initial)"), -w * S, 1e-7);
            assert_near("d(x)/d(x.velocity)", at(&m, row, "d(x)/d(x.velocity)"), S / w, 1e-7);
            assert_near("d(x')/d(x.velocity)", at(&m, row, "d(x')/d(x.velocity)"), C, 1e-7);
        }
        motion_free(&m);
    }
}

/* Ten inputs need two groups of SIMD lanes. All ten inputs change the stiffness, so each sensitivity is a multiple of
 * ∂x/∂k. */
static void more_inputs_than_lanes_are_all_correct(void **state) {
    (void)state;
    motion m =
        motion_run("`parameters`: {`a`: 1, `b`: 1, `c`: 1, `d`: 1, `e`: 1, `f`: 1, `g`: 1, `h`: 1, `i`: 1, `j`: 1},"
                   "`coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2/2`,"
                   "`potential_energy`: `(a + 2*b + c + d + e + f + g + h + i + 3*j)*x^2/2`",
                   "`stop`: 2, `samples`: 5, `rtol`: 1e-10, `atol`: 1e-12,"
                   "`sensitivities`: [`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`, `i`, `j`]");
    const double w = sqrt(13);
    for (size_t row = 0; row < m.row_count; row++) {
        double t = at(&m, row, "t"), by_k = -t * sin(w * t) / (2 * w);
        assert_near("by a", at(&m, row, "d(x)/d(a)"), by_k, 1e-8);
        assert_near("by b", at(&m, row, "d(x)/d(b)"), 2 * by_k, 1e-8);
        assert_near("by h", at(&m, row, "d(x)/d(h)"), by_k, 1e-8);
        assert_near("by i", at(&m, row, "d(x)/d(i)"), by_k, 1e-8);
        assert_near("by j", at(&m, row, "d(x)/d(j)"), 3 * by_k, 1e-8);
    }
    motion_free(&m);
}

#define PENDULUM                                                                              \
    "`parameters`: {`l`: 1.2, `g`: 9.81, `m`: 0.8},"                                          \
    "`coordinates`: [{`name`: `x`, `initial`: `0.6*l`}, {`name`: `y`, `initial`: `-0.8*l`}]," \
    "`kinetic_energy`: `m*(x'^2 + y'^2)/2`, `potential_energy`: `m*g*y`,"                     \
    "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}%s], `outputs`: {`height`: `y + l`%s}"

/* The angle of a pendulum that starts at rest is a function of t √(g/l). Therefore ∂x/∂g = t x'/(2g), ∂x/∂l = x/l − t
 * x'/(2l), ∂x'/∂m = 0 and x ∂x/∂l + y ∂y/∂l = l for any amplitude. */
static void assert_pendulum_scales(const char *simulation, const char *other_constraint, const char *outputs,
                                   double bound) {
    char system[1000];
    snprintf(system, sizeof system, PENDULUM, other_constraint, outputs);
    motion m = motion_run(system, simulation);
    const double g = 9.81, l = 1.2;
    for (size_t row = 0; row < m.row_count; row++) {
        double t = at(&m, row, "t"), x = at(&m, row, "x"), y = at(&m, row, "y"), dx = at(&m, row, "x'"),
               dy = at(&m, row, "y'");
        assert_near("d(x)/d(g)", at(&m, row, "d(x)/d(g)"), t * dx / (2 * g), bound);
        assert_near("d(y)/d(g)", at(&m, row, "d(y)/d(g)"), t * dy / (2 * g), bound);
        assert_near("d(x)/d(l)", at(&m, row, "d(x)/d(l)"), x / l - t * dx / (2 * l), bound);
        assert_near("d(height)/d(l)", at(&m, row, "d(height)/d(l)"), y / l - t * dy / (2 * l) + 1, bound);
        assert_near("d(x')/d(m)", at(&m, row, "d(x')/d(m)"), 0, bound);
        assert_near("rod constraint", x * at(&m, row, "d(x)/d(l)") + y * at(&m, row, "d(y)/d(l)"), l, 1e-12);
        assert_near("rate of the rod constraint",
                    x * at(&m, row, "d(x')/d(l)") + dx * at(&m, row, "d(x)/d(l)") + y * at(&m, row, "d(y')/d(l)") +
                        dy * at(&m, row, "d(y)/d(l)"),
                    0, 1e-11);
    }
    motion_free(&m);
}

static void every_method_and_formulation_satisfies_the_scaling_laws_of_a_pendulum(void **state) {
    (void)state;
    static const char *const ways[] = {"`method`: `adams`",
                                       "`method`: `bdf`",
                                       "`formulation`: `udwadia-kalaba`",
                                       "`formulation`: `gauss`",
                                       "`formulation`: `maggi`",
                                       "`formulation`: `kane`",
                                       "`formulation`: `gibbs-appell`",
                                       "`formulation`: `boltzmann-hamel`"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char simulation[300];
        snprintf(simulation, sizeof simulation,
                 "`stop`: 3, `samples`: 7, `rtol`: 1e-9, `atol`: 1e-11, `sensitivities`: [`g`, `l`, `m`], %s", ways[i]);
        assert_pendulum_scales(simulation, "", "", 1e-6);
    }
}

/* If sensitivities were not projected, the residual of the linearized constraints would grow like t² for 100 s. */
static void long_runs_satisfy_the_linearized_constraints(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char simulation[300];
        snprintf(simulation, sizeof simulation,
                 "`stop`: 100, `samples`: 11, `rtol`: 1e-9, `atol`: 1e-11, `sensitivities`: [`g`, `l`, `m`],"
                 "`method`: `%s`",
                 METHODS[i]);
        assert_pendulum_scales(simulation, "", "", 1e-5);
    }
}

static void redundant_constraints_do_not_change_the_sensitivities(void **state) {
    (void)state;
    assert_pendulum_scales("`stop`: 3, `samples`: 7, `rtol`: 1e-9, `atol`: 1e-11, `sensitivities`: [`g`, `l`, `m`]",
                           ", {`name`: `again`, `equation`: `x^2 + y^2 - l^2 = 0`}", "", 1e-6);
}

/* The tension of a pendulum is m g F(t √(g/l)) with some function F, so the tension is linear in m. By the radial
 * equation of motion, the tension is m (g (−y) + x'² + y'²)/l. */
static void sensitivities_of_outputs_include_multipliers_and_accelerations(void **state) {
    (void)state;
    char system[1000];
    snprintf(system, sizeof system, PENDULUM, "", ", `T`: `-2*lambda(rod)*l`, `a`: `x''`");
    motion m = motion_run(system, "`stop`: 2, `samples`: 9, `rtol`: 1e-10, `atol`: 1e-12, `sensitivities`: [`m`, `g`]");
    for (size_t row = 0; row < m.row_count; row++) {
        double x = at(&m, row, "x"), T = at(&m, row, "T"), by_g = at(&m, row, "d(T)/d(g)");
        double y = at(&m, row, "y"), dx = at(&m, row, "x'"), dy = at(&m, row, "y'");
        assert_near("d(T)/d(m)", at(&m, row, "d(T)/d(m)"), T / 0.8, 1e-7);
        assert_near("d(T)/d(g)", by_g,
                    0.8 / 1.2 *
                        (-y - 9.81 * at(&m, row, "d(y)/d(g)") +
                         2 * (dx * at(&m, row, "d(x')/d(g)") + dy * at(&m, row, "d(y')/d(g)"))),
                    1e-7);
        assert_near("d(a)/d(g)", at(&m, row, "d(a)/d(g)"), -(by_g * x + T * at(&m, row, "d(x)/d(g)")) / (0.8 * 1.2),
                    1e-7);
    }
    motion_free(&m);
}

/* --- central differences --------------------------------------------------------------------------------------------- */

/* A system with two inputs. The values of the inputs are inserted into its text. */
typedef struct differing {
    const char *system, *simulation, *inputs[2];
    double values[2], event_records; /* `event_records`: minimum number of event records of the run */
} differing;

/* clang-format off */
static const differing systems[] = {
    /* double pendulum */
    {"`parameters`: {`m`: %.17g},"
     "`coordinates`: [{`name`: `a`, `initial`: %.17g}, {`name`: `b`, `initial`: -0.5}],"
     "`kinetic_energy`: `(1 + m)*a'^2/2 + m*b'^2/2 + m*a'*b'*cos(a - b)`,"
     "`potential_energy`: `-9.81*((1 + m)*cos(a) + m*cos(b))`, `outputs`: {`E`: `energy()`}",
     "`stop`: 2", {"m", "a.initial"}, {0.7, 0.9}, 0},
    /* an initial state far from the constraint, with M depending on the state */
    {"`parameters`: {`l`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: %.17g, `velocity`: 0.5},"
     "                {`name`: `y`, `initial`: -0.9, `velocity`: `l`}],"
     "`kinetic_energy`: `(1 + x^2)*(x'^2 + y'^2 + x'*y'/2)/2`, `potential_energy`: `9.81*y`,"
     "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}], `outputs`: {`T`: `lambda(rod)`}",
     "`stop`: 1.5", {"l", "x.initial"}, {1.1, 1.4}, 0},
    /* four-bar linkage */
    {"`parameters`: {`l2`: %.17g},"
     "`coordinates`: [{`name`: `a`, `initial`: 1.2, `velocity`: %.17g},"
     "                {`name`: `b`, `initial`: 0.4}, {`name`: `c`, `initial`: 1.6}],"
     "`kinetic_energy`: `(a'^2 + l2^2*b'^2 + c'^2)/2 + a'*b'*cos(a - b)/3`,"
     "`potential_energy`: `4*sin(a) + 3*l2*sin(b)`,"
     "`constraints`: [{`name`: `closed_x`, `equation`: `cos(a) + l2*cos(b) - 1.5*cos(c) = 2`},"
     "                {`name`: `closed_y`, `equation`: `sin(a) + l2*sin(b) - 1.5*sin(c) = 0`}]",
     "`stop`: 1", {"l2", "a.velocity"}, {2.2, 0.8}, 0},
    /* Chaplygin's sleigh */
    {"`parameters`: {`d`: %.17g},"
     "`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: %.17g, `velocity`: 1.5}],"
     "`kinetic_energy`: `((x' - d*phi'*sin(phi))^2 + (y' + d*phi'*cos(phi))^2)/2 + 0.1*phi'^2`,"
     "`constraints`: [{`name`: `blade`, `equation`: `-x'*sin(phi) + y'*cos(phi) = 0`}],"
     "`outputs`: {`side`: `lambda(blade)`}",
     "`stop`: 3", {"d", "phi.initial"}, {0.3, 0.2}, 0},
    /* a disk that rolls and leans, where (x, y) is the horizontal position of its centre */
    {"`parameters`: {`r`: %.17g, `m`: 1.3},"
     "`coordinates`: [`x`, `y`, {`name`: `theta`, `initial`: %.17g}, {`name`: `psi`, `velocity`: 2},"
     "                {`name`: `phi`, `velocity`: 0.4}],"
     "`kinetic_energy`: `m/2*(x'^2 + y'^2 + (r*theta'*cos(theta))^2) + m*r^2/8*(theta'^2 + (psi'*sin(theta))^2)"
     "                   + m*r^2/4*(phi' + psi'*cos(theta))^2`,"
     "`potential_energy`: `m*9.81*r*sin(theta)`,"
     "`constraints`: [{`name`: `along`, `equation`: `x'*cos(psi) + y'*sin(psi) + r*(phi' + psi'*cos(theta)) = 0`},"
     "                {`name`: `across`, `equation`: `-x'*sin(psi) + y'*cos(psi) + r*theta'*sin(theta) = 0`}]",
     "`stop`: 0.6", {"r", "theta.initial"}, {0.5, 1.3}, 0},
    /* bead in a rotating tube */
    {"`parameters`: {`w`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: %.17g}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `x^2`, `generalized_forces`: {`x`: `-0.2*x'`},"
     "`constraints`: [{`name`: `tube`, `equation`: `-x*sin(w*t) + y*cos(w*t) = 0`}]",
     "`stop`: 2", {"w", "y.velocity"}, {0.9, 0.9}, 0},
    /* a force that depends on a multiplier */
    {"`parameters`: {`mu`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8, `velocity`: %.17g}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
     "`generalized_forces`: {`x`: `mu*lambda(rod)*y`},"
     "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]",
     "`stop`: 1.5", {"mu", "y.velocity"}, {0.1, 0.3}, 0},
    /* a nonlinear velocity constraint that the specified velocities violate */
    {"`parameters`: {`k`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: %.17g, `velocity`: 0.2}, {`name`: `y`, `velocity`: 0.9}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `x^4 + 5*y`,"
     "`constraints`: [{`name`: `speed`, `equation`: `y'^2 = k + x'^2 + x^2`}]",
     "`stop`: 1", {"k", "x.initial"}, {0.5, 0.3}, 0},
};
/* clang-format on */
enum { SYSTEMS = sizeof systems / sizeof systems[0] };

static motion run_moved(const differing *s, int input, double by, const char *way, bool differentiate) {
    char system[1500], simulation[500], names[100] = "";
    double values[2] = {s->values[0], s->values[1]};
    values[input] += by;
    snprintf(system, sizeof system, s->system, values[0], values[1]);
    if (differentiate) snprintf(names, sizeof names, ", `sensitivities`: [`%s`, `%s`]", s->inputs[0], s->inputs[1]);
    snprintf(simulation, sizeof simulation,
             "%s, `samples`: 5, `rtol`: 1e-11, `atol`: 1e-13, `initialization`: `project`, %s%s", s->simulation, way,
             names);
    return motion_run(system, simulation);
}

/* Compares the sensitivities with five-point differences. For h = 3e-4, the truncation error O(h⁴) is at most 2e-8, and
 * integration errors contribute about 1e-10/h = 3e-7. If the initial values are far from the constraints, the projected
 * values are accurate to about 1e-7 only. Returns the number of event records. */
static double assert_differences_agree(const differing *s, int input, const char *way) {
    const double h = 3e-4;
    motion exact = run_moved(s, input, 0, way, true), plain = run_moved(s, input, 0, way, false);
    motion moved[] = {run_moved(s, input, h, way, false), run_moved(s, input, -h, way, false),
                      run_moved(s, input, 2 * h, way, false), run_moved(s, input, -2 * h, way, false)};
    assert_below("change of the motion when sensitivities are requested", motion_difference(&exact, &plain), 1e-7);
    for (size_t c = 1; c < plain.column_count; c++) {
        char column[200];
        snprintf(column, sizeof column, "d(%s)/d(%s)", plain.columns[c], s->inputs[input]);
        for (size_t row = 0; row < plain.row_count; row++) {
            double near = motion_value(&moved[0], row, c) - motion_value(&moved[1], row, c),
                   far = motion_value(&moved[2], row, c) - motion_value(&moved[3], row, c);
            assert_near(column, at(&exact, row, column), (8 * near - far) / (12 * h), 1e-6);
        }
    }
    double event_records = exact.event_records;
    for (int k = 0; k < 4; k++) motion_free(&moved[k]);
    motion_free(&exact);
    motion_free(&plain);
    return event_records;
}

static void central_differences_of_runs_agree(void **state) {
    (void)state;
    for (int i = 0; i < SYSTEMS; i++)
        for (int input = 0; input < 2; input++) assert_differences_agree(&systems[i], input, "`method`: `adams`");
}

static void central_differences_of_runs_by_bdf_agree(void **state) {
    (void)state;
    for (int i = 0; i < SYSTEMS; i++) assert_differences_agree(&systems[i], i % 2, "`method`: `bdf`");
}

static void sensitivities_agree_without_projection(void **state) {
    (void)state;
    assert_differences_agree(&systems[1], 0, "`projection`: false");
    assert_differences_agree(&systems[1], 0, "`projection`: {`baumgarte`: [5, 5]}");
}

static void central_differences_in_quasi_velocities_agree(void **state) {
    (void)state;
    for (int i = 0; i < SYSTEMS; i++) assert_differences_agree(&systems[i], i % 2, "`formulation`: `maggi`");
}

/* --- events ---------------------------------------------------------------------------------------------------------- */

/* A ball falls from h onto a floor with restitution e. Bounce k is at t_k = √(2h/g) (1 + 2e + … + 2e^(k−1)). After
 * bounce k, the speed is v_k = e^k √(2gh), and y = v_k (t − t_k) − g (t − t_k)²/2. */
typedef struct bounces {
    double t, v, t_by_e, v_by_e;
} bounces;

static bounces bounce(int k, double g, double e, double h) {
    double T = sqrt(2 * h / g), sum = 1, by_e = 0;
    for (int j = 1; j < k; j++) {
        sum += 2 * pow(e, j);
        by_e += 2 * j * pow(e, j - 1);
    }
    double v = pow(e, k) * sqrt(2 * g * h);
    return (bounces){T * sum, v, T * by_e, k * v / e};
}

static void assert_ball_bounces(const char *event, const char *method) {
    const double g = 9.81, e = 0.8, h = 1.3;
    char system[800], simulation[300];
    snprintf(system, sizeof system,
             "`parameters`: {`g`: 9.81, `e`: 0.8, `h`: 1.3, `m`: 2}, `coordinates`: [{`name`: `y`, `initial`: `h`}],"
             "`kinetic_energy`: `m*y'^2/2`, `potential_energy`: `m*g*y`,"
             "`events`: [{`name`: `floor`, `when`: `y`, `direction`: `falling`, %s}]",
             event);
    snprintf(simulation, sizeof simulation,
             "`stop`: 3.6, `samples`: 37, `rtol`: 1e-10, `atol`: 1e-12, `method`: `%s`,"
             "`sensitivities`: [`e`, `g`, `y.initial`, `m`]",
             method);
    motion m = motion_run(system, simulation);
    int most = 0;
    for (size_t row = 0; row < m.row_count; row++) {
        double t = at(&m, row, "t");
        int k = 0;
        while (bounce(k + 1, g, e, h).t < t) k++;
        bounces b = k ? bounce(k, g, e, h) : (bounces){0};
        double s = t - b.t, y = (k ? 0 : h) + b.v * s - g * s * s / 2, dy = b.v - g * s;
        assert_near("y", at(&m, row, "y"), y, 1e-7);
        assert_near("d(y)/d(e)", at(&m, row, "d(y)/d(e)"), b.v_by_e * s - dy * b.t_by_e, 1e-6);
        assert_near("d(y')/d(e)", at(&m, row, "d(y')/d(e)"), b.v_by_e + g * b.t_by_e, 1e-6);
        assert_near("d(y)/d(g)", at(&m, row, "d(y)/d(g)"), b.v / (2 * g) * s + dy * b.t / (2 * g) - s * s / 2, 1e-6);
        assert_near("d(y)/d(h)", at(&m, row, "d(y)/d(y.initial)"), k ? b.v / (2 * h) * s - dy * b.t / (2 * h) : 1,
                    1e-6);
        assert_near("d(y)/d(m)", at(&m, row, "d(y)/d(m)"), 0, 1e-7);
        most = k;
    }
    assert_true(most >= 4);
    motion_free(&m);
}

static void the_derivative_of_the_kth_bounce_agrees_with_its_closed_form(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_ball_bounces("`set`: {`y'`: `-e*y'`}", METHODS[i]);
        assert_ball_bounces("`impulse`: {`constraint`: `y = 0`, `restitution`: `e`}", METHODS[i]);
    }
}

/* A block that slides with v0 under friction stops at v0²/(2 μ g) and stays there. */
static void the_stopping_distance_of_a_block_depends_on_its_friction(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`mu`: 0.3, `g`: 9.81},"
                          "`coordinates`: [{`name`: `x`, `velocity`: 2}, `y`],"
                          "`particles`: [{`name`: `block`, `mass`: 1.7, `position`: [`x`, `y`]}],"
                          "`gravity`: [0, `-g`],"
                          "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: `mu`}}]",
                          "`stop`: 2, `samples`: 9, `rtol`: 1e-10, `atol`: 1e-12,"
                          "`sensitivities`: [`mu`, `g`, `x.velocity`, `x.initial`]");
    const double v = 2, mu = 0.3, g = 9.81, stop = v / (mu * g);
    for (size_t row = 0; row < m.row_count; row++) {
        double t = at(&m, row, "t"), s = fmin(t, stop);
        assert_near("by mu", at(&m, row, "d(x)/d(mu)"), -g * s * s / 2, 1e-7);
        assert_near("by g", at(&m, row, "d(x)/d(g)"), -mu * s * s / 2, 1e-7);
        assert_near("by v", at(&m, row, "d(x)/d(x.velocity)"), s, 1e-7);
        assert_near("by x", at(&m, row, "d(x)/d(x.initial)"), 1, 1e-12);
        assert_near("x'", at(&m, row, "d(x')/d(x.velocity)"), t < stop, 1e-9);
    }
    motion_free(&m);
}

/* clang-format off */
static const differing eventful[] = {
    /* a ball that hits a moving wall, with an assigned value that contains all variables */
    {"`parameters`: {`c`: %.17g},"
     "`coordinates`: [{`name`: `x`, `velocity`: %.17g}, {`name`: `y`, `initial`: 1}],"
     "`kinetic_energy`: `(1 + x^2/9)*(x'^2 + y'^2)/2`, `potential_energy`: `5*y`,"
     "`events`: [{`name`: `wall`, `when`: `x - 1 - c*sin(t)`, `set`: {`x'`: `2*c*cos(t) - x'`, `y'`: `y' + c*x''`}}]",
     "`stop`: 2.5", {"c", "x.velocity"}, {0.2, 1.4}, 1},
    /* a rod whose end hits a stop: an impulse at one constraint while another constraint is active */
    {"`parameters`: {`e`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}, {`name`: `a`, `velocity`: %.17g}],"
     "`kinetic_energy`: `(2 + cos(a))*(x'^2 + y'^2)/2 + a'^2/6 + x'*a'*sin(a)/4`, `potential_energy`: `9.81*y`,"
     "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}],"
     "`outputs`: {`T`: `lambda(rod)`},"
     "`events`: [{`name`: `hit`, `when`: `x + a/4`, `direction`: `falling`,"
     "            `impulse`: {`constraint`: `x + a/4 = 0`, `restitution`: `e/(1 + x'^2/10)`}}]",
     "`stop`: 1.9", {"e", "a.velocity"}, {0.6, -0.3}, 1},
    /* the same rod; the event has two impulses at constraints, and percussions at a point and on a coordinate */
    {"`parameters`: {`e`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}, {`name`: `a`, `velocity`: %.17g},"
     "                {`name`: `b`, `velocity`: -1}],"
     "`particles`: [{`name`: `P`, `mass`: `1 + e`, `position`: [`x + sin(a)/3`, `y + b*cos(a)/3`]}],"
     "`kinetic_energy`: `(2 + cos(a))*(x'^2 + y'^2)/2 + a'^2/6 + b'^2 + x'*a'*sin(a)/4`, `potential_energy`: `9.81*y`,"
     "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}],"
     "`outputs`: {`T`: `lambda(rod)`},"
     "`events`: [{`name`: `hit`, `when`: `x + a/4`, `direction`: `falling`,"
     "            `impulse`: [{`constraint`: `x + a/4 = 0`, `restitution`: `e`}, {`constraint`: `b - y*e = 0`}],"
     "            `percussion`: [{`at`: `P`, `vector`: [`e*x'`, `1 - b`]}, {`on`: `b`, `value`: `sin(t)*a'`}]}]",
     "`stop`: 1.9", {"e", "a.velocity"}, {0.6, -0.3}, 1},
    /* a string that becomes taut and remains active */
    {"`parameters`: {`l`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 0.5, `velocity`: %.17g}, `y`],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
     "`constraints`: [{`name`: `string`, `equation`: `x^2 + y^2 = l^2`, `active`: false}],"
     "`outputs`: {`T`: `lambda(string)`},"
     "`events`: [{`name`: `taut`, `when`: `l^2 - x^2 - y^2`, `direction`: `falling`,"
     "            `impulse`: {`constraint`: `string`, `restitution`: 0}, `activate`: [`string`]}]",
     "`stop`: 1.3", {"l", "x.velocity"}, {1.1, 0.4}, 1},
    /* a bead that leaves a hoop when the contact force vanishes */
    {"`parameters`: {`g`: %.17g},"
     "`coordinates`: [`x`, {`name`: `y`, `initial`: 1}], `quasi_velocities`:"
     "  [{`name`: `u`, `definition`: `x'*y - y'*x`, `initial`: %.17g}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `g*y`,"
     "`constraints`: [{`name`: `dome`, `equation`: `x^2 + y^2 = 1`}],"
     "`events`: [{`name`: `off`, `when`: `lambda(dome)`, `direction`: `falling`, `deactivate`: [`dome`]}]",
     "`stop`: 0.9", {"g", "u.initial"}, {9.81, 0.8}, 1},
    /* operators that change their branches */
    {"`parameters`: {`k`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: %.17g}, {`name`: `y`, `velocity`: 0.7}],"
     "`kinetic_energy`: `(x'^2 + y'^2 + x'*y'/3)/2`, `potential_energy`: `3*x^2 + y^2 + x*y^2`,"
     "`tables`: {`pull`: {`x`: [-9, -0.2, 0.3, 9], `y`: [1, 2, 0, -3]}},"
     "`generalized_forces`: {`x`: `-k*sign(x') + table(pull, y)`, `y`: `if(x > 0.2, k, -0.3) + abs(y)*min(y', 0.1)`}",
     "`stop`: 2", {"k", "x.initial"}, {0.21, 0.9}, 4},
    /* a block that sticks and slips under an oscillating force, where static friction exceeds sliding friction */
    {"`parameters`: {`mu`: %.17g, `w`: %.17g},"
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`],"
     "`particles`: [{`name`: `block`, `mass`: 2, `position`: [`x`, `y`]}], `gravity`: [0, -9.81],"
     "`generalized_forces`: {`x`: `9*sin(w*t) - 2*x`, `y`: `-x^2`},"
     "`constraints`: [{`name`: `floor`, `equation`: `y = 0`,"
     "                 `friction`: {`coefficient`: `mu`, `static`: `1.2*mu`}}],"
     "`outputs`: {`N`: `lambda(floor)`, `F`: `nonideal(x)`}",
     "`stop`: 5", {"mu", "w"}, {0.3, 2}, 4},
    /* a bead on a wire with regularized friction, which changes the normal force */
    {"`parameters`: {`mu`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: %.17g}, `y`],"
     "`particles`: [{`name`: `bead`, `mass`: 1.5, `position`: [`x`, `y`]}], `gravity`: [0, -9.81],"
     "`constraints`: [{`name`: `wire`, `equation`: `y = x^2/2`, `friction`: {`coefficient`: `mu`, `regularization`: 0.1}}],"
     "`outputs`: {`ideal`: `ideal(x)`, `other`: `nonideal(x)`}",
     "`stop`: 1.5", {"mu", "x.initial"}, {0.2, 0.9}, 0},
    /* prescribed forces of a constraint that depend on the ideal reaction */
    {"`parameters`: {`c`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8, `velocity`: %.17g}],"
     "`kinetic_energy`: `(1 + y^2)*(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
     "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`,"
     "                 `nonideal`: {`x`: `-c*x'*abs(ideal(x))`, `y`: `-c*y'*lambda(rod)^2/50`}}],"
     "`outputs`: {`ideal`: `ideal(y)`, `other`: `nonideal(x)`}",
     "`stop`: 1.4", {"c", "y.velocity"}, {0.2, 0.3}, 0},
    /* the initial values of u and phi' and the constraint determine the velocities except for one free direction */
    {"`parameters`: {`a`: %.17g},"
     "`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: %.17g, `velocity`: `3*a`}, {`name`: `z`}],"
     "`quasi_velocities`: [{`name`: `u`, `definition`: `x'*cos(phi) + y'*sin(phi) + a*phi' + z'*a`, `initial`: `a^2 + 1`}],"
     "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2 + phi'^2/5 + a*phi'*y'*cos(phi)/4`,"
     "`constraints`: [{`name`: `blade`, `equation`: `-x'*sin(phi) + y'*cos(phi) = a*t`}]",
     "`stop`: 1", {"a", "phi.initial"}, {0.3, 0.4}, 0},
    /* two independent events at the same time */
    {"`parameters`: {`e`: %.17g, `g`: %.17g},"
     "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 1}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*x + g*y`,"
     "`events`: [{`name`: `one`, `when`: `x`, `set`: {`x'`: `-e*x'`}}, {`name`: `two`, `when`: `y`, `set`: {`y'`: `-y'`}}]",
     "`stop`: 1", {"e", "g"}, {0.8, 9.81}, 2},
};
/* clang-format on */

static void central_differences_across_events_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof eventful / sizeof *eventful; i++)
        for (int input = 0; input < 2; input++)
            assert_true(
                assert_differences_agree(&eventful[i], input, i % 2 ? "`method`: `bdf`" : "`method`: `adams`") >=
                eventful[i].event_records);
}

static void central_differences_across_events_in_quasi_velocities_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof eventful / sizeof *eventful; i++)
        assert_true(assert_differences_agree(&eventful[i], (int)(i % 2), "`formulation`: `maggi`") >=
                    eventful[i].event_records);
}

/* --- columns --------------------------------------------------------------------------------------------------------- */

static void columns_and_units_contain_output_and_input(void **state) {
    (void)state;
    static const char *const members =
        "`parameters`: {`m`: {`value`: 2, `unit`: `kg`}}, `coordinates`: [{`name`: `x`, `unit`: `m`, `initial`: 1}],"
        "`kinetic_energy`: `m*x'^2/2`, `outputs`: {`p`: `m*x'`}";
    static const char *const columns[] = {"t",
                                          "x",
                                          "x'",
                                          "p",
                                          "d(x)/d(m)",
                                          "d(x')/d(m)",
                                          "d(p)/d(m)",
                                          "d(x)/d(x.initial)",
                                          "d(x')/d(x.initial)",
                                          "d(p)/d(x.initial)"};
    static const char *const units[] = {"s", "m", "m/s", "kg m/s", "m/kg", "m/kg/s", "m/s", "1", "1/s", "kg/s"};
    hamel_model *model = fixture_model(members, "`stop`: 1, `sensitivities`: [`m`, `x.initial`]");
    const hamel_header *header = hamel_model_header(model);
    assert_int_equal(header->column_count, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_string_equal(header->columns[i], columns[i]);
        assert_string_equal(header->units[i], units[i]);
    }
    hamel_model_free(model);
    model = fixture_model(members, "`stop`: 1, `sensitivities`: [`m`], `record`: [`d(p)/d(m)`, `x`]");
    header = hamel_model_header(model);
    assert_int_equal(header->column_count, 3);
    assert_string_equal(header->columns[1], "x");
    assert_string_equal(header->columns[2], "d(p)/d(m)");
    hamel_model_free(model);
}

/* The nearest consistent values in the metric of M change by δq − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A δq. On x + y = 1 with masses 1 and
 * 4, the change is (1/5, −1/5) for δq = (1, 0). On the unit circle with a single mass, x changes by 1 − x². */
static void derivatives_are_with_respect_to_projected_initial_values(void **state) {
    (void)state;
    static const char settings[] = "`stop`: 1, `samples`: 2, `sensitivities`: [`x.initial`, `x.velocity`]";
    motion m =
        motion_run("`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.7}],"
                   "`kinetic_energy`: `x'^2/2 + 2*y'^2`, `constraints`: [{`name`: `c`, `equation`: `x + y = 1`}]",
                   settings);
    for (size_t row = 0; row < 2; row++) {
        double t = at(&m, row, "t");
        assert_near("d(x)/d(x.initial)", at(&m, row, "d(x)/d(x.initial)"), 0.2, 1e-6);
        assert_near("d(y)/d(x.initial)", at(&m, row, "d(y)/d(x.initial)"), -0.2, 1e-6);
        assert_near("d(x')/d(x.velocity)", at(&m, row, "d(x')/d(x.velocity)"), 0.2, 1e-6);
        assert_near("d(x)/d(x.velocity)", at(&m, row, "d(x)/d(x.velocity)"), 0.2 * t, 1e-6);
    }
    motion_free(&m);
    m = motion_run(
        "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}], `gravity`: [0, -9.81],"
        "`particles`: [{`name`: `p`, `mass`: 3, `position`: [`x`, `y`]}],"
        "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1`}]",
        settings);
    assert_near("d(x)/d(x.initial)", at(&m, 0, "d(x)/d(x.initial)"), 0.64, 1e-6);
    assert_near("d(y)/d(x.initial)", at(&m, 0, "d(y)/d(x.initial)"), 0.48, 1e-6);
    motion_free(&m);
}

static void certified_runs_bound_the_error_of_derivatives(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`k`: 4}, `coordinates`: [{`name`: `x`, `initial`: 1}],"
                          "`kinetic_energy`: `x'^2/2`, `potential_energy`: `k*x^2/2`",
                          "`stop`: 5, `rtol`: 1e-6, `certify`: true, `sensitivities`: [`k`]");
    double estimate = m.error_estimate[motion_column(&m, "d(x)/d(k)")];
    assert_true(estimate > 0 && estimate < 1e-5);
    motion_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator_has_the_derivatives_of_its_solution),
        cmocka_unit_test(more_inputs_than_lanes_are_all_correct),
        cmocka_unit_test(every_method_and_formulation_satisfies_the_scaling_laws_of_a_pendulum),
        cmocka_unit_test(long_runs_satisfy_the_linearized_constraints),
        cmocka_unit_test(redundant_constraints_do_not_change_the_sensitivities),
        cmocka_unit_test(sensitivities_of_outputs_include_multipliers_and_accelerations),
        cmocka_unit_test(the_derivative_of_the_kth_bounce_agrees_with_its_closed_form),
        cmocka_unit_test(the_stopping_distance_of_a_block_depends_on_its_friction),
        cmocka_unit_test(central_differences_across_events_agree),
        cmocka_unit_test(central_differences_across_events_in_quasi_velocities_agree),
        cmocka_unit_test(central_differences_of_runs_agree),
        cmocka_unit_test(central_differences_of_runs_by_bdf_agree),
        cmocka_unit_test(central_differences_in_quasi_velocities_agree),
        cmocka_unit_test(sensitivities_agree_without_projection),
        cmocka_unit_test(columns_and_units_contain_output_and_input),
        cmocka_unit_test(derivatives_are_with_respect_to_projected_initial_values),
        cmocka_unit_test(certified_runs_bound_the_error_of_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
