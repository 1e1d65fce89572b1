/* inertia.h — masses and moments of inertia of the bodies and of the system, in the initial state. */
#pragma once

#include "engine/hamel.h"

/* Mass and inertia of a body or of the system. In the plane, of the moments only the moment about the third axis is
 * set: principal[0], and the last entry of `tensor` and `about`. */
typedef struct hamel_inertia_item {
    const char *name; /* name of the body; NULL for the system */
    double mass;
    double center[3]; /* inertial components of the centre of mass */
    /* moments about the centre of mass; off the diagonal −∫xy dm; in body axes (system: inertial axes) */
    double tensor[9];
    double principal[3]; /* principal moments, increasing */
    double axes[9];      /* row k is principal axis k in the axes of `tensor`; the rows form a right-handed system */
    double about[9];     /* moments of inertia about the point `about`, in the axes of `tensor` */
} hamel_inertia_item;

typedef struct hamel_inertia {
    int dimension;     /* 2 or 3 */
    const char *about; /* name of the point of reference; NULL for the origin */
    double point[3];   /* inertial components of the position of the point of reference */
    /* If `reason` is NULL, all bodies. Otherwise only the bodies whose inertia the description contains; the kinetic
     * energy may contain the inertia of the other bodies. */
    hamel_inertia_item *bodies;
    size_t count;
    hamel_inertia_item system; /* all bodies and particles together; valid only if `reason` is NULL */
    const char *reason;        /* why the inertia of the system is unknown; NULL if it is known */
} hamel_inertia;

/* Computes the moments of inertia in the consistent initial state, and transfers them to the point `about`. This point
 * is the origin of a particle, body, point or frame or, if its name is NULL, the inertial origin. The other arguments
 * are as for hamel_find_forces. Returns HAMEL_INVALID if the description has neither bodies nor particles, or if it has
 * no element `about`. On success the caller owns *out and frees it with hamel_inertia_free. */
hamel_status hamel_find_inertia(hamel_inertia **out, const hamel_description *d, hamel_argument about,
                                const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_inertia_free(hamel_inertia *inertia);
