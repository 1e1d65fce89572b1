/* test_read_system.c — the reader stores every key of the format in its field. The reader reports all structural errors
 * together, each with its JSON Pointer. */
#include "api/json/strict_json.h"
#include "api/read/read_system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    arena memory;
    hamel_error error;
    hamel_description d;
    hamel_status status;
} fixture;

/* In these texts, single quotes replace double quotes, and backquotes replace the primes of velocities. */
static cJSON *tree_of(const char *text) {
    char *json = strdup(text);
    assert_non_null(json);
    for (char *p = json; *p != '\0'; p++) *p = *p == '\'' ? '"' : *p == '`' ? '\'' : *p;
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *tree = json_parse(json, strlen(json), &limits, &fault);
    if (tree == NULL) fail_msg("%s: %zu: %s", json, fault.column, fault.message);
    free(json);
    return tree;
}

static void read_tree(fixture *f, const cJSON *tree) {
    *f = (fixture){0};
    arena_init(&f->memory, 0);
    f->status = api_read_system(&f->d, tree, false, &f->memory, &f->error);
}

static void read_text(fixture *f, const char *text) {
    cJSON *tree = tree_of(text);
    read_tree(f, tree);
    cJSON_Delete(tree); /* the description must not refer to the tree any more */
}

static void close_fixture(fixture *f) {
    arena_free(&f->memory);
    hamel_error_clear(&f->error);
}

static void expect_read(fixture *f, const char *text) {
    read_text(f, text);
    if (f->status != HAMEL_OK) fail_msg("%s: %s", f->error.faults[0].pointer, f->error.faults[0].message);
}

static const hamel_fault *fault_at(const fixture *f, const char *pointer) {
    for (size_t k = 0; k < f->error.count; k++) {
        if (strcmp(f->error.faults[k].pointer, pointer) == 0) return &f->error.faults[k];
    }
    return NULL;
}

/* Expects one error in `text`, at `pointer`, whose message contains `part`. */
static void expect_fault(const char *text, const char *pointer, const char *part) {
    fixture f;
    read_text(&f, text);
    assert_int_equal(f.status, HAMEL_INVALID);
    for (size_t k = 1; k < f.error.count; k++) print_message("also: %s\n", f.error.faults[k].message);
    assert_int_equal(f.error.count, 1);
    assert_string_equal(f.error.faults[0].pointer, pointer);
    if (strstr(f.error.faults[0].message, part) == NULL) fail_msg("no `%s` in `%s`", part, f.error.faults[0].message);
    close_fixture(&f);
}

/* A complete description with additional JSON members. */
#define SYSTEM(members) "{'hamel':1,'coordinates':['x'],'simulation':{'stop':1}," members "}"
#define SIMULATION(members) "{'hamel':1,'coordinates':['x'],'simulation':{'stop':1," members "}}"

static void the_smallest_system_is_read(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, "{'hamel':1,'coordinates':['x'],'simulation':{'stop':10}}");
    assert_int_equal(f.d.coordinate_count, 1);
    assert_string_equal(f.d.coordinates[0].name, "x");
    assert_string_equal(f.d.coordinates[0].pointer, "/coordinates/0");
    assert_false(hamel_expression_given(&f.d.coordinates[0].initial));
    assert_true(f.d.simulation.stop.is_number);
    assert_float_equal(f.d.simulation.stop.number, 10, 0);
    assert_string_equal(f.d.simulation.stop.pointer, "/simulation/stop");
    assert_false(hamel_expression_given(&f.d.simulation.samples));
    assert_int_equal(strlen(f.d.hash), 64);
    close_fixture(&f);
}

