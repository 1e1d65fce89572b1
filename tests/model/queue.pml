/* queue.pml — how nodes share the queue (server/jobs/store_postgres*.c), for Spin: reserve, start, finish, lease, sweep.
 *
 * Each atomic block is a transaction of the database. Between any two a node may die, or be taken for dead because it
 * was stopped or cut off; and the answer to a commit may be lost, so that the node does not know whether it happened.
 * There are MISHAPS of these in all: without a bound no job need ever end. tests/tools/check_queue_model.sh has every
 * state visited.
 *
 * Holds always: a result is stored once, never by a node that is not the last that was given the job, and never after
 * the job was given up. Holds in the end: every job has ended. */
#define NODES 3
#define JOBS 2
#define NOBODY NODES
#define NOTHING JOBS
#define LOST_MAX 3 /* JOB_LOST_MAX */
#ifndef FENCE /* what refuses a late write; the check takes it away to see that it would be noticed */
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

/* START; the node does not hear of it when the answer is lost. */
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
    byte job = NOTHING, mine; /* what it runs, and as which attempt */
    bool tried;               /* a FINISH whose answer was lost */
    do
    /* ENTER */
    :: atomic { !leased[me] && !(ended(0) && ended(1)) -> leased[me] = true }
    /* It hears that its lease is over, and hands back in vain; or it goes on, under a new lease or none. */
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
        :: else -> /* refused; or it was stored by the try before */
            assert(!tried || (status[job] == completed && attempt[job] == mine));
            job = NOTHING; tried = false
        fi
      }
    /* RELEASE: what it holds in the database and does not run. */
    :: atomic { leased[me] && status[0] == running && holder[0] == me && job != 0 -> release(0) }
    :: atomic { leased[me] && status[1] == running && holder[1] == me && job != 1 -> release(1) }
    :: atomic { mishaps > 0 && alive > 1 -> mishaps--; alive--; dead[me] = true; break }
    :: ended(0) && ended(1) && job == NOTHING -> break
    od
}

/* Of a node that is dead, or is taken to be. Which other node does it does not matter. */
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
