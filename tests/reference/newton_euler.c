/* newton_euler.c — forces, constraint reactions and integration in maximal coordinates. */
#include "tests/reference/newton_euler.h"

#include <math.h>
#include <string.h>

enum { COMPONENTS = 6 * NE_BODIES, STATE = 13 * NE_BODIES, MOST_STEPS = 200000 };

/* --- vectors ------------------------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

static void apply(const double R[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static void apply_transposed(const double R[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

void ne_rotation(const double e[4], double R[9]) {
    double a = e[0], b = e[1], c = e[2], d = e[3];
    double M[9] = {a * a + b * b - c * c - d * d, 2 * (b * c - a * d),           2 * (b * d + a * c),
                   2 * (b * c + a * d),           a * a - b * b + c * c - d * d, 2 * (c * d - a * b),
                   2 * (b * d - a * c),           2 * (c * d + a * b),           a * a - b * b - c * c + d * d};
    memcpy(R, M, sizeof M);
}

/* Computes the vector from the centre of the body to the point of `end`, in inertial axes. For the ground, computes the
 * position of the point. */
static void arm_of(const ne_system *s, const ne_end *end, double rho[3]) {
    double R[9];
    memcpy(rho, end->at, 3 * sizeof *rho);
    if (end->body < 0 || s->bodies[end->body].particle) return;
    ne_rotation(s->bodies[end->body].e, R);
    apply(R, end->at, rho);
}

void ne_point(const ne_system *s, const ne_end *end, double p[3]) {
    arm_of(s, end, p);
    for (int i = 0; i < 3 && end->body >= 0; i++) p[i] += s->bodies[end->body].r[i];
}

static void velocity_of(const ne_system *s, const ne_end *end, double v[3]) {
    double rho[3];
    memset(v, 0, 3 * sizeof *v);
    if (end->body < 0) return;
    const ne_body *b = &s->bodies[end->body];
    arm_of(s, end, rho);
    if (!b->particle) cross(b->w, rho, v);
    for (int i = 0; i < 3; i++) v[i] += b->v[i];
}

/* Computes ω × (ω × x), the part of x'' that does not contain the angular acceleration. */
static void centripetal(const ne_system *s, int body, const double x[3], double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    if (body < 0 || s->bodies[body].particle) return;
    cross(s->bodies[body].w, x, out);
    cross(s->bodies[body].w, out, out);
}

static void angular_velocity(const ne_system *s, int body, double w[3]) {
    memset(w, 0, 3 * sizeof *w);
    if (body >= 0 && !s->bodies[body].particle) memcpy(w, s->bodies[body].w, 3 * sizeof *w);
}

/* --- rows of joints --------------------------------------------------------------------------------------------------------------- */

typedef struct rows {
    size_t count;
    double J[NE_ROWS][COMPONENTS], gamma[NE_ROWS];
    double push[NE_ROWS][COMPONENTS]; /* friction force per unit of |λ| */
} rows;

static double *new_row(rows *all, double gamma) {
    size_t at = all->count++;
    memset(all->J[at], 0, sizeof all->J[at]);
    memset(all->push[at], 0, sizeof all->push[at]);
    all->gamma[at] = gamma;
    return all->J[at];
}

static void add_linear(double *row, int body, double factor, const double n[3]) {
    for (int i = 0; i < 3 && body >= 0; i++) row[6 * body + i] += factor * n[i];
}

static void add_angular(const ne_system *s, double *row, int body, double factor, const double n[3]) {
    if (body < 0 || s->bodies[body].particle) return;
    for (int i = 0; i < 3; i++) row[6 * body + 3 + i] += factor * n[i];
}

/* Adds the row n·(p_a − p_b)'' = `more`, where p_a and p_b are the joint's points and n is a constant vector. */
static double *point_row(const ne_system *s, rows *all, const ne_joint *j, const double n[3], double more) {
    double a[3], b[3], bias_a[3], bias_b[3], moment[3];
    arm_of(s, &j->a, a);
    arm_of(s, &j->b, b);
    centripetal(s, j->a.body, a, bias_a);
    centripetal(s, j->b.body, b, bias_b);
    double *row = new_row(all, more - dot(n, bias_a) + dot(n, bias_b));
    cross(a, n, moment);
    add_linear(row, j->a.body, 1, n);
    add_angular(s, row, j->a.body, 1, moment);
    cross(b, n, moment);
    add_linear(row, j->b.body, -1, n);
    add_angular(s, row, j->b.body, -1, moment);
    return row;
}

