#!/usr/bin/env bash
# Runs `hamel run` on descriptions with errors. Exit status and standard error must match exactly.
#
#   tests/diagnostics/run.sh [TOPIC...]            compares the messages with TOPIC.txt; prints one TAP test per case.
#   tests/diagnostics/run.sh --update [TOPIC...]   writes the messages to TOPIC.txt.
#
# Check the updated files before you commit them. A file TOPIC.txt is a sequence of cases, with a blank line between
# them:
#
#   === NAME
#   the description, as it is passed to hamel in system.json
#   --- exit CODE
#   standard error
#
# After `=== NAME (escaped)`, the description may contain escapes of printf %b. For example, \xe9 is the byte 0xE9, which
# is not valid UTF-8 alone.
. "$(dirname "$0")/../tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
hamel=${HAMEL:-$root/build/hamel}
cd "$root/tests/diagnostics" || exit 2
unset HAMEL_SERVER HAMEL_TOKEN
[ -x "$hamel" ] || { echo "1..1"; echo "not ok 1 - $hamel can be executed"; exit 1; }
update=
if [ "${1:-}" = --update ]; then update=1 && shift; fi
topics=("${@/%/.txt}")
[ $# -gt 0 ] || topics=(*.txt)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# The cases are stored as SCRATCH/NAME/{system.json,expected}, and their names, in order, in SCRATCH/names.
sed -n 's/^=== \([^ ]*\).*/\1/p' "${topics[@]}" >"$scratch/names"
(cd "$scratch" && xargs mkdir <names) || exit 2 # fails if a name is not unique
awk -v scratch="$scratch" '
    FNR == 1 { file = "" }
    /^=== / {
        close(file); dir = scratch "/" $2; file = dir "/system.json"; blank = ""
        printf "" > file
        if ($3 == "(escaped)") print dir > (scratch "/escaped")
        next
    }
    /^--- / { close(file); file = dir "/expected"; sub(/^--- /, "") }
    /^$/ { blank = blank "\n"; next } # not part of a case if it is the last line
    file != "" { printf "%s%s\n", blank, $0 > file; blank = "" }' "${topics[@]}" || exit 2
[ ! -f "$scratch/escaped" ] || while read -r dir; do
    text=$(cat "$dir/system.json")
    printf '%b\n' "$text" >"$dir/system.json"
done <"$scratch/escaped"

# run_cases HAMEL NAME...: writes NAME/found in the format of NAME/expected.
run_cases() {
    local hamel=$1 name status
    for name in "${@:2}"; do
        cd "$name" || exit 2
        "$hamel" run system.json 2>errors >/dev/null
        status=$?
        { echo "exit $status" && cat errors; } >found
        cd ..
    done
}
export -f run_cases
(cd "$scratch" && xargs -n 8 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'run_cases "$@"' bash "$hamel" <names)

if [ "$update" ]; then
    for topic in "${topics[@]}"; do
        awk -v scratch="$scratch" '
            /^=== / { if (found) print ""; found = 0; name = $2 }
            /^--- / && !found { found = scratch "/" name "/found"; getline line < found; print "--- " line
                                while ((getline line < found) > 0) print line }
            !found' "$topic" >"$scratch/updated" && cat "$scratch/updated" >"$topic"
    done
    exit
fi

while read -r name; do
    cmp -s "$scratch/$name/expected" "$scratch/$name/found"
    outcome $? "$name" || diff -u --label expected --label found "$scratch/$name/expected" "$scratch/$name/found" | remarks
done <"$scratch/names"
finish
