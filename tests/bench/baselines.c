/* baselines.c — hand-written right-hand sides. Each function uses the best form derived by hand. Examples are minimal
 * coordinates, the tridiagonal structure of a chain, and the reduced equations of the disk. No function allocates
 * memory. */
#include "tests/bench/baselines.h"

#include <math.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_band.h>

static const double gravity = 9.81;

/* ---- a pendulum, described by its angle ---- */

static int pendulum_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *y = N_VGetArrayPointer_Serial(state);
    double *f = N_VGetArrayPointer_Serial(rate);
    f[0] = y[1];
    f[1] = -gravity * sin(y[0]);
    return 0;
}

static void pendulum_start(double *y, void *data) {
    (void)data;
    y[0] = 2.5;
    y[1] = 0;
}

static void pendulum_columns(const double *y, double *values, void *data) {
    (void)data;
    values[0] = y[0];
}

static const char pendulum_text[] = "{\"hamel\":1,\"coordinates\":[{\"name\":\"a\",\"initial\":2.5}],"
                                    "\"kinetic_energy\":\"a'^2/2\",\"potential_energy\":\"-9.81*cos(a)\","
                                    "\"simulation\":{\"stop\":10}}";

/* ---- the pendulum as a point on a circle; only hamel's description has the constraint ---- */

static void circle_columns(const double *y, double *values, void *data) {
    (void)data;
    values[0] = sin(y[0]);
    values[1] = -cos(y[0]);
}

static const char circle_text[] =
    "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":\"sin(2.5)\"},{\"name\":\"y\",\"initial\":\"-cos(2.5)\"}"
    "],"
    "\"kinetic_energy\":\"(x'^2+y'^2)/2\",\"potential_energy\":\"9.81*y\","
    "\"constraints\":[{\"name\":\"rod\",\"equation\":\"x^2+y^2=1\"}],\"simulation\":{\"stop\":10}}";

/* ---- a double pendulum in angles, 2 x 2 mass matrix solved by hand ---- */

static int double_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *y = N_VGetArrayPointer_Serial(state);
    double *f = N_VGetArrayPointer_Serial(rate);
    double s = sin(y[0] - y[1]), c = cos(y[0] - y[1]);
    double b0 = -s * y[3] * y[3] - 2 * gravity * sin(y[0]);
    double b1 = s * y[2] * y[2] - gravity * sin(y[1]);
    double d = 1 / (2 - c * c);
    f[0] = y[2];
    f[1] = y[3];
    f[2] = (b0 - c * b1) * d;
    f[3] = (2 * b1 - c * b0) * d;
    return 0;
}

static void double_start(double *y, void *data) {
    (void)data;
    y[0] = 1;
    y[1] = 0.5;
    y[2] = y[3] = 0;
}

static void double_columns(const double *y, double *values, void *data) {
    (void)data;
    values[0] = y[0];
    values[1] = y[1];
}

static const char double_text[] =
    "{\"hamel\":1,\"coordinates\":[{\"name\":\"a\",\"initial\":1},{\"name\":\"b\",\"initial\":0.5}],"
    "\"kinetic_energy\":\"a'^2+b'^2/2+a'*b'*cos(a-b)\",\"potential_energy\":\"-2*9.81*cos(a)-9.81*cos(b)\","
    "\"simulation\":{\"stop\":10}}";

/* ---- a thin rolling disk: Greenwood's equations 4.317 to 4.319 in tilt, heading rate and spin rate ---- */

enum { DISK_TILT, DISK_TILT_RATE, DISK_TURN, DISK_SPIN, DISK_HEADING, DISK_ANGLE, DISK_X, DISK_Y, DISK_STATES };

typedef struct disk_data {
    size_t columns;                             /* number of coordinates */
    double radius, tilt, tilt_rate, turn, spin; /* initial tilt, its rate, and components of the angular velocity */
} disk_data;

