/* run.h — the initial summary of a run. */
#pragma once

#include "engine/model/model.h"

/* Fills in the settings and warnings of the model. The outcome is HAMEL_FAILED until the run has ended. */
void run_summary_init(hamel_summary *s, const hamel_model *model);
