-- sqlite.sql: the statements that only SQLite executes.

-- statement BEGIN
BEGIN IMMEDIATE
-- statement COMMIT
COMMIT
-- statement ROLLBACK
ROLLBACK
-- statement SAVE
SAVEPOINT operation
-- statement UNDO
ROLLBACK TO operation
-- statement KEEP
RELEASE operation
-- statement SYNC_FULL
PRAGMA synchronous=FULL
-- statement SYNC_NORMAL
PRAGMA synchronous=NORMAL

-- ---- claims: the owner with the fewest running jobs, then the owner served longest ago ----

-- statement NEXT_OWNER
SELECT owner FROM owners WHERE queued>0 ORDER BY running, served LIMIT 1
-- statement NOTE_SERVED
UPDATE owners SET served=(SELECT max(served)+1 FROM owners) WHERE owner=?1
-- statement OLDEST_QUEUED
SELECT number FROM jobs WHERE status=0 AND owner=?1 ORDER BY number LIMIT 1

-- ---- recovery at the start ----

-- statement COUNT_CRASH
UPDATE jobs SET crashes=crashes+1 WHERE number=?1 AND attempt=?2 AND status=1
-- statement RECOVER_CANCELED
UPDATE jobs SET status=5, finished=hamel_now(), revision=revision+1 WHERE status=1 AND cancel=1
-- statement RECOVER_POISON
UPDATE jobs SET status=4, finished=hamel_now(), problem=?1, revision=revision+1
WHERE status=1 AND (crashes>?2 OR fruitless>?3)
-- statement RECOVER_RUNNING
UPDATE jobs SET status=0, revision=revision+1 WHERE status=1
