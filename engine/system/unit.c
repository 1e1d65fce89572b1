/* unit.c — computes with units, and reads the texts of units with UDUNITS-2.
 *
 * UDUNITS keeps its status, error handler and parser state in globals. Only this file calls UDUNITS, under one lock,
 * and returns plain structs. The list of units of UDUNITS is read once per process, when a unit outside `common` is
 * first needed. Reading the list takes 4 ms (measured). The UDUNITS scanner exits the process if an allocation fails,
 * so free memory is checked first. */
#include "engine/system/unit.h"
#include "engine/base/memory_left.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <udunits2.h>

/* Units that are read without the library's list, base units first. A text with any other name is read with the
 * library's list. Without that list, the library could give the name another meaning: "ft" would be a femtotonne
 * instead of a foot. */
static const struct {
    const char *symbol, *name, *definition;
} common[] = {
    {"kg", "kilogram", NULL}, {"m", "meter", NULL},   {"s", "second", NULL},
    {"A", "ampere", NULL},    {"K", "kelvin", NULL},  {"mol", "mole", NULL},
    {"cd", "candela", NULL},  {"rad", NULL, "1"},     {"deg", NULL, "(3.14159265358979323846264338327950288/180) rad"},
    {"g", NULL, "1e-3 kg"},   {"mm", NULL, "1e-3 m"}, {"cm", NULL, "1e-2 m"},
    {"km", NULL, "1e3 m"},    {"min", NULL, "60 s"},  {"h", NULL, "60 min"},
    {"N", NULL, "kg m/s2"},   {"J", NULL, "N m"},     {"W", NULL, "J/s"},
    {"Pa", NULL, "N/m2"},     {"Hz", NULL, "1/s"}};
enum { COMMON_COUNT = sizeof common / sizeof common[0] };

/* Powers are equal if they differ by at most this value, and scales if their relative difference is at most this value.
 * A few sums and products have rounding errors of about 1e-15. Scales of similar units differ by more (2e-6 between the
 * foot and the US survey foot). */
static const double UNIT_ROUNDING = 1e-9;
static const double DEGREE = 3.14159265358979323846 / 180;

const unit unit_one = {.scale = 1};

unit unit_times(unit a, unit b, double power) {
    unit out = {.scale = a.scale * pow(b.scale, power)};
    for (int k = 0; k < UNIT_BASES; k++) out.power[k] = a.power[k] + power * b.power[k];
    return out;
}

bool unit_same_dimension(const unit *a, const unit *b) {
    for (int k = 0; k < UNIT_BASES; k++)
        if (!(fabs(a->power[k] - b->power[k]) <= UNIT_ROUNDING)) return false;
    return true;
}

bool unit_same(const unit *a, const unit *b) {
    return unit_same_dimension(a, b) && fabs(a->scale - b->scale) <= UNIT_ROUNDING * fmax(a->scale, b->scale);
}

bool unit_is_degree(const unit *u) {
    return fabs(u->scale - DEGREE) <= UNIT_ROUNDING * DEGREE;
}

static void print_power(const char *symbol, double power, text_buffer *out) {
    text_buffer_puts(out, symbol);
    if (power == 1) return;
    text_buffer_puts(out, "^");
    text_buffer_number(out, fabs(power - round(power)) <= UNIT_ROUNDING ? round(power) : power);
}

void unit_print(const unit *u, text_buffer *out) {
    const char *gap = "";
    bool whole = fabs(u->scale - 1) <= UNIT_ROUNDING;
    if (unit_is_degree(u))
        text_buffer_puts(out, "degree");
    else if (!whole)
        text_buffer_printf(out, "%.9g", u->scale);
    if (!whole) gap = " ";
    for (int k = 0; k < UNIT_BASES; k++) {
        if (!(u->power[k] > UNIT_ROUNDING)) continue;
        text_buffer_puts(out, gap);
        print_power(common[k].symbol, u->power[k], out);
        gap = " ";
    }
    if (!*gap) text_buffer_puts(out, "1");
    for (int k = 0; k < UNIT_BASES; k++) {
        if (!(u->power[k] < -UNIT_ROUNDING)) continue;
        text_buffer_puts(out, "/");
        print_power(common[k].symbol, -u->power[k], out);
    }
}

enum { TEXT_MAX = 200, LIST_VALUES = 1 << 18 }; /* LIST_VALUES: doubles (2 MB) that reading the list needs */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ut_system *list, *common_list; /* guarded by the lock; never freed */

typedef struct reading {
    unit *out;
    const char *why;
} reading;

static int base_of(const ut_unit *basic) {
    const char *name = ut_get_name(basic, UT_ASCII);
    for (int k = 0; name && k < UNIT_BASES; k++)
        if (strcmp(name, common[k].name) == 0) return k;
    return -1; /* the radian is a plain number */
}

static ut_status visit_product(const ut_unit *product, int count, const ut_unit *const *basics, const int *powers,
                               void *context) {
    reading *r = context;
    (void)product;
    for (int k = 0; k < count; k++) {
        int base = base_of(basics[k]);
        if (base >= 0) r->out->power[base] += powers[k];
    }
    return UT_SUCCESS;
}

