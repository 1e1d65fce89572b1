/* cors.h — cross-origin requests from browsers: CORS protocol (Fetch standard, 3.2).
 *
 * The option is `*` or a comma-separated list of origins; if it is empty, no origin is allowed. Credentials are never
 * allowed. Tokens are sent in a header that the page itself sets, so `*` gives no page access that it does not have. */
#pragma once

#include "server/http/response.h"

/* Adds the CORS headers for the Origin of this request, and those of a preflight reply to OPTIONS. */
void cors_add_headers(const request *r, response_headers *h);
