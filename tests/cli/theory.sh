#!/usr/bin/env bash
# Runs each command in the tables of api/examples/THEORY.md, and searches its output for the texts in the last column.
# Each table row with a command is one test. TAP.
#
# A table row is | equation | topic | `command` | `text`, `text`, ... |. In a cell, \| stands for |. The command must
# succeed, or fail if it begins with "!". The output must contain every text. Before the search, decimals beyond the sixth
# are removed from the output.
. "$(dirname "$0")/../daemon.sh"

hamel() { "$hamel" "$@"; }

rounded() { sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g'; }

# in_backticks CELL: prints each text of CELL that is enclosed in backticks on its own line, without the backticks.
in_backticks() { grep -o '`[^`]*`' <<<"$1" | sed 's/^`//; s/`$//'; }

# answers COMMAND TEXTS: succeeds if COMMAND succeeds and its output contains each line of TEXTS.
answers() {
    local text missing=0
    eval "$1" >out 2>&1 </dev/null || return 1
    rounded <out >rounded
    while IFS= read -r text; do
        grep -qF -- "$text" rounded || { echo "# missing: $text" && missing=1; }
    done <<<"$2"
    return "$missing"
}

cp "$root"/api/examples/*.json .
count=0
while IFS= read -r row; do
    IFS=$'\t' read -r source _ command texts <<<"$(sed 's/\\|/\x01/g; s/^| *//; s/ *|$//; s/ *| */\t/g; s/\x01/|/g' <<<"$row")"
    command=$(in_backticks "$command") texts=$(in_backticks "$texts")
    count=$((count + 1))
    [ -n "$command" ] && [ -n "$texts" ] && answers "$command" "$texts"
    outcome $? "$source: $command" || remarks <out
done < <(grep -E "^\|.*\`(! )?hamel " "$root/api/examples/THEORY.md")
[ "$count" -gt 0 ]
outcome $? "THEORY.md contains commands"
finish