static ut_status visit_basic(const ut_unit *basic, void *context) {
    return visit_product(basic, 1, &basic, &(int){1}, context);
}

static ut_status refuse_unit(reading *r, const char *why) {
    r->why = why;
    return UT_VISIT_ERROR;
}

static const ut_visitor visitor;

/* Visits scale · underlying + offset. The library represents a unit with a factor as a scale applied to a product of
 * units. */
static ut_status visit_galilean(const ut_unit *galilean, double scale, const ut_unit *underlying, double offset,
                                void *context) {
    reading *r = context;
    (void)galilean;
    if (offset != 0) return refuse_unit(r, "has an offset, so its products are not defined");
    r->out->scale *= scale;
    return ut_accept_visitor(underlying, &visitor, context);
}

static ut_status visit_timestamp(const ut_unit *timestamp, const ut_unit *from, double origin, void *context) {
    (void)timestamp, (void)from, (void)origin;
    return refuse_unit(context, "counts from a date, so its products are not defined");
}

static ut_status visit_logarithmic(const ut_unit *logarithmic, double base, const ut_unit *reference, void *context) {
    (void)logarithmic, (void)base, (void)reference;
    return refuse_unit(context, "is logarithmic, so its products are not defined");
}

static const ut_visitor visitor = {visit_basic, visit_product, visit_galilean, visit_timestamp, visit_logarithmic};

/* Returns true if an exponent has a decimal point: the library would read m^0.5 as 5 m. */
static bool has_broken_power(const char *text) {
    for (const char *p = strchr(text, '^'); p; p = strchr(p + 1, '^')) {
        const char *end = p + 1 + (p[1] == '-' || p[1] == '+');
        while (isdigit((unsigned char)*end)) end++;
        if (*end == '.' && isdigit((unsigned char)end[1])) return true;
    }
    return false;
}

/* Reads the library's list of units, and adds "deg", which this list lacks. */
static ut_system *read_list(void) {
    ut_system *all = ut_read_xml(NULL);
    ut_unit *degree = all ? ut_get_unit_by_name(all, "degree") : NULL;
    if (degree) (void)ut_map_name_to_unit("deg", UT_ASCII, degree);
    ut_free(degree);
    return all;
}

static ut_system *make_common_list(void) {
    ut_system *s = ut_new_system();
    for (int k = 0; s && k < COMMON_COUNT; k++) {
        const char *definition = common[k].definition;
        ut_unit *u = definition ? ut_parse(s, definition, UT_ASCII) : ut_new_base_unit(s);
        if (k < UNIT_BASES) (void)ut_map_unit_to_name(u, common[k].name, UT_ASCII);
        (void)ut_map_symbol_to_unit(common[k].symbol, UT_ASCII, u);
        ut_free(u);
    }
    return s;
}

/* Returns true if the text contains only common units, whole numbers and operators. */
static bool is_common(const char *text) {
    for (size_t length; *text; text += length) {
        length = 1;
        if (strchr("0123456789 .*/^+-()", *text)) continue;
        while (isalpha((unsigned char)text[length])) length++;
        int k = 0;
        while (k < COMMON_COUNT && (strncmp(text, common[k].symbol, length) != 0 || common[k].symbol[length])) k++;
        if (k == COMMON_COUNT) return false;
    }
    return true;
}

static hamel_status parse(const char *text, reading *r) {
    ut_system **units = is_common(text) ? &common_list : &list;
    if (!memory_left(1, *units ? 0 : LIST_VALUES)) return HAMEL_NO_MEMORY;
    if (!*units) {
        ut_set_error_message_handler(ut_ignore);
        *units = units == &list ? read_list() : make_common_list();
    }
    if (!*units) return HAMEL_INTERNAL;
    ut_unit *parsed = ut_parse(*units, text, UT_UTF8);
    if (!parsed) return ut_get_status() == UT_OS ? HAMEL_NO_MEMORY : HAMEL_INVALID;
    ut_status status = ut_accept_visitor(parsed, &visitor, r);
    bool starved = status != UT_SUCCESS && (status == UT_OS || ut_get_status() == UT_OS);
    ut_free(parsed);
    return status == UT_SUCCESS ? HAMEL_OK : starved ? HAMEL_NO_MEMORY : HAMEL_INVALID;
}

hamel_status unit_parse(const char *text, unit *out, const char **why) {
    *out = unit_one;
    reading r = {out, "is not a unit of UDUNITS"};
    hamel_status status = HAMEL_INVALID;
    if (strlen(text) > TEXT_MAX) {
        r.why = "is longer than 200 bytes";
    } else if (has_broken_power(text)) {
        r.why = "has a power that is not a whole number";
    } else {
        pthread_mutex_lock(&lock);
        status = parse(text, &r);
        pthread_mutex_unlock(&lock);
    }
    if (status == HAMEL_NO_MEMORY) r.why = "cannot be read: out of memory";
    if (status == HAMEL_INTERNAL) r.why = "cannot be read: the list of units of UDUNITS-2 is not installed";
    *why = r.why;
    return status;
}
