/* run.h — the summary that a run starts from. */
#pragma once

#include "engine/model/model.h"

/* Fills the settings and warnings of the model. The outcome is HAMEL_FAILED until the run has ended. */
void run_summary_init(hamel_summary *s, const hamel_model *model);
