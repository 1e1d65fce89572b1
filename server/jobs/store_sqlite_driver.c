/* store_sqlite_driver.c — statements on SQLite, and changes as transactions.
 *
 * All waiting changes are made in one transaction. An operation that fails is rolled back to its savepoint and does not
 * affect other operations. A transaction with a durable operation is committed with synchronous=FULL, other
 * transactions with NORMAL. Transactions with NORMAL survive the end of the process. Since the log is sequential, the
 * next durable commit also makes them durable. */
#include "server/clock.h"
#include "server/jobs/store_sqlite_int.h"

static const char *const own_texts[] = {
#define X(name, text) text,
    SQLITE_STATEMENTS(X)
#undef X
};

static void lite_end(sql_connection *base) {
    sqlite_connection *c = (sqlite_connection *)base;
    if (c->current) sqlite3_reset(c->current);
    c->current = NULL;
}

static bool bind(sqlite3_stmt *statement, int at, const sql_value *value) {
    int rc = SQLITE_OK;
    if (!value->bytes) {
        rc = sqlite3_bind_null(statement, at);
    } else if (value->type == SQL_INTEGER) {
        rc = sqlite3_bind_int64(statement, at, value->integer);
    } else if (value->type == SQL_REAL) {
        rc = sqlite3_bind_double(statement, at, value->real);
    } else if (value->type == SQL_TEXT) {
        rc = sqlite3_bind_text64(statement, at, value->bytes, value->length, SQLITE_STATIC, SQLITE_UTF8);
    } else {
        rc = sqlite3_bind_blob64(statement, at, value->bytes, value->length, SQLITE_STATIC);
    }
    return rc == SQLITE_OK;
}

static sql_step lite_next(sql_connection *base) {
    sqlite_connection *c = (sqlite_connection *)base;
    int rc = c->current ? sqlite3_step(c->current) : SQLITE_ERROR;
    if (rc == SQLITE_ROW) return SQL_STEP_ROW;
    lite_end(base);
    return rc == SQLITE_DONE ? SQL_STEP_END : SQL_STEP_FAILED;
}

