/* sweep_parts.c — parts of a sweep's table, and the command `hamel merge`; see sweep_parts.h. A part has these lines:
 *
 *     {"hamel": VERSION, "sweep": HASH, "members": N, "first": I, "count": K, "form": "csv", "rows": BYTES}
 *     the header of the table
 *     rows
 *     {"completed": .., "terminated": .., "incomplete": .., "failed": .., "sha256": DIGEST OF ALL PRECEDING BYTES} */
#include "clients/cli/commands/sweep_parts.h"

#include "api/json/strict_json.h"
#include "clients/cli/options.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_HEX = 16, PART_BYTES_MAX = 1024 * 1024 * 1024, INPUTS_MAX = 16 * 1024 * 1024, REPORTED_MOST = 20 };
static const char *const form_names[TABLE_FORMS] = {"ndjson", "csv", "json"};
static const char SUFFIX[] = ".part";

void member_problems_say(member_problems *p, size_t member, const cJSON *assignments, const char *problem) {
    text_buffer inputs;
    text_buffer_init(&inputs, INPUTS_MAX);
    for (const cJSON *c = assignments->child; c; c = c->next)
        text_buffer_printf(&inputs, "%s%s", c == assignments->child ? "" : ", ", c->valuestring);
    if (p->reported++ < REPORTED_MOST)
        cli_say("%s: member %zu (%s): %s", p->file, member, inputs.bytes ? inputs.bytes : "", problem);
    else if (p->reported == REPORTED_MOST + 1)
        cli_say("%s: see the column `problem` for the problems of the other members", p->file);
    text_buffer_free(&inputs);
}

static void path_of(const char *directory, const sweep_part_span *s, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%.*s-%07zu-%07zu%s", directory, NAME_HEX, s->hash, s->first, s->count, SUFFIX);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static bool write_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(file, bytes, length);
        if (done < 0 && errno != EINTR) return false;
        if (done > 0) bytes += done, length -= (size_t)done;
    }
    return true;
}

/* Flushes the directory, so that a rename survives a power failure. */
static bool flush_directory(const char *directory) {
    int folder = open(directory, O_RDONLY | O_DIRECTORY);
    if (folder < 0) return false;
    bool good = fsync(folder) == 0;
    return close(folder) == 0 && good;
}

static int write_file(const char *directory, const char *path, const text_buffer *bytes) {
    char draft[PATH_MAX + 32];
    snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return cli_say_errno(draft);
    bool good = write_all(file, bytes->bytes, bytes->length) && fsync(file) == 0;
    int why = errno, closed = close(file);
    if (!good) errno = why;
    good = good && closed == 0 && rename(draft, path) == 0 && flush_directory(directory);
    if (good) return CLI_OK;
    int status = cli_say_errno(path);
    (void)unlink(draft);
    return status;
}

int sweep_part_write(const char *directory, const sweep_part_span *s, const char *begin, const text_buffer *rows,
                     const sweep_counts *counts) {
    assert(s->count <= s->members && s->first <= s->members - s->count);
    char path[PATH_MAX], seal[DIGEST_HEX + 1];
    text_buffer all;
    text_buffer_init(&all, PART_BYTES_MAX);
    text_buffer_printf(&all,
                       "{\"hamel\":\"%s\",\"sweep\":\"%s\",\"members\":%zu,\"first\":%zu,\"count\":%zu,\"form\":\"%s\","
                       "\"rows\":%zu}\n",
                       HAMEL_VERSION, s->hash, s->members, s->first, s->count, form_names[s->form], rows->length);
    text_buffer_puts(&all, begin);
    text_buffer_add(&all, rows->bytes ? rows->bytes : "", rows->length);
    if (!all.failed) api_digest(all.bytes, all.length, seal);
    text_buffer_puts(&all, "{");
    for (size_t k = 0; k <= HAMEL_FAILED; k++)
        text_buffer_printf(&all, "\"%s\":%zu,", hamel_outcome_name((hamel_outcome)k), counts->outcomes[k]);
    if (!all.failed) text_buffer_printf(&all, "\"sha256\":\"%s\"}\n", seal);
    path_of(directory, s, path);
    int status = all.failed ? cli_say_no_memory() : write_file(directory, path, &all);
    text_buffer_free(&all);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct part {
    sweep_part_span span;
    char *path;
    char *begin; /* header of the table, as text */
    size_t rows_at, rows_length;
    sweep_counts counts;
} part;

static void part_clear(part *p) {
    free(p->path);
    free(p->begin);
}

/* Reads a file and appends NUL. Returns NULL if the file cannot be read or is too large, or if memory runs out. */
static char *read_file(const char *path, size_t *length) {
    struct stat facts;
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    char *bytes = NULL;
    if (fstat(fileno(in), &facts) == 0 && facts.st_size >= 0 && facts.st_size < PART_BYTES_MAX)
        bytes = malloc((size_t)facts.st_size + 1);
    *length = bytes ? fread(bytes, 1, (size_t)facts.st_size, in) : 0;
    if (bytes) bytes[*length] = '\0';
    fclose(in);
    return bytes;
}

static bool take_count(const cJSON *tree, const char *key, size_t *out) {
    const cJSON *value = json_at(tree, key);
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble < 1e12)) return false;
    *out = (size_t)value->valuedouble;
    return true;
}

