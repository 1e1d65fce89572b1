/* sweep.c — hamel sweep: all members of a description's sweep on all cores, one row of a table for each.
 *
 * Threads take blocks of members one after the other. What a member gives does not depend on its block, so neither their
 * size nor the number of threads and shares shows in the table. Blocks go to standard output in the order of members, or
 * become parts in a directory (parts.h), from which an interrupted sweep goes on. On a server: remote_sweep.c. */
#include "clients/cli/input.h"
#include "clients/cli/member_problems.h"
#include "clients/cli/options.h"
#include "clients/cli/parts.h"
#include "clients/cli/remote_sweep.h"
#include "clients/cli/simulation.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1024,
    SHARES_MAX = 1000000,
    BLOCK_LEAST = 8,
    BLOCK_MOST = 512,
    PART_MOST = 4096,
    PARTS_OF_SHARE = 64,
    BLOCK_BYTES_MAX = 512 * 1024 * 1024
};

typedef struct sweep_plan {
    const char *directory; /* of parts, or NULL */
    const char *output;    /* or NULL: standard output, or parts only */
    bool resume;
    size_t jobs, share, shares; /* share of 1..shares */
    table_form form;
} sweep_plan;

typedef struct sweep_run {
    const sweep_plan *plan;
    const api_ensemble *ensemble;
    part_span span; /* of the whole sweep */
    text_buffer begin;
    size_t first, last, block; /* members first..last - 1 in blocks */
    size_t block_count;
    /* the rest under the lock */
    pthread_mutex_t lock;
    size_t next;        /* block to be taken */
    text_buffer *ready; /* block_count: rows that wait for those before them; NULL with parts */
    bool *done;
    size_t written; /* blocks on standard output */
    api_member_counts counts;
    member_problems problems;
    int status; /* of what makes an end to everything */
} sweep_run;

/* ---- arguments ----------------------------------------------------------------------------------------------------- */

/* A whole number from 1 to `most` up to `end` (any of its characters); 0 when it is none. */
static size_t whole(const char *text, char end, size_t most, const char **rest) {
    size_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= most; at++) value = 10 * value + (size_t)(*at - '0');
    *rest = at + (*at != '\0');
    return at > text && *at == end && value <= most ? value : 0;
}

static int read_share(sweep_plan *p, const char *text) {
    const char *rest;
    p->share = whole(text, '/', SHARES_MAX, &rest);
    p->shares = p->share > 0 ? whole(rest, '\0', SHARES_MAX, &rest) : 0;
    if (p->shares > 0 && p->share <= p->shares) return CLI_OK;
    cli_say("--shard takes K/N, the K-th of N shares, as in 1/8; not `%s`", text);
    return CLI_USAGE;
}

static size_t processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (size_t)count;
}

static int read_plan(sweep_plan *p, const cli_arguments *a) {
    const char *jobs = cli_option_value(a, "jobs"), *share = cli_option_value(a, "shard"), *rest;
    const char *format = cli_option_value(a, "format");
    *p = (sweep_plan){.directory = cli_option_value(a, "out"),
                      .output = cli_option_value(a, "output"),
                      .resume = cli_option_value(a, "resume") != NULL,
                      .jobs = jobs ? whole(jobs, '\0', JOBS_MAX, &rest) : processors(),
                      .share = 1,
                      .shares = 1,
                      .form = format && strcmp(format, "ndjson") == 0 ? TABLE_NDJSON : TABLE_CSV};
    if (p->output && strcmp(p->output, "-") == 0) p->output = NULL;
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "ndjson") != 0) {
        cli_say("unknown format `%s`: a table is csv or ndjson", format);
        return CLI_USAGE;
    }
    if (p->jobs == 0) {
        cli_say("--jobs takes a whole number from 1 to %d, not `%s`", JOBS_MAX, jobs);
        return CLI_USAGE;
    }
    if (p->directory && p->output) {
        cli_say("--out makes parts, which hamel merge joins, and --output one table: give one of them");
        return CLI_USAGE;
    }
    if ((share || p->resume) && !p->directory && !(p->resume && !share && p->output)) {
        cli_say(share ? "--shard needs --out DIR: the parts of all shares go there"
                      : "--resume needs --out DIR or --output FILE: what has been done is kept there");
        return CLI_USAGE;
    }
    return share ? read_share(p, share) : CLI_OK;
}

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

static void tell(void *context, size_t member, const char *inputs, const char *problem) {
    sweep_run *r = context;
    pthread_mutex_lock(&r->lock);
    member_problems_say(&r->problems, member, inputs, problem);
    pthread_mutex_unlock(&r->lock);
}

static int say_no_memory(void) {
    cli_say("memory could not be allocated");
    return CLI_IO;
}

static part_span span_of(const sweep_run *r, size_t block) {
    part_span s = r->span;
    s.first = r->first + block * r->block;
    s.count = r->last - s.first < r->block ? r->last - s.first : r->block;
    return s;
}

