#!/bin/sh
# Writes a C array with the bytes of a file: embed_file.sh NAME FILE > file.c The C code defines `const unsigned char
# NAME[]` and `const size_t NAME_length`.
set -eu
LC_ALL=C
export LC_ALL

echo "/* Made by api/embed_file.sh from $2. */"
echo '#include <stddef.h>'
echo
echo "extern const unsigned char $1[];"
echo "extern const size_t $1_length;"
echo "const unsigned char $1[] = {"
od -An -v -tu1 "$2" | sed -e 's/^ */    /' -e 's/  */, /g' -e 's/^, /    /' -e 's/$/,/'
echo '};'
echo "const size_t $1_length = sizeof $1;"
