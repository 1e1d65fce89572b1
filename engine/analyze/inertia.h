/* inertia.h — masses and moments of inertia of the bodies and of the system, in the initial state. */
#pragma once

#include "engine/hamel.h"

/* Inertia about the centre of mass. In the plane, only the moment about the third axis is set: principal[0], and the
 * last entry of `tensor` and `about`. */
typedef struct hamel_inertia_item {
    const char *name; /* name of the body; NULL for the system */
    double mass;
    double center[3]; /* centre of mass, inertial components */
    double tensor[9]; /* moments of inertia, −∫xy dm off the diagonal; in body axes, for the system in inertial axes */
    double principal[3]; /* principal moments, increasing */
    double axes[9];      /* row k: principal axis k, in the axes of `tensor`; the rows are a right-handed system */
    double about[9];     /* moments of inertia about the point `about`, in the axes of `tensor` */
} hamel_inertia_item;

typedef struct hamel_inertia {
    int dimension;     /* 2 or 3 */
    const char *about; /* name of the point; NULL: the origin */
    double point[3];   /* position of the point */
    /* Without `reason`, all bodies. Otherwise bodies whose inertia the description contains; the kinetic energy may
     * contain the inertia of the other bodies. */
    hamel_inertia_item *bodies;
    size_t count;
    hamel_inertia_item system; /* all bodies and particles together; not set if `reason` is not NULL */
    const char *reason;        /* why the inertia of the system is unknown, or NULL */
} hamel_inertia;

/* Computes the moments of inertia in the consistent initial state, and transfers them to the point `about` (a particle,
 * body, point or frame; if its name is NULL, the origin). The other arguments are as for hamel_find_forces. Returns
 * HAMEL_INVALID if there are no bodies and particles, or if `about` is unknown. On success the caller owns *out and
 * frees it with hamel_inertia_free. */
hamel_status hamel_find_inertia(hamel_inertia **out, const hamel_description *d, hamel_argument about,
                                const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_inertia_free(hamel_inertia *inertia);
