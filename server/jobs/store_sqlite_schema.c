/* store_sqlite_schema.c — the tables, and the way from the schema of each earlier release to this one's.
 *
 * A file's schema is numbered (user_version). Steps are applied in order, all in one transaction; a new file takes them
 * all, so that it has the same tables as one that has grown. A step that a release has shipped is never changed. */
#include "server/jobs/store_sqlite_int.h"

#include <stdio.h>

static const char first_release[] =
    "CREATE TABLE jobs("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " status INTEGER NOT NULL, progress REAL NOT NULL DEFAULT 0,"
    " created INTEGER NOT NULL, started INTEGER NOT NULL DEFAULT 0, finished INTEGER NOT NULL DEFAULT 0,"
    " revision INTEGER NOT NULL DEFAULT 1, attempt INTEGER NOT NULL DEFAULT 0,"
    " crashes INTEGER NOT NULL DEFAULT 0,"   /* attempts whose own thread crashed the daemon */
    " fruitless INTEGER NOT NULL DEFAULT 0," /* attempts begun since the last one that stored a row */
    " cancel INTEGER NOT NULL DEFAULT 0, key TEXT UNIQUE,"
    " header TEXT, summary TEXT, problem TEXT) STRICT;"
    "CREATE INDEX jobs_by_status ON jobs(status, number);"
    "CREATE INDEX jobs_by_name ON jobs(name, number);"
    "CREATE INDEX jobs_by_name_and_status ON jobs(name, status, number);"
    "CREATE TABLE descriptions(job INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
    "CREATE TABLE chunks("
    " job INTEGER NOT NULL, first INTEGER NOT NULL, rows INTEGER NOT NULL, columns INTEGER NOT NULL,"
    " t_last REAL NOT NULL, data BLOB NOT NULL, PRIMARY KEY(job, first)) STRICT;"; /* data: float64, little-endian */

/* Owners, batches, quotas. The table of owners is kept in step by triggers, so that no change can forget it. */
static const char owners_and_batches[] =
    "ALTER TABLE jobs ADD COLUMN owner TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE jobs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;" /* of description and rows */
    "ALTER TABLE jobs ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;" /* 0: none */
    "ALTER TABLE jobs ADD COLUMN member INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN assignments TEXT;" /* then the description is that of the batch */
    "ALTER TABLE jobs ADD COLUMN collected TEXT;"
    "UPDATE jobs SET bytes=coalesce((SELECT length(body) FROM descriptions WHERE job=number), 0)"
    " + coalesce((SELECT sum(length(data)) FROM chunks WHERE job=number), 0);"
    "CREATE INDEX jobs_by_owner ON jobs(owner, number);"
    "CREATE INDEX jobs_by_owner_and_status ON jobs(owner, status, number);"
    "CREATE INDEX jobs_by_batch ON jobs(batch, member) WHERE batch<>0;"
    "CREATE INDEX jobs_by_batch_and_status ON jobs(batch, status) WHERE batch<>0;"
    "CREATE INDEX jobs_by_end ON jobs(finished) WHERE status>=2;"
    "CREATE TABLE batches("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " created INTEGER NOT NULL, key TEXT UNIQUE, owner TEXT NOT NULL, plan TEXT NOT NULL) STRICT;" /* body: -number */
    "CREATE INDEX batches_by_owner ON batches(owner, number);"
    "CREATE TABLE owners("
    " owner TEXT PRIMARY KEY, queued INTEGER NOT NULL, running INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " turn INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;" /* turn: when last served */
    "INSERT INTO owners SELECT owner, sum(status=0), sum(status=1), sum(bytes), 0 FROM jobs GROUP BY owner;"
    "CREATE TRIGGER job_made AFTER INSERT ON jobs BEGIN"
    " INSERT INTO owners(owner, queued, running, bytes) VALUES(new.owner, new.status=0, new.status=1, new.bytes)"
    " ON CONFLICT(owner) DO UPDATE SET queued=queued+(new.status=0), running=running+(new.status=1),"
    " bytes=bytes+new.bytes; END;"
    "CREATE TRIGGER job_changed AFTER UPDATE OF status, bytes ON jobs BEGIN"
    " UPDATE owners SET queued=queued+(new.status=0)-(old.status=0), running=running+(new.status=1)-(old.status=1),"
    " bytes=bytes+new.bytes-old.bytes WHERE owner=new.owner; END;"
    "CREATE TRIGGER job_gone AFTER DELETE ON jobs BEGIN"
    " UPDATE owners SET queued=queued-(old.status=0), running=running-(old.status=1), bytes=bytes-old.bytes"
    " WHERE owner=old.owner; END;";

static const char events_of_runs[] =
    "CREATE TABLE events(job INTEGER NOT NULL, number INTEGER NOT NULL, row INTEGER NOT NULL, json TEXT NOT NULL,"
    " PRIMARY KEY(job, number)) STRICT, WITHOUT ROWID;"; /* row: how many rows came before it */