static void turn_direction(const ne_system *s, int body, const double x[3], double out[3]) {
    double R[9];
    memcpy(out, x, 3 * sizeof *out);
    if (body < 0) return;
    ne_rotation(s->bodies[body].e, R);
    apply(R, x, out);
}

/* Adds the row (u·w)'' = 0 for an axis u of body a and an axis w of body b, each in body axes. */
static void angle_row(const ne_system *s, rows *all, const ne_joint *j, const double u_a[3], const double w_b[3]) {
    double u[3], w[3], uu[3], ww[3], du[3], dw[3], wa[3], wb[3], normal[3];
    turn_direction(s, j->a.body, u_a, u);
    turn_direction(s, j->b.body, w_b, w);
    centripetal(s, j->a.body, u, uu);
    centripetal(s, j->b.body, w, ww);
    angular_velocity(s, j->a.body, wa);
    angular_velocity(s, j->b.body, wb);
    cross(wa, u, du);
    cross(wb, w, dw);
    double *row = new_row(all, -dot(uu, w) - 2 * dot(du, dw) - dot(u, ww));
    cross(u, w, normal);
    add_angular(s, row, j->a.body, 1, normal);
    add_angular(s, row, j->b.body, -1, normal);
}

static void between(const ne_system *s, const ne_end *a, const ne_end *b, double d[3], double rate[3]) {
    double p[3], v[3];
    ne_point(s, a, d);
    ne_point(s, b, p);
    velocity_of(s, a, rate);
    velocity_of(s, b, v);
    for (int i = 0; i < 3; i++) d[i] -= p[i], rate[i] -= v[i];
}

/* Adds the row (u·d)'' = 0 for an axis u of body a, in body axes. Here d = p_a − p_b is the vector between the joint's
 * points. */
static void slide_row(const ne_system *s, rows *all, const ne_joint *j, const double u_a[3]) {
    double u[3], uu[3], du[3], wa[3], d[3], rate[3], moment[3];
    turn_direction(s, j->a.body, u_a, u);
    centripetal(s, j->a.body, u, uu);
    angular_velocity(s, j->a.body, wa);
    cross(wa, u, du);
    between(s, &j->a, &j->b, d, rate);
    double *row = point_row(s, all, j, u, -2 * dot(du, rate) - dot(uu, d));
    cross(u, d, moment);
    add_angular(s, row, j->a.body, 1, moment);
}

/* Computes two unit vectors orthogonal to a. */
static void square_to(const double a[3], double u[3], double w[3]) {
    int least = fabs(a[0]) <= fabs(a[1]) && fabs(a[0]) <= fabs(a[2]) ? 0 : fabs(a[1]) <= fabs(a[2]) ? 1 : 2;
    double e[3] = {least == 0, least == 1, least == 2};
    cross(a, e, u);
    double length = sqrt(dot(u, u));
    for (int i = 0; i < 3; i++) u[i] /= length;
    cross(a, u, w);
}

static void coincident_rows(const ne_system *s, rows *all, const ne_joint *j) {
    for (int k = 0; k < 3; k++) {
        double n[3] = {k == 0, k == 1, k == 2};
        point_row(s, all, j, n, 0);
    }
}

static void parallel_rows(const ne_system *s, rows *all, const ne_joint *j) {
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        angle_row(s, all, j, (double[]){a == 0, a == 1, a == 2}, (double[]){b == 0, b == 1, b == 2});
    }
}

/* Adds the three rows of (v + ω × (−radius n))' = 0, where n is the normal of a plane at rest. */
static void rolling_rows(const ne_system *s, rows *all, const ne_joint *j) {
    for (int k = 0; k < 3; k++) {
        double n[3] = {k == 0, k == 1, k == 2}, c[3], moment[3], *row = new_row(all, 0);
        for (int i = 0; i < 3; i++) c[i] = -j->size * j->axis[i];
        cross(c, n, moment);
        add_linear(row, j->a.body, 1, n);
        add_angular(s, row, j->a.body, 1, moment);
    }
}

