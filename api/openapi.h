/* openapi.h — the OpenAPI document of the HTTP API (api/openapi.json), compiled in by api/embed_file.sh. */
#ifndef HAMEL_API_OPENAPI_H
#define HAMEL_API_OPENAPI_H

#include <stddef.h>

extern const unsigned char api_openapi[];
extern const size_t api_openapi_length;

#endif
