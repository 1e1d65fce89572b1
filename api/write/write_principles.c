/* write_principles.c — writes the results of the analyses `gauss`, `hamilton`, `bracket` and `canonical` as JSON. */
#include "api/analyze.h"

bool api_add_gauss(cJSON *answer, const hamel_gauss *found) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, answer, "gauss");
    json_add_number(&b, object, "gauss", found->gauss);
    json_add_number(&b, object, "gauss_nonideal", found->gauss_nonideal);
    json_add_number(&b, object, "directions", (double)found->directions);
    cJSON *slopes = json_add_object(&b, object, "largest_slope");
    json_add_number(&b, slopes, "gauss", found->slope);
    json_add_number(&b, slopes, "gauss_nonideal", found->slope_nonideal);
    json_add_number(&b, slopes, "scale", found->slope_scale);
    cJSON *list = json_add_list(&b, object, "reactions");
    for (size_t i = 0; i < found->count && !b.failed; i++) {
        cJSON *item = json_append_object(&b, list);
        json_add_text(&b, item, "coordinate", found->reactions[i].coordinate);
        json_add_number(&b, item, "ideal", found->reactions[i].ideal);
        json_add_number(&b, item, "nonideal", found->reactions[i].nonideal);
        json_add_number(&b, item, "prescribed", found->reactions[i].prescribed);
    }
    return !b.failed;
}

bool api_add_hamilton(cJSON *answer, const hamel_hamilton *found) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, answer, "hamilton");
    json_add_number(&b, object, "start", found->start);
    json_add_number(&b, object, "stop", found->stop);
    json_add_truth(&b, object, "shortened", found->shortened);
    json_add_number(&b, object, "steps", (double)found->steps);
    json_add_number(&b, object, "variations", (double)found->variations);
    json_add_number(&b, object, "action", found->action);
    json_add_number(&b, object, "lagrange_action", found->lagrange_action);
    json_add_number(&b, object, "principle", found->principle);
    json_add_number(&b, object, "varying_action", found->varying_action);
    json_add_number_or_null(&b, object, "without_constraints", found->constrained, found->without_constraints);
    json_add_number(&b, object, "tolerance", found->tolerance);
    json_add_truth(&b, object, "holds", found->holds);
    return !b.failed;
}

static void add_found_bracket(json_builder *b, cJSON *to, const char *key, const hamel_bracket *found) {
    cJSON *object = json_add_object(b, to, key);
    json_add_text(b, object, "first", found->first);
    json_add_text(b, object, "second", found->second);
    json_add_text(b, object, "value", found->value);
}

bool api_add_bracket(cJSON *answer, const hamel_bracket *found) {
    json_builder b = {0};
    add_found_bracket(&b, answer, "bracket", found);
    json_add_truth_or_null(&b, cJSON_GetObjectItemCaseSensitive(answer, "bracket"), "zero",
                           found->zero != HAMEL_ZERO_UNKNOWN, found->zero == HAMEL_IS_ZERO);
    return !b.failed;
}

bool api_add_canonical(cJSON *answer, const hamel_canonical *found) {
    json_builder b = {0};
    cJSON *object = json_add_object(&b, answer, "canonical");
    json_add_truth_or_null(&b, object, "canonical", found->decided, found->canonical);
    json_add_number(&b, object, "brackets", (double)found->brackets);
    if (found->failed)
        add_found_bracket(&b, object, "failing", &found->failing);
    else
        json_add_null(&b, object, "failing");
    return !b.failed;
}
