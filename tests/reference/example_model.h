/* example_model.h — the model of a shipped description. */
#pragma once

#include "api/simulate.h"

/* Fails the test where there is none. Free it with hamel_model_free. */
hamel_model *example_model(const api_example *example, hamel_jit jit);
