/* store_postgres_schema.c — the tables, and the way from the schema of each earlier release to this one's.
 *
 * The tables are those of store_sqlite_schema.c, with a table of nodes and, on each job, the node that holds it. Steps
 * are applied in order, all in one transaction, by one node at a time. A step that a release has shipped is never
 * changed.
 *
 * How much of each kind an owner has is counted by triggers, so that no change can forget it, and apart for each node:
 * nodes that work for the same owner would otherwise wait for each other at every change. Members of a batch are counted in
 * the same way, but in a fixed number of slots that nodes share: batches are many, and nobody has to clear up after nodes.
 *
 * A row that one transaction changes n times costs it n^2: so inserts are counted by statement, and what concerns many
 * members at once is done in slices. */
#include "server/jobs/store_postgres_int.h"

#include <stdio.h>
#include <stdlib.h>

#define MIGRATION_LOCK "1751215461"

static const char functions[] =
    "CREATE FUNCTION hamel_now() RETURNS BIGINT LANGUAGE sql VOLATILE AS"
    " 'SELECT CAST(extract(epoch FROM clock_timestamp())*1000 AS BIGINT)';"
    "CREATE FUNCTION hamel_node() RETURNS BIGINT LANGUAGE sql STABLE AS"
    " $$SELECT CAST(coalesce(nullif(current_setting('hamel.node', true), ''), '0') AS BIGINT)$$;";

/* Rows of jobs change often and between the same indexed values: room for them beside the old ones. */
static const char tables[] =
    "CREATE TABLE nodes(number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lease_until BIGINT NOT NULL);"
    "CREATE TABLE jobs("
    " number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " status BIGINT NOT NULL, progress DOUBLE PRECISION NOT NULL DEFAULT 0,"
    " created BIGINT NOT NULL, started BIGINT NOT NULL DEFAULT 0, finished BIGINT NOT NULL DEFAULT 0,"
    " revision BIGINT NOT NULL DEFAULT 1, attempt BIGINT NOT NULL DEFAULT 0,"
    " fruitless BIGINT NOT NULL DEFAULT 0," /* attempts begun since the last one that stored a row */
    " cancel BIGINT NOT NULL DEFAULT 0, key TEXT UNIQUE, header TEXT, summary TEXT, problem TEXT,"
    " owner TEXT NOT NULL, bytes BIGINT NOT NULL, batch BIGINT NOT NULL, member BIGINT NOT NULL, assignments TEXT,"
    " collected TEXT, node BIGINT NOT NULL DEFAULT 0" /* 0: none; a queued job may be reserved */
    ") WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);"
    "CREATE INDEX jobs_by_status ON jobs(status, number);"
    "CREATE INDEX jobs_by_name ON jobs(name, number);"
    "CREATE INDEX jobs_by_owner ON jobs(owner, number);"
    "CREATE INDEX jobs_by_batch ON jobs(batch, member) WHERE batch<>0;"
    "CREATE INDEX jobs_by_end ON jobs(finished) WHERE status>=2;"
    "CREATE INDEX jobs_waiting ON jobs(owner, number) WHERE status=0 AND node=0;"
    "CREATE INDEX jobs_suspect ON jobs(number) WHERE status=0 AND node=0 AND fruitless>0;"
    "CREATE INDEX jobs_held ON jobs(node) WHERE node<>0;"
    "CREATE TABLE descriptions(job BIGINT PRIMARY KEY, body BYTEA NOT NULL);"
    "CREATE TABLE chunks("
    " job BIGINT NOT NULL, first BIGINT NOT NULL, rows BIGINT NOT NULL, columns BIGINT NOT NULL,"
    " t_last DOUBLE PRECISION NOT NULL, data BYTEA NOT NULL, PRIMARY KEY(job, first));" /* float64, little-endian */
    "ALTER TABLE chunks ALTER COLUMN data SET STORAGE EXTERNAL;" /* numbers that compress badly */
    "CREATE TABLE events(job BIGINT NOT NULL, number BIGINT NOT NULL, row BIGINT NOT NULL, json TEXT NOT NULL,"
    " PRIMARY KEY(job, number));"
    "CREATE TABLE batches("
    " number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " created BIGINT NOT NULL, key TEXT UNIQUE, owner TEXT NOT NULL, plan TEXT NOT NULL);" /* body: -number */
    "CREATE INDEX batches_by_owner ON batches(owner, number);";

