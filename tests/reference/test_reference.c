/* test_reference.c — runs and analyses by the command line, compared with independently known results.
 *
 * A case is a directory with a system.json and an expected.json (README.md documents its keys). Each case is a test
 * with the name of its directory; the directories are listed when the program starts. Runs use rtol 1e-9 and atol 1e-11
 * instead of the tolerances in the file. Each run outputs only the times of comparison, because output times must not
 * influence the results.
 *
 * Environment variables: HAMEL is the path of the program (default build/hamel), HAMEL_CASES the directory of cases
 * (default tests/reference). */
#include "tests/reference/child.h"
#include "tests/reference/csv_table.h"

#include <cjson/cJSON.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 1024, REASON_SIZE = 1200, MOST_TIMES = 1000 };
static const double run_seconds = 120;

/* The data of a case while it is checked. case_close frees the data, also after a failure. */
typedef struct reference_case {
    char folder[PATH_SIZE];
    cJSON *system, *expected;
    char scratch[PATH_SIZE]; /* path of the changed description; "" if not written */
    child_result run, second;
    csv_table table;
    char reason[REASON_SIZE]; /* error message if the case fails */
} reference_case;

static const char *program(void) {
    const char *path = getenv("HAMEL");
    return path != NULL ? path : "build/hamel";
}

static bool complain(reference_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool complain(reference_case *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->reason, sizeof c->reason, format, list);
    va_end(list);
    return false;
}

static cJSON *read_json(const char *folder, const char *name) {
    char path[PATH_SIZE + 20];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t size = 1 << 20;
    char *text = malloc(size);
    size_t length = text != NULL ? fread(text, 1, size - 1, file) : 0;
    fclose(file);
    cJSON *tree = text != NULL ? cJSON_ParseWithLength(text, length) : NULL;
    free(text);
    return tree;
}

static void case_close(reference_case *c) {
    if (c->scratch[0] != '\0') unlink(c->scratch);
    cJSON_Delete(c->system);
    cJSON_Delete(c->expected);
    child_result_clear(&c->run);
    child_result_clear(&c->second);
    csv_table_clear(&c->table);
}

static double number_of(const cJSON *object, const char *key, double otherwise) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

/* ---- runs ---- */

/* Replaces the output times in the description by `times`. */
static bool set_times(cJSON *system, const double *times, int count) {
    cJSON *simulation = cJSON_GetObjectItemCaseSensitive(system, "simulation");
    cJSON *list = cJSON_CreateDoubleArray(times, count);
    if (simulation == NULL || list == NULL) {
        cJSON_Delete(list);
        return false;
    }
    static const char *const replaced[] = {"samples", "step", "times", "stop"};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        cJSON_DeleteItemFromObjectCaseSensitive(simulation, replaced[i]);
    }
    cJSON_AddItemToObject(simulation, "times", list);
    return cJSON_AddNumberToObject(simulation, "stop", times[count - 1]) != NULL;
}

static bool write_scratch(reference_case *c) {
    if (c->scratch[0] == '\0') {
        const char *folder = getenv("TMPDIR");
        snprintf(c->scratch, sizeof c->scratch, "%s/hamel-case-XXXXXX", folder != NULL ? folder : P_tmpdir);
        int fd = mkstemp(c->scratch);
        if (fd < 0) {
            c->scratch[0] = '\0';
            return complain(c, "cannot create a temporary file: %s", strerror(errno));
        }
        close(fd);
    }
    char *text = cJSON_PrintUnformatted(c->system);
    FILE *file = text != NULL ? fopen(c->scratch, "wb") : NULL;
    bool written = file != NULL && fputs(text, file) >= 0;
    if (file != NULL) written &= fclose(file) == 0;
    free(text);
    return written || complain(c, "cannot write %s", c->scratch);
}

