/* random_mechanism.c — random bodies, joints, springs and loads. The point of a joint is random on one body and
 * computed on the other one, so that every mechanism is consistent. */
#include "tests/reference/random_mechanism.h"

#include "engine/base/random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const mechanism_names[MECHANISM_KINDS] = {"tree",     "loops",  "planar loop",   "rolling",
                                                      "friction", "impact", "planar angles", "frames"};

static double between(uint64_t *seed, double a, double b) {
    return random_uniform(seed, a, b);
}

static int choose(uint64_t *seed, int count) {
    int k = (int)between(seed, 0, count);
    return k < count ? k : count - 1;
}

static void fill(uint64_t *seed, double *x, size_t count, double most) {
    for (size_t i = 0; i < count; i++) x[i] = between(seed, -most, most);
}

static void unit(uint64_t *seed, double *x, size_t count) {
    double sum = 0;
    while (sum < 0.05) {
        fill(seed, x, count, 1);
        sum = 0;
        for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    }
    for (size_t i = 0; i < count; i++) x[i] /= sqrt(sum);
}

/* a ∘ b */
static void compose(const double a[4], const double b[4], double out[4]) {
    double p[4] = {
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, p, sizeof p);
}

static void about(const double axis[3], double angle, double e[4]) {
    e[0] = cos(angle / 2);
    for (int i = 0; i < 3; i++) e[i + 1] = sin(angle / 2) * axis[i];
}

static ne_body *add_body(ne_system *s, uint64_t *seed) {
    ne_body *b = &s->bodies[s->body_count++];
    *b = (ne_body){.mass = between(seed, 0.5, 3), .e = {1}};
    /* mean squares of the coordinates of the mass; sums of two of them satisfy the triangle inequality */
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = between(seed, 0.05, 0.4);
    for (int i = 0; i < 3; i++) b->inertia[i] = b->mass * (x[(i + 1) % 3] + x[(i + 2) % 3]);
    fill(seed, b->r, 3, 1);
    fill(seed, b->v, 3, 1);
    fill(seed, b->w, 3, 2);
    return b;
}

static ne_joint *add_joint(ne_system *s, ne_kind kind, int a, int b) {
    ne_joint *j = &s->joints[s->joint_count++];
    *j = (ne_joint){.kind = kind, .a = {.body = a}, .b = {.body = b}, .axis = {0, 0, 1}};
    return j;
}

/* Places body b so that the joint is satisfied. */
static void place_child(ne_system *s, const ne_joint *j, uint64_t *seed) {
    static const double ground[4] = {1};
    ne_body *child = &s->bodies[j->b.body];
    const double *parent = j->a.body < 0 ? ground : s->bodies[j->a.body].e;
    double turn[4], R[9], Rp[9], p[3], apart[3] = {0};
    if (j->kind == NE_REVOLUTE) {
        about(j->axis, between(seed, -2, 2), turn);
        compose(parent, turn, child->e);
    } else if (j->kind == NE_PRISMATIC || j->kind == NE_FIXED) {
        memcpy(child->e, parent, sizeof child->e);
    } else {
        unit(seed, child->e, 4);
    }
    ne_rotation(child->e, R);
    ne_rotation(parent, Rp);
    if (j->kind == NE_DISTANCE) unit(seed, apart, 3);
    if (j->kind == NE_PRISMATIC)
        for (int i = 0; i < 3; i++)
            apart[i] = 0.6 * (Rp[3 * i] * j->axis[0] + Rp[3 * i + 1] * j->axis[1] + Rp[3 * i + 2] * j->axis[2]);
    ne_point(s, &j->a, p);
    for (int i = 0; i < 3; i++)
        child->r[i] = p[i] + apart[i] - (R[3 * i] * j->b.at[0] + R[3 * i + 1] * j->b.at[1] + R[3 * i + 2] * j->b.at[2]);
}

static void hang(ne_system *s, uint64_t *seed, ne_kind kind, int parent, bool planar) {
    add_body(s, seed);
    ne_joint *j = add_joint(s, kind, parent, (int)s->body_count - 1);
    fill(seed, j->a.at, 3, 0.8);
    fill(seed, j->b.at, 3, 0.8);
    if (planar) j->a.at[2] = j->b.at[2] = 0;
    if (!planar) unit(seed, j->axis, 3);
    place_child(s, j, seed);
}

