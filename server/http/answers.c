/* answers.c — see answers.h. */
#include "server/http/answers.h"

bool answers_take(answers_share *s, size_t bytes) {
    if (access_take_place(s->list, s->holder, PLACE_ANSWER, (double)bytes, s->most) != PLACE_TAKEN) return false;
    s->taken += (double)bytes;
    return true;
}

void answers_give_back(answers_share *s, size_t bytes) {
    access_leave_place(s->list, s->holder, PLACE_ANSWER, (double)bytes);
    s->taken -= (double)bytes;
}

void answers_leave(answers_share *s) {
    if (s->taken > 0) access_leave_place(s->list, s->holder, PLACE_ANSWER, s->taken);
    s->taken = 0;
}