static void parameters_are_numbers_expressions_or_objects(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, SYSTEM("'parameters':{'m':2,'I':'m*l^2','a/b~':{'value':'m','unit':'kg','description':'d'}}"));
    assert_int_equal(f.d.parameter_count, 3);
    assert_float_equal(f.d.parameters[0].value.number, 2, 0);
    assert_string_equal(f.d.parameters[1].value.text, "m*l^2");
    assert_string_equal(f.d.parameters[1].value.pointer, "/parameters/I");
    assert_string_equal(f.d.parameters[2].name, "a/b~");
    assert_string_equal(f.d.parameters[2].value.pointer, "/parameters/a~1b~0/value");
    assert_string_equal(f.d.parameters[2].unit, "kg");
    close_fixture(&f);
}

static void maps_and_lists_of_expressions_are_the_same(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, SYSTEM("'definitions':{'u':['x',1],'v':'x`'},"
                           "'outputs':[{'name':'a[i]','expression':'x','for':'i = 1..3'}],"
                           "'generalized_forces':{'x':-1}"));
    assert_int_equal(f.d.definitions.count, 2);
    assert_int_equal(f.d.definitions.items[0].value.count, 2);
    assert_string_equal(f.d.definitions.items[0].value.items[1].pointer, "/definitions/u/1");
    assert_string_equal(f.d.definitions.items[1].value.items[0].text, "x'");
    assert_string_equal(f.d.outputs.items[0].name, "a[i]");
    assert_string_equal(f.d.outputs.items[0].value.items[0].pointer, "/outputs/0/expression");
    assert_string_equal(f.d.outputs.items[0].family.ranges[0], "i = 1..3");
    assert_string_equal(f.d.generalized_forces.items[0].name, "x");
    assert_true(f.d.generalized_forces.items[0].value.items[0].is_number);
    close_fixture(&f);
}

static void an_object_may_define_the_ranges_of_a_family(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, "{'hamel':1,'simulation':{'stop':1},"
                    "'coordinates':[{'name':'u[i,j]','for':{'i':[1,'N'],'j':[0.5,'i']},'initial':'i','velocity':2}]}");
    const hamel_coordinate *c = &f.d.coordinates[0];
    assert_int_equal(c->family.count, 2);
    assert_string_equal(c->family.ranges[0], "i = 1..N");
    assert_string_equal(c->family.ranges[1], "j = 0.5..i");
    assert_string_equal(c->family.pointer, "/coordinates/0/for");
    assert_string_equal(c->initial.text, "i");
    close_fixture(&f);
}

static void physical_properties_are_read(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, SYSTEM("'name':'N','description':'D','source':'S','kinetic_energy':['a','b'],"
                           "'potential_energy':'c','lagrangian':'L','dissipation':'D','gravity':[0,'-g'],"
                           "'particles':[{'name':'P','mass':'m','position':['x',0,1]}],"
                           "'constraints':[{'name':'rod','equation':'x = 1'}]"));
    assert_string_equal(f.d.text, "D");
    assert_int_equal(f.d.kinetic_energy.count, 2);
    assert_string_equal(f.d.kinetic_energy.items[1].pointer, "/kinetic_energy/1");
    assert_int_equal(f.d.potential_energy.count, 1);
    assert_string_equal(f.d.potential_energy.items[0].pointer, "/potential_energy");
    assert_string_equal(f.d.lagrangian.text, "L");
    assert_string_equal(f.d.gravity.items[1].text, "-g");
    assert_int_equal(f.d.particles[0].position.at.count, 3);
    assert_string_equal(f.d.constraints[0].equation.pointer, "/constraints/0/equation");
    close_fixture(&f);
}