static const char counting[] =
    "CREATE TABLE owner_counts("
    " owner TEXT NOT NULL, node BIGINT NOT NULL, queued BIGINT NOT NULL DEFAULT 0, running BIGINT NOT NULL DEFAULT 0,"
    " bytes BIGINT NOT NULL DEFAULT 0, turn BIGINT NOT NULL DEFAULT 0," /* turn: when last served */
    " PRIMARY KEY(owner, node)) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0,"
    " autovacuum_vacuum_threshold=1000);"
    "CREATE SEQUENCE owner_turns;"
    "CREATE VIEW owners AS SELECT owner, CAST(sum(queued) AS BIGINT) AS queued, CAST(sum(running) AS BIGINT) AS"
    " running, CAST(sum(bytes) AS BIGINT) AS bytes, max(turn) AS turn FROM owner_counts GROUP BY owner;"
    "CREATE FUNCTION hamel_count(whose TEXT, q BIGINT, r BIGINT, b BIGINT) RETURNS void LANGUAGE sql AS"
    " 'INSERT INTO owner_counts(owner, node, queued, running, bytes) VALUES(whose, hamel_node(), q, r, b)"
    " ON CONFLICT(owner, node) DO UPDATE SET queued=owner_counts.queued+q, running=owner_counts.running+r,"
    " bytes=owner_counts.bytes+b';"
    "CREATE FUNCTION job_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM hamel_count(new.owner, CAST(new.status=0 AS INTEGER), CAST(new.status=1 AS INTEGER), new.bytes);"
    /* A hint to nodes that have nothing to do. Commits with one wait for each other, so only where nothing waited. */
    " IF NOT EXISTS (SELECT 1 FROM jobs WHERE status=0 AND node=0 AND number<>new.number) THEN"
    " PERFORM pg_notify('hamel_jobs', ''); END IF;"
    " RETURN NULL; END $$;"
    "CREATE FUNCTION job_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM hamel_count(new.owner, CAST(new.status=0 AS INTEGER)-CAST(old.status=0 AS INTEGER),"
    " CAST(new.status=1 AS INTEGER)-CAST(old.status=1 AS INTEGER), new.bytes-old.bytes); RETURN NULL; END $$;"
    "CREATE FUNCTION job_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM hamel_count(old.owner, -CAST(old.status=0 AS INTEGER), -CAST(old.status=1 AS INTEGER), -old.bytes);"
    " RETURN NULL; END $$;"
    "CREATE FUNCTION job_let_go() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " new.node = 0; RETURN new; END $$;"
    "CREATE TRIGGER job_made AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION job_made();"
    "CREATE TRIGGER job_changed AFTER UPDATE OF status, bytes ON jobs FOR EACH ROW"
    " WHEN (old.status<>new.status OR old.bytes<>new.bytes) EXECUTE FUNCTION job_changed();"
    "CREATE TRIGGER job_gone AFTER DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION job_gone();"
    "CREATE TRIGGER job_let_go BEFORE UPDATE OF status ON jobs FOR EACH ROW"
    " WHEN (old.status<>new.status AND new.status<>1) EXECUTE FUNCTION job_let_go();";

/* Members are listed by number, in either direction; they were submitted in the order of their batch. */
static const char by_number[] = "DROP INDEX jobs_by_batch;"
                                "CREATE INDEX jobs_by_batch ON jobs(batch, number) WHERE batch<>0;";

/* A trigger keeps other nodes from changing jobs until all of this is committed. */
static const char counts[] =
    "CREATE TABLE member_counts("
    " batch BIGINT NOT NULL, status BIGINT NOT NULL, slot BIGINT NOT NULL, members BIGINT NOT NULL,"
    " PRIMARY KEY(batch, status, slot)) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);"
    "CREATE FUNCTION hamel_slot() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT hamel_node() % 64';"
    "CREATE FUNCTION jobs_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM hamel_count(owner, count(*) FILTER (WHERE status=0), count(*) FILTER (WHERE status=1),"
    " CAST(sum(bytes) AS BIGINT)) FROM made GROUP BY owner;"
    " INSERT INTO member_counts SELECT batch, status, hamel_slot(), count(*) FROM made WHERE batch<>0 GROUP BY batch,"
    " status ON CONFLICT(batch, status, slot) DO UPDATE SET members=member_counts.members+excluded.members;"
    /* A hint to nodes that have nothing to do. Commits with one wait for each other, so only where nothing waited. */
    " IF NOT EXISTS (SELECT 1 FROM jobs WHERE status=0 AND node=0 AND number NOT IN (SELECT number FROM made)) THEN"
    " PERFORM pg_notify('hamel_jobs', ''); END IF;"
    " RETURN NULL; END $$;"
    "CREATE FUNCTION member_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " INSERT INTO member_counts VALUES(old.batch, old.status, hamel_slot(), -1),"
    " (new.batch, new.status, hamel_slot(), 1)"
    " ON CONFLICT(batch, status, slot) DO UPDATE SET members=member_counts.members+excluded.members;"
    " RETURN NULL; END $$;"
    "CREATE FUNCTION member_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " INSERT INTO member_counts VALUES(old.batch, old.status, hamel_slot(), -1)"
    " ON CONFLICT(batch, status, slot) DO UPDATE SET members=member_counts.members+excluded.members;"
    " RETURN NULL; END $$;"
    "CREATE FUNCTION batch_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " DELETE FROM member_counts WHERE batch=old.number;"
    " DELETE FROM descriptions WHERE job=-old.number;"
    " RETURN NULL; END $$;"
    "DROP TRIGGER job_made ON jobs;"
    "DROP FUNCTION job_made();"
    "CREATE TRIGGER jobs_made AFTER INSERT ON jobs REFERENCING NEW TABLE AS made FOR EACH STATEMENT"
    " EXECUTE FUNCTION jobs_made();"
    "CREATE TRIGGER member_changed AFTER UPDATE OF status ON jobs FOR EACH ROW"
    " WHEN (old.status<>new.status AND new.batch<>0) EXECUTE FUNCTION member_changed();"
    "CREATE TRIGGER member_gone AFTER DELETE ON jobs FOR EACH ROW"
    " WHEN (old.batch<>0) EXECUTE FUNCTION member_gone();"
    "CREATE TRIGGER batch_gone AFTER DELETE ON batches FOR EACH ROW EXECUTE FUNCTION batch_gone();"
    "INSERT INTO member_counts SELECT batch, status, 0, count(*) FROM jobs WHERE batch<>0 GROUP BY batch, status;"
    "CREATE INDEX jobs_by_batch_and_status ON jobs(batch, status, number) WHERE batch<>0;";

