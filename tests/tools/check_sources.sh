#!/usr/bin/env bash
# The rules of the house that need no compiler, one test each: which room may include which, banned functions, sizes,
# paths of a machine, file heads. Reads what git tracks and what it would add.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 2

max_function=80  # lines
max_file=700     # lines
max_cyclomatic=25
sources() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done; }


# Each room has a floor. A file includes from its own room and from lower floors only, so there can be no circle.
# The public face hamel.h and the plain description are declarations that every floor above base may know.
# Tests may include anything; the daemon and the clients do not know each other.
includes_that_run_upward() {
    sources 'engine/*.[ch]' 'api/*.[ch]' 'server/*.[ch]' 'clients/*.[ch]' | xargs -r awk '
        BEGIN {
            split("engine/base 0 description 2 hamel.h 5 engine/graph 10 engine/algebra 15 engine/text 20 engine/compile 30 " \
                  "engine/system 30 engine/mechanics 40 engine/model 50 engine/solve 60 engine/analyze 70 engine/equations 70 engine/simulate 70 api 100 server 200 clients 200", f)
            for (i = 1; i in f; i += 2) floor[f[i]] = f[i + 1]
        }
        function room_of(path,  part) {
            if (path == "engine/system/description.h") return "description"
            if (path == "engine/hamel.h") return "hamel.h"
            split(path, part, "/")
            if (part[1] != "engine") return part[1]
            return "engine/" part[2]
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
            from = room_of(FILENAME); to = room_of(target)
            if (!(to in floor)) print FILENAME ":" FNR ": \"" target "\" is not written from the root of the repository"
            else if (!(from in floor)) print FILENAME ": the room " from " has no floor in tests/tools/check_house.sh"
            else if (from != to && floor[to] >= floor[from]) print FILENAME ":" FNR ": " from " includes " target
        }'
}

# A header named x_int.h (or *_parts.h and the like kept by a room) is for its room alone.
private_headers_outside_their_room() {
    sources 'engine/*.[ch]' 'api/*.[ch]' 'server/*.[ch]' 'clients/*.[ch]' |
        xargs -r grep -nE '^#include "[^"]*_int\.h"' | awk -F'[:"]' '{
            from = $1; to = $4; sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to)
            if (from != to) print $1 ":" $2 ": " $4 " is private to " to }'
}

# Unbounded or locale-bound functions, and those that keep hidden state.
banned_functions() {
    sources '*.c' '*.h' | xargs -r grep -nE \
        '(^|[^A-Za-z0-9_>.])(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|alloca|setjmp|longjmp|setlocale|system|tmpnam|mktemp|rand|srand)[ ]*\(' |
        grep -vE '^[^:]*:[0-9]+:[[:space:]]*(\*|//|/\*)' | grep -vE '^tests/.*\bsetjmp'
}

long_files() {
    sources '*.c' '*.h' '*.sh' '*.md' | grep -vE '^(CHANGELOG\.md|tests/)' | xargs -r awk -v max=$max_file '
        { lines[FILENAME] = FNR } END { for (f in lines) if (lines[f] > max) print f ": " lines[f] " lines, at most " max }'
}

# pmccabe: modified cyclomatic, traditional, statements, first line, lines, file(line): name
fat_functions() {
    command -v pmccabe >/dev/null || { echo "pmccabe is missing: deploy/setup.sh test"; return; }
    sources 'engine/*.c' 'api/*.c' 'server/*.c' 'clients/*.c' | xargs -r pmccabe 2>/dev/null |
        awk -v lines=$max_function -v paths=$max_cyclomatic '
            $5 > lines { print $6 " " $7 ": " $5 " lines, at most " lines }
            $1 > paths { print $6 " " $7 ": cyclomatic complexity " $1 ", at most " paths }'
}

# Written so that this file does not find itself.
machine_paths() {
    sources '*' | grep -vE '\.(png|svg|npy)$' |
        xargs -r grep -nE '(/home/[a-z]|/root/|/work[/]|/tmp/[a-z]|/mnt/[a-z]|[C]:\\\\Users)' -- 2>/dev/null | grep -v '^tests/tools/check_house.sh:'
}

headless_files() {
    sources '*.c' '*.h' | while read -r f; do head -n 1 "$f" | grep -q '^/\*' || echo "$f: no comment at its head"; done
}

# Files of tests, and tests in them, by the names that documents show them with.
tests_that_are_not_there() {
    local document name
    for document in tests/README.md SECURITY.md; do
        grep -oE '[a-z_]*(test|check)_[a-z_]+\.(c|sh|py)' $document | sort -u | while read -r name; do
            [ -n "$(sources "tests/*/$name")" ] || echo "$document: $name"
        done
        grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' $document | tr -d '`' | sort -u | while read -r name; do
            sources 'tests/*.[ch]' 'Makefile' 'engine/*.h' | xargs -r grep -qw "$name" || echo "$document: $name"
        done
    done
}

# A README names files that are there, and one of a room of the engine all of the room's.
readmes_out_of_step() {
    local readme room name
    sources '*README.md' | while read -r readme; do
        room=$(dirname "$readme")
        grep -oE '`[a-z0-9_/]+\.(c|h|sh|py|mjs)`' "$readme" | tr -d '`' | sort -u | while read -r name; do
            [ -n "$(sources "$room/$name" "*/${name##*/}")" ] || echo "$readme: $name is not there"
        done
        case $room in engine/*) ;; *) continue ;; esac
        for name in "$room"/*.c; do
            grep -q "\b${name##*/}" "$readme" || echo "$readme: ${name##*/} is missing"
        done
    done
}

verdict "includes run downward only" "$(includes_that_run_upward)"
verdict "private headers stay in their room" "$(private_headers_outside_their_room)"
verdict "banned functions are not called" "$(banned_functions)"
verdict "files have at most $max_file lines" "$(long_files)"
verdict "functions have at most $max_function lines and a complexity of $max_cyclomatic" "$(fat_functions)"
verdict "no path of a machine is written down" "$(machine_paths)"
verdict "each source file begins with what it is for" "$(headless_files)"
verdict "tests that documents name are there" "$(tests_that_are_not_there)"
verdict "READMEs name the files that are there" "$(readmes_out_of_step)"
finish
