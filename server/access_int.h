/* access_int.h — what access.c and access_file.c share. */
#ifndef HAMEL_SERVER_ACCESS_INT_H
#define HAMEL_SERVER_ACCESS_INT_H

#include "server/access.h"

struct access_list {
    access_holder *known;    /* every one that there ever was; the thread that reloads */
    bool anyone;             /* there is no file, and one holder without a name */
    pthread_mutex_t lock;    /* of what follows, and of the hashes */
    access_holder **holders; /* those of the file */
    size_t count;
    double places[ACCESS_PLACES]; /* that are taken */
};

#endif