static bool run_by(reference_case *c, child_result *result, const char *formulation, const char *method) {
    const char *argv[14] = {program(), "run", "--format", "csv", "--rtol", "1e-9", "--atol", "1e-11", c->scratch};
    size_t used = 9;
    if (formulation != NULL) argv[used++] = "--formulation", argv[used++] = formulation;
    if (method != NULL) argv[used++] = "--method", argv[used++] = method;
    child_result_clear(result);
    if (!child_run(result, argv, run_seconds)) return complain(c, "cannot run %s: %s", argv[0], strerror(errno));
    if (result->timed_out)
        return complain(c, "killed, because it ran for more than %g s or wrote too much output", run_seconds);
    if (result->exit_code != 0) return complain(c, "exit code %d: %.800s", result->exit_code, result->errors);
    const cJSON *text;
    cJSON_ArrayForEach(text, cJSON_GetObjectItemCaseSensitive(c->expected, "silent_about")) {
        if (cJSON_IsString(text) && strcasestr(result->errors, text->valuestring) != NULL)
            return complain(c, "stderr mentions %s: %.800s", text->valuestring, result->errors);
    }
    return true;
}

static bool run_at(reference_case *c, child_result *result, const double *times, int count) {
    if (!set_times(c->system, times, count)) return complain(c, "system.json has no key simulation");
    return write_scratch(c) && run_by(c, result, NULL, NULL);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int sorted_without_doubles(double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, by_value);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept == 0 || times[i] > times[kept - 1]) times[kept++] = times[i];
    }
    return kept;
}

/* Collects the initial time, the times of all comparisons, and the time `stop` if the case has this key. */
static int collect_times(const reference_case *c, double *times) {
    const cJSON *simulation = cJSON_GetObjectItemCaseSensitive(c->system, "simulation");
    int count = 0;
    times[count++] = number_of(simulation, "start", 0);
    const cJSON *point;
    cJSON_ArrayForEach(point, cJSON_GetObjectItemCaseSensitive(c->expected, "at")) {
        if (count < MOST_TIMES - 1) times[count++] = number_of(point, "t", 0);
    }
    double stop = number_of(c->expected, "stop", NAN);
    if (!isnan(stop)) times[count++] = stop;
    return sorted_without_doubles(times, count);
}

/* ---- comparison of rows ---- */

/* Returns the last row at the time t, or -1 if there is no row. An event may cause two rows at the same time. */
static ptrdiff_t row_at(const csv_table *table, double t) {
    ptrdiff_t found = -1;
    for (size_t i = 0; i < table->row_count; i++) {
        if (fabs(csv_table_value(table, i, 0) - t) <= 1e-9 * fmax(1, fabs(t))) found = (ptrdiff_t)i;
    }
    return found;
}

/* Uses the tolerances of the column if the case specifies them, otherwise the tolerances of the case. */
static double allowed_error(const reference_case *c, const char *column, double value) {
    const cJSON *tolerance = cJSON_GetObjectItemCaseSensitive(c->expected, "tolerance");
    const cJSON *columns = cJSON_GetObjectItemCaseSensitive(tolerance, "columns");
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(columns, column);
    double relative = number_of(own, "rtol", number_of(tolerance, "rtol", 1e-6));
    double absolute = number_of(own, "atol", number_of(tolerance, "atol", 0));
    return absolute + relative * fabs(value);
}

static bool judge_point(reference_case *c, const cJSON *point) {
    double t = number_of(point, "t", 0);
    ptrdiff_t row = row_at(&c->table, t);
    if (row < 0) return complain(c, "no row at t = %g", t);
    const cJSON *value;
    cJSON_ArrayForEach(value, cJSON_GetObjectItemCaseSensitive(point, "values")) {
        ptrdiff_t column = csv_table_column(&c->table, value->string);
        if (column < 0) return complain(c, "no column %s", value->string);
        double got = csv_table_value(&c->table, (size_t)row, (size_t)column);
        double allowed = allowed_error(c, value->string, value->valuedouble);
        if (!(fabs(got - value->valuedouble) <= allowed)) {
            return complain(c, "%s at t = %g: %.12g, expected %.12g (off by %.2e, allowed %.1e)", value->string, t, got,
                            value->valuedouble, fabs(got - value->valuedouble), allowed);
        }
    }
    return true;
}

