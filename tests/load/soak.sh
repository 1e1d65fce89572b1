#!/usr/bin/env bash
# Checks for leaks during long use of a daemon. TAP; part of `make test-long`. Takes up to an hour.
#
#   1. A million runs of a small pendulum on 64 connections cause no error, and memory stays constant.
#   2. Half an hour of runs and stored jobs, which retention deletes, cause no error. Memory and descriptors stay
#      constant.
#
# HAMEL_SOAK_REQUESTS and HAMEL_SOAK_SECONDS shorten the test.
. "$(dirname "$0")/common.sh"
requests=${HAMEL_SOAK_REQUESTS:-1000000}
seconds=${HAMEL_SOAK_SECONDS:-1800}
start_daemon --keep-bytes 2e7

resident() { awk '/VmRSS/ { print $2 }' "/proc/$daemon/status"; }
# `ask` PATH CONNECTIONS SECONDS: sends requests with wrk; adds their number to $all and the number of errors to
# $errors.
ask() {
    wrk -t1 -c"$2" -d"$3s" --timeout 20s -s post.lua "$url$1" >out 2>&1
    read -r n e _ < <(numbers out)
    all=$((all + n)) errors=$((errors + e))
}

# 1: the first tenth of the requests is warm-up
all=0 errors=0
while [ "$all" -lt $((requests / 10)) ]; do ask /v1/simulations 64 5; done
before=$(resident)
while [ "$all" -lt "$requests" ]; do ask /v1/simulations 64 10; done
after=$(resident)
[ "$errors" = 0 ] && [ $((after - before)) -le 8192 ]
outcome $? "memory is constant over many requests"
echo "# $all requests, $errors errors, resident $before kB, then $after kB"

# 2: slope of the least-squares line of the resident set over the last two thirds
all=0 errors=0
end=$((SECONDS + seconds)) start=$SECONDS
while [ $SECONDS -lt $end ]; do
    ask /v1/simulations 8 8
    ask /v1/jobs 2 2
    [ $((3 * (SECONDS - start))) -gt "$seconds" ] && echo "$SECONDS $(resident) $(ls "/proc/$daemon/fd" | wc -l)" >>samples
done
read -r slope spread < <(awk '{ n++; x += $1; y += $2; xx += $1 * $1; xy += $1 * $2; if (n == 1 || $3 < low) low = $3; if ($3 > high) high = $3 }
    END { print 600 * (n * xy - x * y) / (n * xx - x * x), high - low }' samples)
holds "s <= 1024 && f <= 40 && e == 0" s="$slope" f="$spread" e="$errors"
outcome $? "memory and descriptors are constant during $seconds s of runs and jobs"
echo "# $all requests, $errors errors, resident set grows by $slope kB in ten minutes, descriptors vary by $spread"
finish
