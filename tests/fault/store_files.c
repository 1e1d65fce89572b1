/* store_files.c — copies and checks of the files of a store. */
#include "tests/fault/store_files.h"

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

bool copy_file(const char *from, const char *to) {
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    size_t n;
    while (out && (n = fread(bytes, 1, sizeof bytes, in)) > 0) assert_int_equal(fwrite(bytes, 1, n, out), n);
    if (in) fclose(in);
    if (out) fclose(out);
    return out != NULL;
}

void empty_folder(const char *path) {
    char name[PATH_MAX];
    DIR *list = opendir(path);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%.2000s/%s", path, entry->d_name);
        unlink(name);
    }
    closedir(list);
}

static void check_answer(sqlite3 *db, const char *question, const char *expected) {
    sqlite3_stmt *check = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, question, -1, &check, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(check), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(check, 0), expected);
    sqlite3_finalize(check);
}

void check_sound(const char *file) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    check_answer(db, "PRAGMA integrity_check", "ok");
    check_answer(db, MISCOUNTED_MEMBERS, "0");
    sqlite3_close(db);
}
