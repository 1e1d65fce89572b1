/* written_text.c — generation and parsing of equations as text. */
#include "tests/unit/written_text.h"

#include "api/json/strict_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *written_file(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    (void)!fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

bool written_open_text(written_example *e, const char *text, const char *as) {
    char assignment[64];
    json_limits json = json_limits_default();
    api_limits limits = api_limits_default();
    json_fault fault;
    hamel_error error = {0};
    snprintf(assignment, sizeof assignment, "simulation.formulation=%s", as);
    const char *assignments[] = {assignment};
    e->tree = json_parse(text, strlen(text), &json, &fault);
    assert_non_null(e->tree);
    assert_int_equal(api_describe(&e->description, e->tree, false, assignments, 1, &limits, NULL, &error), HAMEL_OK);
    hamel_status status = model_derive(&e->model, &e->description.description, NULL, NULL, &error);
    if (status != HAMEL_OK) print_message("%s\n", error.count ? error.faults[0].message : "no model");
    hamel_error_clear(&error);
    if (status != HAMEL_OK) written_close(e);
    return status == HAMEL_OK;
}

void written_open(written_example *e, const char *json, const char *as) {
    char text[4096];
    assert_true(strlen(json) < sizeof text);
    size_t length = strlen(json);
    for (size_t k = 0; k <= length; k++) text[k] = json[k] == '`' ? '"' : json[k];
    assert_true(written_open_text(e, text, as));
}

void written_open_example(written_example *e, const char *name, const char *as) {
    char path[256];
    snprintf(path, sizeof path, "api/examples/%s.json", name);
    char *text = written_file(path);
    assert_true(written_open_text(e, text, as));
    free(text);
}

void written_close(written_example *e) {
    hamel_model_free(e->model);
    api_description_free(&e->description);
    cJSON_Delete(e->tree);
}

char *written_equations(written_example *e, hamel_notation notation) {
    bool simplified;
    char *text = written_equations_within(e, notation, hamel_limits_default().arranging, &simplified);
    assert_true(simplified);
    return text;
}

char *written_equations_within(written_example *e, hamel_notation notation, double arranging, bool *simplified) {
    hamel_written *written = NULL;
    hamel_error error = {0};
    hamel_limits limits = hamel_limits_default();
    limits.arranging = arranging;
    const hamel_description *d = &e->description.description;
    hamel_status status = hamel_write_equations(&written, d, notation, &limits, NULL, &error);
    if (status != HAMEL_OK) print_message("%s\n", error.count ? error.faults[0].message : "");
    assert_int_equal(status, HAMEL_OK);
    char *text = strdup(written->text);
    *simplified = written->simplified;
    hamel_written_free(written);
    return text;
}

static graph_node multiplier(void *context, syntax_quantity quantity, const int32_t *arguments) {
    hamel_system *s = context;
    assert_int_equal(quantity, QUANTITY_LAMBDA);
    return graph_symbol(s->graph, SYMBOL_MULTIPLIER, arguments[0]);
}

graph_node written_read(hamel_system *s, char *text) {
    hamel_expression expression = {.text = text, .pointer = ""};
    system_quantities quantities = {s, multiplier};
    return system_bind(s, &expression, PLACE_OUTPUT, NULL, SYNTAX_EXPRESSION, &quantities);
}