static void bodies_and_points_on_them_are_read(void **state) {
    (void)state;
    fixture f;
    expect_read(
        &f,
        SYSTEM("'bodies':[{'name':'B','mass':2,'in':'G','position':{'frame':'F','at':['x',0,1]},'inertia':[1,2,'C'],"
               "'orientation':{'euler':{'sequence':'zxz','angles':['x',0,'t']}},'for':'i = 1..2'}],"
               "'points':[{'name':'P','body':'B','at':[1,0,0]},{'name':'O','position':[0,0,0]}],"
               "'frames':[{'name':'F','in':'G','origin':[1,2,3],'orientation':{'matrix':[[1,0,0],[0,'c',"
               "'-s'],[0,'s','c']]}},{'name':'G'}]"));
    const hamel_body *b = &f.d.bodies[0];
    assert_string_equal(b->in, "G");
    assert_string_equal(b->in_pointer, "/bodies/0/in");
    assert_string_equal(b->position.frame, "F");
    assert_string_equal(b->position.frame_pointer, "/bodies/0/position/frame");
    assert_string_equal(b->position.at.items[2].pointer, "/bodies/0/position/at/2");
    assert_int_equal(b->inertia.count, 3);
    assert_string_equal(b->inertia.items[2].text, "C");
    assert_int_equal(b->orientation.kind, HAMEL_EULER);
    assert_string_equal(b->orientation.sequence, "zxz");
    assert_string_equal(b->orientation.sequence_pointer, "/bodies/0/orientation/euler/sequence");
    assert_string_equal(b->orientation.values.items[2].pointer, "/bodies/0/orientation/euler/angles/2");
    assert_string_equal(b->family.ranges[0], "i = 1..2");
    assert_string_equal(f.d.points[0].position.frame, "B");
    assert_int_equal(f.d.points[0].position.at.count, 3);
    assert_null(f.d.points[1].position.frame);
    assert_string_equal(f.d.frames[0].in, "G");
    assert_int_equal(f.d.frames[0].orientation.kind, HAMEL_MATRIX);
    assert_string_equal(f.d.frames[0].orientation.values.items[5].text, "-s");
    assert_string_equal(f.d.frames[0].orientation.values.items[5].pointer, "/frames/0/orientation/matrix/1/2");
    assert_int_equal(f.d.frames[1].orientation.kind, HAMEL_PARALLEL);
    assert_int_equal(f.d.frames[1].position.at.count, 0);
    close_fixture(&f);

    expect_read(&f,
                SYSTEM("'bodies':[{'name':'A','mass':1,'position':['x',0],'inertia':'I','orientation':{'angle':'x'}},"
                       "{'name':'B','mass':1,'position':['x',0,0],'inertia':[[1,2,3],[4,5,6],[7,8,9]],"
                       "'orientation':{'quaternion':[1,0,0,'x']}}]"));
    assert_int_equal(f.d.bodies[0].inertia.count, 1);
    assert_int_equal(f.d.bodies[0].orientation.kind, HAMEL_ANGLE);
    assert_int_equal(f.d.bodies[1].inertia.count, 9);
    assert_float_equal(f.d.bodies[1].inertia.items[5].number, 6, 0);
    assert_int_equal(f.d.bodies[1].orientation.kind, HAMEL_QUATERNION);
    assert_string_equal(f.d.bodies[1].orientation.values.items[3].text, "x");
    close_fixture(&f);
}

static void links_loads_and_joints_are_read(void **state) {
    (void)state;
    fixture f;
    expect_read(&f,
                SYSTEM("'springs':[{'name':'s','between':['A',{'frame':'B','at':[1,0]}],'stiffness':'k','length':2}],"
                       "'dampers':[{'between':[[0,1],'A'],'coefficient':3}],"
                       "'loads':[{'on':'A','force':['x',0],'torque':'M'},{'on':'B','torque':[1,2,3]}],"
                       "'joints':[{'name':'J','type':'rolling','between':['A','B'],'radius':'r','normal':[0,1]},"
                       "{'name':'K','type':'knife_edge','between':['A'],'direction':[1,0]}]"));
    const hamel_link *s = &f.d.springs[0];
    assert_int_equal(s->end_count, 2);
    assert_string_equal(s->between[0].name, "A");
    assert_null(s->between[1].name);
    assert_string_equal(s->between[1].position.frame, "B");
    assert_string_equal(s->between[1].pointer, "/springs/0/between/1");
    assert_string_equal(s->strength.text, "k");
    assert_float_equal(s->length.number, 2, 0);
    assert_null(f.d.dampers[0].name);
    assert_int_equal(f.d.dampers[0].between[0].position.at.count, 2);
    assert_false(hamel_expression_given(&f.d.dampers[0].length));
    assert_string_equal(f.d.loads[0].on_pointer, "/loads/0/on");
    assert_int_equal(f.d.loads[0].force.count, 2);
    assert_int_equal(f.d.loads[0].torque.count, 1);
    assert_int_equal(f.d.loads[1].torque.count, 3);
    assert_string_equal(f.d.joints[0].type, "rolling");
    assert_string_equal(f.d.joints[0].radius.text, "r");
    assert_string_equal(f.d.joints[0].direction.pointer, "/joints/0/normal");
    assert_int_equal(f.d.joints[1].end_count, 1);
    close_fixture(&f);
}