static void knife_row(const ne_system *s, rows *all, const ne_joint *j) {
    const ne_body *b = &s->bodies[j->a.body];
    double side[3], u[3], du[3];
    cross((double[]){0, 0, 1}, j->axis, side);
    turn_direction(s, j->a.body, side, u);
    cross(b->w, u, du);
    add_linear(new_row(all, -dot(du, b->v)), j->a.body, 1, u);
}

/* Adds the row (n·p)'' = 0, where p is the position of the joint's point, and n is the normal of a plane at rest. The
 * constraint keeps the distance of the point from the plane constant. The friction force −μ |λ| v_t/√(|v_t|² + ε²) acts
 * at the point. Here v_t is the tangential velocity of the point, and ε is the regularization. */
static void plane_row(const ne_system *s, rows *all, const ne_joint *j) {
    double *row = point_row(s, all, j, j->axis, 0), *push = all->push[all->count - 1], v[3], rho[3], moment[3];
    (void)row;
    if (j->friction == 0) return;
    velocity_of(s, &j->a, v);
    double across = dot(v, j->axis);
    for (int i = 0; i < 3; i++) v[i] -= across * j->axis[i];
    double factor = -j->friction / sqrt(dot(v, v) + j->regularization * j->regularization);
    arm_of(s, &j->a, rho);
    cross(rho, v, moment);
    add_linear(push, j->a.body, factor, v);
    add_angular(s, push, j->a.body, factor, moment);
}

static void joint_rows(const ne_system *s, rows *all, const ne_joint *j) {
    double u[3], w[3], d[3], rate[3];
    square_to(j->axis, u, w);
    switch (j->kind) {
    case NE_COINCIDENT: coincident_rows(s, all, j); return;
    case NE_DISTANCE:
        between(s, &j->a, &j->b, d, rate);
        point_row(s, all, j, d, -dot(rate, rate));
        return;
    case NE_REVOLUTE:
        coincident_rows(s, all, j);
        angle_row(s, all, j, u, j->axis);
        angle_row(s, all, j, w, j->axis);
        return;
    case NE_PRISMATIC:
        slide_row(s, all, j, u);
        slide_row(s, all, j, w);
        parallel_rows(s, all, j);
        return;
    case NE_FIXED:
        coincident_rows(s, all, j);
        parallel_rows(s, all, j);
        return;
    case NE_ROLLING: rolling_rows(s, all, j); return;
    case NE_KNIFE_EDGE: knife_row(s, all, j); return;
    case NE_PLANE: plane_row(s, all, j); return;
    }
}

static void all_rows(const ne_system *s, rows *all) {
    all->count = 0;
    for (size_t k = 0; k < s->joint_count; k++) joint_rows(s, all, &s->joints[k]);
}

/* --- forces and reactions ------------------------------------------------------------------------------------------------------------ */

static void force_at(const ne_system *s, const ne_end *end, double factor, const double f[3], double *F) {
    double rho[3], moment[3];
    arm_of(s, end, rho);
    cross(rho, f, moment);
    add_linear(F, end->body, factor, f);
    add_angular(s, F, end->body, factor, moment);
}

static void forces_of(const ne_system *s, double t, double *F) {
    memset(F, 0, COMPONENTS * sizeof *F);
    for (size_t k = 0; k < s->body_count; k++) {
        const ne_body *b = &s->bodies[k];
        double R[9], body[3], momentum[3], gyroscopic[3];
        add_linear(F, (int)k, b->mass, s->gravity);
        if (b->particle) continue;
        ne_rotation(b->e, R);
        apply_transposed(R, b->w, body);
        for (int i = 0; i < 3; i++) body[i] *= b->inertia[i];
        apply(R, body, momentum);
        cross(b->w, momentum, gyroscopic);
        add_angular(s, F, (int)k, -1, gyroscopic);
    }
    for (size_t k = 0; k < s->spring_count; k++) {
        const ne_spring *spring = &s->springs[k];
        double d[3], rate[3];
        between(s, &spring->a, &spring->b, d, rate);
        double length = sqrt(dot(d, d)), speed = dot(d, rate) / length;
        double pull = (spring->stiffness * (length - spring->length) + spring->damping * speed) / length;
        force_at(s, &spring->a, -pull, d, F);
        force_at(s, &spring->b, pull, d, F);
    }
    for (size_t k = 0; k < s->load_count; k++) {
        const ne_load *load = &s->loads[k];
        add_linear(F, load->body, cos(load->rate * t), load->force);
        add_angular(s, F, load->body, cos(load->rate * t), load->torque);
    }
}

