#!/usr/bin/env bash
# Runs a coverage-guided fuzz target as a test: tests/tools/fuzz_guided.sh PROGRAM CORPUS... The program starts with the
# files of the corpora. Inputs that reach new code are stored in a temporary directory, failing inputs in build/fuzz.
set -uo pipefail
program=$1
shift
seconds=${HAMEL_FUZZ_SECONDS:-900}
found=build/fuzz/found-$(basename "$program")-
kept=$(mktemp -d) || exit 2
trap 'rm -rf "$kept"' EXIT

echo 1..1
name="$(basename "$program") survives $seconds s of guided fuzzing"
if "$program" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$found" "$kept" "$@" >"$kept.log" 2>&1; then
    echo "ok 1 - $name"
else
    echo "not ok 1 - $name"
    grep -vE '^#[0-9]+' "$kept.log" | tail -n 60 | sed 's/^/# /'
fi
grep -E '^#[0-9]+.*DONE|number_of_executed_units' "$kept.log" | sed 's/^/# /'
rm -f "$kept.log"
