#!/usr/bin/env bash
# Runs test programs and counts their tests: tests/run.sh [PROGRAM...] [--alone PROGRAM...]
#
# A test program is a script or a cmocka program (CMOCKA_MESSAGE_OUTPUT selects TAP). The program writes TAP
# ("ok 1 - name", "not ok 2 - name", "# remark", a plan "1..N") and exits with 0 on success. PROGRAM may contain
# arguments after the name. Programs run in parallel; programs after --alone run one after the other. If a program runs
# for more than HAMEL_TEST_LIMIT seconds, run.sh ends the program.
#
# A failed test, a planned test without a result, and a program without tests count as failures. If a program reports no
# failed test but fails, is ended by a signal, or runs out of time, this also counts as a failure. The last line is "N
# passed, N failed".
set -uo pipefail

limit=${HAMEL_TEST_LIMIT:-900}
jobs=${HAMEL_TEST_JOBS:-$(getconf _NPROCESSORS_ONLN)}
export CMOCKA_MESSAGE_OUTPUT=TAP
unset CMOCKA_XML_FILE
# If a sanitizer reports an error, the program must end, so that the test fails.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:allocator_may_return_null=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# run NUMBER COMMAND: writes NUMBER.out (output), NUMBER.status and NUMBER.seconds.
run() {
    local begin=$EPOCHREALTIME words
    read -ra words <<<"$2"
    timeout --kill-after=10 "$limit" "${words[@]}" >"$scratch/$1.out" 2>&1 </dev/null
    echo $? >"$scratch/$1.status"
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }' >"$scratch/$1.seconds"
}

# count_results NUMBER COMMAND: reads the files that run has written, prints the report, and writes "passed failed" to
# NUMBER.count.
count_results() {
    awk -v status="$(cat "$scratch/$1.status")" -v seconds="$(cat "$scratch/$1.seconds")" -v limit="$limit" \
        -v command="$2" -v counts="$scratch/$1.count" '
        function report(what) { failures = failures "  FAILED " what "\n"; failed++ }
        function plan_ends() { if (seen < planned) report((planned - seen) " planned test(s) without a result"); }
        function remarks_end() { if (pending != "") { report(pending); failures = failures said; pending = "" } said = "" }
        # The plan may precede or follow the tests.
        /^1\.\.[0-9]+/ {
            remarks_end(); plan_ends()
            seen = planned == 0 ? seen : 0; planned = substr($1, 4) + 0
            if (seen > 0) { plan_ends(); seen = planned = 0 }
            next
        }
        /^(not )?ok [0-9]+( - | # SKIP)/ {
            remarks_end(); seen++
            name = $0; sub(/^(not )?ok [0-9]+( - )?/, "", name)
            if (name ~ /# SKIP/) { skipped++; sub(/.*# SKIP */, "", name); skips = skips "  skipped " name "\n" }
            else if ($1 == "ok") passed++
            else pending = name
            next
        }
        /^not ok/ { remarks_end(); pending = $0; next }
        /^# (not )?ok - / { next }
        { said = said "      " $0 "\n"; last[NR % 40] = $0 }
        END {
            remarks_end(); plan_ends()
            if (status == 124 || (status == 137 && seconds + 0 >= limit + 0)) why = "ran longer than " limit " s"
            else if (status > 128) why = "ended by signal " (status - 128)
            else if (status != 0) why = "exit status " status
            if (why != "" && (failed == 0 || status > 123)) {
                report(why)
                for (i = NR - 39; i <= NR; i++) if (i > 0 && (i % 40) in last) failures = failures "      " last[i % 40] "\n"
            }
            if (passed + failed + skipped == 0) report("the program has no tests")
            printf "%-6s %s: %d passed%s%s, %s s\n%s%s", failed ? "FAILED" : "ok", command, passed,
                   failed ? ", " failed " failed" : "", skipped ? ", " skipped " skipped" : "", seconds, skips, failures
            print passed + 0, failed + 0 > counts
        }' "$scratch/$1.out"
}

commands=()
alone_from=
for argument in "$@"; do
    if [ "$argument" = --alone ]; then alone_from=${#commands[@]}; else commands+=("$argument"); fi
done
: "${alone_from:=${#commands[@]}}"

# Parallel programs start when there is a free slot; reports are in the order of the arguments.
running=0
for ((i = 0; i < alone_from; i++)); do
    while ((running >= jobs)); do
        wait -n
        running=$((running - 1))
    done
    run "$i" "${commands[i]}" 2>/dev/null & # count_results reports signals
    running=$((running + 1))
done
wait
for ((i = 0; i < alone_from; i++)); do count_results "$i" "${commands[i]}"; done
for ((i = alone_from; i < ${#commands[@]}; i++)); do
    run "$i" "${commands[i]}" 2>/dev/null
    count_results "$i" "${commands[i]}"
done

read -r passed failed < <(cat "$scratch"/*.count 2>/dev/null | awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }')
if [ $((passed + failed)) = 0 ]; then
    echo "no test was run"
    failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
