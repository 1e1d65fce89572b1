/* revolute_tree.c — random trees, their kinematics, and their descriptions. */
#include "tests/reference/revolute_tree.h"

#include "engine/base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARENTS = 3 };

static const double ground_axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static double between(uint64_t *seed, double low, double high) {
    return random_uniform(seed, low, high);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) abort();
    return memory;
}

/* A rigid body has moments of inertia that satisfy the triangle inequality: sums of two of three mean squares. */
static void draw_body(tree_body *b, bool planar, uint64_t *seed) {
    double square[3];
    b->mass = between(seed, 0.5, 2);
    b->axis = planar ? 2 : (int)between(seed, 0, 3) % 3;
    for (int i = 0; i < 3; i++) square[i] = b->mass * between(seed, 0.02, 0.1);
    for (int i = 0; i < 3; i++) {
        b->inertia[i] = square[(i + 1) % 3] + square[(i + 2) % 3];
        b->at[i] = planar && i == 2 ? 0 : between(seed, -0.5, 0.5);
        b->arm[i] = planar && i == 2 ? 0 : between(seed, -0.5, 0.5);
    }
}

revolute_tree tree_draw(size_t count, bool planar, bool chain, uint64_t seed) {
    revolute_tree t = {planar, count, allocate(count, sizeof *t.bodies)};
    for (size_t k = 0; k < count; k++) {
        int last = (int)k - 1, back = chain ? 0 : (int)between(&seed, 0, PARENTS) % PARENTS;
        draw_body(&t.bodies[k], planar, &seed);
        t.bodies[k].parent = last - back < -1 ? -1 : last - back;
    }
    return t;
}

void tree_free(revolute_tree *t) {
    free(t->bodies);
    *t = (revolute_tree){0};
}

/* --- kinematics ------------------------------------------------------------------------------------------------------ */

typedef struct placed {
    double R[9], r[3], v[3], a[3]; /* R: body to inertial axes, row by row; r, v, a: motion of the centre */
    double w[3], turn[3];          /* angular velocity and acceleration, inertial components */
    double e[4];                   /* quaternion of R, scalar first */
} placed;

static void apply(const double R[9], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = a[i] * b[j] - a[j] * b[i];
    }
}

/* Moves the point by an arm that rotates: r += x, v += ω × x, a += ω' × x + ω × (ω × x). */
static void add_arm(placed *p, const double R[9], const double w[3], const double turn[3], const double arm[3]) {
    double x[3], wx[3], turn_x[3], wwx[3];
    apply(R, arm, x);
    cross(w, x, wx);
    cross(turn, x, turn_x);
    cross(w, wx, wwx);
    for (int i = 0; i < 3; i++) {
        p->r[i] += x[i];
        p->v[i] += wx[i];
        p->a[i] += turn_x[i] + wwx[i];
    }
}

/* Rotates p about its own axis: R := R rot(axis, angle), ω += q' s, ω' += q'' s + ω_parent × q' s. */
static void add_rotation(placed *p, int axis, double angle, double rate, double second) {
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double s[3], change[3], sine = sin(angle), cosine = cos(angle), e[4];
    for (int k = 0; k < 3; k++) s[k] = p->R[3 * k + axis];
    for (int k = 0; k < 3; k++) {
        double a = p->R[3 * k + i], b = p->R[3 * k + j];
        p->R[3 * k + i] = a * cosine + b * sine;
        p->R[3 * k + j] = b * cosine - a * sine;
    }
    double half_sine = sin(angle / 2), half_cosine = cos(angle / 2);
    e[0] = p->e[0] * half_cosine - p->e[1 + axis] * half_sine;
    e[1 + axis] = p->e[1 + axis] * half_cosine + p->e[0] * half_sine;
    e[1 + i] = p->e[1 + i] * half_cosine + p->e[1 + j] * half_sine;
    e[1 + j] = p->e[1 + j] * half_cosine - p->e[1 + i] * half_sine;
    memcpy(p->e, e, sizeof e);
    cross(p->w, s, change);
    for (int k = 0; k < 3; k++) {
        p->turn[k] += second * s[k] + rate * change[k];
        p->w[k] += rate * s[k];
    }
}

