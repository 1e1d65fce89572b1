/* answers.h — the one budget for answers that wait for their readers: whole answers that have been made, what a stream
 * keeps behind its ring, rows that a format needs all at once. It is shared between token owners as streams are: each
 * may take as much as it leaves to the others. Small answers pass without being counted: their sum is bounded by the
 * number of connections. */
#ifndef HAMEL_SERVER_HTTP_ANSWERS_H
#define HAMEL_SERVER_HTTP_ANSWERS_H

#include "server/access.h"

enum { ANSWER_SMALL_BYTES = 16 * 1024 };

/* What one answer has taken. Its users call under a lock of their own. */
typedef struct answers_share {
    access_list *list;
    access_holder *holder; /* NULL: an answer that is open to all */
    double most, taken;    /* bytes: of all answers; of this one */
} answers_share;

bool answers_take(answers_share *s, size_t bytes); /* false: it would exceed the budget, or the owner's share of it */
void answers_give_back(answers_share *s, size_t bytes);
void answers_leave(answers_share *s); /* gives everything back */

#endif
