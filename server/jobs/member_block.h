/* member_block.h — runs members of one sweep together, with one model for all members. Where possible, the engine
 * integrates eight members at a time in SIMD lanes.
 *
 * The results are held in memory until the whole block is stored, so a member may have at most MEMBER_BYTES_MAX of
 * rows. Members with more rows, and sweeps whose members need their own models, run as single jobs. A member has the
 * same rows in a block and as a single job. */
#pragma once

#include "api/sweep/sweep_run.h"
#include "server/jobs/store.h"
#include "server/model_cache.h"
#include "server/services.h"

enum { BLOCK_MEMBERS_MAX = 512 };

/* The result of one member. */
typedef struct block_member {
    bool ended; /* the fields that follow are valid; otherwise the member was interrupted */
    member_end end;
    sweep_reducer *reducer;
    text_buffer collected;
    size_t row_room, event_room;
} block_member;

typedef struct member_block {
    const daemon_services *services;
    budget *budget;
    const job *jobs; /* [count] claimed members, in the order of their numbers; borrowed */
    size_t count;
    block_member *members; /* [count] */
    sweep_run run;
    model_lease lease;
    char *header; /* header of members with this number of degrees of freedom */
    int degrees_of_freedom;
    size_t bytes, fitting; /* bytes of results held; number of members that may run together */
    bool too_large;        /* the results have exceeded the bound */
} member_block;

/* Prepares a block for members of the sweep described by body[length]. Returns false if the members must run as single
 * jobs. If the model cannot be derived, also returns false, and the single job reports the cause. */
bool member_block_open(member_block *b, const daemon_services *services, budget *spent, const job *jobs, size_t count,
                       const char *body, size_t length);

/* Runs the members until all have ended or the budget ends. If the results of the only member are too large or its
 * budget is used up, returns false, and the member must run as a single job. */
bool member_block_run(member_block *b);
void member_block_close(member_block *b);

/* Returns the part of the time span that a run has completed, 0 to 1. */
double job_progress(const hamel_summary *summary);
