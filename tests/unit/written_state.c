/* written_state.c — random states that satisfy the constraints, and a parser of the definitions in written
 * equations; see written_state.h. */
#include "tests/unit/written_state.h"

#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

bool written_find_state(const hamel_model *model, uint64_t *seed, written_state *s) {
    hamel_error error = {0};
    double change[2 * WRITTEN_MOST];
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_true(model->n <= WRITTEN_MOST && model->m <= WRITTEN_MOST);
    random_fill(seed, change, 2 * WRITTEN_MOST, -0.05, 0.05);
    s->t = model->settings.start;
    for (size_t i = 0; i < model->n; i++) {
        s->q[i] = model->q0[i] + change[i] * fmax(0.1, fabs(model->q0[i]));
        s->v[i] = model->v0[i] + change[WRITTEN_MOST + i] * fmax(1, fabs(model->v0[i]));
    }
    hamel_status status = HAMEL_OK;
    for (int round = 0; round < 3 && status == HAMEL_OK; round++)
        status = dynamics_project(k, s->t, s->q, s->v, &s->worst, &error);
    if (status == HAMEL_OK) status = dynamics_evaluate(k, s->t, s->q, s->v, &error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, s->a, s->lambda, &error);
    dynamics_free(k);
    hamel_error_clear(&error);
    return status == HAMEL_OK && s->worst < 1e-11;
}

/* Adds the definitions in the part of the text with this title to the object `to` of a description. */
static void add_definitions(const char *text, const char *title, cJSON *tree, const char *to, bool quasi) {
    const char *part = strstr(text, title);
    if (!part) return;
    cJSON *object = cJSON_GetObjectItemCaseSensitive(tree, to);
    if (!object) object = quasi ? cJSON_AddArrayToObject(tree, to) : cJSON_AddObjectToObject(tree, to);
    for (const char *line = strchr(part + 1, '\n') + 1; *line && *line != '\n'; line = strchr(line, '\n') + 1) {
        const char *equal = strstr(line, " = ");
        assert_non_null(equal);
        char *name = strndup(line, (size_t)(equal - line)), *value = strndup(equal + 3, strcspn(equal + 3, "\n"));
        cJSON *item = quasi ? cJSON_CreateObject() : NULL;
        if (quasi) {
            cJSON_AddStringToObject(item, "name", name);
            cJSON_AddStringToObject(item, "definition", value);
            cJSON_AddItemToArray(object, item);
        } else {
            cJSON_AddStringToObject(object, name, value);
        }
        free(name);
        free(value);
    }
}

void written_replace_points(char *text) {
    for (char *at = strstr(text, "v_"); at; at = strstr(at + 2, "v_"))
        for (char *c = at; isalnum((unsigned char)*c) || *c == '_' || *c == '.'; c++)
            if (*c == '.') *c = '_';
}

bool written_open_with_definitions(written_example *e, const written_example *from, const char *text) {
    const char *with = strstr(text, "\n# with\n");
    if ((with && strstr(with, "lambda(")) || strstr(text, "table'") || strstr(text, "ideal(")) return false;
    cJSON *tree = cJSON_Duplicate(from->tree, true);
    add_definitions(text, "\n# velocities along", tree, "quasi_velocities", true);
    add_definitions(text, "\n# with", tree, "definitions", false);
    char *json = cJSON_PrintUnformatted(tree);
    assert_true(written_open_text(e, json, "lagrange"));
    free(json);
    cJSON_Delete(tree);
    return true;
}

double written_value(hamel_system *s, const char *expression, const program_inputs *in) {
    char *text = strdup(expression);
    written_replace_points(text);
    graph_node node = written_read(s, text);
    if (node < 0) fail_msg("%s: %s", text, s->error->count ? s->error->faults[0].message : "");
    free(text);
    return fixture_value(s->graph, node, in);
}
