#!/usr/bin/env bash
# make demo: starts a daemon on a free loopback port, streams a simulation from it, runs a job on it, and stops it.
#
# All requests are sent with curl; any HTTP client can send them. The tables and the picture are generated from the
# responses.
set -euo pipefail
cd "$(dirname "$0")/.."
unset HAMEL_SERVER HAMEL_TOKEN

system=greenwood_4_11_rolling_disk
scratch=$(mktemp -d)
daemon=
stop() {
    if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null && wait "$daemon" || true; fi
    rm -rf "$scratch"
}
trap stop EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '\033[2m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || { say() { printf '\n%s\n' "$*"; }; show() { printf '$ %s\n' "$*"; }; }

say "1. Start a server: loopback, free port, SQLite in a temporary directory"
show "hameld --listen 127.0.0.1:0 --data DIR"
: >"$scratch/log" # the loop below reads the log, perhaps before the daemon has created it
build/hameld --listen 127.0.0.1:0 --data "$scratch/data" 2>>"$scratch/log" &
daemon=$!
url=
for _ in $(seq 100); do
    url=$(sed -n 's/.*"event":"listening","url":"\([^"]*\)".*/\1/p' "$scratch/log")
    [ -n "$url" ] && curl -fsS "$url/readyz" >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
    sleep 0.1
done
echo "ready at $url"

say "2. Load an example: a thin disk that rolls without slipping (five coordinates, two nonholonomic constraints)"
curl -fsS "$url/v1/examples/$system" >"$scratch/system.json"
grep -E '"(equation|kinetic_energy|potential_energy)"' "$scratch/system.json" | sed 's/^ *//' | cut -c1-118

say "3. Stream the motion while it is computed"
show "curl -N --json @system.json -H 'Accept: application/x-ndjson' $url/v1/simulations"
curl -fsS -N --json "@$scratch/system.json" -H 'Accept: application/x-ndjson' "$url/v1/simulations" >"$scratch/rows.ndjson"
cut -c1-118 "$scratch/rows.ndjson" | sed -n '1,3p'
echo "... $(grep -c '^{"row"' "$scratch/rows.ndjson") rows; the last line is the summary"

# Draw the track of the centre over the ground: columns 2 and 3 of each row.
sed -n 's/^{"row":\[\(.*\)\]}$/\1/p' "$scratch/rows.ndjson" | awk -F, '
    { x[NR] = $2; y[NR] = $3
      if (NR == 1 || $2 < x0) x0 = $2; if (NR == 1 || $2 > x1) x1 = $2
      if (NR == 1 || $3 < y0) y0 = $3; if (NR == 1 || $3 > y1) y1 = $3 }
    END {
        columns = 64; rows = 14
        scale = (x1 - x0) / columns; if ((y1 - y0) / (2 * rows) > scale) scale = (y1 - y0) / (2 * rows)
        if (scale <= 0) scale = 1
        for (i = 1; i <= NR; i++) at[int((x[i] - x0) / scale), int((y1 - y[i]) / (2 * scale))] = i == 1 ? "o" : i == NR ? "X" : "."
        printf "\n  view from above, from o to X; a character is %.3g wide\n", scale
        for (r = 0; r <= int((y1 - y0) / (2 * scale)); r++) {
            line = "   "
            for (c = 0; c <= columns; c++) line = line ((c, r) in at ? at[c, r] : " ")
            sub(/ +$/, "", line); print line
        }
    }'

say "4. Show the summary of the run"
summary=$(tail -n 1 "$scratch/rows.ndjson")
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$summary"; }
echo "status $(field status), all checks passed: $(field passed)"
echo "$(field steps) steps by $(field method), derived in $(field derive_seconds) s, integrated in $(field wall_seconds) s"
echo "energy drift, relative: $(sed 's/.*"max_relative_drift":\([^,}]*\).*/\1/' <<<"$summary")"
show "hamel check system.json --server $url"
(cd "$scratch" && "$OLDPWD/build/hamel" check system.json --server "$url")

say "5. Run the same system as a stored job"
show "curl --json @system.json -H 'Prefer: wait=10' $url/v1/jobs"
job=$(curl -fsS --json "@$scratch/system.json" -H 'Prefer: wait=10' "$url/v1/jobs")
path=$(sed 's/.*"self":"\([^"]*\)".*/\1/' <<<"$job")
echo "job $path: $(sed 's/.*"status":"\([a-z]*\)","progress".*/\1/' <<<"$job")"
show "curl -H 'Accept: text/csv' '$url$path/results?every=40&columns=t,X,Y,theta,Fx,Fy'"
curl -fsS -H 'Accept: text/csv' "$url$path/results?every=40&columns=t,X,Y,theta,Fx,Fy" |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) printf "%12s", $i; print ""; next }
             { for (i = 1; i <= NF; i++) printf "%12.5f", $i; print "" }'

kill "$daemon"
wait "$daemon" || { cat "$scratch/log" >&2; exit 1; }
daemon=
say "The server has stopped. Further reading:"
cat <<'T'
  README.md                        a system in five lines
  build/hamel examples             more systems, to run with hamel run and hamel check
  make run                         start a daemon: web page at http://127.0.0.1:8080/, interactive API at /docs
T
