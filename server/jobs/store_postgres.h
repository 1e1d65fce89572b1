/* store_postgres.h — jobs in a PostgreSQL database that many daemons share. */
#ifndef HAMEL_SERVER_JOBS_STORE_POSTGRES_H
#define HAMEL_SERVER_JOBS_STORE_POSTGRES_H

#include "server/jobs/store.h"

extern const store_kind store_kind_postgresql; /* postgresql://USER@HOST/DATABASE */

#endif
