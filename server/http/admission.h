/* admission.h — whether a request may go on, decided from its headers before the body is read: token, scope, rate,
 * quotas. */
#ifndef HAMEL_SERVER_HTTP_ADMISSION_H
#define HAMEL_SERVER_HTTP_ADMISSION_H

#include "server/http/request.h"

/* Fills r->holder, or the reply that turns the request away: 401, 403 or 429. */
void admit(request *r);

/* A place of another kind for the one that it has. False: there is none, and it keeps its own. */
bool admission_change(request *r, access_place kind);

/* Gives back what admit has taken. */
void admission_end(request *r);

#endif
