-- postgres.sql: the statements that only PostgreSQL executes. hamel_node() returns the number of the node that the
-- session belongs to.

-- Selects jobs that are assigned to a node without a lease. The node was removed after its lease had ended, or the node
-- has never registered.
-- fragment gone
node<>0 AND status<2 AND node NOT IN (SELECT number FROM nodes)

-- statement SET_NODE
SELECT set_config('hamel.node', CAST(?1 AS TEXT), false)

-- statement READ_ONLY
SELECT CAST(current_setting('transaction_read_only')='on' AS INTEGER)

-- ---- claims (store_postgres_claim.c) ----

-- Starts a job as START of shared.sql does, but only if this node has reserved the job.
-- statement START
UPDATE jobs SET status=1, started=hamel_now(), attempt=attempt+1, fruitless=fruitless+1, revision=revision+1
WHERE number=?1 AND status=0 AND node=hamel_node() RETURNING {job_columns}

-- Starts members that no node has reserved.
-- statement START_MEMBERS
WITH chosen AS MATERIALIZED ({next_members} AND node=0 ORDER BY number LIMIT ?2 FOR UPDATE SKIP LOCKED)
{start_members}, node=hamel_node() WHERE number IN (SELECT number FROM chosen) RETURNING {job_columns}

-- statement NEXT_OWNERS
SELECT owner FROM owners WHERE queued>0 ORDER BY running, served LIMIT ?1

-- statement NOTE_SERVED
INSERT INTO owner_counts(owner, node, served) VALUES(?1, hamel_node(), nextval('owners_served'))
ON CONFLICT(owner, node) DO UPDATE SET served=excluded.served

-- statement RESERVE
WITH chosen AS MATERIALIZED (SELECT number FROM jobs WHERE status=0 AND node=0 AND owner=?1 AND fruitless=0
ORDER BY number LIMIT ?2 FOR UPDATE SKIP LOCKED)
UPDATE jobs SET node=hamel_node() FROM chosen WHERE jobs.number=chosen.number RETURNING jobs.number

-- statement RESERVE_SUSPECT
WITH chosen AS MATERIALIZED (SELECT number FROM jobs WHERE status=0 AND node=0 AND fruitless>0 AND NOT EXISTS
(SELECT 1 FROM jobs AS held WHERE held.node=hamel_node() AND held.node<>0 AND held.fruitless>held.status)
ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE jobs SET node=hamel_node() FROM chosen WHERE jobs.number=chosen.number RETURNING jobs.number

-- statement RESERVED
SELECT number FROM jobs WHERE node=hamel_node() AND node<>0 AND status=0 ORDER BY number LIMIT ?1

-- statement RELEASE_RESERVED
UPDATE jobs SET node=0 WHERE node=hamel_node() AND node<>0 AND status=0

-- ---- the lease (store_postgres_lease.c) ----

-- statement ENTER
INSERT INTO nodes(lease_until) VALUES(hamel_now()+?1) RETURNING number

-- statement RENEW
UPDATE nodes SET lease_until=hamel_now()+?2 WHERE number=?1 RETURNING number

-- statement LEAVE
DELETE FROM nodes WHERE number=?1

-- statement MINE
SELECT number, attempt, cancel FROM jobs WHERE node=?1 AND node<>0 AND status=1

-- statement RELEASE
UPDATE jobs SET status=0, fruitless=CASE WHEN fruitless>0 THEN fruitless-1 ELSE 0 END, revision=revision+1
WHERE number=?1 AND attempt=?2 AND status=1

-- ---- jobs of nodes whose lease has ended ----

-- statement SWEEP_TRY_LOCK
SELECT CAST(pg_try_advisory_xact_lock(?1) AS INTEGER)

-- statement SWEEP_NODES
DELETE FROM nodes WHERE lease_until<hamel_now()

-- If one of the jobs lost together had been lost before, the loss does not count for the jobs lost for the first time.
-- statement SWEEP_BLAME
UPDATE jobs SET fruitless=0 WHERE {gone} AND status=1 AND fruitless=1 AND EXISTS
(SELECT 1 FROM jobs AS held WHERE held.node=jobs.node AND held.status=1 AND held.fruitless>1)

-- statement SWEEP_CANCELED
UPDATE jobs SET status=5, finished=hamel_now(), revision=revision+1 WHERE {gone} AND status=1 AND cancel=1

-- statement SWEEP_POISON
UPDATE jobs SET status=4, finished=hamel_now(), problem=?1, revision=revision+1
WHERE {gone} AND status=1 AND fruitless>=?2

-- statement SWEEP_JOBS
UPDATE jobs SET status=0, node=0, revision=revision+1 WHERE {gone}

-- The counts of nodes without a lease are added to the counts of node 0.
-- statement SWEEP_COUNTS
WITH gone AS (DELETE FROM owner_counts WHERE node<>0 AND node NOT IN (SELECT number FROM nodes) RETURNING *)
INSERT INTO owner_counts(owner, node, queued, running, bytes, served)
SELECT owner, 0, sum(queued), sum(running), sum(bytes), max(served) FROM gone GROUP BY owner
ON CONFLICT(owner, node) DO UPDATE SET queued=owner_counts.queued+excluded.queued,
running=owner_counts.running+excluded.running, bytes=owner_counts.bytes+excluded.bytes,
served=greatest(owner_counts.served, excluded.served)
