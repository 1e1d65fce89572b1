# What the tests of the command line share; sourced first. Leaves the caller in an empty directory that goes at the end.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
hamel=${HAMEL:-$root/build/hamel}
hameld=${HAMELD:-$root/build/hameld}
unset HAMEL_SERVER HAMEL_TOKEN
scratch=$(mktemp -d) || exit 2
daemon=
trap '[ -n "$daemon" ] && kill "$daemon" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

number=0
failed=0
report() { # report STATUS NAME
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        { echo "exit code $code"; head -c 600 out; head -c 600 err; } 2>/dev/null | tr -cd '[:print:]\n' | sed 's/^/# /'
        failed=1
    fi
}
finish() {
    echo "1..$number"
    exit $failed
}

# call ARGUMENTS...: runs hamel; leaves its exit code in $code, its output in out and err.
call() { "$hamel" "$@" >out 2>err </dev/null; code=$?; }
code_is() { [ "$code" = "$1" ]; }

# start_daemon OPTIONS...: on a free $port, with its data in the scratch directory.
start_daemon() {
    for port in $(shuf -i 20000-60000 -n 5); do
        "$hameld" --listen "127.0.0.1:$port" --data "$scratch/data" "$@" >/dev/null 2>daemon.log &
        daemon=$!
        for _ in $(seq 100); do
            (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
            kill -0 "$daemon" 2>/dev/null || break
            sleep 0.1
        done
    done
}