static bool take_head(part *p, const cJSON *head) {
    sweep_part_span *s = &p->span;
    /* a part from another version is rejected, because its numbers may be rounded differently */
    if (strcmp(json_text_at(head, "hamel"), HAMEL_VERSION) != 0) return false;
    snprintf(s->hash, sizeof s->hash, "%s", json_text_at(head, "sweep"));
    while (s->form < TABLE_FORMS && strcmp(json_text_at(head, "form"), form_names[s->form]) != 0) s->form++;
    return s->form < TABLE_FORMS && take_count(head, "members", &s->members) && take_count(head, "first", &s->first) &&
           take_count(head, "count", &s->count) && take_count(head, "rows", &p->rows_length);
}

static bool take_tail(part *p, const cJSON *tail, const char *bytes, size_t length) {
    char seal[DIGEST_HEX + 1];
    for (size_t k = 0; k <= HAMEL_FAILED; k++)
        if (!take_count(tail, hamel_outcome_name((hamel_outcome)k), &p->counts.outcomes[k])) return false;
    api_digest(bytes, length, seal);
    return strcmp(json_text_at(tail, "sha256"), seal) == 0;
}

/* Parses the part in bytes[length]. Returns false if the part is damaged. */
static bool part_parse(part *p, const char *bytes, size_t length) {
    const char *line = memchr(bytes, '\n', length), *last = length > 1 ? memrchr(bytes, '\n', length - 1) : NULL;
    if (!line || !last || last == line || bytes[length - 1] != '\n') return false;
    size_t head_length = (size_t)(line - bytes) + 1, body = (size_t)(last - bytes) + 1;
    cJSON *head = json_parse(bytes, head_length, NULL, NULL);
    cJSON *tail = json_parse(bytes + body, length - body, NULL, NULL);
    bool good = head && tail && take_head(p, head) && take_tail(p, tail, bytes, body);
    cJSON_Delete(head);
    cJSON_Delete(tail);
    if (!good || p->rows_length > body - head_length) return false;
    p->rows_at = body - p->rows_length;
    p->begin = strndup(bytes + head_length, p->rows_at - head_length);
    return p->begin != NULL;
}

static bool part_read(part *p, const char *path) {
    size_t length = 0;
    *p = (part){.path = strdup(path)};
    char *bytes = read_file(path, &length);
    bool good = p->path && bytes && part_parse(p, bytes, length);
    free(bytes);
    return good;
}

static bool same_sweep(const sweep_part_span *a, const sweep_part_span *b) {
    return strcmp(a->hash, b->hash) == 0 && a->members == b->members && a->form == b->form;
}

