# TAP output of test scripts; source this file first. `finish` ends the script.
set -uo pipefail
number=0
failed=0

# outcome STATUS NAME: reports a test and returns STATUS. If STATUS is 0, the test has passed.
outcome() {
    number=$((number + 1))
    if [ "$1" = 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2" && failed=1; fi
    return "$1"
}

# verdict NAME ERRORS: reports a test. If ERRORS is empty, the test has passed.
verdict() {
    if [ -z "$2" ]; then outcome 0 "$1"; else outcome 1 "$1" || remarks <<<"$2"; fi
}

# Prints the standard input as TAP comments.
remarks() { head -n 40 | sed 's/^/# /'; }

finish() {
    echo "1..$number"
    exit $failed
}
