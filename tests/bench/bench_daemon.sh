#!/usr/bin/env bash
# Compares a sweep on a daemon with the same sweep in process: tests/bench/bench_daemon.sh [MEMBERS] [postgresql]
#
# The members are double pendulums over 10 s; two rows of each are stored in SQLite, or in PostgreSQL by three daemons
# that share the processors. Both tables must have the same bytes. Times are those of one run each: wall time, and
# processor time of all programs. All use as many threads or workers as there are processors.
set -euo pipefail
cd "$(dirname "$0")/../.."

members=${1:-100000}
threads=$(getconf _NPROCESSORS_ONLN)
scratch=$(mktemp -d)
pg=$(dirname "$scratch")/hamel-bench-$$
store=sqlite:$scratch/store
: >"$scratch/log"
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$scratch"' EXIT
if [ "${2:-}" = postgresql ]; then
    tests/tools/postgres.sh start $pg $$
    tests/tools/postgres.sh sql $pg postgres 'CREATE DATABASE queue'
    store="postgresql://hamel@/queue?host=$pg"
fi
cat >"$scratch/study.json" <<J
{"hamel": 1, "parameters": {"m": 1, "l": 1, "g": 9.81},
 "coordinates": [{"name": "a", "initial": 1}, {"name": "b", "initial": 1}],
 "kinetic_energy": "m*l^2*(a'^2 + b'^2/2 + a'*b'*cos(a - b))", "potential_energy": "-m*g*l*(2*cos(a) + cos(b))",
 "simulation": {"stop": 10, "samples": 2, "rtol": 1e-6},
 "sweep": {"mode": "random", "count": $members, "seed": 3,
           "over": {"a.initial": {"from": -2, "to": 2}, "b.initial": {"from": -2, "to": 2}}}}
J
nodes=$([ "${2:-}" = postgresql ] && echo 3 || echo 1)
workers=$(((threads + nodes - 1) / nodes))
for k in $(seq "$nodes"); do
    role=$([ "$k" = 1 ] && echo --listen=127.0.0.1:0 || echo --worker)
    build/hameld "$role" --store "$store" --workers $workers --data "$scratch/$k" >>"$scratch/log" 2>&1 &
done
until url=$(grep -o 'http://[^" ]*' "$scratch/log" | head -n 1) && [ -n "$url" ]; do sleep 0.05; done
sleep 2 # until all daemons listen to notifications of the database

# Processor time in ticks of the daemons and of the servers of PostgreSQL, with their ended processes.
daemons=$(jobs -p)
ticks() {
    local servers=
    [ ! -d $pg ] || servers=$(head -n 1 $pg/data/postmaster.pid)
    for p in $daemons $servers $([ -z "$servers" ] || pgrep -P "$servers"); do sed 's/.*) //' "/proc/$p/stat"; done |
        awk '{ sum += $12 + $13 + $14 + $15 } END { print sum }'
}
# measure COMMAND...: sets $wall, and $used to the processor time of the command and the daemons.
measure() {
    local before=$(ticks) TIMEFORMAT='%R %U %S'
    read -r wall user system <<<"$({ time "$@" >"$scratch/table.csv"; } 2>&1)"
    used=$(awk -v a="$before" -v b="$(ticks)" -v hz="$(getconf CLK_TCK)" -v own="$user" -v sys="$system" \
        'BEGIN { printf "%.2f", (b - a) / hz + own + sys }')
}
measure build/hamel sweep "$scratch/study.json"
here=$wall here_used=$used
mv "$scratch/table.csv" "$scratch/here.csv"
measure build/hamel sweep "$scratch/study.json" --server "$url"
cmp "$scratch/here.csv" "$scratch/table.csv"
echo "$members double pendulums, $threads threads or workers, $nodes daemon(s), tables of equal bytes"
awk -v h="$here" -v t="$wall" 'BEGIN { printf "\nwall time: hamel sweep %.2f s   on a daemon %.2f s   ratio %.2f\n", h, t, t / h }'
awk -v h="$here_used" -v t="$used" \
    'BEGIN { printf "processor time: hamel sweep %.2f s   on a daemon %.2f s   ratio %.2f\n", h, t, t / h }'