static bool judge_invariants(reference_case *c) {
    const cJSON *invariant;
    cJSON_ArrayForEach(invariant, cJSON_GetObjectItemCaseSensitive(c->expected, "invariants")) {
        ptrdiff_t column = csv_table_column(&c->table, invariant->string);
        if (column < 0) return complain(c, "no column %s", invariant->string);
        double value = number_of(invariant, "value", 0), allowed = number_of(invariant, "drift", 0);
        for (size_t i = 0; i < c->table.row_count; i++) {
            double drift = fabs(csv_table_value(&c->table, i, (size_t)column) - value);
            if (!(drift <= allowed)) {
                return complain(c, "%s drifts by %.2e, allowed %.1e", invariant->string, drift, allowed);
            }
        }
    }
    return true;
}

static bool judge_end(reference_case *c) {
    const cJSON *end = cJSON_GetObjectItemCaseSensitive(c->expected, "end");
    if (end == NULL) return true;
    double last = csv_table_value(&c->table, c->table.row_count - 1, 0);
    if (last <= number_of(end, "t", 0) + number_of(end, "tolerance", 1e-6)) return true;
    return complain(c, "the rows end at t = %g, but the run must end at t = %g", last, number_of(end, "t", 0));
}

/* Returns true if `text` contains line[length] as a complete line. */
static bool holds_line(const char *text, const char *line, size_t length) {
    for (const char *p = text; (p = strstr(p, "\n")) != NULL;) {
        p++;
        if (strncmp(p, line, length) == 0) return true;
    }
    return false;
}

/* A second run with n additional output times must have the same bytes at the common times. */
static bool judge_repeat(reference_case *c, const double *times, int count) {
    int more = (int)number_of(c->expected, "repeat", 0);
    if (more <= 0) return true;
    double all[2 * MOST_TIMES];
    memcpy(all, times, (size_t)count * sizeof *all);
    int total = count;
    for (int i = 0; i < more && total < 2 * MOST_TIMES; i++) {
        all[total++] = times[0] + (times[count - 1] - times[0]) * (i + 0.37) / more;
    }
    total = sorted_without_doubles(all, total);
    if (!run_at(c, &c->second, all, total)) return false;
    const char *line = strchr(c->run.output, '\n');
    while (line != NULL && line[1] != '\0') {
        line++;
        const char *end = strchr(line, '\n');
        if (end == NULL) break;
        if (!holds_line(c->second.output, line, (size_t)(end - line) + 1)) {
            return complain(c, "more output times change the row %.*s", (int)(end - line), line);
        }
        line = end;
    }
    return true;
}

static bool judge_run(reference_case *c) {
    csv_table_clear(&c->table);
    if (!csv_table_read(&c->table, c->run.output, c->run.output_length, c->reason, sizeof c->reason)) return false;
    if (c->table.row_count == 0) return complain(c, "no rows");
    const cJSON *point;
    cJSON_ArrayForEach(point, cJSON_GetObjectItemCaseSensitive(c->expected, "at")) {
        if (!judge_point(c, point)) return false;
    }
    return judge_invariants(c) && judge_end(c);
}

/* Runs each listed formulation with each listed method, and compares the rows with the expected values. */
static bool judge_ways(reference_case *c) {
    const cJSON *ways = cJSON_GetObjectItemCaseSensitive(c->expected, "ways"), *formulation, *method;
    cJSON_ArrayForEach(formulation, cJSON_GetObjectItemCaseSensitive(ways, "formulations")) {
        cJSON_ArrayForEach(method, cJSON_GetObjectItemCaseSensitive(ways, "methods")) {
            if (run_by(c, &c->run, formulation->valuestring, method->valuestring) && judge_run(c)) continue;
            char reason[REASON_SIZE];
            snprintf(reason, sizeof reason, "%s", c->reason);
            return complain(c, "%.30s by %.10s: %.1000s", formulation->valuestring, method->valuestring, reason);
        }
    }
    return true;
}

static bool judge_rows(reference_case *c) {
    double times[MOST_TIMES];
    int count = collect_times(c, times);
    return run_at(c, &c->run, times, count) && judge_run(c) && judge_repeat(c, times, count) && judge_ways(c);
}

