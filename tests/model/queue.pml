/* queue.pml — Spin model of the queue shared by nodes (server/jobs/store_postgres*.c): reserve, start, finish, lease,
 * sweep.
 *
 * Each atomic block is a database transaction. Between two transactions a node may die, or lose its lease because it was
 * suspended or disconnected. The reply to a commit may be lost, so that its result is unknown to the node. MISHAPS is the
 * total number of such failures: without a limit, jobs might never end. tests/tools/check_queue_model.sh explores all
 * states.
 *
 * Invariant: a result is stored at most once, only by the last node that has started the job, and never after the job has
 * failed. Liveness: every job ends. */
#define NODES 3
#define JOBS 2
#define NOBODY NODES
#define NOTHING JOBS
#define LOST_MAX 3 /* JOB_LOST_MAX */
#ifndef FENCE /* rejects late writes; the check removes it to show that the model detects the error */
#define FENCE (attempt[job] == mine)
#endif
#ifndef MISHAPS
#define MISHAPS 3
#endif

mtype = { queued, running, completed, failed };

mtype status[JOBS] = queued;
byte attempt[JOBS], fruitless[JOBS], results[JOBS];
byte holder[JOBS] = NOBODY;
bool leased[NODES], dead[NODES];
byte mishaps = MISHAPS, alive = NODES;

#define ended(j) (status[j] == completed || status[j] == failed)

/* START; if the reply is lost, the node does not run the job. */
inline start(j) {
    status[j] = running; attempt[j]++; fruitless[j]++;
    if
    :: job = j; mine = attempt[j]
    :: mishaps > 0 -> mishaps--
    fi
}

inline release(j) {
    status[j] = queued; holder[j] = NOBODY; fruitless[j]--
}

active [NODES] proctype node() {
    byte me = _pid;
    byte job = NOTHING, mine; /* the running job, and the number of its attempt */
    bool tried;               /* the reply to a FINISH was lost */
    do
    /* ENTER */
    :: atomic { !leased[me] && !(ended(0) && ended(1)) -> leased[me] = true }
    /* The node stops its job because the lease has expired; or it continues, with a new lease or without one. */
    :: atomic { !leased[me] && job != NOTHING -> job = NOTHING; tried = false }
    /* RESERVE */
    :: atomic { leased[me] && status[0] == queued && holder[0] == NOBODY -> holder[0] = me }
    :: atomic { leased[me] && status[1] == queued && holder[1] == NOBODY -> holder[1] = me }
    :: atomic { job == NOTHING && status[0] == queued && holder[0] == me -> start(0) }
    :: atomic { job == NOTHING && status[1] == queued && holder[1] == me -> start(1) }
    /* FINISH */
    :: atomic {
        job != NOTHING ->
        if
        :: status[job] == running && FENCE ->
            assert(holder[job] == me && attempt[job] == mine);
            status[job] = completed; holder[job] = NOBODY; results[job]++;
            assert(results[job] == 1);
            if
            :: job = NOTHING
            :: mishaps > 0 -> mishaps--; tried = true
            fi
        :: else -> /* rejected, or stored by the previous attempt */
            assert(!tried || (status[job] == completed && attempt[job] == mine));
            job = NOTHING; tried = false
        fi
      }
    /* RELEASE: releases jobs that the database assigns to the node but the node does not run. */
    :: atomic { leased[me] && status[0] == running && holder[0] == me && job != 0 -> release(0) }
    :: atomic { leased[me] && status[1] == running && holder[1] == me && job != 1 -> release(1) }
    :: atomic { mishaps > 0 && alive > 1 -> mishaps--; alive--; dead[me] = true; break }
    :: ended(0) && ended(1) && job == NOTHING -> break
    od
}

/* Requeues or fails the jobs of a node that is dead or whose lease has expired. Any other node may execute this. */
inline sweep(n) {
    if
    :: dead[n]
    :: !dead[n] -> mishaps--
    fi;
    leased[n] = false;
    j = 0;
    do
    :: j < JOBS ->
        if
        :: holder[j] == n && status[j] == running && fruitless[j] >= LOST_MAX ->
            status[j] = failed; holder[j] = NOBODY; assert(results[j] == 0)
        :: holder[j] == n && !(status[j] == running && fruitless[j] >= LOST_MAX) ->
            status[j] = queued; holder[j] = NOBODY
        :: holder[j] != n
        fi;
        j++
    :: j == JOBS -> break
    od
}

active proctype sweeper() {
    byte j;
    do
    :: atomic { leased[0] && (dead[0] || mishaps > 0) -> sweep(0) }
    :: atomic { leased[1] && (dead[1] || mishaps > 0) -> sweep(1) }
    :: atomic { leased[2] && (dead[2] || mishaps > 0) -> sweep(2) }
    :: ended(0) && ended(1) -> break
    od
}

ltl every_job_ends { <> (ended(0) && ended(1)) }
