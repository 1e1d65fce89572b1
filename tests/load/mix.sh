#!/usr/bin/env bash
# One token owner makes all attacks of hostile.py together, over HTTPS, while another owner sends small runs. TAP; part
# of `make test`, where it takes some seconds. With HAMEL_TEST_LONG, the test takes minutes and also checks times.
#
#   1. Each small run of the other owner is answered.
#   2. The memory of the daemon and its processes stays within the sum of their budgets (SECURITY.md).
#   3. (long) The p99 of small runs is at most 3 times a reference value plus 4 ms. Two owners share the CPU, so a run
#      may take twice as long; the factor 3 also allows for noise. A run may keep a CPU slot for 4 ms. The reference
#      value is the p99 while the same attackers connect to a listener that never responds.
. "$(dirname "$0")/common.sh"
hostile() { python3 "$root/tests/load/hostile.py" "$@"; }
long=${HAMEL_TEST_LONG:+yes}
seconds=${HAMEL_LOAD_SECONDS:-${long:+60}}
seconds=${seconds:-5}
kinds="hello equilibrium batch derive list follow store"

for name in hostile other; do
    "$hameld" --new-token $name 2>entry >$name.token
    grep '^{' entry >>tokens
done
printf '{"tokens": [%s]}' "$(paste -sd, tokens)" >tokens.json
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 \
    -subj /CN=localhost 2>/dev/null
mib=1048576
start_daemon --tokens tokens.json --tls-cert cert.pem --tls-key key.pem --workers 2 --time-limit 5 --derive-limit 2 \
    --connections 1000 --per-address 900 --streams 64 --followers 256 --answers $((32 * mib)) --cache $((64 * mib)) \
    --models $((256 * mib)) --analysis-processes 2 --analysis-memory $((256 * mib))
# The sum of the budgets in SECURITY.md, in kB. Terms: connections with bodies, streams and followers, responses,
# cached models, models in use, models of two jobs, models of four derivations, and analyses.
budget_kb=$((1000 * 1088 + (64 + 256) * 512 + 1024 * (32 + 64 + 256 + 2 * 1024 + 4 * 1024 + 2 * 256)))

# Prints the resident kB of the daemon and its descendants.
resident() {
    local pids="$daemon" all="$daemon"
    while [ -n "$pids" ]; do
        pids=$(pgrep -d, -P "$pids" | tr '\n' ' ' | tr -d ' ')
        [ -z "$pids" ] || all+=",$pids"
    done
    ps -o rss= -p "$all" | awk '{ sum += $1 } END { print sum + 0 }'
}
watch_memory() {
    while [ -e attacking ]; do
        resident
        sleep 0.2
    done | sort -n | tail -n 1 >most_kb
}

hostile dummy >port &
dummy=$!
while [ ! -s port ]; do sleep 0.05; done
hostile attack "http://127.0.0.1:$(cat port)" "$(cat hostile.token)" $((seconds + 2)) $kinds &
attackers=$!
sleep 1
read -r runs errors _ beside < <(hostile measure "$url" "$(cat other.token)" "$seconds")
wait $attackers
kill $dummy

touch attacking
watch_memory &
watcher=$!
hostile attack "$url" "$(cat hostile.token)" $((seconds + 2)) $kinds &
attackers=$!
sleep 1
read -r runs errors median against < <(hostile measure "$url" "$(cat other.token)" "$seconds" 2>reasons)
wait $attackers
rm attacking
wait $watcher

holds "r > 0 && e == 0" r="$runs" e="$errors"
outcome $? "each small run of the other owner succeeds" || remarks <reasons
echo "# $runs small runs, median $median ms, p99 $against ms; $beside ms while the attackers use a listener that never responds"
most=$(cat most_kb)
holds "m > 0 && m <= b" m="$most" b="$budget_kb"
outcome $? "memory is within the sum of the budgets"
echo "# $most kB of $budget_kb"
if [ -n "$long" ]; then
    holds "n <= 3 * b + 4" n="$against" b="$beside"
    outcome $? "the p99 of small runs is within its limit despite all attacks"
fi
finish
