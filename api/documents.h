/* documents.h — what is served as it stands in this folder, compiled in by api/embed_file.sh: the OpenAPI document, the
 * schema of descriptions, and the page that shows the API. */
#ifndef HAMEL_API_DOCUMENTS_H
#define HAMEL_API_DOCUMENTS_H

#include <stddef.h>

extern const unsigned char api_openapi[], api_system_schema[], api_docs_html[], api_docs_css[], api_docs_js[];
extern const size_t api_openapi_length, api_system_schema_length, api_docs_html_length, api_docs_css_length,
    api_docs_js_length;

#endif
