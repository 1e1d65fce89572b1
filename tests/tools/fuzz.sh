#!/bin/sh
# Runs a fuzz target as a test: tests/tools/fuzz.sh PROGRAM CORPUS COUNT [SEED]. The program mutates the files of the
# corpus COUNT times and exits at the first finding of a sanitizer. The seed is fixed, so that failures are
# reproducible.
set -u
echo 1..1
name="$(basename "$1") survives $3 mutated inputs"
if "$1" "$2" "$3" "${4:-1}" 2>&1; then echo "ok 1 - $name"; else echo "not ok 1 - $name"; exit 1; fi
