/* routes_page.c — pages for browsers: `/` with its style and scripts, and `/docs`. They are compiled into the program
 * (api/documents.h) and load nothing from other hosts. */
#include "api/documents.h"
#include "server/http/accept.h"
#include "server/http/routes.h"

#include <string.h>

static handled answer_html(request *r, const unsigned char *bytes, size_t length) {
    r->reply.page = true;
    return reply_static(r, 200, "text/html; charset=utf-8", (const char *)bytes, length);
}

/* Replies with the page, or with the index in JSON to clients that prefer it or send no Accept header. */
handled service_index(request *r) {
    static const char index[] =
        "{\"service\":\"hamel\",\"version\":\"" HAMEL_VERSION "\",\"links\":{"
        "\"description\":\"/openapi.json\",\"documentation\":\"/docs\",\"simulations\":\"/v1/"
        "simulations\",\"analyses\":\"/v1/analyses\","
        "\"checks\":\"/v1/checks\",\"jobs\":\"/v1/jobs\",\"batches\":\"/v1/batches\",\"examples\":\"/v1/examples\","
        "\"health\":\"/healthz\",\"readiness\":\"/readyz\",\"metrics\":\"/metrics\"}}\n";
    static const char *const offers[] = {"application/json", "text/html"};
    if (accept_choose(request_header(r, "Accept"), offers, 2, 0) == 1) {
        return answer_html(r, api_page_html, api_page_html_length);
    }
    return reply_static(r, 200, "application/json", index, sizeof index - 1);
}

typedef struct page_file {
    const char *name;
    const unsigned char *bytes;
    const size_t *length;
} page_file;

handled page_part(request *r) {
    /* clang-format off */
    static const page_file files[] = {
        {"page.css",   api_page_css,    &api_page_css_length},
        {"page.mjs",   api_page_main,   &api_page_main_length},
        {"canvas.mjs", api_page_canvas, &api_page_canvas_length},
        {"chart.mjs",  api_page_chart,  &api_page_chart_length},
        {"editor.mjs", api_page_editor, &api_page_editor_length},
        {"jobs.mjs",   api_page_jobs,   &api_page_jobs_length},
        {"motion.mjs", api_page_motion, &api_page_motion_length},
        {"rows.mjs",   api_page_rows,   &api_page_rows_length},
        {"scene.mjs",  api_page_scene,  &api_page_scene_length},
        {"server.mjs", api_page_server, &api_page_server_length},
        {"show.mjs",   api_page_show,   &api_page_show_length},
        {"text.mjs",   api_page_text,   &api_page_text_length},
    };
    /* clang-format on */
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        if (strcmp(files[k].name, r->parameter) != 0) continue;
        bool style = strstr(files[k].name, ".css") != NULL;
        const char *type = style ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
        return reply_static(r, 200, type, (const char *)files[k].bytes, *files[k].length);
    }
    return reply_problem(r, 404, "not-found", "Not found", "the page has no file '%s'", r->parameter);
}

handled docs_page(request *r) {
    return answer_html(r, api_docs_html, api_docs_html_length);
}

handled docs_style(request *r) {
    return reply_static(r, 200, "text/css; charset=utf-8", (const char *)api_docs_css, api_docs_css_length);
}

handled docs_script(request *r) {
    return reply_static(r, 200, "text/javascript; charset=utf-8", (const char *)api_docs_js, api_docs_js_length);
}
