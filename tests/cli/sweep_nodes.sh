#!/usr/bin/env bash
# Sweeps on daemons that share a queue in PostgreSQL. The table must have the same bytes in process, in shards, on one
# daemon and on three, also if one of the three is killed. The rows of a member must be those of `hamel run`. TAP.
. "$(dirname "$0")/common.sh"

# Some members fall through the event and terminate. The maximum step makes the members slow enough for three daemons.
cat >study.json <<'J'
{"hamel": 1, "name": "study", "parameters": {"l": 1, "g": 9.81},
 "coordinates": [{"name": "a", "initial": 1}, "b"],
 "kinetic_energy": "l^2*(a'^2 + b'^2/2 + a'*b'*cos(a-b))", "potential_energy": "-g*l*(2*cos(a) + cos(b))",
 "events": [{"name": "turned", "when": "b - 2.5", "direction": "rising", "terminate": true},
            {"name": "low", "when": "a", "direction": "falling"}],
 "simulation": {"stop": 3, "samples": 4, "max_step": 0.003},
 "sweep": {"mode": "latin_hypercube", "count": 500, "seed": 5,
           "over": {"l": {"from": 0.5, "to": 2}, "a.initial": {"from": -2, "to": 2}, "b.velocity": {"from": -1, "to": 4}},
           "collect": ["final", {"name": "peak", "reduce": "max", "expression": "abs(a)"}]}}
J
call sweep study.json; code_is 0 && [ "$(wc -l <out)" = 501 ] && grep -q ',terminated,' out && grep -q ',completed,' out
report $? "a sweep in process has terminated and completed members"
cp out table.csv
for k in 1 2; do call sweep study.json --shard $k/2 --out parts; done; call merge parts; code_is 0 && cmp -s out table.csv
report $? "shards give the bytes of the sweep in process"

pg=$(dirname "$scratch")/hamel-pg-$$
"$root/tests/tools/postgres.sh" start $pg $$ 'fsync = off' || exit 2
"$root/tests/tools/postgres.sh" sql $pg postgres 'CREATE DATABASE queue'
store="postgresql://hamel@/queue?host=$pg"
start_daemon --store "$store" --workers 1
call sweep study.json --server "$url"; code_is 0 && cmp -s out table.csv
report $? "one daemon on PostgreSQL gives the bytes of the sweep in process"

# The rows of the members: the first, one in a vector of eight, one in a large block, the last.
batch=$(curl -sf "$url/v1/batches?limit=1" | grep -o '"id":"[0-9a-f]*"' | head -n 1 | cut -d'"' -f4)
curl -sf -H 'Accept: text/csv' "$url/v1/batches/$batch/results" >jobs.csv
for member in 0 13 300 499; do
    IFS=, read -r _ job _ l a v _ <<<"$(sed -n "$((member + 2))p" jobs.csv)"
    call run study.json --set "l=$l" --set "a.initial=$a" --set "b.velocity=$v"; code_is 0 || break
    cp out rows.csv; call results "$job" --columns "t,a,b,a',b'" --server "$url"; code_is 0 && cmp -s out rows.csv && [ "$(wc -l <out)" -gt 2 ] || break
done; code_is 0 && [ $member = 499 ] && cmp -s out rows.csv
report $? "the rows of members are the bytes of separate runs"

# worker NAME: starts a daemon without HTTP; its process is in $started.
worker() {
    "$hameld" --worker --store "$store" --data "$scratch/$1" --workers 1 --lease 3 >/dev/null 2>"$1.log" &
    started=$!
    for _ in $(seq 1200); do grep -q '"event":"working"' "$1.log" && break; sleep 0.05; done
}
stored() { grep -q '"event":"members"' "$1.log"; }
kill "$daemon"; wait "$daemon"
start_daemon --store "$store" --workers 1 --lease 3
worker second; second=$started; worker third; third=$started
sleep 1 # until all daemons listen to notifications of the database
call sweep study.json --server "$url"; code_is 0 && cmp -s out table.csv && { stored second || stored third; }
report $? "three daemons share the members and give the same bytes"

: >second.log; : >third.log
"$hamel" sweep study.json --server "$url" >out 2>err & sweep=$!
for _ in $(seq 1200); do stored second || stored third || ! kill -0 $sweep 2>/dev/null && break; sleep 0.02; done
if stored second; then victim=$second; else victim=$third; fi
kill -9 $victim; wait $victim 2>/dev/null
wait $sweep; code=$?; code_is 0 && cmp -s out table.csv
report $? "the bytes are the same if one of three daemons is killed"

finish