/* e' = ½ (0, ω) ∘ e */
static void quaternion_rate(const placed *p, double out[4]) {
    double side[3];
    cross(p->w, p->e + 1, side);
    out[0] = -(p->w[0] * p->e[1] + p->w[1] * p->e[2] + p->w[2] * p->e[3]) / 2;
    for (int i = 0; i < 3; i++) out[i + 1] = (p->e[0] * p->w[i] + side[i]) / 2;
}

static void place_body(const revolute_tree *t, tree_motion m, size_t k, placed *all) {
    const tree_body *b = &t->bodies[k];
    placed p = {.e = {1}};
    memcpy(p.R, ground_axes, sizeof p.R);
    if (b->parent >= 0) p = all[b->parent];
    add_arm(&p, p.R, p.w, p.turn, b->at);
    add_rotation(&p, b->axis, m.angle[k], m.rate[k], m.acceleration ? m.acceleration[k] : 0);
    add_arm(&p, p.R, p.w, p.turn, b->arm);
    all[k] = p;
}

void tree_place(const revolute_tree *t, tree_motion m, double *q, double *v, double *a) {
    placed *all = allocate(t->count, sizeof *all);
    double *angle = allocate(t->count, sizeof *angle);
    const size_t width = tree_width(t), lengths = t->planar ? 2 : 3;
    for (size_t k = 0; k < t->count; k++) {
        place_body(t, m, k, all);
        angle[k] = m.angle[k] + (t->bodies[k].parent >= 0 ? angle[t->bodies[k].parent] : 0);
        memcpy(q + width * k, all[k].r, lengths * sizeof *q);
        memcpy(v + width * k, all[k].v, lengths * sizeof *v);
        if (a) memcpy(a + 3 * k, all[k].a, 3 * sizeof *a);
        if (t->planar) {
            q[width * k + 2] = angle[k];
            v[width * k + 2] = all[k].w[2];
        } else {
            memcpy(q + width * k + 3, all[k].e, sizeof all[k].e);
            quaternion_rate(&all[k], v + width * k + 3);
        }
    }
    free(angle);
    free(all);
}

/* --- descriptions ---------------------------------------------------------------------------------------------------- */

static void put_vector(FILE *out, const double *x, int count) {
    for (int i = 0; i < count; i++) fprintf(out, "%s%.17g", i ? "," : "[", x[i]);
    fputs("]", out);
}

static void put_body_values(FILE *out, const revolute_tree *t, const tree_body *b) {
    fprintf(out, ",\"mass\":%.17g,\"inertia\":", b->mass);
    if (t->planar)
        fprintf(out, "%.17g}", b->inertia[2]);
    else
        put_vector(out, b->inertia, 3), fputs("}", out);
}

static void put_coordinate(FILE *out, bool first, const char *name, size_t k, double initial, double velocity) {
    fprintf(out, "%s{\"name\":\"%s%zu\",\"initial\":%.17g,\"velocity\":%.17g}", first ? "" : ",", name, k + 1, initial,
            velocity);
}

static void put_frames(FILE *out, const revolute_tree *t, tree_motion start) {
    static const char *const sequences[] = {"XYZ", "YZX", "ZXY"};
    const int dimension = t->planar ? 2 : 3;
    fputs("\"coordinates\":[", out);
    for (size_t k = 0; k < t->count; k++) put_coordinate(out, k == 0, "a", k, start.angle[k], start.rate[k]);
    fputs("],\"frames\":[", out);
    for (size_t k = 0; k < t->count; k++) {
        const tree_body *b = &t->bodies[k];
        fprintf(out, "%s{\"name\":\"F%zu\",\"origin\":", k ? "," : "", k + 1);
        put_vector(out, b->at, dimension);
        if (b->parent >= 0) fprintf(out, ",\"in\":\"B%d\"", b->parent + 1);
        if (t->planar)
            fprintf(out, ",\"orientation\":{\"angle\":\"a%zu\"}}", k + 1);
        else
            fprintf(out, ",\"orientation\":{\"euler\":{\"sequence\":\"%s\",\"angles\":[\"a%zu\",0,0]}}}",
                    sequences[b->axis], k + 1);
    }
    fputs("],\"bodies\":[", out);
    for (size_t k = 0; k < t->count; k++) {
        fprintf(out, "%s{\"name\":\"B%zu\",\"in\":\"F%zu\",\"position\":", k ? "," : "", k + 1, k + 1);
        put_vector(out, t->bodies[k].arm, dimension);
        put_body_values(out, t, &t->bodies[k]);
    }
    fputs("]", out);
}

