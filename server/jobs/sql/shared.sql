-- shared.sql: the statements that SQLite and PostgreSQL both execute.
--
-- Parameters are ?1, ?2, ... The function hamel_now() returns milliseconds since 1970 by the clock of the store, which
-- all its users share. Statuses are the numbers of job_status in store.h: 0 queued, 1 running, 2 completed, 3
-- incomplete, 4 failed, 5 canceled.
--
-- A statement that changes a job's status also checks the former status. It therefore remains correct if other
-- statements change the job at the same time.

-- sql_read_job reads these columns in this order.
-- fragment job_columns
number, id, name, status, progress, created, started, finished, revision, attempt, cancel, header, summary, problem,
owner, member, assignments, collected, (SELECT b.id FROM batches AS b WHERE b.number=jobs.batch)

-- The same columns for lists, which omit the large texts.
-- fragment listed_job_columns
number, id, name, status, progress, created, started, finished, revision, attempt, cancel, NULL, NULL, problem,
owner, member, NULL, NULL, (SELECT b.id FROM batches AS b WHERE b.number=jobs.batch)

-- fragment member_columns
number, id, name, status, progress, created, started, finished, revision, attempt, cancel, NULL, summary, problem,
owner, member, assignments, collected, NULL

-- sql_read_batch reads these columns in this order.
-- fragment batch_columns
number, id, name, created, plan, CAST(submitted>=members AS INTEGER)

-- Conditions of LIST_JOBS (store_sql.c).
-- fragment by_status
 AND status=?3
-- fragment by_name
 AND name=?4
-- fragment by_owner
 AND owner=?5
-- fragment by_batch
 AND batch=(SELECT number FROM batches WHERE id=?6) AND batch<>0

-- ---- submission ----

-- statement INSERT_JOB
INSERT INTO jobs(id, name, status, created, key, owner, bytes, admitted, quota, batch, member)
VALUES(?1, ?2, 0, hamel_now(), ?3, ?4, ?5, ?5, ?6, 0, 0) RETURNING number

-- In this and other statements for many members, store_sql.c replaces %s by SQL_GROUP rows of parameters, of which some
-- may be NULL. ?1 is the owner, ?2 the batch, ?3 the quota.
-- statement INSERT_MEMBERS
WITH new(id, name, bytes, member, assignments) AS (VALUES %s)
INSERT INTO jobs(owner, batch, quota, status, created, id, name, bytes, admitted, member, assignments)
SELECT ?1, ?2, ?3, 0, (SELECT hamel_now()), id, name, bytes, bytes, member, assignments FROM new WHERE id IS NOT NULL
RETURNING number, member

-- statement INSERT_DESCRIPTION
INSERT INTO descriptions(job, body) VALUES(?1, ?2)

-- statement FIND_KEY
SELECT {job_columns} FROM jobs WHERE key=?1

-- statement OWNER
SELECT queued+running, bytes FROM owners WHERE owner=?1

-- ---- one job ----

-- statement FIND_ID
SELECT {job_columns} FROM jobs WHERE id=?1 AND (?2 IS NULL OR owner=?2)

-- statement FIND_NUMBER
SELECT {job_columns} FROM jobs WHERE number=?1

-- statement REVISION
SELECT revision FROM jobs WHERE number=?1

-- Members of a sweep share the description of their batch, which is stored under the number -batch.
-- statement DESCRIPTION
SELECT body FROM descriptions WHERE job=(SELECT CASE WHEN assignments IS NULL THEN number ELSE -batch END
FROM jobs WHERE number=?1)

-- statement BODY
SELECT body FROM descriptions WHERE job=?1

-- fragment cancel
UPDATE jobs SET status=CASE WHEN status=0 THEN 5 ELSE status END,
finished=CASE WHEN status=0 THEN hamel_now() ELSE finished END, cancel=1, revision=revision+1
WHERE (status=0 OR (status=1 AND cancel=0)) AND

-- statement CANCEL
{cancel} number=?1

-- statement DROP_DESCRIPTION
DELETE FROM descriptions WHERE job=?1

-- statement DROP_ROWS
DELETE FROM chunks WHERE job=?1

-- statement DROP_EVENTS
DELETE FROM events WHERE job=?1

-- statement DROP_JOB
DELETE FROM jobs WHERE number=?1

-- ---- a run ----

-- statement START
UPDATE jobs SET status=1, started=hamel_now(), attempt=attempt+1, fruitless=fruitless+1, revision=revision+1
WHERE number=?1 AND status=0 RETURNING {job_columns}

-- Selects the next ?2 queued members of the sweep of job ?1.
-- fragment next_members
SELECT number FROM jobs WHERE batch=(SELECT batch FROM jobs WHERE number=?1) AND batch<>0 AND status=0 AND fruitless=0
AND assignments IS NOT NULL

