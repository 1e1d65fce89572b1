/* member_block.c — see member_block.h. */
#include "server/jobs/member_block.h"

#include "api/json/text.h"
#include "server/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits on the results that a worker holds in memory, in bytes: the rows of one member, the results of one block, and
 * one text. Fewer bytes would let fewer members share the costs of a claim and of a transaction. More bytes would
 * increase the memory of each worker. At least 15 members of MEMBER_BYTES_MAX fit in half a block, which is the limit
 * for their rows (member_block_open). */
enum { MEMBER_BYTES_MAX = 1024 * 1024, BLOCK_BYTES_MAX = 32 * 1024 * 1024, TEXT_BYTES_MAX = 16 * 1024 * 1024 };

double job_progress(const hamel_summary *summary) {
    double fraction = (summary->t - summary->start) / (summary->stop - summary->start);
    return fraction > 0 ? fmin(fraction, 1) : 0;
}

/* --- one member --------------------------------------------------------------------------------------------------- */

static void drop_results(block_member *m) {
    for (size_t k = 0; k < m->end.output.event_count; k++) free(m->end.output.events[k].json);
    free((char *)(uintptr_t)m->end.header);
    m->end.header = NULL;
    m->end.output.rows.rows = 0;
    m->end.output.event_count = 0;
}

static void clear_member(block_member *m) {
    drop_results(m);
    free(m->end.output.rows.values);
    free((job_event *)(uintptr_t)m->end.output.events);
    free((char *)(uintptr_t)m->end.end.summary);
    free((char *)(uintptr_t)m->end.end.problem);
    text_buffer_free(&m->collected);
    sweep_reduce_close(m->reducer);
    *m = (block_member){0};
}

/* Returns false if the block would hold too many bytes. */
static bool count_bytes(member_block *b, size_t bytes) {
    b->bytes += bytes;
    b->too_large = b->too_large || b->bytes > BLOCK_BYTES_MAX;
    return !b->too_large;
}

/* Writes the header of the next members to b->header, unless that header has the same number of degrees of freedom. */
static bool write_header(member_block *b, const hamel_header *header) {
    if (b->header && b->degrees_of_freedom == header->degrees_of_freedom) return true;
    cJSON *tree = api_header_json(header);
    free(b->header);
    b->header = json_text(tree);
    b->degrees_of_freedom = header->degrees_of_freedom;
    cJSON_Delete(tree);
    return b->header != NULL;
}

static bool on_begin(void *context, size_t member, const hamel_header *header) {
    member_block *b = context;
    block_member *m = &b->members[member];
    size_t unknown;
    drop_results(m);
    if (!m->reducer)
        m->reducer = sweep_reduce_open(&b->run.sweep.sweep, header->columns, header->column_count, &unknown);
    else
        sweep_reduce_reset(m->reducer);
    m->end.output.rows.columns = header->column_count;
    if (!m->reducer || !write_header(b, header)) return false;
    m->end.header = strdup(b->header);
    return m->end.header && count_bytes(b, strlen(b->header));
}

static bool on_row(void *context, size_t member, const double *values, size_t count) {
    member_block *b = context;
    block_member *m = &b->members[member];
    row_chunk *rows = &m->end.output.rows;
    sweep_reduce_row(m->reducer, values);
    if ((size_t)rows->rows == m->row_room) {
        size_t room = m->row_room ? 2 * m->row_room : 16;
        double *more = realloc(rows->values, room * count * sizeof *more);
        if (!more) return false;
        rows->values = more;
        m->row_room = room;
    }
    memcpy(rows->values + (size_t)rows->rows++ * count, values, count * sizeof *values);
    return count_bytes(b, count * sizeof *values);
}

static bool on_event(void *context, size_t member, const hamel_event_record *event) {
    member_block *b = context;
    block_member *m = &b->members[member];
    job_event *events = (job_event *)(uintptr_t)m->end.output.events;
    if (m->end.output.event_count == m->event_room) {
        size_t room = m->event_room ? 2 * m->event_room : 16;
        job_event *more = realloc(events, room * sizeof *more);
        if (!more) return false;
        m->end.output.events = events = more;
        m->event_room = room;
    }
    text_buffer text;
    text_buffer_init(&text, TEXT_BYTES_MAX);
    api_event_text(&text, event);
    char *json = text.failed ? NULL : text_buffer_take(&text, NULL);
    text_buffer_free(&text);
    if (!json) return false;
    events[m->end.output.event_count++] = (job_event){.row = m->end.output.rows.rows, .json = json};
    return count_bytes(b, strlen(json));
}

/* --- the end of a member ------------------------------------------------------------------------------------------ */

typedef struct ending {
    member_block *block;
    block_member *member;
    bool good;
} ending;

