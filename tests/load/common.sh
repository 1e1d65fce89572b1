# Functions of the load tests; source this file first. With post.lua, wrk sends a small pendulum.
. "${BASH_SOURCE[0]%/*}/../daemon.sh"

cat >post.lua <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [[{"hamel":1,"coordinates":[{"name":"a","initial":1}],"kinetic_energy":"a'^2/2","potential_energy":"-9.81*cos(a)","simulation":{"stop":2,"samples":21}}]]
LUA

# Prints the summary of wrk as "requests errors rate p99-in-ms"; the p99 requires --latency.
numbers() {
    awk '/requests in/ { requests = $1 } /Requests\/sec/ { rate = $2 } /Non-2xx/ { errors += $NF }
         /Socket errors/ { gsub(",", ""); errors += $4 + $6 + $8 + $10 }
         $1 == "99%" { p99 = $2; if (p99 ~ /us$/) f = 0.001; else if (p99 ~ /ms$/) f = 1; else f = 1000; p99 = (p99 + 0) * f }
         END { print requests + 0, errors + 0, rate + 0, p99 + 0 }' "$1"
}

# holds CONDITION NAME=VALUE...: evaluates a condition on numbers with awk. If a value is empty, the condition is false.
holds() {
    local condition=$1 word words=()
    shift
    for word in "$@"; do
        [ -n "${word#*=}" ] || return 1
        words+=(-v "$word")
    done
    awk "${words[@]}" "BEGIN { exit !($condition) }"
}
