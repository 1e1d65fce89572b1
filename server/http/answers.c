/* answers.c — budget of unread answers; see answers.h. */
#include "server/http/answers.h"

bool answers_take(answers_share *s, size_t bytes) {
    if (access_take(s->list, s->owner, ACCESS_ANSWER_BYTES, (double)bytes, s->most) != ACCESS_GRANTED) return false;
    s->taken += (double)bytes;
    return true;
}

void answers_give_back(answers_share *s, size_t bytes) {
    access_release(s->list, s->owner, ACCESS_ANSWER_BYTES, (double)bytes);
    s->taken -= (double)bytes;
}

void answers_leave(answers_share *s) {
    if (s->taken > 0) access_release(s->list, s->owner, ACCESS_ANSWER_BYTES, s->taken);
    s->taken = 0;
}
