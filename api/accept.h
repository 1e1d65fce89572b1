/* accept.h — what a client prefers: Accept and Accept-Encoding (RFC 9110 12.4, 12.5). */
#ifndef HAMEL_API_ACCEPT_H
#define HAMEL_API_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

/* The offer that an Accept header asks for: q-values, wildcards, the most specific range first, then the order in the
 * header, then `preferred`. `preferred` when the header is NULL or empty; `count` when nothing on offer is acceptable. */
size_t accept_choose(const char *header, const char *const *offers, size_t count, size_t preferred);

/* Whether an Accept-Encoding header names this coding, or any by `*`. False when it is NULL or empty. */
bool accept_allows(const char *header, const char *offer);

#endif
