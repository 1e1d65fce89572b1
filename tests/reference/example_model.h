/* example_model.h — the model of an example. */
#pragma once

#include "api/simulate.h"

/* Returns a model, which the caller frees with hamel_model_free. An error fails the test. */
hamel_model *example_model(const api_example *example, hamel_jit jit);