/* x := M⁻¹ x */
static void divide_by_mass(const ne_system *s, double *x) {
    for (size_t k = 0; k < s->body_count; k++) {
        const ne_body *b = &s->bodies[k];
        double R[9], body[3];
        for (int i = 0; i < 3; i++) x[6 * k + (size_t)i] /= b->mass;
        if (b->particle) continue;
        ne_rotation(b->e, R);
        apply_transposed(R, x + 6 * k + 3, body);
        for (int i = 0; i < 3; i++) body[i] /= b->inertia[i];
        apply(R, body, x + 6 * k + 3);
    }
}

static double row_dot(const ne_system *s, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < 6 * s->body_count; i++) sum += a[i] * b[i];
    return sum;
}

/* Solves K x = f by elimination with complete pivoting. Components that redundant rows leave undetermined are set to
 * 0. */
static void eliminate(size_t n, double K[NE_ROWS][NE_ROWS], double *f, double *x) {
    size_t column[NE_ROWS] = {0}, rank = 0;
    double largest = 0;
    for (size_t j = 0; j < n; j++) column[j] = j, x[j] = 0;
    for (; rank < n; rank++) {
        size_t r = rank, c = rank;
        for (size_t i = rank; i < n; i++)
            for (size_t j = rank; j < n; j++)
                if (fabs(K[i][column[j]]) > fabs(K[r][column[c]])) r = i, c = j;
        double pivot = K[r][column[c]], swapped = f[r];
        if (rank == 0) largest = fabs(pivot);
        if (fabs(pivot) <= 1e-11 * largest) break;
        for (size_t j = 0; j < n && r != rank; j++) {
            double other = K[r][j];
            K[r][j] = K[rank][j];
            K[rank][j] = other;
        }
        f[r] = f[rank], f[rank] = swapped;
        size_t other = column[c];
        column[c] = column[rank], column[rank] = other;
        for (size_t i = rank + 1; i < n; i++) {
            double factor = K[i][other] / pivot;
            for (size_t j = rank; j < n && factor != 0; j++) K[i][column[j]] -= factor * K[rank][column[j]];
            f[i] -= factor * f[rank];
        }
    }
    for (size_t i = rank; i-- > 0;) {
        double sum = f[i];
        for (size_t j = i + 1; j < rank; j++) sum -= K[i][column[j]] * x[column[j]];
        x[column[i]] = sum / K[i][column[i]];
    }
}

/* Adds M⁻¹ Σ (J_k + sign_k push_k) λ_k to x such that J x = right. */
static void react(const ne_system *s, const rows *all, const double *sign, const double *right, double *x,
                  double *lambda) {
    static const size_t bytes = COMPONENTS * sizeof(double);
    double response[NE_ROWS][COMPONENTS], K[NE_ROWS][NE_ROWS], f[NE_ROWS];
    for (size_t k = 0; k < all->count; k++) {
        memcpy(response[k], all->J[k], bytes);
        for (size_t i = 0; sign && i < 6 * s->body_count; i++) response[k][i] += sign[k] * all->push[k][i];
        divide_by_mass(s, response[k]);
    }
    for (size_t k = 0; k < all->count; k++) {
        for (size_t l = 0; l < all->count; l++) K[k][l] = row_dot(s, all->J[k], response[l]);
        f[k] = right[k] - row_dot(s, all->J[k], x);
    }
    eliminate(all->count, K, f, lambda);
    for (size_t k = 0; k < all->count; k++)
        for (size_t i = 0; i < 6 * s->body_count; i++) x[i] += lambda[k] * response[k][i];
}

