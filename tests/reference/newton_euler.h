/* newton_euler.h — mechanisms of rigid bodies by Newton's and Euler's equations in maximal coordinates, for tests.
 *
 * No code is shared with the engine. Each body has a position, quaternion, velocity and angular velocity. Joints are
 * explicit rows J (v, ω) = 0 with their derivatives J (v', ω') = γ. The reactions are computed with the matrix J M⁻¹
 * Jᵀ. The integrator is the Runge–Kutta method of order 4 with step doubling and extrapolation. Vectors have inertial
 * components unless a comment states otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { NE_BODIES = 8, NE_JOINTS = 12, NE_FORCES = 8, NE_ROWS = 48 };

typedef struct ne_body {
    double mass, inertia[3]; /* principal moments of inertia, not used for particles */
    bool particle;
    double r[3], e[4], v[3], w[3]; /* r: centre; e: body to inertial axes, scalar first; v: r'; w: angular velocity */
} ne_body;

/* A point of a body in body axes, or of the ground (body −1) in inertial axes. */
typedef struct ne_end {
    int body;
    double at[3];
} ne_end;

typedef enum ne_kind {
    NE_COINCIDENT,
    NE_DISTANCE, /* the points keep their initial distance */
    NE_REVOLUTE,
    NE_PRISMATIC,
    NE_FIXED,
    /* a ball: the centre of a is at the distance `size` from a plane orthogonal to the inertial `axis` */
    NE_ROLLING,
    NE_KNIFE_EDGE, /* the centre of a has no velocity along the body axis e3 × axis */
    NE_PLANE       /* the point of a stays on the plane axis · p = size (inertial axis), with Coulomb friction */
} ne_kind;

typedef struct ne_joint {
    ne_kind kind;
    ne_end a, b;
    double axis[3];   /* unit vector; its components in the axes of a and of b are equal */
    double axis_b[3]; /* not used */
    double size;      /* radius or height */
    double friction, regularization;
} ne_joint;

/* A spring and damper along the line between two points. */
typedef struct ne_spring {
    ne_end a, b;
    double stiffness, length, damping;
} ne_spring;

/* A load on a body: the force `force` cos(`rate` t) at its centre, and the torque `torque` cos(`rate` t). */
typedef struct ne_load {
    int body;
    double force[3], torque[3], rate;
} ne_load;

/* The point `at` hits the plane `axis` · position = `height` from above. The impact follows Newton's rule with all
 * joints active. */
typedef struct ne_impact {
    bool given;
    ne_end at;
    double axis[3], height, restitution;
    int count; /* number of impacts so far */
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

void ne_rotation(const double e[4], double R[9]); /* computes the rotation matrix R, row by row */
void ne_point(const ne_system *s, const ne_end *end, double p[3]);

/* Projects the velocities onto the joints, orthogonally in the metric of the masses. */
void ne_project_velocities(ne_system *s);

/* Advances to the time t with step errors below `tolerance`. Returns false if too many steps are needed. */
bool ne_advance(ne_system *s, double t, double tolerance);

/* Σ ½ m v² + ½ ω·I ω − m g·r + ½ k (d − l)² */
double ne_energy(const ne_system *s);
