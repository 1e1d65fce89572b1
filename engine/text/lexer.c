/* lexer.c — splits expression text into tokens, in one pass.
 *
 * `at` is always the first byte of a code point, and `column` its column. Each TOKEN_ERROR skips the invalid byte, so a
 * caller that continues after errors reaches the end of the text.
 *
 * Every code point outside ASCII is a letter, except invisible characters and characters that look like a space or an
 * operator. If these characters were letters, they would become parts of names, and the error would report an unknown
 * name instead of the character. */
#include "engine/text/lexer.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_LENGTH_MAX = 300 };

/* Code points outside ASCII that are not letters, in increasing order. */
static const struct {
    uint32_t first, last;
    const char *message;
} NO_LETTERS[] = {
    {0x0080, 0x009F, "a control character"},
    {0x00A0, 0x00A0, "a no-break space; use an ordinary space"},
    {0x00AD, 0x00AD, "an invisible character (soft hyphen)"},
    {0x00B2, 0x00B3, "superscripts are not supported; write x^2"},
    {0x00B7, 0x00B7, "a typographic multiplication sign; write *"},
    {0x00B9, 0x00B9, "superscripts are not supported; write x^2"},
    {0x00D7, 0x00D7, "a typographic multiplication sign; write *"},
    {0x00F7, 0x00F7, "a typographic division sign; write /"},
    {0x2000, 0x200A, "a typographic space; use an ordinary space"},
    {0x200B, 0x200F, "an invisible character"},
    {0x2010, 0x2015, "a typographic dash; write -"},
    {0x2018, 0x201B, "a typographic quotation mark; a derivative is written with '"},
    {0x2028, 0x202F, "an invisible character"},
    {0x2032, 0x2034, "a typographic prime; a derivative is written with '"},
    {0x205F, 0x206F, "an invisible character"},
    {0x2212, 0x2212, "a typographic minus sign; write -"},
    {0x2215, 0x2215, "a typographic division sign; write /"},
    {0x2219, 0x221B, "a typographic operator; write *, sqrt() or cbrt()"},
    {0x2260, 0x2260, "a typographic inequality sign; write !="},
    {0x2264, 0x2264, "a typographic inequality sign; write <="},
    {0x2265, 0x2265, "a typographic inequality sign; write >="},
    {0x22C5, 0x22C5, "a typographic multiplication sign; write *"},
    {0x3000, 0x3000, "a typographic space; use an ordinary space"},
    {0xD800, 0xDFFF, "invalid UTF-8"},
    {0xFE00, 0xFE0F, "an invisible character (variation selector)"},
    {0xFEFF, 0xFEFF, "an invisible character (byte order mark)"},
    {0xFFF0, 0xFFFF, "a special character"},
    {0xE0000, 0xE0FFF, "an invisible character"},
};

void lexer_init(lexer *l, const char *text, size_t length) {
    if (length == 0) text = ""; /* `text` may then be NULL */
    *l = (lexer){.text = text, .at = text, .end = text + length, .column = 1};
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_ascii_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the byte `offset` bytes after the current one, or -1 beyond the end. */
static int peek(const lexer *l, size_t offset) {
    return (size_t)(l->end - l->at) > offset ? (unsigned char)l->at[offset] : -1;
}

static void skip(lexer *l, size_t bytes) { /* the bytes must be ASCII, because each byte counts as one column */
    assert((size_t)(l->end - l->at) >= bytes);
    l->at += bytes;
    l->column += (int32_t)bytes;
}

/* Decodes the UTF-8 sequence at the current byte to *code. Returns the length of the sequence, or 0 if it is invalid
 * (RFC 3629). */
static size_t decode(const lexer *l, uint32_t *code) {
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    int first = peek(l, 0);
    size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0) return 0;
    *code = (uint32_t)first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        int next = peek(l, i);
        if (next < 0 || (next & 0xC0) != 0x80) return 0;
        *code = *code << 6 | ((uint32_t)next & 0x3F);
    }
    return *code < LEAST[length] || *code > 0x10FFFF ? 0 : length;
}

/* If a non-ASCII letter starts at the current byte, returns its length. Otherwise returns 0 and sets *message. */
static size_t letter_length(const lexer *l, const char **message) {
    uint32_t code = 0;
    size_t length = decode(l, &code);
    *message = "invalid UTF-8";
    if (length == 0) return 0;
    for (size_t i = 0; i < sizeof NO_LETTERS / sizeof *NO_LETTERS && NO_LETTERS[i].first <= code; i++) {
        if (code > NO_LETTERS[i].last) continue;
        *message = NO_LETTERS[i].message;
        return 0;
    }
    return length;
}

static token make_token(lexer *l, token_kind kind, size_t bytes) {
    token t = {.kind = kind, .text = l->at, .length = (uint32_t)bytes, .column = l->column};
    skip(l, bytes);
    return t;
}

/* Skips the rest of an invalid code point, so that `at` is at the start of a code point again. */
static token make_error(lexer *l, const char *message, size_t bytes) {
    token t = make_token(l, TOKEN_ERROR, bytes);
    while (l->at < l->end && ((unsigned char)*l->at & 0xC0) == 0x80) l->at++;
    t.message = message;
    return t;
}

static void skip_digits(lexer *l) {
    while (is_digit(peek(l, 0))) skip(l, 1);
}

