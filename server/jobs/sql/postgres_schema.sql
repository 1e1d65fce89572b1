-- postgres_schema.sql: the tables of a PostgreSQL store. These are the tables of sqlite_schema.sql and a table of
-- nodes. The table of jobs also contains the node to which each job is assigned.
--
-- Triggers maintain the counts of owners, so that no statement can omit an update of the counts. The counts are
-- separate for each node. Otherwise nodes that work for the same owner would wait for each other at every change.
-- Members of a batch are counted in 64 slots that all nodes share. Counts for each batch and node would need too many
-- rows, and the counts of removed nodes would remain.
--
-- If one transaction changes a row n times, the changes take a time proportional to n^2. So one trigger call counts all
-- jobs that a statement changes, and changes of many members are made in slices.

CREATE FUNCTION hamel_now() RETURNS BIGINT LANGUAGE sql VOLATILE AS
    'SELECT CAST(extract(epoch FROM clock_timestamp())*1000 AS BIGINT)';
CREATE FUNCTION hamel_node() RETURNS BIGINT LANGUAGE sql STABLE AS
    $$SELECT CAST(coalesce(nullif(current_setting('hamel.node', true), ''), '0') AS BIGINT)$$;
CREATE FUNCTION hamel_slot() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT hamel_node() % 64';

CREATE TABLE nodes(number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lease_until BIGINT NOT NULL);

-- Updates of jobs rarely change indexed columns. The fill factor leaves space for the new row version in the same page.
CREATE TABLE jobs(
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status BIGINT NOT NULL CHECK (status BETWEEN 0 AND 5),
    progress DOUBLE PRECISION NOT NULL DEFAULT 0,
    created BIGINT NOT NULL,
    started BIGINT NOT NULL DEFAULT 0,
    finished BIGINT NOT NULL DEFAULT 0,
    revision BIGINT NOT NULL DEFAULT 1,
    attempt BIGINT NOT NULL DEFAULT 0,
    -- attempts begun since the last attempt that stored a row
    fruitless BIGINT NOT NULL DEFAULT 0,
    -- failures of the store since the last stored row of the job
    failures BIGINT NOT NULL DEFAULT 0,
    cancel BIGINT NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
    key TEXT,
    header TEXT,
    summary TEXT,
    problem TEXT,
    owner TEXT NOT NULL,
    -- bytes: bytes counted for the job
    -- admitted: bytes counted when the job was submitted
    -- quota: quota of the owner when the job was submitted; 0: no quota
    bytes BIGINT NOT NULL,
    admitted BIGINT NOT NULL,
    quota BIGINT NOT NULL,
    -- 0: not a member of a batch
    batch BIGINT NOT NULL,
    member BIGINT NOT NULL,
    -- overrides of a member that shares the batch's description
    assignments TEXT,
    collected TEXT,
    -- 0: unassigned; a queued job with a node is reserved
    node BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);
CREATE UNIQUE INDEX jobs_by_key ON jobs(key) WHERE key IS NOT NULL;
CREATE INDEX jobs_by_status ON jobs(status, number);
CREATE INDEX jobs_by_name ON jobs(name, number);
CREATE INDEX jobs_by_owner ON jobs(owner, number);
CREATE INDEX jobs_by_batch ON jobs(batch, number) WHERE batch<>0;
CREATE INDEX jobs_by_batch_and_status ON jobs(batch, status, number) WHERE batch<>0;
CREATE INDEX jobs_by_end ON jobs(finished) WHERE status>=2;
CREATE INDEX jobs_waiting ON jobs(owner, number) WHERE status=0 AND node=0;
CREATE INDEX jobs_suspect ON jobs(number) WHERE status=0 AND node=0 AND fruitless>0;
CREATE INDEX jobs_held ON jobs(node) WHERE node<>0;

-- The description of a job, or of batch N under the number -N.
CREATE TABLE descriptions(job BIGINT PRIMARY KEY, body BYTEA NOT NULL);

-- Rows `first` to first+rows-1 of a job: float64, little-endian, row by row. Floating-point numbers compress poorly, so
-- the column is EXTERNAL (not compressed).
CREATE TABLE chunks(
    job BIGINT NOT NULL,
    first BIGINT NOT NULL,
    rows BIGINT NOT NULL,
    columns BIGINT NOT NULL,
    t_last DOUBLE PRECISION NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY(job, first)
);
ALTER TABLE chunks ALTER COLUMN data SET STORAGE EXTERNAL;

-- `row` is the number of rows before the event.
CREATE TABLE events(
    job BIGINT NOT NULL,
    number BIGINT NOT NULL,
    row BIGINT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY(job, number)
);

CREATE TABLE batches(
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created BIGINT NOT NULL,
    key TEXT UNIQUE,
    owner TEXT NOT NULL,
    plan TEXT NOT NULL,
    -- bytes stored for the batch itself, without its members
    bytes BIGINT NOT NULL,
    -- members: members of the whole batch
    -- submitted: members submitted so far; smaller while the batch is being submitted
    -- changed: time at which members were last submitted
    members BIGINT NOT NULL,
    submitted BIGINT NOT NULL DEFAULT 0,
    changed BIGINT NOT NULL
);
CREATE INDEX batches_by_owner ON batches(owner, number);
CREATE INDEX batches_incomplete ON batches(changed) WHERE submitted<members;

-- Processor time in seconds that each token owner used on `day`, the last day of use, in days since 1970.
CREATE TABLE cpu_usage(owner TEXT PRIMARY KEY, day BIGINT NOT NULL, seconds DOUBLE PRECISION NOT NULL);

-- ---- counts of owners; `served` orders the owners by the time of their last claim ----

