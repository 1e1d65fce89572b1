/* newton_euler.h — mechanisms of rigid bodies by Newton's and Euler's equations in maximal coordinates, for tests.
 *
 * Nothing is shared with the engine: each body has its place, quaternion, velocity and angular velocity; joints are rows
 * J (v, ω) = 0 written down with their accelerations J (v', ω') = γ; reactions follow from J M⁻¹ Jᵀ; steps are taken by
 * Runge and Kutta's method of order 4, doubled and extrapolated. Vectors have inertial components unless a name
 * contains body. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { NE_BODIES = 8, NE_JOINTS = 12, NE_FORCES = 8, NE_ROWS = 48 };

typedef struct ne_body {
    double mass, inertia[3]; /* principal moments; a particle's are not used */
    bool particle;
    double r[3], e[4], v[3], w[3]; /* e: body to inertial, scalar first; w: angular velocity */
} ne_body;

/* A point of a body, in body axes; of the ground (body −1), inertial. */
typedef struct ne_end {
    int body;
    double at[3];
} ne_end;

typedef enum ne_kind {
    NE_COINCIDENT,
    NE_DISTANCE, /* keeps the distance that it has at the start */
    NE_REVOLUTE,
    NE_PRISMATIC,
    NE_FIXED,
    NE_ROLLING,    /* a ball: the centre of a on a plane square to the inertial `axis`, `size` below it */
    NE_KNIFE_EDGE, /* the centre of a does not move along the body axis e3 × axis */
    NE_PLANE       /* axis · place of a = size, axis inertial, with Coulomb friction */
} ne_kind;

typedef struct ne_joint {
    ne_kind kind;
    ne_end a, b;
    double axis[3];   /* the same components by the axes of a and of b; of a unit vector */
    double axis_b[3]; /* the like by b; filled by ne_prepare */
    double size;      /* radius or height */
    double friction, regularization;
} ne_joint;

/* Stiffness and damping along the line between two points. */
typedef struct ne_spring {
    ne_end a, b;
    double stiffness, length, damping;
} ne_spring;

/* force cos(rate t) at the centre, torque cos(rate t). */
typedef struct ne_load {
    int body;
    double force[3], torque[3], rate;
} ne_load;

/* A point hits the plane axis · place = height from above: Newton's rule with all joints kept. */
typedef struct ne_impact {
    bool given;
    ne_end at;
    double axis[3], height, restitution;
    int count; /* of impacts so far */
} ne_impact;

typedef struct ne_system {
    ne_body bodies[NE_BODIES];
    ne_joint joints[NE_JOINTS];
    ne_spring springs[NE_FORCES];
    ne_load loads[NE_FORCES];
    ne_impact impact;
    size_t body_count, joint_count, spring_count, load_count;
    double gravity[3], t;
} ne_system;

void ne_rotation(const double e[4], double R[9]); /* row by row */
void ne_point(const ne_system *s, const ne_end *end, double p[3]);

/* Moves the velocities onto the joints, by the smallest step in the metric of the masses. */
void ne_project_velocities(ne_system *s);

/* Advances to the time t, with errors of a step below `tolerance`. False when it takes too many steps. */
bool ne_advance(ne_system *s, double t, double tolerance);

/* Σ ½ m v² + ½ ω·I ω − m g·r + ½ k (d − l)² */
double ne_energy(const ne_system *s);