static void put_free_bodies(FILE *out, const revolute_tree *t, tree_motion start) {
    static const char *const planar[] = {"x", "y", "a"}, *const spatial[] = {"x", "y", "z", "p", "q", "r", "s"};
    const char *const *names = t->planar ? planar : spatial;
    size_t width = tree_width(t);
    double *q = allocate(2 * width * t->count, sizeof *q), *v = q + width * t->count;
    tree_place(t, start, q, v, NULL);
    fputs("\"coordinates\":[", out);
    for (size_t i = 0; i < width * t->count; i++) put_coordinate(out, i == 0, names[i % width], i / width, q[i], v[i]);
    free(q);
    fputs("],\"bodies\":[", out);
    for (size_t k = 1; k <= t->count; k++) {
        fprintf(out, "%s{\"name\":\"B%zu\",\"position\":[\"x%zu\",\"y%zu\"", k > 1 ? "," : "", k, k, k);
        if (t->planar)
            fprintf(out, "],\"orientation\":{\"angle\":\"a%zu\"}", k);
        else
            fprintf(out, ",\"z%zu\"],\"orientation\":{\"quaternion\":[\"p%zu\",\"q%zu\",\"r%zu\",\"s%zu\"]}", k, k, k,
                    k, k);
        put_body_values(out, t, &t->bodies[k - 1]);
    }
    fputs("]", out);
}

static void put_joints(FILE *out, const revolute_tree *t) {
    const int dimension = t->planar ? 2 : 3;
    fputs(",\"points\":[", out);
    for (size_t k = 0; k < t->count; k++) {
        const tree_body *b = &t->bodies[k];
        double back[3] = {-b->arm[0], -b->arm[1], -b->arm[2]};
        fprintf(out, "%s{\"name\":\"P%zu\",\"body\":\"B%zu\",\"at\":", k ? "," : "", k + 1, k + 1);
        put_vector(out, back, dimension);
        if (b->parent >= 0) {
            fprintf(out, "},{\"name\":\"Q%zu\",\"body\":\"B%d\",\"at\":", k + 1, b->parent + 1);
            put_vector(out, b->at, dimension);
        }
        fputs("}", out);
    }
    fputs("],\"joints\":[", out);
    for (size_t k = 0; k < t->count; k++) {
        const tree_body *b = &t->bodies[k];
        fprintf(out, "%s{\"name\":\"J%zu\",\"type\":\"revolute\",\"between\":[", k ? "," : "", k + 1);
        if (b->parent >= 0)
            fprintf(out, "\"Q%zu\"", k + 1);
        else
            put_vector(out, b->at, dimension);
        fprintf(out, ",\"P%zu\"]", k + 1);
        if (!t->planar) fprintf(out, ",\"axis\":[%d,%d,%d]", b->axis == 0, b->axis == 1, b->axis == 2);
        fputs("}", out);
    }
    fputs("]", out);
}

char *tree_describe(const revolute_tree *t, tree_form form, tree_motion start, double stop, int samples, double rtol) {
    static const char *const axes[] = {"x", "y", "z"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) abort();
    fputs("{\"hamel\":1,", out);
    if (form == TREE_FRAMES) {
        put_frames(out, t, start);
    } else {
        put_free_bodies(out, t, start);
        put_joints(out, t);
    }
    fprintf(out, ",\"gravity\":%s,\"outputs\":{", t->planar ? "[0,-9.81]" : "[0,0,-9.81]");
    for (size_t k = 1; k <= t->count; k++)
        for (int i = 0; i < (t->planar ? 2 : 3); i++)
            fprintf(out, "%s\"p%s%zu\":\"position(B%zu,%d)\"", k > 1 || i ? "," : "", axes[i], k, k, i + 1);
    fprintf(out, "},\"simulation\":{\"stop\":%.17g,\"samples\":%d,\"rtol\":%g,\"atol\":%g}}", stop, samples, rtol,
            rtol / 100);
    fclose(out);
    return text;
}
