/* strict_json.c — scans the text according to the grammar of RFC 8259; cJSON then builds the tree.
 *
 * The scan is a state machine with six states and an explicit stack. One table contains all decoded keys, each with the
 * number of its object. Therefore duplicates are found in linear time. Line and column are computed only for an
 * error. */
#include "api/json/strict_json.h"

#include "engine/base/arena.h"
#include "engine/base/symbol_table.h"
#include "engine/base/text_buffer.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* maximum length of a number; cJSON truncates longer numbers */
enum { NUMBER_MAX = 63 };

typedef enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END,
    EXPECT_KEY,
    EXPECT_KEY_OR_END,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
} expect;

typedef struct frame {
    bool object;
    uint32_t number; /* number of the object; distinguishes equal keys of different objects */
} frame;

typedef struct scanner {
    const unsigned char *text;
    size_t length, at;
    const json_limits *limits;
    json_fault *fault;
    size_t nodes, depth;
    uint32_t objects;
    frame *stack;
    arena memory;
    symbol_table keys;
    text_buffer key; /* object number and decoded bytes of the key read last */
} scanner;

json_limits json_limits_default(void) {
    return (json_limits){.bytes = (size_t)16 * 1024 * 1024, .depth = 64, .nodes = 1000000};
}

/* Computes the line and column of the byte at offset `at`. Each UTF-8 code point counts as one column. */
static void locate_error(const scanner *s, size_t at, json_fault *fault) {
    fault->line = 1;
    fault->column = 1;
    for (size_t i = 0; i < at && i < s->length; i++) {
        if (s->text[i] == '\n') {
            fault->line++;
            fault->column = 1;
        } else if ((s->text[i] & 0xC0) != 0x80) {
            fault->column++;
        }
    }
}

static bool HAMEL_PRINTF(3, 4) scan_fail(scanner *s, size_t at, const char *format, ...) {
    locate_error(s, at, s->fault);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->fault->message, sizeof s->fault->message, format, arguments);
    va_end(arguments);
    hamel_keep_code_points(s->fault->message);
    return false;
}

static bool fail_no_memory(scanner *s) {
    s->fault->no_memory = true;
    return scan_fail(s, s->at, "memory could not be allocated");
}

/* Returns the length of the well-formed UTF-8 sequence at `p`, or 0 if the bytes are not well-formed. By RFC 3629 a
 * sequence has the shortest form, encodes no surrogate, and is at most U+10FFFF. */
static size_t utf8_sequence(const unsigned char *p, size_t left) {
    static const struct {
        unsigned char first, last, low, high; /* first byte: `first` to `last`; second byte: `low` to `high` */
        size_t length;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        if (p[0] < forms[k].first || p[0] > forms[k].last) continue;
        if (forms[k].length > left) return 0;
        if (forms[k].length > 1 && (p[1] < forms[k].low || p[1] > forms[k].high)) return 0;
        for (size_t i = 2; i < forms[k].length; i++)
            if ((p[i] & 0xC0) != 0x80) return 0;
        return forms[k].length;
    }
    return 0;
}

/* Description of a character for a message. A printable character is quoted. */
typedef struct found {
    char text[40];
} found;

static found what_is_at(const scanner *s, size_t at) {
    found f;
    if (at >= s->length) {
        snprintf(f.text, sizeof f.text, "the end of the text");
        return f;
    }
    size_t length = utf8_sequence(s->text + at, s->length - at);
    if (length == 0)
        snprintf(f.text, sizeof f.text, "the byte 0x%02X", (unsigned)s->text[at]);
    else if (s->text[at] < 0x20 || s->text[at] == 0x7F)
        snprintf(f.text, sizeof f.text, "the control character 0x%02X", (unsigned)s->text[at]);
    else
        snprintf(f.text, sizeof f.text, "`%.*s`", (int)length, (const char *)s->text + at);
    return f;
}

static int peek(const scanner *s) {
    return s->at < s->length ? s->text[s->at] : -1;
}