static ne_kind joint_of_tree(uint64_t *seed, bool on_ground) {
    static const ne_kind kinds[] = {NE_COINCIDENT, NE_REVOLUTE, NE_REVOLUTE, NE_PRISMATIC, NE_DISTANCE, NE_FIXED};
    return kinds[choose(seed, on_ground ? 5 : 6)];
}

static void draw_tree(ne_system *s, uint64_t *seed, int count) {
    for (int k = 0; k < count; k++) {
        int parent = k == 0 ? -1 : choose(seed, k + 1) - 1;
        hang(s, seed, joint_of_tree(seed, parent < 0), parent, false);
    }
}

/* Fixes a point of the last body, or the distance of this point from a point of the ground. */
static void close_loop(ne_system *s, uint64_t *seed, ne_kind kind, bool planar) {
    ne_joint *j = add_joint(s, kind, (int)s->body_count - 1, -1);
    fill(seed, j->a.at, 3, 0.8);
    if (planar) j->a.at[2] = 0;
    ne_point(s, &j->a, j->b.at);
    if (kind == NE_DISTANCE) j->b.at[0] += between(seed, 1, 2);
}

static void add_forces(ne_system *s, uint64_t *seed, bool damped) {
    int last = (int)s->body_count - 1;
    ne_spring *spring = &s->springs[s->spring_count++];
    *spring = (ne_spring){.a = {.body = last},
                          .b = {.body = -1},
                          .stiffness = between(seed, 1, 15),
                          .length = between(seed, 0.2, 1),
                          .damping = damped ? between(seed, 0.1, 1) : 0};
    fill(seed, spring->a.at, 3, 0.3);
    fill(seed, spring->b.at, 3, 1);
    spring->b.at[0] += 3; /* the length of a spring must not become zero */
    ne_load *load = &s->loads[s->load_count++];
    *load = (ne_load){.body = choose(seed, last + 1), .rate = between(seed, 1, 4)};
    fill(seed, load->force, 3, 2);
    if (!s->bodies[load->body].particle) fill(seed, load->torque, 3, 1);
}

static void draw_rolling(ne_system *s, uint64_t *seed) {
    ne_body *ball = add_body(s, seed);
    double radius = between(seed, 0.3, 0.8);
    unit(seed, ball->e, 4);
    ball->r[2] = radius;
    ne_joint *j = add_joint(s, NE_ROLLING, 0, -1);
    j->size = radius;
    hang(s, seed, NE_COINCIDENT, 0, false);
    ne_body *sledge = add_body(s, seed);
    (void)sledge;
    j = add_joint(s, NE_KNIFE_EDGE, 2, -1);
    double angle = between(seed, -1, 1);
    j->axis[0] = cos(angle), j->axis[1] = sin(angle), j->axis[2] = 0;
    hang(s, seed, NE_REVOLUTE, 2, false);
}

static void draw_friction(ne_system *s, uint64_t *seed) {
    ne_body *slider = add_body(s, seed);
    slider->particle = true;
    slider->r[2] = 0.3;
    memset(slider->w, 0, sizeof slider->w);
    ne_joint *j = add_joint(s, NE_PLANE, 0, -1);
    j->size = 0.3;
    j->friction = between(seed, 0.1, 0.5);
    j->regularization = between(seed, 0.05, 0.2);
    add_body(s, seed);
    j = add_joint(s, NE_DISTANCE, 0, 1);
    fill(seed, j->b.at, 3, 0.4);
    place_child(s, j, seed);
    s->bodies[1].r[2] = fabs(s->bodies[1].r[2]) + 0.5;
}

static void draw_impact(ne_system *s, uint64_t *seed) {
    hang(s, seed, NE_DISTANCE, -1, false);
    hang(s, seed, choose(seed, 2) ? NE_REVOLUTE : NE_COINCIDENT, 0, false);
    ne_impact *hit = &s->impact;
    *hit = (ne_impact){.given = true, .at = {.body = 1}, .axis = {0, 0, 1}, .restitution = between(seed, 0.3, 0.9)};
    fill(seed, hit->at.at, 3, 0.5);
    double p[3];
    ne_point(s, &hit->at, p);
    hit->height = p[2] - between(seed, 0.1, 0.4);
}

