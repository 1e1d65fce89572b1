/* effort.c — see effort.h. */
#include "engine/algebra/effort.h"

#include <stddef.h>

bool effort_take(effort *e, uint64_t units) {
    if (!e) return true;
    if (e->interrupted && e->interrupted(e->context)) e->left = 0;
    if (units <= e->left) {
        e->left -= units;
        return true;
    }
    e->left = 0;
    e->spent = true;
    return false;
}
