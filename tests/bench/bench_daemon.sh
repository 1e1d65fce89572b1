#!/usr/bin/env bash
# Compares a sweep on a daemon with the same sweep in process: tests/bench/bench_daemon.sh [MEMBERS]
#
# The members are double pendulums over 10 s; two rows of each are stored in SQLite. Both tables must have the same
# bytes. Times are wall times of one run each, with as many workers as threads.
set -euo pipefail
cd "$(dirname "$0")/../.."

members=${1:-20000}
threads=$(getconf _NPROCESSORS_ONLN)
scratch=$(mktemp -d)
: >"$scratch/log"
trap 'kill "$daemon" 2>/dev/null; rm -rf "$scratch"' EXIT
cat >"$scratch/study.json" <<J
{"hamel": 1, "parameters": {"m": 1, "l": 1, "g": 9.81},
 "coordinates": [{"name": "a", "initial": 1}, {"name": "b", "initial": 1}],
 "kinetic_energy": "m*l^2*(a'^2 + b'^2/2 + a'*b'*cos(a - b))", "potential_energy": "-m*g*l*(2*cos(a) + cos(b))",
 "simulation": {"stop": 10, "samples": 2, "rtol": 1e-6},
 "sweep": {"mode": "random", "count": $members, "seed": 3,
           "over": {"a.initial": {"from": -2, "to": 2}, "b.initial": {"from": -2, "to": 2}}}}
J
build/hameld --listen 127.0.0.1:0 --store "sqlite:$scratch/store" --workers "$threads" >"$scratch/log" 2>&1 &
daemon=$!
until url=$(grep -o 'http://[^" ]*' "$scratch/log" | head -n 1) && [ -n "$url" ]; do sleep 0.05; done

seconds() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }'; }
begin=$EPOCHREALTIME
build/hamel sweep "$scratch/study.json" >"$scratch/here.csv"
here=$(seconds "$begin")
begin=$EPOCHREALTIME
build/hamel sweep "$scratch/study.json" --server "$url" >"$scratch/there.csv"
there=$(seconds "$begin")
cmp "$scratch/here.csv" "$scratch/there.csv"
echo "$members double pendulums, $threads threads or workers, tables of equal bytes"
awk -v h="$here" -v t="$there" 'BEGIN { printf "\nhamel sweep %.2f s   on a daemon %.2f s   ratio %.2f\n", h, t, t / h }'
