#!/usr/bin/env bash
# make lint: everything that reads the sources without running them. Stops at the first tool that finds something.
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h')
mapfile -t units < <(printf '%s\n' "${files[@]}" | grep '\.c$')
jobs=$(getconf _NPROCESSORS_ONLN)
flags=(-std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Wconversion -Wshadow -Wvla -Wstrict-prototypes -Wundef -Werror)

echo "lint: house rules"
HAMEL_TEST_LIMIT=60 tests/run.sh tests/tools/check_house.sh
echo "lint: format"
clang-format --dry-run -Werror "${files[@]}"
echo "lint: clang"
printf '%s\0' "${units[@]}" | xargs -0 -n 8 -P "$jobs" clang "${flags[@]}" -fsyntax-only
echo "lint: cppcheck"
# autoVariables: waiting threads queue on their own stacks in server/cpu_slots.c, and leave the queue before they return.
# legacyUninitvar: reports values that a failing call leaves unset and that are not read then.
# nullPointerRedundantCheck: the request of a stream is taken from it before its other thread may let go of it.
cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 --enable=warning,portability -I. -j "$jobs" \
    --suppress=missingIncludeSystem --suppress=legacyUninitvar --suppress=autoVariables:server/cpu_slots.c \
    --suppress=nullPointerRedundantCheck:server/http/routes_simulations.c "${units[@]}"
echo "lint: clang-tidy"
printf '%s\n' "${units[@]}" | grep -v '^tests/' | tr '\n' '\0' |
    xargs -0 -n 8 -P "$jobs" sh -c 'clang-tidy --quiet "$@" -- -std=c11 -D_GNU_SOURCE -I. 2>/dev/null' clang-tidy
echo "lint: clean"