CREATE TABLE owner_counts(
    owner TEXT NOT NULL,
    node BIGINT NOT NULL,
    queued BIGINT NOT NULL DEFAULT 0,
    running BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    served BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY(owner, node)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE SEQUENCE owners_served;
CREATE VIEW owners AS SELECT owner, CAST(sum(queued) AS BIGINT) AS queued, CAST(sum(running) AS BIGINT) AS running,
    CAST(sum(bytes) AS BIGINT) AS bytes, max(served) AS served FROM owner_counts GROUP BY owner;
CREATE FUNCTION hamel_count(whose TEXT, q BIGINT, r BIGINT, b BIGINT) RETURNS void LANGUAGE sql AS
    'INSERT INTO owner_counts(owner, node, queued, running, bytes) VALUES(whose, hamel_node(), q, r, b)
     ON CONFLICT(owner, node) DO UPDATE SET queued=owner_counts.queued+q, running=owner_counts.running+r,
     bytes=owner_counts.bytes+b';
CREATE FUNCTION batch_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM hamel_count(new.owner, 0, 0, new.bytes);
    RETURN NULL; END $$;
CREATE FUNCTION batch_uncounted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM hamel_count(old.owner, 0, 0, -old.bytes);
    RETURN NULL; END $$;
CREATE TRIGGER batch_made AFTER INSERT ON batches FOR EACH ROW EXECUTE FUNCTION batch_made();
CREATE TRIGGER batch_uncounted AFTER DELETE ON batches FOR EACH ROW EXECUTE FUNCTION batch_uncounted();

-- If a job stops running or is canceled in the queue, it is no longer assigned to a node.
CREATE FUNCTION job_let_go() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    new.node = 0;
    RETURN new; END $$;
CREATE TRIGGER job_let_go BEFORE UPDATE OF status ON jobs FOR EACH ROW
    WHEN (old.status<>new.status AND new.status<>1) EXECUTE FUNCTION job_let_go();

-- ---- counts of members ----

CREATE TABLE member_counts(
    batch BIGINT NOT NULL,
    status BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    members BIGINT NOT NULL,
    PRIMARY KEY(batch, status, slot)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);

CREATE FUNCTION batch_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM member_counts WHERE batch=old.number;
    DELETE FROM descriptions WHERE job=-old.number;
    RETURN NULL; END $$;
CREATE TRIGGER batch_gone AFTER DELETE ON batches FOR EACH ROW EXECUTE FUNCTION batch_gone();

-- ---- all jobs that a statement inserts, changes or deletes ----

-- Counts inserted jobs (argument 1) or deleted jobs (argument -1).
CREATE FUNCTION jobs_counted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign BIGINT = TG_ARGV[0]; BEGIN
    PERFORM hamel_count(owner, sign*count(*) FILTER (WHERE status=0), sign*count(*) FILTER (WHERE status=1),
        CAST(sign*sum(bytes) AS BIGINT)) FROM counted GROUP BY owner;
    INSERT INTO member_counts SELECT batch, status, hamel_slot(), sign*count(*) FROM counted WHERE batch<>0
        GROUP BY batch, status ORDER BY batch, status
        ON CONFLICT(batch, status, slot) DO UPDATE SET members=member_counts.members+excluded.members;
    RETURN NULL; END $$;
CREATE TRIGGER jobs_counted AFTER INSERT ON jobs REFERENCING NEW TABLE AS counted FOR EACH STATEMENT
    EXECUTE FUNCTION jobs_counted('1');
CREATE TRIGGER jobs_uncounted AFTER DELETE ON jobs REFERENCING OLD TABLE AS counted FOR EACH STATEMENT
    EXECUTE FUNCTION jobs_counted('-1');

CREATE FUNCTION jobs_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM hamel_count(owner, q, r, b) FROM (SELECT owner, CAST(coalesce(sum(n) FILTER (WHERE status=0), 0) AS BIGINT) AS q,
        CAST(coalesce(sum(n) FILTER (WHERE status=1), 0) AS BIGINT) AS r, CAST(sum(n*bytes) AS BIGINT) AS b
        FROM (SELECT owner, status, bytes, 1 AS n FROM made UNION ALL SELECT owner, status, bytes, -1 FROM gone) AS all_rows
        GROUP BY owner) AS sums WHERE q<>0 OR r<>0 OR b<>0;
    INSERT INTO member_counts SELECT batch, status, hamel_slot(), sum(n)
        FROM (SELECT batch, status, 1 AS n FROM made UNION ALL SELECT batch, status, -1 FROM gone) AS all_rows
        WHERE batch<>0 GROUP BY batch, status HAVING sum(n)<>0 ORDER BY batch, status
        ON CONFLICT(batch, status, slot) DO UPDATE SET members=member_counts.members+excluded.members;
    RETURN NULL; END $$;
CREATE TRIGGER jobs_changed AFTER UPDATE ON jobs REFERENCING NEW TABLE AS made OLD TABLE AS gone FOR EACH STATEMENT
    EXECUTE FUNCTION jobs_changed();

-- Notifies idle nodes. Commits with a notification wait for each other, so a notification is sent only if no other job
-- is waiting.
CREATE FUNCTION jobs_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM jobs WHERE status=0 AND node=0 AND number NOT IN (SELECT number FROM made)) THEN
        PERFORM pg_notify('hamel_jobs', '');
    END IF;
    RETURN NULL; END $$;
CREATE TRIGGER jobs_made AFTER INSERT ON jobs REFERENCING NEW TABLE AS made FOR EACH STATEMENT
    EXECUTE FUNCTION jobs_made();