/* --- systems in angles -------------------------------------------------------------------------------------------- */

/* Generates a random tree in the plane. Each body is described by its absolute angle, whose rate is the angular
 * velocity. */
static void draw_planar_angles(ne_system *s, uint64_t *seed, int count) {
    for (int k = 0; k < count; k++) hang(s, seed, NE_REVOLUTE, k == 0 ? -1 : choose(seed, k + 1) - 1, true);
    for (size_t k = 0; k < s->body_count; k++) s->bodies[k].w[0] = s->bodies[k].w[1] = 0;
    s->gravity[0] = 0, s->gravity[1] = -9.81, s->gravity[2] = 0;
}

/* A body of a chain in space. Relative to the previous body it rotates by three angles XYZ (a ball joint) or by one
 * angle about the third axis of both bodies. */
typedef struct chain_link {
    double angle[3], rate[3];
    bool ball;
} chain_link;

static void draw_links(chain_link *link, uint64_t *seed, size_t count) {
    for (size_t k = 0; k < count; k++) {
        link[k] = (chain_link){.ball = choose(seed, 2) == 0};
        for (int i = 0; i < 3; i++) {
            double angle = between(seed, -0.8, 0.8), rate = between(seed, -2, 2);
            if (link[k].ball || i == 2) link[k].angle[i] = angle, link[k].rate[i] = rate;
        }
    }
}

