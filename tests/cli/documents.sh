#!/usr/bin/env bash
# Runs the commands in documents and in --help, and compares their output with the expected output. Each command is one
# test. TAP.
#
# In a code block, a line that begins with "$ " is a command. The following lines are its expected output, where "..."
# matches anything, and decimals beyond the sixth are ignored. If no output follows, only the exit status is checked. If
# a line ends with `NAME`: and a block of JSON follows, the block is stored as the file NAME.
# The test starts a daemon on a free port. In the documents, its URL replaces http://127.0.0.1:8080.
. "$(dirname "$0")/../daemon.sh"

hamel() { "$hamel" "$@"; }
hameld() { "$hameld" "$@"; }
curl() { command curl --silent --fail-with-body "$@"; }

# parts: splits a document on standard input into command.K, wanted.K and its files.
parts() {
    sed "s,http://127\.0\.0\.1:8080,$url,g" | awk '
        /^```/ { inside = !inside; file = inside && $0 == "```json" ? named : ""; going = 0; next }
        !inside && match($0, /`[a-z_.]+`:$/) { named = substr($0, RSTART + 1, RLENGTH - 3); next }
        !inside { if ($0 != "") named = ""; next }
        file != "" { print > file; next }
        /^\$ / { n++; going = 1; print substr($0, 3) > ("command." n); printf "" > ("wanted." n); next }
        going { print > ("wanted." n) }'
}

# as_wanted K: succeeds if the file out matches wanted.K.
as_wanted() {
    local pattern
    pattern=$(rounded "wanted.$1" | sed 's/./\\&/g; s/\\\.\\\.\\\./*/g')
    # shellcheck disable=SC2053 # a pattern
    [ -z "$pattern" ] || [[ $(rounded out) == $pattern ]]
}
rounded() { sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g' "$1"; }

# follow NAME: runs the document on standard input in a new folder with a copy of the folder `files`.
follow() {
    local k count
    cp -r files work && cd work || exit 2
    parts
    count=$(find . -maxdepth 1 -name 'command.*' | wc -l)
    [ "$count" -gt 0 ] || outcome 1 "$1 contains commands"
    for ((k = 1; k <= count; k++)); do
        eval "$(cat "command.$k")" >out 2>&1 </dev/null && as_wanted "$k"
        outcome $? "$1: $(cat "command.$k")" || remarks <out
    done
    cd "$scratch" && rm -r work
}

start_daemon
mkdir -p files/build
ln -s "$hamel" files/build/hamel
for name in README.md server/README.md api/examples/ANALYSIS.md; do
    follow "$name" <"$root/$name"
done

# Files for the examples of --help. Examples of a command use jobs that the examples of other commands have submitted.
export HAMEL_SERVER=$url
cd files || exit 2
"$hamel" examples simple_pendulum >pendulum.json
"$hamel" examples papastavridis_2_13_7_rolling_disk >disk.json
sed 's|^{|{"sweep": {"over": {"l": [1, 1.1, 1.2, 1.3]}, "collect": ["final"]},|' pendulum.json >study.json
"$hamel" new | tee system.json a.json >b.json
mkdir systems && cp a.json pendulum.json systems
cd .. || exit 2
for command in $("$hamel" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    [ "$command" != worker ] || continue # requires a database
    case $command in
    sweep | merge) HAMEL_SERVER= ;; # shards are computed in this process
    *) HAMEL_SERVER=$url ;;
    esac
    { echo '```' && "$hamel" "$command" --help | sed -n '/^Examples\{0,1\}:$/,$s/^  /$ /p'; } >help
    follow "hamel $command --help" <help
done
finish
