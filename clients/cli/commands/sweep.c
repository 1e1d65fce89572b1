/* sweep.c — hamel sweep: runs all members of a sweep on all cores, and writes one table row for each member.
 *
 * Each thread repeatedly takes the next block of members and runs this block. The row of a member does not depend on
 * its block, so the table does not depend on the number of threads and shards. The rows of the blocks are written to
 * standard output in the order of members, or to parts in a directory (sweep_parts.h). An interrupted sweep can be
 * resumed from the parts. remote_sweep.c runs sweeps on a server. */
#include "clients/cli/commands/simulation.h"
#include "clients/cli/commands/sweep_parts.h"
#include "clients/cli/options.h"
#include "clients/cli/remote/remote_sweep.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1024,
    SHARDS_MAX = 1000000,
    BLOCK_LEAST = 8,
    BLOCK_MOST = 512,
    PART_MOST = 4096,
    PARTS_PER_SHARD = 64,
    BLOCK_BYTES_MAX = 512 * 1024 * 1024
};

typedef struct sweep_plan {
    const char *directory; /* directory for parts; NULL if no parts are written */
    const char *output;    /* file for the table; NULL for standard output, or if only parts are written */
    bool resume;
    size_t jobs, shard, shards; /* jobs: number of threads; shard: 1..shards */
    table_form form;
} sweep_plan;

typedef struct local_sweep {
    const sweep_plan *plan;
    const sweep_run *run;
    sweep_part_span span; /* hash, number of members and table format of the whole sweep */
    text_buffer begin;
    size_t first, last, block; /* this shard runs the members first..last - 1, in blocks of `block` members */
    size_t block_count;
    /* `lock` protects the fields after it */
    pthread_mutex_t lock;
    size_t next;        /* index of the next block to run */
    text_buffer *ready; /* [block_count] rows waiting for earlier blocks to be written; NULL if parts are written */
    bool *done;
    size_t written; /* number of blocks written to standard output */
    sweep_counts counts;
    member_problems problems;
    int status; /* exit code of the first error that ends the sweep, or CLI_OK */
} local_sweep;

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* Reads a whole number from 1 to `most`, followed by the character `end`. Sets *rest to the text after `end`. For any
 * other text, returns 0. */
static size_t whole(const char *text, char end, size_t most, const char **rest) {
    size_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= most; at++) value = 10 * value + (size_t)(*at - '0');
    *rest = at + (*at != '\0');
    return at > text && *at == end && value <= most ? value : 0;
}

static int read_shard(sweep_plan *p, const char *text) {
    const char *rest;
    p->shard = whole(text, '/', SHARDS_MAX, &rest);
    p->shards = p->shard > 0 ? whole(rest, '\0', SHARDS_MAX, &rest) : 0;
    if (p->shards > 0 && p->shard <= p->shards) return CLI_OK;
    cli_say("--shard must be K/N, the K-th of N shards, as in 1/8, not `%s`", text);
    return CLI_USAGE;
}

static size_t processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (size_t)count;
}