static void skip_space(scanner *s) {
    while (s->at < s->length &&
           (s->text[s->at] == ' ' || s->text[s->at] == '\t' || s->text[s->at] == '\n' || s->text[s->at] == '\r'))
        s->at++;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

/* Returns the value of the four hexadecimal digits at `at`, or -1 if one of the characters is not a digit. */
static int32_t hex4(const scanner *s, size_t at) {
    if (at + 4 > s->length) return -1;
    int32_t value = 0;
    for (size_t i = at; i < at + 4; i++) {
        int c = s->text[i];
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static void add_code_point(text_buffer *b, uint32_t c) {
    char bytes[4];
    size_t length;
    if (c < 0x80) {
        bytes[0] = (char)c;
        length = 1;
    } else if (c < 0x800) {
        bytes[0] = (char)(0xC0 | (c >> 6));
        length = 2;
    } else if (c < 0x10000) {
        bytes[0] = (char)(0xE0 | (c >> 12));
        length = 3;
    } else {
        bytes[0] = (char)(0xF0 | (c >> 18));
        length = 4;
    }
    for (size_t i = 1; i < length; i++) bytes[i] = (char)(0x80 | ((c >> (6 * (length - 1 - i))) & 0x3F));
    text_buffer_add(b, bytes, length);
}

/* Scans \uXXXX, or both halves of a surrogate pair. s->at is the offset of the backslash. */
static bool scan_unicode_escape(scanner *s, bool keep) {
    int32_t c = hex4(s, s->at + 2);
    if (c < 0) return scan_fail(s, s->at, "`\\u` needs four hexadecimal digits");
    if (c == 0) return scan_fail(s, s->at, "a string must not contain the character U+0000");
    size_t length = 6;
    if (c >= 0xDC00 && c <= 0xDFFF)
        return scan_fail(s, s->at, "the escape is half of a surrogate pair, and the other half is missing");
    if (c >= 0xD800 && c <= 0xDBFF) {
        bool escaped = s->at + 7 < s->length && s->text[s->at + 6] == '\\' && s->text[s->at + 7] == 'u';
        int32_t low = escaped ? hex4(s, s->at + 8) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return scan_fail(s, s->at, "the escape is half of a surrogate pair, and the other half is missing");
        c = 0x10000 + (c - 0xD800) * 0x400 + (low - 0xDC00);
        length = 12;
    }
    if (keep) add_code_point(&s->key, (uint32_t)c);
    s->at += length;
    return true;
}

static bool scan_escape(scanner *s, bool keep) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    int c = s->at + 1 < s->length ? s->text[s->at + 1] : -1;
    if (c == 'u') return scan_unicode_escape(s, keep);
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    if (letter == NULL)
        return scan_fail(s, s->at, "`\\` before %s is not an escape sequence of JSON", what_is_at(s, s->at + 1).text);
    if (keep) text_buffer_add(&s->key, &meanings[letter - letters], 1);
    s->at += 2;
    return true;
}

/* Scans the string whose opening quote is at s->at. If `keep` is set, appends the decoded bytes to s->key. */
static bool scan_string(scanner *s, bool keep) {
    size_t start = s->at++;
    for (;;) {
        size_t plain = s->at;
        while (s->at < s->length && s->text[s->at] >= 0x20 && s->text[s->at] < 0x80 && s->text[s->at] != '"' &&
               s->text[s->at] != '\\')
            s->at++;
        if (keep) text_buffer_add(&s->key, (const char *)s->text + plain, s->at - plain);
        int c = peek(s);
        if (c < 0) return scan_fail(s, start, "the closing quote of this string is missing");
        if (c == '"') break;
        if (c == '\\') {
            if (!scan_escape(s, keep)) return false;
        } else if (c < 0x20) {
            return scan_fail(s, s->at, "a string must not contain the control character 0x%02X; escape it",
                             (unsigned)c);
        } else {
            size_t length = utf8_sequence(s->text + s->at, s->length - s->at);
            if (length == 0) return scan_fail(s, s->at, "a string contains bytes that are not valid UTF-8");
            if (keep) text_buffer_add(&s->key, (const char *)s->text + s->at, length);
            s->at += length;
        }
    }
    s->at++;
    return !keep || !s->key.failed || fail_no_memory(s);
}

static size_t skip_digits(scanner *s) {
    size_t start = s->at;
    while (is_digit(peek(s))) s->at++;
    return s->at - start;
}

static bool check_finite(scanner *s, size_t start) {
    char copy[NUMBER_MAX + 1];
    memcpy(copy, s->text + start, s->at - start);
    copy[s->at - start] = '\0';
    return isfinite(strtod(copy, NULL)) || scan_fail(s, start, "the number %s is too large for a double", copy);
}

static bool scan_number(scanner *s) {
    size_t start = s->at;
    bool exponent = false;
    if (peek(s) == '-') s->at++;
    bool zero = peek(s) == '0';
    size_t digits = skip_digits(s);
    if (digits == 0) return scan_fail(s, start, "`-` is not followed by a digit");
    if (zero && digits > 1) return scan_fail(s, start, "a number must not have leading zeros");
    if (peek(s) == '.') {
        s->at++;
        if (skip_digits(s) == 0) return scan_fail(s, start, "a number needs a digit after its decimal point");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        exponent = true;
        s->at++;
        if (peek(s) == '+' || peek(s) == '-') s->at++;
        if (skip_digits(s) == 0) return scan_fail(s, start, "a number needs a digit in its exponent");
    }
    if (s->at - start > NUMBER_MAX) return scan_fail(s, start, "a number has more than %d characters", NUMBER_MAX);
    return !exponent || check_finite(s, start);
}

static bool scan_literal(scanner *s) {
    static const char *const literals[] = {"true", "false", "null"};
    for (size_t k = 0; k < 3; k++) {
        size_t length = strlen(literals[k]);
        if (length > s->length - s->at || memcmp(s->text + s->at, literals[k], length) != 0) continue;
        s->at += length;
        return true;
    }
    int c = peek(s);
    if (c == '\'') return scan_fail(s, s->at, "strings need double quotes, not single quotes");
    if (c == '/' || c == '#') return scan_fail(s, s->at, "comments are not allowed in JSON; use the key `description`");
    if (c == 'N' || c == 'I')
        return scan_fail(s, s->at, "NaN and Infinity are not allowed in JSON; write a finite number");
    if (c == '+' || c == '.') return scan_fail(s, s->at, "a number must begin with a digit or `-`");
    return scan_fail(s, s->at, "expected a value, found %s", what_is_at(s, s->at).text);
}

static bool open_frame(scanner *s, bool object, expect *next) {
    if (s->depth >= s->limits->depth) {
        s->fault->too_large = true;
        return scan_fail(s, s->at, "lists and objects are nested more than %zu deep", s->limits->depth);
    }
    s->stack[s->depth++] = (frame){.object = object, .number = object ? s->objects++ : 0};
    s->at++;
    *next = object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return true;
}

static bool scan_value(scanner *s, expect *next) {
    if (s->nodes++ >= s->limits->nodes) {
        s->fault->too_large = true;
        return scan_fail(s, s->at, "the document has more than %zu values", s->limits->nodes);
    }
    int c = peek(s);
    if (c == '{' || c == '[') return open_frame(s, c == '{', next);
    *next = s->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    if (c == '"') return scan_string(s, false);
    if (c == '-' || is_digit(c)) return scan_number(s);
    return scan_literal(s);
}

static bool scan_key(scanner *s, expect *next) {
    size_t start = s->at;
    if (peek(s) != '"')
        return scan_fail(s, s->at, "expected a key in double quotes, found %s", what_is_at(s, s->at).text);
    uint32_t number = s->stack[s->depth - 1].number;
    text_buffer_reset(&s->key);
    text_buffer_add(&s->key, (const char *)&number, sizeof number);
    if (!scan_string(s, true)) return false;
    hamel_status status = symbol_add(&s->keys, s->key.bytes, s->key.length, 0, NULL);
    if (status == HAMEL_INVALID) {
        int shown = s->key.length - sizeof number > 80 ? 80 : (int)(s->key.length - sizeof number);
        while (shown > 0 && ((unsigned char)s->key.bytes[sizeof number + (size_t)shown] & 0xC0) == 0x80) shown--;
        return scan_fail(s, start, "the key `%.*s` occurs twice in one object", shown, s->key.bytes + sizeof number);
    }
    if (status != HAMEL_OK) return fail_no_memory(s);
    skip_space(s);
    if (peek(s) != ':') return scan_fail(s, s->at, "expected `:` after a key, found %s", what_is_at(s, s->at).text);
    s->at++;
    *next = EXPECT_VALUE;
    return true;
}

static bool close_frame(scanner *s, expect *next) {
    assert(s->depth > 0);
    s->at++;
    s->depth--;
    *next = s->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    return true;
}

static bool scan_comma_or_end(scanner *s, expect *next) {
    bool object = s->stack[s->depth - 1].object;
    int c = peek(s);
    if (c == (object ? '}' : ']')) return close_frame(s, next);
    if (c != ',')
        return scan_fail(s, s->at, "expected `,` or `%s`, found %s", object ? "}" : "]", what_is_at(s, s->at).text);
    s->at++;
    *next = object ? EXPECT_KEY : EXPECT_VALUE;
    return true;
}

static bool scan_step(scanner *s, expect *next) {
    switch (*next) {
    case EXPECT_VALUE_OR_END:
        if (peek(s) == ']') return close_frame(s, next);
        return scan_value(s, next);
    case EXPECT_VALUE: return scan_value(s, next);
    case EXPECT_KEY_OR_END:
        if (peek(s) == '}') return close_frame(s, next);
        return scan_key(s, next);
    case EXPECT_KEY: return scan_key(s, next);
    case EXPECT_COMMA_OR_END: return scan_comma_or_end(s, next);
    case EXPECT_NOTHING: break;
    }
    return true;
}

static bool scan_document(scanner *s) {
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (s->length >= 3 && memcmp(s->text, byte_order_mark, 3) == 0)
        return scan_fail(s, 0, "the document begins with a byte order mark; remove it");
    expect next = EXPECT_VALUE;
    skip_space(s);
    if (s->at == s->length) return scan_fail(s, s->at, "the document is empty");
    while (next != EXPECT_NOTHING) {
        if (!scan_step(s, &next)) return false;
        skip_space(s);
    }
    if (s->at == s->length) return true;
    return scan_fail(s, s->at, "expected the end of the document, found %s", what_is_at(s, s->at).text);
}

static bool scan(scanner *s) {
    if (s->length > s->limits->bytes) {
        s->fault->too_large = true;
        return scan_fail(s, 0, "the document has more than %zu bytes", s->limits->bytes);
    }
    s->stack = arena_alloc(&s->memory, s->limits->depth, sizeof *s->stack);
    if (s->stack == NULL || symbol_table_init(&s->keys, &s->memory) != HAMEL_OK) return fail_no_memory(s);
    return scan_document(s);
}

/* cJSON's parser writes the position of an error to a static variable. Therefore only one thread may call it at a
 * time. */
static pthread_mutex_t cjson_parse = PTHREAD_MUTEX_INITIALIZER;

static cJSON *build_tree(const char *text, size_t length) {
    pthread_mutex_lock(&cjson_parse);
    cJSON *tree = cJSON_ParseWithLength(text, length);
    pthread_mutex_unlock(&cjson_parse);
    return tree;
}

cJSON *json_parse(const char *text, size_t length, const json_limits *limits, json_fault *fault) {
    json_limits usual = json_limits_default();
    json_fault unread = {0};
    scanner s = {.text = (const unsigned char *)text,
                 .length = length,
                 .limits = limits != NULL ? limits : &usual,
                 .fault = fault != NULL ? fault : &unread};
    *s.fault = (json_fault){0};
    arena_init(&s.memory, 0);
    text_buffer_init(&s.key, s.limits->bytes + sizeof(uint32_t) + 1);
    bool good = scan(&s);
    arena_free(&s.memory);
    text_buffer_free(&s.key);
    if (!good) return NULL;
    cJSON *tree = build_tree(text, length);
    if (tree == NULL) fail_no_memory(&s); /* cJSON accepts what the scan accepts, so memory has run out */
    return tree;
}

bool json_is_number(const char *text, size_t length) {
    json_fault unread;
    scanner s = {.text = (const unsigned char *)text, .length = length, .fault = &unread};
    return length > 0 && (*text == '-' || is_digit((unsigned char)*text)) && scan_number(&s) && s.at == length;
}

cJSON *json_parse_trusted(const char *text) {
    return text != NULL ? build_tree(text, strlen(text)) : NULL;
}

cJSON *json_at(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *json_text_at(const cJSON *object, const char *key) {
    const cJSON *item = json_at(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

double json_number_at(const cJSON *object, const char *key) {
    const cJSON *item = json_at(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

const cJSON *json_first_at(const cJSON *object, const char *key) {
    const cJSON *list = json_at(object, key);
    return list != NULL ? list->child : NULL;
}
