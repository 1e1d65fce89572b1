#!/bin/sh
# Writes a C header from SQL files: embed_sql.sh FILE... > statements.h
#
# A file is a schema or a list of statements. In a list each statement begins with a line `-- statement NAME`. The
# header defines the macro FILE_STATEMENTS(X), which expands to X(NAME, "text") for each statement of the list. A line
# `-- fragment name` begins a text that later statements of any file insert as {name}. The header defines this text as
# FILE_FRAGMENT_name. A file without such lines is a schema, and the header defines its whole text as FILE_TEXT. Other
# lines that begin with `--` are comments.
set -eu
LC_ALL=C
export LC_ALL

echo "/* Made by server/jobs/embed_sql.sh. */"
exec awk '
function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
function expanded(text,  before, name) {
    while (match(text, /\{[a-z_]+\}/)) {
        name = substr(text, RSTART + 1, RLENGTH - 2)
        if (!(name in fragments)) { print FILENAME ": unknown fragment " name > "/dev/stderr"; exit 1 }
        text = substr(text, 1, RSTART - 1) fragments[name] substr(text, RSTART + RLENGTH)
    }
    return text
}
function end_item() {
    if (kind == "statement") list = list " \\\n    X(" name ", " quoted(expanded(text)) ")"
    if (kind == "fragment") {
        fragments[name] = expanded(text)
        print "#define " prefix "_FRAGMENT_" name " " quoted(fragments[name])
    }
    kind = text = ""
}
function end_file() {
    end_item()
    if (list != "") print "#define " prefix "_STATEMENTS(X)" list
    if (schema != "") print "#define " prefix "_TEXT" schema
    list = schema = ""
}
FNR == 1 {
    if (prefix != "") end_file()
    prefix = toupper(FILENAME); sub(/.*\//, "", prefix); sub(/\.SQL$/, "", prefix)
}
/^-- (statement|fragment) / { end_item(); kind = $2; name = $3; next }
/^[ \t]*(--.*)?$/ { next }
kind != "" { sub(/^[ \t]+/, ""); text = text (text == "" ? "" : " ") $0; next }
{ schema = schema " \\\n    " quoted($0) " \"\\n\"" }
END { end_file() }
' "$@"
