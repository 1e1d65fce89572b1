/* store_sqlite.h — jobs in a SQLite file, or in memory until the process ends. */
#pragma once

#include "server/jobs/store.h"

extern const store_kind store_kind_sqlite; /* sqlite:PATH */
extern const store_kind store_kind_memory; /* memory: */
