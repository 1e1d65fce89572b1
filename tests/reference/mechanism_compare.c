/* mechanism_compare.c — choice of the time span of a mechanism, and comparison of its rows with a reference state. */
#include "tests/reference/mechanism_compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double AGREE = 1e-7, GROWTH = 100;

static double distance(const ne_system *a, const ne_system *b) {
    double most = 0;
    for (size_t k = 0; k < a->body_count; k++)
        for (int i = 0; i < 3; i++) {
            most = fmax(most, fabs(a->bodies[k].r[i] - b->bodies[k].r[i]));
            most = fmax(most, fabs(a->bodies[k].v[i] - b->bodies[k].v[i]));
        }
    return most;
}

static void faster(ne_system *s, double part) {
    for (size_t k = 0; k < s->body_count; k++)
        for (int i = 0; i < 3; i++) s->bodies[k].v[i] *= 1 + part, s->bodies[k].w[i] *= 1 + part;
}

double mechanism_span(const ne_system *start, double span) {
    static const double part = 1e-6;
    for (int k = 0; k < 8; k++, span /= 2) {
        ne_system a = *start, b = *start;
        faster(&b, part);
        double before = distance(&a, &b);
        if (!ne_advance(&a, span, 1e-9) || !ne_advance(&b, span, 1e-9)) continue;
        if (a.impact.count == b.impact.count && a.impact.count <= 2 && distance(&a, &b) <= GROWTH * before) return span;
    }
    return span;
}

void mechanism_compare(const char *what, const char *by, const motion *m, size_t row, const ne_system *s) {
    static const char *const letters[] = {"p", "v", "w"}, *const axes[] = {"x", "y", "z"};
    size_t compared = 0;
    for (size_t k = 0; k < s->body_count; k++) {
        const double *of[] = {s->bodies[k].r, s->bodies[k].v, s->bodies[k].w};
        for (int q = 0; q < 3; q++)
            for (int i = 0; i < 3; i++) {
                char name[16];
                snprintf(name, sizeof name, "%s%s%zu", letters[q], axes[i], k + 1);
                size_t c = 0;
                while (c < m->column_count && strcmp(m->columns[c], name) != 0) c++;
                /* no such column: particles have no angular velocity, planar systems no z */
                if (c == m->column_count) continue;
                double found = motion_value(m, row, c), size = 1;
                for (int d = 0; d < 3; d++) size = fmax(size, fabs(of[q][d]));
                if (!(fabs(found - of[q][i]) <= AGREE * size))
                    fail_msg("%s, t = %g: %s is %.12g, by %s %.12g", what, s->t, name, found, by, of[q][i]);
                compared++;
            }
    }
    assert_true(compared >= 5 * s->body_count);
}
