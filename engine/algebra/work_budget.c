/* work_budget.c — see work_budget.h. */
#include "engine/algebra/work_budget.h"

#include <stddef.h>

bool work_budget_take(work_budget *e, uint64_t units) {
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