/* Members are listed by number, in either direction; they were submitted in the order of their batch. */
static const char members_by_number[] = "DROP INDEX jobs_by_batch;"
                                        "CREATE INDEX jobs_by_batch ON jobs(batch, number) WHERE batch<>0;";

/* How many members of a batch have each status, in step by triggers; what else a batch has goes with it. */
static const char counted_members[] =
    "CREATE TABLE member_counts(batch INTEGER NOT NULL, status INTEGER NOT NULL, members INTEGER NOT NULL,"
    " PRIMARY KEY(batch, status)) STRICT, WITHOUT ROWID;"
    "INSERT INTO member_counts SELECT batch, status, count(*) FROM jobs WHERE batch<>0 GROUP BY batch, status;"
    "CREATE TRIGGER member_made AFTER INSERT ON jobs WHEN new.batch<>0 BEGIN"
    " INSERT INTO member_counts VALUES(new.batch, new.status, 1)"
    " ON CONFLICT(batch, status) DO UPDATE SET members=members+excluded.members; END;"
    "CREATE TRIGGER member_changed AFTER UPDATE OF status ON jobs WHEN new.batch<>0 AND new.status<>old.status BEGIN"
    " INSERT INTO member_counts VALUES(old.batch, old.status, -1), (new.batch, new.status, 1)"
    " ON CONFLICT(batch, status) DO UPDATE SET members=members+excluded.members; END;"
    "CREATE TRIGGER member_gone AFTER DELETE ON jobs WHEN old.batch<>0 BEGIN"
    " UPDATE member_counts SET members=members-1 WHERE batch=old.batch AND status=old.status; END;"
    "CREATE TRIGGER batch_gone AFTER DELETE ON batches BEGIN"
    " DELETE FROM member_counts WHERE batch=old.number;"
    " DELETE FROM descriptions WHERE job=-old.number; END;";

/* Of a job the bytes counted at admission, its owner's quota of bytes then, and failures of the store since the last row
 * that it took. Of a batch what it stores besides its members. */
static const char faults_and_admitted[] =
    "ALTER TABLE jobs ADD COLUMN admitted INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN faults INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN quota INTEGER NOT NULL DEFAULT 0;" /* 0: none */
    "UPDATE jobs SET admitted=coalesce((SELECT length(body) FROM descriptions WHERE job=number), 0);"
    "ALTER TABLE batches ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"
    "CREATE TRIGGER batch_made AFTER INSERT ON batches BEGIN"
    " INSERT INTO owners(owner, queued, running, bytes) VALUES(new.owner, 0, 0, new.bytes)"
    " ON CONFLICT(owner) DO UPDATE SET bytes=bytes+excluded.bytes; END;"
    "CREATE TRIGGER batch_uncounted AFTER DELETE ON batches BEGIN"
    " UPDATE owners SET bytes=bytes-old.bytes WHERE owner=old.owner; END;";

/* Processor time that token owners have used on their last day, in days since 1970. */
static const char processor_time[] =
    "CREATE TABLE cpu_usage(owner TEXT PRIMARY KEY, day INTEGER NOT NULL, seconds REAL NOT NULL)"
    " STRICT, WITHOUT ROWID;";

static const char *const steps[] = {first_release,   owners_and_batches,  events_of_runs, members_by_number,
                                    counted_members, faults_and_admitted, processor_time};
enum { SCHEMA_VERSION = sizeof steps / sizeof steps[0] };

static int version_of(sqlite_connection *c) {
    sqlite3_stmt *statement = NULL;
    int value = -1;
    if (sqlite3_prepare_v2(c->db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        value = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    return value;
}

static bool take_steps(sqlite_connection *c, int from) {
    char mark[48];
    snprintf(mark, sizeof mark, "PRAGMA user_version=%d", SCHEMA_VERSION);
    bool good = sqlite_execute(c, "BEGIN IMMEDIATE");
    for (int k = from; good && k < SCHEMA_VERSION; k++) good = sqlite_execute(c, steps[k]);
    return good && sqlite_execute(c, mark) && sqlite_execute(c, "COMMIT");
}

bool sqlite_migrate(sqlite_connection *c, bool in_memory, char *message, size_t room) {
    const char *modes = in_memory ? "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;"
                                  : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                                    "PRAGMA journal_size_limit=4194304;";
    bool is_new = version_of(c) == 0; /* has no tables, or those of the first release, where this has no effect */
    if ((is_new && !sqlite_execute(c, "PRAGMA auto_vacuum=INCREMENTAL")) || !sqlite_execute(c, modes)) {
        snprintf(message, room, "the store cannot be opened: %s", sqlite3_errmsg(c->db));
        return false;
    }
    int version = version_of(c);
    if (version == SCHEMA_VERSION) return true;
    if (version > SCHEMA_VERSION) {
        snprintf(message, room, "the store was written by a newer release (schema %d, this one knows %d)", version,
                 SCHEMA_VERSION);
        return false;
    }
    if (version >= 0 && take_steps(c, version)) return true;
    snprintf(message, room, "the store cannot be set up: %s", sqlite3_errmsg(c->db));
    return false;
}