/* Of a job the bytes counted at admission, its owner's quota of bytes then, and failures of the store since the last row
 * that it took. Of a batch what it stores besides its members. */
static const char admission[] =
    "ALTER TABLE jobs ADD COLUMN admitted BIGINT NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN faults BIGINT NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN quota BIGINT NOT NULL DEFAULT 0;" /* 0: none */
    "UPDATE jobs SET admitted=coalesce((SELECT length(body) FROM descriptions WHERE job=number), 0);"
    "ALTER TABLE batches ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;"
    "CREATE FUNCTION batch_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM hamel_count(new.owner, 0, 0, new.bytes); RETURN NULL; END $$;"
    "CREATE FUNCTION batch_uncounted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM hamel_count(old.owner, 0, 0, -old.bytes); RETURN NULL; END $$;"
    "CREATE TRIGGER batch_made AFTER INSERT ON batches FOR EACH ROW EXECUTE FUNCTION batch_made();"
    "CREATE TRIGGER batch_uncounted AFTER DELETE ON batches FOR EACH ROW EXECUTE FUNCTION batch_uncounted();";

/* Processor time that token owners have used on their last day, in days since 1970. */
static const char usage[] =
    "CREATE TABLE cpu_usage(owner TEXT PRIMARY KEY, day BIGINT NOT NULL, seconds DOUBLE PRECISION NOT NULL);";

static const char *const first_release[] = {functions, tables, counting, NULL};
static const char *const members_by_number[] = {by_number, NULL};
static const char *const counted_members[] = {counts, NULL};
static const char *const faults_and_admitted[] = {admission, NULL};
static const char *const processor_time[] = {usage, NULL};
static const char *const *const steps[] = {first_release, members_by_number, counted_members, faults_and_admitted,
                                           processor_time};
enum { SCHEMA_VERSION = sizeof steps / sizeof steps[0] };

static int version_of(pg_connection *c) {
    PGresult *result = PQexec(c->link, "SELECT coalesce(max(version), 0) FROM hamel_schema");
    int version = PQntuples(result) == 1 ? (int)strtol(PQgetvalue(result, 0, 0), NULL, 10) : -1;
    PQclear(result);
    return version;
}

static bool take_steps(pg_connection *c, int from) {
    char mark[64];
    bool good = true;
    for (int k = from; good && k < SCHEMA_VERSION; k++) {
        for (size_t part = 0; good && steps[k][part]; part++) good = pg_execute(c, steps[k][part]);
        snprintf(mark, sizeof mark, "INSERT INTO hamel_schema VALUES(%d)", k + 1);
        good = good && pg_execute(c, mark);
    }
    return good;
}

bool pg_migrate(pg_connection *c, char *message, size_t room) {
    int version = -1;
    c->in_transaction = true;
    bool good = pg_execute(c, "BEGIN; SELECT pg_advisory_xact_lock(" MIGRATION_LOCK ");"
                              "CREATE TABLE IF NOT EXISTS hamel_schema(version BIGINT PRIMARY KEY)");
    if (good) version = version_of(c);
    if (good && version > SCHEMA_VERSION) {
        snprintf(message, room, "the store was written by a newer release (schema %d, this one knows %d)", version,
                 SCHEMA_VERSION);
        pg_undo(c);
        return false;
    }
    good = good && version >= 0 && take_steps(c, version) && pg_commit(c);
    if (!good) snprintf(message, room, "the store cannot be set up: %s", c->message);
    if (!good) pg_undo(c);
    return good;
}
