/* judge.h — how a run has ended, from its summary: also a server's. */
#ifndef HAMEL_CLI_JUDGE_H
#define HAMEL_CLI_JUDGE_H

#include <cjson/cJSON.h>

/* Prints the warnings of a summary; the last warning of an incomplete run is its reason. CLI_RUN_FAILED for an incomplete
 * run, else CLI_OK. `file` is what messages name. */
int judge_summary(const cJSON *summary, const char *file);
int judge_summary_text(const char *json, const char *file);

#endif
