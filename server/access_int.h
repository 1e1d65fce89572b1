/* access_int.h — declarations shared by access.c and access_file.c. */
#pragma once

#include "server/access.h"

struct access_list {
    token_owner *known;   /* all owners since the start */
    bool anyone;          /* there is no file: one owner */
    pthread_mutex_t lock; /* guards the members below and the hashes of owners */
    token_owner **owners; /* owners in the file */
    size_t count;
    double used[ACCESS_RESOURCES]; /* amount of each resource in use */
};
