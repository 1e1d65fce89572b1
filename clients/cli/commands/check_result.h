/* check_result.h — prints the warnings of a run and determines its exit code, from the summary. */
#pragma once

#include <cjson/cJSON.h>

/* Print the warnings of a summary, each after the name `file`. The last warning of an incomplete run is the reason why it
 * ended early. Return CLI_RUN_FAILED for an incomplete run, otherwise CLI_OK. */
int check_result_print(const cJSON *summary, const char *file);
int check_result_print_text(const char *json, const char *file);
