#!/usr/bin/env bash
# Does a daemon that is used for long stay as it is? TAP; part of `make load` with HAMEL_TEST_LONG, minutes to an hour.
#
#   1. a million runs of a small pendulum, 64 connections: no error, memory flat
#   2. half an hour of runs and stored jobs, which retention forgets again: no error, memory and descriptors flat
#
# HAMEL_SOAK_REQUESTS and HAMEL_SOAK_SECONDS shorten it.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
hameld=${HAMELD:-build/hameld}
requests=${HAMEL_SOAK_REQUESTS:-1000000}
seconds=${HAMEL_SOAK_SECONDS:-1800}

scratch=$(mktemp -d) || exit 2
daemon=
finish() {
    if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null && wait "$daemon"; fi
    rm -rf "$scratch"
}
trap finish EXIT

"$hameld" --listen 127.0.0.1:0 --data "$scratch/data" --keep-bytes 2e7 2>"$scratch/log" &
daemon=$!
url=
for _ in $(seq 200); do
    url=$(sed -n 's/.*"event":"listening","url":"\([^"]*\)".*/\1/p' "$scratch/log" | head -n 1)
    [ -n "$url" ] && break
    sleep 0.05
done
[ -n "$url" ] || { echo "1..1"; echo "not ok 1 - the daemon starts"; exit 1; }

number=0
failed=0
echo 1..2
verdict() { # NAME PASSED SAID
    number=$((number + 1))
    if [ "$2" = yes ]; then echo "ok $number - $1"; else echo "not ok $number - $1" && failed=1; fi
    echo "# $3"
}

cat >"$scratch/post.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [[{"hamel":1,"coordinates":[{"name":"a","initial":1}],"kinetic_energy":"a'^2/2","potential_energy":"-9.81*cos(a)","simulation":{"stop":2,"samples":21}}]]
LUA

resident() { awk '/VmRSS/ { print $2 }' "/proc/$daemon/status"; }
# ask PATH CONNECTIONS SECONDS: adds to `all` and `errors`
ask() {
    wrk -t1 -c"$2" -d"$3s" --timeout 20s -s "$scratch/post.lua" "$url$1" >"$scratch/out" 2>&1
    read -r n e < <(awk '/requests in/ { n = $1 } /Non-2xx/ { e += $NF } /Socket errors/ { gsub(",", ""); e += $4 + $6 + $8 + $10 }
        END { print n + 0, e + 0 }' "$scratch/out")
    all=$((all + n)) errors=$((errors + e))
}

# 1: the first tenth warms up
all=0 errors=0
while [ "$all" -lt $((requests / 10)) ]; do ask /v1/simulations 64 5; done
before=$(resident)
while [ "$all" -lt "$requests" ]; do ask /v1/simulations 64 10; done
after=$(resident)
good=no
[ "$errors" = 0 ] && [ $((after - before)) -le 8192 ] && good=yes
verdict "memory over many requests" $good "$all requests, $errors errors, resident $before kB, then $after kB"

# 2: least squares of the resident set over the last two thirds
all=0 errors=0
end=$((SECONDS + seconds)) start=$SECONDS
while [ $SECONDS -lt $end ]; do
    ask /v1/simulations 8 8
    ask /v1/jobs 2 2
    [ $((3 * (SECONDS - start))) -gt "$seconds" ] && echo "$SECONDS $(resident) $(ls "/proc/$daemon/fd" | wc -l)" >>"$scratch/samples"
done
read -r slope spread < <(awk '{ n++; x += $1; y += $2; xx += $1 * $1; xy += $1 * $2; if (n == 1 || $3 < low) low = $3; if ($3 > high) high = $3 }
    END { print 600 * (n * xy - x * y) / (n * xx - x * x), high - low }' "$scratch/samples")
good=$(awk -v s="$slope" -v f="$spread" -v e="$errors" 'BEGIN { print (s <= 1024 && f <= 40 && e == 0) ? "yes" : "no" }')
verdict "runs and jobs for $seconds s" "$good" "$all requests, $errors errors, resident set grows by $slope kB in ten minutes, descriptors vary by $spread"
exit $failed