static int disk_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t;
    const double *y = N_VGetArrayPointer_Serial(state), r = ((const disk_data *)data)->radius;
    double *f = N_VGetArrayPointer_Serial(rate);
    double s = sin(y[DISK_TILT]), c = cos(y[DISK_TILT]), sh = sin(y[DISK_HEADING]), ch = cos(y[DISK_HEADING]);
    double turn = y[DISK_TURN], spin = y[DISK_SPIN], tilt = y[DISK_TILT_RATE], heading = turn / s;
    f[DISK_TILT] = tilt;
    f[DISK_TILT_RATE] = 0.8 * (0.25 * turn * turn * c / s - 1.5 * turn * spin - gravity / r * c);
    f[DISK_TURN] = -tilt * turn * c / s + 2 * tilt * spin;
    f[DISK_SPIN] = tilt * turn / 1.5;
    f[DISK_HEADING] = heading;
    f[DISK_ANGLE] = spin - heading * c;
    f[DISK_X] = r * (-spin * ch + tilt * sh * s);
    f[DISK_Y] = r * (-spin * sh - tilt * ch * s);
    return 0;
}

static void disk_start(double *y, void *data) {
    const disk_data *disk = data;
    for (int k = 0; k < DISK_STATES; k++) y[k] = 0;
    y[DISK_TILT] = disk->tilt;
    y[DISK_TILT_RATE] = disk->tilt_rate;
    y[DISK_TURN] = disk->turn;
    y[DISK_SPIN] = disk->spin;
}

static void disk_columns(const double *y, double *values, void *data) {
    (void)data;
    values[0] = y[DISK_X];
    values[1] = y[DISK_Y];
    values[2] = y[DISK_HEADING];
    values[3] = y[DISK_TILT];
    values[4] = y[DISK_ANGLE];
}

static const char disk_text[] =
    "{\"hamel\":1,\"parameters\":{\"r\":0.5,\"p\":\"0.5/sin(1.3)\"},"
    "\"coordinates\":[{\"name\":\"X\",\"velocity\":\"-6*r\"},\"Y\",{\"name\":\"phi\",\"velocity\":\"p\"},"
    "{\"name\":\"theta\",\"initial\":1.3},{\"name\":\"psi\",\"velocity\":\"6-p*cos(1.3)\"}],"
    "\"definitions\":{\"Om\":\"psi'+phi'*cos(theta)\",\"wd\":\"phi'*sin(theta)\"},"
    "\"kinetic_energy\":[\"(X'^2+Y'^2+(r*theta'*cos(theta))^2)/2\",\"r^2/4*(theta'^2+wd^2)/2\",\"r^2/2*Om^2/2\"],"
    "\"potential_energy\":\"9.81*r*sin(theta)\",\"constraints\":["
    "{\"name\":\"rollX\",\"equation\":\"X'=-r*Om*cos(phi)+r*theta'*sin(phi)*sin(theta)\"},"
    "{\"name\":\"rollY\",\"equation\":\"Y'=-r*Om*sin(phi)-r*theta'*cos(phi)*sin(theta)\"}],"
    "\"simulation\":{\"stop\":5}}";

/* A disk of radius 0.3 with the initial tilt 1.2 rad and tilt rate 0.5 rad/s, so that the tilt oscillates while it
 * rolls. */
static const char long_disk_text[] =
    "{\"hamel\":1,\"parameters\":{\"r\":0.3},"
    "\"coordinates\":[{\"name\":\"x\",\"velocity\":\"-6*r\"},{\"name\":\"y\",\"velocity\":\"-0.5*r*sin(1.2)\"},\"phi\","
    "{\"name\":\"theta\",\"initial\":1.2,\"velocity\":0.5},{\"name\":\"psi\",\"velocity\":6}],"
    "\"definitions\":{\"Om\":\"psi'+phi'*cos(theta)\",\"wd\":\"phi'*sin(theta)\"},"
    "\"kinetic_energy\":[\"(x'^2+y'^2+(r*theta'*cos(theta))^2)/2\",\"r^2/4*(theta'^2+wd^2)/2\",\"r^2/2*Om^2/2\"],"
    "\"potential_energy\":\"9.81*r*sin(theta)\",\"constraints\":["
    "{\"name\":\"rollX\",\"equation\":\"x'=-r*Om*cos(phi)+r*theta'*sin(phi)*sin(theta)\"},"
    "{\"name\":\"rollY\",\"equation\":\"y'=-r*Om*sin(phi)-r*theta'*cos(phi)*sin(theta)\"}],"
    "\"simulation\":{\"stop\":10}}";

