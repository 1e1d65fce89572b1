/* random_mechanism.h — random mechanisms, generated from a seed, as descriptions and as systems of newton_euler.h. */
#pragma once

#include "tests/reference/newton_euler.h"

#include <stdint.h>

typedef enum mechanism_kind {
    MECHANISM_TREE,          /* bodies with quaternions, joints of all types */
    MECHANISM_LOOPS,         /* a tree with additional rods and ball joints that close loops */
    MECHANISM_PLANAR_LOOP,   /* revolute joints with parallel axes in space: three redundant constraints per loop */
    MECHANISM_ROLLING,       /* a rolling ball and a sledge on a knife edge, with bodies attached to them */
    MECHANISM_FRICTION,      /* a particle that slides on a plane, with bodies attached to it */
    MECHANISM_IMPACT,        /* a point that hits a plane */
    MECHANISM_PLANAR_ANGLES, /* a tree in the plane, described by angles */
    MECHANISM_FRAMES,        /* a chain in space, described by Euler angles of nested frames */
    MECHANISM_KINDS
} mechanism_kind;

enum { MECHANISM_TEXT = 32768 };

extern const char *const mechanism_names[MECHANISM_KINDS];

/* Generates a random mechanism and a state at t = 0 that is consistent up to rounding. */
void mechanism_draw(ne_system *s, mechanism_kind kind, uint64_t seed);

/* Writes the mechanism as a description that runs to `stop` with `samples` rows, with the given formulation and method.
 * The outputs px1 py1 pz1 to wx1 wy1 wz1 are position, velocity and angular velocity of the first body, and so on. */
void mechanism_describe(const ne_system *s, mechanism_kind kind, uint64_t seed, double stop, int samples,
                        const char *formulation, const char *method, char text[MECHANISM_TEXT]);