/* Friction depends on |λ|. Assumes the signs of λ and corrects them until they agree with the signs of the solution. */
static void accelerations(const ne_system *s, double t, double *a) {
    rows all;
    double sign[NE_ROWS], lambda[NE_ROWS], F[COMPONENTS];
    all_rows(s, &all);
    forces_of(s, t, F);
    divide_by_mass(s, F);
    for (size_t k = 0; k < all.count; k++) sign[k] = 1;
    for (int tries = 0; tries < 4; tries++) {
        bool settled = true;
        memcpy(a, F, sizeof F);
        react(s, &all, sign, all.gamma, a, lambda);
        for (size_t k = 0; k < all.count; k++) {
            double now = lambda[k] < 0 ? -1 : 1;
            settled = settled && now == sign[k];
            sign[k] = now;
        }
        if (settled) return;
    }
}

static void gather(const ne_system *s, double *x) {
    for (size_t k = 0; k < s->body_count; k++) {
        memcpy(x + 6 * k, s->bodies[k].v, 3 * sizeof *x);
        memcpy(x + 6 * k + 3, s->bodies[k].w, 3 * sizeof *x);
    }
}

static void scatter(ne_system *s, const double *x) {
    for (size_t k = 0; k < s->body_count; k++) {
        memcpy(s->bodies[k].v, x + 6 * k, 3 * sizeof *x);
        memcpy(s->bodies[k].w, x + 6 * k + 3, 3 * sizeof *x);
    }
}

void ne_project_velocities(ne_system *s) {
    rows all;
    double x[COMPONENTS] = {0}, zero[NE_ROWS] = {0}, lambda[NE_ROWS];
    all_rows(s, &all);
    gather(s, x);
    react(s, &all, NULL, zero, x, lambda);
    scatter(s, x);
}

/* --- steps ---------------------------------------------------------------------------------------------------------------------------- */

static void pack(const ne_system *s, double *y) {
    for (size_t k = 0; k < s->body_count; k++, y += 13) {
        memcpy(y, s->bodies[k].r, 3 * sizeof *y);
        memcpy(y + 3, s->bodies[k].e, 4 * sizeof *y);
        memcpy(y + 7, s->bodies[k].v, 3 * sizeof *y);
        memcpy(y + 10, s->bodies[k].w, 3 * sizeof *y);
    }
}

static void unpack(ne_system *s, const double *y) {
    for (size_t k = 0; k < s->body_count; k++, y += 13) {
        memcpy(s->bodies[k].r, y, 3 * sizeof *y);
        memcpy(s->bodies[k].e, y + 3, 4 * sizeof *y);
        memcpy(s->bodies[k].v, y + 7, 3 * sizeof *y);
        memcpy(s->bodies[k].w, y + 10, 3 * sizeof *y);
    }
}

/* r' = v, e' = ½ (0, ω) ∘ e */
static void rates(const ne_system *s, double t, const double *y, double *out) {
    ne_system at = *s;
    double a[COMPONENTS];
    unpack(&at, y);
    accelerations(&at, t, a);
    for (size_t k = 0; k < at.body_count; k++, out += 13) {
        const ne_body *b = &at.bodies[k];
        const double *w = b->w, *e = b->e;
        memcpy(out, b->v, 3 * sizeof *out);
        out[3] = -0.5 * (w[0] * e[1] + w[1] * e[2] + w[2] * e[3]);
        out[4] = 0.5 * (w[0] * e[0] + w[1] * e[3] - w[2] * e[2]);
        out[5] = 0.5 * (w[1] * e[0] + w[2] * e[1] - w[0] * e[3]);
        out[6] = 0.5 * (w[2] * e[0] + w[0] * e[2] - w[1] * e[1]);
        for (int i = 0; i < 6; i++) out[7 + i] = a[6 * k + (size_t)i];
    }
}