static disk_data short_disk = {.columns = 5, .radius = 0.5, .tilt = 1.3, .turn = 0.5, .spin = 6};
static disk_data long_disk = {.columns = 5, .radius = 0.3, .tilt = 1.2, .tilt_rate = 0.5, .spin = 6};

/* ---- Chaplygin's sleigh (Neimark & Fufaev, chapter 2) ----
 *
 * The knife edge is at (x, y), and the mass centre is at the distance a ahead of the edge. */

static const double sleigh_arm = 0.3, sleigh_inertia = 0.4; /* a; moment of inertia per unit of mass */

static int sleigh_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *y = N_VGetArrayPointer_Serial(state);
    double *f = N_VGetArrayPointer_Serial(rate);
    double v = y[3], turn = y[4];
    f[0] = v * cos(y[2]);
    f[1] = v * sin(y[2]);
    f[2] = turn;
    f[3] = sleigh_arm * turn * turn;
    f[4] = -sleigh_arm * v * turn / (sleigh_inertia + sleigh_arm * sleigh_arm);
    return 0;
}

static void sleigh_start(double *y, void *data) {
    (void)data;
    y[0] = y[1] = y[2] = 0;
    y[3] = 0.5;
    y[4] = 3;
}

static void sleigh_columns(const double *y, double *values, void *data) {
    (void)data;
    for (int k = 0; k < 3; k++) values[k] = y[k];
}

static const char sleigh_text[] =
    "{\"hamel\":1,\"parameters\":{\"a\":0.3,\"I\":0.4},"
    "\"coordinates\":[{\"name\":\"x\",\"velocity\":0.5},\"y\",{\"name\":\"phi\",\"velocity\":3}],"
    "\"kinetic_energy\":\"((x'-a*phi'*sin(phi))^2+(y'+a*phi'*cos(phi))^2+I*phi'^2)/2\","
    "\"constraints\":[{\"name\":\"edge\",\"equation\":\"-x'*sin(phi)+y'*cos(phi)=0\"}],\"simulation\":{\"stop\":10}}";

/* ---- a heavy symmetric top in Euler's angles phi, theta, psi (Goldstein, section 5.7) ---- */

/* moments of inertia about the tip; weight times its distance from the tip */
static const double top_across = 1, top_along = 0.4, top_weight = 2;

static int top_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *y = N_VGetArrayPointer_Serial(state);
    double *f = N_VGetArrayPointer_Serial(rate);
    double s = sin(y[1]), c = cos(y[1]), turn = y[3], nod = y[4], spin = top_along * (y[5] + turn * c);
    f[0] = turn;
    f[1] = nod;
    f[2] = y[5];
    f[3] = nod * (spin - 2 * top_across * turn * c) / (top_across * s);
    f[4] = s * (turn * (top_across * turn * c - spin) + top_weight) / top_across;
    f[5] = turn * nod * s - f[3] * c;
    return 0;
}

static void top_start(double *y, void *data) {
    (void)data;
    for (int k = 0; k < 6; k++) y[k] = 0;
    y[1] = 0.6;
    y[5] = 10;
}

static void top_columns(const double *y, double *values, void *data) {
    (void)data;
    for (int k = 0; k < 3; k++) values[k] = y[k];
}

static const char top_text[] =
    "{\"hamel\":1,\"coordinates\":[\"phi\",{\"name\":\"theta\",\"initial\":0.6},{\"name\":\"psi\",\"velocity\":10}],"
    "\"kinetic_energy\":[\"(theta'^2+phi'^2*sin(theta)^2)/2\",\"0.4*(psi'+phi'*cos(theta))^2/2\"],"
    "\"potential_energy\":\"2*cos(theta)\",\"simulation\":{\"stop\":10}}";