static void errors_of_bodies_and_joints_are_found(void **state) {
    (void)state;
#define BODY(members) SYSTEM("'bodies':[{'name':'B','mass':1,'position':['x',0,0]," members "}]")
#define ORIENTATION(members) BODY("'orientation':{" members "}")
#define JOINT(members) SYSTEM("'joints':[{'name':'J'," members "}]")
    static const struct {
        const char *text, *pointer, *part;
    } cases[] = {
        {BODY("'inertia':[1,2]"), "/bodies/0/inertia", "found a list of length 2"},
        {BODY("'inertia':[[1,2,3],[4,5,6]]"), "/bodies/0/inertia", "three rows"},
        {BODY("'inertia':true"), "/bodies/0/inertia", "found true"},
        {ORIENTATION(""), "/bodies/0/orientation", "exactly one"},
        {ORIENTATION("'angle':1,'quaternion':[1,0,0,0]"), "/bodies/0/orientation", "exactly one"},
        {ORIENTATION("'quaternion':[1,0,0]"), "/bodies/0/orientation/quaternion", "found a list of length 3"},
        {ORIENTATION("'quaternion':[[1,0,0,0]]"), "/bodies/0/orientation/quaternion", "found a list of length 1"},
        {ORIENTATION("'quaternion':'q'"), "/bodies/0/orientation/quaternion", "four components"},
        {ORIENTATION("'matrix':[1,0,0,0,1,0,0,0,1]"), "/bodies/0/orientation/matrix", "three rows"},
        {ORIENTATION("'matrix':[[1,0],[0,1,0,0],[0,0,1]]"), "/bodies/0/orientation/matrix", "three rows"},
        {ORIENTATION("'euler':{'sequence':'ZXZ','angles':['x',0]}"), "/bodies/0/orientation/euler/angles",
         "three angles, found a list of length 2"},
        {ORIENTATION("'euler':{'angles':['x',0,0]}"), "/bodies/0/orientation/euler", "`sequence`"},
        {SYSTEM("'points':[{'name':'P'}]"), "/points/0", "either `position`, or `body` and `at`"},
        {SYSTEM("'points':[{'name':'P','at':[0,0]}]"), "/points/0", "either `position`, or `body` and `at`"},
        {SYSTEM("'points':[{'name':'P','position':[0,0],'body':'B','at':[0,0]}]"), "/points/0", "either `position`"},
        {SYSTEM("'frames':[{'name':'F','in':'G','origin':{'frame':'G','at':[0,0]}}]"), "/frames/0",
         "exclude each other"},
        {SYSTEM("'springs':[{'between':['A'],'stiffness':1}]"), "/springs/0/between", "a list of two"},
        {SYSTEM("'springs':[{'between':['A',1],'stiffness':1}]"), "/springs/0/between/1", "found a number"},
        {SYSTEM("'dampers':[{'between':['A','B']}]"), "/dampers/0", "`coefficient`"},
        {SYSTEM("'loads':[{'on':'A'}]"), "/loads/0", "a `force`, a `torque`, or both"},
        {SYSTEM("'loads':[{'on':'A','torque':[1,2]}]"), "/loads/0/torque", "found a list of length 2"},
        {JOINT("'type':'fixed','between':[]"), "/joints/0/between", "one or two"},
        {JOINT("'type':'fixed','between':['A','B'],'axis':[0,1]"), "/joints/0/axis", "a `fixed` joint has no `axis`"},
        {JOINT("'type':'rolling','between':['A','B'],'axis':[0,1]"), "/joints/0/axis", "has no `axis`"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        expect_fault(cases[k].text, cases[k].pointer, cases[k].part);
#undef BODY
#undef ORIENTATION
#undef JOINT
}

static void invariants_and_checks_are_read(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, SYSTEM("'invariants':['energy()',{'name':'p','expression':'x`','tolerance':1e-3}],"
                           "'checks':[{'expression':'x','equals':1,'tolerance':'tol'},"
                           "{'name':'c','expression':'x','at':'always','min':0,'max':2},"
                           "{'name':'d','expression':'x','at':'2*T','max':1},"
                           "{'name':'e','expression':'x','at':'final','max':1}]"));
    assert_null(f.d.invariants[0].name);
    assert_false(hamel_expression_given(&f.d.invariants[0].tolerance));
    assert_string_equal(f.d.invariants[1].expression.text, "x'");
    assert_float_equal(f.d.invariants[1].tolerance.number, 1e-3, 0);
    assert_string_equal(f.d.checks[0].name, "x");
    assert_int_equal(f.d.checks[0].at, HAMEL_CHECK_FINAL);
    assert_string_equal(f.d.checks[0].tolerance.text, "tol");
    assert_int_equal(f.d.checks[1].at, HAMEL_CHECK_ALWAYS);
    assert_int_equal(f.d.checks[2].at, HAMEL_CHECK_TIME);
    assert_string_equal(f.d.checks[2].time.text, "2*T");
    assert_int_equal(f.d.checks[3].at, HAMEL_CHECK_FINAL);
    close_fixture(&f);
}

static void simulation_keys_are_read(void **state) {
    (void)state;
    fixture f;
    expect_read(&f, SIMULATION("'start':'t0','samples':'2*N + 1','rtol':1e-8,'atol':{'x':1e-9},'method':'bdf',"
                               "'formulation':'udwadia-kalaba','projection':{'baumgarte':[1,'b']},"
                               "'initialization':'project','max_steps':100,'max_step':0.1,'time_limit':5,"
                               "'record':['t','x'],'certify':true"));
    const hamel_simulation *s = &f.d.simulation;
    assert_string_equal(s->start.text, "t0");
    assert_string_equal(s->samples.text, "2*N + 1");
    assert_int_equal(s->atol_by_name.count, 1);
    assert_false(hamel_expression_given(&s->atol));
    assert_int_equal(s->method, HAMEL_METHOD_BDF);
    assert_string_equal(s->formulation, "udwadia-kalaba");
    assert_string_equal(s->formulation_pointer, "/simulation/formulation");
    assert_int_equal(s->projection, HAMEL_PROJECTION_BAUMGARTE);
    assert_string_equal(s->baumgarte[1].text, "b");
    assert_string_equal(s->baumgarte[1].pointer, "/simulation/projection/baumgarte/1");
    assert_int_equal(s->initialization, HAMEL_INITIALIZATION_PROJECT);
    assert_float_equal(s->max_steps.number, 100, 0);
    assert_true(s->has_record);
    assert_string_equal(s->record[1], "x");
    assert_string_equal(s->record_pointers[1], "/simulation/record/1");
    assert_true(s->certify);
    close_fixture(&f);

    expect_read(&f,
                SIMULATION("'times':[0,'T',1],'formulation':'auto','method':'auto','projection':false,'record':[]"));
    assert_int_equal(f.d.simulation.times.count, 3);
    assert_null(f.d.simulation.formulation);
    assert_int_equal(f.d.simulation.projection, HAMEL_PROJECTION_OFF);
    assert_true(f.d.simulation.has_record);
    assert_int_equal(f.d.simulation.record_count, 0);
    close_fixture(&f);
}

static void unknown_keys_get_the_nearest_key_as_suggestion(void **state) {
    (void)state;
    fixture f;
    read_text(&f, SYSTEM("'potental_energy':'x','stop':2,'a/b':1"));
    assert_int_equal(f.status, HAMEL_INVALID);
    assert_int_equal(f.error.count, 3);
    assert_string_equal(fault_at(&f, "/potental_energy")->suggestion, "potential_energy");
    assert_string_equal(fault_at(&f, "/stop")->suggestion, "move `stop` to simulation");
    assert_non_null(strstr(fault_at(&f, "/a~1b")->suggestion, "use one of the keys of a system: hamel, name, "));
    close_fixture(&f);
}

static void structural_errors_report_found_and_expected(void **state) {
    (void)state;
    expect_fault("[]", "", "expected an object, found an empty list");
    expect_fault("{'coordinates':[],'simulation':{'stop':1}}", "", "needs the key `hamel`");
    expect_fault("{'hamel':2,'coordinates':[],'simulation':{'stop':1}}", "/hamel", "format version 1, found 2");
    expect_fault("{'hamel':1,'coordinates':[],'simulation':{}}", "/simulation", "needs the key `stop`");
    expect_fault(SYSTEM("'name':1"), "/name", "expected a string, found a number");
    expect_fault(SYSTEM("'kinetic_energy':null"), "/kinetic_energy", "found null");
    expect_fault(SYSTEM("'kinetic_energy':['x',true]"), "/kinetic_energy/1", "a number or an expression, found true");
    expect_fault(SYSTEM("'parameters':[1]"), "/parameters", "expected an object of names and values, found a list");
    expect_fault(SYSTEM("'parameters':{'m':[1]}"), "/parameters/m", "found a list");
    expect_fault(SYSTEM("'parameters':{'m':{'unit':'kg'}}"), "/parameters/m", "needs the key `value`");
    expect_fault(SYSTEM("'gravity':[1]"), "/gravity", "2 or 3 expressions, found a list of length 1");
    expect_fault(SYSTEM("'particles':[{'name':'P','mass':1,'position':'x'}]"), "/particles/0/position",
                 "list of 2 or 3");
    expect_fault(SYSTEM("'constraints':[{'equation':'x'}]"), "/constraints/0", "a constraint needs the key `name`");
    expect_fault(SYSTEM("'constraints':[{'name':'c','equation':'x','friction':{}}]"), "/constraints/0/friction",
                 "friction needs the key `coefficient`");
    expect_fault(SYSTEM("'constraints':{'name':'c'}"), "/constraints",
                 "expected a list of constraints, found an object");
    expect_fault(SYSTEM("'outputs':{'a':['x','y']}"), "/outputs/a", "found a list");
    expect_fault(SYSTEM("'outputs':'x'"), "/outputs", "found a string");
    expect_fault(SYSTEM("'checks':[{'expression':'x'}]"), "/checks/0", "needs `equals`, `min` or `max`");
    expect_fault(SYSTEM("'checks':[{'expression':'x','max':1,'at':[]}]"), "/checks/0/at", "a time");
    expect_fault(SYSTEM("'invariants':[{'expression':'x','tolerance':[1]}]"), "/invariants/0/tolerance",
                 "expected a number or an expression");
    expect_fault("{'hamel':1,'coordinates':[''],'simulation':{'stop':1}}", "/coordinates/0", "not be empty");
    expect_fault("{'hamel':1,'coordinates':[3],'simulation':{'stop':1}}", "/coordinates/0", "a name or an object");
    expect_fault("{'hamel':1,'coordinates':[{'name':'x','for':{}}],'simulation':{'stop':1}}", "/coordinates/0/for",
                 "an index and its range");
    expect_fault("{'hamel':1,'coordinates':[{'name':'x','for':{'i':[1]}}],'simulation':{'stop':1}}",
                 "/coordinates/0/for/i", "two bounds");
}

static void errors_of_the_simulation_are_found(void **state) {
    (void)state;
    expect_fault(SIMULATION("'samples':true"), "/simulation/samples", "expected a number or an expression");
    expect_fault(SIMULATION("'samples':3,'step':0.1"), "/simulation", "exclude each other");
    expect_fault(SIMULATION("'times':[]"), "/simulation/times", "is empty");
    expect_fault(SIMULATION("'method':'BDF'"), "/simulation/method", "`auto`, `bdf`, `adams` or `erk`, found `BDF`");
    expect_fault(SIMULATION("'projection':{'baumgarte':[1]}"), "/simulation/projection/baumgarte", "alpha and beta");
    expect_fault(SIMULATION("'certify':1"), "/simulation/certify", "true or false");
    expect_fault(SIMULATION("'record':'x'"), "/simulation/record", "a list of columns");
    expect_fault(SIMULATION("'record':[1]"), "/simulation/record/0", "expected a name");
}

static void all_errors_are_reported_together(void **state) {
    (void)state;
    fixture f;
    read_text(&f, "{'hamel':'1','coordinates':[{'nam':'x'}],'kinetic_energy':{},'simulation':{'stpo':1,'rtol':[]}}");
    assert_int_equal(f.status, HAMEL_INVALID);
    static const char *const pointers[] = {
        "/hamel",           "/coordinates/0/nam", "/coordinates/0",   "/kinetic_energy",
        "/simulation/stpo", "/simulation",        "/simulation/rtol",
    };
    for (size_t k = 0; k < sizeof pointers / sizeof pointers[0]; k++) {
        if (fault_at(&f, pointers[k]) == NULL) fail_msg("no error at %s", pointers[k]);
    }
    assert_int_equal(f.error.count, sizeof pointers / sizeof pointers[0]);
    close_fixture(&f);
}

static void the_hash_does_not_depend_on_spelling(void **state) {
    (void)state;
    fixture a, b, c;
    expect_read(&a, "{'hamel':1,'coordinates':['x'],'simulation':{'stop':1}}");
    expect_read(&b, "{ 'simulation': {'stop': 1.0}, 'coordinates': ['x'], 'hamel': 1e0 }");
    expect_read(&c, "{'hamel':1,'coordinates':['x'],'simulation':{'stop':2}}");
    assert_string_equal(a.d.hash, b.d.hash);
    assert_string_not_equal(a.d.hash, c.d.hash);
    /* output of sha256sum for {"coordinates":["x"],"hamel":1,"simulation":{"stop":1}} */
    assert_string_equal(a.d.hash, "4f6477333b14abc1043ed2424aab140f8e2268185e89b9b9fbe5c52a925f9cba");
    close_fixture(&a);
    close_fixture(&b);
    close_fixture(&c);
}

static void a_small_arena_gives_an_error_status(void **state) {
    (void)state;
    cJSON *tree =
        tree_of(SYSTEM("'parameters':{'m':{'value':1}},'outputs':{'a':'x'},'checks':[{'expression':1,'max':1}],"
                       "'constraints':[{'name':'c','equation':'x','for':{'i':[1,2]}}]"));
    bool done = false;
    for (size_t limit = 1; limit < 200000 && !done; limit += limit < 2000 ? 16 : 997) {
        fixture f = {0};
        arena_init(&f.memory, limit);
        f.status = api_read_system(&f.d, tree, false, &f.memory, &f.error);
        done = f.status == HAMEL_OK;
        if (!done) assert_int_equal(f.status, HAMEL_NO_MEMORY);
        close_fixture(&f);
    }
    assert_true(done);
    cJSON_Delete(tree);
}

static void overrides_change_the_description(void **state) {
    (void)state;
    cJSON *tree = tree_of("{'hamel':1,'parameters':{'m':1,'l':{'value':2,'unit':'m'}},"
                          "'coordinates':['x',{'name':'y','initial':3}],'simulation':{'stop':1,'samples':5}}");
    static const char *const assignments[] = {
        "m=2*l",
        " l = 5",
        "x.initial=0.5",
        "y.velocity=-1",
        "simulation.step=0.1",
        "simulation.method=bdf",
        "simulation.certify=true",
        "simulation.record=[\"x\"]",
    };
    hamel_error error = {0};
    for (size_t k = 0; k < sizeof assignments / sizeof assignments[0]; k++) {
        assert_int_equal(api_override(tree, assignments[k], &error), HAMEL_OK);
    }
    fixture f;
    read_tree(&f, tree);
    cJSON_Delete(tree);
    assert_int_equal(f.status, HAMEL_OK);
    assert_string_equal(f.d.parameters[0].value.text, "2*l");
    assert_float_equal(f.d.parameters[1].value.number, 5, 0);
    assert_string_equal(f.d.parameters[1].unit, "m");
    assert_float_equal(f.d.coordinates[0].initial.number, 0.5, 0);
    assert_float_equal(f.d.coordinates[1].initial.number, 3, 0);
    assert_float_equal(f.d.coordinates[1].velocity.number, -1, 0);
    assert_false(hamel_expression_given(&f.d.simulation.samples));
    assert_float_equal(f.d.simulation.step.number, 0.1, 0);
    assert_int_equal(f.d.simulation.method, HAMEL_METHOD_BDF);
    assert_true(f.d.simulation.certify);
    assert_int_equal(f.d.simulation.record_count, 1);
    close_fixture(&f);
}

static void invalid_overrides_are_rejected(void **state) {
    (void)state;
    static const struct {
        const char *assignment, *part, *suggestion;
    } cases[] = {
        {"mass=2", "no parameter `mass`", "masse"},
        {"phi.initial=1", "no coordinate `phi`", NULL},
        {"thet.velocity=1", "no coordinate `thet`", "theta"},
        {"masse", "expected NAME=VALUE", NULL},
        {"masse=", "expected NAME=VALUE", NULL},
        {"=3", "expected NAME=VALUE", NULL},
        {"theta.start=1", "`theta.start` cannot be set", NULL},
    };
    cJSON *tree = tree_of("{'hamel':1,'parameters':{'masse':1},'coordinates':['theta']}");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hamel_error error = {0};
        assert_int_equal(api_override(tree, cases[k].assignment, &error), HAMEL_INVALID);
        assert_int_equal(error.count, 1);
        if (strstr(error.faults[0].message, cases[k].part) == NULL) fail_msg("%s", error.faults[0].message);
        if (cases[k].suggestion != NULL) assert_string_equal(error.faults[0].suggestion, cases[k].suggestion);
        hamel_error_clear(&error);
    }
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_system_is_read),
        cmocka_unit_test(parameters_are_numbers_expressions_or_objects),
        cmocka_unit_test(maps_and_lists_of_expressions_are_the_same),
        cmocka_unit_test(an_object_may_define_the_ranges_of_a_family),
        cmocka_unit_test(physical_properties_are_read),
        cmocka_unit_test(bodies_and_points_on_them_are_read),
        cmocka_unit_test(links_loads_and_joints_are_read),
        cmocka_unit_test(errors_of_bodies_and_joints_are_found),
        cmocka_unit_test(invariants_and_checks_are_read),
        cmocka_unit_test(simulation_keys_are_read),
        cmocka_unit_test(unknown_keys_get_the_nearest_key_as_suggestion),
        cmocka_unit_test(structural_errors_report_found_and_expected),
        cmocka_unit_test(errors_of_the_simulation_are_found),
        cmocka_unit_test(all_errors_are_reported_together),
        cmocka_unit_test(the_hash_does_not_depend_on_spelling),
        cmocka_unit_test(a_small_arena_gives_an_error_status),
        cmocka_unit_test(overrides_change_the_description),
        cmocka_unit_test(invalid_overrides_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
