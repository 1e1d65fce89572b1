/* revolute_tree.h — random trees of rigid bodies with revolute joints, described in two ways.
 *
 *   TREE_FRAMES  body k is at rest in frame Fk, which rotates by the angle a[k] in the axes of its parent body
 *   TREE_JOINTS  each body has a position and an orientation of its own; joints are constraints
 *
 * In the plane, a body has the orientation `angle`, in space a quaternion. Joint k rotates about one of the three
 * axes, which is the same in both bodies; in the plane, it is the third axis. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tree_form { TREE_FRAMES, TREE_JOINTS } tree_form;

typedef struct tree_body {
    int parent;              /* an earlier body, or −1 for the ground */
    int axis;                /* 0, 1 or 2 */
    double at[3], arm[3];    /* parent's centre to joint, in the parent's axes; joint to own centre, in body axes */
    double mass, inertia[3]; /* principal moments; the plane uses the third */
} tree_body;

typedef struct revolute_tree {
    bool planar;
    size_t count;
    tree_body *bodies;
} revolute_tree;

/* A chain has as many levels as bodies; in other trees the parent is one of the last three bodies. */
revolute_tree tree_draw(size_t count, bool planar, bool chain, uint64_t seed);
void tree_free(revolute_tree *t);

/* Angles of the joints, their rates, and their second derivatives, which may be NULL. */
typedef struct tree_motion {
    const double *angle, *rate, *acceleration;
} tree_motion;

/* Number of coordinates of a body in the description `joints`: x, y, angle; or x, y, z, e0 to e3. */
static inline size_t tree_width(const revolute_tree *t) {
    return t->planar ? 3 : 7;
}

/* Computes the state q, v of the description `joints`: count × tree_width entries, body by body. If m.acceleration is
 * not NULL, also computes the accelerations of the centres, a: count × 3 components. Source: r = r_p + R_p at + R arm,
 * differentiated twice. */
void tree_place(const revolute_tree *t, tree_motion m, double *q, double *v, double *a);

/* Returns the text of the description at a state. The outputs pxK, pyK and pzK are the positions of the centres. The
 * run has `stop` seconds, `samples` rows and the tolerances `rtol`. The caller frees the text. */
char *tree_describe(const revolute_tree *t, tree_form form, tree_motion start, double stop, int samples, double rtol);
