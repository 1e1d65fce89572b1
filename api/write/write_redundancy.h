/* write_redundancy.h — dependent constraints as JSON, for summaries and analyses. */
#ifndef HAMEL_API_WRITE_REDUNDANCY_H
#define HAMEL_API_WRITE_REDUNDANCY_H

#include "api/json_builder.h"
#include "engine/hamel.h"

/* Adds "redundancy": {"sets": [[names]], "not_unique": [names]}; `r` NULL: no constraint depends on others. */
void api_add_redundancy(json_builder *b, cJSON *object, const hamel_redundancy *r);

#endif
