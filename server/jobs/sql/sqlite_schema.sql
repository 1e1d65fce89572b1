-- sqlite_schema.sql: the tables of a SQLite store. Statuses are the numbers of job_status in store.h.
--
-- Triggers maintain the counts of owners and batches, so that no statement can omit an update of the counts.

CREATE TABLE jobs(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 5),
    progress REAL NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    started INTEGER NOT NULL DEFAULT 0,
    finished INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 1,
    attempt INTEGER NOT NULL DEFAULT 0,
    -- attempts whose own thread crashed the daemon
    crashes INTEGER NOT NULL DEFAULT 0,
    -- attempts begun since the last attempt that stored a row
    fruitless INTEGER NOT NULL DEFAULT 0,
    -- failures of the store since the last stored row of the job
    failures INTEGER NOT NULL DEFAULT 0,
    cancel INTEGER NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
    key TEXT,
    header TEXT,
    summary TEXT,
    problem TEXT,
    owner TEXT NOT NULL,
    -- bytes: bytes counted for the job
    -- admitted: bytes counted when the job was submitted
    -- quota: quota of the owner when the job was submitted; 0: no quota
    bytes INTEGER NOT NULL,
    admitted INTEGER NOT NULL,
    quota INTEGER NOT NULL,
    -- 0: not a member of a batch
    batch INTEGER NOT NULL,
    member INTEGER NOT NULL,
    -- overrides of a member that shares the batch's description
    assignments TEXT,
    collected TEXT
) STRICT;
CREATE UNIQUE INDEX jobs_by_key ON jobs(key) WHERE key IS NOT NULL;
CREATE INDEX jobs_by_status ON jobs(status, number);
CREATE INDEX jobs_by_name ON jobs(name, number);
CREATE INDEX jobs_by_name_and_status ON jobs(name, status, number);
CREATE INDEX jobs_by_owner ON jobs(owner, number);
CREATE INDEX jobs_by_owner_and_status ON jobs(owner, status, number);
CREATE INDEX jobs_by_batch ON jobs(batch, number) WHERE batch<>0;
CREATE INDEX jobs_by_batch_and_status ON jobs(batch, status) WHERE batch<>0;
CREATE INDEX jobs_by_end ON jobs(finished) WHERE status>=2;

-- The description of a job, or of batch N under the number -N.
CREATE TABLE descriptions(job INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

-- Rows `first` to first+rows-1 of a job: float64, little-endian, row by row.
CREATE TABLE chunks(
    job INTEGER NOT NULL,
    first INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    t_last REAL NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY(job, first)
) STRICT;

-- `row` is the number of rows before the event.
CREATE TABLE events(
    job INTEGER NOT NULL,
    number INTEGER NOT NULL,
    row INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY(job, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE batches(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created INTEGER NOT NULL,
    key TEXT UNIQUE,
    owner TEXT NOT NULL,
    plan TEXT NOT NULL,
    -- bytes stored for the batch itself, without its members
    bytes INTEGER NOT NULL,
    -- members: members of the whole batch
    -- submitted: members submitted so far; smaller while the batch is being submitted
    -- changed: time at which members were last submitted
    members INTEGER NOT NULL,
    submitted INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL
) STRICT;
CREATE INDEX batches_by_owner ON batches(owner, number);
CREATE INDEX batches_incomplete ON batches(changed) WHERE submitted<members;

-- `served` grows with each claim: the owner with the smallest value has waited longest.
CREATE TABLE owners(
    owner TEXT PRIMARY KEY,
    queued INTEGER NOT NULL,
    running INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    served INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TRIGGER job_made AFTER INSERT ON jobs BEGIN
    INSERT INTO owners(owner, queued, running, bytes) VALUES(new.owner, new.status=0, new.status=1, new.bytes)
    ON CONFLICT(owner) DO UPDATE SET queued=queued+(new.status=0), running=running+(new.status=1),
    bytes=bytes+new.bytes;
END;
CREATE TRIGGER job_changed AFTER UPDATE OF status, bytes ON jobs BEGIN
    UPDATE owners SET queued=queued+(new.status=0)-(old.status=0), running=running+(new.status=1)-(old.status=1),
    bytes=bytes+new.bytes-old.bytes WHERE owner=new.owner;
END;
CREATE TRIGGER job_gone AFTER DELETE ON jobs BEGIN
    UPDATE owners SET queued=queued-(old.status=0), running=running-(old.status=1), bytes=bytes-old.bytes
    WHERE owner=old.owner;
END;
CREATE TRIGGER batch_made AFTER INSERT ON batches BEGIN
    INSERT INTO owners(owner, queued, running, bytes) VALUES(new.owner, 0, 0, new.bytes)
    ON CONFLICT(owner) DO UPDATE SET bytes=bytes+excluded.bytes;
END;
CREATE TRIGGER batch_uncounted AFTER DELETE ON batches BEGIN
    UPDATE owners SET bytes=bytes-old.bytes WHERE owner=old.owner;
END;

CREATE TABLE member_counts(
    batch INTEGER NOT NULL,
    status INTEGER NOT NULL,
    members INTEGER NOT NULL,
    PRIMARY KEY(batch, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER member_made AFTER INSERT ON jobs WHEN new.batch<>0 BEGIN
    INSERT INTO member_counts VALUES(new.batch, new.status, 1)
    ON CONFLICT(batch, status) DO UPDATE SET members=members+excluded.members;
END;
CREATE TRIGGER member_changed AFTER UPDATE OF status ON jobs WHEN new.batch<>0 AND new.status<>old.status BEGIN
    INSERT INTO member_counts VALUES(old.batch, old.status, -1), (new.batch, new.status, 1)
    ON CONFLICT(batch, status) DO UPDATE SET members=members+excluded.members;
END;
CREATE TRIGGER member_gone AFTER DELETE ON jobs WHEN old.batch<>0 BEGIN
    UPDATE member_counts SET members=members-1 WHERE batch=old.batch AND status=old.status;
END;
CREATE TRIGGER batch_gone AFTER DELETE ON batches BEGIN
    DELETE FROM member_counts WHERE batch=old.number;
    DELETE FROM descriptions WHERE job=-old.number;
END;

-- Processor time in seconds that each token owner used on `day`, the last day of use, in days since 1970.
CREATE TABLE cpu_usage(owner TEXT PRIMARY KEY, day INTEGER NOT NULL, seconds REAL NOT NULL) STRICT, WITHOUT ROWID;
