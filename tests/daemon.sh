# Setup of test scripts that run the programs; source this file first. Changes to an empty directory. At the end of the
# script, removes the directory and stops the daemon.
. "${BASH_SOURCE[0]%/*}/tap.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
hamel=${HAMEL:-$root/build/hamel}
hameld=${HAMELD:-$root/build/hameld}
unset HAMEL_SERVER HAMEL_TOKEN
scratch=$(mktemp -d) || exit 2
daemon=
url=
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

# start_daemon OPTIONS...: starts the daemon at $url on a free port, with its data in the scratch directory. If the
# daemon does not start, ends the script.
start_daemon() {
    : >daemon.log # must exist before the daemon writes to it
    "$hameld" --listen 127.0.0.1:0 --data "$scratch/data" "$@" >/dev/null 2>>daemon.log &
    daemon=$!
    for _ in $(seq 2400); do
        url=$(sed -n 's/.*"event":"listening","url":"\([^"]*\)".*/\1/p' daemon.log | head -n 1)
        [ -n "$url" ] && return
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.05
    done
    outcome 1 "the daemon starts" || remarks <daemon.log
    finish
}
