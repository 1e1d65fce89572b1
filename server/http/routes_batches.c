/* routes_batches.c — batches: many jobs submitted together, from a description with a sweep or from a list.
 *
 * All errors are reported before anything is stored. The daemon derives a model of each description in a list.
 * Members of a sweep differ in numbers only. Therefore the daemon derives only the model of the description without
 * overrides, and checks the names in all members. The columns of this description define the columns of the table.
 * The table of results is in routes_batch_results.c. */
#include "api/json/text.h"
#include "api/sweep/sweep_member.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"
#include "server/http/submission.h"
#include "server/jobs/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_MAX = 4 * 1024 * 1024, ASSIGNMENTS_MAX = 64 * 1024 * 1024, SLICE = 200 };

/* ---- submit ----------------------------------------------------------------------------------------------------- */

/* Batch before its submission: a list or a sweep. */
typedef struct draft {
    request *r;
    char *name;
    text_buffer plan;
    batch_member *members; /* members of a list */
    size_t count;
    api_sweep sweep;         /* tree is NULL for a list */
    text_buffer assignments; /* overrides of the members of a sweep that the store requested last */
    api_failure failure;
} draft;

static void clear(draft *d) {
    for (size_t k = 0; d->members && k < d->count; k++) {
        free((char *)(uintptr_t)d->members[k].name);
        free((char *)(uintptr_t)d->members[k].body);
    }
    free(d->members);
    if (d->sweep.tree) api_sweep_close(&d->sweep);
    text_buffer_free(&d->assignments);
    free(d->name);
    text_buffer_free(&d->plan);
}

static char *name_of(const hamel_model *model) {
    const char *given = hamel_model_header(model)->name;
    return strdup(given ? given : "");
}

static bool draft_fail(draft *d, int http, const char *pointer, const char *detail) {
    hamel_error error = {0};
    hamel_status status = hamel_fail(&error, HAMEL_INVALID, pointer, 0, "%s", detail);
    (void)status;
    d->failure.http = http;
    d->failure.problem = api_problem(&error, NULL);
    hamel_error_clear(&error);
    return false;
}

/* Adds a member from a list of descriptions; `list` is the JSON Pointer to this list. */
static bool add_listed(draft *d, const char *list, const cJSON *item) {
    char prefix[48], *text = json_text(item);
    size_t length = text ? strlen(text) : 0;
    snprintf(prefix, sizeof prefix, "%s/%zu", list, d->count);
    model_lease lease = {0};
    bool derived = text && request_model(d->r, text, length, &lease, &d->failure);
    char *name = derived ? name_of(lease.model) : NULL;
    model_cache_release(d->r->services->models, &lease);
    if (name) {
        d->members[d->count++] = (batch_member){.name = name, .body = text, .length = length};
        return true;
    }
    free(text);
    api_problem_rebase(d->failure.problem, "", prefix);
    return false;
}

static bool check_list_keys(draft *d, const cJSON *tree) {
    for (const cJSON *item = cJSON_IsObject(tree) ? tree->child : NULL; item; item = item->next) {
        bool known = strcmp(item->string, "systems") == 0 || strcmp(item->string, "name") == 0;
        if (!known)
            return draft_fail(d, 422, "", "only the keys `systems` and `name` are allowed next to a list of systems");
    }
    return true;
}

/* Reads a list of the form [...] or {"name": ..., "systems": [...]}. */
static bool draft_list(draft *d, const cJSON *tree, const cJSON *systems) {
    const char *list = systems == tree ? "" : "/systems";
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(tree, "name");
    size_t most = (size_t)d->r->services->config->max_members, count = 0;
    if (!check_list_keys(d, tree)) return false;
    if (name && !cJSON_IsString(name)) return draft_fail(d, 422, "/name", "expected a string");
    for (const cJSON *item = systems->child; item; item = item->next) count++;
    if (!cJSON_IsArray(systems)) return draft_fail(d, 422, list, "expected a list of descriptions");
    if (count == 0) return draft_fail(d, 422, list, "the list of descriptions is empty");
    if (count > most) {
        char detail[96];
        snprintf(detail, sizeof detail, "the list has %zu members; the limit is %zu", count, most);
        return draft_fail(d, 422, list, detail);
    }
    d->members = calloc(count, sizeof *d->members);
    d->name = strdup(name ? name->valuestring : "");
    if (!d->members || !d->name) return false;
    for (const cJSON *item = systems->child; item; item = item->next)
        if (!add_listed(d, list, item)) return false;
    text_buffer_puts(&d->plan, "{\"inputs\":[],\"collected\":[]}");
    return !d->plan.failed;
}