static void turned(const double e[4], const double x[3], double out[3]) {
    double R[9];
    ne_rotation(e, R);
    for (int i = 0; i < 3; i++) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

/* Computes the orientation and angular velocity of b from the orientation `before` and the angular velocity w of the
 * previous body. Each angle contributes its rate times its current axis of rotation to the angular velocity. */
static void turn_link(const chain_link *link, const double before[4], const double w[3], ne_body *b) {
    double e[4], axis[3], step[4];
    memcpy(e, before, sizeof e);
    memcpy(b->w, w, sizeof b->w);
    for (int i = 0; i < 3; i++) {
        double own[3] = {i == 0, i == 1, i == 2};
        turned(e, own, axis);
        for (int k = 0; k < 3; k++) b->w[k] += link->rate[i] * axis[k];
        about(own, link->angle[i], step);
        compose(e, step, e);
    }
    memcpy(b->e, e, sizeof e);
}

static void draw_frames(ne_system *s, uint64_t *seed, int count) {
    chain_link link[NE_BODIES];
    uint64_t own = *seed;
    double ground[4] = {1}, still[3] = {0};
    draw_links(link, &own, (size_t)count);
    for (int k = 0; k < count; k++) {
        hang(s, seed, link[k].ball ? NE_COINCIDENT : NE_REVOLUTE, k - 1, true);
        ne_joint *j = &s->joints[k];
        ne_body *b = &s->bodies[k];
        j->a.at[2] = between(seed, -0.5, 0.5), j->b.at[2] = between(seed, -0.5, 0.5);
        turn_link(&link[k], k ? s->bodies[k - 1].e : ground, k ? s->bodies[k - 1].w : still, b);
        double p[3], arm[3];
        ne_point(s, &j->a, p);
        turned(b->e, j->b.at, arm);
        for (int i = 0; i < 3; i++) b->r[i] = p[i] - arm[i];
    }
}

/* Computes the velocities of the centres from the angular velocities. */
static void follow_angles(ne_system *s) {
    for (size_t k = 0; k < s->body_count; k++) {
        const ne_joint *j = &s->joints[k];
        ne_body *b = &s->bodies[k];
        double a[3] = {0}, c[3];
        if (j->a.body >= 0) {
            const ne_body *p = &s->bodies[j->a.body];
            turned(p->e, j->a.at, a);
            double w[3] = {p->w[1] * a[2] - p->w[2] * a[1], p->w[2] * a[0] - p->w[0] * a[2],
                           p->w[0] * a[1] - p->w[1] * a[0]};
            for (int i = 0; i < 3; i++) a[i] = p->v[i] + w[i];
        }
        turned(b->e, j->b.at, c);
        double w[3] = {b->w[1] * c[2] - b->w[2] * c[1], b->w[2] * c[0] - b->w[0] * c[2],
                       b->w[0] * c[1] - b->w[1] * c[0]};
        for (int i = 0; i < 3; i++) b->v[i] = a[i] - w[i];
    }
}

/* --- complete mechanisms ------------------------------------------------------------------------------------------ */

static bool is_by_angles(mechanism_kind kind) {
    return kind == MECHANISM_PLANAR_ANGLES || kind == MECHANISM_FRAMES;
}

void mechanism_draw(ne_system *s, mechanism_kind kind, uint64_t seed) {
    uint64_t *at = &seed;
    *s = (ne_system){.gravity = {0, 0, -9.81}};
    if (kind == MECHANISM_FRAMES) draw_frames(s, at, 3);
    if (kind == MECHANISM_PLANAR_ANGLES) draw_planar_angles(s, at, 4);
    if (kind == MECHANISM_TREE) draw_tree(s, at, 2 + choose(at, 4));
    if (kind == MECHANISM_LOOPS) {
        draw_tree(s, at, 3);
        close_loop(s, at, choose(at, 2) ? NE_COINCIDENT : NE_DISTANCE, false);
    }
    if (kind == MECHANISM_PLANAR_LOOP) {
        for (int k = 0; k < 3; k++) hang(s, at, NE_REVOLUTE, k - 1, true);
        close_loop(s, at, NE_REVOLUTE, true);
    }
    if (kind == MECHANISM_ROLLING) draw_rolling(s, at);
    if (kind == MECHANISM_FRICTION) draw_friction(s, at);
    if (kind == MECHANISM_IMPACT) draw_impact(s, at);
    if (kind != MECHANISM_PLANAR_ANGLES) add_forces(s, at, choose(at, 2) == 0);
    if (is_by_angles(kind))
        follow_angles(s);
    else
        ne_project_velocities(s);
}

/* --- descriptions ------------------------------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t at;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(w->text + w->at, MECHANISM_TEXT - w->at, format, list);
    va_end(list);
    w->at += n > 0 ? (size_t)n : 0;
    if (w->at >= MECHANISM_TEXT) w->at = MECHANISM_TEXT - 1;
}

static void put_numbers(writer *w, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) put(w, "%s%.17g", i ? ", " : "[", x[i]);
    put(w, "]");
}

static void put_coordinate(writer *w, const char *name, size_t k, double initial, double velocity) {
    put(w, "%s{\"name\": \"%s%zu\", \"initial\": %.17g, \"velocity\": %.17g}", w->text[w->at - 1] == '[' ? "" : ", ",
        name, k, initial, velocity);
}

/* e' = ½ (0, ω) ∘ e */
static void put_free_coordinates(writer *w, const ne_system *s) {
    static const char *const places[] = {"x", "y", "z"}, *const quaternions[] = {"e0_", "e1_", "e2_", "e3_"};
    put(w, "\"coordinates\": [");
    for (size_t k = 0; k < s->body_count; k++) {
        const ne_body *b = &s->bodies[k];
        double rate[4], w4[4] = {0, b->w[0], b->w[1], b->w[2]};
        for (int i = 0; i < 3; i++) put_coordinate(w, places[i], k + 1, b->r[i], b->v[i]);
        if (b->particle) continue;
        compose(w4, b->e, rate);
        for (int i = 0; i < 4; i++) put_coordinate(w, quaternions[i], k + 1, b->e[i], rate[i] / 2);
    }
    put(w, "]");
}

static void put_free_bodies(writer *w, const ne_system *s) {
    bool first = true;
    put(w, ", \"bodies\": [");
    for (size_t k = 1; k <= s->body_count; k++) {
        const ne_body *b = &s->bodies[k - 1];
        if (b->particle) continue;
        put(w,
            "%s{\"name\": \"B%zu\", \"mass\": %.17g, \"position\": [\"x%zu\", \"y%zu\", \"z%zu\"], \"orientation\": "
            "{\"quaternion\": [\"e0_%zu\", \"e1_%zu\", \"e2_%zu\", \"e3_%zu\"]}, \"inertia\": ",
            first ? "" : ", ", k, b->mass, k, k, k, k, k, k, k);
        put_numbers(w, b->inertia, 3);
        put(w, "}");
        first = false;
    }
    put(w, "], \"particles\": [");
    for (size_t k = 1; k <= s->body_count; k++)
        if (s->bodies[k - 1].particle)
            put(w, "{\"name\": \"B%zu\", \"mass\": %.17g, \"position\": [\"x%zu\", \"y%zu\", \"z%zu\"]}", k,
                s->bodies[k - 1].mass, k, k, k);
    put(w, "]");
}

/* Declares a point when it is first used: Ak and Bk of joint k, Sk of spring k. */
static void put_point(writer *w, const ne_end *end, const char *name, size_t k) {
    if (end->body < 0) return;
    put(w, "%s{\"name\": \"%s%zu\", \"body\": \"B%d\", \"at\": ", w->text[w->at - 1] == '[' ? "" : ", ", name, k,
        end->body + 1);
    put_numbers(w, end->at, 3);
    put(w, "}");
}

static bool has_point(const ne_system *s, const ne_end *end) {
    return end->body >= 0 && !s->bodies[end->body].particle;
}

static void put_points(writer *w, const ne_system *s) {
    put(w, ", \"points\": [");
    for (size_t k = 0; k < s->joint_count; k++) {
        if (has_point(s, &s->joints[k].a)) put_point(w, &s->joints[k].a, "A", k);
        if (has_point(s, &s->joints[k].b)) put_point(w, &s->joints[k].b, "Z", k);
    }
    for (size_t k = 0; k < s->spring_count; k++)
        if (has_point(s, &s->springs[k].a)) put_point(w, &s->springs[k].a, "S", k);
    if (s->impact.given) put_point(w, &s->impact.at, "H", 0);
    put(w, "]");
}

static void put_end(writer *w, const ne_system *s, const ne_end *end, const char *name, size_t k) {
    if (end->body < 0)
        put_numbers(w, end->at, 3);
    else if (has_point(s, end))
        put(w, "\"%s%zu\"", name, k);
    else
        put(w, "\"B%d\"", end->body + 1);
}

static void put_joint(writer *w, const ne_system *s, size_t k) {
    static const char *const types[] = {"coincident", "distance", "revolute",  "prismatic",
                                        "fixed",      "rolling",  "knife_edge"};
    const ne_joint *j = &s->joints[k];
    put(w, "%s{\"name\": \"J%zu\", \"type\": \"%s\", \"between\": [", w->text[w->at - 1] == '[' ? "" : ", ", k,
        types[j->kind]);
    if (j->kind == NE_ROLLING || j->kind == NE_KNIFE_EDGE)
        put(w, "\"B%d\"%s]", j->a.body + 1, j->kind == NE_ROLLING ? ", [0, 0, 0]" : "");
    else {
        put_end(w, s, &j->a, "A", k);
        put(w, ", ");
        put_end(w, s, &j->b, "Z", k);
        put(w, "]");
    }
    if (j->kind == NE_DISTANCE) {
        double a[3], b[3];
        ne_point(s, &j->a, a);
        ne_point(s, &j->b, b);
        put(w, ", \"length\": %.17g", sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
    }
    if (j->kind == NE_ROLLING) put(w, ", \"radius\": %.17g, \"normal\": ", j->size);
    if (j->kind == NE_REVOLUTE || j->kind == NE_PRISMATIC) put(w, ", \"axis\": ");
    if (j->kind == NE_KNIFE_EDGE) put(w, ", \"direction\": ");
    if (j->kind == NE_ROLLING || j->kind == NE_REVOLUTE || j->kind == NE_PRISMATIC || j->kind == NE_KNIFE_EDGE)
        put_numbers(w, j->axis, 3);
    put(w, "}");
}

static void put_joints(writer *w, const ne_system *s) {
    put(w, ", \"joints\": [");
    for (size_t k = 0; k < s->joint_count; k++)
        if (s->joints[k].kind != NE_PLANE) put_joint(w, s, k);
    put(w, "], \"constraints\": [");
    for (size_t k = 0; k < s->joint_count; k++)
        if (s->joints[k].kind == NE_PLANE)
            put(w,
                "{\"name\": \"plane\", \"equation\": \"z%d = %.17g\", \"friction\": {\"coefficient\": %.17g, "
                "\"regularization\": %.17g, \"on\": \"B%d\"}}",
                s->joints[k].a.body + 1, s->joints[k].size, s->joints[k].friction, s->joints[k].regularization,
                s->joints[k].a.body + 1);
    put(w, "]");
    if (s->impact.given)
        put(w,
            ", \"events\": [{\"name\": \"hit\", \"when\": \"position(H0, 3) - %.17g\", \"direction\": \"falling\", "
            "\"impulse\": {\"constraint\": \"position(H0, 3) = %.17g\", \"restitution\": %.17g}}]",
            s->impact.height, s->impact.height, s->impact.restitution);
}

static void put_forces(writer *w, const ne_system *s) {
    put(w, ", \"springs\": [");
    for (size_t k = 0; k < s->spring_count; k++) {
        put(w, "{\"name\": \"spring%zu\", \"between\": [", k);
        put_end(w, s, &s->springs[k].a, "S", k);
        put(w, ", ");
        put_end(w, s, &s->springs[k].b, "", 0);
        put(w, "], \"stiffness\": %.17g, \"length\": %.17g}", s->springs[k].stiffness, s->springs[k].length);
    }
    put(w, "], \"dampers\": [");
    for (size_t k = 0; k < s->spring_count; k++) {
        put(w, "{\"name\": \"damper%zu\", \"between\": [", k);
        put_end(w, s, &s->springs[k].a, "S", k);
        put(w, ", ");
        put_end(w, s, &s->springs[k].b, "", 0);
        put(w, "], \"coefficient\": %.17g}", s->springs[k].damping);
    }
    put(w, "], \"loads\": [");
    for (size_t k = 0; k < s->load_count; k++) {
        const ne_load *l = &s->loads[k];
        put(w, "{\"on\": \"B%d\", \"force\": [", l->body + 1);
        for (int i = 0; i < 3; i++) put(w, "%s\"%.17g*cos(%.17g*t)\"", i ? ", " : "", l->force[i], l->rate);
        put(w, "]");
        if (!s->bodies[l->body].particle) {
            put(w, ", \"torque\": [");
            for (int i = 0; i < 3; i++) put(w, "%s\"%.17g*cos(%.17g*t)\"", i ? ", " : "", l->torque[i], l->rate);
            put(w, "]");
        }
        put(w, "}");
    }
    put(w, "]");
}

/* In the plane, the centre of body k is the position of its joint minus the vector from the centre to the joint. */
static void put_planar_place(writer *w, const ne_system *s, int k, int component) {
    const ne_joint *j = &s->joints[k];
    const char *first = component ? "sin" : "cos", *second = component ? "cos" : "sin", *sign = component ? "+" : "-";
    if (j->a.body < 0)
        put(w, "(%.17g)", j->a.at[component]);
    else
        put(w, "c%d[%d] + (%.17g)*%s(a%d) %s (%.17g)*%s(a%d)", j->a.body + 1, component + 1, j->a.at[0], first,
            j->a.body + 1, sign, j->a.at[1], second, j->a.body + 1);
    put(w, " - ((%.17g)*%s(a%d) %s (%.17g)*%s(a%d))", j->b.at[0], first, k + 1, sign, j->b.at[1], second, k + 1);
}

static void put_planar_angles(writer *w, const ne_system *s) {
    put(w, "\"coordinates\": [");
    for (size_t k = 0; k < s->body_count; k++)
        put_coordinate(w, "a", k + 1, 2 * atan2(s->bodies[k].e[3], s->bodies[k].e[0]), s->bodies[k].w[2]);
    put(w, "], \"definitions\": {");
    for (size_t k = 0; k < s->body_count; k++) {
        put(w, "%s\"c%zu\": [\"", k ? ", " : "", k + 1);
        put_planar_place(w, s, (int)k, 0);
        put(w, "\", \"");
        put_planar_place(w, s, (int)k, 1);
        put(w, "\"]");
    }
    put(w, "}, \"bodies\": [");
    for (size_t k = 1; k <= s->body_count; k++)
        put(w,
            "%s{\"name\": \"B%zu\", \"mass\": %.17g, \"position\": [\"c%zu[1]\", \"c%zu[2]\"], \"orientation\": "
            "{\"angle\": "
            "\"a%zu\"}, \"inertia\": %.17g}",
            k > 1 ? ", " : "", k, s->bodies[k - 1].mass, k, k, k, s->bodies[k - 1].inertia[2]);
    put(w, "], \"gravity\": [0, -9.81]");
}

static void put_frames(writer *w, const ne_system *s, uint64_t seed) {
    chain_link link[NE_BODIES];
    draw_links(link, &seed, s->body_count);
    put(w, "\"coordinates\": [");
    for (size_t k = 0; k < s->body_count; k++)
        for (int i = link[k].ball ? 0 : 2; i < 3; i++)
            put_coordinate(w, i == 0 ? "a" : i == 1 ? "b" : "c", k + 1, link[k].angle[i], link[k].rate[i]);
    put(w, "], \"frames\": [");
    for (size_t k = 0; k < s->body_count; k++) {
        put(w, "%s{\"name\": \"F%zu\", ", k ? ", " : "", k + 1);
        if (k) put(w, "\"in\": \"B%zu\", ", k);
        put(w, "\"origin\": ");
        put_numbers(w, s->joints[k].a.at, 3);
        if (link[k].ball)
            put(w,
                ", \"orientation\": {\"euler\": {\"sequence\": \"XYZ\", \"angles\": [\"a%zu\", \"b%zu\", \"c%zu\"]}}}",
                k + 1, k + 1, k + 1);
        else
            put(w, ", \"orientation\": {\"euler\": {\"sequence\": \"ZXZ\", \"angles\": [\"c%zu\", 0, 0]}}}", k + 1);
    }
    put(w, "], \"bodies\": [");
    for (size_t k = 0; k < s->body_count; k++) {
        double at[3];
        for (int i = 0; i < 3; i++) at[i] = -s->joints[k].b.at[i];
        put(w, "%s{\"name\": \"B%zu\", \"in\": \"F%zu\", \"mass\": %.17g, \"position\": ", k ? ", " : "", k + 1, k + 1,
            s->bodies[k].mass);
        put_numbers(w, at, 3);
        put(w, ", \"inertia\": ");
        put_numbers(w, s->bodies[k].inertia, 3);
        put(w, "}");
    }
    put(w, "]");
}

static void put_outputs(writer *w, const ne_system *s, bool planar) {
    static const char *const axes[] = {"x", "y", "z"};
    static const char *const quantities[][2] = {{"p", "position"}, {"v", "velocity"}, {"w", "angular_velocity"}};
    put(w, ", \"outputs\": {");
    for (size_t k = 1; k <= s->body_count; k++)
        for (int q = 0; q < 3; q++)
            for (int i = 0; i < 3; i++) {
                if (planar ? (q < 2 ? i == 2 : i < 2) : (q == 2 && s->bodies[k - 1].particle)) continue;
                put(w, "%s\"%s%s%zu\": \"%s(B%zu, %d)\"", w->text[w->at - 1] == '{' ? "" : ", ", quantities[q][0],
                    axes[i], k, quantities[q][1], k, i + 1);
            }
    put(w, "}");
}

void mechanism_describe(const ne_system *s, mechanism_kind kind, uint64_t seed, double stop, int samples,
                        const char *formulation, const char *method, char text[MECHANISM_TEXT]) {
    writer w = {.text = text};
    put(&w, "{\"hamel\": 1, ");
    if (kind == MECHANISM_PLANAR_ANGLES) {
        put_planar_angles(&w, s);
    } else {
        if (kind == MECHANISM_FRAMES) {
            put_frames(&w, s, seed);
        } else {
            put_free_coordinates(&w, s);
            put_free_bodies(&w, s);
        }
        put(&w, ", \"gravity\": ");
        put_numbers(&w, s->gravity, 3);
        put_points(&w, s);
        if (kind != MECHANISM_FRAMES) put_joints(&w, s);
        put_forces(&w, s);
    }
    put_outputs(&w, s, kind == MECHANISM_PLANAR_ANGLES);
    put(&w,
        ", \"simulation\": {\"stop\": %.17g, \"samples\": %d, \"rtol\": 1e-10, \"atol\": 1e-12, \"formulation\": "
        "\"%s\", "
        "\"method\": \"%s\"}}",
        stop, samples, formulation, method);
}
