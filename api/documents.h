/* documents.h — the files that the daemon serves. They are the OpenAPI document, the schema of descriptions, the
 * documentation page (docs/) and the front end (clients/web/). api/embed_file.sh converts each file to a C array. */
#pragma once

#include <stddef.h>

extern const unsigned char api_openapi[], api_system_schema[], api_docs_html[], api_docs_css[], api_docs_js[];
extern const size_t api_openapi_length, api_system_schema_length, api_docs_html_length, api_docs_css_length,
    api_docs_js_length;

extern const unsigned char api_page_html[], api_page_css[], api_page_main[], api_page_canvas[], api_page_chart[],
    api_page_editor[], api_page_jobs[], api_page_motion[], api_page_rows[], api_page_scene[], api_page_server[],
    api_page_show[], api_page_text[];
extern const size_t api_page_html_length, api_page_css_length, api_page_main_length, api_page_canvas_length,
    api_page_chart_length, api_page_editor_length, api_page_jobs_length, api_page_motion_length, api_page_rows_length,
    api_page_scene_length, api_page_server_length, api_page_show_length, api_page_text_length;