/* ---- comparison of error messages ---- */

static bool code_is_wanted(const cJSON *wanted, int code) {
    if (cJSON_IsNumber(wanted)) return wanted->valueint == code;
    const cJSON *one;
    cJSON_ArrayForEach(one, wanted) {
        if (one->valueint == code) return true;
    }
    return false;
}

/* Returns true if stderr contains the expected text, or one of a list of alternatives. */
static bool is_mentioned(const cJSON *mention, const char *errors) {
    if (cJSON_IsString(mention)) return strcasestr(errors, mention->valuestring) != NULL;
    const cJSON *one;
    cJSON_ArrayForEach(one, mention) {
        if (cJSON_IsString(one) && strcasestr(errors, one->valuestring) != NULL) return true;
    }
    return false;
}

/* All values in rows must be finite, even if the run fails later. */
static bool judge_rows_before_failure(reference_case *c) {
    if (c->run.output_length == 0) return true;
    return csv_table_read(&c->table, c->run.output, c->run.output_length, c->reason, sizeof c->reason);
}

static bool judge_exit(reference_case *c, const cJSON *wanted) {
    char path[PATH_SIZE + 20];
    snprintf(path, sizeof path, "%s/system.json", c->folder);
    const char *argv[] = {program(), "run", "--format", "csv", path, NULL};
    if (!child_run(&c->run, argv, run_seconds)) return complain(c, "cannot run %s: %s", argv[0], strerror(errno));
    if (c->run.timed_out)
        return complain(c, "killed, because it ran for more than %g s or wrote too much output", run_seconds);
    if (!code_is_wanted(wanted, c->run.exit_code)) {
        return complain(c, "unexpected exit code %d; stderr: %.800s", c->run.exit_code, c->run.errors);
    }
    if (c->run.errors_length == 0) return complain(c, "stderr is empty");
    const cJSON *mention;
    cJSON_ArrayForEach(mention, cJSON_GetObjectItemCaseSensitive(c->expected, "mentions")) {
        if (is_mentioned(mention, c->run.errors)) continue;
        const cJSON *first = cJSON_IsString(mention) ? mention : cJSON_GetArrayItem(mention, 0);
        return complain(c, "stderr does not mention %s: %.800s", cJSON_GetStringValue(first), c->run.errors);
    }
    return judge_rows_before_failure(c);
}

/* ---- comparison of analyses ---- */

/* Returns true if `found` contains everything in `wanted`. Objects in lists are matched by their names, and other lists
 * are compared as sets of texts. `path` is the position of both values, for the error message. */
static bool holds(reference_case *c, const cJSON *wanted, const cJSON *found, const char *path);

static bool holds_members(reference_case *c, const cJSON *wanted, const cJSON *found, const char *path) {
    const cJSON *member;
    cJSON_ArrayForEach(member, wanted) {
        char below[200];
        snprintf(below, sizeof below, "%.100s/%.80s", path, member->string);
        if (!holds(c, member, cJSON_GetObjectItemCaseSensitive(found, member->string), below)) return false;
    }
    return true;
}

static const cJSON *item_named(const cJSON *list, const char *name) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        if (text != NULL && name != NULL && strcmp(text, name) == 0) return item;
    }
    return NULL;
}

static const cJSON *item_equal(const cJSON *list, const cJSON *wanted) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (cJSON_Compare(item, wanted, true)) return item;
    }
    return NULL;
}

static bool holds_items(reference_case *c, const cJSON *wanted, const cJSON *found, const char *path) {
    const cJSON *item;
    bool of_objects = cJSON_IsObject(wanted->child);
    if (!of_objects && cJSON_GetArraySize(wanted) != cJSON_GetArraySize(found)) {
        return complain(c, "%s has %d items, expected %d", path, cJSON_GetArraySize(found), cJSON_GetArraySize(wanted));
    }
    cJSON_ArrayForEach(item, wanted) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        const cJSON *partner = of_objects ? item_named(found, name) : item_equal(found, item);
        if (partner == NULL) return complain(c, "%s lacks %s", path, name != NULL ? name : cJSON_GetStringValue(item));
        if (of_objects && !holds_members(c, item, partner, path)) return false;
    }
    return true;
}

