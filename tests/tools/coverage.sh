#!/usr/bin/env bash
# Prints the coverage of engine/, api/ and server/ by a run of tests: tests/tools/coverage.sh OBJECTS. OBJECTS is a
# directory built with --coverage. Prints a line for each module, and for each file with less than 70 % of its lines
# covered.
set -uo pipefail
cd "$1" || exit 2
find engine api server -name '*.gcda' -print0 | xargs -0 gcov -b -n 2>/dev/null | awk '
    /^File / { file = $2; gsub("\047", "", file); known = file ~ /^(engine|api|server)\/.*\.c$/ }
    /^Lines executed/ && known { split($2, p, /[:%]/); lines[file] = $NF; hit[file] = p[2] / 100 * $NF }
    /^Taken at least once/ && known { split($4, p, /[:%]/); branches[file] = $NF; taken[file] = p[2] / 100 * $NF; known = 0 }
    END {
        for (f in lines) {
            room = f; sub(/\/[^\/]*$/, "", room); top = f; sub(/\/.*/, "", top)
            split(room " " top, groups, " "); n = room == top ? 1 : 2
            for (k = 1; k <= n; k++) {
                g = groups[k]; L[g] += lines[f]; H[g] += hit[f]; B[g] += branches[f]; T[g] += taken[f]
            }
            if (lines[f] > 0 && hit[f] / lines[f] < 0.7) low[f] = 100 * hit[f] / lines[f]
        }
        for (g in L) printf "%-24s lines %5.1f %% of %d, branches %5.1f %% of %d\n", g, 100 * H[g] / L[g], L[g], B[g] ? 100 * T[g] / B[g] : 0, B[g] | "sort"
        close("sort")
        for (f in low) printf "low: %s %.0f %%\n", f, low[f] | "sort"
    }'
