/* answers.h — common budget of answers that have not been read: whole answers, bytes that a stream keeps beyond its
 * ring, and rows that a format collects. Each token owner may use as much as remains free. Small answers are not
 * counted: the number of connections bounds their sum. */
#pragma once

#include "server/access.h"

enum { ANSWER_SMALL_BYTES = 16 * 1024 };

/* Share of one answer in the budget. Access is serialized by the caller. */
typedef struct answers_share {
    access_list *list;
    token_owner *owner; /* NULL for an answer without a token */
    double most, taken; /* bytes: bound on all answers; taken by this one */
} answers_share;

bool answers_take(answers_share *s,
                  size_t bytes); /* false if this would exceed the budget or the owner's share of it */
void answers_give_back(answers_share *s, size_t bytes);
void answers_leave(answers_share *s); /* releases all bytes */
