# Setup of the command-line tests; source this file first.
. "${BASH_SOURCE[0]%/*}/../daemon.sh"

# call ARGUMENTS...: runs hamel and stores its exit status in $code and its output in the files out and err.
call() { "$hamel" "$@" >out 2>err </dev/null; code=$?; }
code_is() { [ "$code" = "$1" ]; }

# report STATUS NAME: prints the outcome of a test, and the output of the last call if it failed.
report() {
    outcome "$1" "$2" || { echo "exit code $code"; head -c 600 out; head -c 600 err; } 2>/dev/null | tr -cd '[:print:]\n' | remarks
}