/* Rows that nothing is before. Under the lock. */
static int write_ready(sweep_run *r) {
    while (r->written < r->block_count && r->done[r->written]) {
        text_buffer *rows = &r->ready[r->written++];
        bool good = rows->length == 0 || fwrite(rows->bytes, 1, rows->length, stdout) == rows->length;
        text_buffer_free(rows);
        if (good) continue;
        cli_say("standard output: %s", strerror(errno));
        return CLI_IO;
    }
    return CLI_OK;
}

static void add_counts(api_member_counts *to, const api_member_counts *from) {
    for (size_t k = 0; k <= HAMEL_FAILED; k++) to->outcomes[k] += from->outcomes[k];
}

/* Runs one block and puts its rows where they belong. */
static int run_block(sweep_run *r, size_t block) {
    const sweep_plan *p = r->plan;
    part_span span = span_of(r, block);
    api_member_counts counts = {{0}};
    text_buffer rows;
    int status = CLI_OK;
    text_buffer_init(&rows, BLOCK_BYTES_MAX);
    if (!p->resume || !part_is_there(p->directory, &span, &counts)) {
        counts = (api_member_counts){{0}};
        if (api_ensemble_run(r->ensemble, span.first, span.count, p->form, &rows, &counts, tell, r) != HAMEL_OK)
            status = say_no_memory();
        else if (p->directory)
            status = part_write(p->directory, &span, r->begin.bytes, &rows, &counts);
    }
    pthread_mutex_lock(&r->lock);
    add_counts(&r->counts, &counts);
    if (!p->directory) {
        r->ready[block] = rows;
        r->done[block] = true;
        if (status == CLI_OK && r->status == CLI_OK) status = write_ready(r);
    }
    pthread_mutex_unlock(&r->lock);
    if (p->directory) text_buffer_free(&rows);
    return status;
}

static void *work(void *context) {
    sweep_run *r = context;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        bool more = r->status == CLI_OK && r->next < r->block_count;
        size_t block = more ? r->next++ : 0;
        pthread_mutex_unlock(&r->lock);
        if (!more) return NULL;
        int status = run_block(r, block);
        pthread_mutex_lock(&r->lock);
        if (status != CLI_OK) r->status = status;
        pthread_mutex_unlock(&r->lock);
    }
}