static void add_text_list(text_buffer *out, size_t count, const char *(*text)(const void *context, size_t k),
                          const void *context) {
    text_buffer_puts(out, "[");
    for (size_t k = 0; k < count; k++) {
        if (k > 0) text_buffer_puts(out, ",");
        json_text_string(out, text(context, k));
    }
    text_buffer_puts(out, "]");
}

static const char *target_of(const void *context, size_t k) {
    const sweep *s = context;
    return s->axes[k].target;
}

static const char *collected_of(const void *context, size_t k) {
    return sweep_reduce_name(context, k);
}

/* Writes the columns of the table: the targets of the sweep, and the names of the reduced values. */
static bool write_plan(draft *d, const sweep *s, const hamel_model *model) {
    const hamel_header *header = hamel_model_header(model);
    char pointer[64];
    size_t unknown;
    sweep_reducer *c = sweep_reduce_open(s, header->columns, header->column_count, &unknown);
    if (!c) {
        snprintf(pointer, sizeof pointer, "/sweep/collect/%zu/name", unknown);
        return unknown < s->collect_count ? draft_fail(d, 422, pointer, "the result has no column with this name")
                                          : false;
    }
    text_buffer_puts(&d->plan, "{\"inputs\":");
    add_text_list(&d->plan, s->axis_count, target_of, s);
    text_buffer_puts(&d->plan, ",\"collected\":");
    add_text_list(&d->plan, sweep_reduce_count(c), collected_of, c);
    text_buffer_puts(&d->plan, "}");
    sweep_reduce_close(c);
    return !d->plan.failed;
}

/* Makes members for the store; see batch_submission. */
static bool fill_members(void *context, size_t first, size_t number, batch_member *out) {
    draft *d = context;
    text_buffer *texts = &d->assignments;
    size_t at = 0;
    text_buffer_reset(texts);
    for (size_t k = 0; k < number; k++) {
        if (!sweep_assignments(&d->sweep.sweep, first + k, texts)) return false;
        text_buffer_add(texts, "", 1);
    }
    if (texts->failed) return false;
    for (size_t k = 0; k < number; k++, at += strlen(texts->bytes + at) + 1)
        out[k] = (batch_member){.name = d->name, .assignments = texts->bytes + at};
    return true;
}

/* The sweep adds outputs to the description. In errors, replaces JSON Pointers to these outputs by pointers into the
 * request. */
static void point_to_collect(api_failure *failure, const sweep *s) {
    cJSON *errors = cJSON_GetObjectItemCaseSensitive(failure->problem, "errors");
    for (cJSON *item = errors ? errors->child : NULL; item; item = item->next) {
        const cJSON *old = cJSON_GetObjectItemCaseSensitive(item, "pointer");
        char place[64];
        if (!cJSON_IsString(old) || !sweep_collect_place(s, old->valuestring, place, sizeof place)) continue;
        cJSON *moved = cJSON_CreateString(place);
        if (!moved || !cJSON_ReplaceItemInObjectCaseSensitive(item, "pointer", moved)) cJSON_Delete(moved);
    }
}

static bool draft_members(draft *d, const api_sweep *s) {
    size_t length = 0;
    char *text = api_sweep_member(s, "[]", &length, &d->failure);
    model_lease lease = {0};
    bool derived = text && request_model(d->r, text, length, &lease, &d->failure);
    free(text);
    if (!derived) {
        point_to_collect(&d->failure, &s->sweep);
        return false;
    }
    d->name = name_of(lease.model);
    d->count = s->sweep.count;
    bool good = d->name && write_plan(d, &s->sweep, lease.model);
    model_cache_release(d->r->services->models, &lease);
    return good;
}

static bool draft_sweep(draft *d, const char *body, size_t length) {
    size_t most = (size_t)d->r->services->config->max_members;
    const api_limits *limits = &d->r->services->limits;
    return api_sweep_open(&d->sweep, body, length, NULL, 0, limits, most, "request", &d->failure) &&
           api_sweep_check(&d->sweep, limits, &d->failure) && draft_members(d, &d->sweep);
}

static bool make_draft(draft *d, const char *body, size_t length) {
    json_fault fault;
    cJSON *tree = json_parse(body, length, &d->r->services->limits.json, &fault);
    if (!tree && fault.no_memory) return false;
    const cJSON *systems = cJSON_IsArray(tree) ? tree : cJSON_GetObjectItemCaseSensitive(tree, "systems");
    bool good = systems ? draft_list(d, tree, systems)
                        : draft_sweep(d, body, length); /* draft_sweep also reports invalid JSON */
    cJSON_Delete(tree);
    return good;
}

