/* chains.c — hand-written equations of chains. */
#include "tests/bench/chains.h"

#include "engine/linear/dense.h"

#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>

static const double gravity = 9.81;

struct chain {
    size_t links;
    double angle;                               /* initial angle of each link from the downward vertical */
    double *dx, *dy, *tension, *diagonal, *off; /* links + 1 entries each */
    double *sine, *cosine, *mass;               /* links, links, and links² entries */
};

chain *chain_create(size_t links, double angle) {
    size_t each = links + 1;
    chain *c = calloc(1, sizeof *c);
    require(c && (c->dx = calloc(7 * each, sizeof *c->dx)), "out of memory");
    c->links = links;
    c->angle = angle;
    c->dy = c->dx + each;
    c->tension = c->dy + each;
    c->diagonal = c->tension + each;
    c->off = c->diagonal + each;
    c->sine = c->off + each;
    c->cosine = c->sine + each;
    return c;
}

void chain_free(chain *c) {
    free(c->dx), free(c->mass), free(c);
}

/* ---- in x and y ---- */

static void find_links(chain *c, const double *q, const double *v) {
    const double damping = 20;
    double qx = 0, qy = 0, vx = 0, vy = 0;
    for (size_t i = 0; i < c->links; i++) {
        double dx = q[2 * i] - qx, dy = q[2 * i + 1] - qy, ex = v[2 * i] - vx, ey = v[2 * i + 1] - vy;
        double square = dx * dx + dy * dy;
        c->dx[i] = dx;
        c->dy[i] = dy;
        c->diagonal[i] = (i == 0 ? 1 : 2) * square;
        c->tension[i] = ex * ex + ey * ey + 2 * damping * (dx * ex + dy * ey) + damping * damping * 0.5 * (square - 1);
        qx = q[2 * i], qy = q[2 * i + 1], vx = v[2 * i], vy = v[2 * i + 1];
    }
    c->tension[0] -= gravity * c->dy[0];
    for (size_t i = 0; i + 1 < c->links; i++) c->off[i] = c->dx[i] * c->dx[i + 1] + c->dy[i] * c->dy[i + 1];
}

static void find_tensions(chain *c) {
    size_t last = c->links - 1;
    for (size_t i = 1; i <= last; i++) {
        double factor = c->off[i - 1] / c->diagonal[i - 1];
        c->diagonal[i] -= factor * c->off[i - 1];
        c->tension[i] += factor * c->tension[i - 1];
    }
    c->tension[last] /= c->diagonal[last];
    for (size_t i = last; i-- > 0;) c->tension[i] = (c->tension[i] + c->off[i] * c->tension[i + 1]) / c->diagonal[i];
}

static int coordinates_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t;
    chain *c = data;
    const double *q = N_VGetArrayPointer_Serial(state), *v = q + 2 * c->links;
    double *f = N_VGetArrayPointer_Serial(rate), *a = f + 2 * c->links;
    find_links(c, q, v);
    find_tensions(c);
    c->dx[c->links] = c->dy[c->links] = c->tension[c->links] = 0;
    for (size_t i = 0; i < c->links; i++) {
        f[2 * i] = v[2 * i];
        f[2 * i + 1] = v[2 * i + 1];
        a[2 * i] = c->tension[i + 1] * c->dx[i + 1] - c->tension[i] * c->dx[i];
        a[2 * i + 1] = c->tension[i + 1] * c->dy[i + 1] - c->tension[i] * c->dy[i] - gravity;
    }
    return 0;
}

static void coordinates_start(double *y, void *data) {
    const chain *c = data;
    for (size_t i = 0; i < c->links; i++) {
        y[2 * i] = (double)(i + 1) * sin(c->angle);
        y[2 * i + 1] = -(double)(i + 1) * cos(c->angle);
    }
    for (size_t i = 2 * c->links; i < 4 * c->links; i++) y[i] = 0;
}

/* hamel's columns: all x, then all y. */
static void coordinates_columns(const double *y, double *values, void *data) {
    const chain *c = data;
    for (size_t i = 0; i < c->links; i++) {
        values[i] = y[2 * i];
        values[c->links + i] = y[2 * i + 1];
    }
}

static const char coordinates_text[] =
    "{\"hamel\":1,\"parameters\":{\"N\":16,\"angle\":0.8},\"coordinates\":["
    "{\"name\":\"x[i]\",\"for\":\"i=1..N\",\"initial\":\"i*sin(angle)\"},"
    "{\"name\":\"y[i]\",\"for\":\"i=1..N\",\"initial\":\"-i*cos(angle)\"}],"
    "\"kinetic_energy\":\"sum(i,1,N,x[i]'^2+y[i]'^2)/2\",\"potential_energy\":\"9.81*sum(i,1,N,y[i])\","
    "\"constraints\":[{\"name\":\"rod[1]\",\"equation\":\"x[1]^2+y[1]^2=1\"},"
    "{\"name\":\"rod[i]\",\"for\":\"i=2..N\",\"equation\":\"(x[i]-x[i-1])^2+(y[i]-y[i-1])^2=1\"}],"
    "\"simulation\":{\"stop\":4}}";

baseline chain_in_coordinates(chain *c, double stop) {
    return (baseline){.name = "x and y",
                      .method = "adams",
                      .description = coordinates_text,
                      .stop = stop,
                      .states = (sunindextype)(4 * c->links),
                      .compared = 2 * c->links,
                      .rhs = coordinates_rhs,
                      .start = coordinates_start,
                      .columns = coordinates_columns,
                      .data = c};
}

