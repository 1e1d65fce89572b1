/* accept.h — content negotiation by Accept and Accept-Encoding (RFC 9110 12.4, 12.5). */
#pragma once

#include "api/write/row_writer.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the index of the offer that an Accept header prefers. The most specific range decides the weight of an offer.
 * Among equal weights, the closer match is preferred, then the earlier range in the header, then `preferred`. Returns
 * `preferred` if the header is NULL or empty, and `count` if no offer is acceptable. */
size_t accept_choose(const char *header, const char *const *offers, size_t count, size_t preferred);

/* Returns the result format that an Accept header prefers, by the same rules. Returns `fallback` if the header is NULL
 * or empty, and NULL if no format is acceptable. */
const row_format *accept_row_format(const char *header, const row_format *fallback);

/* Returns true if an Accept-Encoding header names the coding `offer` or `*`. Returns false if the header is NULL or
 * empty. */
bool accept_allows(const char *header, const char *offer);