static int read_plan(sweep_plan *p, const cli_arguments *a) {
    static const char *const formats[] = {"csv", "ndjson"};
    static const table_form forms[] = {TABLE_CSV, TABLE_NDJSON};
    const char *shard = cli_option_value(a, "shard");
    size_t format;
    int status = cli_option_choice(a, "format", formats, 2, &format);
    if (status != CLI_OK) return status;
    *p = (sweep_plan){.directory = cli_option_value(a, "out"),
                      .output = cli_option_value(a, "output"),
                      .resume = cli_option_value(a, "resume") != NULL,
                      .jobs = processors(),
                      .shard = 1,
                      .shards = 1,
                      .form = forms[format]};
    if (p->output && strcmp(p->output, "-") == 0) p->output = NULL;
    status = cli_option_whole(a, "jobs", 1, JOBS_MAX, &p->jobs);
    if (status != CLI_OK) return status;
    if (p->directory && p->output) {
        cli_say("--out and --output cannot be combined: --out writes parts for hamel merge, --output one table");
        return CLI_USAGE;
    }
    if ((shard || p->resume) && !p->directory && !(p->resume && !shard && p->output)) {
        cli_say(shard ? "--shard needs --out DIR for the parts of all shards"
                      : "--resume needs --out DIR or --output FILE, which keep the parts");
        return CLI_USAGE;
    }
    return shard ? read_shard(p, shard) : CLI_OK;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static void report_member(void *context, size_t member, const cJSON *assignments, const char *problem) {
    local_sweep *r = context;
    pthread_mutex_lock(&r->lock);
    member_problems_say(&r->problems, member, assignments, problem);
    pthread_mutex_unlock(&r->lock);
}

static sweep_part_span span_of(const local_sweep *r, size_t block) {
    sweep_part_span s = r->span;
    s.first = r->first + block * r->block;
    s.count = r->last - s.first < r->block ? r->last - s.first : r->block;
    return s;
}

/* Writes the rows of all completed blocks whose predecessors have been written. The caller holds the lock. */
static int write_ready(local_sweep *r) {
    while (r->written < r->block_count && r->done[r->written]) {
        text_buffer *rows = &r->ready[r->written++];
        bool good = rows->length == 0 || fwrite(rows->bytes, 1, rows->length, stdout) == rows->length;
        text_buffer_free(rows);
        if (!good) return cli_say_errno("standard output");
    }
    return CLI_OK;
}

/* Runs one block. Writes the rows of the block to a part or, after all earlier blocks have been written, to standard
 * output. */
static int run_block(local_sweep *r, size_t block) {
    const sweep_plan *p = r->plan;
    sweep_part_span span = span_of(r, block);
    sweep_counts counts = {{0}};
    text_buffer rows;
    int status = CLI_OK;
    text_buffer_init(&rows, BLOCK_BYTES_MAX);
    if (!p->resume || !sweep_part_exists(p->directory, &span, &counts)) {
        counts = (sweep_counts){{0}};
        if (sweep_run_members(r->run, span.first, span.count, p->form, &rows, &counts, report_member, r) != HAMEL_OK)
            status = cli_say_no_memory();
        else if (p->directory)
            status = sweep_part_write(p->directory, &span, r->begin.bytes, &rows, &counts);
    }
    pthread_mutex_lock(&r->lock);
    sweep_counts_add(&r->counts, &counts);
    if (!p->directory) {
        r->ready[block] = rows;
        r->done[block] = true;
        if (status == CLI_OK && r->status == CLI_OK) status = write_ready(r);
    }
    pthread_mutex_unlock(&r->lock);
    if (p->directory) text_buffer_free(&rows);
    return status;
}

static void *run_blocks(void *context) {
    local_sweep *r = context;
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

static int run_threads(local_sweep *r) {
    pthread_t threads[JOBS_MAX];
    size_t count = 0, most = r->plan->jobs < r->block_count ? r->plan->jobs : r->block_count;
    while (count + 1 < most && pthread_create(&threads[count], NULL, run_blocks, r) == 0) count++;
    (void)run_blocks(r); /* this thread also runs blocks */
    for (size_t k = 0; k < count; k++) pthread_join(threads[k], NULL);
    return r->status;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static size_t block_size(const sweep_plan *p, size_t members) {
    size_t pieces = p->directory ? PARTS_PER_SHARD : 4 * p->jobs, most = p->directory ? PART_MOST : BLOCK_MOST;
    size_t size = (members + pieces - 1) / pieces;
    return size < BLOCK_LEAST ? BLOCK_LEAST : size > most ? most : size;
}

static bool open_run(local_sweep *r, const sweep_plan *p, const sweep_run *e, const char *file) {
    size_t members = e->sweep.sweep.count;
    *r = (local_sweep){.plan = p,
                       .run = e,
                       .problems = {.file = file},
                       .span = {.members = members, .form = p->form},
                       .first = (p->shard - 1) * members / p->shards,
                       .last = p->shard * members / p->shards,
                       .lock = PTHREAD_MUTEX_INITIALIZER};
    memcpy(r->span.hash, e->hash, sizeof r->span.hash);
    r->block = block_size(p, r->last - r->first);
    r->block_count = (r->last - r->first + r->block - 1) / r->block;
    text_buffer_init(&r->begin, BLOCK_BYTES_MAX);
    sweep_run_begin(e, p->form, &r->begin);
    r->ready = calloc(r->block_count + 1, sizeof *r->ready);
    r->done = calloc(r->block_count + 1, sizeof *r->done);
    return r->ready && r->done && !r->begin.failed;
}

static void close_run(local_sweep *r) {
    for (size_t k = r->written; r->ready && k < r->block_count; k++) text_buffer_free(&r->ready[k]);
    text_buffer_free(&r->begin);
    free(r->ready);
    free(r->done);
}

static int run_to_standard_output(local_sweep *r) {
    text_buffer end;
    if (fputs(r->begin.bytes, stdout) < 0) return cli_flush_stdout();
    int status = run_threads(r);
    text_buffer_init(&end, BLOCK_BYTES_MAX);
    sweep_run_end(&r->counts, r->plan->form, &end);
    if (status == CLI_OK && end.length > 0) (void)fputs(end.bytes, stdout); /* cli_flush_stdout reports errors */
    text_buffer_free(&end);
    if (status == CLI_OK) status = cli_flush_stdout();
    return status == CLI_OK && !sweep_counts_all_ended(&r->counts) ? CLI_RUN_FAILED : status;
}

static int run_to_parts(local_sweep *r) {
    if (mkdir(r->plan->directory, 0777) != 0 && errno != EEXIST) return cli_say_errno(r->plan->directory);
    int status = run_threads(r);
    return status == CLI_OK && !sweep_counts_all_ended(&r->counts) ? CLI_RUN_FAILED : status;
}

/* Joins the parts into the output file, then deletes the parts. Until then --resume finds the parts in OUTPUT.parts. */
static int join_into(const local_sweep *r, const char *output) {
    cli_output out;
    int status = cli_output_open(&out, output, true);
    if (status != CLI_OK) return status;
    status = cli_output_close(&out, sweep_parts_join(r->plan->directory, &r->span, &out));
    if (status == CLI_OK || status == CLI_RUN_FAILED) sweep_parts_remove(r->plan->directory, &r->span);
    return status;
}

static int run_plan(sweep_plan *p, const sweep_run *e, const char *file) {
    local_sweep r;
    char parts[PATH_MAX];
    if (p->output) {
        snprintf(parts, sizeof parts, "%s.parts", p->output);
        p->directory = parts;
    }
    int status = open_run(&r, p, e, file) ? CLI_OK : cli_say_no_memory();
    if (status == CLI_OK) status = p->directory ? run_to_parts(&r) : run_to_standard_output(&r);
    if (p->output && (status == CLI_OK || status == CLI_RUN_FAILED)) status = join_into(&r, p->output);
    close_run(&r);
    return status;
}

static int sweep_here(sweep_plan *plan, const cli_input *input, const cli_arguments *arguments) {
    sweep_run run;
    api_failure failure = {0};
    int status;
    if (sweep_run_open(&run, input->bytes, input->length, (const char *const *)arguments->assignments,
                       arguments->assignment_count, input->file, &failure)) {
        for (size_t i = 0; i < hamel_model_warning_count(run.model); i++)
            cli_say("%s: warning: %s", input->file, hamel_model_warning(run.model, i));
        status = run_plan(plan, &run, input->file);
        sweep_run_close(&run);
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
        cli_say("--%s is for local sweeps; a server distributes and stores the members itself", local[k]);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int sweep_file(const cli_arguments *arguments) {
    sweep_plan plan;
    cli_input input;
    cli_server server = cli_server_of(arguments);
    int status = server.url != NULL ? refuse_what_is_local(arguments) : CLI_OK;
    if (status == CLI_OK) status = read_plan(&plan, arguments);
    if (status != CLI_OK) return status;
    status = cli_input_read(&input, arguments->operands[0]);
    if (status == CLI_OK)
        status = server.url != NULL ? cli_sweep_remote(&server, &input, arguments, plan.form, plan.output)
                                    : sweep_here(&plan, &input, arguments);
    cli_input_free(&input);
    return status;
}

const cli_command cli_sweep = {
    .name = "sweep",
    .synopsis = "FILE [OPTIONS]",
    .summary = "run the sweep of a description and write one row for each member",
    .about =
        "The columns are member (from 0), the targets of the sweep, status (completed, terminated, incomplete or\n"
        "failed), the collected numbers, and problem. The problem is the reason why a member is incomplete or failed.\n"
        "Such a member has no numbers, but the other members continue. The table does not depend on --jobs and\n"
        "--shard. A server stores the sweep, runs it as a batch of jobs, and returns the same table.\n\n"
        "The exit code is 4 if a member failed or is incomplete, and 3 if the description is invalid.\n\n"
        "Examples:\n"
        "  hamel sweep study.json > table.csv\n"
        "  hamel sweep study.json --output table.csv --resume\n"
        "  hamel sweep study.json --shard 3/100 --out parts --resume\n"
        "  hamel sweep study.json --server http://127.0.0.1:8080 > table.csv\n",
    .options =
        (const cli_option[]){
            {"format", "NAME", NULL, "write the table as csv or ndjson (csv)"},
            {"output", "FILE", NULL, "write the table to FILE when complete; parts are in FILE.parts until then"},
            {"jobs", "N", NULL, "run N threads (number of processors)"},
            {"resume", NULL, NULL, "resume an interrupted sweep from the parts of --output or --out"},
            {"shard", "K/N", NULL, "run only the K-th of N shards; needs --out"},
            {"out", "DIR", NULL, "write parts to DIR, for hamel merge"},
            CLI_SETTING_OPTIONS,
            CLI_SERVER_OPTION,
            {0},
        },
    .operands = {1, 1},
    .run = sweep_file,
};
