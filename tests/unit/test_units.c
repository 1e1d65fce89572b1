/* test_units.c — engine/system/unit.c and units.c: units as products of powers of base units, and the check that
 * equations are homogeneous. Error messages are in tests/diagnostics/units.txt. */
#include "engine/system/unit.h"
#include "tests/unit/fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static unit parsed(const char *text) {
    unit u;
    const char *why;
    if (unit_parse(text, &u, &why) != HAMEL_OK) fail_msg("%s %s", text, why);
    return u;
}

/* Expected values follow the SI brochure (9th edition), tables 2 and 4. */
static void units_are_powers_of_base_units(void **state) {
    (void)state;
    const struct {
        const char *text;
        unit is;
    } known[] = {
        {"N", {1, {1, 1, -2}}},
        {"kg m/s^2", {1, {1, 1, -2}}},
        {"mJ", {1e-3, {1, 2, -2}}},
        {"N m/rad", {1, {1, 2, -2}}},
        {"km/h", {1 / 3.6, {0, 1, -1}}},
        {"degree", {3.14159265358979323846 / 180, {0}}},
        {"1", {1, {0}}},
        {"µm", {1e-6, {0, 1}}},
        {"V", {1, {1, 2, -3, -1}}},
        {"mol K cd", {1, {0, 0, 0, 0, 1, 1, 1}}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        unit u = parsed(known[i].text);
        if (!unit_same(&u, &known[i].is)) fail_msg("%s", known[i].text);
    }
}

/* The henry is not in the list of common units, so H/H is parsed with the complete database of UDUNITS. */
static void common_units_agree_with_the_complete_database(void **state) {
    (void)state;
    const char *const texts[] = {"kg",         "m",      "s",     "A",      "K",      "mol", "cd",   "rad",
                                 "deg",        "g",      "mm",    "cm",     "km",     "min", "h",    "N",
                                 "J",          "W",      "Pa",    "Hz",     "1",      "m2",  "m/s2", "N m/rad",
                                 "kg.m^2*s-2", "(N/m)2", "0.5 m", "m s^-1", "deg/min"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char longer[40];
        snprintf(longer, sizeof longer, "(%s) H/H", texts[i]);
        unit common = parsed(texts[i]), whole = parsed(longer);
        if (memcmp(&common, &whole, sizeof common) != 0)
            fail_msg("%s: %.17g, %.17g", texts[i], common.scale, whole.scale);
    }
    unit foot = parsed("ft");
    assert_float_equal(foot.scale, 0.3048, 0);
}

static void units_without_products_are_rejected(void **state) {
    (void)state;
    const char *const bad[] = {"degC", "seconds since 1970-01-01", "lg(re mW)", "m^0.5", "m^-1.5", "xyzzy"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit u;
        const char *why = NULL;
        if (unit_parse(bad[i], &u, &why) != HAMEL_INVALID) fail_msg("%s", bad[i]);
        assert_non_null(why);
    }
}

static void a_printed_unit_reads_back(void **state) {
    (void)state;
    const char *const texts[] = {"kg m^2/s^2", "1/s",  "m",       "1",   "0.01 m",
                                 "kg/m/s^2",   "60 s", "1e-06 m", "s A", "cd/m^2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_buffer out;
        text_buffer_init(&out, 100);
        unit u = parsed(texts[i]);
        unit_print(&u, &out);
        assert_string_equal(out.bytes, texts[i]);
        text_buffer_free(&out);
    }
}

static void *read_many(void *result) {
    *(bool *)result = true;
    for (int i = 0; i < 200; i++) {
        unit u, wrong, newton = {1, {1, 1, -2}};
        const char *why;
        bool good = unit_parse("kg m s-2", &u, &why) == HAMEL_OK && unit_same(&u, &newton);
        if (!good || unit_parse("m m2 nonsense", &wrong, &why) != HAMEL_INVALID) *(bool *)result = false;
    }
    return NULL;
}

static void threads_may_read_units_simultaneously(void **state) {
    (void)state;
    pthread_t threads[4];
    bool results[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, read_many, &results[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) assert_true(results[i]);
}

/* --- systems --------------------------------------------------------------------------------------------------------- */

static const char *unit_of_column(const hamel_model *model, const char *name) {
    const hamel_header *h = hamel_model_header(model);
    for (size_t i = 0; i < h->column_count; i++)
        if (strcmp(h->columns[i], name) == 0) return h->units[i];
    fail_msg("no column %s", name);
    return NULL;
}

#define PENDULUM                                                                                  \
    "`parameters`: {`m`: {`value`: 2, `unit`: `kg`}, `l`: {`value`: 3, `unit`: `m`}, `A`: `l^2`," \
    "`g`: {`value`: 9.81, `unit`: `m/s^2`}, `n`: 2, `w`: {`value`: `2*pi`, `unit`: `rad/s`}},"    \
    "`coordinates`: [{`name`: `x`, `unit`: `m`, `initial`: 3}, {`name`: `y`, `unit`: `m`},"       \
    "{`name`: `phi`, `unit`: `rad`}],"                                                            \
    "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(phi) + y'*sin(phi)`}],"             \
    "`kinetic_energy`: [`m*(x'^2 + y'^2)/2`, `m*A*phi'^2/12`], `potential_energy`: `m*g*y`,"

/* If f is a position constraint, λ has the unit of energy/f: N if f is a length, N/m if it is a squared length. If f is
 * a velocity constraint, λ has the unit of energy/f times s⁻¹. */
static void columns_have_the_units_that_follow(void **state) {
    (void)state;
    hamel_model *model = fixture_model(
        PENDULUM
        "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}, {`name`: `turn`, `equation`: `phi' = w`}],"
        "`outputs`: {`E`: `energy()`, `rod`: `lambda(rod)`, `turn`: `lambda(turn)`, `p`: `momentum(x)`,"
        "`L`: `momentum(phi)`, `r`: `reaction(rod, x)`, `P`: `power(turn)`, `a`: `y''`, `G`: `gauss()`,"
        "`S`: `acceleration_energy()`, `d`: `sqrt(x*y)/l`, `z`: `0`, `h`: `energy_rate()`, `q`: `cbrt(A*l)`,"
        "`c`: `residual(rod)`, `xn`: `x^n`, `i`: `ideal(x)`, `root`: `sqrt(l)`, `vr`: `v'`}",
        "`stop`: `1/1`");
    const struct {
        const char *column, *unit;
    } known[] = {
        {"t", "s"},          {"x'", "m/s"},          {"phi'", "rad/s"},   {"v", "m/s"},        {"E", "kg m^2/s^2"},
        {"rod", "kg/s^2"},   {"turn", "kg m^2/s^2"}, {"p", "kg m/s"},     {"L", "kg m^2/s"},   {"r", "kg m/s^2"},
        {"P", "kg m^2/s^3"}, {"a", "m/s^2"},         {"G", "kg m^2/s^4"}, {"S", "kg m^2/s^4"}, {"d", "1"},
        {"z", ""},           {"h", "kg m^2/s^3"},    {"q", "m"},          {"c", "m^2"},        {"xn", "m^2"},
        {"i", "kg m/s^2"},   {"root", "m^0.5"},      {"vr", "m/s^2"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit_of_column(model, known[i].column), known[i].unit) != 0)
            fail_msg("%s is in `%s`, not `%s`", known[i].column, unit_of_column(model, known[i].column), known[i].unit);
    hamel_model_free(model);
}

/* If a mass has no unit, the units of all expressions that contain it are unknown. Lengths are still compared. */
static void unknown_units_agree_with_everything(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`parameters`: {`m`: 2, `k`: 3, `l`: {`value`: 3, `unit`: `m`}},"
                                       "`coordinates`: [{`name`: `x`, `unit`: `m`}, `y`],"
                                       "`kinetic_energy`: `m*(x'^2 + y'^2)/2`, `potential_energy`: `k*(x - l)^2 + k*y`,"
                                       "`outputs`: {`E`: `energy()`, `d`: `x - l`, `e`: `x + y`}",
                                       "`stop`: 1");
    assert_string_equal(unit_of_column(model, "E"), "");
    assert_string_equal(unit_of_column(model, "y'"), "");
    assert_string_equal(unit_of_column(model, "d"), "m");
    assert_string_equal(unit_of_column(model, "e"), "m");
    hamel_model_free(model);
}

static void zero_has_any_unit_and_other_numbers_are_dimensionless(void **state) {
    (void)state;
    hamel_model *model = fixture_model(
        PENDULUM "`outputs`: {`f`: `max(x, 0) + 0*phi + if(x > 0, x, 0)`, `s`: `sign(x)*2`, `e`: `exp(-phi)`}",
        "`stop`: 1");
    assert_string_equal(unit_of_column(model, "f"), "m");
    assert_string_equal(unit_of_column(model, "s"), "1");
    assert_string_equal(unit_of_column(model, "e"), "1");
    hamel_model_free(model);
}

/* One system with all kinds of elements, in consistent units. */
static void elements_are_checked_as_the_terms_that_they_generate(void **state) {
    (void)state;
    fixture f;
    fixture_open(
        &f, "`parameters`: {`m`: {`value`: 2, `unit`: `kg`}, `k`: {`value`: 3, `unit`: `N/m`},"
            "`c`: {`value`: 3, `unit`: `N s/m`}, `l`: {`value`: 3, `unit`: `m`}, `g`: {`value`: 9, `unit`: `m/s^2`},"
            "`I`: {`value`: 3, `unit`: `kg m^2`}, `F`: {`value`: 1, `unit`: `N`}, `M`: {`value`: 1, `unit`: `N m`},"
            "`b`: {`value`: 1, `unit`: `kg m^2/s`}},"
            "`coordinates`: [{`name`: `x`, `unit`: `m`}, {`name`: `y`, `unit`: `m`}, {`name`: `a`, `unit`: `rad`}],"
            "`bodies`: [{`name`: `B`, `mass`: `m`, `position`: [`x`, `y`], `orientation`: {`angle`: `a`},"
            "`inertia`: `I`}], `points`: [{`name`: `P`, `body`: `B`, `at`: [`l`, 0]}], `gravity`: [0, `-g`],"
            "`springs`: [{`between`: [`P`, [0, `l`]], `stiffness`: `k`, `length`: `l`},"
            "{`between`: [`B`, [0, 0]], `stiffness`: `k*(1 + (x/l)^2)`}],"
            "`dampers`: [{`between`: [`P`, [0, 0]], `coefficient`: `c`}],"
            "`loads`: [{`on`: `P`, `force`: [`F`, `c*y'`]}, {`on`: `B`, `torque`: `M - b*a'`}],"
            "`joints`: [{`name`: `J`, `type`: `distance`, `between`: [`B`, [0, `l`]], `length`: `2*l`}],"
            "`dissipation`: `c*x'^2/2`, `generalized_forces`: {`a`: `M`, `x`: `F - lambda(J.1)/10`}");
    assert_int_equal(f.error.count, 0);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_powers_of_base_units),
        cmocka_unit_test(common_units_agree_with_the_complete_database),
        cmocka_unit_test(units_without_products_are_rejected),
        cmocka_unit_test(a_printed_unit_reads_back),
        cmocka_unit_test(threads_may_read_units_simultaneously),
        cmocka_unit_test(columns_have_the_units_that_follow),
        cmocka_unit_test(unknown_units_agree_with_everything),
        cmocka_unit_test(zero_has_any_unit_and_other_numbers_are_dimensionless),
        cmocka_unit_test(elements_are_checked_as_the_terms_that_they_generate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