handled batches_create(request *r) {
    draft d = {.r = r};
    submission made = {.is_batch = true};
    batch_submission sent = {0};
    if (!submission_read(r, &sent.whole)) return REPLY_READY;
    text_buffer_init(&d.plan, PLAN_MAX);
    text_buffer_init(&d.assignments, ASSIGNMENTS_MAX);
    budget_take_slot(stream_budget(r->stream));
    bool good = make_draft(&d, sent.whole.body, sent.whole.length);
    budget_release_slot(stream_budget(r->stream));
    handled replied;
    if (good) {
        sent.whole.name = d.name;
        sent.plan = d.plan.bytes;
        sent.members = d.members;
        sent.fill = d.sweep.tree ? fill_members : NULL;
        sent.context = &d;
        sent.count = d.count;
        store_status status = STORE_CALL(r->services->store, submit_batch, &sent, &made.batch);
        replied = reply_submission(r, status, &made);
    } else {
        replied = d.failure.http ? reply_refusal(r, &d.failure) : reply_no_memory(r);
    }
    submission_clear(&made);
    clear(&d);
    return replied;
}

/* ---- read ------------------------------------------------------------------------------------------------------- */

static cJSON *batch_at(const void *context, size_t k) {
    const job_batch *all = context;
    return batch_json(&all[k]);
}

handled batches_list(request *r) {
    size_t count = 0;
    bool more;
    job_query query = {.owner = request_owner_filter(r)};
    if (!page_read(r, &query)) return REPLY_READY;
    job_batch *all = calloc(query.limit, sizeof *all);
    if (!all) return reply_no_memory(r);
    bool listed = STORE_CALL(r->services->store, list_batches, &query, all, &count, &more) == STORE_OK;
    handled replied = listed ? reply_json(r, 200, page_json(count, batch_at, all, more ? all[count - 1].number : 0))
                             : reply_store(r, STORE_FAILED, "batch");
    for (size_t k = 0; k < count; k++) batch_clear(&all[k]);
    free(all);
    return replied;
}

bool request_batch(request *r, job_batch *out) {
    store_status status = STORE_CALL(r->services->store, find_batch, r->parameter, request_owner_filter(r), out);
    if (status != STORE_OK) reply_store(r, status, "batch");
    return status == STORE_OK;
}

handled batches_get(request *r) {
    job_batch b;
    if (!request_batch(r, &b)) return REPLY_READY;
    handled replied = reply_json(r, 200, batch_json(&b));
    batch_clear(&b);
    return replied;
}

/* ---- cancel and delete ------------------------------------------------------------------------------------------ */

/* Cancels the members that run in this daemon. Reads the list of members page by page. */
static void stop_running(request *r) {
    job_query query = {.by_status = true,
                       .status = JOB_RUNNING,
                       .batch = r->parameter,
                       .owner = request_owner_filter(r),
                       .limit = SLICE};
    job *running = calloc(SLICE, sizeof *running);
    bool more = running != NULL;
    while (more) {
        size_t count = 0;
        if (STORE_CALL(r->services->store, list, &query, running, &count, &more) != STORE_OK) more = false;
        for (size_t k = 0; k < count; k++) {
            workers_cancel(r->services->workers, running[k].number);
            query.before = running[k].number;
            job_clear(&running[k]);
        }
    }
    free(running);
}

handled batches_cancel(request *r) {
    job_batch b = {0};
    int64_t from = 0;
    store_status status;
    do {
        batch_clear(&b);
        status = STORE_CALL(r->services->store, cancel_batch, r->parameter, request_owner_filter(r), SLICE, &from, &b);
    } while (status == STORE_EXISTS);
    if (status != STORE_OK) {
        batch_clear(&b);
        return reply_store(r, status, "batch");
    }
    stop_running(r);
    handled replied = reply_json(r, 202, batch_json(&b));
    batch_clear(&b);
    return replied;
}

handled batches_delete(request *r) {
    store_status status;
    stop_running(r);
    do {
        status = STORE_CALL(r->services->store, delete_batch, r->parameter, request_owner_filter(r), SLICE);
    } while (status == STORE_EXISTS);
    return status == STORE_OK ? reply_static(r, 204, NULL, NULL, 0) : reply_store(r, status, "batch");
}