-- Starts further members of the sweep of job ?1 at the time at which this job started.
-- fragment start_members
UPDATE jobs SET status=1, started=(SELECT started FROM jobs WHERE number=?1), attempt=attempt+1, fruitless=fruitless+1,
revision=revision+1

-- statement START_MEMBERS
{start_members} WHERE number IN ({next_members} ORDER BY number LIMIT ?2) RETURNING {job_columns}

-- statement FAIL
UPDATE jobs SET status=4, finished=hamel_now(), problem=?2, revision=revision+1 WHERE number=?1 AND status<2

-- statement BEGIN_RUN
UPDATE jobs SET revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1 RETURNING header

-- statement SET_HEADER
UPDATE jobs SET header=?2, bytes=admitted+?3 WHERE number=?1

-- Returns the quota under which the job was submitted (0: no quota), and the bytes that its owner has stored.
-- statement ROOM
SELECT quota, CASE WHEN quota>0 THEN (SELECT bytes FROM owners WHERE owner=jobs.owner) ELSE 0 END
FROM jobs WHERE number=?1

-- statement STORED_ROWS
SELECT first+rows FROM chunks WHERE job=?1 ORDER BY first DESC LIMIT 1

-- statement STORED_EVENTS
SELECT count(*) FROM events WHERE job=?1

-- statement ADVANCE
UPDATE jobs SET progress=?3, revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1

-- statement COUNT_BYTES
UPDATE jobs SET fruitless=0, failures=0, bytes=bytes+?2 WHERE number=?1

-- statement INSERT_CHUNK
INSERT INTO chunks(job, first, rows, columns, t_last, data) VALUES(?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT(job, first) DO NOTHING

-- statement INSERT_EVENT
INSERT INTO events(job, number, row, json) VALUES(?1, ?2, ?3, ?4) ON CONFLICT(job, number) DO NOTHING

-- statement FINISH
UPDATE jobs SET status=?3, progress=?4, finished=hamel_now(), summary=?5, problem=?6, collected=?7, bytes=bytes+?8,
revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1

-- Like SET_HEADER, COUNT_BYTES and FINISH together, for members that have stored nothing. `+status` keeps a database
-- from reading all running jobs by the index of the status.
-- statement FINISH_MEMBERS
WITH ended(job, run, state, done, head, totals, trouble, reduced, more) AS (VALUES %s)
UPDATE jobs SET status=state, progress=done, finished=(SELECT hamel_now()), header=head, summary=totals, problem=trouble,
collected=reduced, bytes=bytes+more, revision=revision+1 FROM ended
WHERE number=job AND attempt=run AND +status=1 AND header IS NULL RETURNING number

-- statement INSERT_CHUNKS
WITH new(job, rows, columns, t_last, data) AS (VALUES %s)
INSERT INTO chunks(job, first, rows, columns, t_last, data)
SELECT job, 0, rows, columns, t_last, data FROM new WHERE job IS NOT NULL

-- statement ENDED
SELECT 1 FROM jobs WHERE number=?1 AND attempt=?2 AND status=?3

-- statement REQUEUE
UPDATE jobs SET status=0, fruitless=CASE WHEN fruitless>0 THEN fruitless-1 ELSE 0 END, revision=revision+1
WHERE number=?1 AND attempt=?2 AND status=1

-- If the store has failed ?3 times, sets the status of the job to failed. Otherwise requeues the job.
-- statement POSTPONE
UPDATE jobs SET status=CASE WHEN failures+1<?3 THEN 0 ELSE 4 END,
problem=CASE WHEN failures+1<?3 THEN problem ELSE ?4 END,
finished=CASE WHEN failures+1<?3 THEN finished ELSE hamel_now() END,
fruitless=CASE WHEN fruitless>0 THEN fruitless-1 ELSE 0 END, failures=failures+1, revision=revision+1
WHERE number=?1 AND attempt=?2 AND status=1

-- ---- results ----

-- statement CHUNK
SELECT first, rows, columns, data FROM chunks WHERE job=?1 AND first<=?2 ORDER BY first DESC LIMIT 1

-- statement CHUNK_AT_TIME
SELECT first FROM chunks WHERE job=?1 AND t_last>=?2 ORDER BY first LIMIT 1

-- statement EVENT
SELECT row, json FROM events WHERE job=?1 AND number=?2

-- ---- pages of lists ----
--
-- A page has at most ?2 rows. When the texts of its rows reach 256 KiB, the page has no further row. The last column,
-- `matched`, is the number of rows that the page would have without the bound on texts. The sizes are summed in a
-- subquery, so that the texts of omitted rows are not read.

-- fragment page_sums
count(*) OVER () AS matched, sum(size) OVER (ORDER BY n DESC ROWS UNBOUNDED PRECEDING)-size AS before

-- fragment page_bound
WHERE before<262144 ORDER BY number

-- store_sql.c replaces each %s by a condition or by nothing.
-- statement LIST_JOBS
SELECT {listed_job_columns}, matched FROM (SELECT n, {page_sums} FROM
(SELECT number AS n, length(name)+coalesce(length(problem), 0) AS size FROM jobs WHERE number<?1 %s %s %s %s
ORDER BY number DESC LIMIT ?2) AS picked) AS page JOIN jobs ON number=n {page_bound} DESC

-- statement LIST_BATCHES
SELECT number, id, name, created, '', CAST(submitted>=members AS INTEGER), matched FROM (SELECT n, {page_sums} FROM
(SELECT number AS n, length(name) AS size FROM batches WHERE number<?1
ORDER BY number DESC LIMIT ?2) AS picked) AS page JOIN batches ON number=n {page_bound} DESC

-- statement LIST_OWN_BATCHES
SELECT number, id, name, created, '', CAST(submitted>=members AS INTEGER), matched FROM (SELECT n, {page_sums} FROM
(SELECT number AS n, length(name) AS size FROM batches WHERE number<?1 AND owner=?3
ORDER BY number DESC LIMIT ?2) AS picked) AS page JOIN batches ON number=n {page_bound} DESC

-- statement MEMBERS
SELECT {member_columns}, matched FROM (SELECT n, count(*) OVER () AS matched,
sum(size) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING)-size AS before FROM
(SELECT number AS n, length(name)+coalesce(length(assignments), 0)+coalesce(length(summary), 0)+
coalesce(length(problem), 0)+coalesce(length(collected), 0) AS size FROM jobs
WHERE batch=?1 AND batch<>0 AND number>=?3 ORDER BY number LIMIT ?2) AS picked) AS page
JOIN jobs ON number=n {page_bound}

