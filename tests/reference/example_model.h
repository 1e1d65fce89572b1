/* example_model.h — the model of an example. */
#pragma once

#include "api/simulate.h"

/* An error fails the test. Free the model with hamel_model_free. */
hamel_model *example_model(const api_example *example, hamel_jit jit);
