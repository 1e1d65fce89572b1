#!/usr/bin/env bash
# Checks rules for sources that need no compiler, one test for each rule: layers, banned functions, sizes, absolute
# paths, file headers. Checks the files that git tracks and new files that it does not ignore.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 2

max_function=80  # lines per function
max_file=600     # lines per file
max_cyclomatic=25
sources() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

# Each module has a layer, the number after its name. A file includes from its own module and from lower layers only, so
# there are no cycles. The headers engine/hamel.h and engine/system/description.h have their own low layers, because
# many modules include them. Tests may include anything; the daemon and the clients must not include each other.
upward_includes() {
    sources 'engine/*.[ch]' 'api/*.[ch]' 'server/*.[ch]' 'clients/*.[ch]' | xargs -r awk '
        BEGIN {
            split("engine/base 0 description 2 hamel.h 5 engine/graph 10 engine/algebra 15 engine/text 20 engine/compile 30 " \
                  "engine/system 30 engine/mechanics 40 engine/model 50 engine/linear 5 engine/dynamics 60 engine/sensitivity 65 engine/analyze 70 engine/equations 70 engine/simulate 70 api 100 server 200 clients 200", f)
            for (i = 1; i in f; i += 2) layer[f[i]] = f[i + 1]
        }
        function module_of(path,  part) {
            if (path == "engine/system/description.h") return "description"
            if (path == "engine/hamel.h") return "hamel.h"
            split(path, part, "/")
            if (part[1] != "engine") return part[1]
            return "engine/" part[2]
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
            from = module_of(FILENAME); to = module_of(target)
            if (!(to in layer)) print FILENAME ":" FNR ": \"" target "\" must be a path from the root of the repository"
            else if (!(from in layer)) print FILENAME ": the module " from " has no layer in tests/tools/check_sources.sh"
            else if (from != to && layer[to] >= layer[from]) print FILENAME ":" FNR ": " from " includes " target
        }'
}

# A header named x_int.h is private to its module.
private_headers_outside_their_module() {
    sources 'engine/*.[ch]' 'api/*.[ch]' 'server/*.[ch]' 'clients/*.[ch]' |
        xargs -r grep -nE '^#include "[^"]*_int\.h"' | awk -F'[:"]' '{
            from = $1; to = $4; sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to)
            if (from != to) print $1 ":" $2 ": " $4 " is private to " to }'
}

# Functions that write without a bound, depend on the locale, or have hidden state.
banned_functions() {
    sources '*.c' '*.h' | xargs -r grep -nE \
        '(^|[^A-Za-z0-9_>.])(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|alloca|setjmp|longjmp|setlocale|system|tmpnam|mktemp|rand|srand)[ ]*\(' |
        grep -vE '^[^:]*:[0-9]+:[[:space:]]*(\*|//|/\*)' | grep -vE '^tests/.*\bsetjmp'
}

long_files() {
    sources '*.c' '*.h' '*.sh' '*.md' | grep -v '^CHANGELOG\.md$' | xargs -r awk -v max=$max_file '
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

# The patterns are written so that they do not match themselves.
absolute_paths() {
    sources '*' | grep -vE '\.(png|svg|npy)$' |
        xargs -r grep -nE '(/home/[a-z]|/root/|/work[/]|/tmp/[a-z]|/mnt/[a-z]|[C]:\\\\Users)' -- 2>/dev/null | grep -v '^tests/tools/check_sources.sh:'
}

files_without_comment() {
    sources '*.c' '*.h' | while read -r f; do head -n 1 "$f" | grep -q '^/\*' || echo "$f: no comment at the top"; done
}

# Test files and tests that documents mention must exist.
missing_tests() {
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

# A README must mention only existing files. The README of an engine module must mention all its .c files.
readme_errors() {
    local readme module name
    sources '*README.md' | while read -r readme; do
        module=$(dirname "$readme")
        grep -oE '`[a-z0-9_/]+\.(c|h|sh|py|mjs)`' "$readme" | tr -d '`' | sort -u | while read -r name; do
            [ -n "$(sources "$module/$name" "*/${name##*/}")" ] || echo "$readme: $name does not exist"
        done
        case $module in engine/*) ;; *) continue ;; esac
        for name in "$module"/*.c; do
            grep -q "\b${name##*/}" "$readme" || echo "$readme: ${name##*/} is missing"
        done
    done
}

verdict "includes point to lower layers only" "$(upward_includes)"
verdict "private headers are included in their module only" "$(private_headers_outside_their_module)"
verdict "banned functions are not called" "$(banned_functions)"
verdict "files have at most $max_file lines" "$(long_files)"
verdict "functions have at most $max_function lines and a complexity of $max_cyclomatic" "$(fat_functions)"
verdict "sources contain no absolute path" "$(absolute_paths)"
verdict "each source file begins with a comment" "$(files_without_comment)"
verdict "tests mentioned in documents exist" "$(missing_tests)"
verdict "files mentioned in READMEs exist" "$(readme_errors)"
finish