/* Skips a number. A point is a decimal point unless a second point follows, as in 1..N. */
static void skip_number(lexer *l) {
    skip_digits(l);
    if (peek(l, 0) == '.' && peek(l, 1) != '.') {
        skip(l, 1);
        skip_digits(l);
    }
    int c = peek(l, 0);
    if (c != 'e' && c != 'E') return;
    int sign = peek(l, 1);
    size_t digits_at = sign == '+' || sign == '-' ? 2 : 1;
    if (!is_digit(peek(l, digits_at))) return;
    skip(l, digits_at);
    skip_digits(l);
}

static token read_number(lexer *l) {
    if (peek(l, 0) == '0' && (peek(l, 1) == 'x' || peek(l, 1) == 'X') && isxdigit(peek(l, 2)))
        return make_error(l, "hexadecimal numbers are not supported", 2);
    token t = {.kind = TOKEN_NUMBER, .text = l->at, .column = l->column};
    skip_number(l);
    t.length = (uint32_t)(l->at - t.text);
    if (t.length > NUMBER_LENGTH_MAX) {
        t.message = "the number has more than 300 characters";
    } else {
        char digits[NUMBER_LENGTH_MAX + 1]; /* copied, because strtod needs a NUL after the number */
        memcpy(digits, t.text, t.length);
        digits[t.length] = '\0';
        t.number = strtod(digits, NULL);
        if (!isfinite(t.number)) t.message = "the number is too large for double precision (1.8e308)";
    }
    if (t.message) t.kind = TOKEN_ERROR;
    return t;
}

/* Returns the length in bytes of the name character at the current byte, or 0 if it is not a name character. An invalid
 * sequence ends the name, and the next token reports the sequence. */
static size_t name_character(const lexer *l) {
    int c = peek(l, 0);
    if (is_ascii_letter(c) || is_digit(c)) return 1;
    const char *message;
    return c >= 0x80 ? letter_length(l, &message) : 0;
}

/* Skips a dot in a dotted name. Returns false without skipping if the current byte is not a dot, or if no name
 * character follows the dot. */
static bool skip_dot(lexer *l) {
    if (peek(l, 0) != '.') return false;
    lexer after = *l;
    skip(&after, 1);
    if (name_character(&after) == 0) return false;
    *l = after;
    return true;
}

/* Reads a name whose first letter is the current byte. */
static token read_name(lexer *l, bool dotted) {
    token t = {.kind = TOKEN_NAME, .text = l->at, .column = l->column};
    do
        for (size_t bytes; (bytes = name_character(l)) > 0; l->column++) l->at += bytes;
    while (dotted && skip_dot(l));
    t.length = (uint32_t)(l->at - t.text);
    return t;
}

/* Returns a token of two characters if `second` follows, otherwise a token of one character. */
static token one_or_two(lexer *l, token_kind one, int second, token_kind two) {
    return peek(l, 1) == second ? make_token(l, two, 2) : make_token(l, one, 1);
}

static token read_symbol(lexer *l) {
    static const char single[] = "+-/^()[],'";
    static const token_kind kinds[] = {TOKEN_PLUS,  TOKEN_MINUS,      TOKEN_DIVIDE,      TOKEN_POWER, TOKEN_OPEN,
                                       TOKEN_CLOSE, TOKEN_INDEX_OPEN, TOKEN_INDEX_CLOSE, TOKEN_COMMA, TOKEN_PRIME};
    const char *found = strchr(single, peek(l, 0));
    if (found) return make_token(l, kinds[found - single], 1);
    switch (peek(l, 0)) {
    case '<': return one_or_two(l, TOKEN_LESS, '=', TOKEN_LESS_EQUAL);
    case '>': return one_or_two(l, TOKEN_GREATER, '=', TOKEN_GREATER_EQUAL);
    case '=': return one_or_two(l, TOKEN_ASSIGN, '=', TOKEN_EQUAL);
    case '*':
        if (peek(l, 1) == '*') return make_error(l, "powers are written with ^", 2);
        return make_token(l, TOKEN_TIMES, 1);
    case '!':
        if (peek(l, 1) == '=') return make_token(l, TOKEN_NOT_EQUAL, 2);
        return make_error(l, "the negation of a condition is written 'not'", 1);
    case '.':
        if (peek(l, 1) == '.') return make_token(l, TOKEN_RANGE, 2);
        return make_error(l, "the point is not part of a number", 1);
    case '&': return make_error(l, "conditions are joined with 'and'", 1);
    case '|': return make_error(l, "conditions are joined with 'or'; a magnitude is written abs(x)", 1);
    case '%': return make_error(l, "the remainder is written mod(x, y)", 1);
    case '"': return make_error(l, "a quotation mark; x'' is written with two apostrophes", 1);
    default: return make_error(l, "this character has no meaning in an expression", 1);
    }
}

static token next_token(lexer *l, bool dotted) {
    int c = peek(l, 0);
    for (; c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(l, 0)) skip(l, 1);
    if (c < 0) return make_token(l, TOKEN_END, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) return read_number(l);
    if (is_ascii_letter(c)) return read_name(l, dotted);
    if (c < 0x20 || c == 0x7F) return make_error(l, "a control character", 1);
    if (c < 0x80) return read_symbol(l);
    const char *message;
    if (letter_length(l, &message) > 0) return read_name(l, dotted);
    return make_error(l, message, 1);
}

token lexer_next(lexer *l) {
    return next_token(l, false);
}

token lexer_next_dotted(lexer *l) {
    return next_token(l, true);
}

token lexer_next_suffix(lexer *l) {
    return skip_dot(l) ? read_name(l, true) : (token){.kind = TOKEN_NAME, .text = l->at, .column = l->column};
}