static bool keep_end(ending *e, job_status status, double progress, const char *summary, const char *problem) {
    block_member *m = e->member;
    m->end.end = (job_end){.status = status, .progress = progress};
    text_buffer_init(&m->collected, TEXT_BYTES_MAX);
    if (m->reducer && sweep_reduce_text(m->reducer, &m->collected)) m->end.end.collected = m->collected.bytes;
    if (summary) m->end.end.summary = strdup(summary);
    if (problem) m->end.end.problem = strdup(problem);
    e->good = !(summary && !m->end.end.summary) && !(problem && !m->end.end.problem) && !m->collected.failed;
    m->ended = e->good;
    return e->good;
}

static bool on_summary(void *context, const char *json, const hamel_summary *summary) {
    ending *e = context;
    bool whole = metrics_summary(e->block->services->metrics, RUN_KIND_JOB, summary);
    return keep_end(e, whole ? JOB_COMPLETED : JOB_INCOMPLETE, whole ? 1 : job_progress(summary), json, NULL);
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    ending *e = context;
    (void)failure;
    metrics_run(e->block->services->metrics, RUN_KIND_JOB, RUN_FAILED, 0, 0, 0);
    return keep_end(e, JOB_FAILED, 0, summary_json, json);
}

static bool on_end(void *context, size_t member, const hamel_member_end *end) {
    member_block *b = context;
    ending e = {.block = b, .member = &b->members[member]};
    const api_observer observer = {.context = &e, .summary = on_summary, .problem = on_problem};
    bool stopped = end->status == HAMEL_OK && end->summary->outcome == HAMEL_INCOMPLETE && budget_spent(b->budget);
    if (stopped && b->count > 1) return false; /* the budget is for one run, so the member runs again alone */
    hamel_summary summary = *end->summary;
    summary.derive_seconds = 0; /* the model is shared */
    hamel_status status = api_report_end(&observer, end->status, &summary, end->error, "job");
    (void)status; /* the observer has already received the status */
    return e.good && count_bytes(b, strlen(e.member->end.end.summary ? e.member->end.end.summary : ""));
}

/* --- the block ---------------------------------------------------------------------------------------------------- */

/* Acquires the model that the members share. */
static bool share_model(member_block *b, api_sweep *from, api_failure *failure) {
    size_t length = 0;
    char *text = api_sweep_member(from, "[]", &length, failure);
    bool good = text && hamel_ask(&b->budget->poll) == HAMEL_OK &&
                model_cache_take(b->services->models, text, length, b->budget, "job", &b->lease, failure);
    free(text);
    return good && sweep_run_share(&b->run, from, b->lease.model, failure);
}

bool member_block_open(member_block *b, const daemon_services *services, budget *spent, const job *jobs, size_t count,
                       const char *body, size_t length) {
    api_sweep from = {0};
    api_failure failure = {0};
    *b = (member_block){.services = services, .budget = spent, .jobs = jobs, .count = count};
    b->members = calloc(count, sizeof *b->members);
    bool good = b->members &&
                api_sweep_open(&from, body, length, NULL, 0, &services->limits, SIZE_MAX, "request", &failure) &&
                share_model(b, &from, &failure) && b->run.variation;
    if (from.tree) api_sweep_close(&from);
    api_failure_clear(&failure);
    if (good) {
        size_t row = hamel_model_header(b->run.model)->column_count * sizeof(double);
        double bytes = (double)row * (double)hamel_model_row_count(b->run.model);
        b->fitting =
            bytes > MEMBER_BYTES_MAX ? 0 : (size_t)fmin(BLOCK_MEMBERS_MAX, 0.5 * BLOCK_BYTES_MAX / (bytes + 1));
    }
    if (good && b->fitting > 0) return true;
    member_block_close(b);
    return false;
}

bool member_block_run(member_block *b) {
    size_t targets = b->run.sweep.sweep.axis_count;
    double *values = calloc(b->count * targets + 1, sizeof *values);
    for (size_t k = 0; values && k < b->count; k++) {
        b->members[k].end.number = b->jobs[k].number;
        b->members[k].end.attempt = b->jobs[k].attempt;
        sweep_run_values(&b->run, (size_t)b->jobs[k].member, values + k * targets);
    }
    const hamel_members_options options = {.poll = &b->budget->poll, .assess = true};
    const hamel_members_sink sink = {b, on_begin, on_row, on_event, on_end};
    hamel_error error = {0};
    if (values) {
        hamel_status status = hamel_run_members(b->run.variation, &options, b->count, values, &sink, &error);
        (void)status; /* a member that has not ended is run again */
    }
    hamel_error_clear(&error);
    free(values);
    return b->count > 1 || b->members[0].ended || !(b->too_large || budget_spent(b->budget));
}

void member_block_close(member_block *b) {
    for (size_t k = 0; b->members && k < b->count; k++) clear_member(&b->members[k]);
    free(b->members);
    free(b->header);
    sweep_run_close(&b->run);
    model_cache_release(b->services->models, &b->lease);
    *b = (member_block){0};
}
