/* lexer.h — splits expression text into tokens, one at a time, without copying.
 *
 * A name consists of letters, digits and '_', and does not start with a digit. Letters are ASCII letters and all
 * non-ASCII code points except spaces, invisible characters and typographic operators. In arguments such as
 * lambda(B.norm), names may contain dots after the first letter; lexer_next_dotted reads such names. Columns count code
 * points from 1. Invalid UTF-8 and control characters are returned as TOKEN_ERROR with their column. */
#pragma once

#include "engine/base/error.h"

#include <stdint.h>

/* clang-format off */
typedef enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_NAME,
    TOKEN_PLUS, TOKEN_MINUS, TOKEN_TIMES, TOKEN_DIVIDE, TOKEN_POWER,
    TOKEN_OPEN, TOKEN_CLOSE, TOKEN_INDEX_OPEN, TOKEN_INDEX_CLOSE, TOKEN_COMMA, TOKEN_PRIME,
    TOKEN_LESS, TOKEN_LESS_EQUAL, TOKEN_GREATER, TOKEN_GREATER_EQUAL, TOKEN_EQUAL, TOKEN_NOT_EQUAL,
    TOKEN_ASSIGN, /* the single '=' of an equation */
    TOKEN_RANGE,  /* ".." of a family's range */
    TOKEN_ERROR
} token_kind;
/* clang-format on */

typedef struct token {
    token_kind kind;
    const char *text;    /* pointer into the source; not NUL-terminated */
    uint32_t length;     /* bytes */
    int32_t column;      /* column of the first character */
    double number;       /* value of a TOKEN_NUMBER */
    const char *message; /* static error message of a TOKEN_ERROR; otherwise NULL */
} token;

typedef struct lexer {
    const char *text, *at, *end;
    int32_t column;
} lexer;

void lexer_init(lexer *l, const char *text, size_t length);
token lexer_next(lexer *l);        /* returns TOKEN_END again at the end */
token lexer_next_dotted(lexer *l); /* like lexer_next, but names may contain dots */

/* Reads the rest of a dotted name whose index has just been read: "1" of J[2].1. If nothing follows the index, returns
 * a name of length 0. */
token lexer_next_suffix(lexer *l);