static bool holds(reference_case *c, const cJSON *wanted, const cJSON *found, const char *path) {
    if (cJSON_IsObject(wanted)) return holds_members(c, wanted, found, path);
    if (cJSON_IsArray(wanted)) return holds_items(c, wanted, found, path);
    if (found != NULL && cJSON_Compare(wanted, found, true)) return true;
    char *text = found != NULL ? cJSON_PrintUnformatted(found) : NULL;
    (void)complain(c, "%s has an unexpected value: %.200s", path, text != NULL ? text : "missing");
    free(text);
    return false;
}

static bool judge_analysis(reference_case *c, const cJSON *wanted) {
    char path[PATH_SIZE + 20];
    snprintf(path, sizeof path, "%s/system.json", c->folder);
    const cJSON *option = cJSON_GetObjectItemCaseSensitive(c->expected, "option");
    const char *argv[] = {program(), "analyze", "--format", "json", path, cJSON_GetStringValue(option), NULL};
    child_result_clear(&c->run);
    if (!child_run(&c->run, argv, run_seconds)) return complain(c, "cannot run %s: %s", argv[0], strerror(errno));
    if (c->run.timed_out)
        return complain(c, "killed, because it ran for more than %g s or wrote too much output", run_seconds);
    if (c->run.exit_code != 0) return complain(c, "exit code %d: %.800s", c->run.exit_code, c->run.errors);
    cJSON *found = cJSON_ParseWithLength(c->run.output, c->run.output_length);
    bool good = found != NULL ? holds(c, wanted, found, "") : complain(c, "the output of analyze is not valid JSON");
    cJSON_Delete(found);
    return good;
}

static bool judge(reference_case *c) {
    c->expected = read_json(c->folder, "expected.json");
    if (c->expected == NULL) return complain(c, "expected.json cannot be read");
    const cJSON *exit_code = cJSON_GetObjectItemCaseSensitive(c->expected, "exit");
    if (exit_code != NULL) return judge_exit(c, exit_code);
    c->system = read_json(c->folder, "system.json");
    if (c->system == NULL) return complain(c, "system.json cannot be read");
    bool rows = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(c->expected, "at"));
    const cJSON *analysis = cJSON_GetObjectItemCaseSensitive(c->expected, "analyze");
    if (!rows && analysis == NULL) return complain(c, "expected.json has none of the keys exit, at and analyze");
    return (!rows || judge_rows(c)) && (analysis == NULL || judge_analysis(c, analysis));
}

/* ---- list of tests ---- */

static const char *cases_folder(void) {
    const char *path = getenv("HAMEL_CASES");
    return path != NULL ? path : "tests/reference";
}

static void agrees_with_the_reference(void **state) {
    reference_case c = {0};
    snprintf(c.folder, sizeof c.folder, "%s/%s", cases_folder(), (const char *)*state);
    bool good = judge(&c);
    case_close(&c);
    if (!good) fail_msg("%s", c.reason);
}

static int is_case(const struct dirent *entry) {
    char path[PATH_SIZE + 300];
    snprintf(path, sizeof path, "%s/%s/expected.json", cases_folder(), entry->d_name);
    return entry->d_name[0] != '.' && access(path, R_OK) == 0;
}

int main(void) {
    struct dirent **entries;
    int count = scandir(cases_folder(), &entries, is_case, alphasort);
    struct CMUnitTest *tests = count > 0 ? calloc((size_t)count, sizeof *tests) : NULL;
    if (tests == NULL) {
        fprintf(stderr, "test_reference: no cases in %s\n", cases_folder());
        return 1;
    }
    for (int i = 0; i < count; i++) {
        tests[i].name = entries[i]->d_name;
        tests[i].test_func = agrees_with_the_reference;
        tests[i].initial_state = entries[i]->d_name;
    }
    int failed = _cmocka_run_group_tests("reference", tests, (size_t)count, NULL, NULL);
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    free(tests);
    return failed;
}
