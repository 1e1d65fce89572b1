/* admission.h — admission of a request before its body is read: checks token, scope, rate and quotas. */
#pragma once

#include "server/http/request.h"

/* Sets r->owner, or fills in the reply that rejects the request: 401, 403, 429 or 503. */
void admit(request *r);

/* Exchanges the resource that the request holds for one of another kind. If that kind is used up, returns false and
 * keeps the first. */
bool admission_change(request *r, access_resource kind);

/* Releases the resources taken by admit. */
void admission_end(request *r);