-- ---- batches ----

-- statement INSERT_BATCH
INSERT INTO batches(id, name, created, key, owner, plan, bytes, members, changed)
VALUES(?1, ?2, hamel_now(), ?3, ?4, ?5, ?6, ?7, hamel_now()) RETURNING number

-- Locks the batch until the end of the transaction.
-- statement SUBMITTED
UPDATE batches SET changed=hamel_now() WHERE number=?1 AND submitted<members RETURNING submitted

-- statement SET_SUBMITTED
UPDATE batches SET submitted=?2 WHERE number=?1

-- Completes the batch with the members submitted so far.
-- statement SEAL_BATCH
UPDATE batches SET members=submitted WHERE number=?1 AND submitted<members

-- Finds the oldest batch whose submission was interrupted more than ?1 ms ago.
-- statement ABANDONED_BATCH
SELECT number FROM batches WHERE submitted<members AND changed<hamel_now()-?1 ORDER BY changed LIMIT 1

-- statement FIND_BATCH
SELECT {batch_columns} FROM batches WHERE id=?1 AND (?2 IS NULL OR owner=?2)

-- statement FIND_BATCH_KEY
SELECT {batch_columns} FROM batches WHERE key=?1

-- statement COUNT_MEMBERS
SELECT status, CAST(sum(members) AS BIGINT) FROM member_counts WHERE batch=?1 GROUP BY status

-- statement MEMBER_BEYOND
SELECT number FROM jobs WHERE batch=?1 AND batch<>0 AND number>=?2 ORDER BY number LIMIT 1 OFFSET ?3

-- statement CANCEL_MEMBERS
{cancel} batch=?1 AND batch<>0 AND number>=?2 AND number<?3

-- statement SOME_MEMBERS
SELECT number FROM jobs WHERE batch=?1 AND batch<>0 LIMIT ?2

-- statement DROP_BATCH
DELETE FROM batches WHERE number=?1

-- statement DROP_EMPTY_BATCHES
DELETE FROM batches WHERE number NOT IN
(SELECT batch FROM member_counts GROUP BY batch HAVING sum(members)>0)

-- ---- the store as a whole ----

-- statement OLDEST_ENDED
SELECT number, hamel_now()-finished, bytes FROM jobs WHERE status>=2 ORDER BY finished LIMIT ?1

-- statement COUNT_JOBS
SELECT CAST(coalesce(sum(queued), 0) AS BIGINT), CAST(coalesce(sum(running), 0) AS BIGINT),
CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM owners

-- statement FIRST_QUEUED
SELECT hamel_now()-created FROM jobs WHERE status=0 ORDER BY number LIMIT 1

-- statement CHARGE
INSERT INTO cpu_usage VALUES(?1, ?2, ?3) ON CONFLICT(owner) DO UPDATE SET day=excluded.day,
seconds=excluded.seconds+CASE WHEN cpu_usage.day=excluded.day THEN cpu_usage.seconds ELSE 0 END RETURNING seconds

-- statement HEALTH
SELECT 1 FROM jobs LIMIT 1