static int run_threads(sweep_run *r) {
    pthread_t threads[JOBS_MAX];
    size_t count = 0, most = r->plan->jobs < r->block_count ? r->plan->jobs : r->block_count;
    while (count + 1 < most && pthread_create(&threads[count], NULL, work, r) == 0) count++;
    (void)work(r); /* this thread is one of them */
    for (size_t k = 0; k < count; k++) pthread_join(threads[k], NULL);
    return r->status;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

static size_t block_size(const sweep_plan *p, size_t members) {
    size_t pieces = p->directory ? PARTS_OF_SHARE : 4 * p->jobs, most = p->directory ? PART_MOST : BLOCK_MOST;
    size_t size = (members + pieces - 1) / pieces;
    return size < BLOCK_LEAST ? BLOCK_LEAST : size > most ? most : size;
}

static bool open_run(sweep_run *r, const sweep_plan *p, const api_ensemble *e, const char *file) {
    size_t members = e->sweep.sweep.count;
    *r = (sweep_run){.plan = p,
                     .ensemble = e,
                     .problems = {.file = file},
                     .span = {.members = members, .form = p->form},
                     .first = (p->share - 1) * members / p->shares,
                     .last = p->share * members / p->shares,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    memcpy(r->span.hash, e->hash, sizeof r->span.hash);
    r->block = block_size(p, r->last - r->first);
    r->block_count = (r->last - r->first + r->block - 1) / r->block;
    text_buffer_init(&r->begin, BLOCK_BYTES_MAX);
    api_ensemble_begin(e, p->form, &r->begin);
    r->ready = calloc(r->block_count + 1, sizeof *r->ready);
    r->done = calloc(r->block_count + 1, sizeof *r->done);
    return r->ready && r->done && !r->begin.failed;
}

static void close_run(sweep_run *r) {
    for (size_t k = r->written; r->ready && k < r->block_count; k++) text_buffer_free(&r->ready[k]);
    text_buffer_free(&r->begin);
    free(r->ready);
    free(r->done);
}

static int judge(const sweep_run *r) {
    return r->counts.outcomes[HAMEL_FAILED] + r->counts.outcomes[HAMEL_INCOMPLETE] > 0 ? CLI_RUN_FAILED : CLI_OK;
}

static int run_to_standard_output(sweep_run *r) {
    text_buffer end;
    if (fputs(r->begin.bytes, stdout) < 0) return cli_flush_stdout();
    int status = run_threads(r);
    text_buffer_init(&end, BLOCK_BYTES_MAX);
    api_ensemble_end(&r->counts, r->plan->form, &end);
    if (status == CLI_OK && end.length > 0) (void)fputs(end.bytes, stdout); /* flushing tells */
    text_buffer_free(&end);
    if (status == CLI_OK) status = cli_flush_stdout();
    return status == CLI_OK ? judge(r) : status;
}

static int make_directory(const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return CLI_OK;
    cli_say("%s: %s", path, strerror(errno));
    return CLI_IO;
}

static int run_to_parts(sweep_run *r) {
    int status = make_directory(r->plan->directory);
    if (status == CLI_OK) status = run_threads(r);
    return status == CLI_OK ? judge(r) : status;
}

/* The parts lie beside the file until it is whole, so that --resume finds them. */
static int join_into(const sweep_run *r, const char *output) {
    char draft[PATH_MAX];
    snprintf(draft, sizeof draft, "%s/table", r->plan->directory);
    FILE *out = fopen(draft, "wb");
    int status = out ? parts_join(r->plan->directory, &r->span, out, draft) : CLI_IO;
    bool good = status == CLI_OK || status == CLI_RUN_FAILED;
    if (out && fclose(out) != 0 && good) good = false;
    if (good && rename(draft, output) == 0) {
        parts_remove(r->plan->directory, &r->span);
        return status;
    }
    cli_say("%s: %s", output, strerror(errno));
    return CLI_IO;
}

static int run_plan(sweep_plan *p, const api_ensemble *e, const char *file) {
    sweep_run r;
    char beside[PATH_MAX];
    if (p->output) {
        snprintf(beside, sizeof beside, "%s.parts", p->output);
        p->directory = beside;
    }
    int status = open_run(&r, p, e, file) ? CLI_OK : say_no_memory();
    if (status == CLI_OK) status = p->directory ? run_to_parts(&r) : run_to_standard_output(&r);
    if (p->output && (status == CLI_OK || status == CLI_RUN_FAILED)) status = join_into(&r, p->output);
    close_run(&r);
    return status;
}

static int sweep_here(sweep_plan *plan, const cli_input *input, const cli_arguments *arguments) {
    api_ensemble ensemble;
    api_failure failure = {0};
    int status;
    if (api_ensemble_open(&ensemble, input->bytes, input->length, (const char *const *)arguments->assignments,
                          arguments->assignment_count, input->file, &failure)) {
        for (size_t i = 0; i < hamel_model_warning_count(ensemble.model); i++)
            cli_say("%s: warning: %s", input->file, hamel_model_warning(ensemble.model, i));
        status = run_plan(plan, &ensemble, input->file);
        api_ensemble_close(&ensemble);
    } else {
        status = cli_say_failure(&failure);
    }
    api_failure_clear(&failure);
    return status;
}

static int refuse_what_is_local(const cli_arguments *arguments) {
    static const char *const local[] = {"jobs", "resume", "shard", "out"};
    for (size_t k = 0; k < sizeof local / sizeof local[0]; k++) {
        if (cli_option_value(arguments, local[k]) == NULL) continue;
        cli_say("--%s is for sweeps in this process; a server shares and keeps the members itself", local[k]);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int sweep_file(const cli_arguments *arguments) {
    sweep_plan plan;
    cli_input input;
    cli_place place = cli_place_of(arguments);
    int status = place.server != NULL ? refuse_what_is_local(arguments) : CLI_OK;
    if (status == CLI_OK) status = read_plan(&plan, arguments);
    if (status != CLI_OK) return status;
    status = cli_input_read(&input, arguments->operands[0]);
    if (status == CLI_OK)
        status = place.server != NULL ? cli_sweep_remote(&place, &input, arguments, plan.form, plan.output)
                                      : sweep_here(&plan, &input, arguments);
    cli_input_free(&input);
    return status;
}

static const cli_option options[] = {
    {"format", "NAME", NULL, "csv (default) or ndjson"},
    {"output", "FILE", NULL, "the table goes there, when it is whole; parts lie in FILE.parts until then"},
    {"jobs", "N", NULL, "threads; default: as many as there are processors"},
    {"resume", NULL, NULL, "go on with what --output or --out has kept"},
    {"shard", "K/N", NULL, "only the K-th of N shares; needs --out"},
    {"out", "DIR", NULL, "write parts there, which hamel merge joins"},
    CLI_SETTING_OPTIONS,
    CLI_SERVER_OPTION,
    {0},
};

const cli_command cli_sweep = {
    .name = "sweep",
    .synopsis = "FILE [OPTIONS]",
    .summary = "run the sweep of a description; one row a member",
    .about =
        "Columns: member (from 0), what the sweep is over, status (completed, terminated, incomplete, failed), what\n"
        "it collects, and problem: why a member is incomplete or failed, which then has no numbers. The others go on.\n"
        "The table does not depend on --jobs and --shard. On a server the sweep is a batch of jobs, which stays there; "
        "the\n"
        "table is the same but for the last digits of members that share one model here.\n\n"
        "Exit codes: 4 when a member failed or is incomplete; 3 when the description is invalid.\n\n"
        "Examples:\n"
        "  hamel sweep study.json > table.csv\n"
        "  hamel sweep study.json --output table.csv --resume\n"
        "  hamel sweep study.json --shard 3/100 --out parts --resume\n"
        "  hamel sweep study.json --server http://127.0.0.1:8080 > table.csv\n",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = sweep_file,
};
