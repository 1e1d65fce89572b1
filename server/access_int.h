/* access_int.h — what access.c and access_file.c share. */
#ifndef HAMEL_SERVER_ACCESS_INT_H
#define HAMEL_SERVER_ACCESS_INT_H

#include "server/access.h"

enum { FAILURE_PLACES = 1024 };

typedef struct failure_place {
    double allowance, filled;
} failure_place;

struct access_list {
    access_holder *holders;
    size_t count;
    pthread_mutex_t lock; /* of the failures */
    failure_place failures[FAILURE_PLACES];
};

/* How many requests may come at once where so many a second may come on average. */
static inline double access_burst(double rate) {
    return rate > 5 ? 2 * rate : 10;
}

#endif
