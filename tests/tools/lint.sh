#!/usr/bin/env bash
# Runs static checks, and stops at the first tool that finds an error. By default, tests/tools/lint.sh checks all
# sources. With --changed, it checks files that differ from the upstream branch. If there is no upstream branch, it
# compares with HEAD~1.
set -euo pipefail
cd "$(dirname "$0")/../.."

jobs=$(getconf _NPROCESSORS_ONLN)
flags=(-std=c11 -D_GNU_SOURCE -I. -Ibuild/generated -Wall -Wextra -Wconversion -Wshadow -Wvla -Wstrict-prototypes -Wundef -Werror)
list() { git ls-files --cached --others --exclude-standard '*.c' '*.h'; }
if [ "${1:-}" = --changed ]; then
    base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD~1)
    list() { { git diff --name-only --diff-filter=d "$base" -- '*.c' '*.h' && git ls-files --others --exclude-standard '*.c' '*.h'; } | sort -u; }
fi
mapfile -t files < <(list)
mapfile -t units < <(list | grep '\.c$' || true)

echo "lint: rules for sources and words"
HAMEL_TEST_LIMIT=60 tests/run.sh tests/tools/check_sources.sh tests/tools/check_words.py
if [ "${#files[@]}" = 0 ]; then
    echo "lint: clean, no C file changed"
    exit
fi
echo "lint: format"
clang-format --dry-run -Werror "${files[@]}"
[ "${#units[@]}" -gt 0 ] || exit 0
echo "lint: clang"
printf '%s\0' "${units[@]}" | xargs -0 -n 8 -P "$jobs" clang "${flags[@]}" -fsyntax-only
echo "lint: cppcheck"
# Three checks are suppressed because their findings are false.
# `autoVariables`: in server/cpu_slots.c, a waiting thread stores a queue entry on its own stack and removes the entry
# before it returns.
# `legacyUninitvar`: a failing call leaves values unset, but these values are not read afterwards.
# `nullPointerRedundantCheck`: a thread reads the request of a stream before another thread may clear the request.
cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 --enable=warning,portability -I. -Ibuild/generated -j "$jobs" \
    --suppress=missingIncludeSystem --suppress=legacyUninitvar --suppress=autoVariables:server/cpu_slots.c \
    --suppress=nullPointerRedundantCheck:server/http/routes_runs.c "${units[@]}"
echo "lint: clang-tidy"
printf '%s\n' "${units[@]}" | { grep -v '^tests/' || true; } | tr '\n' '\0' |
    xargs -0 -r -n 4 -P "$jobs" sh -c 'clang-tidy --quiet "$@" -- -std=c11 -D_GNU_SOURCE -I. -Ibuild/generated 2>/dev/null' clang-tidy
echo "lint: clean"
