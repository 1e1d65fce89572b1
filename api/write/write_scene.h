/* write_scene.h — writes the scene of a header as JSON. */
#pragma once

#include "api/json/builder.h"
#include "engine/hamel.h"

/* Adds "scene": {"dimension", "shapes": [{"shape", "name", "points", "axes", "sizes"}]}. */
void api_add_scene(json_builder *b, cJSON *header, const hamel_scene *scene);