/* ---- a stiff column of 32 masses on springs and dampers, loaded by its weight ----
 *
 * The state stores each displacement u_i next to its rate u_i', so that the Jacobian is a narrow band. */

enum { MASSES = 32 };
static const double stiffness = 1e5, damper = 1e3;

static int column_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *y = N_VGetArrayPointer_Serial(state);
    double *f = N_VGetArrayPointer_Serial(rate);
    double below = stiffness * y[0] + damper * y[1];
    for (int i = 0; i < MASSES; i++) {
        double above =
            i + 1 < MASSES ? stiffness * (y[2 * i + 2] - y[2 * i]) + damper * (y[2 * i + 3] - y[2 * i + 1]) : 0;
        f[2 * i] = y[2 * i + 1];
        f[2 * i + 1] = above - below - gravity;
        below = above;
    }
    return 0;
}

static int column_jacobian(double t, N_Vector state, N_Vector rate, SUNMatrix matrix, void *data, N_Vector w1,
                           N_Vector w2, N_Vector w3) {
    (void)t, (void)state, (void)rate, (void)data, (void)w1, (void)w2, (void)w3;
    for (int i = 0; i < MASSES; i++) {
        double springs = i + 1 < MASSES ? 2 : 1;
        SM_ELEMENT_B(matrix, 2 * i, 2 * i + 1) = 1;
        SM_ELEMENT_B(matrix, 2 * i + 1, 2 * i) = -springs * stiffness;
        SM_ELEMENT_B(matrix, 2 * i + 1, 2 * i + 1) = -springs * damper;
        if (i > 0) SM_ELEMENT_B(matrix, 2 * i + 1, 2 * i - 2) = stiffness;
        if (i > 0) SM_ELEMENT_B(matrix, 2 * i + 1, 2 * i - 1) = damper;
        if (i + 1 < MASSES) SM_ELEMENT_B(matrix, 2 * i + 1, 2 * i + 2) = stiffness;
        if (i + 1 < MASSES) SM_ELEMENT_B(matrix, 2 * i + 1, 2 * i + 3) = damper;
    }
    return 0;
}

static void column_start(double *y, void *data) {
    (void)data;
    for (int i = 0; i < 2 * MASSES; i++) y[i] = 0;
}

static void column_columns(const double *y, double *values, void *data) {
    (void)data;
    for (int i = 0; i < MASSES; i++) values[i] = y[2 * i];
}

static const char column_text[] =
    "{\"hamel\":1,\"parameters\":{\"N\":32,\"k\":1e5,\"c\":1e3},\"coordinates\":[{\"name\":\"u[i]\",\"for\":\"i=1..N\"}"
    "],"
    "\"kinetic_energy\":\"sum(i,1,N,u[i]'^2)/2\","
    "\"potential_energy\":[\"sum(i,1,N,9.81*u[i])\",\"k/2*u[1]^2+k/2*sum(i,2,N,(u[i]-u[i-1])^2)\"],"
    "\"dissipation\":\"c/2*u[1]'^2+c/2*sum(i,2,N,(u[i]'-u[i-1]')^2)\",\"simulation\":{\"stop\":10}}";

/* --- hamel's coordinates, with multipliers ------------------------------------------------------------------------
 *
 * The following systems show the cost of keeping the constraints instead of reducing the system to fewer variables. The
 * equations use explicit M, A, Q and b, elimination without pivoting, and Baumgarte stabilization. Constraint errors
 * decay at the rate 20/s, fast compared with runs of 5 s and 10 s. */

static const double damping = 20;

/* Solves for the accelerations. `a` contains M (lower triangle) with A below it, in rows of length k. `x` contains Q
 * and b at first, and the solution afterwards. Each caller passes a constant k, so that the compiler unrolls the
 * loops. */
static inline __attribute__((always_inline)) void saddle(size_t k, double *restrict a, double *restrict x) {
    for (size_t j = 0; j < k; j++) {
        double inverse = 1 / a[k * j + j];
        for (size_t i = j + 1; i < k; i++) {
            double factor = a[k * i + j] * inverse;
            for (size_t l = i; l < k; l++) a[k * l + i] -= factor * a[k * l + j];
            x[i] -= factor * x[j];
        }
        a[k * j + j] = inverse;
    }
    for (size_t j = k; j-- > 0;) {
        for (size_t i = j + 1; i < k; i++) x[j] -= a[k * i + j] * x[i];
        x[j] *= a[k * j + j];
    }
}