/* ---- in angles ---- */

static int angles_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t;
    chain *c = data;
    size_t n = c->links;
    const double *q = N_VGetArrayPointer_Serial(state), *v = q + n;
    double *f = N_VGetArrayPointer_Serial(rate), *a = f + n;
    for (size_t i = 0; i < n; i++) {
        c->sine[i] = sin(q[i]);
        c->cosine[i] = cos(q[i]);
        f[i] = v[i];
        a[i] = -(double)(n - i) * gravity * c->sine[i];
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double below = (double)(n - i);
            c->mass[i + n * j] = below * (c->cosine[i] * c->cosine[j] + c->sine[i] * c->sine[j]);
            double turn = below * (c->sine[i] * c->cosine[j] - c->cosine[i] * c->sine[j]);
            a[i] -= turn * v[j] * v[j];
            a[j] += turn * v[i] * v[i];
        }
    if (!dense_cholesky(n, c->mass)) return 1;
    dense_forward(n, c->mass, a);
    dense_backward(n, c->mass, a);
    return 0;
}

static int tensions_rhs(double t, N_Vector state, N_Vector rate, void *data) {
    (void)t;
    chain *c = data;
    size_t n = c->links;
    const double *q = N_VGetArrayPointer_Serial(state), *v = q + n;
    double *f = N_VGetArrayPointer_Serial(rate), *a = f + n, before = 0;
    for (size_t i = 0; i < n; i++) {
        f[i] = v[i];
        c->diagonal[i] = i == 0 ? 1 : 2;
        c->tension[i] = v[i] * v[i];
    }
    for (size_t i = 0; i + 1 < n; i++) {
        c->sine[i] = sin(q[i + 1] - q[i]);
        c->off[i] = cos(q[i + 1] - q[i]);
    }
    c->tension[0] += gravity * cos(q[0]);
    find_tensions(c);
    c->sine[n - 1] = c->tension[n] = 0;
    for (size_t i = 0; i < n; i++) {
        a[i] = c->tension[i + 1] * c->sine[i] - before;
        before = c->tension[i] * c->sine[i];
    }
    a[0] -= gravity * sin(q[0]);
    return 0;
}

static void angles_start(double *y, void *data) {
    const chain *c = data;
    for (size_t i = 0; i < c->links; i++) {
        y[i] = c->angle;
        y[c->links + i] = 0;
    }
}

static void angles_columns(const double *y, double *values, void *data) {
    for (size_t i = 0; i < ((const chain *)data)->links; i++) values[i] = y[i];
}

static const char angles_text[] =
    "{\"hamel\":1,\"parameters\":{\"N\":16,\"angle\":0.8},\"coordinates\":[{\"name\":\"a[i]\",\"for\":\"i=1..N\","
    "\"initial\":\"angle\"}],"
    "\"kinetic_energy\":\"sum(i,1,N,(N+1-i)*a[i]'^2)/2+sum(i,2,N,sum(j,1,i-1,(N+1-i)*cos(a[i]-a[j])*a[i]'*a[j]'))\","
    "\"potential_energy\":\"-9.81*sum(i,1,N,(N+1-i)*cos(a[i]))\",\"simulation\":{\"stop\":4}}";

static const char sums_text[] =
    "{\"hamel\":1,\"parameters\":{\"N\":16,\"angle\":0.8},\"coordinates\":[{\"name\":\"a[i]\",\"for\":\"i=1..N\","
    "\"initial\":\"angle\"}],"
    "\"kinetic_energy\":\"sum(i,1,N,(sum(j,1,i,cos(a[j])*a[j]'))^2+(sum(j,1,i,sin(a[j])*a[j]'))^2)/2\","
    "\"potential_energy\":\"-9.81*sum(i,1,N,sum(j,1,i,cos(a[j])))\",\"simulation\":{\"stop\":4}}";

baseline chain_in_angles(chain *c, double stop) {
    if (!c->mass) c->mass = calloc(c->links * c->links, sizeof *c->mass);
    require(c->mass != NULL, "out of memory");
    return (baseline){.name = "angles",
                      .method = "adams",
                      .description = angles_text,
                      .stop = stop,
                      .states = (sunindextype)(2 * c->links),
                      .compared = c->links,
                      .rhs = angles_rhs,
                      .start = angles_start,
                      .columns = angles_columns,
                      .data = c};
}

baseline chain_in_sums(chain *c, double stop) {
    baseline b = chain_in_angles(c, stop);
    b.description = sums_text;
    return b;
}

baseline chain_in_sums_by_tensions(chain *c, double stop) {
    baseline b = chain_in_sums(c, stop);
    b.rhs = tensions_rhs;
    return b;
}

/* ---- stiff ---- */

const char stiff_column[] =
    "{\"hamel\":1,\"parameters\":{\"N\":16,\"k\":1e6,\"c\":\"k/100\"},"
    "\"coordinates\":[{\"name\":\"u[i]\",\"for\":\"i=1..N\"}],\"kinetic_energy\":\"sum(i,1,N,u[i]'^2)/2\","
    "\"potential_energy\":[\"sum(i,1,N,9.81*u[i])\",\"k/2*u[1]^2+k/2*sum(i,2,N,(u[i]-u[i-1])^2)\"],"
    "\"dissipation\":\"c/2*u[1]'^2+c/2*sum(i,2,N,(u[i]'-u[i-1]')^2)\",\"simulation\":{\"stop\":10}}";