static void step_of_order_4(const ne_system *s, double t, double h, const double *y, double *out) {
    double k[4][STATE], at[STATE];
    size_t n = 13 * s->body_count;
    static const double part[4] = {0, 0.5, 0.5, 1};
    for (int j = 0; j < 4; j++) {
        for (size_t i = 0; i < n; i++) at[i] = y[i] + (j ? part[j] * h * k[j - 1][i] : 0);
        rates(s, t + part[j] * h, at, k[j]);
    }
    for (size_t i = 0; i < n; i++) out[i] = y[i] + h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

/* Takes two half steps and one full step and extrapolates. Returns the estimated error of the result of the half
 * steps. */
static double step(const ne_system *s, double t, double h, const double *y, double *out) {
    double whole[STATE], half[STATE], most = 0;
    step_of_order_4(s, t, h, y, whole);
    step_of_order_4(s, t, h / 2, y, half);
    step_of_order_4(s, t + h / 2, h / 2, half, out);
    for (size_t i = 0; i < 13 * s->body_count; i++) {
        double error = (out[i] - whole[i]) / 15;
        most = fmax(most, fabs(error) / fmax(1, fabs(out[i])));
        out[i] += error;
    }
    return most;
}

static void keep(ne_system *s, double t, double *y) {
    unpack(s, y);
    s->t = t;
    for (size_t k = 0; k < s->body_count; k++) {
        double *e = s->bodies[k].e, length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (int i = 0; i < 4; i++) e[i] /= length;
    }
    pack(s, y);
}

static double gap(const ne_system *s, const double *y) {
    ne_system at = *s;
    double p[3];
    if (y) unpack(&at, y);
    ne_point(&at, &s->impact.at, p);
    return dot(p, s->impact.axis) - s->impact.height;
}

/* Computes the velocities after the impact, which multiplies the normal velocity of the point by −restitution. */
static void strike(ne_system *s) {
    rows all;
    double x[COMPONENTS] = {0}, right[NE_ROWS] = {0}, lambda[NE_ROWS], v[3];
    ne_joint contact = {.kind = NE_PLANE, .a = s->impact.at, .b = {.body = -1}};
    memcpy(contact.axis, s->impact.axis, sizeof contact.axis);
    all_rows(s, &all);
    joint_rows(s, &all, &contact);
    velocity_of(s, &s->impact.at, v);
    right[all.count - 1] = -s->impact.restitution * dot(v, s->impact.axis);
    gather(s, x);
    react(s, &all, NULL, right, x, lambda);
    scatter(s, x);
    s->impact.count++;
}

/* Finds by bisection the step length at which the point meets the plane. Bisection is possible because the result of a
 * step is a continuous function of its length. */
static double step_to_impact(const ne_system *s, double h, const double *y, double *out) {
    double low = 0, high = h;
    for (int k = 0; k < 60 && high - low > 1e-15; k++) {
        double middle = 0.5 * (low + high);
        (void)step(s, s->t, middle, y, out);
        if (gap(s, out) > 0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

bool ne_advance(ne_system *s, double t, double tolerance) {
    double y[STATE], next[STATE], h = 1e-3;
    pack(s, y);
    for (int k = 0; k < MOST_STEPS && s->t < t; k++) {
        double length = fmin(h, t - s->t), error = step(s, s->t, length, y, next);
        double factor = 0.9 * pow(tolerance / fmax(error, 1e-300), 0.2);
        h = length * fmin(4, fmax(0.2, factor));
        if (error > tolerance) continue;
        bool hits = s->impact.given && gap(s, NULL) > 1e-13 && gap(s, next) < 0;
        if (hits) length = step_to_impact(s, length, y, next);
        keep(s, length == t - s->t ? t : s->t + length, next);
        if (hits) {
            strike(s);
            pack(s, next);
        }
        memcpy(y, next, sizeof y);
    }
    return s->t >= t;
}

double ne_energy(const ne_system *s) {
    double sum = 0;
    for (size_t k = 0; k < s->body_count; k++) {
        const ne_body *b = &s->bodies[k];
        double R[9], body[3];
        sum += b->mass * (0.5 * dot(b->v, b->v) - dot(s->gravity, b->r));
        if (b->particle) continue;
        ne_rotation(b->e, R);
        apply_transposed(R, b->w, body);
        for (int i = 0; i < 3; i++) sum += 0.5 * b->inertia[i] * body[i] * body[i];
    }
    for (size_t k = 0; k < s->spring_count; k++) {
        double d[3], rate[3];
        between(s, &s->springs[k].a, &s->springs[k].b, d, rate);
        sum += 0.5 * s->springs[k].stiffness * pow(sqrt(dot(d, d)) - s->springs[k].length, 2);
    }
    return sum;
}