static int point_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *y = N_VGetArrayPointer_Serial(state);
    double *f = N_VGetArrayPointer_Serial(rate);
    double square = y[0] * y[0] + y[1] * y[1], along = y[0] * y[2] + y[1] * y[3];
    double right = y[2] * y[2] + y[3] * y[3] + 2 * damping * along + damping * damping * 0.5 * (square - 1);
    double pull = (right - gravity * y[1]) / square;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -pull * y[0];
    f[3] = -pull * y[1] - gravity;
    return 0;
}

static void point_start(double *y, void *data) {
    (void)data;
    y[0] = sin(2.5);
    y[1] = -cos(2.5);
    y[2] = y[3] = 0;
}

/* Copies the coordinates, which are the first entries of y. `data` points to their number (size_t), or to a struct whose
 * first member is this number. */
static void first_columns(const double *y, double *values, void *data) {
    const size_t *count = data;
    for (size_t i = 0; i < *count; i++) values[i] = y[i];
}

enum { FULL = 5, FULL_ROWS = 2, FULL_ALL = FULL + FULL_ROWS };

static int full_disk_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t;
    enum { X, Y, PHI, THETA, PSI, ROLL_X, ROLL_Y };
    const double *q = N_VGetArrayPointer_Serial(state), *v = q + FULL;
    const double r = ((const disk_data *)data)->radius, rr = r * r;
    double *f = N_VGetArrayPointer_Serial(rate), a[FULL_ALL * FULL_ALL] = {0}, x[FULL_ALL];
    double s = sin(q[THETA]), c = cos(q[THETA]), sh = sin(q[PHI]), ch = cos(q[PHI]);
    double turn = v[PHI], tilt = v[THETA], spin = v[PSI];
#define AT(i, j) a[FULL_ALL * (i) + (j)]
    AT(X, X) = AT(Y, Y) = 1;
    AT(PHI, PHI) = rr * (0.5 * c * c + 0.25 * s * s);
    AT(PSI, PHI) = 0.5 * rr * c;
    AT(PSI, PSI) = 0.5 * rr;
    AT(THETA, THETA) = rr * (c * c + 0.25);
    AT(ROLL_X, X) = AT(ROLL_Y, Y) = 1;
    AT(ROLL_X, PHI) = r * c * ch, AT(ROLL_X, THETA) = -r * s * sh, AT(ROLL_X, PSI) = r * ch;
    AT(ROLL_Y, PHI) = r * c * sh, AT(ROLL_Y, THETA) = r * s * ch, AT(ROLL_Y, PSI) = r * sh;
    x[X] = x[Y] = 0;
    x[PHI] = 0.5 * rr * s * tilt * (c * turn + spin);
    x[THETA] = rr * s * (c * tilt * tilt - 0.25 * c * turn * turn - 0.5 * turn * spin) - gravity * r * c;
    x[PSI] = 0.5 * rr * s * turn * tilt;
    double along = c * (turn * turn + tilt * tilt) + turn * spin, across = 2 * s * tilt * turn;
    double slip_x = v[X] + r * (c * ch * turn - s * sh * tilt + ch * spin);
    double slip_y = v[Y] + r * (c * sh * turn + s * ch * tilt + sh * spin);
    x[ROLL_X] = r * (sh * along + ch * across) - damping * slip_x;
    x[ROLL_Y] = -r * (ch * along - sh * across) - damping * slip_y;
#undef AT
    saddle(FULL_ALL, a, x);
    for (int i = 0; i < FULL; i++) f[i] = v[i], f[FULL + i] = x[i];
    return 0;
}

