#!/bin/sh
# Writes the C table of example systems (api/examples/*.json) that api_example_at reads.
# Usage: embed_examples.sh FILE.json... > examples.c
set -eu
LC_ALL=C
export LC_ALL

cat <<'HEAD'
/* Made by api/embed_examples.sh from api/examples/. */
#include "api/simulate.h"

HEAD

# Each line becomes one string literal. `?` is escaped, because `??` begins a trigraph.
number=0
for file in "$@"; do
    printf 'static const char example_%d[] =\n' "$number"
    sed -e 's/[\\"?]/\\&/g' -e 's/	/\\t/g' -e 's/^/    "/' -e 's/$/\\n"/' "$file"
    printf '    "";\n\n'
    number=$((number + 1))
done

echo 'static const api_example examples[] = {'
number=0
for file in "$@"; do
    printf '    {"%s", example_%d, sizeof example_%d - 1},\n' "$(basename "$file" .json)" "$number" "$number"
    number=$((number + 1))
done
cat <<'TAIL'
    {NULL, NULL, 0},
};

const api_example *api_example_at(size_t index) {
    size_t count = sizeof examples / sizeof examples[0] - 1;
    return index < count ? &examples[index] : NULL;
}
TAIL
