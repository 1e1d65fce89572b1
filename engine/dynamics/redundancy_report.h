/* redundancy_report.h — names of redundant constraints and of the constraints that imply them. */
#pragma once

#include "engine/linear/redundancy.h"
#include "engine/model/model.h"

/* Returns all sets in one block of memory, which the caller releases with free(). Returns NULL if out of memory. */
hamel_redundancy *redundancy_report(const redundancy *r, const hamel_model *model);

/* Writes the names of a set as "`a`, `b` and `c`", truncated to `size`. */
void redundancy_names(const redundancy *r, const hamel_model *model, size_t set, char *text, size_t size);
