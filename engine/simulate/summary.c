/* summary.c — names of outcomes, and deallocation of summaries. */
#include "engine/hamel.h"

#include <stdlib.h>

const char *hamel_outcome_name(hamel_outcome outcome) {
    static const char *const names[] = {"completed", "terminated", "incomplete", "failed"};
    return (size_t)outcome < sizeof names / sizeof *names ? names[outcome] : "failed";
}

void hamel_summary_free(hamel_summary *s) {
    if (!s) return;
    for (size_t i = 0; i < s->warning_count; i++) free(s->warnings[i]);
    free(s->warnings);
    free(s->residuals);
    free(s->invariants);
    free(s->checks);
    free(s->initial_changes);
    free(s->redundant);
    free(s->redundancy);
    free(s->error_estimate);
    *s = (hamel_summary){0};
}
