#!/usr/bin/env bash
# api/examples/ANALYSIS.md prints what the commands in it print. Each command is one test. TAP.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
hamel=${HAMEL:-$root/build/hamel}
unset HAMEL_SERVER HAMEL_TOKEN
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
hamel() { "$hamel" "$@"; }

# Commands are lines of code blocks that begin with "$ "; what follows them is what they print.
awk '
    /^```/ { inside = !inside; next }
    !inside { next }
    /^\$ / { n++; print substr($0, 3) > ("command." n); printf "" > ("wanted." n); next }
    { print > ("wanted." n) }
    END { print n + 0 > "count" }' "$root/api/examples/ANALYSIS.md"
count=$(cat count)
[ "$count" -gt 0 ] || exit 1
echo "1..$count"
failed=0
for ((k = 1; k <= count; k++)); do
    eval "$(cat "command.$k")" >found 2>&1
    if cmp -s found "wanted.$k"; then
        echo "ok $k - $(cat "command.$k")"
    else
        echo "not ok $k - $(cat "command.$k")"
        diff "wanted.$k" found | head -n 20 | sed 's/^/# /'
        failed=1
    fi
done
exit $failed
