/* write_redundancy.h — writes redundant constraints as JSON, for summaries and analyses. */
#pragma once

#include "api/json/builder.h"
#include "engine/hamel.h"

/* Adds "redundancy": {"sets": [[names]], "not_unique": [names]}; both are empty if `r` is NULL. */
void api_add_redundancy(json_builder *b, cJSON *object, const hamel_redundancy *r);