static sql_step lite_first(sql_connection *base, unsigned name, const sql_value *values, size_t count) {
    sqlite_connection *c = (sqlite_connection *)base;
    sqlite3_stmt **statement = &c->statements[name];
    char room[SQL_TEXT_BYTES];
    lite_end(base);
    if (!*statement) {
        const char *text = name < SQL_TOTAL ? sql_statement(name, room) : own_texts[name - SQL_TOTAL];
        int rc = sqlite3_prepare_v3(c->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
        if (rc != SQLITE_OK) return SQL_STEP_FAILED;
    }
    int parameters = sqlite3_bind_parameter_count(*statement);
    sqlite3_clear_bindings(*statement);
    for (int k = 0; k < parameters && k < (int)count; k++)
        if (!bind(*statement, k + 1, &values[k])) return SQL_STEP_FAILED;
    c->current = *statement;
    return lite_next(base);
}

static int64_t lite_integer(sql_connection *base, int column) {
    return sqlite3_column_int64(((sqlite_connection *)base)->current, column);
}

static double lite_real(sql_connection *base, int column) {
    return sqlite3_column_double(((sqlite_connection *)base)->current, column);
}

static const char *lite_bytes(sql_connection *base, int column, size_t *length) {
    sqlite3_stmt *statement = ((sqlite_connection *)base)->current;
    int type = sqlite3_column_type(statement, column);
    *length = 0;
    if (type == SQLITE_NULL) return NULL;
    const void *found = type == SQLITE_BLOB ? sqlite3_column_blob(statement, column)
                                            : (const void *)sqlite3_column_text(statement, column);
    *length = (size_t)sqlite3_column_bytes(statement, column);
    if (found) return found;
    return *length == 0 && sqlite3_errcode(sqlite3_db_handle(statement)) != SQLITE_NOMEM ? "" : NULL;
}

static int64_t lite_changed(sql_connection *base) {
    return sqlite3_changes64(((sqlite_connection *)base)->db);
}

static void lite_complain(sql_store *s, sql_connection *base, const char *what) {
    sqlite3 *db = ((sqlite_connection *)base)->db;
    log_write(s->log, LOG_ERROR, "store",
              LOG_FIELDS(log_text("operation", what), log_text("message", sqlite3_errmsg(db)),
                         log_number("code", sqlite3_extended_errcode(db))));
}

/* Runs an operation in a savepoint. Returns false if the operation fails for lack of space. */
static bool run_operation(sqlite_store *s, sql_operation *operation) {
    sql_connection *c = s->base.writer;
    if (!sql_run(c, LITE_SAVE)) {
        operation->result = STORE_FAILED;
        return true;
    }
    operation->result = operation->run(c, operation);
    bool full = operation->result == STORE_FAILED && sqlite_is_space_fault(&s->writer);
    if (full) operation->result = STORE_NO_SPACE;
    if (full || operation->result == STORE_FAILED) {
        lite_complain(&s->base, c, "change");
        sql_run(c, LITE_UNDO);
    }
    sql_run(c, LITE_KEEP);
    return !full;
}

static bool any_durable(const sql_operation *operation) {
    while (operation && !operation->durable) operation = operation->next;
    return operation != NULL;
}

/* Returns true if the names still refer to the open files. Logs each change of the result. */
static bool in_place(sqlite_store *s) {
    bool in_place = sqlite_files_in_place(s);
    if (in_place == s->misplaced) {
        s->misplaced = !in_place;
        log_write(s->base.log, in_place ? LOG_INFO : LOG_ERROR, "store",
                  LOG_FIELDS(log_text("message", in_place ? "the file of the store is in place again"
                                                          : "the file of the store has been moved or replaced"),
                             log_text("path", s->path)));
    }
    return in_place;
}

static void end_all(sql_operation *o, store_status result) {
    for (; o; o = o->next) o->result = result;
}

/* Executes all operations in one transaction. While space is low, refuses operations that need space. Returns false if
 * the transaction must be rolled back: the commit failed, or an operation failed for lack of space and `may_gain` is
 * true. */
static bool lite_make(sqlite_store *s, sql_operation *operations, bool may_gain) {
    sql_connection *c = s->base.writer;
    bool low = sqlite_space_is_low(s);
    /* If SQLite rejects this setting, the commit might be less durable than promised, so the operations fail. */
    bool kept = s->in_memory || sql_run(c, any_durable(operations) ? LITE_SYNC_FULL : LITE_SYNC_NORMAL);
    if (!kept || !sql_run(c, LITE_BEGIN)) return false;
    for (sql_operation *o = operations; o; o = o->next) {
        if (low && o->grows) {
            o->result = STORE_NO_SPACE;
        } else if (!run_operation(s, o) && may_gain) {
            s->wants_room = true;
            return false;
        }
        /* If the disk is full, SQLite may have rolled back the whole transaction. */
        if (sqlite3_get_autocommit(s->writer.db)) return false;
    }
    return sql_run(c, LITE_COMMIT);
}

/* Rolls back the transaction. Returns true if the transaction failed for lack of space. */
static bool undo(sqlite_store *s) {
    bool full = s->wants_room || sqlite_is_space_fault(&s->writer);
    s->wants_room = false;
    lite_complain(&s->base, s->base.writer, "commit");
    if (!sqlite3_get_autocommit(s->writer.db)) sql_run(s->base.writer, LITE_ROLLBACK);
    return full;
}

static void lite_change(sql_store *base, sql_operation *operations) {
    sqlite_store *s = (sqlite_store *)base;
    bool made = in_place(s) && lite_make(s, operations, true);
    bool full = !made && !s->misplaced && undo(s);
    if (full && sqlite_space_gain(s)) {
        made = lite_make(s, operations, false);
        if (!made) undo(s);
    }
    if (!made) end_all(operations, full ? STORE_NO_SPACE : STORE_FAILED);
    if (made && !in_place(s)) end_all(operations, STORE_FAILED);
}

const sql_driver sqlite_driver = {
    .first = lite_first,
    .next = lite_next,
    .end = lite_end,
    .integer = lite_integer,
    .real = lite_real,
    .bytes = lite_bytes,
    .changed = lite_changed,
    .complain = lite_complain,
    .change = lite_change,
    .tend = sqlite_tend,
};

bool sqlite_execute(sqlite_connection *c, const char *sql) {
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

int64_t sqlite_query(sqlite_connection *c, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void now(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_result_int64(context, clock_wall_ms());
}

bool sqlite_connect(sqlite_connection *c, const char *name, bool writer) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | (writer ? SQLITE_OPEN_CREATE : 0);
    c->base.driver = &sqlite_driver;
    /* If SQLite counts its memory, each allocation takes a lock, so this option disables the count. The call has an effect
     * only before the first connection of the process. */
    if (writer) (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (sqlite3_open_v2(name, &c->db, flags, NULL) != SQLITE_OK) return false;
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_timeout(c->db, SQLITE_BUSY_MS);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int made = sqlite3_create_function(c->db, "hamel_now", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, now, NULL, NULL);
    /* Each statement that fires a trigger saves the pages that it changes. In a file, these pages cost 30 writes for
     * each member of a batch. In memory they cost no writes. */
    const char *settings = "PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; "
                           "PRAGMA temp_store=MEMORY;";
    return made == SQLITE_OK && sqlite_execute(c, settings) &&
           (writer || sqlite_execute(c, "PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0;"));
}

void sqlite_disconnect(sqlite_connection *c) {
    for (size_t i = 0; i < LITE_TOTAL; i++) sqlite3_finalize(c->statements[i]);
    sqlite3_close(c->db);
    *c = (sqlite_connection){0};
}
