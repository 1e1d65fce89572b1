#!/usr/bin/env bash
# api/examples/ANALYSIS.md prints what the commands in it print. Each command is one test. TAP.
. "$(dirname "$0")/../daemon.sh"
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
for ((k = 1; k <= count; k++)); do
    eval "$(cat "command.$k")" >found 2>&1
    diff "wanted.$k" found >difference
    outcome $? "$(cat "command.$k")" || remarks <difference
done
finish
