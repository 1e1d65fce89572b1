/* read_system.c — reads the top level of a description, and computes its hash.
 *
 * To add a section to the format, add a line to the table below and a read function to one of the files read_*.c. */
#include "api/read/read_system.h"

#include "api/json/reader.h"
#include "api/json/strict_json.h"
#include "api/json/text.h"
#include "api/read/read_parts.h"
#include "api/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

static void read_format_version(json_reader *r, const cJSON *value, const char *pointer, void *field) {
    (void)field;
    if (!cJSON_IsNumber(value))
        json_expected(r, value, pointer, "the format version 1");
    else if (value->valuedouble < 1 || value->valuedouble > 1)
        json_fault_at(r, pointer, "this release reads format version 1, found %g", value->valuedouble);
}

#define FIELD(name) offsetof(hamel_description, name)

/* clang-format off */
const json_kind system_kind = JSON_KIND("a system",
    {"hamel",              read_format_version,   0,                         true},
    {"name",               json_read_text,        FIELD(name),               false},
    {"description",        json_read_text,        FIELD(text),               false},
    {"source",             json_read_text,        FIELD(source),             false},
    {"parameters",         read_parameters,       0,                         false},
    {"coordinates",        read_coordinates,      0,                         true},
    {"quasi_velocities",   read_quasi_velocities, 0,                         false},
    {"tables",             read_tables,           0,                         false},
    {"definitions",        read_definitions,      FIELD(definitions),        false},
    {"kinetic_energy",     json_read_expressions, FIELD(kinetic_energy),     false},
    {"potential_energy",   json_read_expressions, FIELD(potential_energy),   false},
    {"lagrangian",         json_read_expression,  FIELD(lagrangian),         false},
    {"acceleration_energy", json_read_expression, FIELD(acceleration_energy), false},
    {"dissipation",        json_read_expression,  FIELD(dissipation),        false},
    {"generalized_forces", read_named,            FIELD(generalized_forces), false},
    {"gravity",            json_read_vector,      FIELD(gravity),            false},
    {"particles",          read_particles,        0,                         false},
    {"bodies",             read_bodies,           0,                         false},
    {"points",             read_points,           0,                         false},
    {"frames",             read_frames,           0,                         false},
    {"springs",            read_springs,          0,                         false},
    {"dampers",            read_dampers,          0,                         false},
    {"loads",              read_loads,            0,                         false},
    {"joints",             read_joints,           0,                         false},
    {"constraints",        read_constraints,      0,                         false},
    {"events",             read_events,           0,                         false},
    {"outputs",            read_named,            FIELD(outputs),            false},
    {"invariants",         read_invariants,       0,                         false},
    {"checks",             read_checks,           0,                         false},
    {"scene",              read_scene,            0,                         false},
    {"simulation",         read_simulation,       FIELD(simulation),         false},
    {"sweep",              read_sweep,            0,                         false});
/* clang-format on */

const char *api_hash(const cJSON *tree, arena *memory) {
    char *canonical = json_canonical(tree);
    if (canonical == NULL) return NULL;
    char *hex = arena_alloc(memory, DIGEST_HEX + 1, 1);
    if (hex != NULL) api_digest(canonical, strlen(canonical), hex);
    free(canonical);
    return hex;
}

/* Reports a missing `simulation` or `simulation.stop`. */
static void need_stop(json_reader *r, const cJSON *tree) {
    const cJSON *simulation = json_at(tree, "simulation");
    if (cJSON_IsObject(tree) && simulation == NULL)
        json_fault_at(r, "", "%s needs the key `simulation`", system_kind.name);
    if (cJSON_IsObject(simulation) && json_at(simulation, "stop") == NULL)
        json_fault_at(r, "/simulation", "%s needs the key `stop`", simulation_kind.name);
}

hamel_status api_read_system(hamel_description *out, const cJSON *tree, bool timeless, arena *memory,
                             hamel_error *error) {
    *out = (hamel_description){.simulation.timeless = timeless};
    hamel_error faults = {0}; /* used if the caller passes no `error` */
    json_reader reader = {.memory = memory, .error = error != NULL ? error : &faults, .elsewhere = &simulation_kind};
    size_t before = reader.error->count + reader.error->omitted;
    json_read_object(&reader, tree, "", &system_kind, out);
    if (!timeless) need_stop(&reader, tree);
    bool faulty = reader.error->count + reader.error->omitted > before;
    hamel_error_clear(&faults);
    if (reader.no_memory)
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated for the description");
    if (faulty) return HAMEL_INVALID;
    out->hash = api_hash(tree, memory);
    if (out->hash == NULL)
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated for the description");
    return HAMEL_OK;
}
