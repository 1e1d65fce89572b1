/* store_postgres.h — jobs in a PostgreSQL database that many daemons share. */
#pragma once

#include "server/jobs/store.h"

extern const store_kind store_kind_postgresql; /* postgresql://USER@HOST/DATABASE */
