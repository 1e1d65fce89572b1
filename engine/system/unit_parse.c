/* unit_parse.c — the texts of units, read by UDUNITS-2.
 *
 * That library keeps its status, its error handler and its parser's state in globals. So all that calls it is in this file
 * behind one lock, and what comes out is a plain struct. Its list of units is read once a process, when the first unit is
 * met, and kept. Its scanner ends the process when it gets no memory, so that is looked for first. */
#include "engine/base/memory_left.h"
#include "engine/system/unit.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>
#include <udunits2.h>

enum { TEXT_MAX = 200, LIST_VALUES = 1 << 18 }; /* the whole list takes less than two megabytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ut_system *list; /* behind the lock; lives as long as the process */

typedef struct reading {
    unit *out;
    const char *why;
} reading;

static int base_of(const ut_unit *basic) {
    static const char *const names[UNIT_BASES] = {"kilogram", "meter", "second", "ampere", "kelvin", "mole", "candela"};
    const char *name = ut_get_name(basic, UT_ASCII);
    for (int k = 0; name && k < UNIT_BASES; k++)
        if (strcmp(name, names[k]) == 0) return k;
    return -1; /* the radian: a number */
}

static ut_status visit_basic(const ut_unit *basic, void *context) {
    reading *r = context;
    int base = base_of(basic);
    if (base >= 0) r->out->power[base] += 1;
    return UT_SUCCESS;
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

static ut_status refuse(reading *r, const char *why) {
    r->why = why;
    return UT_VISIT_ERROR;
}

static const ut_visitor visitor;

/* scale · underlying + offset; the library has made it one level of scale above a product. */
static ut_status visit_galilean(const ut_unit *galilean, double scale, const ut_unit *underlying, double offset,
                                void *context) {
    reading *r = context;
    (void)galilean;
    if (offset != 0) return refuse(r, "has an offset: products of it mean nothing");
    r->out->scale *= scale;
    return ut_accept_visitor(underlying, &visitor, context);
}

static ut_status visit_timestamp(const ut_unit *timestamp, const ut_unit *from, double origin, void *context) {
    (void)timestamp, (void)from, (void)origin;
    return refuse(context, "counts from a date: products of it mean nothing");
}

static ut_status visit_logarithmic(const ut_unit *logarithmic, double base, const ut_unit *reference, void *context) {
    (void)logarithmic, (void)base, (void)reference;
    return refuse(context, "is logarithmic: products of it mean nothing");
}

static const ut_visitor visitor = {visit_basic, visit_product, visit_galilean, visit_timestamp, visit_logarithmic};

/* The library takes m^0.5 for 5 m. */
static bool has_broken_power(const char *text) {
    for (const char *p = strchr(text, '^'); p; p = strchr(p + 1, '^')) {
        const char *end = p + 1 + (p[1] == '-' || p[1] == '+');
        while (isdigit((unsigned char)*end)) end++;
        if (*end == '.' && isdigit((unsigned char)end[1])) return true;
    }
    return false;
}

/* The library's list, and "deg", which it does not have. */
static ut_system *read_list(void) {
    ut_system *all = ut_read_xml(NULL);
    ut_unit *degree = all ? ut_get_unit_by_name(all, "degree") : NULL;
    if (degree) (void)ut_map_name_to_unit("deg", UT_ASCII, degree);
    ut_free(degree);
    return all;
}

static hamel_status parse(const char *text, reading *r) {
    if (!memory_left(1, list ? 0 : LIST_VALUES)) return HAMEL_NO_MEMORY;
    if (!list) {
        ut_set_error_message_handler(ut_ignore);
        list = read_list();
    }
    if (!list) return HAMEL_INTERNAL;
    ut_unit *parsed = ut_parse(list, text, UT_UTF8);
    if (!parsed) return ut_get_status() == UT_OS ? HAMEL_NO_MEMORY : HAMEL_INVALID;
    ut_status status = ut_accept_visitor(parsed, &visitor, r);
    bool starved = status != UT_SUCCESS && (status == UT_OS || ut_get_status() == UT_OS);
    ut_free(parsed);
    return status == UT_SUCCESS ? HAMEL_OK : starved ? HAMEL_NO_MEMORY : HAMEL_INVALID;
}

hamel_status unit_parse(const char *text, unit *out, const char **why) {
    *out = unit_one;
    reading r = {out, "is no unit that UDUNITS knows"};
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
    if (status == HAMEL_NO_MEMORY) r.why = "cannot be read: memory ran out";
    if (status == HAMEL_INTERNAL) r.why = "cannot be read: the list of units of UDUNITS-2 is not installed";
    *why = r.why;
    return status;
}