static void full_disk_start(double *y, void *data) {
    const disk_data *disk = data;
    for (int i = 0; i < 2 * FULL; i++) y[i] = 0;
    y[3] = disk->tilt;
    y[5] = -disk->spin * disk->radius;
    y[6] = -disk->tilt_rate * disk->radius * sin(disk->tilt);
    y[7] = disk->turn / sin(disk->tilt);
    y[8] = disk->tilt_rate;
    y[9] = disk->spin - y[7] * cos(disk->tilt);
}

enum { EDGE = 3, EDGE_ALL = EDGE + 1 };

static int full_sleigh_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t, (void)data;
    const double *q = N_VGetArrayPointer_Serial(state), *v = q + EDGE, arm = sleigh_arm;
    double *f = N_VGetArrayPointer_Serial(rate), s = sin(q[2]), c = cos(q[2]), turn = v[2];
    double a[EDGE_ALL * EDGE_ALL] = {1, 0, 0, 0, 0, 1, 0, 0, -arm * s, arm * c, sleigh_inertia + arm * arm, 0, -s, c};
    double x[EDGE_ALL] = {arm * c * turn * turn, arm * s * turn * turn, 0,
                          turn * (c * v[0] + s * v[1]) - damping * (c * v[1] - s * v[0])};
    saddle(EDGE_ALL, a, x);
    for (int i = 0; i < EDGE; i++) f[i] = v[i], f[EDGE + i] = x[i];
    return 0;
}

static void full_sleigh_start(double *y, void *data) {
    (void)data;
    for (int i = 0; i < 2 * EDGE; i++) y[i] = 0;
    y[3] = 0.5;
    y[5] = 3;
}

static size_t two = 2, three = EDGE;

/* clang-format off */
const baseline baselines[] = {
    {"pendulum, angle", "adams", pendulum_text, 10, 2, 1, pendulum_rhs, NULL, pendulum_start, pendulum_columns, NULL, ROWS},
    {"pendulum, x and y", "adams", circle_text, 10, 2, 2, pendulum_rhs, NULL, pendulum_start, circle_columns, NULL, ROWS},
    {"double pendulum", "adams", double_text, 10, 4, 2, double_rhs, NULL, double_start, double_columns, NULL, ROWS},
    {"rolling disk", "adams", disk_text, 5, DISK_STATES, 5, disk_rhs, NULL, disk_start, disk_columns, &short_disk, ROWS},
    {"Chaplygin's sleigh", "adams", sleigh_text, 10, 5, 3, sleigh_rhs, NULL, sleigh_start, sleigh_columns, NULL, ROWS},
    {"heavy top", "adams", top_text, 10, 6, 3, top_rhs, NULL, top_start, top_columns, NULL, ROWS},
    {"stiff column of 32", "bdf", column_text, 10, 2 * MASSES, MASSES, column_rhs, column_jacobian, column_start, column_columns, NULL, ROWS},
};
/* clang-format on */
const size_t baseline_count = sizeof baselines / sizeof baselines[0];

/* clang-format off */
const baseline long_baselines[] = {
    {"rolling disk, 1,001 rows", "adams", long_disk_text, 10, DISK_STATES, 5, disk_rhs, NULL, disk_start, disk_columns, &long_disk, 1001},
    {"multipliers, rolling disk, 1,001 rows", "adams", long_disk_text, 10, 2 * FULL, FULL, full_disk_rhs, NULL, full_disk_start, first_columns, &long_disk, 1001},
};
/* clang-format on */
const size_t long_baseline_count = sizeof long_baselines / sizeof long_baselines[0];

/* clang-format off */
const baseline multiplier_baselines[] = {
    {"multipliers, x and y", "adams", circle_text, 10, 4, 2, point_rhs, NULL, point_start, first_columns, &two, ROWS},
    {"multipliers, rolling disk", "adams", disk_text, 5, 2 * FULL, FULL, full_disk_rhs, NULL, full_disk_start, first_columns, &short_disk, ROWS},
    {"multipliers, sleigh", "adams", sleigh_text, 10, 2 * EDGE, EDGE, full_sleigh_rhs, NULL, full_sleigh_start, first_columns, &three, ROWS},
};
/* clang-format on */
const size_t multiplier_baseline_count = sizeof multiplier_baselines / sizeof multiplier_baselines[0];