bool sweep_part_exists(const char *directory, const sweep_part_span *s, sweep_counts *counts) {
    char path[PATH_MAX];
    part p;
    path_of(directory, s, path);
    bool good = part_read(&p, path) && same_sweep(&p.span, s) && p.span.first == s->first && p.span.count == s->count;
    if (good) sweep_counts_add(counts, &p.counts);
    part_clear(&p);
    return good;
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

typedef struct part_list {
    part *items;
    size_t count, capacity;
} part_list;

static bool is_part(const char *name) {
    size_t length = strlen(name), suffix = sizeof SUFFIX - 1;
    return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

static int add_part(part_list *list, const char *path, const sweep_part_span *wanted) {
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 16;
        part *items = realloc(list->items, capacity * sizeof *items);
        if (!items) return cli_say_no_memory();
        list->items = items;
        list->capacity = capacity;
    }
    part *p = &list->items[list->count];
    bool good = part_read(p, path);
    if (good && (!wanted || same_sweep(&p->span, wanted))) {
        list->count++;
        return CLI_OK;
    }
    part_clear(p);
    if (good) return CLI_OK;
    cli_say("%s: the part is damaged or was written by another version; delete it and run its shard again", path);
    return CLI_INVALID;
}

static int list_parts(const char *directory, const sweep_part_span *wanted, part_list *list) {
    DIR *folder = opendir(directory);
    if (!folder) return cli_say_errno(directory);
    int status = CLI_OK;
    for (const struct dirent *entry; status == CLI_OK && (entry = readdir(folder)) != NULL;) {
        char path[PATH_MAX];
        if (!is_part(entry->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        status = add_part(list, path, wanted);
    }
    closedir(folder);
    if (status == CLI_OK && list->count == 0) {
        cli_say("%s: the directory contains no parts of a sweep; write them with hamel sweep --out", directory);
        status = CLI_INVALID;
    }
    return status;
}

static int by_first(const void *a, const void *b) {
    const part *x = a, *y = b;
    if (x->span.first != y->span.first) return x->span.first < y->span.first ? -1 : 1;
    return (x->span.count > y->span.count) - (x->span.count < y->span.count);
}

static int say_missing(const char *directory, size_t from, size_t to, size_t members) {
    cli_say("%s: members %zu to %zu of %zu are missing; run their shard again, with --resume if it was interrupted",
            directory, from, to - 1, members);
    return CLI_INVALID;
}

/* Checks that all parts belong to the same sweep, and that each member is in exactly one part. */
static int check_parts(const char *directory, const part_list *list) {
    size_t next = 0, members = list->items[0].span.members;
    for (size_t k = 0; k < list->count; k++) {
        const part *p = &list->items[k], *before = &list->items[k > 0 ? k - 1 : 0];
        if (!same_sweep(&p->span, &list->items[0].span) || strcmp(p->begin, list->items[0].begin) != 0) {
            cli_say("%s: the parts %s and %s belong to different sweeps or have different formats; separate them",
                    directory, list->items[0].path, p->path);
            return CLI_INVALID;
        }
        if (p->span.first < next) {
            cli_say("%s: members from %zu on occur twice: in %s and %s", directory, p->span.first, before->path,
                    p->path);
            return CLI_INVALID;
        }
        if (p->span.first > next) return say_missing(directory, next, p->span.first, members);
        next = p->span.first + p->span.count;
    }
    return next < members ? say_missing(directory, next, members, members) : CLI_OK;
}

static int write_rows(const part *p, const cli_output *out) {
    size_t length = 0;
    char *bytes = read_file(p->path, &length);
    part again = {0};
    bool whole = bytes && part_parse(&again, bytes, length); /* the file may have changed since it was checked */
    int status = CLI_OK;
    if (!whole) {
        cli_say("%s: the part changed while it was read; run the command again", p->path);
        status = CLI_IO;
    } else if (fwrite(bytes + again.rows_at, 1, again.rows_length, out->file) != again.rows_length) {
        status = cli_say_errno(out->name);
    }
    free(bytes);
    part_clear(&again);
    return status;
}

static int write_table(const part_list *list, const cli_output *out) {
    sweep_counts counts = {{0}};
    text_buffer end;
    text_buffer_init(&end, 4096);
    int status = fputs(list->items[0].begin, out->file) >= 0 ? CLI_OK : cli_say_errno(out->name);
    for (size_t k = 0; k < list->count && status == CLI_OK; k++) {
        status = write_rows(&list->items[k], out);
        sweep_counts_add(&counts, &list->items[k].counts);
    }
    sweep_run_end(&counts, list->items[0].span.form, &end);
    if (status == CLI_OK && end.length > 0 && fputs(end.bytes, out->file) < 0) status = cli_say_errno(out->name);
    text_buffer_free(&end);
    return status == CLI_OK && !sweep_counts_all_ended(&counts) ? CLI_RUN_FAILED : status;
}

int sweep_parts_join(const char *directory, const sweep_part_span *wanted, const cli_output *out) {
    part_list list = {0};
    int status = list_parts(directory, wanted, &list);
    if (list.count > 1) qsort(list.items, list.count, sizeof *list.items, by_first);
    if (status == CLI_OK) status = check_parts(directory, &list);
    if (status == CLI_OK) status = write_table(&list, out);
    for (size_t k = 0; k < list.count; k++) part_clear(&list.items[k]);
    free(list.items);
    return status;
}

void sweep_parts_remove(const char *directory, const sweep_part_span *span) {
    DIR *folder = opendir(directory);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[PATH_MAX];
        if (!is_part(entry->d_name) || strncmp(entry->d_name, span->hash, NAME_HEX) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        (void)unlink(path);
    }
    closedir(folder);
    (void)rmdir(directory);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int merge(const cli_arguments *arguments) {
    cli_output out;
    int status = cli_output_open(&out, cli_option_value(arguments, "output"), false);
    if (status != CLI_OK) return status;
    return cli_output_close(&out, sweep_parts_join(arguments->operands[0], NULL, &out));
}

const cli_command cli_merge = {
    .name = "merge",
    .synopsis = "DIR [OPTIONS]",
    .summary = "join the parts of a sweep into its table",
    .about =
        "DIR contains the parts that hamel sweep --out DIR has written, in any number of shards. The table is\n"
        "identical, byte for byte, to the table of a sweep without shards. Missing and duplicate members, damaged\n"
        "parts, and parts of different sweeps are errors.\n\n"
        "Example:\n"
        "  hamel sweep study.json --shard 1/2 --out parts && hamel sweep study.json --shard 2/2 --out parts\n"
        "  hamel merge parts > table.csv\n",
    .options =
        (const cli_option[]){
            {"output", "FILE", NULL, "write the table to FILE (standard output)"},
            {0},
        },
    .operands = {1, 1},
    .run = merge,
};
