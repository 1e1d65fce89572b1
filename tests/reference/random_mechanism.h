/* random_mechanism.h — random mechanisms, as descriptions and for newton_euler.h, from a seed. */
#pragma once

#include "tests/reference/newton_euler.h"

#include <stdint.h>

typedef enum mechanism_kind {
    MECHANISM_TREE,          /* bodies with quaternions, joints of all types */
    MECHANISM_LOOPS,         /* the same with rods and ball joints that close loops */
    MECHANISM_PLANAR_LOOP,   /* revolute joints with parallel axes in space: three redundant constraints a loop */
    MECHANISM_ROLLING,       /* a ball that rolls and a sledge on a knife edge, with bodies that hang on them */
    MECHANISM_FRICTION,      /* a particle that slides on a plane, with bodies that it pulls */
    MECHANISM_IMPACT,        /* a point that hits a plane */
    MECHANISM_PLANAR_ANGLES, /* a tree in the plane, by its angles */
    MECHANISM_FRAMES,        /* a chain in space, by Euler angles of frames inside frames */
    MECHANISM_KINDS
} mechanism_kind;

enum { MECHANISM_TEXT = 32768 };

extern const char *const mechanism_names[MECHANISM_KINDS];

/* The state at t = 0, consistent to rounding. */
void mechanism_draw(ne_system *s, mechanism_kind kind, uint64_t seed);

/* The same as a description that runs to `stop` with `samples` rows by a formulation and a method; outputs px1 py1 pz1 to
 * wx1 wy1 wz1 are place, velocity and angular velocity of the first body, and so on. */
void mechanism_describe(const ne_system *s, mechanism_kind kind, uint64_t seed, double stop, int samples,
                        const char *formulation, const char *method, char text[MECHANISM_TEXT]);
