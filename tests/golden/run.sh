#!/usr/bin/env bash
# Bad descriptions and what `hamel run` says of each: bad/X.json beside bad/X.expected, which holds the exit code in
# its first line and standard error after it. Nothing may come on standard output before the fault is known.
#
# tests/golden/run.sh            compares; TAP
# tests/golden/run.sh --update   writes the expected files anew: read the difference before you commit it
. "$(dirname "$0")/../tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
hamel=${HAMEL:-$root/build/hamel}
cd "$root/tests/golden/bad" || exit 2
unset HAMEL_SERVER HAMEL_TOKEN
[ -x "$hamel" ] || { echo "1..1"; echo "not ok 1 - $hamel is there to be tested"; exit 1; }

answer() {
    local text status
    text=$("$hamel" run "$1" 2>&1 >/dev/null)
    status=$?
    printf 'exit %d\n%s\n' "$status" "$text"
}

if [ "${1:-}" = --update ]; then
    for file in *.json; do answer "$file" >"${file%.json}.expected"; done
    exit 0
fi

for file in *.json; do
    difference=$(diff -u --label expected --label found "${file%.json}.expected" <(answer "$file"))
    outcome $? "${file%.json}" || remarks <<<"$difference"
done
finish
