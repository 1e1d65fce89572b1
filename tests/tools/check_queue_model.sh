#!/usr/bin/env bash
# Explores all states of the model of the shared queue (tests/model/queue.pml) with Spin. TAP.
. "$(dirname "$0")/../tap.sh"
model=$(cd "$(dirname "$0")/../model" && pwd)/queue.pml
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

# verify NAME 'FLAGS OF SPIN' 'FLAGS OF CC' 'FLAGS OF THE VERIFIER' PATTERN: the verifier's report must match the
# pattern.
verify() {
    # shellcheck disable=SC2086
    if spin $2 -a "$model" >report 2>&1 && gcc -O2 -w -DCOLLAPSE $3 -o pan pan.c >>report 2>&1 &&
        { ./pan -m1000000 $4 >>report 2>&1; grep -q "$5" report && ! grep -q 'max search depth too small' report; }; then
        outcome 0 "$1 ($(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' report | head -n 1) states)"
    else
        outcome 1 "$1" || tail -n 30 report | remarks
    fi
}

verify "no result is stored twice or after its job was taken over" "" "-DSAFETY -DNOCLAIM" "" "errors: 0"
verify "every job ends" "" "" "-a" "errors: 0"
verify "without the check of attempts, a late result is found" "-DFENCE=true" "-DSAFETY -DNOCLAIM" "" "assertion violated"
finish
